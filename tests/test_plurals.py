"""Numbers in words: one of a thing is told as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penchant
from penchant.plurals import counted, for_one, of_all

pc: Any = penchant


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("pairs", "pair"),
        ("sentences", "sentence"),
        ("clauses", "clause"),
        ("categories", "category"),
        ("batches", "batch"),
        ("stimuli", "stimulus"),
        ("strata", "stratum"),
        ("data sets", "data set"),
        ("fair pairs", "fair pair"),
        ("have", "has"),
        ("are", "is"),
        ("hold", "holds"),
        ("pass", "passes"),
    ],
)
def test_one_and_several(plural: str, one: str) -> None:
    assert [for_one(n, plural) for n in (0, 1, 2)] == [plural, one, plural]


def test_counts() -> None:
    assert [counted(n, "models") for n in (0, 1, 2, 1_234)] == ["0 models", "1 model", "2 models", "1,234 models"]
    assert of_all(1, 3, "pairs", "have") == "1 of 3 pairs has"
    assert of_all(2, 3, "pairs", "have") == "2 of 3 pairs have"
    assert of_all(1, 1, "items") == "1 of 1 item"
    assert counted(1, "ties") == "1 tie" and of_all(1, 2, "pairs", "tie") == "1 of 2 pairs ties"
    assert of_all(10_061, 134_000, "pairs", "have") == "10,061 of 134,000 pairs have"


def test_a_study_of_one_of_each_is_told_in_the_singular(tmp_path: Path) -> None:
    pair = pc.MinimalPairs([("She sings.", "She sing.")], resamples=100).run("bundled:modern")
    assert repr(pair).startswith("<minimal-pairs with bundled:modern: 1 item, ")
    told = "\n".join([*pair.cautions, pair._repr_html_()])
    assert "the data: 1 of 1 pair has unequal token lengths" in told
    assert "The first 1 of 1 pair<" in told
    lists = {"X": ["rose"], "Y": ["ant"], "A": ["love"], "B": ["pain"]}
    assert repr(pc.read_stimuli(lists)) == "<stimuli the data: 1 category, 4 words>"
    vectors = tmp_path / "v.txt"
    vectors.write_text("rose 0.5\n", "utf-8")
    assert repr(pc.load_vectors(vectors)).endswith(": 1 word, 1 dimension>")
    assert repr(pc.read_cloze([("a", "The [MASK].", 1, "g")])) == "<cloze set the data: 1 sentence>"
    assert repr(pc.read_survey({"a": [1]}, "a")) == "<survey survey: answers of 1 respondent to 1 statement>"
    (tmp_path / "p.csv").write_text("good,bad\nShe sings.,She sing.\n", "utf-8")
    study = {"study": "s", "models": ["bundled:modern"], "probes": [{"minimal-pairs": {"data": "p.csv"}}]}
    assert repr(pc.run(study, tmp_path / "out", data=tmp_path)).startswith("<1 result: ")
