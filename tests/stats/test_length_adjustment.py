"""Accuracy at equal lengths over strata and free levels, and the test of the line: recomputed and simulated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, special
from scipy import stats as scipy_stats

from penchant.stats.length_adjustment import adjusted_accuracy, fit, lack_of_fit, length_slope
from penchant.wording.phrases import Note

Array = NDArray[np.float64]
Record = Callable[[str, object], None]
BENT = np.array([-3, -2, -1, 0, 1, 2, 3])
SHARES = (0.02, 0.08, 0.15, 0.5, 0.15, 0.08, 0.02)


def strata_data(seed: int, items: int = 120) -> tuple[Array, Array, Array]:
    """Credits, differences and strata: three paradigms of unlike accuracy, one of them always right at 0."""
    rng = np.random.default_rng(seed)
    of = rng.integers(0, 3, items)
    x = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], items)
    y = (rng.random(items) < special.expit(np.array([-0.5, 0.8, 3.0])[of] - 0.7 * x + 0.5 * (x != 0))).astype(float)
    y[(of == 2) & (x == 0)] = 1.0
    return y, x, of.astype(float)


def firth_by_optimiser(y: Array, design: Array) -> Array:
    """The maximum of the likelihood plus half the log-determinant of the information, by BFGS."""

    def loss(beta: Array) -> float:
        eta = design @ beta
        weights = special.expit(eta) * special.expit(-eta)
        likelihood = float((y * eta - np.logaddexp(0, eta)).sum())
        return -likelihood - 0.5 * float(np.linalg.slogdet(design.T @ (design * weights[:, None]))[1])

    best: Array = optimize.minimize(loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    return best


@pytest.mark.parametrize("free", [True, False])
def test_strata_with_levels_and_with_a_line_against_a_general_optimiser(free: bool) -> None:
    y, x, of = strata_data(3)
    intercepts = (of[:, None] == [0, 1, 2]).astype(float)
    terms = (x[:, None] == [-2, -1, 1, 2]).astype(float) if free else x[:, None]
    beta = firth_by_optimiser(y, np.hstack([intercepts, terms]))
    fitted = fit(y, x, strata=of, levels=free)
    offset = terms @ beta[3:]
    at_zero = []
    for stratum in range(3):  # FLIC: the intercept by maximum likelihood, given the other terms
        inside = of == stratum

        def surplus(a: float, inside: NDArray[np.bool_] = inside) -> float:
            return float((y[inside] - special.expit(a + offset[inside])).sum())

        at_zero.append(special.expit(optimize.brentq(surplus, -30, 30)) if not y[inside].all() else 1.0)
    expected = float(np.average(at_zero, weights=[(of == s).sum() for s in range(3)]))
    assert adjusted_accuracy(fitted).value == pytest.approx(expected, abs=1e-6)
    assert ("free levels of 4 differences" if free else "a line in the difference") in str(fitted.method)
    if not free:
        assert fitted.slope == pytest.approx(beta[3], abs=1e-5)


def test_standard_error_over_strata_is_that_of_the_delta_method() -> None:
    # Two strata at 0 only: independent shares (k + ½)/(n + 1) give the errors, k/n the mean.
    y, of = np.repeat([1.0, 0.0, 1.0, 0.0], [30, 10, 12, 48]), np.repeat([0.0, 1.0], [40, 60])
    found = fit(y, np.zeros(100), strata=of, levels=True)
    shares, sizes = np.array([30.5 / 41, 12.5 / 61]), np.array([41, 61])
    variance = ((np.array([40, 60]) / 100) ** 2 * shares * (1 - shares) / sizes).sum()
    assert found.intercept == pytest.approx(special.logit(0.42), abs=1e-9)
    assert found.intercept_se == pytest.approx(math.sqrt(variance) / (0.42 * 0.58), rel=1e-8)


def test_clusters_that_only_differ_at_zero_have_the_error_of_their_means() -> None:
    # Six strata of 50 at difference 0: the sandwich is that of the six means.
    right = [20, 25, 30, 35, 40, 45]
    y = np.concatenate([np.repeat([1.0, 0.0], [k, 50 - k]) for k in right])
    of = np.repeat(np.arange(6), 50)
    found = fit(y, np.zeros(300), strata=of, clusters=of, levels=True)
    means = np.array(right) / 50
    mean, error = means.mean(), means.std(ddof=1) / math.sqrt(6)
    assert found.intercept == pytest.approx(special.logit(mean), abs=1e-9) and found.df == 5
    assert found.intercept_se == pytest.approx(error / (mean * (1 - mean)), rel=1e-9)


def test_within_one_stratum_levels_leave_zero_to_its_own_items() -> None:
    y = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0], [12, 8, 3, 27, 4])
    x = np.repeat([0.0, 0.0, 1.0, 1.0, -5.0], [12, 8, 3, 27, 4])
    assert adjusted_accuracy(fit(y, x, levels=True)).value == pytest.approx(12.5 / 21, abs=1e-9)


def test_without_items_at_zero_the_line_stands_in() -> None:
    y, x = np.array([1.0, 1, 0, 1, 0, 0]), np.array([-1.0, -1, -1, 1, 1, 1])
    found, line = fit(y, x, levels=True), fit(y, x)
    assert found == line and "a line in the difference" in str(found.method)


def test_strata_that_nothing_links_to_zero_are_left_out_and_counted() -> None:
    y = np.array([1.0, 0, 1, 0, 1, 0, 1, 1, 0] * 10)
    of = np.array([*"aaabbbccc"] * 10)
    x = np.array([0.0, 0, 1, 1, 1, 2, 7, 7, 7] * 10)
    found = fit(y, x, strata=of, levels=True)  # b borrows the level of 1 from a; c is alone at 7
    assert found.n == 60 and found.notes == (Note("no-link", strata=1, items=30),)
    only = fit(y[of != "c"], x[of != "c"], strata=of[of != "c"], levels=True)
    assert (found.intercept, found.intercept_se) == pytest.approx((only.intercept, only.intercept_se))
    nowhere = fit([1.0, 0, 1, 0], [1.0, 1, 2, 2], strata=[*"aabb"])
    assert math.isnan(nowhere.intercept) and nowhere.notes == (Note("differences-only-between"),)


def test_order_and_copies_of_labels_do_not_matter() -> None:
    y, x, of = strata_data(5)
    order = np.random.default_rng(0).permutation(len(y))
    one = fit(y, x, strata=of, clusters=of, levels=True)
    other = fit(y[order], x[order], strata=of[order] + 7, clusters=of[order], levels=True)
    assert (one.intercept, one.intercept_se) == pytest.approx((other.intercept, other.intercept_se), rel=1e-9)


def test_lack_of_fit_against_a_sum_by_hand() -> None:
    rng = np.random.default_rng(8)
    x = rng.choice([-2.0, -1, 0, 1, 2], 400)
    y = (rng.random(400) < special.expit(0.5 + 1.2 * (x == 0))).astype(float)
    found, line = lack_of_fit(y, x), fit(y, x)
    expected = 0.0
    for step in np.unique(x):
        inside, p = x == step, special.expit(line.intercept + line.slope * step)
        n = float(inside.sum())
        right = float(y[inside].sum())
        for observed, wanted in ((right, n * p), (n - right, n * (1 - p))):
            expected += (observed - wanted) ** 2 / wanted
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert found.p == pytest.approx(scipy_stats.chi2.sf(expected, 3)) and str(found.row()["test"]).endswith("3 df")
    two = lack_of_fit(y[x >= 1], x[x >= 1])
    assert math.isnan(two.p) and "2 levels" in two.note


def draws(items: int, base: float, bend: float, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.choice(BENT, items, p=SHARES).astype(float)
    return (rng.random(items) < special.expit(base - 0.6 * x + bend * (x != 0))).astype(float), x


@pytest.mark.slow
@pytest.mark.parametrize("bend", [0.0, 0.6, -0.6])
@pytest.mark.parametrize(("items", "base"), [(100, 1.0), (1000, 1.0), (1000, 2.5)])
def test_interval_at_zero_covers_whatever_the_curve(
    items: int, base: float, bend: float, record_property: Record
) -> None:
    truth, sets, covered, rejected = float(special.expit(base)), 1000, 0, 0
    for seed in range(sets):
        y, x = draws(items, base, bend, seed)
        found = adjusted_accuracy(fit(y, x, levels=True))
        covered += found.low <= truth <= found.high
        rejected += lack_of_fit(y, x).p <= 0.05
    record_property("covered", float(covered / sets))
    record_property("line rejected", float(rejected / sets))
    assert 0.925 <= covered / sets <= 0.985
    if not bend:
        assert rejected / sets <= 0.07
    elif items == 1000 and base == 1.0:
        assert rejected / sets >= 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("strata", "sampled"), [(3, False), (5, True), (12, True)])
@pytest.mark.parametrize(("spread", "bend"), [(0.0, 0.0), (0.4, 0.5)])
def test_interval_at_zero_covers_over_strata(
    strata: int, sampled: bool, spread: float, bend: float, record_property: Record
) -> None:
    rng = np.random.default_rng(strata)
    sets, covered, items = 500, 0, 100
    given = np.linspace(0, 2, strata)
    truth = special.expit(given if not sampled else rng.normal(1, 1, 1_000_000)).mean()
    of = np.repeat(np.arange(strata), items)
    for _ in range(sets):
        intercepts = rng.normal(1, 1, strata) if sampled else given
        slopes = rng.normal(-0.6, spread, strata)
        unequal = rng.beta(1, 2, strata)[of] > rng.random(len(of))
        x = np.where(unequal, rng.choice([-2.0, -1.0, 1.0, 2.0], len(of)), 0.0)
        y = (rng.random(len(of)) < special.expit(intercepts[of] + slopes[of] * x + bend * (x != 0))).astype(float)
        found = adjusted_accuracy(fit(y, x, strata=of, clusters=of if sampled else None, levels=True))
        covered += found.low <= truth <= found.high
    record_property("covered", float(covered / sets))
    assert 0.92 <= covered / sets <= 0.98


def test_slope_has_no_number_where_differences_have_levels() -> None:
    y, x, of = strata_data(1)
    assert math.isnan(length_slope(fit(y, x, strata=of, levels=True)).value)
