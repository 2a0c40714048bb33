"""Association tests against worked numbers, brute force and other formulas."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from penchant.errors import DataError, MethodError
from penchant.stats.association import (
    Alternative,
    associations,
    combine,
    effect_size,
    effect_variance,
    further,
    normal_test,
    permutation_test,
    unit,
)

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


def written_out(es: list[float], v: list[float]) -> tuple[float, float, float]:
    """Effect, standard error and Q by the sums as they are published, one term after the other."""
    w = [1 / each for each in v]
    q = sum(a * e * e for a, e in zip(w, es, strict=True)) - sum(a * e for a, e in zip(w, es, strict=True)) ** 2 / sum(
        w
    )
    c = sum(w) - sum(a * a for a in w) / sum(w)
    between = max(0.0, (q - (len(es) - 1)) / c) if len(es) > 1 else 0.0
    both = [1 / (each + between) for each in v]
    effect = sum(a * e for a, e in zip(both, es, strict=True)) / sum(both)
    return effect, 1 / math.sqrt(sum(both)), q


studies = st.lists(st.tuples(st.floats(-2, 2), st.floats(0.01, 2)), min_size=1, max_size=8)


@settings(deadline=None, max_examples=100)
@given(studies, st.floats(0.2, 5), st.randoms(use_true_random=False))
def test_combination_written_out(rows: list[tuple[float, float]], factor: float, random: Random) -> None:
    es, v = [row[0] for row in rows], [row[1] for row in rows]
    found = combine(es, v)
    effect, se, q = written_out(es, v)
    assert (found.effect, found.se, found.q) == pytest.approx((effect, se, q), abs=1e-9)
    assert found.p == pytest.approx(2 * scipy_stats.norm.sf(abs(effect / se)), abs=1e-12)
    assert combine(es, v, alternative="upper").p == pytest.approx(scipy_stats.norm.sf(effect / se), abs=1e-12)
    assert 0 <= found.i2 < 1 and min(v) / len(v) <= found.se**2 * (1 + 1e-9)
    # Negative effects are as sure as positive ones, and keep their sign.
    other = combine([-e for e in es], v)
    assert (other.effect, other.p) == pytest.approx((-found.effect, found.p))
    assert combine([-e for e in es], v, alternative="upper").p == pytest.approx(
        1 - combine(es, v, alternative="upper").p
    )
    shuffled = random.sample(rows, len(rows))
    again = combine([row[0] for row in shuffled], [row[1] for row in shuffled])
    assert (again.effect, again.se, again.tau) == pytest.approx((found.effect, found.se, found.tau), abs=1e-7)
    scaled = combine([factor * e for e in es], [factor**2 * each for each in v])
    assert (scaled.effect, scaled.se) == pytest.approx((factor * found.effect, factor * found.se))
    assert (scaled.p, scaled.i2) == pytest.approx((found.p, found.i2), abs=1e-9)


def test_the_fixture_tested_on_one_side() -> None:
    """CES/SE = .5273866016/.1919353047; the older tools' p is half the two-sided one, and near 1 below zero."""
    assert combine(ES, V, alternative="upper").p == pytest.approx(0.00600092 / 2, abs=1e-8)
    below = [-e for e in ES]
    assert combine(below, V).p == combine(ES, V).p
    assert combine(below, V).effect == pytest.approx(-0.5273866016, abs=1e-10)
    assert combine(below, V, alternative="upper").p == pytest.approx(1 - 0.00600092 / 2, abs=1e-8)
    with pytest.raises(MethodError, match="unknown alternative 'less'"):
        combine(ES, V, alternative="less")  # type: ignore[arg-type]


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
    assert effect_size([1, 3], [3, 5]) == pytest.approx(-2 / math.sqrt(8 / 3))
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


@pytest.mark.parametrize(("n", "m"), [(6, 3), (3, 6), (2, 5), (4, 4), (1, 6)])
@pytest.mark.parametrize("alternative", ["two-sided", "upper"])
def test_the_studentised_permutation_test_is_welchs_over_all_partitions(
    n: int, m: int, alternative: Alternative
) -> None:
    """With scipy's t; of two lists of one length, or of one value, it is the plain test."""
    rng = np.random.default_rng([n, m])
    x, y = rng.normal(0.5, 1, n), rng.normal(0, 3, m)
    found = permutation_test(x, y, alternative=alternative, studentised=True)
    if n in (1, m):
        assert found == permutation_test(x, y, alternative=alternative)
    if n == 1:
        return
    both, t = np.concatenate([x, y]), []
    for chosen in itertools.combinations(range(n + m), n):
        inside = np.isin(np.arange(n + m), chosen)
        t.append(scipy_stats.ttest_ind(both[inside], both[~inside], equal_var=False).statistic)
    observed = scipy_stats.ttest_ind(x, y, equal_var=False).statistic
    extreme = np.abs(t) >= abs(observed) - 1e-9 if alternative == "two-sided" else np.array(t) >= observed - 1e-9
    assert found.p == pytest.approx(np.mean(extreme))


def test_a_studentised_permutation_of_values_that_do_not_vary_within_the_parts() -> None:
    """t is infinite of the partition found and, to the other side, of none: 1 of 15."""
    assert permutation_test([1, 1], [0, 0, 0, 0], studentised=True).p == pytest.approx(1 / 15)


def partitions(x: list[float], y: list[float]) -> tuple[float, list[float]]:
    """The sum of X and that of every part of its size, without rounding where the numbers have none."""
    both = x + y
    return sum(x), [sum(both[i] for i in chosen) for chosen in itertools.combinations(range(len(both)), len(x))]


@settings(deadline=None, max_examples=100)
@given(VALUES, VALUES, st.floats(0.01, 100), st.floats(-50, 50), st.randoms(use_true_random=False))
def test_the_normal_test_takes_its_moments_from_all_partitions(
    x: list[float], y: list[float], factor: float, shift: float, random: Random
) -> None:
    observed, sums = partitions(x, y)
    mean = sum(sums) / len(sums)
    sd = math.sqrt(sum((s - mean) ** 2 for s in sums) / len(sums))
    found, upper = normal_test(x, y), normal_test(x, y, alternative="upper")
    if len(set(x + y)) == 1:
        assert math.isnan(found) and math.isnan(upper)
        return
    assert found == pytest.approx(2 * scipy_stats.norm.sf(abs(observed - mean) / sd))
    assert upper == pytest.approx(scipy_stats.norm.sf((observed - mean) / sd))
    # z is also the correlation of the values with their sets, times √(n − 1).
    labels = [1] * len(x) + [0] * len(y)
    r = float(scipy_stats.pearsonr(labels, x + y).statistic)
    assert upper == pytest.approx(scipy_stats.norm.sf(r * math.sqrt(len(labels) - 1)), abs=1e-7)
    assert normal_test(y, x) == pytest.approx(found)
    assert normal_test(y, x, alternative="upper") == pytest.approx(1 - upper)
    moved = [[factor * value + shift for value in random.sample(part, len(part))] for part in (x, y)]
    assert normal_test(moved[0], moved[1]) == pytest.approx(found, abs=1e-6)


def test_the_normal_test_comes_near_the_exact_one() -> None:
    rng = np.random.default_rng(4)
    for shift in (-1.0, -0.4, 0, 0.6):
        x, y = rng.normal(shift, 1, 9), rng.normal(0, 1, 10)
        for alternative in ("two-sided", "upper"):
            exact = permutation_test(x, y, alternative=alternative)
            assert exact.exact
            assert normal_test(x, y, alternative=alternative) == pytest.approx(exact.p, abs=0.04)


def test_what_the_normal_test_cannot_tell() -> None:
    assert math.isnan(normal_test([], [1.0])) and math.isnan(normal_test([1.0], []))
    assert math.isnan(normal_test([0.1 + 0.2, 0.3], [0.3, 0.3]))  # their spread is rounding
    # One word a set: z is 1 or −1 whatever the numbers.
    for x, y in ((0.7, 0.2), (2.0, 9.0)):
        assert normal_test([x], [y]) == pytest.approx(2 * scipy_stats.norm.sf(1))
    with pytest.raises(MethodError, match="unknown alternative 'lower'"):
        normal_test([1.0], [2.0], alternative="lower")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="NaN or infinite"):
        normal_test([1.0, math.nan], [2.0])


@pytest.mark.parametrize("draws", [20_000, 40_000])
def test_a_partition_takes_each_word_once(draws: int) -> None:
    """Of the 70 partitions one has all the fives. Words drawn with replacement would give (1/2)⁴ = 1/16, a coin thrown
    for each word 1/256."""
    found = permutation_test([5.0] * 4, [0.0] * 4, alternative="upper", exact=1, draws=draws)
    assert not found.exact and found.partitions == draws
    assert abs(found.p - 1 / 70) < 4 * math.sqrt(1 / 70 / draws) + 1 / draws
    both = permutation_test([5.0] * 4, [0.0] * 4, exact=1, draws=draws)
    assert abs(both.p - 2 / 70) < 4 * math.sqrt(2 / 70 / draws) + 1 / draws
    assert permutation_test([9.0] * 8, [1.0] * 8, alternative="upper", exact=1, draws=50, seed=1).p == 1 / 51  # never 0


def test_ties_count_on_both_sides() -> None:
    """Pairs of 1 1 0 0 have the sums 2, 1, 1, 1, 1, 0: the 0 is as far off as the 2, and no sum is nearer than 1."""
    assert permutation_test([1.0, 1], [0.0, 0]).p == permutation_test([0.0, 0], [1.0, 1]).p == pytest.approx(2 / 6)
    assert permutation_test([1.0, 1], [0.0, 0], alternative="upper").p == pytest.approx(1 / 6)
    assert permutation_test([0.0, 0], [1.0, 1], alternative="upper").p == 1
    assert permutation_test([1.0, 0], [1.0, 0]).p == 1
    assert permutation_test([1.0, 0], [1.0, 0], alternative="upper").p == pytest.approx(5 / 6)
    # Numbers that are equal but for rounding: twelve partitions have one six in X, as the one observed.
    x, y = [0.1 + 0.2, 0.3, 0.6], [0.3, 0.1 * 3, 0.2 * 3]
    found = permutation_test(x, y)
    assert (found.p, found.partitions, found.ties) == (1, 20, 12)
    assert permutation_test(x, y, alternative="upper").p == pytest.approx(16 / 20)


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
    with pytest.raises(MethodError, match="unknown alternative 'lower' — use one of two-sided, upper"):
        permutation_test([1.0], [2.0], alternative="lower")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="vector 1 is zero or not finite"):
        unit(np.array([[1, 2], [0, 0]]))
    with pytest.raises(DataError, match="vector 0 is zero or not finite"):
        unit(np.array([[np.inf, 2], [1, 0]]))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9), st.integers(1, 8), st.randoms(use_true_random=False))
def test_random_partitions_do_not_depend_on_the_order_of_stimuli(values: list[int], n: int, random: Random) -> None:
    n = min(n, len(values) - 1)
    x, y = [v / 7 for v in values[:n]], [v / 7 for v in values[n:]]
    for alternative in ("two-sided", "upper"):
        own = permutation_test(x, y, alternative=alternative, exact=0, draws=99, seed=5)
        again = permutation_test(
            random.sample(x, len(x)), random.sample(y, len(y)), alternative=alternative, exact=0, draws=99, seed=5
        )
        assert own == again
    assert permutation_test(y, x, exact=0, draws=99, seed=5) == permutation_test(x, y, exact=0, draws=99, seed=5)


def test_a_further_sample_by_hand() -> None:
    """Mean .54, S² = Σ(.04², .26², .64², .66², .24²)/4 = .243; t(.975, 4) = 2.776445."""
    assert further(ES) == pytest.approx((0.54, 0.54 - 1.499272, 0.54 + 1.499272), abs=1e-5)
    assert further([0.5])[0] == 0.5
    assert np.isnan(further([0.5])[1:]).all() and np.isnan(further([])).all()


def test_the_variance_of_an_effect_size_by_hand() -> None:
    """At d = 0 of 8 and 8 it is 4/n, as that of a standardised mean difference; at the largest there is none."""
    assert effect_variance([0.0], 16, 2.0) == pytest.approx([4 / 16])
    assert effect_variance([1.0, 2.0], 16, 2.0) == pytest.approx([4 * 0.75**2 * 0.875 / 16, 0])


@pytest.mark.slow
@pytest.mark.parametrize("d", [0.0, 0.8, 1.5])
def test_the_variance_of_an_effect_size_is_that_of_many_samples(d: float) -> None:
    rng, n, r = np.random.default_rng(int(10 * d)), 25, d / 2
    s = rng.normal(size=(20_000, 2 * n)) + np.where(np.arange(2 * n) < n, 2 * r / math.sqrt(1 - r * r), 0)
    own = (s[:, :n].mean(axis=1) - s[:, n:].mean(axis=1)) / s.std(axis=1, ddof=1)
    assert effect_variance([d], 2 * n, 2.0)[0] == pytest.approx(own.var(), rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 200])
def test_a_further_sample_lies_in_its_interval(n: int) -> None:
    """Samples of sentences of the same words: each has its own noise around what the words have; 2,000 data sets."""
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(2_000):
        words = rng.normal(size=16) + np.repeat([1.0, 0.0], 8)
        s = words + 0.6 * rng.normal(size=(n + 1, 16))
        d = (s[:, :8].mean(axis=1) - s[:, 8:].mean(axis=1)) / s.std(axis=1, ddof=1)
        _, low, high = further(d[:n])
        held += low <= d[n] <= high
    assert 0.93 < held / 2_000 < 0.97
