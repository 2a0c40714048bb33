"""A line between two quantities that are both measured with error.

Deming's line (Deming 1943; Fuller 1987) needs λ, the ratio of the error variances of y and x. The variance of the error
of x, and of y as far as it is measured, is known for every unit. Points also lie off the line for reasons that are no
error of measurement; a line that takes all distance for error of measurement is then too steep (Carroll & Ruppert 1996,
Am. Stat. 50:1–6). So the variance of y about the line has two parts, its sampling error and a scatter, which is
estimated and is not below 0:

    λ = (mean error variance of y + scatter) / mean error variance of x

With scatter, Deming's slope is Sxy / (Sxx − mean error variance of x), the least-squares slope freed of attenuation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError
from penchant.stats.bootstrap import expanded_p, expanded_percentile, resampled
from penchant.stats.inputs import Array, Counts, as_values, check_lengths, check_resamples

FEWEST = 10
"""The fewest units that have a line."""
_SAME = 1e-12
"""The share of the squares below which variances are rounding errors."""


def deming(sxx: ArrayLike, sxy: ArrayLike, syy: ArrayLike, ratio: ArrayLike) -> Array:
    """Return Deming's slope of y on x from their variances and covariance; arrays of one shape.

    `ratio`: λ, the error variance of y divided by that of x; with λ → ∞ the slope is that of least squares, with 0 the
    inverse of that of x on y. 0 if the covariance is 0.
    """
    xx, xy, yy, by = (np.asarray(part, dtype=np.float64) for part in (sxx, sxy, syy, ratio))
    gap = yy - by * xx
    # Of two equal forms of the root, the one in which nothing cancels.
    root = np.sqrt(gap**2 + 4 * by * xy**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(gap >= 0, (gap + root) / (2 * xy), 2 * by * xy / (root - gap))
    found: Array = np.where(xy == 0, 0.0, slope)
    return found


@dataclass(frozen=True, slots=True)
class FittedLines:
    """Lines through some units, each an array with one entry per weighting.

    `slope` allows for errors in both, and is ±inf if x varies no more than its errors; `exact` is the least-squares
    slope, which takes x as exact; `correlation` is Pearson's r; `reliability` is the share of the variance of x that is
    not error, below 0 if x varies less than its errors.
    """

    slope: Array
    exact: Array
    correlation: Array
    reliability: Array


@dataclass(frozen=True, slots=True)
class Points:
    """Units with an x and a y, each with the variance of its error: four arrays (n,)."""

    x: Array
    y: Array
    error_x: Array
    error_y: Array

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike, error_x: ArrayLike, error_y: ArrayLike) -> Points:
        """Return the points of four columns, in an order that depends on them alone.

        Raises DataError for NaN, unequal lengths or a variance below 0.
        """
        named = {"x": x, "y": y, "error variance of x": error_x, "error variance of y": error_y}
        columns = [as_values(part, where=name) for name, part in named.items()]
        for name, part in zip(named, columns, strict=True):
            check_lengths(columns[0], part, where=f"x, {name}")
        if any(part.size and part.min() < 0 for part in columns[2:]):
            raise DataError("a variance is 0 or more", where="error variances")
        order = np.lexsort(columns[::-1])
        return cls(*(part[order] for part in columns))

    def __len__(self) -> int:
        return len(self.x)

    def line(self) -> FittedLines:
        """Return the line through all points, as arrays of one entry. Raises DataError for fewer than two."""
        if len(self) < 2:
            raise DataError(f"a line needs two points, there are {len(self)}", where="points")
        return self.lines(np.ones((1, len(self))))

    def lines(self, weights: NDArray[np.float64] | Counts, *, raised: float = 1.0) -> FittedLines:
        """Return the lines in which each point counts as often as a row of `weights` (b, n) says.

        `raised` multiplies variances: n/(n − 1) for resamples of n points, which vary less than the points by that
        factor.
        """
        times = np.asarray(weights, dtype=np.float64)
        n = times.sum(axis=1)
        x, y = self.x - self.x.mean(), self.y - self.y.mean()  # so that squares of large numbers do not cancel
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_x, mean_y = times @ x / n, times @ y / n
            xx, xy, yy = (
                raised * (times @ (a * b) - n * mean_a * mean_b) / (n - 1)
                for a, b, mean_a, mean_b in ((x, x, mean_x, mean_x), (x, y, mean_x, mean_y), (y, y, mean_y, mean_y))
            )
            xx, yy = (np.where(part > _SAME * float((whole**2).sum()), part, 0.0) for part, whole in ((xx, x), (yy, y)))
            error_x, error_y = times @ self.error_x / n, times @ self.error_y / n
            true = xx - error_x
            moments = xy / true
            scatter = yy - moments * xy - error_y
            known = deming(xx, xy, yy, np.where(error_x > 0, error_y / error_x, np.inf))
            slope = np.where((scatter >= 0) | (error_x == 0), moments, known)
            return FittedLines(
                np.where(true > 0, slope, np.copysign(np.inf, xy)),
                xy / xx,
                np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0),
                true / xx,
            )

    def resampled(self, rng: np.random.Generator, resamples: int) -> FittedLines:
        """Return the line of every resample of the points. Raises MethodError when `resamples` is not positive."""
        check_resamples(resamples)

        def drawn(counts: Counts, rows: Array) -> Array:
            lines = self.lines(counts, raised=len(self) / (len(self) - 1))
            return np.column_stack([lines.slope, lines.exact, lines.correlation, lines.reliability])

        units = np.column_stack([self.x, self.y])
        return FittedLines(
            *np.ascontiguousarray(resampled(drawn, units, seed=rng, resamples=resamples, pooled=False).T)
        )

    def left_out(self) -> FittedLines:
        """Return the line without each of the points in turn."""
        return self.lines(1.0 - np.eye(len(self)))


# Intervals ------------------------------------------------------------------------------------------------------------

_ENDLESS = 1e100
"""The size from which a slope counts as infinite."""


def jackknife_error(values: Array) -> float:
    """Return the standard error of a statistic from its values without each unit; NaN if one is infinite."""
    n = len(values)
    kept = np.sort(values)
    return float(np.sqrt((n - 1) / n * ((kept - kept.mean()) ** 2).sum())) if np.isfinite(kept).all() else np.nan


def wider_interval(value: float, draws: Array, error: float, n: int, level: float) -> tuple[float, float]:
    """Return, at each end, the wider of the expanded percentile interval and the t interval of a jackknife's error.

    NaN if one of them has no end. Percentile intervals of a slope contain it too rarely, and t intervals alone lack its
    skewness.
    """
    low, high = expanded_percentile(np.clip(draws, -1e300, 1e300), n, level)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * error
    if not (abs(low) < _ENDLESS and abs(high) < _ENDLESS and np.isfinite(reach)):
        return np.nan, np.nan
    return min(low, value - reach), max(high, value + reach)


def wider_p(value: float, draws: Array, error: float, n: int, against: float) -> float:
    """Return the two-sided p-value that goes with `wider_interval`: the larger of the two."""
    if error == 0:
        t = 1.0 if value == against else 0.0
    else:
        t = 2 * float(scipy.stats.t.sf(abs(value - against) / error, n - 1))
    return max(t, expanded_p(draws, n, against))
