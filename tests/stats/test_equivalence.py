"""Smallest detectable differences and two one-sided tests, against scipy's t test and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from penchant.stats.equivalence import detectable, equivalent, narrower
from penchant.stats.hypothesis_tests import holm
from penchant.stats.intervals import paired_difference


def t_interval(values: np.ndarray, level: float) -> tuple[float, float]:
    low, high = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))
    return float(low), float(high)


@pytest.mark.parametrize("bound", [0.1, 0.3, 0.5])
def test_the_interval_decides_as_two_one_sided_t_tests_do(bound: float) -> None:
    rng = np.random.default_rng(1)
    decided = []
    for _ in range(300):
        values = rng.normal(rng.uniform(-0.4, 0.4), 1, 40)
        greater = stats.ttest_1samp(values, -bound, alternative="greater").pvalue
        less = stats.ttest_1samp(values, bound, alternative="less").pvalue
        ours = equivalent(*t_interval(values, narrower(0.95)), bound)
        assert ours == (max(greater, less) < 0.05)
        decided.append(ours)
    assert any(decided) == (bound > 0.1)  # 40 values with an sd of 1 cannot show a tenth


def test_a_true_difference_at_the_bound_is_called_equal_one_time_in_twenty() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0.4, 1, (4000, 60))
    half = stats.t.ppf(0.95, 59) * values.std(1, ddof=1) / math.sqrt(60)
    called = [equivalent(m - h, m + h, 0.4) for m, h in zip(values.mean(1), half, strict=True)]
    assert sum(map(bool, called)) / len(called) == pytest.approx(0.05, abs=0.01)


def test_the_smallest_detectable_difference_is_found_four_times_of_five() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 1, (4000, 60))
    size = np.mean([detectable(*t_interval(values, 0.95), 0.95) for values in noise[:500]])
    found = np.asarray(stats.ttest_1samp(noise + size, 0, axis=1).pvalue) < 0.05
    assert np.mean(found) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("n", "tests"), [(5, 24), (9, 8), (20, 8)])
def test_at_the_first_step_of_holm_it_is_found_four_times_of_five_among_nothing(n: int, tests: int) -> None:
    """One difference beside others of 0, as large as the interval of another sample says would be found: of so few
    statements that neither the normal distribution nor a standard error that is taken for known promises too little."""
    rng = np.random.default_rng([n, tests])
    noise = rng.normal(0, 1, (6000, tests, n))
    alpha = 0.05 / tests
    half = stats.t.ppf(0.975, n - 1) * stats.sem(rng.normal(0, 1, (6000, n)), axis=1)
    sizes = np.array([detectable(-each, each, 0.95, alpha=alpha, df=n - 1) for each in half])
    noise[:, 0] += sizes[:, None]
    p = np.asarray(stats.ttest_1samp(noise, 0, axis=2).pvalue)
    assert np.mean(p[:, 0] <= alpha) == pytest.approx(0.8, abs=0.015)
    found = np.mean([holm(each)[0] <= 0.05 for each in p])
    assert 0.785 < found < 0.83  # more where another of the tests comes out, too
    known = special.nctdtrinc(n - 1, 0.2, stats.t.isf(alpha / 2, n - 1)) / stats.t.ppf(0.975, n - 1)
    normal = detectable(-1, 1, 0.95, alpha=alpha)
    assert normal < known < detectable(-1, 1, 0.95, alpha=alpha, df=n - 1)


def test_from_two_items_hardly_anything_would_be_found() -> None:
    assert 50 < detectable(-1, 1, 0.95, alpha=0.05 / 24, df=1) < math.inf
    assert detectable(-1, 1, 0.95, df=10_000) == pytest.approx(detectable(-1, 1, 0.95), rel=1e-3)


def test_it_grows_with_the_interval_of_pairs() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, (2, 400)).astype(float)
    few, many = (paired_difference(a[:n], b[:n]) for n in (50, 400))
    assert detectable(few.low, few.high, 0.95) > 2 * detectable(many.low, many.high, 0.95)


@given(st.floats(0.01, 1), st.floats(-2, 2), st.floats(0.01, 3))
def test_a_wider_bound_never_takes_a_yes_back(half: float, value: float, bound: float) -> None:
    if equivalent(value - half, value + half, bound):
        assert equivalent(value - half, value + half, 2 * bound)
    assert equivalent(math.nan, math.nan, bound) is None
    assert math.isnan(detectable(math.nan, math.nan, 0.95))
