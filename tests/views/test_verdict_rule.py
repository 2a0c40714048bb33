"""Claims: the rule for verdicts, how often it errs, and the sentences that state them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy

from penchant.instruments.minimal_pairs.strata_means import fixed_strata_difference, overlapping_difference
from penchant.records import BaseResult, Estimate, Signature, Test, summary_table
from penchant.report.significance import Shown
from penchant.report.verdicts import CANNOT_TELL, NO, NOT_MEASURED, YES, Answer, table
from penchant.stats.inputs import SMALL_SIDE
from penchant.stats.intervals import independent_difference
from penchant.views.claims import Claim, answers, judged, needed
from penchant.views.row_selection import At
from penchant.wording.phrases import Method
from penchant.wording.templates import Text

SHARE = Shown(".0f", "pairs", "%", 100, 0.5, (0, 1))
MEAN = Shown("+.2f", "items")
TEXT = """
claims:
  prefers:
    question: Does it?
    above: "{{ who }} do{{ 'es' if s }}: {{ each }}"
    below: "{{ who }} do{{ 'es' if s }} the opposite: {{ each }}"
    within: "{{ who }}: within {{ margin }}, {{ each }}"
    whether: "{{ who }} do{{ 'es' if s }}"
    missing: "Nobody asked {{ who }}"
    next: penchant ask DIR
  more:
    question: Which one?
    above: "{{ more }} more than {{ less }}: {{ each }}"
    within: "{{ who }}: alike"
    whether: "{{ who }} differ"
"""
Difference = Callable[[list[float], list[float]], Estimate]


def _in_strata(estimator: Callable[..., Estimate]) -> Difference:
    def difference(first: list[float], second: list[float]) -> Estimate:
        exposed = [True] * len(first) + [False] * len(second)
        return estimator([*first, *second], exposed, [0] * len(exposed))

    return difference


STRATIFIED = [
    _in_strata(fixed_strata_difference),
    _in_strata(lambda y, x, s: overlapping_difference(y, x, ~np.array(x), s)),
]
PREFERS = Claim("prefers", At(measure="share"), SHARE, 0.05)
MORE = Claim("more", At(measure="difference"), Shown("+.0f", "pairs", " points", 100), 0.02, compared=True)


def row(value: float, low: float, high: float, p: float, n: int = 100, **more: Any) -> dict[str, Any]:
    return {**Estimate("share", value, n, low, high, test=Test(p)).row(), **more}


@pytest.mark.parametrize(
    ("estimate", "kind"),
    [
        (row(0.7, 0.6, 0.8, 0.001), YES),
        (row(0.3, 0.2, 0.4, 0.001), YES),
        (row(0.7, 0.6, 0.8, 0.06), CANNOT_TELL),  # the correction took it away
        (row(0.7, 0.49, 0.8, 0.04), CANNOT_TELL),  # interval and test disagree
        (row(0.7, 0.6, 0.8, math.nan), CANNOT_TELL),  # not tested
        (row(0.52, 0.51, 0.53, 0.001), NO),  # clearly above one half, and too little to matter
        (row(0.5, 0.46, 0.54, 0.9), NO),
        (row(0.5, 0.44, 0.54, 0.9), CANNOT_TELL),
        (row(0.9, 0.8, 0.97, 0.001, n=4), CANNOT_TELL),  # too few
        (row(math.nan, math.nan, math.nan, math.nan), NOT_MEASURED),
    ],
)
def test_the_rule(estimate: dict[str, Any], kind: str) -> None:
    assert judged(estimate, SHARE, 0.05) == (kind, 0.05)


@pytest.mark.parametrize("difference", [independent_difference, *STRATIFIED])
@pytest.mark.parametrize(("n", "kind"), [(4, CANNOT_TELL), (5, YES)])
def test_a_difference_needs_five_items_on_each_side(difference: Difference, n: int, kind: str) -> None:
    """All of many items right against none of a few: significant either way, and said only of five or more."""
    found = difference([1.0] * 60, [0.0] * n)
    assert found.low > 0
    assert judged(found.row(), Shown("+.1f", "pairs"), 0.02)[0] == kind
    assert {note.code for note in found.notes} >= ({SMALL_SIDE} if n < 5 else set())


def test_a_bound_of_the_study_replaces_the_margin() -> None:
    bounded = row(0.01, -0.03, 0.05, 0.6, bound=0.04, low_bound=-0.025, high_bound=0.039)
    assert judged(bounded, MORE.shown, 0.02) == (NO, 0.04)
    assert judged({**bounded, "high_bound": 0.041}, MORE.shown, 0.2) == (CANNOT_TELL, 0.04)


def drawn(rng: np.random.Generator, n: int, mean: float) -> dict[str, Any]:
    """Return the mean of n normal values with scipy's t interval and test."""
    values = rng.normal(mean, 1, n)
    found = scipy.stats.ttest_1samp(values, 0)
    low, high = found.confidence_interval()
    return row(float(values.mean()), float(low), float(high), float(found.pvalue), n)


def test_how_often_the_rule_errs() -> None:
    """A yes without an effect in at most 5 of 100 studies, and a no at the smallest effect of interest in 2.5."""
    rng = np.random.default_rng(1)
    sets, slack = 2000, 3 * math.sqrt(0.05 * 0.95 / 2000)
    without = [judged(drawn(rng, 30, 0), MEAN, 0.3)[0] for _ in range(sets)]
    assert 0.02 < without.count(YES) / sets <= 0.05 + slack
    at = [judged(drawn(rng, 400, 0.3), MEAN, 0.3)[0] for _ in range(sets)]
    assert at.count(NO) / sets <= 0.025 + slack and at.count(YES) / sets > 0.95
    assert [judged(drawn(rng, 400, 0), MEAN, 0.3)[0] for _ in range(200)].count(NO) > 190


def test_as_many_items_as_are_needed_show_the_effect_in_four_of_five_studies() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        pilot = drawn(rng, 20, 0)
        number, _, noun = needed(pilot, MEAN, 0.3).partition(" ")
        assert noun == "items"
        found.append(judged(drawn(rng, int(number.replace(",", "")), 0.3), MEAN, 0.01)[0] == YES)
    assert 0.72 < np.mean(found) < 0.88


def test_groups_are_what_is_needed_of_a_sample_of_groups() -> None:
    estimate = row(0.6, 0.4, 0.8, 0.2)
    clusters = Method("cluster-t", clusters=10, noun="paradigms", df=9)
    assert needed({**estimate, "method": clusters.json()}, SHARE, 0.1) == "82 paradigms"
    assert needed(estimate, SHARE, 0.1) == "820 pairs"  # 100 · ((1.96 + 0.84) · 0.102 / 0.1)²
    assert needed(row(0.6, 0.58, 0.62, 0.2), SHARE, 0.1) == ""  # more than that are at hand
    assert needed(estimate, SHARE, 0.01) == ""  # beyond all that anyone has
    crossed = Method("satterthwaite", over=[[6, "templates"], [4, "persons"]], df=7)
    assert needed({**estimate, "method": crossed.json()}, SHARE, 0.1) == "9 times as many items of each kind"


def results(*estimates: Estimate) -> list[BaseResult]:
    return [
        BaseResult(signature, pl.DataFrame({"id": ["1"]}), summary_table([(each, signature)]))
        for signature, each in ((Signature.of("x", model=f"m{i}"), each) for i, each in enumerate(estimates, 1))
    ]


def share(value: float, half: float, p: float, n: int = 100) -> Estimate:
    return Estimate("share", value, n, value - half, value + half, test=Test(p))


@pytest.fixture
def text(tmp_path: Path) -> Text:
    (tmp_path / "text.yaml").write_text(TEXT, "utf-8")
    return Text.of(tmp_path)


def answer(claim: Claim, found: list[BaseResult], text: Text, comparison: pl.DataFrame | None = None) -> Answer:
    said = next(iter(answers([claim], found, comparison, text)), None)
    assert said is not None
    return said


def test_models_of_one_verdict_share_a_sentence(text: Text) -> None:
    found = results(share(0.8, 0.1, 0.001), share(0.5, 0.02, 0.9), share(0.7, 0.1, 0.001), share(0.2, 0.1, 0.001))
    said = answer(PREFERS, found, text)
    assert said.question == "Does it?" and said.next == ""
    assert said.sentences == [
        "m1 and m3 do: m1 80% [70, 90], m3 70% [60, 80] (100 pairs each).",
        "m4 does the opposite: 20% [10, 30] (100 pairs).",
        "m2: within 5 points, 50% [48, 52] (100 pairs).",
    ]
    shown = table([said])
    assert shown["verdict"].to_list() == [YES, NO, YES, YES] and shown["model"].to_list() == ["m1", "m2", "m3", "m4"]
    assert shown["direction"].to_list() == ["above", "", "above", "below"]
    assert shown["answer"][0] == "m1 does: 80% [70, 90] (100 pairs)."
    assert shown.select("value", "low", "high", "n", "p", "margin").row(1) == (0.5, 0.48, 0.52, 100, 0.9, 0.05)


def test_what_cannot_be_told_says_what_would_settle_it(text: Text) -> None:
    said = answer(PREFERS, results(share(0.6, 0.2, 0.3, 40)), text)
    assert said.sentences == [
        "It is unclear whether m1 does: 60% [40, 80] (40 pairs). About 1,400 pairs would be needed to show an effect "
        "as small as 5 points."
    ]
    said = answer(PREFERS, results(share(0.6, 0.3, 0.3, 3)), text)
    assert said.sentences == ["Too few pairs to say whether m1 does (3 pairs)."]


def test_what_was_not_measured_says_how_to_go_on(text: Text) -> None:
    said = answer(PREFERS, results(Estimate("share", math.nan, 0)), text)
    assert (said.sentences, said.next) == (["Nobody asked m1."], "penchant ask DIR")
    assert [verdict.kind for verdict in said.verdicts] == [NOT_MEASURED]
    assert not answers([PREFERS], results(Estimate("other", 1, 9)), None, text)


def test_a_difference_names_the_model_with_more_first(text: Text) -> None:
    by = {"first": "m1", "second": "m2"}
    difference = Estimate("difference", -0.1, 50, -0.15, -0.05, test=Test(0.001), by=by)
    comparison = summary_table([(difference, Signature.of("x"))])
    said = answer(MORE, results(share(0.5, 0.1, 0.9)), text, comparison)
    assert said.sentences == ["m2 more than m1: +10 points [+5, +15] (50 pairs)."]
    assert table([said]).select("model", "second", "value").row(0) == ("m1", "m2", -0.1)
    assert not answers([MORE], [], None, text)


def test_models_with_too_few_items_share_a_sentence_where_each_has_its_own(text: Text) -> None:
    few, open_ = share(0.6, 0.3, 0.3, 3), share(0.6, 0.2, 0.3, 40)
    fewer = share(0.6, 0.3, 0.3, 2)
    said = answer(replace(PREFERS, alone=True), results(few, share(0.8, 0.1, 0.001), fewer, open_), text)
    assert [sentence.split(":")[0] for sentence in said.sentences] == [
        "m2 does",
        "It is unclear whether m4 does",
        "Too few pairs to say whether m1 and m3 do (3 and 2 pairs).",
    ]
