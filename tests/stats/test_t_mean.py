"""The t interval and test of a mean: against scipy, by hand, and on simulated data."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from penchant.report.tables import Number
from penchant.stats.intervals import HELD, t_mean

Array = NDArray[np.float64]

few = st.lists(st.integers(-20, 20).map(lambda value: value / 10), min_size=4, max_size=12)
EARLY = [-0.22, -0.031, -0.005, -0.003] + [0.0] * 16
"""β of twenty sentences in another variety than the model's."""


def test_of_one_group_it_is_that_of_scipy() -> None:
    values = np.random.default_rng(3).exponential(size=25)
    found, theirs = t_mean(values, against=0.5), stats.ttest_1samp(values, 0.5)
    interval = theirs.confidence_interval(0.95)
    assert (found.value, found.p) == pytest.approx((values.mean(), theirs.pvalue))
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.how, found.row()["test"]) == ("t interval over 25 sentences, 24 df", "t test over sentences")
    assert math.isnan(t_mean(values).p) and t_mean(values).test is None


def test_of_two_groups_it_is_welchs() -> None:
    """With signs turned in one of two groups of one size, the mean is half the difference of the groups' means."""
    rng = np.random.default_rng(4)
    one, other = rng.normal(1, 1, 8), rng.normal(0, 3, 8)
    found = t_mean([*one, *-other], strata="a" * 8 + "b" * 8, against=0)
    welch = stats.ttest_ind(one, other, equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert found.p == pytest.approx(welch.pvalue)
    assert (2 * found.low, 2 * found.high) == pytest.approx((interval.low, interval.high))


def test_groups_that_vary_by_different_amounts_have_satterthwaites_degrees_of_freedom() -> None:
    parts = [np.array([1.0, 3, 5, 7]), np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), np.array([2.0, 2.5])]
    shares = [len(part) / 12 for part in parts]
    errors = [w**2 * part.var(ddof=1) / len(part) for w, part in zip(shares, parts, strict=True)]
    df = sum(errors) ** 2 / sum(e**2 / (len(part) - 1) for e, part in zip(errors, parts, strict=True))
    found = t_mean(np.concatenate(parts), strata=np.repeat([0, 1, 2], [4, 6, 2]))
    assert found.how == f"t interval over 12 sentences within 3 groups, {df:.4g} df" and 3 < df < 4
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, df) * sum(errors) ** 0.5)


@settings(max_examples=150, deadline=None)
@given(few, st.sampled_from([0.95, 0.9, 0.8]), st.sampled_from([0.0, 0.5]))
def test_p_and_interval_agree(values: list[float], level: float, truth: float) -> None:
    assume(len(set(values)) > 1)
    found = t_mean(values, level=level, bounds=(-2, 2), against=truth)
    assert 0 < found.p <= 1 and found.low <= found.value <= found.high
    outside = truth < found.low or truth > found.high
    assume(min(abs(truth - found.low), abs(truth - found.high)) > 1e-9)
    assert (found.p < 1 - level) == outside


def test_sparse_values_give_the_share_that_differs() -> None:
    """Mean −.01295, sd .04923 of twenty: half the width is 2.093·.04923/√20 = .02304. Wilson's interval of 4 of 20 is
    8 to 42 %."""
    found = t_mean(EARLY, bounds=(-1, 1), against=0)
    assert (found.low, found.high) == pytest.approx((-0.03599, 0.01009), abs=1e-5)
    share = "the mean says little, since 16 of 20 sentences have the value 0; 20% [8%, 42%] (Wilson) have another"
    share += " (15 recommended)"
    assert found.note == share
    turned = t_mean([-value for value in EARLY], bounds=(-1, 1), against=0)
    assert (turned.low, turned.high, turned.p) == pytest.approx((-found.high, -found.low, found.p))
    assert turned.note == share
    assert "13 of 20" not in t_mean([0.0] * 13 + [0.1 * i for i in range(1, 8)]).note
    assert t_mean([0.0] * 60 + [0.01 * (-1) ** i * i for i in range(1, 16)]).note == ""  # fifteen others do


def test_the_interval_ends_where_the_scale_does() -> None:
    two = t_mean([0.25, 0.75], bounds=(0, 1))
    assert (two.low, two.high) == (0, 1) and "end of the scale" in two.note
    equal = t_mean([0.25] * 5, bounds=(0, 1), against=0)
    assert math.isnan(equal.low) and math.isnan(equal.p) and "same value" in equal.note and equal.test is None


def test_zero_is_zero() -> None:
    """No bound of 1e-17, and none of −0.0."""
    low = t_mean([0.0, 0.1, 0.2, 0.9] * 3, bounds=(0, 1), level=0.999).low
    assert low == 0 and math.copysign(1, low) == 1
    assert str(Number(-0.0, -0.004, 0.004)) == "0.00 [0.00, 0.00]"
    assert str(Number(-0.0004, -0.001, 0.0, form="+.3f")) == "+0.000 [-0.001, +0.000]"


def test_skew_values_are_a_caution() -> None:
    rng = np.random.default_rng(0)
    far = np.concatenate([[1.0, 1], rng.normal(0, 0.05, 18)])  # skewness 2.6, as in the row of .1
    note = "approximate: skewed values; about 88% of such 95 % intervals from 20 words cover the mean"
    note += " (120 words recommended)"
    assert t_mean(far, noun="words").note == note
    assert t_mean(-far, noun="words").note == note
    assert "about 64%" in t_mean([1.0, *rng.normal(0, 0.05, 19)], bounds=(-1, 1)).note
    assert t_mean(np.tile(far, 6)).note == ""
    assert t_mean(rng.normal(size=20)).note == ""


def far_items(share: float) -> Callable[[np.random.Generator, int], Array]:
    """1 for a share of all items, near 0 for the others."""
    return lambda rng, n: np.where(rng.random(n) < share, 1.0, rng.normal(0, 0.05, n))


@pytest.mark.parametrize(
    ("least", "share", "n"), [(1.2, 0.2, 20), (2.0, 0.1, 20), (2.0, 0.1, 120), (3.2, 0.05, 40), (4.7, 0.02, 120)]
)
def test_the_share_that_holds_is_the_one_that_is_told(least: float, share: float, n: int) -> None:
    rng, held, sets = np.random.default_rng(11), 0, 1_500
    for _ in range(sets):
        found = t_mean(far_items(share)(rng, n))
        held += found.low <= share <= found.high
    told = HELD[least][n]
    assert held / sets == pytest.approx(told, abs=4 * math.sqrt(told * (1 - told) / sets) + 0.005)
