"""The interval of a standard deviation: the formula written out, invariants, and coverage with calibrated ratings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special

from pages import number, table_of
from penchant.instruments.values.calibration import lines, rating, resampled_lines
from penchant.stats.sd_interval import spread_interval

Array = NDArray[np.float64]


def test_bonett_by_hand() -> None:
    # −2 −1 0 1 2: squares 10, fourth powers 34, γ = 5·34/100 = 1.7; c = 5/(5 − 1.95996); the trimmed mean is 0.
    c = 5 / (5 - 1.959963984540054)
    half = 1.959963984540054 * math.sqrt(c * c * (1.7 - 2 / 5) / 4 + 4 * 0.01)
    expected = [math.sqrt(math.exp(math.log(c * 2.5) + side * half)) for side in (-1, 1)]
    assert spread_interval(np.arange(-2.0, 3), 0.95, 0.01) == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(st.integers(5, 30), st.integers(0, 999), st.floats(0.1, 9), st.floats(-5, 5), st.floats(0, 0.2))
def test_scale_shift_order_and_noise(n: int, seed: int, factor: float, shift: float, noise: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    low, high = spread_interval(values, 0.95, noise)
    again = spread_interval(shift - factor * rng.permutation(values), 0.95, noise)
    assert again == pytest.approx((factor * low, factor * high), rel=1e-6)
    exact = spread_interval(values, 0.95)
    assert low <= exact[0] <= exact[1] <= high
    wider = spread_interval(values, 0.99, noise)
    assert n < 9 or (wider[0] <= low and high <= wider[1])


def test_what_has_no_interval() -> None:
    for values in ([1.0, 2, 3, 4], [3.0] * 9, []):
        assert np.isnan(spread_interval(np.array(values), 0.95)).all()


RESIDUALS = {
    "normal": lambda rng, n: 0.4 + 0.8 * rng.normal(size=n),
    "wide": lambda rng, n: 2 * rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(1, n) - 1.2,
    "at the end of the scale": lambda rng, n: 1.2 + 0.5 * rng.normal(size=n),
    "two camps": lambda rng, n: rng.choice([-1.2, 1.2], n) + 0.3 * rng.normal(size=n),
}

ROWS = {"normal": "normal, sd .8", "wide": "normal, sd 2", "skewed": "skewed (exponential)"}
"""What the guide calls them, where it has another name."""


def clauses(rng: np.random.Generator, residuals: Array) -> tuple[Array, Array]:
    x = rng.normal(-8, 2, len(residuals))
    return x, 0.9 * x + 0.6 * residuals


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 9, 20])
@pytest.mark.parametrize("shape", RESIDUALS)
def test_coverage(shape: str, n: int) -> None:
    """Ratings calibrated on 100 neutral statements; the truth is the sd under the true calibration."""
    truth = float(rating(special.ndtr(RESIDUALS[shape](np.random.default_rng(0), 400_000))).std())
    rng, held = np.random.default_rng(n), []
    for seed in range(1000):
        x, y = clauses(rng, rng.normal(size=100))
        own = clauses(rng, RESIDUALS[shape](rng, n))
        ratings = rating(lines(x, y, np.ones((1, 100)), "origin").agreement(*own)[0])
        draws = rating(resampled_lines(x, y, "origin", seed=seed, resamples=300).agreement(*own))
        low, high = spread_interval(ratings, 0.95, float(np.log(draws.std(axis=1, ddof=1)).var()))
        held.append(low <= truth <= high)
    print(f"{shape}, {n} statements: {np.mean(held):.3f}")  # noqa: T201
    rows = {
        row["residuals of the statements"]: row for row in table_of("docs/values.md", "residuals of the statements")
    }
    column = "5 statements" if n == 5 else str(n)
    assert 100 * np.mean(held) == pytest.approx(number(rows[ROWS.get(shape, shape)][column]), abs=0.25)
    assert np.mean(held) >= 0.93
