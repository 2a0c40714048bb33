"""Properties of the statistics that hold for any data."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penchant.instruments.minimal_pairs.strata_means import mantel_haenszel_difference
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import holm, mcnemar, sign_flip
from penchant.stats.intervals import accuracy, clustered_mean, independent_difference, paired_difference
from penchant.stats.length_adjustment import adjusted_accuracy, fit, length_slope

quick = settings(max_examples=60, deadline=None)

credit = st.sampled_from([0.0, 0.5, 1.0])
credits = st.lists(credit, min_size=1, max_size=30)
level = st.floats(0.8, 0.999)
pairs = st.lists(st.tuples(credit, credit), min_size=1, max_size=30)
number = st.floats(-100, 100).map(lambda value: round(value, 3))
clustered = st.lists(st.tuples(number, st.integers(0, 4)), min_size=1, max_size=25)
sided = st.lists(st.tuples(credit, st.booleans(), st.integers(0, 3)), min_size=1, max_size=40)
lengths = st.lists(st.tuples(credit, st.integers(-5, 5), st.integers(0, 3)), min_size=1, max_size=30)


def bounded(found: Estimate, least: float, most: float) -> None:
    """The interval lies in its range around the value, or is NaN with the reason."""
    if math.isnan(found.low):
        assert math.isnan(found.high) and found.note
    else:
        assert least <= found.low <= found.value + 1e-9
        assert found.value - 1e-9 <= found.high <= most
    assert math.isnan(found.p) or 0 <= found.p <= 1


def mirrored(one: Estimate, other: Estimate) -> None:
    """The second estimate is the first with its sign turned."""
    assert other.value == pytest.approx(-one.value, abs=1e-9, nan_ok=True)
    assert other.low == pytest.approx(-one.high, abs=1e-9, nan_ok=True)
    assert other.high == pytest.approx(-one.low, abs=1e-9, nan_ok=True)
    assert other.p == pytest.approx(one.p, abs=1e-9, nan_ok=True)


@quick
@given(credits, level, st.randoms())
def test_accuracy(items: list[float], level: float, random: Random) -> None:
    found = accuracy(items, level=level)
    bounded(found, 0, 1)
    assert found.low < 1 and found.high > 0 and found.n == len(items)
    wrong = accuracy([1 - item for item in items], level=level)
    assert (wrong.low, wrong.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-12)
    random.shuffle(items)
    assert accuracy(items, level=level) == found


@quick
@given(credits, credits, level)
def test_independent_difference(a: list[float], b: list[float], level: float) -> None:
    found = independent_difference(a, b, level=level)
    bounded(found, -1, 1)
    mirrored(found, independent_difference(b, a, level=level))
    again = independent_difference(sorted(a), sorted(b), level=level)
    assert (again.value, again.low, again.high, again.p) == pytest.approx(
        (found.value, found.low, found.high, found.p), nan_ok=True
    )


@quick
@given(pairs, level)
def test_paired_difference_and_mcnemar(items: list[tuple[float, float]], level: float) -> None:
    a, b = (list(side) for side in zip(*items, strict=True))
    found = paired_difference(a, b, level=level)
    bounded(found, -1, 1)
    mirrored(found, paired_difference(b, a, level=level))
    a_sorted, b_sorted = (list(side) for side in zip(*sorted(items), strict=True))
    again = paired_difference(a_sorted, b_sorted, level=level)
    assert (again.value, again.low, again.high) == pytest.approx((found.value, found.low, found.high), nan_ok=True)
    assert 0 < mcnemar(a, b) <= 1 and mcnemar(a, b) == mcnemar(b, a) == mcnemar(a_sorted, b_sorted)


@quick
@given(clustered)
def test_clustered_mean(items: list[tuple[float, int]]) -> None:
    values, labels = (list(side) for side in zip(*items, strict=True))
    found = clustered_mean(values, labels)
    assert found.value == pytest.approx(float(np.mean(values)), abs=1e-9)
    if math.isnan(found.low):
        assert found.note
    else:
        assert found.low <= found.value <= found.high
    values, labels = (list(side) for side in zip(*sorted(items), strict=True))
    again = clustered_mean(values, [f"group {label}" for label in labels])
    assert (again.low, again.high) == pytest.approx((found.low, found.high), rel=1e-6, abs=1e-9, nan_ok=True)


@quick
@given(clustered)
def test_sign_flip(items: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in items])
    p = sign_flip(values, seed=0, draws=200)
    assert 0 < p <= 1
    assert sign_flip(-values, seed=0, draws=200) == p
    assert sign_flip(values * 1024, seed=0, draws=200) == p
    assert sign_flip(values[::-1], seed=0, draws=200) == p


@quick
@given(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12))
def test_holm(p: list[float]) -> None:
    adjusted = holm(p)
    assert np.array_equal(np.isnan(adjusted), np.isnan(p))
    pairs = sorted((raw, new) for raw, new in zip(p, adjusted, strict=True) if not math.isnan(raw))
    assert all(raw <= new <= min(1, len(pairs) * raw) or new == raw for raw, new in pairs)
    assert [new for _, new in pairs] == sorted(new for _, new in pairs)


@quick
@given(sided)
def test_mantel_haenszel(items: list[tuple[float, bool, int]]) -> None:
    def run(rows: list[tuple[float, bool, int]], turn: bool = False) -> Estimate:
        return mantel_haenszel_difference(
            [row[0] for row in rows],
            [row[1] != turn for row in rows],
            [row[2] for row in rows],
        )

    found = run(items)
    assert math.isnan(found.value) or -1 <= found.value <= 1
    assert math.isnan(found.low) or -1 <= found.low <= found.high <= 1
    assert found.note or not math.isnan(found.low)
    turned = run(items, turn=True)
    assert turned.value == pytest.approx(-found.value, nan_ok=True)
    assert turned.p == pytest.approx(found.p, nan_ok=True) and turned.n == found.n
    again = run(sorted(items))
    assert (again.value, again.low, again.high, again.p) == pytest.approx(
        (found.value, found.low, found.high, found.p), abs=1e-9, nan_ok=True
    )


@quick
@given(lengths, st.booleans())
def test_logistic(items: list[tuple[float, int, int]], by_cluster: bool) -> None:
    y, x, labels = (np.array(side) for side in zip(*items, strict=True))
    groups = labels if by_cluster else None
    found = adjusted_accuracy(fit(y, x, clusters=groups))
    bounded(found, 0, 1)
    # It converges for any data, also separated; only a constant other than 0 cannot be answered.
    assert math.isnan(found.value) == (len(set(x)) == 1 and x[0] != 0)
    bounded(length_slope(fit(y, x, clusters=groups)), -math.inf, math.inf)
    # Wrong for right turns every coefficient; a longer token shortens the slope and nothing else.
    one, wrong, longer = (fit(*data, clusters=groups) for data in ((y, x), (1 - y, x), (y, 4.0 * x)))
    for changed, expected in (
        (wrong, (-one.intercept, -one.slope, one.intercept_se, one.slope_se)),
        (longer, (one.intercept, one.slope / 4, one.intercept_se, one.slope_se / 4)),
    ):
        numbers = changed.intercept, changed.slope, changed.intercept_se, changed.slope_se
        assert numbers == pytest.approx(expected, abs=1e-6, rel=1e-6, nan_ok=True)
