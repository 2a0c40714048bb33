"""The bootstrap: draws against all possible resamples, and intervals against scipy's from the same draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from penchant.errors import MethodError
from penchant.stats import bootstrap
from penchant.stats.bootstrap import (
    FEW_CLUSTERS,
    expanded_p,
    expanded_percentile,
    few_clusters,
    percentile,
    percentile_bootstrap,
    resample_counts,
    resampled,
)

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

quick = settings(max_examples=60, deadline=None)


def counted(counts: Counts, rows: Array) -> Array:
    """A statistic that shows what was drawn: how often each row was, beside the sums of the rows."""
    return np.column_stack([counts, counts @ rows]).astype(np.float64)


# Drawing ----------------------------------------------------------------------------------------------------


@quick
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2)), min_size=1, max_size=9), st.integers(0, 99))
def test_each_stratum_is_drawn_as_often_as_it_has_units(rows: list[tuple[int, int]], seed: int) -> None:
    times, strata = np.array(rows).T
    counts = resample_counts(times, 40, np.random.default_rng(seed), strata=strata)
    assert counts.shape == (40, len(rows)) and counts.min() >= 0
    for stratum in set(strata.tolist()):
        inside = strata == stratum
        assert (counts[:, inside].sum(axis=1) == times[inside].sum()).all()
    whole = resample_counts(times, 40, np.random.default_rng(seed))
    assert (whole.sum(axis=1) == times.sum()).all()


@quick
@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.integers(0, 99))
def test_pairs_are_drawn_together(times: list[int], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(2 * len(times))  # the strata may be mixed
    strata = (order >= len(times)).astype(np.intp)
    twice = np.empty(2 * len(times), dtype=np.int64)
    for stratum in (0, 1):
        twice[strata == stratum] = times
    counts = resample_counts(twice, 30, np.random.default_rng(seed), strata=strata, paired=True)
    assert (counts[:, strata == 0] == counts[:, strata == 1]).all()
    assert (counts.sum(axis=1) == 2 * sum(times)).all()


def test_counts_are_those_of_a_multinomial() -> None:
    times, strata, resamples = np.array([1, 4, 2, 3, 3]), np.array([0, 0, 1, 1, 1]), 40_000
    counts = resample_counts(times, resamples, np.random.default_rng(0), strata=strata)
    expected = np.zeros((5, 5))
    for stratum in (0, 1):
        n = int(times[strata == stratum].sum())
        share = np.where(strata == stratum, times / n, 0)
        expected += n * (np.diag(share) - np.outer(share, share))
    errors = np.sqrt(np.diag(expected) / resamples)
    assert (np.abs(counts.mean(axis=0) - times) < 4 * errors).all()
    # Zero between the strata, which are drawn by themselves: paired draws would show here.
    assert np.cov(counts.T) == pytest.approx(expected, abs=0.05)


def test_draws_against_all_possible_resamples() -> None:
    # Three units, one of them twice: 4⁴ = 256 equally likely resamples of the four.
    likely = Counter(tuple(map(pick.count, "abc")) for pick in itertools.product("abcc", repeat=4))
    counts = resample_counts(np.array([1, 1, 2]), 50_000, np.random.default_rng(3))
    drawn = Counter(map(tuple, counts.tolist()))
    assert set(drawn) <= set(likely)
    shares = {kind: n / 256 for kind, n in likely.items()}
    for kind, share in shares.items():
        assert drawn[kind] / 50_000 == pytest.approx(share, abs=4.5 * math.sqrt(share * (1 - share) / 50_000)), kind


# Statistics -------------------------------------------------------------------------------------------------

units_of_few_kinds = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, -3.0]), st.sampled_from([1.0, 2.0])), min_size=1, max_size=12
)


@quick
@given(units_of_few_kinds, st.integers(0, 99))
def test_the_order_of_units_does_not_matter(units: list[tuple[float, float]], seed: int) -> None:
    rows = np.array(units)
    order = np.random.default_rng(seed).permutation(len(units))
    first = resampled(counted, rows, seed=5, resamples=25)
    assert (resampled(counted, rows[order], seed=5, resamples=25) == first).all()
    kinds = len(set(units))
    assert first.shape == (25, kinds + 2) and (first[:, :kinds].sum(axis=1) == len(units)).all()


def test_units_that_are_not_pooled_keep_their_places() -> None:
    rows = np.array([[3.0, 1], [1, 1], [3, 1], [2, 1]])
    seen = resampled(
        lambda counts, kept_rows: np.tile(kept_rows.ravel(), (len(counts), 1)),
        rows,
        seed=0,
        resamples=3,
        pooled=False,
    )
    assert (seen == rows.ravel()).all()
    drawn = resampled(counted, rows, seed=0, resamples=200, pooled=False)
    assert drawn.shape == (200, 4 + 2) and (drawn[:, :4].sum(axis=1) == 4).all()
    assert (drawn[:, 0] != drawn[:, 2]).any()  # equal rows are drawn one by one


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("chunk", [1, 7, 40, 10**9])
def test_the_size_of_blocks_does_not_matter(pooled: bool, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).integers(-3, 3, size=(12, 2)).astype(float)
    expected = resampled(counted, rows, seed=2, resamples=50, pooled=pooled)
    sizes = []

    def statistic(counts: Counts, rows: Array) -> Array:
        sizes.append(len(counts))
        assert len(counts) == 1 or counts.size <= chunk
        return counted(counts, rows)

    monkeypatch.setattr(bootstrap, "CHUNK", chunk)
    assert (resampled(statistic, rows, seed=2, resamples=50, pooled=pooled) == expected).all()
    assert sum(sizes) == 50 and (len(sizes) == 1) == (chunk == 10**9)


def test_a_generator_or_its_seed_gives_the_same_draws() -> None:
    rows = np.arange(8.0).reshape(4, 2)
    first = resampled(counted, rows, seed=9, resamples=20)
    assert (resampled(counted, rows, seed=np.random.default_rng(9), resamples=20) == first).all()
    assert (resampled(counted, rows, seed=8, resamples=20) != first).any()
    with pytest.raises(MethodError, match="at least one resample"):
        resampled(counted, rows, seed=9, resamples=0)


def _ratio(counts: NDArray[np.int64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = counts @ rows
    ratios: NDArray[np.float64] = sums[:, 0] / sums[:, 1]
    return ratios


@pytest.mark.parametrize(
    ("totals", "weights"),
    [
        ([2.0, 1, 1.5], [3.0, 2, 3]),
        ([2.0, 1, 1.5, 2], [3.0, 2, 3, 2]),
        ([1.0, 1, 1, 5], [2.0, 2, 2, 1]),  # three alike
    ],
)
def test_the_ratio_against_all_possible_resamples(totals: list[float], weights: list[float]) -> None:
    n, resamples = len(totals), 60_000
    picks = list(itertools.product(range(n), repeat=n))
    ratios = [sum(totals[i] for i in pick) / sum(weights[i] for i in pick) for pick in picks]
    likely = Counter(round(ratio, 9) for ratio in ratios)
    draws = resampled(_ratio, np.column_stack([totals, weights]), seed=1, resamples=resamples)
    assert draws.shape == (resamples,)
    drawn = Counter(np.round(draws, 9).tolist())
    assert set(drawn) <= set(likely)
    for ratio, times in likely.items():
        share = times / len(picks)
        assert drawn[ratio] / resamples == pytest.approx(share, abs=4.5 * math.sqrt(share / resamples)), ratio
    # As for the interval, no more than a tenth of all resamples lies beyond either bound, up to the sampling error.
    low, high = percentile(draws, 0.8)
    exact = np.array(ratios)
    assert np.mean(exact < low - 1e-9) <= 0.105 and np.mean(exact <= low + 1e-9) >= 0.095
    assert np.mean(exact > high + 1e-9) <= 0.105 and np.mean(exact >= high - 1e-9) >= 0.095


# Intervals --------------------------------------------------------------------------------------------------


def mean_resampled(method: Literal["percentile", "BCa"], level: float) -> tuple[Array, Array, tuple[float, float]]:
    """Skew values, scipy's bootstrap distribution of their mean, and its interval."""
    values = np.random.default_rng(2).exponential(size=14)
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=2000,
        confidence_level=level,
        method=method,
        rng=np.random.default_rng(7),
    )
    low, high = theirs.confidence_interval
    return values, theirs.bootstrap_distribution, (float(low), float(high))


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_percentile_equals_scipys_from_the_same_resamples(level: float) -> None:
    _, draws, interval = mean_resampled("percentile", level)
    assert percentile(draws, level) == pytest.approx(interval, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 20), st.floats(-0.5, 0.5))
def test_the_test_of_expanded_draws_agrees_with_their_interval(seed: int, n: int, centre: float) -> None:
    draws = np.random.default_rng(seed).normal(centre, 0.2, 999)
    p = expanded_p(draws, n)
    for level in (0.5, 0.9, 0.95):
        low, high = expanded_percentile(draws, n, level)
        if abs(p - (1 - level)) > 0.01:  # quantiles lie between two draws
            assert (p < 1 - level) == (not low <= 0 <= high)
    assert expanded_p(-draws, n) == p


@given(seed=st.integers(0, 2**32), n=st.integers(3, 12), far=st.floats(3, 30))
def test_far_p_is_that_of_the_t_test(seed: int, n: int, far: float) -> None:
    """If no resample reaches 0, p is the t test's, as SciPy has it: Holm's correction over many tests needs it."""
    sample = np.random.default_rng(seed).normal(size=n)
    sample = (sample - sample.mean()) / sample.std()
    sample = sample + far * max(1.0, float(np.ptp(sample)))
    draws = np.random.default_rng(seed + 1).choice(sample, size=(4000, n)).mean(axis=1)
    assert draws.min() > 0
    assert expanded_p(draws, n) == pytest.approx(stats.ttest_1samp(sample, 0).pvalue, rel=0.6)
    assert expanded_p(draws, n) < 0.05


def test_far_p_decides_among_many_tests() -> None:
    """Five values far on one side: as counted p would be .029 with 10,000 resamples, and .7 after 24 tests."""
    sample = np.array([1.0, 1.1, 0.9, 1.2, 0.8])
    draws = np.random.default_rng(1).choice(sample, size=(10_000, 5)).mean(axis=1)
    by_t = stats.ttest_1samp(sample, 0).pvalue  # .00015
    assert expanded_p(draws, 5) == pytest.approx(by_t, rel=0.1) and 24 * by_t < 0.01


def test_the_expanded_percentile_of_a_normal_bootstrap_is_the_t_interval() -> None:
    for n, level in ((4, 0.95), (9, 0.95), (9, 0.8), (60, 0.99)):
        # A bootstrap mean varies with s·√((n−1)/n)/√n: here s = 1 and 400,000 quantiles of that normal curve.
        draws = 2 + stats.norm.ppf((np.arange(400_000) + 0.5) / 400_000) * math.sqrt((n - 1) / n / n)
        half = stats.t.ppf((1 + level) / 2, n - 1) / math.sqrt(n)
        assert expanded_percentile(draws, n, level) == pytest.approx((2 - half, 2 + half), abs=0.003)
        for against in (2.0, 2.1, 1.3):
            p = 2 * stats.t.sf(abs(2 - against) * math.sqrt(n), n - 1)
            assert expanded_p(draws, n, against) == pytest.approx(p, abs=0.001)
    assert np.isnan(expanded_p(draws, 1)) and np.isnan(expanded_p(np.array([1, math.nan, 2]), 5))
    assert expanded_p(np.zeros(100), 5) == 1
    assert np.isnan(expanded_percentile(draws, 1, 0.95)).all()
    assert np.isnan(expanded_percentile(np.array([1, math.nan, 2]), 5, 0.95)).all()


@quick
@given(
    st.lists(st.floats(-10, 10), min_size=2, max_size=40),
    st.integers(2, 30),
    st.floats(0.5, 0.99),
    st.floats(0.1, 4),
    st.floats(-5, 5),
)
def test_intervals_move_with_the_scale_and_the_expanded_one_is_wider(
    values: list[float], n: int, level: float, factor: float, shift: float
) -> None:
    draws = np.array(values)
    assume(np.ptp(draws) > 1e-3)
    plain, wide = percentile(draws, level), expanded_percentile(draws, n, level)
    assert wide[0] <= plain[0] <= plain[1] <= wide[1]
    scaled = draws * factor + shift
    moved = np.array([percentile(scaled, level), expanded_percentile(scaled, n, level)])
    assert moved == pytest.approx(np.array([plain, wide]) * factor + shift, abs=1e-9)


# Words ------------------------------------------------------------------------------------------------------


def test_how_an_interval_was_made() -> None:
    assert str(percentile_bootstrap(4, 50, 7)) == "percentile bootstrap over 4 clusters, 50 resamples, seed 7"
    generator = np.random.default_rng(7)
    named = percentile_bootstrap(12, 1000, generator, "words")
    assert str(named) == "percentile bootstrap over 12 words, 1000 resamples, caller's generator"


def test_few_units_are_a_caution() -> None:
    assert str(few_clusters(FEW_CLUSTERS - 1)) == "approximate: only 9 clusters"
    assert str(few_clusters(3, "words")) == "approximate: only 3 words"
    assert few_clusters(FEW_CLUSTERS) is None
