"""A table or a set that is given in Python is what the file of it is."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import penchant as pc
from builders import refusal
from penchant.errors import DataError
from penchant.instruments.item_probes import ItemProbe

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
PAIRS = [
    {"pro": "[The cook] left as [he] was late.", "anti": "[The cook] left as [she] was late.", "type": 1},
    {"pro": "The cook saw [the nurse] and fed [her].", "anti": "The cook saw [the nurse] and fed [him].", "type": 2},
]
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


@pytest.mark.parametrize("made", [pl.DataFrame, lambda rows: rows], ids=["frame", "rows"])
def test_pairs_and_lists_of_occupations(made: Callable[[Any], Any], tmp_path: Path) -> None:
    """They are those of the files as published; a pair that is none is named by its row."""
    for side, kind in product(("pro", "anti"), (1, 2)):
        lines = [pair[side] for pair in PAIRS if pair["type"] == kind]
        (tmp_path / f"{side}_stereotyped_type{kind}.txt.dev").write_text(f"1 {lines[0]}\n", "utf-8")
    (tmp_path / "male_occupations.txt").write_text("cook\n", "utf-8")
    own, given = pc.WinoBias(tmp_path), pc.WinoBias(made(PAIRS), male_occupations=made([{"occupation": "Cook"}]))
    assert read(own) == read(given) != []
    for published, row in zip(own.asked(), given.asked(), strict=True):
        assert {**published.labels, "set": ""} == {**row.labels, "set": ""}
    odd = {"pro": PAIRS[0]["pro"], "anti": "[The cook] left as [she] was here.", "type": 1}
    (caution,) = pc.WinoBias(made([*PAIRS, odd])).read_set().cautions
    assert "1 of 3 pairs" in str(caution) and "row 3 of the data#" in str(caution)
    for rows, where in (([odd], "row 1"), ([{**PAIRS[0], "type": 3}], "row 1 ('type')"), ([{"pro": "x"}], "row 1")):
        assert where in refusal(lambda rows=rows: pc.WinoBias(made(rows)).texts(), DataError)  # type: ignore[misc]


def test_the_keys_of_a_set(tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(SET), "utf-8")
    assert read(pc.Disco(SET)) == read(pc.Disco(tmp_path)) != []
    home = pc.Amplification.folder() / "template"
    given = yaml.safe_load((home / "set.yaml").read_text("utf-8")), home / "set.yaml"
    probes = (pc.Amplification(data, text=str(home / "text.txt")) for data in given)
    of_keys, of_file = ([text for text, _ in probe.texts()] for probe in probes)
    assert of_keys == of_file != []
