"""Agreement of raters, log-odds of words and the bootstrapped mean, against published values and brute force."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from random import Random
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError, MethodError
from penchant.records import Estimate
from penchant.stats.agreement import Scale, krippendorff_alpha, raw_agreement
from penchant.stats.intervals import t_mean
from penchant.stats.typical_words import LogOdds, log_odds, valence_bins

Array = NDArray[np.float64]
Table = NDArray[np.int64]

quick = settings(max_examples=60, deadline=None)

SCALES: tuple[Scale, ...] = get_args(Scale)


@pytest.fixture(autouse=True)
def no_warning_escapes() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def uncomputed(estimate: Estimate) -> bool:
    """No interval, and the reason said."""
    return math.isnan(estimate.low) and math.isnan(estimate.high) and bool(estimate.note)


def multisets(counts: Sequence[int]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how often each kind may occur in a resample of items of these kinds, and how likely that is."""
    items = sum(counts)
    for picked in itertools.product(range(items + 1), repeat=len(counts)):
        if sum(picked) == items:
            shares = (count / items for count in counts)
            ways = math.factorial(items) / math.prod(math.factorial(k) for k in picked)
            yield picked, ways * math.prod(share**k for share, k in zip(shares, picked, strict=True))


# Krippendorff's α -------------------------------------------------------------------------------------------


def table(*observers: str) -> Table:
    """Counts from one line an observer, one character a unit: a value from 1 to 5 or a to e, or '.' for none."""
    units = zip(*(line.replace(" ", "").translate(str.maketrans("abcde", "12345")) for line in observers), strict=True)
    return np.array([[unit.count(value) for value in "12345"] for unit in units])


# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability: examples A, B and C.
BINARY = table("1211 1111 21", "2221 1211 11")
NOMINAL = table("aabb dccc edda", "babb bccc eddd")
MISSING = table("1233 2141 2...", "1233 2241 25.3", ".333 2342 251.", "1233 2441 251.")


def alpha(counts: ArrayLike, scale: Scale = "ordinal", *, seed: int = 0, resamples: int = 50) -> Estimate:
    return krippendorff_alpha(
        counts, domain=np.arange(np.shape(counts)[1]), scale=scale, seed=seed, resamples=resamples
    )


def from_all_pairs(counts: Table, domain: ArrayLike, scale: Scale) -> float:
    """1 − observed/expected disagreement, each a mean over pairs of single ratings; NaN for 0/0."""
    kept = counts[counts.sum(axis=1) >= 2]
    unit, value = np.array([at for at in np.ndindex(kept.shape) for _ in range(kept[at])], dtype=int).reshape(-1, 2).T
    numbers, totals = np.asarray(domain, dtype=float), kept.sum(axis=0)

    def distance(c: int, k: int) -> float:
        if scale == "nominal":
            return float(c != k)
        if scale == "interval":
            return float((numbers[c] - numbers[k]) ** 2)
        c, k = min(c, k), max(c, k)
        return float((totals[c : k + 1].sum() - (totals[c] + totals[k]) / 2) ** 2)

    between = np.array([[distance(c, k) for k in range(len(numbers))] for c in range(len(numbers))])
    apart = between[value[:, None], value[None, :]]
    ratings = len(value)
    weights = (unit[:, None] == unit[None, :]) / (kept.sum(axis=1)[unit] - 1)[:, None]
    observed, expected = (apart * weights).sum() / ratings, apart.sum() / (ratings * (ratings - 1) or 1)
    return float(1 - observed / expected) if expected else math.nan


tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=8)
)


class TestAlpha:
    @pytest.mark.parametrize(
        ("counts", "scale", "published", "units"),
        [
            (BINARY, "nominal", 0.095, 10),
            (NOMINAL, "nominal", 0.692, 12),
            (MISSING, "nominal", 0.743, 11),
            (MISSING, "ordinal", 0.815, 11),
            (MISSING, "interval", 0.849, 11),
        ],
    )
    def test_published_examples(self, counts: Table, scale: Scale, published: float, units: int) -> None:
        found = alpha(counts, scale)
        assert round(found.value, 3) == published == round(from_all_pairs(counts, range(5), scale), 3)
        assert found.n == units and found.measure == f"Krippendorff's alpha ({scale})"

    @quick
    @given(tables, st.sampled_from(SCALES), st.lists(st.floats(0.1, 3), min_size=4, max_size=4))
    def test_against_all_pairs_of_ratings(self, rows: list[list[int]], scale: Scale, steps: list[float]) -> None:
        counts = np.array(rows)
        domain = np.cumsum(steps)[: counts.shape[1]] - 2
        found = krippendorff_alpha(counts, domain=domain, scale=scale, seed=0, resamples=20)
        pairable = int((counts.sum(axis=1) >= 2).sum())
        expected = from_all_pairs(counts, domain, scale) if pairable else math.nan
        assert found.n == pairable
        assert found.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert math.isnan(found.low) == math.isnan(found.high)
        assert not math.isnan(found.low) or found.note
        assert math.isnan(found.low) or -1 <= found.low <= found.high <= 1
        shown = f"{len(rows) - pairable} of {len(rows)} units"
        assert not pairable or (shown in found.note) == (pairable < len(rows))

    @quick
    @given(tables, st.sampled_from(SCALES), st.randoms())
    def test_order_of_units_does_not_matter(self, rows: list[list[int]], scale: Scale, random: Random) -> None:
        found = alpha(rows, scale, resamples=20)
        random.shuffle(rows)
        assert alpha(rows, scale, resamples=20) == found

    def test_scales_use_what_they_should(self) -> None:
        def value(domain: ArrayLike, scale: Scale) -> float:
            return krippendorff_alpha(MISSING, domain=domain, scale=scale, seed=0, resamples=5).value

        uneven = [-3, 0, 1, 7, 7.5]
        for scale in ("nominal", "ordinal"):
            assert value(uneven, scale) == value(range(5), scale)
        assert value(uneven, "interval") == pytest.approx(from_all_pairs(MISSING, uneven, "interval"))
        assert abs(value(uneven, "interval") - value(range(5), "interval")) > 0.01
        assert value(np.arange(5) * 8 - 3, "interval") == pytest.approx(value(range(5), "interval"), rel=1e-12)

    @pytest.mark.parametrize("scale", SCALES)
    def test_interval_against_all_possible_resamples(self, scale: Scale) -> None:
        # Four kinds of unit, five pairable units in all: 56 distinct resamples.
        kinds = np.array([[2, 0, 0], [1, 1, 0], [0, 1, 2], [0, 0, 3]])
        times = (2, 1, 1, 1)
        counts = np.vstack([np.repeat(kinds, times, axis=0), [[0, 1, 0]]])
        exact = [
            (from_all_pairs(np.repeat(kinds, picked, axis=0), range(3), scale), share)
            for picked, share in multisets(times)
        ]
        lost = sum(share for value, share in exact if math.isnan(value))
        values, shares = np.array([pair for pair in exact if not math.isnan(pair[0])]).T
        shares /= shares.sum()
        found = krippendorff_alpha(counts, domain=range(3), scale=scale, seed=1, resamples=6_000, level=0.8)
        # Four standard errors of a share in 6,000 draws: 4·√(.1·.9/6000).
        slack = 0.0155
        assert shares[values < found.low - 1e-9].sum() <= 0.1 + slack
        assert shares[values <= found.low + 1e-9].sum() >= 0.1 - slack
        assert shares[values > found.high + 1e-9].sum() <= 0.1 + slack
        assert shares[values >= found.high - 1e-9].sum() >= 0.1 - slack
        # Without an α are the resamples of the first kind alone, or of the last.
        assert lost == pytest.approx(0.4**5 + 0.2**5)
        shown = re.search(r"([\d,]+) of 6,000 resamples have equal ratings only", found.note)
        assert shown and abs(int(shown[1].replace(",", "")) - 6_000 * lost) < 4 * math.sqrt(6_000 * lost)

    def test_interval_against_a_plain_bootstrap(self) -> None:
        rng = np.random.default_rng(2)
        centres = rng.integers(0, 5, size=40)
        ratings = np.clip(centres[:, None] + rng.integers(-1, 2, size=(40, 3)), 0, 4)
        counts = np.array([np.bincount(row, minlength=5) for row in ratings])
        found = alpha(counts, resamples=2_000)
        picks = (rng.integers(0, 40, size=40) for _ in range(800))
        low, high = np.quantile([from_all_pairs(counts[pick], range(5), "ordinal") for pick in picks], [0.025, 0.975])
        # A quantile at 2.5 % of 800 draws has a standard error of about .095 sd, the width being 3.9 sd.
        assert found.low == pytest.approx(low, abs=0.1 * (high - low))
        assert found.high == pytest.approx(high, abs=0.1 * (high - low))
        assert found.low < found.value < found.high and found.high - found.low > 0.05

    def test_says_how(self) -> None:
        found = krippendorff_alpha(MISSING, domain=range(1, 6), seed=7, resamples=60, level=0.9)
        assert found.how == "percentile bootstrap over 11 units, 60 resamples, seed 7" and found.level == 0.9
        assert found.note == "1 of 12 units has fewer than two ratings: left out"
        assert "approximate: only 9 units" in alpha(MISSING[:9]).note
        own = krippendorff_alpha(MISSING, domain=range(5), seed=np.random.default_rng(7), resamples=60, level=0.9)
        assert (own.low, own.high) == (found.low, found.high) and "caller's generator" in own.how

    def test_the_seed_fixes_the_interval(self) -> None:
        assert alpha(MISSING, seed=3) == alpha(MISSING[::-1], seed=3)
        assert alpha(MISSING, seed=3).low != alpha(MISSING, seed=4).low

    def test_what_cannot_be_computed(self) -> None:
        for counts, n, reason in (
            (np.zeros((0, 3), dtype=int), 0, "no units"),
            (np.zeros((4, 0), dtype=int), 0, "none of 4 units has two ratings"),
            ([[1, 0, 0], [0, 0, 1]], 0, "none of 2 units has two ratings"),
            ([[0, 3, 0], [0, 2, 0], [1, 0, 0]], 2, "all ratings are equal"),
            ([[3], [2]], 2, "all ratings are equal"),
        ):
            for scale in SCALES:
                found = alpha(counts, scale)
                assert math.isnan(found.value) and uncomputed(found) and found.n == n and reason in found.note
        assert "1 of 3 units" in alpha([[0, 3, 0], [0, 2, 0], [1, 0, 0]]).note

    def test_what_has_no_interval(self) -> None:
        perfect = alpha([[2, 0], [0, 2], [2, 0], [0, 2]] * 5)
        assert perfect.value == 1 and uncomputed(perfect) and "the same in all resamples" in perfect.note
        # One unit, two ratings: observed and expected disagreement are the same pair.
        single = alpha([[1, 1], [1, 0]])
        assert single.value == 0 and single.n == 1 and uncomputed(single) and "1 of 2 units" in single.note
        # One resample: both units, or one of them twice, which has no alpha.
        tries = [alpha([[2, 0], [0, 2]], seed=seed, resamples=1) for seed in range(20)]
        assert all(found.value == 1 and uncomputed(found) for found in tries)
        assert {"1 of 1 resample" in found.note for found in tries} == {True, False}

    def test_refusals(self) -> None:
        def attempt(counts: ArrayLike, domain: ArrayLike = (0, 1), *, resamples: int = 10, level: float = 0.95) -> None:
            krippendorff_alpha(counts, domain=domain, seed=0, resamples=resamples, level=level)

        for counts, domain, message in (
            ([2, 0], (0, 1), "2 dimensions"),
            ([[2.0, 0.0]], (0, 1), "integers"),
            ([[2, -1]], (0, 1), "got -1"),
            ([[2, 1, 0]], (0, 1), "3 columns for 2 values"),
            ([[2, 1]], (1, 0), "ascend"),
            ([[2, 1]], (1, 1), "ascend"),
            ([[2, 1]], (1, math.nan), "NaN"),
        ):
            with pytest.raises(DataError, match=message):
                attempt(counts, domain)
        with pytest.raises(MethodError, match="resample"):
            attempt([[1, 1]], resamples=0)
        with pytest.raises(MethodError, match="level"):
            attempt([[1, 1]], level=95)
        with pytest.raises(MethodError, match="unknown scale 'ratio'"):
            krippendorff_alpha([[1, 1]], domain=(0, 1), scale="ratio", seed=0)  # type: ignore[arg-type]


# Log-odds ---------------------------------------------------------------------------------------------------


count_pairs = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), min_size=2, max_size=12)


class TestLogOdds:
    def test_two_words_by_hand(self) -> None:
        # a: 8 and 2 of 10; b: 3 and 17 of 20; prior 3 : 1 of size 8, hence α = 6, 2.
        found = log_odds([8, 2], [3, 17], [30, 10], prior_size=8)
        # First word: odds 14 to 4 in a, 9 to 19 in b. Second: the inverse odds.
        delta = math.log(9 / 19) - math.log(14 / 4)
        assert found.delta == pytest.approx([delta, -delta], rel=1e-12)
        assert found.variance == pytest.approx([1 / 14 + 1 / 9, 1 / 4 + 1 / 19], rel=1e-12)
        assert found.z == pytest.approx(
            [delta / math.sqrt(1 / 14 + 1 / 9), -delta / math.sqrt(1 / 4 + 1 / 19)], rel=1e-12
        )
        assert found.delta[0] < 0 < found.delta[1]  # the second word is more typical of b

    def test_against_draws_from_the_posterior(self) -> None:
        # Shares of words after counts y under a Dirichlet prior α are Dirichlet(y + α); delta and its variance
        # describe the log-odds of such draws, for words neither very rare nor a large share.
        a, b = np.array([300, 500, 900, 40_000]), np.array([500, 400, 2_000, 60_000])
        prior, size = a + b, 5_000.0
        found = log_odds(a, b, prior, prior_size=size)
        rng = np.random.default_rng(0)
        drawn_a, drawn_b = (rng.dirichlet(y + size * prior / prior.sum(), size=20_000)[:, :3] for y in (a, b))
        gaps = np.log(drawn_b / (1 - drawn_b)) - np.log(drawn_a / (1 - drawn_a))
        assert np.abs(gaps.mean(axis=0) - found.delta[:3]).max() < 0.004
        # The standard error of a variance of 20,000 draws is 1 %; the terms left out of it are below 5 % here.
        assert gaps.var(axis=0) == pytest.approx(found.variance[:3], rel=0.08)

    @quick
    @given(count_pairs, st.floats(0.01, 1e5))
    def test_swapping_the_corpora_turns_the_sign(self, counts: list[tuple[int, int]], size: float) -> None:
        a, b = np.array(counts).T
        prior = a + b + 1
        one, other = log_odds(a, b, prior, prior_size=size), log_odds(b, a, prior, prior_size=size)
        assert np.array_equal(one.delta, -other.delta) and np.array_equal(one.z, -other.z)
        assert np.array_equal(one.variance, other.variance) and np.all(one.variance > 0)
        assert np.array_equal(np.sign(one.z), np.sign(one.delta))
        assert np.array_equal(valence_bins(one), -valence_bins(other))

    @quick
    @given(count_pairs)
    def test_a_large_prior_shrinks_everything_to_0(self, counts: list[tuple[int, int]]) -> None:
        a, b = np.array(counts).T
        prior = a + b + 1
        # |delta| is at most twice the largest count over the smallest α, and 1 in 240,012 is the rarest word.
        assert np.abs(log_odds(a, b, prior, prior_size=1e14).delta).max() < 2 * 120_000 * 240_012 / 1e14 * 1.1
        sizes = [np.abs(log_odds(a, b, prior, prior_size=10.0**k).delta) for k in (6, 8, 10)]
        assert np.all(sizes[0] + 1e-12 >= sizes[1]) and np.all(sizes[1] + 1e-12 >= sizes[2])

    def test_a_word_as_typical_of_both_is_0_and_a_prior_bigger_means_less(self) -> None:
        same = log_odds([5, 95], [5, 95], [1, 9], prior_size=10)
        assert same.delta.tolist() == [0, 0] == same.z.tolist()
        gaps = [log_odds([1, 99], [9, 91], [10, 190], prior_size=size).delta[0] for size in (1, 10, 100, 1000)]
        assert gaps == sorted(gaps, reverse=True) and gaps[-1] > 0
        # With next to no prior it is the plain log-odds ratio.
        plain = log_odds([1, 99], [9, 91], [10, 190], prior_size=1e-9)
        assert plain.delta[0] == pytest.approx(math.log(9 / 91) - math.log(1 / 99), rel=1e-6)

    def test_one_word_may_be_all_of_a_corpus(self) -> None:
        found = log_odds([1_000_000, 0], [0, 0], [1, 1], prior_size=1e-12)
        # Odds 1 to 1 in b; in a 10⁶ to α = ½·10⁻¹².
        assert found.delta == pytest.approx([-math.log(2e18), math.log(2e18)], rel=1e-9)

    def test_refusals(self) -> None:
        for a, b, prior, message in (
            ([1, 2], [1, 2, 3], [1, 2], "differ in length: 2 and 3 items"),
            ([1, 2], [1, 2], [1, 2, 3], "differ in length: 2 and 3 items"),
            ([1, 2], [1, 2], [1, 0], "lacks 1 of 2 words"),
            ([1, -2], [1, 2], [1, 2], "counts_a.*-2"),
            ([1, 2], [1.0, 2.5], [1, 2], "counts_b.*integers"),
            ([1], [1], [1], "1 word"),
        ):
            with pytest.raises(DataError, match=message):
                log_odds(a, b, prior, prior_size=10)
        for size in (0, -1, math.inf, math.nan):
            with pytest.raises(MethodError, match="prior"):
                log_odds([1, 2], [1, 2], [1, 2], prior_size=size)


class TestValenceBins:
    def test_edges(self) -> None:
        just = np.nextafter
        z = np.array([0, just(1.96, 0), 1.96, -1.96, 9, 9, 9, -9, -9, just(-1.96, 0)])
        two, ten = math.log(2), math.log(10)
        delta = np.array([5, 5, two, -just(two, 0), just(ten, 0), ten, 5, -ten, just(-ten, 0), -5])
        found = valence_bins(LogOdds(delta, np.ones(10), z))
        assert found.tolist() == [0, 0, 0.5, 0, 0.5, 1, 1, -1, -0.5, 0]

    def test_own_thresholds(self) -> None:
        result = LogOdds(np.array([0.2, -0.4, 0.0]), np.ones(3), np.array([1.0, -3.0, 0.0]))
        assert valence_bins(result).tolist() == [0, 0, 0]
        assert valence_bins(result, weak=0.3).tolist() == [0, -0.5, 0]
        assert valence_bins(result, significant=1, weak=0, strong=0.3).tolist() == [0.5, -1, 0]
        assert valence_bins(result, significant=0, weak=0).tolist() == [0.5, -0.5, 0]
        for name, wrong in itertools.product(("significant", "strong", "weak"), (-1, math.nan)):
            with pytest.raises(MethodError):
                valence_bins(result, **{name: wrong})


# The bootstrapped mean --------------------------------------------------------------------------------------


numbers = st.lists(st.integers(-40, 40).map(lambda value: value / 10), min_size=1, max_size=20)


class TestMean:
    def test_strata_take_the_spread_between_them_out(self) -> None:
        """Two groups far apart: within strata the interval is that of the spread inside."""
        rng = np.random.default_rng(4)
        low, high = rng.normal(0, 1, 60), rng.normal(50, 1, 40)
        values, strata = [*low, *high], ["a"] * 60 + ["b"] * 40
        free = t_mean(values)
        held = t_mean(values, strata=strata)
        error = math.sqrt(0.6**2 * low.var(ddof=1) / 60 + 0.4**2 * high.var(ddof=1) / 40)
        assert held.value == free.value == pytest.approx(np.mean(values))
        assert held.high - held.low == pytest.approx(2 * 1.96 * error, rel=0.06)
        assert free.high - free.low > 20 * (held.high - held.low)
        assert "within 2 groups" in held.how
        order = rng.permutation(100)
        again = t_mean([values[i] for i in order], strata=[strata[i] for i in order])
        assert (again.low, again.high) == (held.low, held.high)

    def test_one_stratum_is_none_and_a_lone_item_is_not_kept_apart(self) -> None:
        values = [0.1, 0.4, 0.2, 0.9, 0.5]
        plain = t_mean(values)
        assert t_mean(values, strata=["x"] * 5) == plain
        assert t_mean(values, strata=["x"] * 4 + ["y"]) == plain
        assert uncomputed(t_mean([1, 1, 2, 2], strata="aabb"))

    @quick
    @given(numbers, st.randoms(), st.sampled_from([-7.3, 0.1, 100.0]), st.sampled_from([0.01, 3.0, 1e6]))
    def test_order_shift_and_scale(self, values: list[float], random: Random, shift: float, scale: float) -> None:
        found = t_mean(values)
        assert found.value == pytest.approx(math.fsum(values) / len(values), abs=1e-12) and found.n == len(values)
        if len(set(values)) == 1:
            assert uncomputed(found)
        assert found.low <= found.value <= found.high or uncomputed(found)
        random.shuffle(values)
        assert t_mean(values) == found
        # Also with ties between the mean and resamples of it, which rounding must not break.
        moved = t_mean([value * scale + shift for value in values])
        expected = (found.value * scale + shift, found.low * scale + shift, found.high * scale + shift)
        assert (moved.value, moved.low, moved.high) == pytest.approx(expected, abs=1e-6 * scale, nan_ok=True)

    def test_says_how(self) -> None:
        found = t_mean(np.arange(20.0))
        assert found.how == "t interval over 20 sentences, 19 df"
        assert (found.measure, found.value, found.n, found.note) == ("mean", 9.5, 20, "")
        few = t_mean(range(9), noun="words")
        assert few.how == "t interval over 9 words, 8 df"
        assert few.note == "approximate: only 9 words"

    def test_level(self) -> None:
        values = np.random.default_rng(0).normal(size=30)
        wide, narrow = (t_mean(values, level=level) for level in (0.99, 0.5))
        assert wide.low < narrow.low < narrow.value < narrow.high < wide.high and wide.level == 0.99

    def test_what_has_no_interval(self) -> None:
        empty = t_mean([])
        assert math.isnan(empty.value) and uncomputed(empty) and empty.n == 0 and empty.note == "no items"
        one = t_mean([2.5])
        assert one.value == 2.5 and one.n == 1 and uncomputed(one) and "one item" in one.note
        for values in ([0.7] * 4, [0.0] * 4, [0.3, 0.1 + 0.2]):
            equal = t_mean(values)
            assert equal.value == pytest.approx(values[0]) and uncomputed(equal)
            assert f"all {len(values)} sentences have the same value" in equal.note

    def test_refusals(self) -> None:
        for bad in ([1, math.nan], [1, math.inf], [[1, 2]]):
            with pytest.raises(DataError):
                t_mean(bad)
        with pytest.raises(MethodError, match="level"):
            t_mean([1, 2], level=95)


class TestRawAgreement:
    def test_a_worked_example(self) -> None:
        """Ten subjects that fourteen raters put into five classes, an example often printed with P̄ = 0.378."""
        rows = "0 0 0 0 14|0 2 6 4 2|0 0 3 5 6|0 3 9 2 0|2 2 8 1 1|7 7 0 0 0|3 2 6 3 0|2 5 3 2 2|6 5 2 1 0|0 2 2 3 7"
        found = raw_agreement([[int(n) for n in row.split()] for row in rows.split("|")])
        assert found.value == pytest.approx(0.378, abs=5e-4) and found.n == 10
        assert 0 < found.low < found.value < found.high < 1 and "10 units" in found.how

    def test_pairs_of_raters_one_by_one(self) -> None:
        rng = np.random.default_rng(5)
        answers = [rng.integers(0, 3, size=int(rng.integers(0, 5))) for _ in range(40)]
        each = [np.mean([a == b for a, b in itertools.combinations(unit, 2)]) for unit in answers if len(unit) > 1]
        found = raw_agreement([np.bincount(unit, minlength=3) for unit in answers], noun="items")
        assert found.value == pytest.approx(np.mean(each)) and found.n == len(each)
        assert f"{40 - len(each)} of 40 items have fewer than two ratings: left out" in found.note

    def test_where_alpha_cannot_tell(self) -> None:
        """Nearly all answers alike: α near 0, though two raters in ten differ nowhere but once each."""
        counts = [[2, 0]] * 18 + [[1, 1]] * 2
        assert krippendorff_alpha(counts, domain=[0, 1], scale="nominal", seed=0).value < 0
        assert raw_agreement(counts).value == pytest.approx(0.9)
        assert raw_agreement([[2, 0]] * 5).value == 1 and np.isnan(raw_agreement([[1, 0]]).value)

    def test_its_interval_holds_the_truth(self) -> None:
        """Words of which each point of five has its own probability, rated by three; the truth is by summing."""
        rng = np.random.default_rng(11)

        def shares(words: int) -> np.ndarray:
            return rng.dirichlet(np.full(5, 0.7), words)

        truth = float((shares(200_000) ** 2).sum(axis=1).mean())
        held = 0
        for _ in range(400):
            found = raw_agreement([rng.multinomial(3, p) for p in shares(40)])
            held += found.low <= truth <= found.high
        assert 0.92 <= held / 400 <= 0.985
