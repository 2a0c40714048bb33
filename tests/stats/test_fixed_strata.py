"""Shares over strata that are no sample: against Wilson's interval, drawn data and hand-worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.strata_means import fixed_strata_difference, fixed_strata_share
from penchant.stats.intervals import independent_difference as newcombe
from penchant.stats.intervals import wilson


def data(*strata: tuple[int, int]) -> tuple[NDArray[np.float64], list[int]]:
    """Credits and strata, each stratum as (right, items)."""
    credit = np.concatenate([np.arange(n) < right for right, n in strata]).astype(np.float64)
    return credit, [i for i, (_, n) in enumerate(strata) for _ in range(n)]


@pytest.mark.parametrize("strata", [[(14, 20)], [(0, 7)], [(5, 9)] * 4, [(18, 18)] * 3])
def test_alike_strata_have_wilsons_interval(strata: list[tuple[int, int]]) -> None:
    credit, of = data(*strata)
    found = fixed_strata_share(credit, of, against=0.5)
    assert (found.low, found.high) == pytest.approx(wilson(credit.mean(), len(credit), 0.95), abs=1e-9)
    z = (credit.mean() - 0.5) / np.sqrt(0.25 / len(credit))  # the score test
    assert found.p == pytest.approx(2 * scipy.stats.norm.sf(abs(z)))


def test_strata_that_differ_leave_less_to_chance() -> None:
    """Of 18 and 18 and 18 and 3 of 18: large samples have the variance within strata alone."""
    credit, of = data((18, 18), (18, 18), (18, 18), (3, 18))
    found = fixed_strata_share(credit, of, against=0.5, noun="paradigms")
    low, high = wilson(57 / 72, 72, 0.95)
    assert low < found.low < found.value == 57 / 72 < found.high < high
    assert found.how == "stratified Wilson score over these 4 paradigms" and found.n == 72
    many, within = data((900, 1000), (500, 1000), (100, 500))
    found = fixed_strata_share(many, within, against=0.5)
    error = np.sqrt(sum((n / 2500) ** 2 * s * (1 - s) / n for n, s in ((1000, 0.9), (1000, 0.5), (500, 0.2))))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.01)


@pytest.mark.parametrize("strata", [[(18, 18), (3, 18)], [(2, 5), (4, 15), (9, 9)], [(1, 6), (0, 8)]])
def test_the_test_rejects_where_the_interval_leaves_out(strata: list[tuple[int, int]]) -> None:
    credit, of = data(*strata)
    found = fixed_strata_share(credit, of, against=0.5)
    for level, left_out in ((1 - found.p * 1.01, True), (1 - found.p * 0.99, False)):
        at = fixed_strata_share(credit, of, against=0.5, level=level)
        assert (at.low < 0.5 < at.high) != left_out


def test_what_is_exact_and_what_is_nothing() -> None:
    credit, of = data((5, 10), (3, 6))
    assert fixed_strata_share(credit, of, against=0.5).p == 1.0
    assert np.isnan(fixed_strata_share([], [], against=0.5).value)
    shuffled = np.random.default_rng(0).permutation(len(credit))
    other = fixed_strata_share(credit[shuffled], np.array(of)[shuffled].tolist(), against=0.4)
    assert other == fixed_strata_share(credit, of, against=0.4)
    assert fixed_strata_share(np.ones(9_000), [0] * 4_000 + [1] * 5_000, against=0.5).p == 0.0


# Differences --------------------------------------------------------------------------------------------------------


def sides(*strata: tuple[int, int, int, int]) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[int]]:
    """Credits, exposure and strata, each stratum as (right, items) of the exposed and of the others."""
    parts = [(right, n, exposed) for a, m, b, n_ in strata for right, n, exposed in ((a, m, True), (b, n_, False))]
    credit = np.concatenate([np.arange(n) < right for right, n, _ in parts]).astype(np.float64)
    exposed = np.concatenate([np.full(n, kind) for _, n, kind in parts])
    return credit, exposed, [i // 2 for i, (_, n, _) in enumerate(parts) for _ in range(n)]


@pytest.mark.parametrize("of", [(3, 5, 9, 20), (0, 4, 4, 4), (7, 7, 2, 9)])
def test_the_difference_of_one_stratum_is_newcombes(of: tuple[int, int, int, int]) -> None:
    credit, exposed, strata = sides(of)
    found, other = fixed_strata_difference(credit, exposed, strata), newcombe(credit[exposed], credit[~exposed])
    assert (found.value, found.low, found.high) == pytest.approx((other.value, other.low, other.high), abs=1e-9)
    assert found.n == of[1] + of[3]


def test_a_difference_within_strata_worked_by_hand() -> None:
    """Large strata: the weighted mean of differences, with its variance within strata."""
    credit, exposed, strata = sides((640, 1000, 600, 1000), (250, 500, 780, 1500))
    weights = np.array([1000 * 1000 / 2000, 500 * 1500 / 2000])
    weights /= weights.sum()
    found = fixed_strata_difference(credit, exposed, strata, noun="paradigms")
    assert found.value == pytest.approx(weights @ [0.04, -0.02])
    variance = weights**2 @ [0.2304 / 1000 + 0.24 / 1000, 0.25 / 500 + 0.2496 / 1500]
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(variance), rel=0.01)
    assert found.p == pytest.approx(2 * scipy.stats.norm.sf(abs(found.value) / np.sqrt(variance)), rel=0.01)
    turned = fixed_strata_difference(credit, ~exposed, strata)
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))


def test_strata_of_one_kind_say_nothing_of_a_difference() -> None:
    both = sides((3, 5, 9, 20))
    credit, exposed, strata = sides((3, 5, 9, 20), (4, 4, 0, 0))
    one, two = fixed_strata_difference(*both), fixed_strata_difference(credit, exposed, strata)
    assert (one.value, one.low, one.high, one.n) == (two.value, two.low, two.high, two.n)
    assert np.isnan(fixed_strata_difference([1.0, 0.0], [True, True], ["a", "b"]).value)


@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=5
    )
)
def test_the_test_of_a_difference_agrees_with_its_interval(drawn: list[tuple[int, int, int, int]]) -> None:
    credit, exposed, strata = sides(*((min(a, m), m, min(b, n), n) for m, a, n, b in drawn))
    found = fixed_strata_difference(credit, exposed, strata)
    assert found.low <= found.value <= found.high and 0 <= found.p <= 1
    if abs(found.p - 0.05) > 1e-6:
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def test_a_difference_within_few_strata_holds_the_truth() -> None:
    """Four strata of 1 to 4 exposed and 8 others, the truth 0: at most some 5 of 100 intervals leave it out."""
    rng = np.random.default_rng(5)
    truth, out = np.array([0.2, 0.5, 0.7, 0.9]), 0
    for _ in range(600):
        right = rng.binomial([(m, 8) for m in (1, 2, 3, 4)], truth[:, None]).tolist()
        drawn = [(one, m, other, 8) for m, (one, other) in enumerate(right, 1)]
        found = fixed_strata_difference(*sides(*drawn))
        out += not found.low <= 0 <= found.high
    assert out / 600 < 0.075
