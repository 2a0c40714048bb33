"""Correlations and slopes over units: against scipy, a bootstrap written out, and samples of a known truth."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from penchant.errors import DataError
from penchant.stats.correlations import ENOUGH, correlation, correlation_difference, slope

RNG = np.random.default_rng(3)
X = RNG.random(40).round(1) * 10
Y = 0.3 * X + RNG.normal(size=40)


def test_values_are_those_of_scipy() -> None:
    assert correlation(X, Y, ranks=False, seed=0, resamples=200).value == pytest.approx(stats.pearsonr(X, Y)[0])
    assert len(set(X)) < len(X)  # with ties
    assert correlation(X, Y, ranks=True, seed=0, resamples=200).value == pytest.approx(stats.spearmanr(X, Y)[0])
    assert slope(X, Y, seed=0, resamples=200).value == pytest.approx(stats.linregress(X, Y).slope)


@pytest.mark.parametrize("which", ["pearson", "spearman", "slope"])
def test_the_interval_is_that_of_a_bootstrap_written_out(which: str) -> None:
    settings: dict[str, Any] = {"seed": 1, "resamples": 4000}
    plain: Callable[..., Any]
    if which == "slope":
        found, plain = slope(X, Y, **settings), lambda x, y: stats.linregress(x, y).slope
    else:
        one: Any = stats.spearmanr if which == "spearman" else stats.pearsonr
        found, plain = correlation(X, Y, ranks=which == "spearman", **settings), lambda x, y: one(x, y)[0]
    rng, n = np.random.default_rng(77), len(X)
    drawn = []
    for _ in range(1500):
        rows = rng.integers(0, n, n)
        drawn.append(plain(X[rows], Y[rows]))
    # Hesterberg's wider quantiles: the t quantile over the normal one, with n − 1 in place of n in the variance.
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    width = found.high - found.low
    assert found.low == pytest.approx(np.quantile(drawn, tail), abs=0.12 * width)
    assert found.high == pytest.approx(np.quantile(drawn, 1 - tail), abs=0.12 * width)
    assert f"over {n} units" in found.how and found.note == ""


@pytest.mark.parametrize("ranks", [False, True])
def test_the_test_is_a_permutation_test(ranks: bool) -> None:
    x, y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 7.5]), np.array([0.2, 0.1, 0.9, 0.5, 1.6, 0.7, 1.5])
    plain: Any = stats.spearmanr if ranks else stats.pearsonr
    observed = abs(plain(x, y)[0])
    exact = np.mean([abs(plain(x, list(order))[0]) >= observed - 1e-12 for order in permutations(y)])
    found = correlation(x, y, ranks=ranks, seed=2, resamples=20_000)
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))
    assert found.row()["test"] == "permutation of 7 units, 20000 draws, seed 2, two-sided"
    if not ranks:  # the slope's test is the same one
        assert slope(x, y, seed=2, resamples=20_000).p == found.p


def test_order_and_scale_change_nothing() -> None:
    order = RNG.permutation(len(X))
    for ranks in (False, True):
        first = correlation(X, Y, ranks=ranks, seed=5, resamples=300)
        assert correlation(X[order], Y[order], ranks=ranks, seed=5, resamples=300) == first
        scaled = correlation(10 * X, 3 * Y - 1, ranks=ranks, seed=5, resamples=300)
        assert (scaled.value, scaled.low) == pytest.approx((first.value, first.low))
    steep, ten = slope(X, Y, seed=5, resamples=300), slope(X / 10, Y, seed=5, resamples=300)
    assert (ten.value, ten.low, ten.high) == pytest.approx((10 * steep.value, 10 * steep.low, 10 * steep.high))


def test_what_cannot_be_computed_is_nan_with_a_reason() -> None:
    few = correlation([1, 2, 3, 4], [1, 3, 2, 5], ranks=False, seed=0)
    assert np.isnan(few.value) and few.note == "no Pearson's r: it needs 5 units"
    flat = slope(np.arange(8.0), np.ones(8), seed=0, noun="occupations")
    assert np.isnan(flat.value) and flat.note == "no slope: all occupations have the same number"
    line = correlation(np.arange(40.0), 2 * np.arange(40.0), ranks=False, seed=0, resamples=200)
    assert line.value == pytest.approx(1) and np.isnan(line.low) and "all points lie on a line" in line.note
    small = correlation(X[: ENOUGH - 1], Y[: ENOUGH - 1], ranks=False, seed=0, resamples=200)
    assert "approximate" in small.note and small.n == ENOUGH - 1
    with pytest.raises(DataError):
        correlation([1, 2], [1, 2, 3], ranks=True, seed=0)
    with pytest.raises(DataError):
        slope([1, np.nan, 2, 3, 4], [1, 2, 3, 4, 5], seed=0)


def test_two_correlations_of_the_same_units_are_compared_together() -> None:
    other = 0.1 * X + RNG.normal(size=40)
    found = correlation_difference(X, Y, other, seed=1, resamples=4000)
    assert found.value == pytest.approx(stats.pearsonr(X, Y)[0] - stats.pearsonr(X, other)[0])
    turned = correlation_difference(X, other, Y, seed=1, resamples=4000)
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low), abs=0.03)
    rng, n, drawn = np.random.default_rng(8), len(X), []
    for _ in range(1500):
        rows = rng.integers(0, n, n)
        drawn.append(stats.pearsonr(X[rows], Y[rows])[0] - stats.pearsonr(X[rows], other[rows])[0])
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [tail, 1 - tail]), abs=0.06)
    assert (found.p < 0.05) == (not found.low <= 0 <= found.high)
    order = RNG.permutation(40)
    assert correlation_difference(X[order], Y[order], other[order], seed=1, resamples=4000) == found
    same = correlation_difference(X, Y, Y, seed=1, resamples=200)
    assert same.value == 0 and np.isnan(same.low) and "same difference" in same.note
