"""Association tests against worked numbers, brute force and other formulas."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from penchant.errors import DataError, MethodError
from penchant.stats.association import associations, combine, effect_size, permutation_test, unit

ES = [0.5, 0.8, -0.1, 1.2, 0.3]
V = [0.01, 0.02, 0.015, 0.03, 0.012]


def test_the_published_fixture_of_random_effects() -> None:
    found = combine(ES, V)
    assert found.q == pytest.approx(47.1583333, abs=1e-7)
    assert found.tau**2 == pytest.approx(0.1670645161, abs=1e-10)
    assert found.effect == pytest.approx(0.5273866016, abs=1e-10)
    assert found.se == pytest.approx(0.1919353047, abs=1e-10)
    assert found.p == pytest.approx(0.00600092, abs=1e-8)
    assert found.i2 == pytest.approx((47.1583333 - 4) / 47.1583333, abs=1e-8)
    half = scipy_stats.t.ppf(0.975, 3) * math.sqrt(0.1670645161 + 0.1919353047**2)
    assert (found.low, found.high) == pytest.approx((0.5273866016 - half, 0.5273866016 + half), abs=1e-8)


def test_samples_that_agree_have_no_spread_between_them() -> None:
    found = combine([0.4, 0.4, 0.4, 0.4], [0.1, 0.2, 0.1, 0.4])
    assert (found.tau, found.i2, found.q) == pytest.approx((0, 0, 0), abs=1e-12)
    assert found.effect == pytest.approx(0.4)
    assert found.se == pytest.approx((10 + 5 + 10 + 2.5) ** -0.5)
    # The honest warning: a hundred copies of the same study shrink p, though nothing new was learnt.
    assert combine([0.4] * 400, [0.1, 0.2, 0.1, 0.4] * 100).p < found.p


def test_combination_of_none_and_one_and_bad_input() -> None:
    assert math.isnan(combine([], []).effect)
    one = combine([0.7], [0.04])
    assert (one.effect, one.se, one.tau) == pytest.approx((0.7, 0.2, 0))
    assert math.isnan(one.low)
    with pytest.raises(DataError, match="2 effect sizes and 1 variances"):
        combine([1, 2], [1])
    with pytest.raises(DataError, match="not positive"):
        combine([1, 2], [1, 0])


def test_associations_by_hand() -> None:
    """cos with (1, 0) is 3/5 and 0, with (0, 1) 4/5 and 1, with (0, −2) −4/5 and −1."""
    found = associations([[3, 4], [0, 7]], [[1, 0]], [[0, 1], [0, -2]])
    np.testing.assert_allclose(found, [3 / 5 - 0, 0])
    found = associations([[3, 4], [0, 7]], [[1, 0], [0, 1]], [[0, -2]])
    np.testing.assert_allclose(found, [(3 / 5 + 4 / 5) / 2 + 4 / 5, 1 / 2 + 1])


def test_effect_size_by_hand() -> None:
    """X = 3, 5, Y = 1, 3: means 4 and 2, sd of 3, 5, 1, 3 is √(8/3) with n − 1 and √2 with n."""
    assert effect_size([3, 5], [1, 3]) == pytest.approx(2 / math.sqrt(8 / 3))
    assert effect_size([3, 5], [1, 3], ddof=0) == pytest.approx(2 / math.sqrt(2))
    n = 4
    assert effect_size([3, 5], [1, 3]) == pytest.approx(effect_size([3, 5], [1, 3], ddof=0) * math.sqrt((n - 1) / n))
    assert math.isnan(effect_size([2, 2], [2, 2]))
    assert math.isnan(effect_size([0.1 + 0.2, 0.3], [0.3, 0.3]))  # their spread is rounding
    assert math.isnan(effect_size([], [1, 2]))


VALUES = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=5)


@settings(deadline=None, max_examples=150)
@given(VALUES, VALUES)
def test_exact_permutation_test_is_brute_force(x: list[float], y: list[float]) -> None:
    both, n = x + y, len(x)
    observed = sum(x) - sum(y)
    sums = []
    for chosen in itertools.combinations(range(len(both)), n):
        inside = sum(both[i] for i in chosen)
        sums.append(inside - (sum(both) - inside))
    centre = sum(sums) / len(sums)
    found = permutation_test(x, y)
    assert found.exact
    assert found.partitions == len(sums)
    assert found.p == pytest.approx(sum(abs(s - centre) >= abs(observed - centre) - 1e-9 for s in sums) / len(sums))
    upper = permutation_test(x, y, alternative="upper")
    assert upper.p == pytest.approx(sum(s >= observed - 1e-9 for s in sums) / len(sums))
    assert upper.ties == sum(abs(s - observed) < 1e-9 for s in sums)


def test_a_negative_effect_is_as_significant_as_a_positive_one() -> None:
    """The one-sided test of the older tools gives it p near 1."""
    x, y = [1.0, 2, 3, 4, 5, 6, 7], [8.0, 9, 10, 11, 12, 13, 14]
    assert permutation_test(x, y).p == permutation_test(y, x).p == pytest.approx(2 / math.comb(14, 7))
    assert permutation_test(x, y, alternative="upper").p == 1


def test_sampled_permutations_come_near_the_exact_p() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(0.4, 1, 8), rng.normal(0, 1, 8)
    exact = permutation_test(x, y)
    sampled = permutation_test(x, y, exact=10, draws=40_000, seed=3)
    assert exact.exact and not sampled.exact
    assert exact.partitions == math.comb(16, 8)
    error = math.sqrt(exact.p * (1 - exact.p) / 40_000)
    assert abs(sampled.p - exact.p) < 4 * error
    assert sampled == permutation_test(x, y, exact=10, draws=40_000, seed=3)
    assert sampled.p != permutation_test(x, y, exact=10, draws=40_000, seed=4).p


def test_sampled_partitions_keep_their_sizes() -> None:
    """Drawn with replacement, or with labels thrown one by one, the sum of ones would vary."""
    found = permutation_test([1.0] * 20, [1.0] * 20, exact=1, draws=500)
    assert (found.p, found.ties) == (1, 500)
    few = permutation_test([1.0] + [0.0] * 29, [0.0] * 30, exact=1, draws=20_000, seed=0)
    assert few.p == 1  # the one is in X or in Y: both are as far from the mean
    assert permutation_test([1.0] + [0.0] * 29, [0.0] * 30, alternative="upper", exact=1, draws=20_000).p == (
        pytest.approx(0.5, abs=0.02)
    )


def test_what_cannot_be_tested_is_refused_or_nan() -> None:
    assert math.isnan(permutation_test([], [1.0]).p)
    with pytest.raises(MethodError, match="unknown alternative 'lower' — use two-sided or upper"):
        permutation_test([1.0], [2.0], alternative="lower")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="vector 1 has no direction"):
        unit(np.array([[1, 2], [0, 0]]))
    with pytest.raises(DataError, match="vector 0 has no direction"):
        unit(np.array([[np.inf, 2], [1, 0]]))
