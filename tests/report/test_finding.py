"""Findings in words, against estimates made by hand: a clear difference, none, one model, nothing measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penchant.instruments.registry import instruments
from penchant.records import Estimate, Result, Signature, Test, summary_table
from penchant.report.finding import Shown, across, differences, levels, listed, told
from penchant.wording.phrases import Note, Notes, notes_json

NAN = math.nan
HOW = Shown("+.1f", "pairs", " points", 100)
Bounds = tuple[float, float, float]


def row(value: float, low: float = NAN, high: float = NAN, p: float = NAN, p_holm: float = NAN, **more: Any) -> Any:
    return {"value": value, "low": low, "high": high, "n": 40, "p": p, "p_holm": p_holm, "note": "", **more}


def gap(pair: str, *numbers: float) -> Any:
    return row(*numbers, comparison=pair)


def test_a_clear_difference_is_told_with_its_interval() -> None:
    assert differences([gap("a − b", 0.1, 0.02, 0.18, 0.01)], HOW, "is above") == (
        "a is above b: a − b +10.0 points [+2.0, +18.0], n = 40 pairs."
    )
    # The other way round the larger one is named first, and the number stays that of the tables.
    assert differences([gap("a − b", -0.1, -0.18, -0.02, 0.01)], HOW, "is above") == (
        "b is above a: a − b −10.0 points [−18.0, −2.0], n = 40 pairs."
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
def test_what_is_not_clear_cannot_be_told_apart(numbers: tuple[float, ...]) -> None:
    said = differences([gap("a − b", *numbers)], HOW, "is above")
    assert said.startswith("a and b cannot be told apart: a − b +10.0 points ")
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
        "c is above b: b − c −30.0 points [−50.0, −10.0], n = 40 pairs; a is above c: a − c +10.0 points [+2.0, "
        "+18.0], n = 40 pairs; a and b cannot be told apart: a − b +90.0 points [−10.0, +100.0], n = 40 pairs; 1 more "
        "pair of models in the table."
    )


def test_levels_of_models() -> None:
    share = Shown(".1f", "pairs", "%", 100, 0.5)
    one = [("a", row(0.7, 0.6, 0.8, 0.001))]
    assert levels(one, share, "50%") == "a 70.0% [60.0, 80.0], n = 40 pairs"
    assert levels([("b", row(0.52, 0.4, 0.6, 0.6))], share, "50%") == (
        "b 52.0% [40.0, 60.0], n = 40 pairs; b cannot be told apart from 50%"
    )
    both = [*one, ("b", row(0.52, 0.4, 0.6, 0.6))]
    assert levels(both, share, "50%") == (
        "a 70.0% [60.0, 80.0], b 52.0% [40.0, 60.0], n = 40 pairs each; b cannot be told apart from 50%"
    )
    assert levels([("a", row(0.7, 0.6, 0.8)), both[1]], share, "50%").endswith("; b cannot be told apart from 50%")
    assert levels([("a", row(0.7, 0.6, 0.8, 0.03, 0.12, tests=4))], share, "50%") == (
        "a 70.0% [60.0, 80.0], p = 0.12 over 4 tests, n = 40 pairs; a cannot be told apart from 50%"
    )
    assert levels([("a", row(NAN))], share, "50%") == levels([], share, "50%") == ""
    rough = levels([("a", row(0.7, 0.6, 0.8, notes=notes_json([Note("skew", would_do=60)])))], share, "50%")
    assert rough == "a 70.0% [60.0, 80.0], a rough interval, n = 40 pairs"


def test_in_which_places() -> None:
    rows = [("x", row(0.1, 0.02, 0.2, 0.01, 0.03)), ("y", row(0.3, 0.1, 0.5, 0.07, 0.14)), ("z", row(NAN))]
    assert across(rows, HOW, "groups", "Gap") == (
        "Gap, by groups: x +10.0 points [+2.0, +20.0], n = 40 pairs; in the other 1 of 2 groups (y (p = 0.14)) it "
        "cannot be told apart from 0"
    )
    assert across(rows[1:], HOW, "groups", "Gap").endswith("which cannot be told apart from 0")
    assert across([*rows[1:], *rows[1:]], HOW, "groups", "Gap") == (
        "Gap: cannot be told apart from 0 in any of 2 groups (y (p = 0.14) and y (p = 0.14))"
    )
    open_ = ("y", row(0.3, -0.1, 0.5, 0.07, 0.14))
    assert across([rows[0], *5 * [open_]], HOW, "groups", "Gap").endswith(
        "in the other 5 of 6 groups (y, y, y, y and y) it cannot be told apart from 0"
    )
    assert across([rows[0], *6 * rows[1:2]], HOW, "groups", "Gap").endswith(
        "in the other 6 of 7 groups it cannot be told apart from 0"
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
    assert ("cannot be told apart" in said) == open_
    assert "n = 40 pairs" in said


# The sentences of each instrument ----------------------------------------------------------------------------------


def result(probe: str, model: str, rows: list[Estimate], items: Mapping[str, list[Any]], **recipe: str) -> Result:
    signature = Signature.of(probe, model=model, level=0.95, resamples=100, seed=0, **recipe)
    ids = [f"i{number}" for number in range(len(next(iter(items.values()), [])))]
    return Result(signature, pl.DataFrame({"id": ids, **items}), summary_table((each, signature) for each in rows))


def compared(rows: list[Estimate], **recipe: str) -> pl.DataFrame:
    signature = Signature.of("x", model="a − b", **recipe)
    return summary_table((each, signature) for each in rows)


def said(probe: str, results: list[Result], comparison: pl.DataFrame | None = None) -> list[str]:
    return instruments()[probe].section.finding(results, comparison)


def estimated(measure: str, numbers: Bounds, n: int, p: float = NAN, p_holm: float = NAN, **by: Any) -> Estimate:
    value, low, high = numbers
    test = None if p != p else Test(p, adjusted=p_holm)
    return Estimate(measure, value, n, low, high, test=test, by=by)


def pairs_by(split: str = "all", scope: str = "overall", dataset: str = "blimp") -> dict[str, Any]:
    return {"dataset": dataset, "scope": scope, "group": "all", "split": split, "normalise": "none"}


def of_pairs(model: str, rows: list[Estimate], dataset: str = "blimp", paradigm: str = "p") -> Result:
    """Return a result of minimal pairs, of one scored pair."""
    pair = {"dataset": [dataset], "phenomenon": [paradigm], "paradigm": [paradigm]}
    return result("minimal-pairs", model, rows, pair, normalise="none", method="lp", acceptable="sent_more")


def between(rows: list[Estimate], **recipe: str) -> pl.DataFrame:
    """Return the differences between models over pairs."""
    return compared(rows, **recipe).with_columns(first_better=0, second_better=0)


def test_minimal_pairs() -> None:
    each = [
        of_pairs(model, [estimated("accuracy", numbers, 90, p, **pairs_by())])
        for model, numbers, p in (("a", (0.8, 0.7, 0.9), 0.001), ("b", (0.6, 0.45, 0.75), 0.2))
    ]
    assert said("minimal-pairs", each[:1]) == [
        "The acceptable sentence is more probable in this share of pairs: a 80.0% [70.0, 90.0], n = 90 pairs."
    ]
    pair: dict[str, Any] = {"comparison": "a − b"}
    rows = [
        estimated("accuracy difference", (0.2, 0.1, 0.3), 90, 0.01, **pair, **pairs_by()),
        estimated("accuracy difference", (0.1, -0.1, 0.3), 30, 0.3, **pair, **pairs_by("A=U under both")),
    ]
    first, second = said("minimal-pairs", each, between(rows))
    assert first.endswith(
        "a 80.0% [70.0, 90.0], b 60.0% [45.0, 75.0], n = 90 pairs each; b cannot be told apart from 50%."
    )
    # Pairs of equal length decide where there are others.
    assert (
        second == "a and b cannot be told apart: a − b +10.0 points [−10.0, +30.0], n = 30 pairs of equal token length."
    )
    assert said("minimal-pairs", each, between(rows[:1]))[1] == (
        "a prefers the acceptable sentence more often than b: a − b +20.0 points [+10.0, +30.0], n = 90 pairs."
    )
    nothing = of_pairs("a", [estimated("accuracy", (NAN, NAN, NAN), 0, **pairs_by())])
    assert said("minimal-pairs", [nothing]) == []


def test_gaps_of_length_come_first_where_they_are_told() -> None:
    """A set whose accuracy moves with token length says so before its accuracy; one whose does not, after it."""
    accuracy = estimated("accuracy", (0.8, 0.5, 0.95), 15, 0.02, **pairs_by())

    def of(longer: float, shorter: float) -> list[str]:
        gaps = [
            estimated("gap to A=U", numbers, 90, p, p, **pairs_by(split))
            for split, numbers, p in (
                ("A>U", (-0.4, -0.6, -0.2), longer),
                ("A<U", (0.2, 0.1, 0.3), shorter),
            )
        ]
        return said("minimal-pairs", [of_pairs("a", [accuracy, *gaps])])

    first, _ = of(0.002, 0.08)
    assert first == (
        "Accuracy minus that on pairs of equal token length, by lengths: acceptable sentence longer −40.0 points "
        "[−60.0, −20.0], n = 90 pairs; in the other 1 of 2 lengths (acceptable sentence shorter (p = 0.08)) it cannot "
        "be told apart from 0."
    )
    assert [text.startswith("Accuracy minus") for text in of(0.3, 0.2)] == [False, True]
    assert len(said("minimal-pairs", [of_pairs("a", [accuracy])])) == 1


def test_an_interval_that_leaves_nothing_out_is_no_number() -> None:
    each = [
        of_pairs(model, [estimated("accuracy", numbers, 8, 0.9, **pairs_by())])
        for model, numbers in (("a", (0.6, 0.0, 0.998)), ("b", (0.6, 0.1, 1.0)))
    ]
    gap_ = estimated("accuracy difference", (-0.2, -1.0, 0.999), 8, 0.5, comparison="a − b", **pairs_by())
    assert said("minimal-pairs", each, between([gap_])) == [
        "The acceptable sentence is more probable in this share of pairs: a too few to say, b 60.0% "
        "[10.0, 100.0], n = 8 pairs each; none of them can be told apart from 50%.",
        "a and b: a − b too few to say, n = 8 pairs.",
    ]


@pytest.mark.parametrize(("acceptable", "ahead"), [("sent_more", "a"), ("sent_less", "b")])
def test_stereotype_scores(acceptable: str, ahead: str) -> None:
    by = pairs_by(scope="stereotype", dataset="crows-pairs")
    directions = [
        estimated("accuracy", (0.5, 0.4, 0.6), 754, **by | {"scope": "paradigm", "group": group})
        for group in ("stereo", "antistereo")
    ]
    each = [
        of_pairs(model, [estimated("stereotype score", numbers, 1508, p, **by), *directions], "crows-pairs", "stereo")
        for model, numbers, p in (("a", (61.0, 57.0, 65.0), 0.001), ("b", (52.0, 50.5, 54.0), 0.07))
    ]
    gap_ = estimated(
        "accuracy difference", (0.09, 0.04, 0.14), 1508, 0.002, comparison="a − b", **pairs_by(dataset="crows-pairs")
    )
    first, second = said("minimal-pairs", each, between([gap_], acceptable=acceptable))
    assert first == (
        "The more stereotypical sentence is more probable in this share of pairs: a 61.0% [57.0, 65.0], b 52.0% [50.5, "
        "54.0], p = 0.07, n = 1,508 pairs each; b cannot be told apart from 50%."
    )
    other = "b" if ahead == "a" else "a"
    sign = "+" if ahead == "a" else "−"
    assert second.startswith(
        f"{ahead} prefers the more stereotypical sentence more often than {other}: a − b {sign}9.0 points"
    )


def test_fair_pairs() -> None:
    by = pairs_by(dataset="fair − original")
    each = [
        of_pairs(m, [estimated("accuracy on fair − original pairs", (-0.1, -0.15, -0.05), 80, 0.01, **by)], "fair")
        for m in ("a", "b")
    ]
    rows = [
        estimated("accuracy difference", (0.2, 0.1, 0.3), 40, 0.01, comparison="a − b", **pairs_by(dataset="original")),
        estimated("accuracy difference", (0.0, -0.1, 0.1), 40, 0.9, comparison="a − b", **pairs_by(dataset="fair")),
    ]
    assert said("fair-pairs", each, between(rows)) == [
        "Accuracy on the fair pairs minus that on the original ones: a −10.0 points [−15.0, −5.0], b −10.0 points "
        "[−15.0, −5.0], n = 80 pairs each.",
        "On the original pairs, a is above b: a − b +20.0 points [+10.0, +30.0], n = 40 pairs.",
        "On the fair pairs, a and b cannot be told apart: a − b +0.0 points [−10.0, +10.0], n = 40 pairs.",
    ]


def test_cloze() -> None:
    def of(model: str, numbers: Bounds, mass: float = 0.5, raters: Bounds | None = None) -> Result:
        rows = [
            estimated("mean β", numbers, 60, 0.001 if numbers[1] * numbers[2] > 0 else 0.5, group="all"),
            estimated("mean rated mass", (mass, mass, mass), 60, group="all"),
            *([estimated("mean β, raters sampled", raters, 60, group="all")] if raters else []),
        ]
        items: dict[str, list[Any]] = {"group": ["early", "late"], "expected": [0.5, 1.0], "beta": [0.1, 0.2]}
        return result("cloze", model, rows, items, scale="old < new", method="fill")

    each = [of("a", (-0.2, -0.3, -0.1)), of("b", (0.0, -0.1, 0.1))]
    assert said("cloze", each) == [
        "a leans towards old (mean β −0.200 [−0.300, −0.100], n = 60 sentences).",
        "b cannot be told to lean towards old or new (mean β +0.000 [−0.100, +0.100], n = 60 sentences).",
    ]
    # Other raters are a sample, too; and where little is rated, nothing is told of a lean.
    assert said("cloze", [of("a", (-0.2, -0.3, -0.1), raters=(-0.2, -0.5, 0.1))]) == [
        "a leans towards old by these raters (mean β −0.200 [−0.300, −0.100], n = 60 sentences; with raters sampled, "
        "−0.200 [−0.500, +0.100]: by others it need not)."
    ]
    assert said("cloze", [of("a", (-0.2, -0.3, -0.1), raters=(-0.2, -0.4, -0.05))])[0].startswith(
        "a leans towards old ("
    )
    assert said("cloze", [of("a", (0.001, 0.0005, 0.003), 0.02)])[0].startswith(
        "a cannot be told to lean anywhere: the rated words hold 2% of the probability (mean β +0.001"
    )
    name = "difference of mean δ"
    rows = [
        estimated(name, (0.1, 0.05, 0.2), 20, 0.01, 0.02, comparison="a − b", group="early"),
        estimated(name, (0.0, -0.05, 0.05), 40, 0.9, 0.9, comparison="a − b", group="late"),
        estimated(name, (0.03, 0.01, 0.06), 60, 0.03, comparison="a − b", group="all"),
    ]
    assert said("cloze", each, compared(rows))[1:3] == [
        "Difference of mean δ, a − b, by groups: early +0.100 [+0.050, +0.200], n = 20 sentences; in the other 1 of 2 "
        "groups (late) it cannot be told apart from 0.",
        "Over all sentences, a mixture of 1 early and 1 late, a suits the sentences better than b: difference of mean "
        "δ, a − b +0.030 [+0.010, +0.060], n = 60 sentences.",
    ]
    assert said("cloze", [of("a", (0.0, NAN, NAN), 0.0)]) == []  # no rated word: nothing was measured


def test_cloze_tells_no_adequacy_over_opposite_ends() -> None:
    """Of sentences for both ends, leaning towards one suits half and not the others: the mean δ would cancel."""
    gap, name = "difference of mean β", "difference of mean δ"
    rows = [
        estimated(gap, (0.2, 0.1, 0.3), 20, 0.01, 0.01, comparison="a − b", group="early"),
        estimated(gap, (0.2, 0.1, 0.3), 20, 0.01, 0.01, comparison="a − b", group="late"),
        estimated(gap, (0.2, 0.15, 0.25), 40, 0.01, comparison="a − b", group="all"),
        estimated(name, (-0.1, -0.2, -0.05), 20, 0.01, 0.02, comparison="a − b", group="early"),
        estimated(name, (0.1, 0.05, 0.2), 20, 0.01, 0.02, comparison="a − b", group="late"),
        estimated(name, (0.0, -0.05, 0.05), 40, 0.9, comparison="a − b", group="all"),
    ]
    leans = [estimated(m, (0.2, 0.1, 0.3), 40, 0.001, group="all") for m in ("mean β", "mean rated mass")]
    told = {}
    for late in ([1.0], [1.0, -0.5]):
        items: dict[str, list[Any]] = {"group": ["early", *["late"] * len(late)], "expected": [-1.0, *late]}
        items["beta"] = [0.1] * len(items["group"])
        each = [result("cloze", model, leans, items, scale="old < new", method="fill") for model in ("a", "b")]
        told[len(late)] = said("cloze", each, compared(rows))[2:]
    by_group, overall, *adequacy = told[1]
    assert overall == (
        "Over all sentences, a mixture of 1 early and 1 late, a leans more towards new than b: difference of mean β, "
        "a − b +0.200 [+0.150, +0.250], n = 40 sentences."
    )
    assert by_group.startswith(
        "Difference of mean β, a − b, by groups: early +0.200 [+0.100, +0.300], n = 20 sentences"
    )
    assert adequacy == [
        "Difference of mean δ, a − b, by groups: early −0.100 [−0.200, −0.050], n = 20 sentences, late +0.100 [+0.050, "
        "+0.200], n = 20 sentences."
    ]
    assert told[2][2:] == [
        "Difference of mean δ, a − b, early: −0.100 [−0.200, −0.050], n = 20 sentences.",
        "No difference of δ is told in late, where sentences call for both ends of the scale.",
    ]


def test_cloze_tells_groups_before_their_mixture() -> None:
    """The mean over all sentences is that of a mixture which the author chose."""
    items: dict[str, list[Any]] = {"group": ["early"] * 3 + ["late"] * 2 + ["both", "odd"], "expected": [0.0] * 7}
    items["beta"] = [0.1] * 7
    groups: dict[str, tuple[Bounds, float, Bounds]] = {
        "early": ((-0.3, -0.5, -0.1), 0.5, (-0.3, -0.6, -0.05)),
        "late": ((0.1, 0.05, 0.2), 0.5, (0.1, -0.05, 0.3)),
        "both": ((0.0, -0.1, 0.1), 0.5, (0.0, -0.2, 0.2)),
        "odd": ((0.01, 0.005, 0.02), 0.03, (0.01, 0.005, 0.02)),
        "all": ((-0.1, -0.2, -0.01), 0.5, (-0.1, -0.3, -0.005)),
    }

    def of(model: str, names: Iterable[str], alpha: float = NAN) -> Result:
        rows = [
            estimated(
                measure,
                numbers,
                {"early": 30, "late": 20, "all": 7}.get(name, 10),
                NAN if measure != "mean β" else 0.9 if name == "both" else 0.01,
                group=name,
            )
            for name in names
            for measure, numbers in (
                ("mean β", groups[name][0]),
                ("mean rated mass", (groups[name][1],) * 3),
                ("mean β, raters sampled", groups[name][2]),
            )
        ]
        rows.append(estimated("Krippendorff's alpha (ordinal)", (alpha, 0.3, 0.8), 9, group="all"))
        return result("cloze", model, rows, items, scale="old < new", method="fill")

    first, second, doubt = said("cloze", [of("a", groups, 0.5), of("b", ["both", "all"], 0.7)])
    assert first == (
        "a leans towards old in early (mean β −0.300 [−0.500, −0.100], n = 30 sentences), leans towards new by these "
        "raters in late (mean β +0.100 [+0.050, +0.200], n = 20 sentences; with raters sampled, +0.100 [−0.050, "
        "+0.300]: by others it need not); it cannot be told apart from 0 in both; nor in odd, where rated words hold "
        "under 10% of the probability; over all 7 sentences, a mixture of 3 early, 2 late, 1 both and 1 odd, its mean "
        "β is −0.100 [−0.200, −0.010]."
    )
    assert second == (
        "b cannot be told to lean towards old or new in both; over all 7 sentences, its mean β is −0.100 [−0.200, "
        "−0.010]."
    )
    assert doubt == (
        "All this stands on raters who agree too little for even tentative conclusions: Krippendorff's ordinal α is "
        "0.50 over the words of a, and 0.667 is asked for."
    )
    assert len(said("cloze", [of("a", groups, 0.667)])) == 1
    # A sentence without a rated word is not among those whose mean is told.
    items["beta"][0] = None
    assert (
        "; over the 6 of 7 sentences with a rated word, a mixture of 2 early, 2 late, 1 both and 1 odd, its mean"
        in (said("cloze", [of("a", groups)])[0])
    )


def test_cloze_tells_what_can_be_told_first() -> None:
    """And of a group without an interval, such as one sentence, not that something "cannot be told"."""
    items: dict[str, list[Any]] = {"group": [*["early"] * 3, "one"], "expected": [0.0] * 4}
    items["beta"] = [0.1] * 4
    groups: dict[str, Bounds] = {"early": (0.0, -0.1, 0.1), "one": (0.4, NAN, NAN), "all": (0.1, -0.1, 0.3)}
    leans = [
        estimated(
            measure, numbers if measure == "mean β" else (0.5, 0.4, 0.6), 1 if name == "one" else 30, 0.6, group=name
        )
        for name, numbers in groups.items()
        for measure in ("mean β", "mean rated mass")
    ]
    rows = [
        estimated("difference of mean β", (0.2, 0.1, 0.3), 30, 0.01, 0.01, comparison="a − b", group="early"),
        estimated("difference of mean β", (0.5, NAN, NAN), 1, comparison="a − b", group="one"),
        estimated("difference of mean β", (0.1, -0.1, 0.3), 4, 0.5, comparison="a − b", group="all"),
        *(
            estimated("difference of mean β, per rated probability", numbers, 30, 0.2, comparison="a − b", group=group)
            for group, numbers in (("early", (0.3, -0.1, 0.7)), ("one", (0.6, NAN, NAN)), ("all", (0.2, -0.2, 0.6)))
        ),
    ]
    each = [result("cloze", model, leans, items, scale="old < new", method="fill") for model in ("a", "b")]
    told = said("cloze", each, compared(rows))
    assert told[0] == (
        "Difference of mean β, a − b, early: +0.200 [+0.100, +0.300], n = 30 sentences; it has no interval in one, "
        "where nothing is tested."
    )
    assert told[1].startswith(
        "a cannot be told to lean towards old or new in early; no interval in one, of which nothing is tested; over "
        "all 4 sentences, a mixture of 3 early and 1 one, its mean β is"
    )
    assert told[2].startswith("b cannot be told") and told[3].startswith("Over all sentences, a mixture of 3 early")
    assert told[4] == (
        "What is told of mean β turns on whether unrated words count: a − b in early +0.200 [+0.100, +0.300] over all "
        "probability, +0.300 [−0.100, +0.700] per rated one."
    )


def of_values(model: str, rows: list[Estimate], **recipe: str) -> Result:
    """Return a result of value statements, of one negation."""
    sentences = {"sentence_agree": ["She agrees that it rains."], "sentence_disagree": ["She denies that it rains."]}
    clause = {"kind": ["negation"], "value": ["power"], "text": ["it rains"], **sentences}
    how = {"method": "span", "calibration": "origin", "survey": "none", **recipe}
    return result("values", model, rows, {"variant": ["main"], "group": ["she"], **clause}, **how)


def test_values() -> None:
    by: dict[str, Any] = {"variant": "main", "group": "she", "item": ""}
    each = [of_values(m, [estimated("mean rating", (4.1, 3.6, 4.5), 9, dimension="power", **by)]) for m in ("a", "b")]
    gap_ = estimated("rating difference", (0.4, 0.1, 0.7), 9, 0.01, 0.02, comparison="a − b", dimension="power", **by)
    mean, *more = said("values", each, compared([gap_]))
    assert mean == (
        "Mean rating, from 1 (disagree) to 5 (agree): a (she) 4.10 [3.60, 4.50], b (she) 4.10 [3.60, 4.50], "
        "n = 9 statements each."
    )
    assert more == ["Ratings of a − b, power: +0.40 [+0.10, +0.70], n = 9 statements."]


def test_several_values_are_told_one_by_one() -> None:
    """They may be opposite: their pooled mean is no finding."""
    by: dict[str, Any] = {"variant": "main", "group": "she", "item": ""}
    rows = [
        estimated("mean rating", numbers, n, dimension=value, **by)
        for value, numbers, n in (("power", (4.1, 3.6, 4.5), 9), ("order", (1.5, 1, 2), 5), ("all", (3.1, 2, 4), 14))
    ]
    mirrored = estimated("correlation with the mirrored negation", (-0.97, -1, -0.9), 9, 2e-7, dimension="all", **by)
    (one,) = said("values", [of_values("a", rows)])
    assert one == (
        "Mean rating, from 1 (disagree) to 5 (agree), a (she): power 4.10 [3.60, 4.50], n = 9 statements, "
        "order 1.50 [1.00, 2.00], n = 5 statements."
    )
    first, second = said("values", [of_values("a", [*rows, mirrored])])
    assert first == (
        "No rating here may be read as a value: negated statements are not rated as the mirror image of the statements "
        "(correlation, +1 where consistent: a (she) −0.97 [−1.00, −0.90], n = 9 statements)."
    )
    assert second == one


def test_values_beside_a_survey() -> None:
    def of(model: str, order: Bounds, p: float, notes: Notes = ()) -> Result:
        by: dict[str, Any] = {"variant": "main", "group": "she", "item": ""}
        rows = [
            estimated("mean rating − survey mean", (0.4, -0.2, 1.0), 9, 0.2, 0.2, dimension="power", **by),
            replace(estimated("mean rating − survey mean", order, 5, p, p, dimension="order", **by), notes=notes),
        ]
        return of_values(model, rows, survey="synthetic people#0abc12")

    start = "Survey SYNTHETIC people, mean rating beside the respondents' mean over the same statements: "
    cannot = "the two cannot be told apart, which does not show that they are alike"
    (none,) = said("values", [of("a", (-1, -1.9, -0.1), 0.06)])  # the interval leaves out 0, the adjusted p does not
    assert none == (
        f"{start}in all 2 cases (a value, group and model each) {cannot}; the largest difference: order, a (she) −1.00 "
        "[−1.90, −0.10], p = 0.06, n = 5 statements."
    )
    notes = (Note("values.some-in-survey", have=5, of=8),)
    (apart,) = said("values", [of("a", (-1, -2, 1), 0.4), of("b", (-1.7, -2.4, -1), 0.001, notes)])
    assert apart == (
        f"{start}order, b (she): below it by −1.70 [−2.40, −1.00], n = 5 statements, {notes[0]}; in the "
        f"other 3 of 4 cases (a value, group and model each) {cannot}."
    )


def test_associations_and_their_overview() -> None:
    def of(probe: str, numbers: Bounds, p_holm: float) -> Result:
        rows = [
            estimated(
                "effect size", numbers, 16, p_holm, p_holm, category="C1", label="flowers", layer="-1", context="all"
            )
        ]
        return result(probe, "m", rows, {}, alternative="two-sided", data="d")

    clear, not_ = of("weat", (1.4, 0.9, 1.8), 0.001), of("seat", (0.3, -0.5, 1.0), 0.4)
    assert said("weat", [clear]) == ["m, effect size d, C1 flowers: +1.40 [+0.90, +1.80], n = 16 stimuli."]
    assert said("seat", [not_]) == [
        "m, effect size d, C1 flowers: +0.30 [−0.50, +1.00], n = 16 stimuli, which cannot be told apart from 0."
    ]
    assert said("seat", [of("seat", (NAN, NAN, NAN), NAN)]) == []
    overview = instruments()["weat"].overview
    assert overview is not None
    assert overview.section.finding([clear, not_], None) == [
        "By all measures d has the same sign in 1 of 1 category that at least two measure; all tell it apart from 0 in "
        "none."
    ]
    assert (
        "all tell it apart from 0 in 1 (C1)."
        in overview.section.finding([clear, of("seat", (1.4, 0.9, 1.8), 0.001)], None)[0]
    )


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
        "Gap: cannot be told apart from 0 in any of 4 groups (a (p = 0.085 over 4 tests), b (p = 0.085 over 4 tests), "
        "c and d (p = 0.18 over 4 tests))"
    )
