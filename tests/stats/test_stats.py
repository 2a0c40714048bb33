"""The statistics against numbers somebody else computed, fractions worked out by hand, and brute force."""

from __future__ import annotations

import math
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special
from scipy import stats as scipy_stats

from pages import numbers, said, table_of
from penchant.errors import DataError, MethodError
from penchant.instruments.minimal_pairs.strata_means import mantel_haenszel_difference
from penchant.records import Estimate
from penchant.stats import hypothesis_tests, length_adjustment
from penchant.stats.hypothesis_tests import binomial, held_against, holm, mcnemar, sign_flip
from penchant.stats.intervals import accuracy, clustered_mean, independent_difference, paired_difference
from penchant.stats.length_adjustment import adjusted_accuracy, fit, length_slope
from penchant.wording.phrases import Method, Note

Z = 1.959963984540054


def share(right: int, items: int) -> list[float]:
    return [1.0] * right + [0.0] * (items - right)


def uncomputed(estimate: Estimate) -> bool:
    """No interval, and the reason said."""
    return math.isnan(estimate.low) and math.isnan(estimate.high) and bool(estimate.note)


class TestAccuracy:
    # Newcombe 1998 (Stat. Med. 17:857–872), Table I, method 3; further digits: statsmodels 0.15.0,
    # proportion_confint(method="wilson").
    @pytest.mark.parametrize(
        ("right", "items", "low", "high"),
        [
            (81, 263, 0.2552885198782742, 0.36620957698280004),
            (15, 148, 0.06238639953073628, 0.16048724172330803),
            (0, 20, 0.0, 0.1611251580528194),
            (1, 29, 0.006113214292762667, 0.17175521879320294),
        ],
    )
    def test_published_wilson_intervals(self, right: int, items: int, low: float, high: float) -> None:
        found = accuracy(share(right, items))
        assert (found.value, found.n, found.how) == (right / items, items, "Wilson score")
        assert found.low == pytest.approx(low, abs=1e-12)
        assert found.high == pytest.approx(high, abs=1e-12)

    def test_bounds_solve_the_score_equation_for_ties_and_other_levels(self) -> None:
        # A Wilson bound b is where the score test just rejects: |mean − b| = z·√(b(1−b)/n).
        found = accuracy([1, 1, 0.5, 0, 0.5, 1, 1], level=0.9)
        assert found.value == pytest.approx(5 / 7)
        for bound in (found.low, found.high):
            reach = scipy_stats.norm.ppf(0.95) * math.sqrt(bound * (1 - bound) / 7)
            assert abs(5 / 7 - bound) == pytest.approx(reach, rel=1e-12)

    def test_no_items(self) -> None:
        found = accuracy([])
        assert math.isnan(found.value) and uncomputed(found) and found.n == 0

    @pytest.mark.parametrize("bad", [[1, 0, 0.7], [1, math.nan], [[1, 0]], [1, math.inf], [-1]])
    def test_refuses_what_is_no_credit(self, bad: list[float]) -> None:
        with pytest.raises(DataError):
            accuracy(bad)

    @pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
    def test_refuses_impossible_levels(self, level: float) -> None:
        with pytest.raises(MethodError):
            accuracy([1, 0], level=level)


class TestClusteredMean:
    values = (1.0, 0, 1, 1, 0, 0, 1, 0.5, 1, 1)
    clusters = ("a", "a", "a", "b", "b", "c", "c", "c", "d", "d")

    @pytest.mark.parametrize("groups", [2, 5, 12])
    def test_equal_clusters_give_the_t_interval_of_their_means(self, groups: int) -> None:
        values = np.random.default_rng(groups).normal(size=(groups, 7))
        found = clustered_mean(values.ravel(), np.repeat(np.arange(groups), 7), against=0.1)
        theirs = scipy_stats.ttest_1samp(values.mean(axis=1), 0.1)
        assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-12)
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-10)
        assert found.row()["test"] == "cluster-robust t over clusters"
        assert found.how == f"cluster-robust t (jackknife) over {groups} clusters, {groups - 1} df"

    @pytest.mark.parametrize(
        ("sizes", "as_many"),
        [
            ([60] * 5, None),
            ([55, 60, 65, 60, 60], None),
            ([10, 10, 10, 10, 160], 1.0),
            ([10] * 8 + [40] * 4, 4.9),
            ([10] * 12 + [40] * 6, None),  # eighteen are enough, however unequal
        ],
    )
    def test_a_few_very_unequal_clusters_say_what_that_costs(self, sizes: list[int], as_many: float | None) -> None:
        values = np.random.default_rng(1).normal(size=sum(sizes))
        note = clustered_mean(values, np.repeat(np.arange(len(sizes)), sizes)).note
        if as_many is None:
            assert note == ""
            return
        # Each cluster's expected part of the squared error: p²/(1 − p).
        parts = [(n / sum(sizes)) ** 2 / (1 - n / sum(sizes)) for n in sizes]
        assert sum(parts) ** 2 / sum(part**2 for part in parts) == pytest.approx(as_many, abs=0.05)
        start = f"approximate: the {len(sizes)} clusters are so unequal in size that they count as "
        assert note.startswith(f"{start}{as_many} equal ones (effective number); ")

    def test_unequal_clusters_against_the_jackknife(self) -> None:
        # Each cluster left out in turn; a linear statistic apart, so the two agree to the square of the moves.
        rng = np.random.default_rng(3)
        sizes = rng.integers(5, 30, size=40)
        codes = np.repeat(np.arange(40), sizes)
        values = rng.normal(size=40)[codes] + rng.normal(size=len(codes))
        left_out = np.array([values[codes != code].mean() for code in range(40)])
        error = math.sqrt(39 / 40 * float(((left_out - values.mean()) ** 2).sum()))
        found = clustered_mean(values, codes)
        reach = scipy_stats.t.ppf(0.975, 39)
        assert found.high - found.value == pytest.approx(reach * error, rel=1e-9)
        assert found.value - found.low == pytest.approx(reach * error, rel=1e-9)

    def test_proportions_stay_within_their_bounds(self) -> None:
        # Shares 1, 1 and .8 of ten pairs: on the logit scale, by hand. Mean 28/30, residuals 2/3, 2/3, −4/3 of 30
        # pairs, each over 1 − 1/3.
        credit = share(8, 10)[::-1] + share(20, 20)
        found = clustered_mean(credit, np.repeat([0, 1, 2], 10), proportion=True, against=0.5, noun="paradigms")
        error = math.sqrt(2 / 3 * (2 * (2 / 3) ** 2 + (4 / 3) ** 2)) / 30 * 1.5
        centre, scaled = math.log(28 / 2), error / (28 / 30 * 2 / 30)
        reach = scipy_stats.t.ppf(0.975, 2) * scaled
        expected = tuple(1 / (1 + math.exp(-(centre + side * reach))) for side in (-1, 1))
        assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
        assert found.p == pytest.approx(2 * scipy_stats.t.sf(centre / scaled, 2), rel=1e-10)
        assert (found.p < 0.05) == (found.low > 0.5) and found.how.endswith("3 paradigms, 2 df, logit scale")

    def test_order_does_not_matter_to_the_bit(self) -> None:
        rng = np.random.default_rng(0)
        values, labels = rng.random(90), rng.integers(0, 12, size=90)
        first = clustered_mean(values, labels)
        order = rng.permutation(90)
        again = clustered_mean(values[order], [("cluster", int(i)) for i in labels[order]])
        assert (again.value, again.low, again.high) == pytest.approx((first.value, first.low, first.high), rel=1e-14)

    def test_without_spread_there_is_no_interval(self) -> None:
        one = clustered_mean([1, 0, 0.5], ["a"] * 3)
        assert one.value == 0.5 and one.n == 3 and uncomputed(one) and "only one cluster" in one.note
        equal = clustered_mean([0.1, 0.3, 0.2, 0.2, 0.2], ["a", "a", "b", "b", "b"], against=0)
        assert equal.value == pytest.approx(0.2) and uncomputed(equal) and math.isnan(equal.p)
        empty = clustered_mean([], [])
        assert math.isnan(empty.value) and uncomputed(empty) and empty.n == 0
        full = clustered_mean([1.0] * 6, [0, 0, 1, 1, 2, 2], proportion=True)
        plain = accuracy([1.0] * 6)
        assert (full.low, full.high, full.how) == (plain.low, plain.high, plain.how)
        assert "treated as independent" in full.note

    def test_refusals(self) -> None:
        with pytest.raises(DataError, match="2 labels for 3 items"):
            clustered_mean([1, 2, 3], ["a", "b"])
        with pytest.raises(DataError, match="1 of 2 numbers"):
            clustered_mean([1, math.nan], ["a", "b"])
        with pytest.raises(DataError, match="NaN"):
            clustered_mean([1, 2], ["a", math.nan])


class TestPairedDifference:
    def test_published_bonett_price_interval(self) -> None:
        # The example of ci.prop.ps in the R package statpsych: counts 12, 4, 26, 6 give 0.2548067, 0.6251933.
        a = [0.0] * 12 + [0.0] * 4 + [1.0] * 26 + [1.0] * 6
        b = [0.0] * 12 + [1.0] * 4 + [0.0] * 26 + [1.0] * 6
        found = paired_difference(a, b)
        assert found.value == pytest.approx(22 / 48)
        assert (found.low, found.high) == pytest.approx((0.2548067, 0.6251933), abs=5e-8)
        assert found.how == "Bonett-Price adjusted Wald" and found.n == 48

    def test_bonett_price_by_hand(self) -> None:
        # 1 and 7 discordant of 21: (2/23, 8/23), centre −6/23, variance (10/23 − 36/529)/23 = 194/12167.
        a, b = share(1, 21), [0.0, *share(7, 20)]
        found, half = paired_difference(a, b), Z * math.sqrt(194 / 12167)
        assert (found.low, found.high) == pytest.approx((-6 / 23 - half, -6 / 23 + half), rel=1e-12)

    def test_ties_give_the_t_interval(self) -> None:
        a, b = [1, 1, 0.5, 0, 1, 1], [0, 1, 1, 0, 0.5, 0]
        found = paired_difference(a, b, level=0.9)
        theirs = scipy_stats.ttest_rel(a, b).confidence_interval(0.9)
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)
        assert found.how.startswith("t interval")

    def test_what_has_no_interval(self) -> None:
        assert math.isnan(paired_difference([], []).value) and uncomputed(paired_difference([], []))
        equal = paired_difference([1, 1], [0.5, 0.5])
        assert equal.value == 0.5 and equal.n == 2 and uncomputed(equal)
        with pytest.raises(DataError):
            paired_difference([1, 0], [1])


class TestIndependentDifference:
    # Newcombe 1998 (Stat. Med. 17:873–890), Table II, method 10, examples (a)–(h); further digits:
    # statsmodels 0.15.0, confint_proportions_2indep(method="newcomb").
    @pytest.mark.parametrize(
        ("first", "second", "low", "high"),
        [
            ((56, 70), (48, 80), 0.05243147240236498, 0.33387265403690614),
            ((9, 10), (3, 10), 0.1705227239345029, 0.809017973535488),
            ((6, 7), (2, 7), 0.05822792748231209, 0.8062496375242278),
            ((5, 56), (0, 29), -0.038137147903536936, 0.19256001385511165),
            ((0, 10), (0, 20), -0.1611251580528194, 0.27753279986288926),
            ((0, 10), (0, 10), -0.27753279986288926, 0.27753279986288926),
            ((10, 10), (0, 20), 0.6790860371419145, 1.0),
            ((10, 10), (0, 10), 0.6075093504305241, 1.0),
        ],
    )
    def test_published_newcombe_intervals(
        self, first: tuple[int, int], second: tuple[int, int], low: float, high: float
    ) -> None:
        found = independent_difference(share(*first), share(*second))
        assert found.value == pytest.approx(first[0] / first[1] - second[0] / second[1])
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
        assert found.n == first[1] + second[1]

    def test_fishers_lady_tasting_tea(self) -> None:
        # 3 of 4 against 1 of 4 (Fisher 1935, §5): tables less likely than this one, and half of those as likely,
        # (1 + 1 + (16 + 16)/2)/70.
        found = independent_difference(share(3, 4), share(1, 4))
        assert found.p == pytest.approx(18 / 70) and found.row()["test"] == "Fisher mid-p"

    def test_ties_give_welchs_test(self) -> None:
        a, b = [1, 1, 0.5, 1, 1], [0, 0.5, 1, 0]
        found = independent_difference(a, b)
        # Means .9 and .375, squared standard errors .05/5 and .6875/3/4; df by Welch and Satterthwaite.
        u, v = 0.05 / 5, 0.6875 / 12
        t, df = 0.525 / math.sqrt(u + v), (u + v) ** 2 / (u**2 / 4 + v**2 / 3)
        assert found.p == pytest.approx(2 * scipy_stats.t.sf(t, df), rel=1e-9) and found.row()["test"] == "Welch t"

    def test_what_cannot_be_computed(self) -> None:
        for a, b, n in (([], [1.0], 1), ([1.0], [], 1), ([], [], 0)):
            found = independent_difference(a, b)
            assert math.isnan(found.value) and uncomputed(found) and found.n == n
        for a, b in (([0.5, 0.5], [1.0, 1.0]), ([0.5], [1.0, 0.0])):
            untested = independent_difference(a, b)
            assert math.isnan(untested.p) and "no test" in untested.note and not math.isnan(untested.low)


class TestMcNemar:
    def test_by_hand(self) -> None:
        # 1 against 7 discordant: (2·C(8,0) + C(8,1))/2⁸ = 10/256, whatever the concordant items; .039 in the first
        # example of Fagerland, Lydersen and Laake 2013, where the exact test has .070.
        a, b = [1, *[0] * 7, 1, 0], [0, *[1] * 7, 1, 0]
        assert mcnemar(a, b) == pytest.approx(10 / 256, rel=1e-12) == mcnemar(b, a)
        # 0 against 6: 1/2⁶. 3 against 3: all but half of C(6,3).
        assert mcnemar([1] * 6, [0] * 6) == pytest.approx(1 / 64, rel=1e-12)
        assert mcnemar([1] * 3 + [0] * 3, [0] * 3 + [1] * 3) == pytest.approx(1 - 10 / 64, rel=1e-12)

    @given(st.integers(0, 40), st.integers(0, 40))
    def test_it_is_the_exact_test_without_half_of_what_was_observed(self, wins: int, losses: int) -> None:
        n = wins + losses
        a, b = [1] * wins + [0] * losses, [0] * wins + [1] * losses
        if not n:
            return
        own = scipy_stats.binom.pmf(wins, n, 0.5) * (0.5 if wins == losses else 1)
        assert mcnemar(a, b) == pytest.approx(scipy_stats.binomtest(wins, n).pvalue - own)

    def test_ties_count_by_direction(self) -> None:
        # Differences −½, −½, ½, 1, 1, 1: 2 against 4, (2·(1 + 6) + 15)/64.
        assert mcnemar([0, 0.5, 1, 1, 1, 1], [0.5, 1, 0.5, 0, 0, 0]) == pytest.approx(29 / 64, rel=1e-12)

    def test_no_discordant_items_and_no_items(self) -> None:
        assert mcnemar([1, 0], [1, 0]) == 1.0
        assert math.isnan(mcnemar([], []))
        with pytest.raises(DataError):
            mcnemar([1], [1, 0])


class TestBinomial:
    def test_by_hand(self) -> None:
        # 1 of 6 heads: (2 + 6)/64. A share of ¼: half of 5 of 6, and 6 of 6, which is less probable.
        assert binomial(share(1, 6), 0.5) == pytest.approx(8 / 64)
        assert binomial(share(5, 6), 0.25) == pytest.approx((6 * 3 / 2 + 1) / 4**6)
        assert math.isnan(binomial([], 0.5)) and math.isnan(binomial([1, 0.5], 0.5))


class TestHeldAgainst:
    @pytest.mark.parametrize(
        ("p", "low", "high", "said"),
        [
            (0.06, 0.01, 0.5, True),
            (0.04, -0.01, 0.5, True),
            (0.04, 0.01, 0.5, False),
            (0.06, -0.01, 0.5, False),
            (math.nan, 0.01, 0.5, False),
            (0.01, math.nan, math.nan, False),
        ],
    )
    def test_a_test_that_contradicts_its_interval_says_so(self, p: float, low: float, high: float, said: bool) -> None:
        before = Estimate("m", 0.2, 9, low, high, notes=(Note("ends"),))
        found = held_against(before.tested(p, Method("fisher")), 0)
        assert found.notes == (Note("ends"), *[Note("test-against-interval")] * said)
        moved = held_against(Estimate("m", 50.2, 9, low + 50, high + 50).tested(p, None), 50)
        assert ("disagree" in moved.note) == said

    def test_newcombe_and_fisher_may_differ(self) -> None:
        found = independent_difference(share(1, 8), share(9, 16))
        assert found.p > 0.05 and found.high < 0 and "disagree" in found.note
        assert "disagree" not in independent_difference(share(1, 8), share(15, 16)).note


class TestSignFlip:
    def test_fishers_test_of_darwins_maize(self) -> None:
        # Fisher 1935, §21: of 32,768 sign patterns 863 reach the observed sum on either side.
        eighths = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
        assert sign_flip(eighths / 8, seed=0) == 2 * 863 / 32768

    @pytest.mark.parametrize("size", [2, 5, 12, 16])
    def test_exact_like_scipy(self, size: int) -> None:
        values = np.round(np.random.default_rng(size).normal(0.3, 1, size=size), 1)  # many equal sums
        theirs = scipy_stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=2**16).pvalue
        assert sign_flip(values, seed=0) == pytest.approx(theirs, rel=1e-12)

    @pytest.mark.parametrize("kind", ["credits", "scores"])
    def test_sampled_is_near_exact(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(8)
        values = rng.choice([-1, -0.5, 0, 0.5, 1, 1], size=200) if kind == "credits" else rng.normal(0.3, 1, 40)
        sampled = sign_flip(values, seed=1, draws=20_000)
        if kind == "credits":  # ±½ and ±1: convolve two binomials
            half, full = int(np.sum(np.abs(values) == 0.5)), int(np.sum(np.abs(values) == 1))
            sums = np.abs((np.arange(half + 1) * 2 - half)[:, None] / 2 + np.arange(full + 1) * 2 - full)
            weight = scipy_stats.binom.pmf(np.arange(half + 1), half, 0.5)[:, None] * scipy_stats.binom.pmf(
                np.arange(full + 1), full, 0.5
            )
            exact = float(weight[sums >= abs(values.sum())].sum())
        else:
            exact = float(
                scipy_stats.permutation_test(
                    (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=rng
                ).pvalue
            )
        assert 0.01 < exact < 0.7  # a p that says something
        assert sampled == pytest.approx(exact, abs=4 * math.sqrt(2 * exact / 20_000))
        monkeypatch.setattr(hypothesis_tests, "_CHUNK", 999)
        assert sign_flip(values, seed=1, draws=20_000) == sampled

    def test_never_zero_when_sampled(self) -> None:
        assert sign_flip(np.ones(50), seed=0, draws=99) == 1 / 100

    def test_items_without_a_difference_do_not_count(self) -> None:
        assert sign_flip([1.0] * 10, seed=0) == 2 / 2**10
        assert sign_flip([1.0] * 10 + [0.0] * 30, seed=0) == 2 / 2**10
        assert sign_flip([0.0, 0.0], seed=0) == 1.0
        # … nor make a seventeenth unit, so that the test would be sampled.
        sixteen, rest = [float(size) for size in range(1, 17)], [0.1 + 0.2 - 0.3]
        sixteen[2] *= -1
        exact = sign_flip(sixteen, seed=0)
        assert sign_flip(sixteen + rest, seed=0) == exact
        assert math.isnan(sign_flip([], seed=0))

    def test_refusals(self) -> None:
        with pytest.raises(MethodError):
            sign_flip([1.0], seed=0, draws=0)
        with pytest.raises(DataError):
            sign_flip([1.0, math.nan], seed=0)


class TestHolm:
    def test_by_hand(self) -> None:
        # .005·4 = .02, .01·3 = .03, .03·2 = .06, .04·1 raised to .06; R's p.adjust and statsmodels agree.
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-12)

    def test_nan_is_no_test(self) -> None:
        found = holm([0.02, math.nan, 0.04])
        assert found[[0, 2]] == pytest.approx([0.04, 0.04]) and math.isnan(found[1])
        assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
        assert holm([]).tolist() == []

    @pytest.mark.parametrize("bad", [[1.2], [-0.1], [[0.1]]])
    def test_refuses_what_is_no_p(self, bad: list[float]) -> None:
        with pytest.raises(DataError):
            holm(bad)


Table = tuple[tuple[int, int], tuple[int, int]]  # (right, wrong) of the exposed, (right, wrong) of the others


def tables(text: str) -> list[Table]:
    """Four counts a table."""
    numbers = [[int(n) for n in row.split()] for row in text.split("|")]
    return [((a, b), (c, d)) for a, b, c, d in numbers]


# Admissions to Berkeley, 1973, by department: (admitted, rejected) men, women (R's UCBAdmissions).
BERKELEY = tables(
    "512 313 89 19|353 207 17 8|120 205 202 391|138 279 131 244|53 138 94 299|22 351 24 317",
)

# Tuberculosis after BCG, 13 trials: (cases, others) vaccinated, not vaccinated (metafor's dat.bcg).
VACCINE = tables(
    "4 119 11 128|6 300 29 274|3 228 11 209|62 13536 248 12619|33 5036 47 5761|180 1361 372 1079|8 2537 10 619"
    "|505 87886 499 87892|29 7470 45 7232|17 1699 65 1600|186 50448 141 27197|5 2493 3 2338|27 16886 29 17825"
)


def unfold(strata_tables: list[Table]) -> tuple[list[float], list[bool], list[int]]:
    """Counts as one credit, exposure and stratum per item."""
    credit: list[float] = []
    exposed: list[bool] = []
    strata: list[int] = []
    for stratum, table in enumerate(strata_tables):
        for side, (right, wrong) in zip((True, False), table, strict=True):
            credit += share(right, right + wrong)
            exposed += [side] * (right + wrong)
            strata += [stratum] * (right + wrong)
    return credit, exposed, strata


class TestMantelHaenszel:
    def test_berkeley(self) -> None:
        found = mantel_haenszel_difference(*unfold(BERKELEY))
        assert found.value == pytest.approx(-0.018425196190852512, rel=1e-12)
        assert found.row()["test"] == "cluster-robust t over strata" and found.n == 4526
        assert found.how == "cluster-robust t (jackknife) over 6 strata, 5 df, Mantel-Haenszel weights"
        # The regression of the differences on a constant, weighted with n₁n₀/n, and its HC3 errors: written as the
        # sum of squared residuals over 1 − leverage.
        ones, others = (np.array([sum(table[side]) for table in BERKELEY], dtype=float) for side in (0, 1))
        gaps = np.array([a[0] / sum(a) - b[0] / sum(b) for a, b in BERKELEY])
        weights = ones * others / (ones + others)
        shares = weights / weights.sum()
        error = math.sqrt(5 / 6 * float(((shares * (gaps - found.value) / (1 - shares)) ** 2).sum()))
        reach = scipy_stats.t.ppf(0.975, 5) * error
        assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach), rel=1e-10)
        assert found.p == pytest.approx(2 * scipy_stats.t.sf(abs(found.value) / error, 5), rel=1e-10)
        crude = independent_difference(share(1198, 2691), share(557, 1835))
        assert crude.value > 0.14  # pooled without strata the sign turns (Bickel et al. 1975)

    def test_vaccine_trials(self) -> None:
        # metafor's rma.mh(measure="RD") and Stata's metan give −0.0033.
        found = mantel_haenszel_difference(*unfold(VACCINE))
        assert found.value == pytest.approx(-0.0033, abs=5e-5)
        assert (found.p < 0.05) == (found.high < 0)

    def test_by_hand(self) -> None:
        # Weights 2·2/4 = 1 and 2·4/6 = 4/3; differences 1 − ½ = ½ and ½ − ¼ = ¼: (½ + ⅓)/(7/3) = 5/14.
        own: list[Table] = [((2, 0), (1, 1)), ((1, 1), (1, 3))]
        found = mantel_haenszel_difference(*unfold(own))
        assert found.value == pytest.approx(5 / 14, rel=1e-12)
        # Shares 3/7 and 4/7; moves 3/7·(1/7)/(4/7) = 3/28 and 4/7·(−3/28)/(3/7) = −1/7; error √(½(9 + 16)/784).
        t = (5 / 14) / math.sqrt(0.5 * 25 / 784)
        assert found.p == pytest.approx(2 * scipy_stats.t.sf(t, 1), rel=1e-12)
        assert (found.low, found.high) == (-1, 1)  # 5/14 ± 12.7·.126, cut where no difference can be

    def test_strata_with_one_exposed_item_have_a_spread(self) -> None:
        """Greenland and Robins' variance within strata is 0 for n₁ = 1, and made an interval of no width."""
        own: list[Table] = [((1, 0), (3, 0)), ((1, 0), (2, 1)), ((0, 1), (0, 4))]
        found = mantel_haenszel_difference(*unfold(own))
        assert found.low < -0.1 < found.value < 0.5 < found.high

    def test_one_sided_strata_are_left_out_and_counted(self) -> None:
        credit, exposed, strata = unfold([*BERKELEY[:3], ((4, 1), (0, 0)), ((0, 0), (0, 9))])
        found = mantel_haenszel_difference(credit, exposed, strata)
        alone = mantel_haenszel_difference(*unfold(BERKELEY[:3]))
        numbers_of = attrgetter("value", "low", "high", "p", "n")
        assert numbers_of(found) == numbers_of(alone)
        assert Note("strata-lack-a-side", lost=2, of=5, items=14, noun="strata") in found.notes

    def test_one_stratum_is_the_plain_comparison(self) -> None:
        found = mantel_haenszel_difference(*unfold([((56, 14), (48, 32)), ((3, 0), (0, 0))]))
        plain = independent_difference(share(56, 70), share(48, 80))
        assert (found.value, found.low, found.high, found.p) == (plain.value, plain.low, plain.high, plain.p)
        assert (found.how, found.row()["test"], found.n) == ("Newcombe hybrid score", "Fisher mid-p", 150)
        assert "1 of 2 strata" in found.note and found.measure == "stratified accuracy difference"

    def test_what_cannot_be_computed(self) -> None:
        none = mantel_haenszel_difference([1, 0, 1], [True, True, False], ["a", "a", "b"])
        assert math.isnan(none.value) and uncomputed(none) and none.n == 0 and "2 of 2 strata" in none.note
        assert uncomputed(mantel_haenszel_difference([], [], []))
        flat = mantel_haenszel_difference([1, 1, 1, 1], [True, False] * 2, ["a", "a", "b", "b"])
        assert flat.value == 0 and uncomputed(flat) and math.isnan(flat.p) and "no test" in flat.note

    def test_refusals(self) -> None:
        for exposed, strata in (([True], ["a", "a"]), ([0.5, 1], ["a", "a"]), ([True, False], ["a"])):
            with pytest.raises(DataError):
                mantel_haenszel_difference([1, 0], exposed, strata)


# Six clusters of four items; within a cluster the credits are much alike.
LENGTHS: list[float] = [-2, -1, 0, 1, 0, 1, 2, 3, -3, -1, 0, 2, -2, 0, 1, 4, -1, 0, 0, 2, 1, 1, 3, -2]
RIGHT = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1]
GROUPS = np.repeat(np.arange(6), 4)
ROBUST_SLOPE = 0.3228625896
SHORT, SHORT_RIGHT = [-2, -1, -1, 0, 0, 0, 1, 1, 2, 2, 3, 4], [1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0]


def best_firth(x: list[float], y: ArrayLike) -> tuple[float, float]:
    """Return the maximum of the likelihood times Jeffreys' prior, √det of the information (Firth 1993)."""
    design, right = np.column_stack([np.ones(len(x)), x]), np.asarray(y)

    def loss(beta: NDArray[np.float64]) -> float:
        logit = design @ beta
        share = 1 / (1 + np.exp(-logit))
        _, logdet = np.linalg.slogdet(design.T @ np.diag(share * (1 - share)) @ design)
        return float(np.logaddexp(0, logit).sum() - right @ logit - logdet / 2)

    best = optimize.minimize(loss, [0, 0], method="Nelder-Mead", tol=1e-10).x
    return float(best[0]), float(best[1])


class TestLogistic:
    # Coefficients and standard errors of firthmodels 0.8.2, FirthLogisticRegression (gtol = xtol = 1e-11).
    @pytest.mark.parametrize(
        ("x", "y", "expected"),
        [
            (SHORT, SHORT_RIGHT, (0.9811190710, -0.7833818524, 0.7607409036, 0.4498683565)),
            # Separated, once with a gap: without the penalty the slope is infinite.
            ([-3, -2, -1, 0, 0, 1, 2, 3], share(4, 8), (0, -1.0500748383, 0.8325544230, 0.6510602399)),
            ([-3, -2, -1, 1, 2, 3], share(3, 6), (0, -0.9384164885, 1.0002941034, 0.5744657661)),
            (LENGTHS, RIGHT, (0.5394646333, -0.4719615670, 0.4526157171, 0.2687310929)),
        ],
    )
    def test_against_another_firth_regression(
        self, x: list[float], y: list[float], expected: tuple[float, ...]
    ) -> None:
        found = fit(y, x)
        numbers_of = attrgetter("intercept", "slope", "intercept_se", "slope_se")
        assert numbers_of(found) == pytest.approx(expected, abs=1e-8)

    def test_two_by_two_table_adds_one_half_to_each_cell(self) -> None:
        # The saturated model under Firth's penalty is the table with ½ in each cell more (Heinze & Schemper
        # 2002, §2), its standard errors those of Haldane and Gart. Right: 7 of 9 at 0, 0 of 4 at 3 tokens.
        found = fit(share(7, 9) + share(0, 4), [0] * 9 + [3] * 4)
        cells = 1 / 7.5 + 1 / 2.5
        assert found.intercept == pytest.approx(math.log(7.5 / 2.5), rel=1e-8)
        assert found.intercept_se == pytest.approx(math.sqrt(cells), rel=1e-8)
        assert found.slope == pytest.approx(math.log((0.5 / 4.5) / (7.5 / 2.5)) / 3, rel=1e-8)
        assert found.slope_se == pytest.approx(math.sqrt(cells + 1 / 0.5 + 1 / 4.5) / 3, rel=1e-8)

    @pytest.mark.parametrize(("right", "items"), [(0, 1), (1, 1), (7, 10), (50, 50), (0, 300)])
    def test_intercept_alone(self, right: int, items: int) -> None:
        # log((k + ½)/(n − k + ½)), so that the accuracy is (k + ½)/(n + 1), also at 0 and 1.
        found = fit(share(right, items), [0] * items)
        assert found.intercept == pytest.approx(math.log((right + 0.5) / (items - right + 0.5)), rel=1e-8)
        error = math.sqrt(1 / (right + 0.5) + 1 / (items - right + 0.5))
        assert found.intercept_se == pytest.approx(error, rel=1e-8)
        assert math.isnan(found.slope)
        predicted = adjusted_accuracy(fit(share(right, items), [0] * items))
        assert predicted.value == pytest.approx((right + 0.5) / (items + 1), rel=1e-8)

    def test_ties_maximise_the_penalised_likelihood(self) -> None:
        y = np.array(RIGHT, dtype=float)
        y[[3, 8, 15, 18]] = 0.5
        found = fit(y, LENGTHS)
        assert (found.intercept, found.slope) == pytest.approx(best_firth(LENGTHS, y), abs=1e-6)
        # The HC0 errors of statsmodels 0.15.0 (GLM, Binomial) at these coefficients.
        assert (found.intercept_se, found.slope_se) == pytest.approx((0.4057973023, 0.2288663472), abs=1e-8)
        assert found.errors == Method("errors-sandwich")

    # Without halving, Newton's step leaves the range of floats here; without the moving leverage it creeps.
    @pytest.mark.parametrize(
        ("x", "y"),
        [
            ([-10, 2, -1, 2, -2, -1], [0, 1, 0, 1, 0, 0]),
            ([-26, -5, -4, -5, 4, -1, -2, -1, 0], [0, 0, 0, 0, 1, 0, 0, 0, 1]),
            ([5, -3, 8, 0, 1, -3], [1, 0, 1, 1, 1, 0]),
            ([-889, 6, 0, -12, 617, 612, -37, 913, -98, 33, -73, 746, 0, -20], [0] * 13 + [1]),
        ],
    )
    def test_far_outliers(self, x: list[float], y: list[float]) -> None:
        found = fit(y, x)
        assert (found.intercept, found.slope) == pytest.approx(best_firth(x, y), abs=1e-5)

    def test_cluster_robust_errors(self) -> None:
        # statsmodels 0.15.0: GLM, Binomial, start_params=the Firth estimate, maxiter=0, cov_type="cluster"
        # without correction, times √(6/5). Of the slope: 0.3098765546, were all clusters to know as much of it.
        found = fit(RIGHT, LENGTHS, clusters=GROUPS)
        assert found.intercept_se == pytest.approx(0.8384662099, abs=1e-8)
        assert found.df == 5 and found.errors == Method("errors-clusters", clusters=6)
        assert found.notes == (Note("few-clusters", have=6, noun="clusters"),)

    def test_the_robust_error_of_a_slope_by_hand(self) -> None:
        """A cluster left out moves the slope by its score over what the others know of it."""
        assert fit(RIGHT, LENGTHS, clusters=GROUPS).slope_se == pytest.approx(ROBUST_SLOPE, abs=1e-7)
        y, x, of = (np.asarray(part) for part in (RIGHT, LENGTHS, GROUPS))
        share = special.expit(0.5394646333 - 0.4719615670 * x)
        weight = share * (1 - share)
        away = x - np.average(x, weights=weight)
        moves = []
        for cluster in np.unique(of):
            inside = of == cluster
            score = float((away * (y - share))[inside].sum())
            moves.append(score / float((weight * away**2)[~inside].sum()))
        assert math.sqrt(5 / 6 * sum(move**2 for move in moves)) == pytest.approx(ROBUST_SLOPE, abs=1e-7)

    def test_cluster_robust_errors_never_fall_below_the_model_based(self) -> None:
        # Each cluster has half its items right: the sandwich is 0, which no one should believe.
        found = fit([1, 0] * 6, [0] * 12, clusters=np.repeat(np.arange(6), 2))
        assert found.intercept_se == pytest.approx(math.sqrt(2 / 6.5), rel=1e-8)

    def test_one_cluster_is_said(self) -> None:
        found = adjusted_accuracy(fit(RIGHT, LENGTHS, clusters=["a"] * 24))
        plain = adjusted_accuracy(fit(RIGHT, LENGTHS))
        assert (found.low, found.high) == (plain.low, plain.high) and "one cluster" in found.note

    def test_accuracy_interval(self) -> None:
        # expit(b0 ± q·SE) with the numbers of the tools above; q is normal, or t with 5 degrees of freedom.
        plain = adjusted_accuracy(fit(RIGHT, LENGTHS))
        assert plain.measure == "length-adjusted accuracy" and plain.n == 24
        for found, reach in (
            (plain, 1.959964 * 0.4526157171),
            (adjusted_accuracy(fit(RIGHT, LENGTHS, clusters=GROUPS)), 2.570582 * 0.8384662099),
        ):
            logits = 0.5394646333 + reach * np.array([-1, 0, 1])
            assert (found.low, found.value, found.high) == pytest.approx(tuple(1 / (1 + np.exp(-logits))), abs=1e-7)

    def test_slope(self) -> None:
        found = length_slope(fit(RIGHT, LENGTHS))
        z = 0.4719615670 / 0.2687310929
        assert found.value == pytest.approx(-0.4719615670, abs=1e-8)
        assert found.p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=1e-8) and found.row()["test"] == "Wald z"
        assert (found.high - found.low) / 2 == pytest.approx(Z * 0.2687310929, abs=1e-8)
        robust = length_slope(fit(RIGHT, LENGTHS, clusters=GROUPS))
        t = 0.4719615670 / ROBUST_SLOPE
        assert robust.p == pytest.approx(2 * scipy_stats.t.sf(t, 5), abs=1e-8)
        assert robust.row()["test"] == "Wald t, 5 df"

    def test_what_cannot_be_computed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        same = adjusted_accuracy(fit([1, 0, 1], [2, 2, 2]))
        assert math.isnan(same.value) and uncomputed(same) and same.n == 3 and "2" in same.note
        assert uncomputed(length_slope(fit([1, 0, 1], [2, 2, 2])))
        slope = length_slope(fit([1, 0, 1], [0, 0, 0]))
        assert math.isnan(slope.value) and uncomputed(slope) and slope.n == 3
        assert uncomputed(adjusted_accuracy(fit([], []))) and uncomputed(length_slope(fit([], [])))
        monkeypatch.setattr(length_adjustment, "_MOST_STEPS", 1)
        stopped = fit(RIGHT, LENGTHS)
        assert math.isnan(stopped.intercept) and stopped.notes == (Note("no-convergence", steps=1),) and stopped.n == 24

    def test_extrapolation_is_said(self) -> None:
        assert "from 1 to 3" in adjusted_accuracy(fit([1, 0, 1, 1], [1, 2, 3, 3])).note
        assert adjusted_accuracy(fit([1, 0, 1, 1], [-1, 2, 3, 3])).note == ""

    def test_all_ties_fall_back_on_the_model(self) -> None:
        found = adjusted_accuracy(fit([0.5] * 8, [0] * 8))
        assert found.value == pytest.approx(0.5) and found.low < 0.3 and found.high > 0.7

    def test_refusals(self) -> None:
        for x, clusters in (([1], None), ([1, math.nan], None), ([1, 2], ["a"])):
            with pytest.raises(DataError):
                fit([1, 0], x, clusters=clusters)


@pytest.mark.slow
class TestCoverage:
    """Intervals of 95 % hold the truth about as often as they say."""

    runs = 1_000

    @pytest.mark.parametrize("groups", [2, 3, 5, 12, 67])
    @pytest.mark.parametrize(("mean", "sd"), [(0.8, 0.05), (0.8, 0.1), (0.8, 0.2), (0.6, 0.15)])
    @pytest.mark.parametrize("equal", [True, False])
    def test_clustered_mean(self, groups: int, mean: float, sd: float, equal: bool) -> None:
        # Paradigms of 100, or 20 to 200, pairs, whose accuracies follow a beta distribution.
        rng, hits, made, rejected, naive = np.random.default_rng(groups), 0, 0, 0, 0
        size = mean * (1 - mean) / sd**2 - 1
        for _ in range(self.runs):
            sizes = np.full(groups, 100) if equal else rng.integers(20, 200, size=groups)
            labels = np.repeat(np.arange(groups), sizes)
            accuracies = rng.beta(mean * size, (1 - mean) * size, size=groups)
            credits = (rng.random(len(labels)) < accuracies[labels]).astype(float)
            found = clustered_mean(credits, labels, proportion=True, against=mean)
            made += found.how.startswith("cluster")
            hits += found.how.startswith("cluster") and found.low <= mean <= found.high
            rejected += found.p < 0.05
            plain = accuracy(credits)
            naive += plain.low <= mean <= plain.high
        assert made > (0.9 if groups == 2 else 0.98) * self.runs
        (row,) = (row for row in table_of("docs/pairs.md", "of 100 pairs each") if row["paradigms"] == str(groups))
        low, high = said("docs/pairs.md", "the same, as in {} to {} % of those data with 100 pairs each")
        if groups == 2 and equal:
            assert low <= round(100 * (1 - made / self.runs)) <= high
        said_to = numbers(row["of 100 pairs each" if equal else "of 20 to 200 pairs"])
        assert min(said_to) - 0.02 <= hits / made <= max(said_to) + 0.02 and rejected == made - hits
        assert naive / self.runs < (0.9 if sd == 0.05 else 0.75)  # what ignoring the clusters costs

    @pytest.mark.parametrize("groups", [2, 5, 12])
    def test_size_of_the_gap_over_paradigms(self, groups: int) -> None:
        """Gaps of sd .15 that average 0: the Cochran–Mantel–Haenszel test rejects in many of such data."""
        rng, rejected, missed, here = np.random.default_rng(groups), 0, 0, 0
        for _ in range(self.runs):
            labels = np.repeat(np.arange(groups), 200)
            side = np.tile(np.arange(200) % 2 == 1, groups)
            gaps = rng.normal(0, 0.15, size=groups)[labels]
            credits = (rng.random(len(labels)) < np.clip(0.7 + gaps * (side - 0.5), 0, 1)).astype(float)
            found = mantel_haenszel_difference(credits, side, labels)
            rejected += found.p < 0.05
            missed += found.low > 0 or found.high < 0
            right = np.array([np.bincount(labels[side == of], credits[side == of]) for of in (True, False)])
            share = right.sum(axis=0) / 200
            variance = 100 * 100 * 200 * share * 200 * (1 - share) / (200**2 * 199)
            here += abs((right[0] - 100 * share).sum()) / np.sqrt(variance.sum()) > 1.96
        # Two paradigms with the very same gap, 3 % of these data, give neither interval nor test.
        sentence = "Where the gaps of paradigms average 0 with sd .15, the test rejects {} to {} % for {} %"
        low, high, level = said("docs/pairs.md", sentence)
        assert level == 5 and low - 1 <= 100 * rejected / self.runs <= high + 1 and rejected == missed
        sentence = (
            "Cochran–Mantel–Haenszel test, which asks about these paradigms alone, {} to {} % of {} such data sets"
        )
        low, high, sets = said("docs/pairs.md", sentence)
        assert low - 0.5 <= 100 * here / self.runs <= high + 0.5 and sets == self.runs

    def test_adjusted_accuracy(self) -> None:
        # logit = 1 − .3·difference + a cluster effect of sd .5; the truth is that of a fit to very much data.
        rng = np.random.default_rng(1)

        def draw(clusters: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int_]]:
            labels = np.repeat(np.arange(clusters), 15)
            x = rng.integers(-3, 4, size=len(labels)).astype(float)
            logit = 1 - 0.3 * x + 0.5 * rng.normal(size=clusters)[labels]
            return (rng.random(len(labels)) < 1 / (1 + np.exp(-logit))).astype(float), x, labels

        truth = adjusted_accuracy(fit(*draw(60_000)[:2])).value
        hits = 0
        for _ in range(self.runs):
            y, x, labels = draw(40)
            found = adjusted_accuracy(fit(y, x, clusters=labels))
            hits += found.low <= truth <= found.high
        assert 0.93 <= hits / self.runs <= 0.98

    def test_paired_difference(self) -> None:
        # Discordant shares .15 and .05 of 80 items; the true difference is .1.
        rng, hits = np.random.default_rng(2), 0
        for _ in range(self.runs):
            kind = rng.choice(3, p=[0.15, 0.05, 0.8], size=80)
            found = paired_difference((kind == 0).astype(float), (kind == 1).astype(float))
            hits += found.low <= 0.1 <= found.high
        assert 0.93 <= hits / self.runs <= 0.98
