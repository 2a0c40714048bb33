"""Findings in words, against estimates made by hand: a clear difference, none, one model, nothing measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from penchant.instruments.registry import instruments
from penchant.records import BaseResult, Estimate, Signature, Test, summary_table
from penchant.report.finding import Shown, across, differences, levels, listed, told
from penchant.wording.phrases import Note, notes_json

NAN = math.nan
HOW = Shown("+.1f", "pairs", " points", 100)


def row(value: float, low: float = NAN, high: float = NAN, p: float = NAN, p_holm: float = NAN, **more: Any) -> Any:
    return {"value": value, "low": low, "high": high, "n": 40, "p": p, "p_holm": p_holm, "note": "", **more}


def gap(pair: str, *numbers: float) -> Any:
    first, second = pair.split(" − ")
    return row(*numbers, first=first, second=second)


def test_a_clear_difference_is_told_with_its_interval() -> None:
    assert differences([gap("a − b", 0.1, 0.02, 0.18, 0.01)], HOW, "is above") == (
        "a is above b (a − b +10.0 points [+2.0, +18.0], n = 40 pairs)."
    )
    # The other way round the larger one is named first, and the number stays that of the tables.
    assert differences([gap("a − b", -0.1, -0.18, -0.02, 0.01)], HOW, "is above") == (
        "b is above a (a − b −10.0 points [−18.0, −2.0], n = 40 pairs)."
    )


@pytest.mark.parametrize(
    "numbers",
    [
        (0.1, -0.02, 0.22, 0.01),  # the interval holds 0
        (0.1, 0.0, 0.22, 0.01),  # and at its end
        (0.1, 0.02, 0.18, 0.06),  # p above .05
        (0.1, 0.02, 0.18, 0.01, 0.07),  # adjusted p above .05
        (0.1, 0.02, 0.18),  # no p
        (0.1, NAN, NAN, 0.01),  # no interval
    ],
)
def test_what_is_not_clear_is_no_clear_difference(numbers: tuple[float, ...]) -> None:
    said = differences([gap("a − b", *numbers)], HOW, "is above")
    assert said.startswith("a and b show no clear difference (a − b +10.0 points ")
    assert ("without an interval" in said) == math.isnan(numbers[1])
    # The p-value stands beside an interval that says otherwise.
    decides = (*numbers[3:], NAN, NAN)[1 if len(numbers) > 4 else 0]
    known = not math.isnan(decides + numbers[1])
    assert (", p = " in said) == (known and (numbers[1] <= 0) == (decides <= 0.05))


def test_several_differences_the_clear_and_large_first() -> None:
    rows = [
        gap("a − b", 0.9, -0.1, 1.0, 0.2),
        gap("a − c", 0.1, 0.02, 0.18, 0.01),
        gap("b − c", -0.3, -0.5, -0.1, 0.01),
        gap("a − d", 0.01, -0.1, 0.1, 0.8),
        gap("b − d", NAN),
    ]
    assert differences(rows, HOW, "is above") == (
        "c is above b (b − c −30.0 points [−50.0, −10.0], n = 40 pairs). a is above c (a − c +10.0 points [+2.0, "
        "+18.0], n = 40 pairs). a and b show no clear difference (a − b +90.0 points [−10.0, +100.0], n = 40 pairs). "
        "1 more pair of models in the table."
    )


def test_levels_of_models() -> None:
    share = Shown(".1f", "pairs", "%", 100, 0.5)
    one = [("a", row(0.7, 0.6, 0.8, 0.001))]
    assert levels(one, share, "50%") == "a 70.0% [60.0, 80.0], n = 40 pairs"
    assert levels([("b", row(0.52, 0.4, 0.6, 0.6))], share, "50%") == (
        "b 52.0% [40.0, 60.0], n = 40 pairs. No clear difference from 50%"
    )
    both = [*one, ("b", row(0.52, 0.4, 0.6, 0.6))]
    assert levels(both, share, "50%") == (
        "a 70.0% [60.0, 80.0], b 52.0% [40.0, 60.0], n = 40 pairs each. No clear difference from 50% for b"
    )
    assert levels([("a", row(0.7, 0.6, 0.8)), both[1]], share, "50%").endswith(". No clear difference from 50% for b")
    assert levels([("a", row(0.7, 0.6, 0.8, 0.03, 0.12, tests=4))], share, "50%") == (
        "a 70.0% [60.0, 80.0], p = 0.12 over 4 tests, n = 40 pairs. No clear difference from 50%"
    )
    assert levels([("a", row(NAN))], share, "50%") == levels([], share, "50%") == ""
    rough = levels([("a", row(0.7, 0.6, 0.8, notes=notes_json([Note("skew", would_do=60)])))], share, "50%")
    assert rough == "a 70.0% [60.0, 80.0] (approximate), n = 40 pairs"


def test_in_which_places() -> None:
    rows = [("x", row(0.1, 0.02, 0.2, 0.01, 0.03)), ("y", row(0.3, 0.1, 0.5, 0.07, 0.14)), ("z", row(NAN))]
    assert across(rows, HOW, "groups", "Gap") == (
        "Gap, by groups: x +10.0 points [+2.0, +20.0], n = 40 pairs. No clear difference from 0 in 1 of 2 groups: y "
        "(p = 0.14)"
    )
    assert across(rows[1:], HOW, "groups", "Gap").startswith("Gap, y: no clear difference from 0 (+30.0 points ")
    assert across([*rows[1:], *rows[1:]], HOW, "groups", "Gap") == (
        "Gap: no clear difference from 0 in any of 2 groups (y (p = 0.14) and y (p = 0.14))"
    )
    open_ = ("y", row(0.3, -0.1, 0.5, 0.07, 0.14))
    assert across([rows[0], *5 * [open_]], HOW, "groups", "Gap").endswith(
        ". No clear difference from 0 in 5 of 6 groups: y, y, y, y and y"
    )
    assert across([rows[0], *6 * rows[1:2]], HOW, "groups", "Gap").endswith(
        ". No clear difference from 0 in 6 of 7 groups"
    )
    assert across(rows[2:], HOW, "groups", "Gap") == ""
    assert [listed(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


numbers = st.one_of(st.just(NAN), st.floats(-3, 3))
shares = st.one_of(st.just(NAN), st.floats(0, 1))


@given(value=st.floats(-3, 3), ends=st.tuples(numbers, numbers), p=shares, p_holm=shares)
def test_nothing_is_told_that_an_interval_or_a_test_leaves_open(
    value: float, ends: tuple[float, float], p: float, p_holm: float
) -> None:
    low, high = sorted(ends)
    one = gap("a − b", value, low, high, p, p_holm)
    adjusted = p if math.isnan(p_holm) else p_holm
    open_ = math.isnan(low) or math.isnan(high) or low <= 0 <= high or not adjusted <= 0.05
    assert told(one) == (not open_)
    said = differences([one], HOW, "is above")
    assert ("show no clear difference" in said) == open_
    assert "n = 40 pairs" in said


# The sentences of each instrument ----------------------------------------------------------------------------------

CASES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("findings.yaml").read_text("utf-8"))


def estimated(row: Mapping[str, Any], **by: str) -> Estimate:
    """Return the estimate of a row of a case."""
    levels = {**by, **row}
    value, low, high, n, *tested = levels.pop("is")
    notes = tuple(Note.read(note) for note in levels.pop("notes", ()))
    test = Test(tested[0], adjusted=tested[1] if len(tested) > 1 else NAN) if tested else None
    return Estimate(levels.pop("of"), value, n, low, high, test=test, by=levels, notes=notes)


def result(case: Mapping[str, Any], model: str) -> BaseResult:
    """Return the result of a model in a case."""
    signature = Signature.of(case["probe"], model=model, level=0.95, resamples=100, seed=0, **case["recipe"])
    items = case.get("items", {})
    ids = [f"i{number}" for number in range(len(next(iter(items.values()), [])))]
    rows = [estimated(row, **case["by"]) for row in case["models"][model]]
    table = pl.DataFrame({"id": ids, **items})
    if case["probe"] == "cloze":  # sentences of which nobody rated a word
        table = table.with_columns(**dict.fromkeys(("words", "raters", "ratings"), pl.lit([], pl.List(pl.String))))
    return BaseResult(signature, table, summary_table((each, signature) for each in rows))


def compared(case: Mapping[str, Any]) -> pl.DataFrame:
    """Return the differences between models in a case."""
    signature = Signature.of("x", model="a − b", **case["recipe"])
    rows = [estimated(row, first="a", second="b", **case["by"]) for row in case["compared"]]
    return summary_table((each, signature) for each in rows).with_columns(first_better=0, second_better=0)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_an_instrument_finds(case: dict[str, Any]) -> None:
    comparison = compared(case) if "compared" in case else None
    results = [result(case, model) for model in case["models"]]
    assert instruments()[case["probe"]].section.finding(results, comparison) == case["said"]


@pytest.mark.parametrize(
    ("second", "told"), [("an association that is not told", "none of these"), ("", "1 of these (C1)")]
)
def test_the_overview_of_associations(second: str, told: str) -> None:
    """Over two measures, of which the second tells the association apart from 0 or does not."""
    first = CASES["an association that is told"]
    cases = [first, CASES[second] if second else {**first, "probe": "seat"}]
    overview = instruments()["weat"].overview
    assert overview is not None
    assert overview.section.finding([result(case, "m") for case in cases], None) == [
        "All measures agree on the sign of d in 1 of 1 category that at least two of them measure. "
        f"By every measure, d clearly differs from 0 in {told}."
    ]


def test_what_the_correction_takes_away_is_no_finding() -> None:
    """Four tests, of which two have p = .021 alone and .085 corrected: no number of theirs stands in the headline; the
    p-value that decides stands beside the names of those whose interval alone would tell."""
    rows = [
        ("a", row(0.3, 0.1, 0.5, 0.021, 0.085, tests=4)),
        ("b", row(-0.3, -0.5, -0.1, 0.021, 0.085, tests=4)),
        ("c", row(0.1, -0.1, 0.3, 0.4, 0.8, tests=4)),
        ("d", row(0.2, 0.01, 0.4, 0.06, 0.18, tests=4)),  # an interval that leaves 0 out, and a test that does not
    ]
    assert across(rows, HOW, "groups", "Gap") == (
        "Gap: no clear difference from 0 in any of 4 groups (a (p = 0.085 over 4 tests), b (p = 0.085 over 4 tests), "
        "c and d (p = 0.18 over 4 tests))"
    )
