"""Shares over strata that are no sample: against Wilson's interval, drawn data and hand-worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from penchant.stats.fixed_strata import fixed_strata_share
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
    assert found.how == "stratified Wilson score over 4 paradigms as they are" and found.n == 72
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
