"""MORCELA's parameters, against formulas written out, a search for the closest correlation, and planted values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy
from bench.simulations.acceptability import drawn

from penchant.errors import DataError, MethodError
from penchant.instruments.acceptability.morcela import BETA, GAMMA, Folded, cross_validated, fit, parameter, scores


def test_planted_parameters_without_noise_are_found() -> None:
    p, u, n, y = drawn(np.random.default_rng(0), 30, 0.4, 2.5, 0.0, even=True)
    found = fit(p, u, n, 3 * y - 7)
    assert found.beta == pytest.approx(0.4, abs=1e-8)
    assert found.gamma == pytest.approx(2.5, abs=1e-7)


@pytest.mark.parametrize(("beta", "gamma"), [(1.0, 0.0), (0.5, 3.0), (0.0, -2.0)])
@pytest.mark.parametrize("even", [True, False])
def test_planted_parameters_are_in_their_intervals(beta: float, gamma: float, even: bool) -> None:
    """400 data sets of 150 sentences: at 95 % between 365 and 392 are expected to hold each (4.5 errors below)."""
    held = dict.fromkeys((BETA, GAMMA), 0)
    estimates: dict[str, list[float]] = {BETA: [], GAMMA: []}
    for seed in range(400):
        found = fit(*drawn(np.random.default_rng([seed, 5]), 150, beta, gamma, 0.9, even=even))
        for which, truth in ((BETA, beta), (GAMMA, gamma)):
            estimate = parameter(found, which)
            held[which] += estimate.low <= truth <= estimate.high
            estimates[which].append(estimate.value)
    assert all(360 <= each <= 397 for each in held.values()), held
    assert np.median(estimates[BETA]) == pytest.approx(beta, abs=0.05)
    assert np.median(estimates[GAMMA]) == pytest.approx(gamma, abs=0.5)


def test_no_other_parameters_correlate_more_closely() -> None:
    p, u, n, y = drawn(np.random.default_rng(3), 60, 0.5, 3.0, 0.9, even=True)
    found = fit(p, u, n, y)

    def closeness(at: np.ndarray) -> float:
        return -float(np.corrcoef(scores(p, u, n, *at), y)[0, 1])

    best = scipy.optimize.minimize(closeness, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    assert found.beta == pytest.approx(best.x[0], abs=1e-4)
    assert found.gamma == pytest.approx(best.x[1], abs=1e-3)


def test_the_interval_is_what_a_t_test_does_not_reject() -> None:
    """HC3 by its definition, one sentence left out at a time, and the ends of the interval by search."""
    p, u, n, y = drawn(np.random.default_rng(4), 50, 0.5, 3.0, 0.9, even=False)
    found = fit(p, u, n, y)
    x = np.stack([np.ones(50), p / n, u / n, 1 / n], axis=1)
    inverse = np.linalg.inv(x.T @ x)
    hat = np.diag(x @ inverse @ x.T)
    b = inverse @ x.T @ y
    meat = x.T @ np.diag(((y - x @ b) / (1 - hat)) ** 2) @ x
    covariance = inverse @ meat @ inverse
    assert found.coefficients == pytest.approx(b, rel=1e-8)
    assert found.covariance == pytest.approx(covariance, rel=1e-6)
    limit = scipy.stats.t.ppf(0.975, 46)
    for which, contrast in ((BETA, lambda r: np.array([0, r, 1, 0])), (GAMMA, lambda r: np.array([0, -r, 0, 1]))):
        estimate = parameter(found, which)

        def excess(r: float, contrast=contrast) -> float:  # type: ignore[no-untyped-def]
            c = contrast(r)
            return float(abs(c @ b) / math.sqrt(c @ covariance @ c) - limit)

        low = scipy.optimize.brentq(excess, estimate.low - 1, estimate.value)
        high = scipy.optimize.brentq(excess, estimate.value, estimate.high + 1)
        assert estimate.low == pytest.approx(low, abs=1e-6)
        assert estimate.high == pytest.approx(high, abs=1e-6)
        null = {BETA: 1.0, GAMMA: 0.0}[which]
        t = excess(null) + limit
        assert estimate.p == pytest.approx(2 * scipy.stats.t.sf(t, 46), rel=1e-6)
        assert (estimate.p < 0.05) == (not estimate.low <= null <= estimate.high)


def test_what_cannot_be_fitted_says_why() -> None:
    p, u, n, y = drawn(np.random.default_rng(5), 40, 1.0, 0.0, 0.9, even=True)
    for given, told in (
        ((p[:8], u[:8], n[:8], y[:8]), "12 sentences"),
        ((p, u, n, np.ones(40)), "judged the same"),
        ((p, u, np.full(40, 9.0), y), "same length"),
        ((p, 2 * p, n, y), "cannot be separated"),
    ):
        found = fit(*given)
        assert told in str(found.reason)
        estimate = parameter(found, BETA)
        assert math.isnan(estimate.value) and told in estimate.note
    nothing = parameter(fit(p, u, n, np.random.default_rng(9).normal(size=40)), BETA)
    assert math.isnan(nothing.low) and "unbounded" in nothing.note
    with pytest.raises(MethodError, match="no parameter"):
        parameter(fit(p, u, n, y), "δ")
    with pytest.raises(DataError):
        fit(p, u, n, [*y[:-1], math.nan])


def test_scores_out_of_fold_and_without_each_sentence() -> None:
    """Against fits made one by one."""
    p, u, n, y = drawn(np.random.default_rng(6), 45, 0.5, 3.0, 0.9, even=True)
    folds = np.arange(45) % 5
    folded = Folded.of(p, u, n, y, folds)

    def by_hand(kept: np.ndarray) -> np.ndarray:
        made = np.full(45, np.nan)
        for fold in range(5):
            x = np.stack([np.ones(45), p / n, u / n, 1 / n], axis=1)
            train = kept & (folds != fold)
            b, *_ = np.linalg.lstsq(x[train], y[train], rcond=None)
            inside = folds == fold
            made[inside] = ((p - (-b[2] / b[1]) * u + b[3] / b[1]) / n)[inside]
        return made

    everything = np.ones(45, dtype=bool)
    assert folded.scores == pytest.approx(by_hand(everything), rel=1e-8)
    for left in (0, 17, 44):
        kept = np.arange(45) != left
        assert folded.left_out(left, left + 1)[0][kept] == pytest.approx(by_hand(kept)[kept], rel=1e-6)


@pytest.mark.parametrize("ranks", [False, True])
def test_the_jackknife(ranks: bool) -> None:
    p, u, n, y = drawn(np.random.default_rng(7), 40, 0.5, 3.0, 0.9, even=True)
    folded = Folded.of(p, u, n, y, np.arange(40) % 4)
    slor = scores(p, u, n, 1.0, 0.0)
    statistic: Any = scipy.stats.spearmanr if ranks else scipy.stats.pearsonr

    def closeness(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        found: tuple[float, float] = statistic(x, y)
        return found

    found, gap = cross_validated(folded, ranks=ranks), cross_validated(folded, ranks=ranks, other=slor)
    z, d = [], []
    for left in range(40):
        kept = np.arange(40) != left
        made = folded.left_out(left, left + 1)[0]
        r = closeness(made[kept], y[kept])[0]
        z.append(np.arctanh(r))
        d.append(r - closeness(slor[kept], y[kept])[0])
    t = scipy.stats.t.ppf(0.975, 39)
    r = closeness(folded.scores, y)[0]
    error = math.sqrt(39 / 40 * np.sum((np.array(z) - np.mean(z)) ** 2))
    assert found.value == pytest.approx(r, abs=1e-9)
    assert found.low == pytest.approx(np.tanh(np.arctanh(r) - t * error), abs=1e-6)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(abs(np.arctanh(r)) / error, 39), rel=1e-5)
    error = math.sqrt(39 / 40 * np.sum((np.array(d) - np.mean(d)) ** 2))
    assert gap.value == pytest.approx(r - closeness(slor, y)[0], abs=1e-9)
    assert gap.high == pytest.approx(gap.value + t * error, abs=1e-6)
    same = cross_validated(folded, ranks=ranks, other=folded)
    assert math.isnan(same.value) or same.value == 0
