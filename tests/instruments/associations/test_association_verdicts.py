"""Verdicts of association tests where the answer is known: words made to lean, or not to, and numbers as published."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import penchant as pc
from brute_associations import write_set
from builders import write_vectors
from penchant.instruments.associations.influence import influences
from penchant.instruments.associations.instrument import ACROSS, WEAT
from penchant.report.sections import Section
from penchant.report.verdicts import CANNOT_TELL, NO, NOT_MEASURED, YES, Verdict

LISTS = {side: [f"{side}{i}" for i in range(8)] for side in "xyabuv"}
CATEGORIES: dict[str, str | dict[str, Any]] = {
    "leans": {**dict(zip("XYAB", "xyab", strict=True)), "control": "none"},
    "turned": "y x a b",
    "none": "u v a b",
}
LEANS = {"x": 1, "a": 1, "y": -1, "b": -1}
"""The side to which the first coordinate of a list's words leans; u and v lean to neither."""
AGAINST = {**LEANS, "x": -1, "y": 1}


def static(path: Path, apart: float, leans: dict[str, int]) -> Any:
    rng = np.random.default_rng(5)
    words = {word: rng.normal(size=30) for part in LISTS.values() for word in part}
    for side, sign in leans.items():
        for word in LISTS[side]:
            words[word][0] += sign * apart
    return pc.load_vectors(write_vectors(path, {word: own.tolist() for word, own in words.items()}))


def weat(folder: Path, apart: float = 3.0, name: str = "v", leans: dict[str, int] = LEANS, **parameters: Any) -> Any:
    data = write_set(folder / "set", LISTS, CATEGORIES)
    return pc.WEAT(data=data, resamples=300, **parameters).run(static(folder / f"{name}.txt", apart, leans))


def verdicts(results: Iterable[Any], comparison: Any = None, section: Section = WEAT.section) -> list[Verdict]:
    return [each for answer in section.answers(list(results), comparison) for each in answer.verdicts]


def kinds(results: Iterable[Any], claim: str, comparison: Any = None) -> dict[str, str]:
    return {each.place: each.kind for each in verdicts(results, comparison) if each.claim == claim}


def test_words_that_lean_are_told_from_words_that_do_not(tmp_path: Path) -> None:
    found = weat(tmp_path)
    each = {verdict.place: verdict for verdict in verdicts([found]) if verdict.claim == "associates"}
    assert {place: verdict.kind for place, verdict in each.items()} == {
        "leans": YES,
        "turned": YES,
        "none": CANNOT_TELL,
    }
    values = {name: verdict.row["value"] for name, verdict in each.items() if verdict.row}
    assert values["leans"] > 1 and values["leans"] == pytest.approx(-values["turned"])
    assert kinds([found], "beyond") == {"leans": YES}
    above, below, open_ = WEAT.section.answers([found], None)[0].sentences
    assert [text.count("in 1 of 3 categories") for text in (above, below, open_)] == [1, 1, 1]
    labels = [re.findall("“(.+?)”", text) for text in (above, below, open_)]
    assert labels == [[*"xyab"], [*"yxab"], [*"uvab"]]
    assert " more than " in above and " less than " in below


def test_two_models_differ_where_they_lean_to_opposite_sides(tmp_path: Path) -> None:
    """The words of "none" have the same vectors in both."""
    leaning, _ = both = [weat(tmp_path), weat(tmp_path, name="other", leans=AGAINST)]
    assert kinds(both, "more", pc.compare(*both)) == {"leans": YES, "turned": YES, "none": NO}
    assert set(kinds([leaning, leaning], "more", pc.compare(leaning, leaning)).values()) == {NO}
    by_model = [each for each in verdicts(both) if each.claim == "associates" and each.place == "leans"]
    assert [each.kind for each in by_model] == [YES, YES]
    assert by_model[0].row and by_model[1].row and by_model[1].row["value"] < 0 < by_model[0].row["value"]


def test_many_words_that_do_not_lean_have_no_association(tmp_path: Path) -> None:
    """Targets of both sets with the same vectors: d is 0, and of 600 words its interval is narrow."""
    lists = {"x": [f"x{i}" for i in range(300)], "y": [f"y{i}" for i in range(300)]}
    lists |= {side: [f"{side}{i}" for i in range(20)] for side in "ab"}
    rng = np.random.default_rng(1)
    words = {word: rng.normal(size=10) + np.eye(10)[0] * 3 * LEANS[word[0]] for side in "ab" for word in lists[side]}
    for x, y in zip(lists["x"], lists["y"], strict=True):
        words[x] = words[y] = rng.normal(size=10)
    model = pc.load_vectors(write_vectors(tmp_path / "v.txt", {word: own.tolist() for word, own in words.items()}))
    data = write_set(tmp_path / "set", lists, {"C": "x y a b"})
    found = pc.WEAT(data=data, resamples=300, test="normal").run(model)
    (verdict,) = verdicts([found])
    assert (verdict.kind, verdict.margin) == (NO, 0.2)
    assert verdict.row is not None and verdict.row["value"] == pytest.approx(0, abs=1e-6)


def test_numbers_that_decide_nothing_however_small_their_p(tmp_path: Path) -> None:
    """One-sided tests of what goes the other way, sentences that share their words, and intervals that are missing."""
    found = weat(tmp_path, alternative="upper")
    assert kinds([found], "associates") == {"leans": YES, "turned": CANNOT_TELL, "none": CANNOT_TELL}
    assert {each.place: each.barred for each in verdicts([found])}["turned"] == "reversed"
    summary = found.summary.with_columns(pl.lit(str(found.signature.with_(unit="sentence"))).alias("signature"))
    dependent = [each for each in verdicts([replace(found, summary=summary)]) if each.place == "leans"]
    assert [(each.kind, each.barred) for each in dependent] == [(CANNOT_TELL, "dependent")] * 2
    separated = weat(tmp_path, 1e5)
    assert {each.barred for each in verdicts([separated]) if each.place == "leans" and each.claim == "associates"} == {
        "separated"
    }


def test_a_model_without_the_words_was_not_measured(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", LISTS, CATEGORIES)
    lacking = pc.load_vectors(write_vectors(tmp_path / "few.txt", {"x0": [1.0, 2.0], "other": [2.0, 1.0]}))
    empty = pc.WEAT(data=data).run(lacking)
    assert [(each.kind, each.claim) for each in verdicts([empty])] == [(NOT_MEASURED, "associates")] * 3


@pytest.mark.parametrize(
    ("p", "clear"), [(0.001, "each shows it clearly for leans"), (0.9, "none is clear by every measure")]
)
def test_the_overview_says_where_measures_agree(tmp_path: Path, p: float, clear: str) -> None:
    """Over two columns: "leans" and "turned" have one sign in both; only "leans" is left clear by the first."""
    found = weat(tmp_path)
    tests = pl.when(pl.col("category") == "leans").then(p).otherwise(0.9).alias("p")
    changed = replace(found, summary=found.summary.with_columns(tests))
    (answer,) = ACROSS.section.answers([found, changed], None)
    assert answer.verdicts == () and len(answer.sentences) == 1
    assert "of 3 of 3 categories" in answer.sentences[0] and clear in answer.sentences[0]
    assert ACROSS.section.answers([found], None) == []


def test_an_effect_size_that_is_withheld_stands_beside_no_word(tmp_path: Path) -> None:
    """Without three of eight words of X there is no effect size, nor what it would be without one of the others."""
    whole = {side: LISTS[side.lower()] for side in "XYAB"}
    lacking = {**whole, "X": [*LISTS["x"][:5], "none", "nothing", "nobody"]}
    model = static(tmp_path / "v.vec", 1, LEANS)
    shown = [pc.WEAT(lists, resamples=100).run(model) for lists in (whole, lacking)]
    values = [result.summary.filter(measure="effect size")["value"].item() for result in shown]
    assert values[0] > 1 and (values[1] is None or math.isnan(values[1]))
    assert [len(list(influences(result, "sampling"))) for result in shown] == [1, 0]
