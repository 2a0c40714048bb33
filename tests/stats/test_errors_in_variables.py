"""Lines with errors in both quantities: by hand, against total least squares, and what must not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from penchant.errors import DataError, MethodError
from penchant.instruments.amplification.errors_in_variables import (
    Points,
    deming,
    jackknife_error,
    wider_interval,
    wider_p,
)
from penchant.stats.bootstrap import expanded_p, expanded_percentile

Array = NDArray[np.float64]


def points(seed: int, n: int = 30, slope: float = 0.8, noise: tuple[float, float] = (0.5, 0.4)) -> Points:
    rng = np.random.default_rng(seed)
    true = rng.normal(0, 1, n)
    x, y = true + rng.normal(0, noise[0], n), 0.3 + slope * true + rng.normal(0, noise[1], n)
    return Points.of(x, y, np.full(n, noise[0] ** 2), np.full(n, noise[1] ** 2))


def moments(x: Array, y: Array) -> tuple[float, float, float]:
    cov = np.cov(x, y)
    return float(cov[0, 0]), float(cov[0, 1]), float(cov[1, 1])


# Deming's slope -------------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    # Sxx = 2, Sxy = 1, Syy = 2: with equal errors the axis of the ellipse, 1. With λ = 4: (2 − 8 + √(36 + 16))/2.
    assert deming(2, 1, 2, 1) == pytest.approx(1)
    assert deming(2, 1, 2, 4) == pytest.approx((-6 + math.sqrt(52)) / 2)
    assert deming(2, -1, 2, 4) == pytest.approx(-(-6 + math.sqrt(52)) / 2)
    # The two lines of least squares are the ends: y on x, Sxy/Sxx, and the inverse of x on y, Syy/Sxy.
    assert deming(2, 1, 2, 1e12) == pytest.approx(1 / 2)
    assert deming(2, 1, 2, 0) == pytest.approx(2)
    assert deming(2, 0, 3, 1) == 0


@pytest.mark.parametrize("ratio", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("slope", [-1.3, 0.4, 2.0])
def test_it_is_the_line_nearest_to_the_points(ratio: float, slope: float) -> None:
    """With y in units of its error, the first axis of the points (total least squares), which scipy.odr finds too."""
    drawn = points(3, slope=slope)
    table = np.column_stack([drawn.x, drawn.y / math.sqrt(ratio)])
    axis = np.linalg.svd(table - table.mean(axis=0))[2][0]
    expected = math.sqrt(ratio) * axis[1] / axis[0]
    assert float(deming(*moments(drawn.x, drawn.y), ratio)) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.floats(0.1, 5), st.floats(-0.99, 0.99), st.floats(0.1, 5), st.floats(0.01, 50))
def test_exchanging_the_axes_turns_the_line_over(xx: float, r: float, yy: float, ratio: float) -> None:
    xy = r * math.sqrt(xx * yy)
    if abs(xy) > 1e-3:
        assert float(deming(xx, xy, yy, ratio)) * float(deming(yy, xy, xx, 1 / ratio)) == pytest.approx(1, rel=1e-6)


# With known errors ----------------------------------------------------------------------------------------------------


def test_with_scatter_it_is_least_squares_freed_of_attenuation() -> None:
    """x = 0, 1, 2, 3 with error variance ⅓: Sxx = 5/3, so 4/3 is true. y = 0, 2, 1, 3: Sxy = 4/3, Syy = 5/3."""
    own = Points.of([0, 1, 2, 3], [0, 2, 1, 3], [1 / 3] * 4, [0.1] * 4).line()
    assert own.slope[0] == pytest.approx(1)  # (4/3)/(4/3); about the line 5/3 − 4/3 = ⅓ is left, above 0.1
    assert own.exact[0] == pytest.approx(4 / 5)
    assert own.correlation[0] == pytest.approx(4 / 5)
    assert own.reliability[0] == pytest.approx(4 / 5)
    assert own.slope[0] == pytest.approx(float(deming(5 / 3, 4 / 3, 5 / 3, (1 / 3) / (1 / 3))))  # λ with scatter


def test_without_scatter_it_is_demings_line_of_the_known_errors() -> None:
    own = Points.of([0, 1, 2, 3], [0, 2, 1, 3], [1 / 3] * 4, [0.5] * 4).line()  # ⅓ is left, less than 0.5
    assert own.slope[0] == pytest.approx(float(deming(5 / 3, 4 / 3, 5 / 3, 0.5 / (1 / 3))))
    # At the border both are the same.
    border = Points.of([0, 1, 2, 3], [0, 2, 1, 3], [1 / 3] * 4, [1 / 3] * 4).line()
    assert border.slope[0] == pytest.approx(1)


def test_without_errors_of_x_it_is_least_squares() -> None:
    drawn = points(8)
    for error_y in (0.0, 0.5, 100.0):
        own = Points.of(drawn.x, drawn.y, np.zeros(30), np.full(30, error_y)).line()
        assert own.slope[0] == pytest.approx(np.polyfit(drawn.x, drawn.y, 1)[0])
        assert own.slope[0] == own.exact[0]
        assert own.reliability[0] == 1
    assert own.correlation[0] == pytest.approx(np.corrcoef(drawn.x, drawn.y)[0, 1])


def test_x_that_varies_no_more_than_its_errors_has_no_slope() -> None:
    own = Points.of([0, 1, 2, 3], [0, 2, 1, 3], [2.0] * 4, [0.1] * 4).line()
    assert own.slope[0] == math.inf
    assert own.reliability[0] < 0
    turned = Points.of([0, 1, 2, 3], [0, -2, -1, -3], [2.0] * 4, [0.1] * 4).line()
    assert turned.slope[0] == -math.inf


def test_scatter_that_is_taken_for_error_makes_a_line_too_steep() -> None:
    """The reason to estimate scatter (Carroll & Ruppert 1996): a planted slope of ½, scatter of .4, errors known."""
    slopes, naive = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        true = rng.normal(0, 0.7, 60)
        x, y = true + rng.normal(0, 0.35, 60), 0.5 * true + rng.normal(0, 0.4, 60) + rng.normal(0, 0.1, 60)
        slopes.append(float(Points.of(x, y, np.full(60, 0.35**2), np.full(60, 0.01)).line().slope[0]))
        naive.append(float(deming(*moments(x, y), 0.01 / 0.35**2)))
    assert np.mean(slopes) == pytest.approx(0.5, abs=0.02)
    assert np.mean(naive) > 0.8


# Resamples ------------------------------------------------------------------------------------------------------------


def test_weights_are_repeated_points() -> None:
    drawn = points(5, n=12)
    times = np.random.default_rng(1).integers(0, 3, (4, 12))
    whole = drawn.lines(times)
    for row, counts in enumerate(times):
        again = Points.of(*(np.repeat(column, counts) for column in (drawn.x, drawn.y, drawn.error_x, drawn.error_y)))
        line = again.line()
        for name in ("slope", "exact", "correlation", "reliability"):
            assert getattr(whole, name)[row] == pytest.approx(getattr(line, name)[0])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_points_does_not_change_a_bit(seed: int) -> None:
    drawn = points(seed)
    order = np.random.default_rng(seed + 1).permutation(len(drawn))
    again = Points.of(*(column[order] for column in (drawn.x, drawn.y, drawn.error_x, drawn.error_y)))
    draws = [each.resampled(np.random.default_rng(2), 50) for each in (drawn, again)]
    for name in ("slope", "exact", "correlation", "reliability"):
        assert getattr(drawn.line(), name).tobytes() == getattr(again.line(), name).tobytes()
        assert getattr(draws[0], name).tobytes() == getattr(draws[1], name).tobytes()


def test_units_scale_and_shift_as_they_should() -> None:
    drawn = points(4)
    moved = Points.of(1e6 + 3 * drawn.x, 1e6 - 2 * drawn.y, 9 * drawn.error_x, 4 * drawn.error_y)
    assert moved.line().slope[0] == pytest.approx(-2 / 3 * drawn.line().slope[0])
    assert moved.line().correlation[0] == pytest.approx(-drawn.line().correlation[0])
    assert moved.line().reliability[0] == pytest.approx(drawn.line().reliability[0])


def test_what_is_no_point() -> None:
    with pytest.raises(DataError, match="NaN"):
        Points.of([1, math.nan], [1, 2], [0, 0], [0, 0])
    with pytest.raises(DataError, match="differ in length: 2 and 1 items"):
        Points.of([1, 2], [1], [0, 0], [0, 0])
    with pytest.raises(DataError, match="a variance must not be negative"):
        Points.of([1, 2], [1, 2], [0, -1], [0, 0])
    with pytest.raises(DataError, match="two points"):
        Points.of([1], [1], [0], [0]).line()
    with pytest.raises(MethodError):
        points(1).resampled(np.random.default_rng(), 0)


# Intervals -----------------------------------------------------------------------------------------------------------


def test_the_jackknife_is_that_of_lines_without_each_point() -> None:
    drawn = points(6, n=9)
    columns = (drawn.x, drawn.y, drawn.error_x, drawn.error_y)
    each = [float(Points.of(*(np.delete(column, i) for column in columns)).line().slope[0]) for i in range(9)]
    assert drawn.left_out().slope == pytest.approx(each)
    mean = sum(each) / 9
    assert jackknife_error(drawn.left_out().slope) == pytest.approx(
        math.sqrt(8 / 9 * sum((value - mean) ** 2 for value in each))
    )
    assert math.isnan(jackknife_error(np.array([1.0, math.inf])))


def test_each_end_is_the_wider_of_two() -> None:
    draws = np.random.default_rng(3).gamma(4, 0.25, 4000)  # skew to the right, about 1
    narrow, wide = expanded_percentile(draws, 20, 0.95), (1 - 2.093 * 0.4, 1 + 2.093 * 0.4)
    low, high = wider_interval(1.0, draws, 0.4, 20, 0.95)
    assert (low, high) == pytest.approx((min(narrow[0], wide[0]), max(narrow[1], wide[1])), abs=1e-3)
    assert low == pytest.approx(wide[0], abs=1e-3) and high == pytest.approx(narrow[1])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9999), st.floats(0.02, 1.0), st.floats(-1, 3))
@example(7358, 0.5, 2.375)  # a gap between two draws at the end
def test_interval_and_test_agree(seed: int, error: float, against: float) -> None:
    draws = np.random.default_rng(seed).gamma(4, 0.25, 999)
    low, high = wider_interval(1.0, draws, error, 20, 0.95)
    p = wider_p(1.0, draws, error, 20, against)
    if abs(p - 0.05) > 0.006:  # at the ends, interpolated between draws, both are within a draw (0.003) of each other
        assert (p < 0.05) == (not low <= against <= high)


def test_resamples_without_an_end_give_no_interval() -> None:
    draws = np.concatenate([np.full(100, np.inf), np.random.default_rng(1).normal(1, 0.2, 900)])
    assert np.isnan(wider_interval(1.0, draws, 0.2, 20, 0.95)).all()
    few = np.concatenate([np.full(5, np.inf), np.random.default_rng(1).normal(1, 0.2, 995)])
    assert np.isfinite(wider_interval(1.0, few, 0.2, 20, 0.95)).all()
    assert np.isnan(wider_interval(1.0, few, math.nan, 20, 0.95)).all()
    assert wider_p(1.0, np.ones(99), 0.0, 20, 1.0) == 1
    assert wider_p(1.0, np.ones(99), 0.0, 20, 0.5) == pytest.approx(expanded_p(np.ones(99), 20, 0.5))
