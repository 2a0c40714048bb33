"""The studentised distribution of a mean: against every possible resample, scipy, and simulated data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from penchant.report.tables import Number
from penchant.stats.intervals import bootstrap_mean
from penchant.stats.studentised import HELD, studentised

Array = NDArray[np.float64]

few = st.lists(st.integers(-20, 20).map(lambda value: value / 10), min_size=4, max_size=12)


def by_hand(parts: list[Array]) -> tuple[float, float]:
    """Mean and standard error of a stratified sample."""
    n = sum(map(len, parts))
    variances = [(len(part) / n) ** 2 * part.var(ddof=1) / len(part) for part in parts]
    return sum(len(part) / n * part.mean() for part in parts), math.sqrt(sum(variances))


@pytest.mark.parametrize("parts", [[[0.0, 1, 3, 4, 9]], [[0.0, 1, 5], [2.0, 3, 7]]])
def test_draws_against_all_possible_resamples(parts: list[list[float]]) -> None:
    arrays = [np.array(part) for part in parts]
    value, error = by_hand(arrays)
    every = []
    for picks in itertools.product(*(itertools.product(part, repeat=len(part)) for part in parts)):
        mean, spread = by_hand([np.array(pick) for pick in picks])
        gap = mean - value
        every.append(gap / spread if spread > 1e-12 else math.copysign(math.inf, gap) if abs(gap) > 1e-12 else 0.0)
    drawn = studentised(arrays, seed=3, resamples=40_000)
    assert (drawn.value, drawn.error) == pytest.approx((value, error))
    assert drawn.df == sum(map(len, parts)) - len(parts)
    assert (drawn.draws[1:] >= drawn.draws[:-1]).all()
    for cut in (-5.03, -1.01, -0.303, 0.501, 2.02, 7.07, 1e9):
        share = float(np.mean(np.array(every) <= cut))
        near = 4.5 * math.sqrt(share * (1 - share) / 40_000) + 1e-9
        assert np.mean(drawn.draws <= cut) == pytest.approx(share, abs=near), cut


def test_each_end_is_the_wider_of_two() -> None:
    values = np.array([0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.2, 2, 6])
    drawn = studentised([values], seed=0, resamples=9_999)
    low, high = drawn.interval(0.95)
    t = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    q_low, q_high = drawn.draws[248], drawn.draws[-249]  # fewer than 2.5 % of 10,000, the data being one
    assert high == pytest.approx(values.mean() - q_low * drawn.error)  # the long side: t would end at t.high
    assert low == pytest.approx(min(t.low, values.mean() - q_high * drawn.error))
    assert high > t.high + 0.1


def test_groups_that_vary_by_different_amounts_have_satterthwaites_degrees_of_freedom() -> None:
    parts = [np.array([1.0, 3, 5, 7]), np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), np.array([2.0, 2.5])]
    shares = [len(part) / 12 for part in parts]
    errors = [w**2 * part.var(ddof=1) / len(part) for w, part in zip(shares, parts, strict=True)]
    df = sum(errors) ** 2 / sum(e**2 / (len(part) - 1) for e, part in zip(errors, parts, strict=True))
    found = studentised(parts, seed=0, resamples=50)
    assert (found.df, found.error) == pytest.approx((df, sum(errors) ** 0.5)) and 3 < df < 4
    # One group, or two alike, have those of the t test.
    assert studentised([np.arange(8.0)], seed=0, resamples=50).df == pytest.approx(7)
    assert studentised([np.arange(8.0), np.arange(8.0)], seed=0, resamples=50).df == pytest.approx(14)


def test_the_sign_of_a_difference_changes_nothing_else() -> None:
    for values in (np.random.default_rng(1).exponential(size=15) - 0.5, np.array([-3.0, -1, 0, 1, 4])):
        one, other = (bootstrap_mean(side, seed=0, resamples=500, against=0) for side in (values, -values))
        assert (one.low, one.high, one.p) == pytest.approx((-other.high, -other.low, other.p), rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(few, st.sampled_from([0.95, 0.9, 0.8]), st.sampled_from([0.0, 0.5]), st.sampled_from([99, 200, 1000]))
def test_p_and_interval_agree(values: list[float], level: float, truth: float, resamples: int) -> None:
    assume(len(set(values)) > 1)
    found = bootstrap_mean(values, seed=1, resamples=resamples, level=level, bounds=(-2, 2), against=truth)
    assert 0 < found.p <= 1 and found.low <= found.value <= found.high
    outside = truth < found.low or truth > found.high
    assume(min(abs(truth - found.low), abs(truth - found.high)) > 1e-9)
    assert (found.p < 1 - level) == outside


def test_the_test_of_a_mean_that_is_far_away_counts_the_data_as_a_draw() -> None:
    values = np.random.default_rng(0).normal(50, 1, size=30)
    found = bootstrap_mean(values, seed=0, resamples=999, against=0)
    assert found.p == pytest.approx(2 / 1000) and found.test == "larger p of t and bootstrap-t over sentences"
    assert math.isnan(bootstrap_mean(values, seed=0).p) and bootstrap_mean(values, seed=0).test == ""


def test_resamples_without_spread() -> None:
    """Two of nine differ from 0: (7/9)⁹ = 10 % of the resamples have no spread, and the upper end is that of the
    scale."""
    values = [0.0] * 7 + [0.5, 1]
    found = bootstrap_mean(values, seed=0, bounds=(-1, 1))
    assert found.high == 1 and found.low < found.value and "end of the scale" in found.note
    free = bootstrap_mean(values, seed=0, against=0)
    assert math.isnan(free.low) and math.isnan(free.high) and "no spread" in free.note and free.how == ""
    assert 0.05 < free.p <= 1
    two = bootstrap_mean([0.25, 0.75], seed=0, bounds=(0, 1))
    assert (two.low, two.high) == (0, 1)
    equal = bootstrap_mean([0.25] * 5, seed=0, bounds=(0, 1), against=0)
    assert math.isnan(equal.low) and math.isnan(equal.p) and "same value" in equal.note and equal.test == ""


def test_zero_is_zero() -> None:
    """No bound of 1e-17, and none of −0.0: the lower end is 0 exactly, as is that of a scale which begins there."""
    low = bootstrap_mean([0.0, 0.1, 0.2, 0.9] * 3, seed=0, bounds=(0, 1), level=0.999).low
    assert low == 0 and math.copysign(1, low) == 1
    assert str(Number(-0.0, -0.004, 0.004)) == "0.00 [0.00, 0.00]"
    assert str(Number(-0.0004, -0.001, 0.0, form="+.3f")) == "+0.000 [-0.001, +0.000]"


def test_skew_values_are_a_caution() -> None:
    rng = np.random.default_rng(0)
    far = np.concatenate([[1.0, 1], rng.normal(0, 0.05, 18)])  # skewness 2.6, as in the row of .1
    note = "skew values: of such 95 % intervals from 20 words only some 87% hold the mean; 40 would do"
    assert bootstrap_mean(far, seed=0, noun="words").note == note
    assert bootstrap_mean(-far, seed=0, noun="words").note == note
    assert "only some 64%" in bootstrap_mean([1.0, *rng.normal(0, 0.05, 19)], seed=0, bounds=(-1, 1)).note
    assert bootstrap_mean([*far, *far], seed=0).note == ""
    assert bootstrap_mean(rng.normal(size=20), seed=0).note == ""


def far_items(share: float) -> Callable[[np.random.Generator, int], Array]:
    return lambda rng, n: np.where(rng.random(n) < share, 1.0, rng.normal(0, 0.05, n))


def held(draw: Callable[[np.random.Generator, int], Array], mean: float, n: int, runs: int = 600) -> float:
    """The share of 95 % intervals that hold the mean."""
    rng, hits = np.random.default_rng(7), 0
    for _ in range(runs):
        low, high = studentised([draw(rng, n)], seed=rng, resamples=399).interval(0.95)
        hits += low <= mean <= high
    return hits / runs


@pytest.mark.slow
@pytest.mark.parametrize(("share", "row"), list(zip((0.2, 0.1, 0.05, 0.02), HELD.values(), strict=True)))
def test_the_measured_coverage_is_what_is_said(share: float, row: dict[int, float]) -> None:
    for n, expected in row.items():
        assert held(far_items(share), share, n) == pytest.approx(expected, abs=0.05), n


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda rng, n: rng.normal(size=n), 0),
        (lambda rng, n: rng.exponential(size=n), 1),
        (lambda rng, n: 2 * rng.beta(0.3, 1.5, size=n) - 1, 2 * 0.3 / 1.8 - 1),
        (lambda rng, n: rng.choice([-1.0, 0, 1], p=[0.1, 0.8, 0.1], size=n) + rng.normal(0, 0.1, n), 0),
    ],
)
@pytest.mark.parametrize("n", [20, 60, 240])
def test_coverage_of_one_group(draw: Callable[[np.random.Generator, int], Array], mean: float, n: int) -> None:
    assert 0.93 <= held(draw, mean, n) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 60])
def test_coverage_and_size_of_stratified_means(size: int) -> None:
    """Three groups that differ in mean and skewness; the test against the truth rejects as often as the interval
    misses."""
    rng, hits, rejected, runs = np.random.default_rng(8), 0, 0, 600
    strata, mean = np.repeat([0, 1, 2], size), (0.2 - 3 + 5) / 3
    for _ in range(runs):
        values = [far_items(0.2)(rng, size), rng.exponential(size=size) - 4, rng.normal(5, 1, size)]
        found = bootstrap_mean(np.concatenate(values), strata=strata, seed=rng, resamples=399, against=mean)
        hits += found.low <= mean <= found.high
        rejected += found.p < 0.05
    assert 0.93 <= hits / runs <= 0.97 and rejected == runs - hits
