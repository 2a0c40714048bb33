"""The difference of two sets that may share items: against Newcombe's interval, by hand, and simulated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from pages import said
from penchant.instruments.minimal_pairs.strata_means import overlapping_difference
from penchant.stats.intervals import independent_difference

Record = Callable[[str, object], None]
Flags = NDArray[np.bool_]


def sides(only_first: int, both: int, only_second: int) -> tuple[Flags, Flags]:
    n = only_first + both + only_second
    place = np.arange(n)
    return place < only_first + both, place >= only_first


def test_disjoint_sets_have_newcombes_interval() -> None:
    y = np.repeat([1.0, 0.0, 1.0, 0.0], [14, 6, 11, 29])
    found = overlapping_difference(y, *sides(20, 0, 40), ["a"] * 60)
    other = independent_difference(y[:20], y[20:])
    assert (found.value, found.low, found.high) == pytest.approx((other.value, other.low, other.high))


def test_a_set_inside_the_other_is_held_against_the_rest_of_it() -> None:
    # 30 of 50 are kept: kept − all = 20/50 of (kept − left out), interval and test included.
    y = np.repeat([1.0, 0.0, 1.0, 0.0], [24, 6, 9, 11])
    found = overlapping_difference(y, *sides(0, 30, 20), ["a"] * 50)
    rest = independent_difference(y[:30], y[30:])
    assert found.value == pytest.approx(24 / 30 - 33 / 50)
    assert (found.value, found.low, found.high) == pytest.approx(
        tuple(0.4 * each for each in (rest.value, rest.low, rest.high))
    )
    assert found.n == 50


def test_strata_as_a_sample_have_the_t_test_of_their_differences() -> None:
    rng = np.random.default_rng(2)
    y = (rng.random(600) < 0.6).astype(float)
    first, second = (np.tile(side, 6) for side in sides(30, 20, 50))
    of = np.repeat(np.arange(6), 100)
    gaps = [y[first & (of == s)].mean() - y[second & (of == s)].mean() for s in range(6)]
    test = scipy_stats.ttest_1samp(gaps, 0)
    found = overlapping_difference(y, first, second, of)
    bounds = test.confidence_interval(0.95)
    assert (found.value, found.low, found.high, found.p) == pytest.approx(
        (np.mean(gaps), bounds.low, bounds.high, test.pvalue)
    )


def test_the_same_items_have_no_interval_and_a_lacking_side_is_counted() -> None:
    same = overlapping_difference([1.0, 0.0, 1.0], *sides(0, 3, 0), ["a"] * 3)
    assert same.value == 0 and math.isnan(same.low) and "same items" in same.note
    lacking = overlapping_difference([1.0, 0, 1, 0], [True, False, True, True], [False, True, False, False], [*"aabb"])
    (note,) = (note for note in lacking.notes if note.code == "strata-lack-a-side")
    assert lacking.n == 2 and (note.params["lost"], note.params["of"], note.params["items"]) == (1, 2, 2)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from("fbo"), st.integers(0, 3)), min_size=2))
def test_the_test_agrees_with_the_interval(items: list[tuple[float, str, int]]) -> None:
    y, of = [item[0] for item in items], [item[2] for item in items]
    first, second = ([item[1] in kinds for item in items] for kinds in ("fb", "bo"))
    found = overlapping_difference(y, first, second, of)
    turned = overlapping_difference(y, second, first, of)
    assert turned.value == pytest.approx(-found.value, nan_ok=True) and turned.p == pytest.approx(found.p, nan_ok=True)
    if math.isnan(found.low):
        assert found.note
        return
    assert found.low <= found.value + 1e-12 and found.value <= found.high + 1e-12
    assert (found.p < 0.05) == (not found.low <= 0 <= found.high) or found.p == pytest.approx(0.05, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [(0, 60, 140), (0, 150, 50), (100, 0, 200), (100, 100, 100)])
@pytest.mark.parametrize("strata", [1, 3, 10])
def test_size_and_coverage(parts: tuple[int, int, int], strata: int, record_property: Record) -> None:
    rng = np.random.default_rng(strata)
    sets, rejected, covered = 1000, 0, 0
    first, second = (np.tile(side, strata) for side in sides(*parts))
    of = np.repeat(np.arange(strata), sum(parts))
    shares = np.linspace(0.6, 0.9, strata)[of]
    # Shared items and those of the first set are harder by .1 where the difference is not 0.
    harder = np.where(first, shares - 0.1, shares)
    truth = np.mean([(harder[first & (of == s)].mean() - harder[second & (of == s)].mean()) for s in range(strata)])
    for _ in range(sets):
        draws = rng.random(len(of))
        null = overlapping_difference((draws < shares).astype(float), first, second, of)
        other = overlapping_difference((draws < harder).astype(float), first, second, of)
        rejected += null.p <= 0.05
        covered += other.low <= truth <= other.high
    record_property("size", float(rejected / sets))
    record_property("covered", float(covered / sets))
    print(f"{parts}, {strata} strata: size {rejected / sets:.3f}, covered {covered / sets:.3f}")  # noqa: T201
    page = "docs/pairs.md"
    low, high, level = said(page, "the test rejected {} to {} % of true hypotheses at {} %")
    assert level == 5 and low <= 100 * rejected / sets <= high
    low, high = said(page, "the interval covered {} to {} %.")
    assert low <= 100 * covered / sets <= high
