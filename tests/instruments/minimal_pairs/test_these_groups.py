"""A few paradigms that were chosen: what is said of others like them, and of these as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pair_results
import polars as pl
import pytest
from pair_results import kinds, numbers, scored, verdicts
from scipy import stats

import penchant as pc
from penchant.instruments.minimal_pairs.instrument import FAIR_PAIRS, MINIMAL_PAIRS
from penchant.instruments.minimal_pairs.pair_credits import mean_credit, paired, paired_over
from penchant.instruments.minimal_pairs.strata_means import fixed_strata_share
from penchant.records import BaseResult
from penchant.report.tables import P

SECTION = MINIMAL_PAIRS.section


def result(model: str, right: dict[str, list[int]], *, judged: int = 0, data: str = "d") -> BaseResult:
    """A model that gets these pairs of each paradigm right; three raters choose good of all but the first pair."""
    rows = [(paradigm, float(each), 0.5, 3, 3) for paradigm, credits in right.items() for each in credits]
    names = [f"{paradigm}-{i}" for paradigm, credits in right.items() for i in range(len(credits))]
    frame = scored(rows, data).with_columns(id=pl.Series(names), good=pl.Series(names), bad=pl.lit("no."))
    if judged:
        choices = [[1.0, 1.0, -1.0 if i % 18 == 0 else 1.0] if i % 18 < judged else [] for i in range(len(rows))]
        frame = frame.with_columns(
            human_n=pl.Series([len(each) for each in choices], dtype=pl.Int32),
            human_good=pl.Series([(sum(c) + 3) / 6 if c else None for c in choices], dtype=pl.Float64),
            human_raters=pl.Series([[0, 1, 2][: len(c)] for c in choices], dtype=pl.List(pl.Int32)),
            human_choices=pl.Series(choices, dtype=pl.List(pl.Float64)),
        )
    return pair_results.result(frame, model, resamples=200, normalise="none")


def models(**more: Any) -> list[BaseResult]:
    """Two models on four paradigms of 18 pairs, that differ in 24 pairs one way and in 5 the other."""
    a = {p: [1] * 18 for p in "abc"} | {"d": [1] * 3 + [0] * 15}
    b = {"a": [1] * 10 + [0] * 8, "b": [1] * 10 + [0] * 8, "c": [1] * 10 + [0] * 8, "d": [1] * 8 + [0] * 10}
    return [result("m1", a, **more), result("m2", b, **more)]


def rows(frame: pl.DataFrame, measure: str) -> dict[str, Any]:
    found = frame.filter(pl.col("measure") == measure, pl.col("split") == "all")
    assert len(found) == 1
    return found.row(0, named=True)


def test_both_answers_stand_beside_each_other() -> None:
    both = models()
    compared = MINIMAL_PAIRS.compare(*both).with_columns(first=pl.lit("m1"), second=pl.lit("m2"))
    sampled = rows(compared.filter(scope="overall"), "accuracy difference")
    fixed = rows(compared, "accuracy difference, these paradigms")
    assert sampled["value"] == fixed["value"] == pytest.approx((24 - 5) / 72) and fixed["n"] == 72
    assert (fixed["first_better"], fixed["second_better"]) == (24, 5)
    assert sampled["low"] < 0 < fixed["low"] and fixed["p"] < 0.001 < 0.05 < sampled["p"]
    test = stats.binomtest(5, 29)
    assert fixed["p"] == pytest.approx(test.pvalue - stats.binom(29, 0.5).pmf(5))  # mid-p
    assert fixed["scope"] == "these groups" and compared["scope"].to_list().count("overall") == 2
    # The verdicts are about these paradigms, not others like them.
    told = verdicts(SECTION, both, compared)
    assert [verdict.models for verdict in told["prefers"]] == [("m1",), ("m2",)]
    assert kinds(told["prefers"]) == [("yes", "above", ""), ("cannot tell", "", "")]
    for verdict, one, right in zip(told["prefers"], both, (57, 38), strict=True):
        row = rows(one.summary, "accuracy, these paradigms")
        assert numbers(verdict) == (right / 72, row["low"], row["high"], 72)
    (more,) = told["more"]
    assert more.models == ("m1", "m2") and kinds([more]) == [("yes", "above", "")]
    assert numbers(more) == (fixed["value"], fixed["low"], fixed["high"], 72)
    swapped = MINIMAL_PAIRS.compare(*both[::-1]).with_columns(first=pl.lit("m2"), second=pl.lit("m1"))
    (less,) = verdicts(SECTION, both[::-1], swapped)["more"]
    assert less.models == ("m2", "m1") and kinds([less]) == [("yes", "below", "")]
    assert less.sentence == more.sentence and "m1 prefers" in more.sentence
    (table,) = (table for table in SECTION.compared(compared) if table.name == "differences")
    assert [row.cells[table.columns.index("over")] for row in table.rows[:2]] == [
        "paradigms like these",
        "these paradigms",
    ]


def test_accuracy_with_its_test_stands_in_the_table() -> None:
    both = models()
    table = SECTION.tables(both)[0]
    heads = table.columns
    assert [row.cells[heads.index("over")] for row in table.rows[::2]] == ["these paradigms", "paradigms like these"]
    row = rows(both[0].summary, "accuracy, these paradigms")
    # 57 of 72, of which three paradigms are certain: the error is that within the fourth, and what Wilson adds.
    assert row["value"] == 57 / 72 and row["p"] < 1e-6
    assert row["high"] - row["low"] < 0.12 < 0.9 < rows(both[0].summary.filter(scope="overall"), "accuracy")["high"]
    assert str(table.rows[0].cells[heads.index("all")]).startswith("79.2 [")
    assert str(table.rows[0].cells[heads.index("p")]) == str(P(row["p"]))


def test_people_too() -> None:
    first = result("m", {p: [1] * 9 + [0] * 9 for p in "abcd"}, judged=5)
    people = rows(first.summary, "human accuracy (majority of raters), these paradigms")
    assert (people["value"], people["n"]) == (1.0, 20) and people["low"] == pytest.approx(0.8389, abs=1e-4)  # Wilson
    against = rows(first.summary, "accuracy against the majority of raters, these paradigms")
    assert against["value"] == 1.0 and "52 of 72 pairs that nobody judged" in against["note"]
    named = {table.name: table for table in SECTION.tables([first])}
    assert "accuracy, these only" in named["human"].columns and "majority, these only" in named["raters"].columns
    fixed = rows(first.summary, "accuracy minus human accuracy, these paradigms")
    (minus,) = verdicts(SECTION, [first])["people"]
    assert numbers(minus) == (0.0, fixed["low"], fixed["high"], 20) and minus.kind == "cannot tell"


@pytest.mark.parametrize("paradigms", [1, 10])
def test_one_or_many_paradigms_have_one_answer(paradigms: int) -> None:
    draw = np.random.default_rng(0)
    right = {f"p{n}": draw.integers(0, 2, 12).tolist() for n in range(paradigms)}
    other = {f"p{n}": draw.integers(0, 2, 12).tolist() for n in range(paradigms)}
    both = [result("m1", right, judged=18), result("m2", other, judged=18)]
    compared = MINIMAL_PAIRS.compare(*both).with_columns(first=pl.lit("m1"), second=pl.lit("m2"))
    for frame in (both[0].summary, compared):
        assert not frame["measure"].str.contains(", these ").any() and "these groups" not in frame["scope"]
    told = verdicts(SECTION, both, compared)
    for claim in ("prefers", "more", "people"):
        assert all(verdict.row is not None and verdict.row["scope"] == "overall" for verdict in told[claim])
    heads = [head for table in SECTION.tables(both) for head in table.columns]
    assert "over" not in heads and not any("these only" in head for head in heads)


def test_bias_types_too() -> None:
    types = {"stereo": [1] * 12 + [0] * 6}
    first = result("m", types, data="crows-pairs")
    frame = first.items.with_columns(pl.Series("phenomenon", ["age", "class", "gender"] * 6))
    again = pc.MinimalPairs.of(first.settings).result(pc.Measured(frame), first.signature)
    row = rows(again.summary, "stereotype score, these bias types")
    assert row["value"] == pytest.approx(200 / 3) and row["low"] > 40
    shown = next(table for table in SECTION.tables([again]) if table.name == "stereotype")
    assert [row.cells[1] for row in shown.rows][:2] == ["all", "all, these bias types"]


def test_on_fair_and_original_pairs() -> None:
    both = models(data="fair")
    compared = MINIMAL_PAIRS.compare(*both).with_columns(first=pl.lit("m1"), second=pl.lit("m2"))
    fixed = rows(compared, "accuracy difference, these paradigms")
    (more,) = verdicts(FAIR_PAIRS.section, both, compared)["more"]
    assert kinds([more]) == [("yes", "above", "fair")] and more.models == ("m1", "m2")
    assert numbers(more) == (pytest.approx((24 - 5) / 72), fixed["low"], fixed["high"], 72)


def test_fair_and_original_pairs_have_verdicts_on_pairs_of_all_lengths() -> None:
    """Original pairs of unequal length are what the fair ones are compared with."""
    each = []
    for model, (original, fair) in {"m1": (60, 40), "m2": (30, 70)}.items():
        parts = [
            scored([("p", float(i < right), 0.5, 5 + (name == "original" and i % 2), 5) for i in range(80)], name)
            for name, right in (("original", original), ("fair", fair))
        ]
        each.append(pair_results.result(pl.concat(parts), model, resamples=200, normalise="none"))
    told = verdicts(FAIR_PAIRS.section, each, MINIMAL_PAIRS.compare(*each))["more"]
    assert kinds(told) == [("yes", "above", "original"), ("yes", "below", "fair")]
    assert [numbers(verdict)[0] for verdict in told] == pytest.approx([30 / 80, -30 / 80])
    assert [numbers(verdict)[3] for verdict in told] == [80, 80]
    assert told[1].sentence.startswith("m2 is more accurate than m1: on the fair pairs +37.5 points [")


def test_a_model_beside_itself_has_no_interval_rather_than_all_of_the_scale() -> None:
    """Over several paradigms without any spread a cluster-robust interval is none."""
    credits = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    found = paired_over(credits, credits, ["a", "a", "b", "b", "c", "c"], "paradigms", pc.MinimalPairs(data="x"))
    assert found.value == 0 and math.isnan(found.low) and math.isnan(found.high) and "same mean" in found.note


@pytest.mark.parametrize("seed", range(30))
def test_other_paradigms_are_never_more_certain_than_these(seed: int) -> None:
    """Few paradigms that happen to be alike do not show how much others would differ."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(list("abcd")[: int(rng.integers(2, 5))], 20)
    first, second = (rng.random((2, len(labels))) < 0.8).astype(float)
    over = mean_credit(first, labels.tolist(), "paradigms", 0.95, against=0.5)
    within = fixed_strata_share(first, labels.tolist(), against=0.5)
    assert over.low <= within.low and within.high <= over.high and not over.p < within.p
    if over.how.startswith("cluster-robust"):
        widened = over.low == within.low or over.high == within.high or over.p == within.p
        assert widened == ("vary less than chance" in over.note)
    settings = pc.MinimalPairs(data=["d"], resamples=200)
    total, fixed = paired_over(first, second, labels.tolist(), "paradigms", settings), paired(first, second, settings)
    assert not (total.low > fixed.low or total.high < fixed.high or total.p < fixed.p)  # NaN where paradigms are equal
