"""Tables whose columns have names of their own read as tables whose columns are called like the fields."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penchant as pc
from penchant.corpus.stimulus_sets import read_stimuli
from penchant.errors import DataError
from penchant.instruments.cloze.data import read_cloze
from penchant.instruments.values.data import read_values

Rows = list[dict[str, object]]


def write(path: Path, rows: Rows, names: dict[str, str] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow([(names or {}).get(name, name) for name in rows[0]])
        writer.writerows(row.values() for row in rows)
    return path


SENTENCES: Rows = [
    {"id": f"s{i}", "text": f"The {i} [MASK] .", "expected": -0.5 + i, "group": "g", "source": "x"} for i in range(2)
]
WORDS: Rows = [
    {"category": "c", "set": key, "word": f"{key}{i}", "label": key.lower()} for key in "XYAB" for i in (1, 2)
]
STATEMENTS: Rows = [{"id": "b", "text": "taxes rise", "value": "v", "reversed": "yes", "negation": "taxes fall"}]
NEUTRAL: Rows = [{"id": "n", "text": "it rains"}]


def other_names(fields: list[str]) -> st.SearchStrategy[dict[str, str]]:
    """Other names for some fields: new ones, or those of the fields themselves in another order."""
    new = st.dictionaries(st.sampled_from(fields), st.just(0), max_size=len(fields)).map(
        lambda chosen: {field: f"Spalte {field}" for field in chosen}
    )
    return new | st.permutations(fields).map(lambda order: dict(zip(fields, order, strict=True)))


@settings(max_examples=25, deadline=None)
@given(names=other_names(["id", "text", "expected", "group"]))
def test_cloze_sentences(tmp_path_factory: pytest.TempPathFactory, names: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("cloze")
    plain, named = write(folder / "c.csv", SENTENCES), write(folder / "other" / "c.csv", SENTENCES, names)
    expected = [(s.item.id, s.text, s.expected, s.item.labels) for s in read_cloze(plain).sentences]
    assert [(s.item.id, s.text, s.expected, s.item.labels) for s in read_cloze(named, names).sentences] == expected
    probe = pc.Cloze.model_validate({"data": "c.csv", "columns": names})
    assert [s.text for s in probe.read_set([folder / "other"]).sentences] == [text for _, text, _, _ in expected]


@settings(max_examples=25, deadline=None)
@given(names=other_names(["category", "set", "word", "label"]))
def test_lists_of_words(tmp_path_factory: pytest.TempPathFactory, names: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("words")
    write(folder / "w.csv", WORDS)
    write(folder / "other" / "w.csv", WORDS, names)
    (expected,) = read_stimuli(folder / "w.csv").categories
    probe = pc.WEAT.model_validate({"data": "w.csv", "columns": names})
    (found,) = probe.stimuli([folder / "other"]).categories
    assert found.lists() == expected.lists()


@settings(max_examples=25, deadline=None)
@given(names=other_names(["id", "text", "value", "reversed", "negation"]), neutral=other_names(["id", "text"]))
def test_value_statements(
    tmp_path_factory: pytest.TempPathFactory, names: dict[str, str], neutral: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("values")
    template = {"group": "f", "agree": "She [agrees] that {statement}.", "disagree": "She [sees] that {statement}."}
    for name, of_statements, of_neutral in (("plain", {}, {}), ("named", names, neutral)):
        write(folder / name / "statements.csv", STATEMENTS, of_statements)
        write(folder / name / "calibration.csv", NEUTRAL, of_neutral)
        about = {"templates": [template], "columns": {"statements": of_statements, "calibration": of_neutral}}
        (folder / name / "set.yaml").write_text(json.dumps(about))
    clauses = [
        [(c.id, c.text, c.kind, c.value, c.reversed) for c in read_values(folder / name).clauses()]
        for name in ("plain", "named")
    ]
    assert clauses[0] == clauses[1]


def test_a_column_that_is_not_there_and_the_place_of_a_bad_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "c.csv", SENTENCES, {"text": "Satz"})
    with pytest.raises(DataError) as caught:
        read_cloze(path, {"text": "satz"})
    assert str(caught.value) == (
        f"{path}: there is no column 'satz' — did you mean Satz? the columns are id, Satz, expected, group, source"
    )
    path = write(tmp_path / "c.csv", [{**SENTENCES[0], "text": "no gap"}], {"text": "Satz"})
    with pytest.raises(DataError, match="line 2, field 'Satz': a sentence must have exactly one gap"):
        read_cloze(path, {"text": "Satz"})
