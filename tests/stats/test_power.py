"""The smallest effects that a study could detect, counted in simulated studies."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from statsmodels.stats.power import TTestPower

from penchant.stats.power import detectable_effect_size, detectable_mean, detectable_share

STUDIES = 4_000
"""Their standard error at a power of .8 is .0063."""


@pytest.mark.parametrize("n", [6, 20, 40, 1_000])
def test_a_share_found_by_the_sign_test_in_four_of_five_studies(n: int) -> None:
    found = detectable_share(n)
    p = [scipy.stats.binomtest(k, n).pvalue for k in range(n + 1)]
    power = sum(scipy.stats.binom.pmf(k, n, found) for k in range(n + 1) if p[k] < 0.05)
    assert power == pytest.approx(0.8, abs=1e-6)
    assert n > 6 or found == pytest.approx(0.8 ** (1 / 6))  # all six must be on one side


def test_five_items_show_nothing() -> None:
    assert math.isnan(detectable_share(5))
    assert math.isnan(detectable_mean(2, 1.0))
    assert math.isnan(detectable_effect_size(6))


@pytest.mark.parametrize(("n", "published"), [(15, 0.8), (34, 0.5), (199, 0.2)])
def test_a_mean_found_by_the_t_test(n: int, published: float) -> None:
    """The sample sizes are those of G*Power: t test of one sample, two-sided, α .05, power .8."""
    assert detectable_mean(n, 1.0) <= published < detectable_mean(n - 1, 1.0)
    drawn = np.random.default_rng(n).normal(detectable_mean(n, 2.0), 2.0, (STUDIES, n))
    p = np.asarray(scipy.stats.ttest_1samp(drawn, 0, axis=1).pvalue)
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("n", [10, 16, 50])
def test_an_effect_size_found_by_permuting_the_targets(n: int) -> None:
    size = detectable_effect_size(n)
    apart = 2 * size / math.sqrt(4 - size**2)  # in standard deviations within the lists
    rng, found = np.random.default_rng(n), []
    for _ in range(600):
        s = rng.normal(0, 1, n)
        s[: n // 2] += apart
        orders = rng.permuted(np.tile(s, (999, 1)), axis=1)
        differences = np.abs(orders[:, : n // 2].mean(axis=1) - orders[:, n // 2 :].mean(axis=1))
        mine = abs(s[: n // 2].mean() - s[n // 2 :].mean())
        found.append((1 + (differences >= mine - 1e-12).sum()) / 1_000 < 0.05)
    assert np.mean(found) == pytest.approx(0.8, abs=0.055)


@pytest.mark.parametrize("n", range(3, 41))
def test_the_power_of_the_mean_is_that_of_statsmodels(n: int) -> None:
    assert TTestPower().power(detectable_mean(n, 1.0), n, 0.05) == pytest.approx(0.8, abs=1e-6)
