"""Items and raters both sampled: correlations and the ceiling against scipy and loops, and coverage of intervals."""

from __future__ import annotations

from collections.abc import Callable

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pages import numbers
from penchant.errors import DataError
from penchant.stats.agreement import interval_alpha, krippendorff_alpha
from penchant.stats.crossed_judgements import FEW_ITEMS, FEW_RATERS, WIDE, ceiling, correlation, left_out, majority
from penchant.wording.phrases import Note

Array = NDArray[np.float64]
SEEDS = st.integers(0, 10_000)
ROUGH = Note("rough-of-raters-and-items", few=[], would_do=["", ""])


def judged(rng: np.random.Generator, raters: int, items: int, *, missing: float = 0.25, scale: int = 3) -> Array:
    """Whole numbers, so that many tie, some of them missing; every item has a judgement."""
    table = np.round(scale * (rng.normal(size=items) + rng.normal(size=(raters, items))))
    table[rng.random(table.shape) < missing] = np.nan
    table[rng.integers(raters), :] = np.round(rng.normal(size=items))
    return table


@given(SEEDS, st.integers(2, 6), st.integers(4, 25))
@settings(max_examples=40, deadline=None)
def test_the_value_is_that_of_scipy(seed: int, raters: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    table, scores = judged(rng, raters, items), np.round(rng.normal(size=items), 1)
    means = np.nanmean(table, axis=0)
    if np.ptp(means) == 0 or np.ptp(scores) == 0:
        return
    for ranks, other in ((False, stats.pearsonr), (True, stats.spearmanr)):
        found = correlation(scores, table, ranks=ranks, seed=0, resamples=20)
        assert found.value == pytest.approx(other(scores, means)[0], abs=1e-12)
        assert found.n == items


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_without_each_rater_as_computed_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, scores = judged(rng, 4, 12), rng.normal(size=12)
    for ranks, other in ((False, stats.pearsonr), (True, stats.spearmanr)):
        for rater, value in enumerate(left_out(scores, table, ranks=ranks)[1:]):
            rest = np.delete(table, rater, axis=0)
            kept = ~np.isnan(rest).all(axis=0)
            means = np.nanmean(rest[:, kept], axis=0)
            if np.ptp(means) > 0:
                assert value == pytest.approx(other(scores[kept], means)[0], abs=1e-12)


def test_resamples_are_those_of_the_drawn_rows_and_columns() -> None:
    """The same draws, repeated and correlated by scipy."""
    rng = np.random.default_rng(3)
    table, scores = judged(rng, 5, 15, missing=0), rng.normal(size=15)
    table = table[sorted(range(5), key=lambda rater: tuple(table[rater]))]
    for ranks, other in ((False, stats.pearsonr), (True, stats.spearmanr)):
        found = correlation(scores, table, ranks=ranks, seed=7, resamples=200)
        again = np.random.default_rng(7)
        raters, items = again.multinomial(5, np.full(5, 0.2), 200), again.multinomial(15, np.full(15, 1 / 15), 200)
        draws = []
        for who, what in zip(raters, items, strict=True):
            means = np.repeat(table, who, axis=0).mean(axis=0)
            draws.append(np.arctanh(other(np.repeat(scores, what), np.repeat(means, what))[0]))
        ends = np.quantile(draws, [0.025, 0.975]) - np.median(draws) + np.arctanh(found.value)
        assert (found.low, found.high) == pytest.approx(np.tanh(ends), abs=1e-9)
        name = "Spearman's ρ" if ranks else "Pearson's r"
        assert found.how == (
            f"percentile bootstrap of {name}, recentred on Fisher's z, over 15 items and 5 raters, 200 resamples, "
            "seed 7"
        )


def brute_ceiling(table: Array) -> float:
    shares = []
    for rater in range(len(table)):
        credits = []
        for item in range(table.shape[1]):
            own = table[rater, item]
            others = [table[s, item] for s in range(len(table)) if s != rater and not np.isnan(table[s, item])]
            good, bad = sum(value > 0 for value in others), sum(value < 0 for value in others)
            if np.isnan(own) or len(others) < 2 or good == bad:
                continue
            credits.append(0.5 if own == 0 else float((own > 0) == (good > bad)))
        if credits:
            shares.append(sum(credits) / len(credits))
    return sum(shares) / len(shares) if shares else float("nan")


@given(SEEDS, st.integers(2, 6), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_the_ceiling_and_the_majority_by_loops(seed: int, raters: int, items: int) -> None:
    table = judged(np.random.default_rng(seed), raters, items)
    assert ceiling(table).value == pytest.approx(brute_ceiling(table), nan_ok=True, abs=1e-12)
    votes = [np.sign((column > 0).sum() - (column < 0).sum()) for column in table.T]
    assert majority(table).tolist() == votes


def test_a_ceiling_worked_by_hand() -> None:
    # Item 1: all choose good; 2: one of three differs, so that only she has others who agree, and is wrong; 3: nobody
    # has two others. Raters 1 and 2: 1 of 1; rater 3: 1 of 2.
    table = np.array([[1, 1, 1], [1, 1, np.nan], [1, -1, np.nan]], dtype=float)
    assert ceiling(table).value == pytest.approx((1 + 1 + 0.5) / 3)
    assert ceiling(table).n == 2


@given(SEEDS, st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_the_order_of_raters_does_not_matter(seed: int, raters: int) -> None:
    rng = np.random.default_rng(seed)
    table, scores = judged(rng, raters, 14), rng.normal(size=14)
    other = table[rng.permutation(raters)]
    for ranks in (False, True):
        settings_ = {"ranks": ranks, "seed": 1, "resamples": 50}
        assert correlation(scores, table, **settings_) == correlation(scores, other, **settings_)  # type: ignore[arg-type]
    groups = [i % 3 for i in range(14)]
    a, b = ceiling(table, clusters=groups), ceiling(other, clusters=groups)
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), nan_ok=True)


def test_what_has_no_number_says_why() -> None:
    rows = np.array([[1.0, -1, 1, 1], [1, 1, -1, 1]])
    for scores, table, why in (
        ([1, 2], rows[:, :2], "a correlation needs 3 items"),
        ([1, 1, 1, 1], rows, "no correlation: the scores of all items are the same"),
        ([1, 2, 3, 4], np.ones((2, 4)), "no correlation: the mean judgements of all items are the same"),
    ):
        found = correlation(scores, table, ranks=False, seed=0, resamples=10)
        assert np.isnan(found.value) and found.note == why
    alone = correlation([1, 2, 3, 5], rows[:1], ranks=True, seed=0, resamples=10)
    assert not np.isnan(alone.value) and np.isnan(alone.low) and alone.note.endswith("one rater")
    straight = correlation([1, 2, 3, 4], np.array([[1.0, 2, 3, 4]] * 3), ranks=False, seed=0, resamples=50)
    assert straight.value == pytest.approx(1) and np.isnan(straight.low) and "all points lie on a line" in straight.note
    few = correlation([1, 2, 4, 3], np.array([*rows, *rows[:1]]), ranks=False, seed=0, resamples=400)
    assert "only 3 raters and 4 items" in few.note and "resamples have no correlation: left out" in few.note
    assert ceiling(rows).note == "no ceiling: no item has 3 raters"
    # Two of four choose either sentence: the other three never tie, but those of three raters do.
    tied = np.array([[1.0, np.nan], [-1, np.nan], [0, 1]])
    assert ceiling(np.array([[0.0], [0], [0]])).note == "no ceiling: every majority of the others is a tie"
    assert ceiling(tied).n == 1
    assert np.isnan(ceiling(np.ones((3, 5))).low)
    for bad in (np.array([[np.nan], [np.nan]]), np.array([[np.inf]]), np.ones(3)):
        with pytest.raises(DataError):
            ceiling(bad)
    with pytest.raises(DataError):
        correlation([1.0, 2], np.ones((2, 3)), ranks=False, seed=0)


# Agreement ----------------------------------------------------------------------------------------------------------


@given(SEEDS, st.integers(2, 5), st.integers(2, 15))
@settings(max_examples=40, deadline=None)
def test_alpha_of_any_numbers_is_that_of_the_package(seed: int, raters: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    table = 100 + rng.normal(size=items) + rng.normal(size=(raters, items))
    table[rng.random(table.shape) < 0.2] = np.nan
    units = [column[~np.isnan(column)] for column in table.T]
    found = interval_alpha(units, seed=0, resamples=20)
    if sum(len(unit) > 1 for unit in units):
        other = krippendorff.alpha(table, level_of_measurement="interval")
        assert found.value == pytest.approx(other, abs=1e-9)


def test_both_ways_to_alpha_agree_with_their_intervals() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-2, 3, (40, 1)) + rng.integers(-1, 2, (40, 4))
    values = np.arange(-3.0, 4)
    counts = (table[..., None] == values).sum(axis=1)
    one = krippendorff_alpha(counts, domain=values, scale="interval", seed=0)
    other = interval_alpha(list(table.astype(float)), seed=0)
    assert other.value == pytest.approx(one.value, abs=1e-12)
    assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.05)  # other draws
    assert interval_alpha([[1.0], [2.0]], seed=0).note == "none of 2 units has two ratings"
    assert interval_alpha([], seed=0).note == "no units"
    assert "all ratings are equal" in interval_alpha([[0.1, 0.1]] * 3, seed=0).note


# Coverage -----------------------------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, items: int, raters: int, kind: str) -> tuple[Array, Array]:
    """Scores and judgements that correlate by .6 but for raters' noise and leanings."""
    scores = rng.normal(size=items)
    worth = 0.6 * scores + 0.8 * rng.normal(size=items)
    noise, slope = {"alike": (0.7, 0.3), "apart": (2.5, 0.0), "choices": (0.7, 0.3)}[kind]
    slopes = 1 + slope * rng.normal(size=(raters, 1))
    table = slopes * worth + 0.5 * rng.normal(size=(raters, 1)) + noise * rng.normal(size=(raters, items))
    return scores, np.where(table > -1, 1.0, -1.0) if kind == "choices" else table


def held(found: Callable[[np.random.Generator], tuple[float, float]], truth: float, sets: int) -> float:
    """The share of the intervals that hold the truth, of the data sets that have one."""
    ends = np.array([found(np.random.default_rng([sets, number])) for number in range(sets)])
    ends = ends[~np.isnan(ends[:, 0])]
    return float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alike", "apart", "choices"])
@pytest.mark.parametrize("raters", [2, 3, 5, 12])
def test_coverage_of_correlations(raters: int, kind: str) -> None:
    """The truth is the mean correlation of as many raters over 5,000 items."""
    for ranks, other in ((False, stats.pearsonr), (True, stats.spearmanr)):
        rng = np.random.default_rng(1)
        truth = np.mean([other(m, x.mean(axis=0))[0] for m, x in (drawn(rng, 5_000, raters, kind) for _ in range(100))])
        for items, sets in ((12, 300), (30, 300), (100, 200), (300, 100)):

            def interval(rng: np.random.Generator, items: int = items, ranks: bool = ranks) -> tuple[float, float]:
                found = correlation(*drawn(rng, items, raters, kind), ranks=ranks, seed=0, resamples=300)
                return found.low, found.high

            share = held(interval, float(truth), sets)
            print(f"{kind}, {raters} raters, {items} items, {'ρ' if ranks else 'r'}: {share:.3f} of {sets}")  # noqa: T201
            few = raters < FEW_RATERS or items < FEW_ITEMS
            low, high = numbers(str(ROUGH if few else WIDE))[:2]
            assert low - 2.5 <= 100 * share <= high


@pytest.mark.slow
@pytest.mark.parametrize("raters", [3, 4, 5, 9])
def test_coverage_of_the_ceiling(raters: int) -> None:
    low, high = numbers(str(WIDE if raters >= FEW_RATERS else ROUGH))[:2]

    def choices(rng: np.random.Generator, items: int, noise: float, lean: float) -> Array:
        worth = rng.normal(size=items) + lean
        table = worth + 0.4 * rng.normal(size=(raters, 1)) + noise * rng.normal(size=(raters, items))
        return np.where(table > 0, 1.0, -1.0)

    for noise, lean in ((0.7, 1.0), (1.5, 0.6), (0.5, 2.0)):
        rng = np.random.default_rng(1)
        truth = float(np.mean([ceiling(choices(rng, 2_000, noise, lean)).value for _ in range(60)]))
        for items in (20, 50, 150):

            def interval(
                rng: np.random.Generator, items: int = items, noise: float = noise, lean: float = lean
            ) -> tuple[float, float]:
                found = ceiling(choices(rng, items, noise, lean))
                return found.low, found.high

            share = held(interval, truth, 200)
            print(f"{raters} raters, {items} items, noise {noise}: {share:.3f}")  # noqa: T201
            assert low - 2 <= 100 * share <= high
