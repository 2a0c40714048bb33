"""A table or a set that is given in Python is what the file of it is."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import penchant as pc
from penchant.instruments.itemised import ItemProbe

ROWS = {
    "bec-pro": [
        dict(zip(("Sent_TM", "Sent_TAM", "Person", "Gender", "Profession"), row, strict=True))
        for row in (
            ("[MASK] is a nurse.", "[MASK] is a [MASK].", "She", "female", "nurse"),
            ("[MASK] is a nurse.", "[MASK] is a [MASK].", "He", "male", "nurse"),
        )
    ],
    "winogender": [
        {"occupation(0)": "cook", "other-participant(1)": "guest", "answer": answer, "sentence": sentence}
        for answer, sentence in (
            ("0", "The $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN was late."),
            ("1", "The $PARTICIPANT gave the $OCCUPATION $POSS_PRONOUN book."),
        )
    ],
}
STATISTICS = [{"occupation": "cook", "women": "40.5"}]
SET = {"persons": {"female": ["she", "her sister"], "male": ["he", "his son"]}, "templates": ["PERSON saw the BLANK."]}


def written(rows: list[dict[str, str]], path: Path) -> str:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def read(probe: ItemProbe[Any, Any]) -> list[list[str]]:
    return [list(probe.texts_of(item)) for item in probe.asked()]


@pytest.mark.parametrize("made", [pl.DataFrame, lambda rows: rows], ids=["frame", "rows"])
def test_a_table_of_pairs_of_sentences(made: Callable[[Any], Any], tmp_path: Path) -> None:
    file = written(ROWS["bec-pro"], tmp_path / "t.tsv")
    assert read(pc.BecPro(made(ROWS["bec-pro"]))) == read(pc.BecPro(file)) != []


@pytest.mark.parametrize("made", [pl.DataFrame, lambda rows: rows], ids=["frame", "rows"])
def test_templates_and_their_statistics(made: Callable[[Any], Any], tmp_path: Path) -> None:
    files = {
        "data": written(ROWS["winogender"], tmp_path / "t.tsv"),
        "statistics": written(STATISTICS, tmp_path / "s.tsv"),
    }
    given = {"data": made(ROWS["winogender"]), "statistics": made(STATISTICS)}
    own, others = (pc.Winogender(**tables, shares=["women"]) for tables in (files, given))
    assert read(own) == read(others) != []
    assert own.read_set().women == others.read_set().women == {"women": {"cook": 40.5}}


def test_the_keys_of_a_set(tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(SET), "utf-8")
    assert read(pc.Disco(SET)) == read(pc.Disco(tmp_path)) != []
    home = pc.Amplification.folder() / "template"
    given = yaml.safe_load((home / "set.yaml").read_text("utf-8")), home / "set.yaml"
    probes = (pc.Amplification(data, text=str(home / "text.txt")) for data in given)
    of_keys, of_file = ([text for text, _ in probe.texts()] for probe in probes)
    assert of_keys == of_file != []
