"""Weighted statistics of respondents, by hand, by other formulas, and by other programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from penchant.records import Estimate
from penchant.stats.consistency import cronbach_alpha
from penchant.stats.crossed_mean import crossed_difference
from penchant.stats.weighted import (
    drawn_totals,
    effective_n,
    mean_variance,
    sd_interval,
    weighted_mean,
    weighted_quantile,
    weighted_sd,
    weighted_shares,
)

Array = NDArray[np.float64]


def drawn(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(3, 1, n), rng.lognormal(0, 0.7, n)


def test_by_hand() -> None:
    # Weights 1, 1, 2 of 1, 3, 5: (1 + 3 + 10)/4 = 3.5; (Σw)²/Σw² = 16/6.
    values, weights = np.array([1.0, 3, 5]), np.array([1.0, 1, 2])
    assert weighted_mean(values, weights) == 3.5
    assert effective_n(weights) == pytest.approx(16 / 6)
    # Σw(x − x̄)² = 6.25 + .25 + 2·2.25 = 11; Σw − Σw²/Σw = 4 − 6/4.
    assert weighted_sd(values, weights) == pytest.approx(math.sqrt(11 / 2.5))
    # Σw²(x − x̄)² = 6.25 + .25 + 4·2.25 = 15.5; times 3/2 over 16.
    assert mean_variance(values, weights) == pytest.approx(1.5 * 15.5 / 16)
    assert [weighted_quantile(values, weights, share) for share in (0.25, 0.3, 0.5, 0.51, 1)] == [1, 3, 3, 5, 5]
    assert weighted_shares(np.array([1.0, 3, 5, np.nan]), np.array([1.0, 1, 2, 9]), 3) == (0.25, 0.5)
    assert math.isnan(weighted_mean(values[:0], weights[:0])) and math.isnan(effective_n(weights[:0]))


@pytest.mark.parametrize("seed", range(4))
def test_means_and_spreads_are_those_of_statsmodels(seed: int) -> None:
    values, weights = drawn(40, seed)
    # Its variance divides by Σw − ddof; with ddof Σw²/Σw that is the one of weights that are no counts.
    ddof = float((weights**2).sum() / weights.sum())
    other = DescrStatsW(values, weights, ddof=ddof)
    assert weighted_mean(values, weights) == pytest.approx(other.mean)
    assert weighted_sd(values, weights) == pytest.approx(other.std)
    for share in (0.05, 0.3, 0.5, 0.95):
        assert weighted_quantile(values, weights, share) == other.quantile(share, return_pandas=False)[0]


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 60), st.integers(0, 999), st.floats(0.1, 50))
def test_equal_weights_are_none(n: int, seed: int, size: float) -> None:
    values, weights = drawn(n, seed)[0], np.full(n, size)
    assert effective_n(weights) == pytest.approx(n)
    assert weighted_sd(values, weights) == pytest.approx(values.std(ddof=1))
    assert mean_variance(values, weights) == pytest.approx(values.var(ddof=1) / n)
    rng = np.random.default_rng(seed)
    answers, ratings = rng.normal(3, 1, (n, 4)), rng.normal(3, 1, 4)
    shared = {"shared": 0.1, "calibrated": 100, "level": 0.9, "scale": (1.0, 5.0)}
    plain, weighted = (crossed_difference(ratings, answers, **shared, weights=w) for w in (None, weights))  # type: ignore[arg-type]
    assert (weighted.value, weighted.low, weighted.high, weighted.p) == pytest.approx(
        (plain.value, plain.low, plain.high, plain.p)
    )
    if n >= 30:
        plain, weighted = (cronbach_alpha(answers, weights=w) for w in (None, weights))
        assert (weighted.value, weighted.low, weighted.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_the_variance_of_the_mean_is_that_of_a_regression_with_robust_errors() -> None:
    """A weighted regression on a constant with the sandwich of HC1 has the same error."""
    import statsmodels.api as sm

    values, weights = drawn(50, 3)
    fit = sm.WLS(values, np.ones(50), weights=weights).fit(cov_type="HC1")
    assert mean_variance(values, weights) == pytest.approx(float(fit.bse[0]) ** 2)


def test_alpha_is_that_of_a_weighted_covariance_matrix() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(80, 1)) + rng.normal(size=(80, 5))
    weights = rng.lognormal(0, 0.5, 80)
    covariance = np.cov(scores.T, aweights=weights)
    own = cronbach_alpha(scores, weights=weights)
    assert own.value == pytest.approx(5 / 4 * (1 - np.trace(covariance) / covariance.sum()))
    df = effective_n(weights) - 1
    assert own.low == pytest.approx(1 - (1 - own.value) * stats.f.ppf(0.975, df, 4 * df))
    lost = scores.copy()
    lost[0, 0] = np.nan
    assert cronbach_alpha(lost, weights=weights).value == pytest.approx(
        cronbach_alpha(scores[1:], weights=weights[1:]).value
    )


def test_a_difference_from_weighted_people_by_hand() -> None:
    rng = np.random.default_rng(1)
    ratings, answers, weights = rng.uniform(2, 4, 6), rng.uniform(1, 5, (40, 6)), rng.lognormal(0, 0.5, 40)

    def difference(weights: Array) -> Estimate:
        given = {"shared": 0.02, "calibrated": 100, "level": 0.95, "scale": (-90.0, 90.0)}
        return crossed_difference(ratings, answers, **given, weights=weights)  # type: ignore[arg-type]

    own = difference(weights)
    means = np.average(answers, axis=0, weights=weights)
    scores = answers.mean(axis=1)
    middle = np.average(scores, weights=weights)
    people = 40 / 39 * (weights**2 * (scores - middle) ** 2).sum() / weights.sum() ** 2
    error = math.sqrt((ratings - means).var(ddof=1) / 6 + people + 0.02)
    assert own.value == pytest.approx((ratings - means).mean())
    assert own.high - own.value == pytest.approx(stats.t.ppf(0.975, 5) * error)
    assert own.p == pytest.approx(2 * stats.t.sf(abs(own.value) / error, 5))
    assert "40 weighted respondents" in own.how
    assert "(1 df)" in difference(np.power(50.0, np.arange(40))).how  # one respondent all but counts alone


def test_respondents_are_drawn_with_all_their_answers_and_their_weight() -> None:
    """Resampled totals, against respondents drawn one by one."""
    rng = np.random.default_rng(4)
    table = rng.integers(1, 6, (12, 3)).astype(float)
    table[2, 1] = np.nan
    weights = rng.lognormal(0, 0.8, 12)
    items = drawn_totals(table, weights, resamples=20_000, rng=np.random.default_rng(0))
    means = np.column_stack([totals @ values / totals.sum(axis=1) for values, totals in items])
    plain = []
    for _ in range(20_000):
        pick = rng.integers(0, 12, 12)
        drawn, w = table[pick], weights[pick, None] * ~np.isnan(table[pick])
        plain.append((np.nan_to_num(drawn) * w).sum(axis=0) / w.sum(axis=0))
    others = np.array(plain)
    assert means.mean(axis=0) == pytest.approx(others.mean(axis=0), abs=0.02)
    assert np.cov(means.T) == pytest.approx(np.cov(others.T), abs=0.02)
    assert abs(np.cov(others.T)[0, 2]) > 0.03  # a person's answers go together
    one = drawn_totals(table[:, :1], np.ones(12), resamples=50, rng=np.random.default_rng(0))[0]
    assert (one[1].sum(axis=1) == 12).all()


@pytest.mark.parametrize("informative", [False, True])
def test_the_interval_of_a_weighted_sd_holds_it(informative: bool) -> None:
    rng, held = np.random.default_rng(6), 0
    for _ in range(400):
        up = rng.random(150) < (0.3 if informative else 0.5)
        values = np.where(up, 0.5, -0.5) + rng.normal(0, 0.8, 150)
        share = 0.3 if informative else 0.5
        low, high = sd_interval(values, np.where(up, 0.5 / share, 0.5 / (1 - share)) * rng.gamma(4, 0.25, 150), 0.95)
        held += low <= math.sqrt(0.25 + 0.64) <= high
    assert held / 400 > 0.92
    assert np.isnan(sd_interval(np.ones(9), np.ones(9), 0.95)).all()
    assert np.isnan(sd_interval(np.arange(4.0), np.ones(4), 0.95)).all()
