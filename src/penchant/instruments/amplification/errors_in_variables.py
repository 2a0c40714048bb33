"""A line between two quantities that are both measured with error.

Deming's line (Deming 1943; Fuller 1987) needs λ, the ratio of the error variances of y and x. The error variance of x,
and the sampling error of y, are known for every unit. Points also lie off the line for reasons other than measurement
error; a line that ignores these is too steep (Carroll & Ruppert 1996, Am. Stat. 50:1–6). So the variance of y about the
line has two parts, its sampling error and a scatter, which is estimated and is not below 0:

    λ = (mean error variance of y + scatter) / mean error variance of x

With scatter, Deming's slope is Sxy / (Sxx − mean error variance of x), the least-squares slope corrected for
attenuation.
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
"""Smallest number of units for which a line is fitted."""
_SAME = 1e-12
"""Share of the sum of squares below which a variance is treated as 0."""


def deming(sxx: ArrayLike, sxy: ArrayLike, syy: ArrayLike, ratio: ArrayLike) -> Array:
    """Return Deming's slope of y on x, given arrays of the same shape: their variances and covariance, and `ratio`.

    `ratio` is λ, the error variance of y divided by the error variance of x; for λ → ∞ the slope is the least-squares
    slope, for λ = 0 the inverse of the slope of x on y. The slope is 0 if the covariance is 0.
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
    """Fitted lines, as arrays with one entry per weighting of the units.

    `slope` allows for errors in x and y, and is ±inf if x varies no more than its errors; `exact` is the least-squares
    slope, which takes x as exact; `correlation` is Pearson's r; `reliability` is the share of the variance of x that is
    not error, below 0 if x varies less than its errors.
    """

    slope: Array
    exact: Array
    correlation: Array
    reliability: Array


@dataclass(frozen=True, slots=True)
class Points:
    """Units with an x and a y, each with the variance of its error, as four arrays of shape (n,)."""

    x: Array
    y: Array
    error_x: Array
    error_y: Array

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike, error_x: ArrayLike, error_y: ArrayLike) -> Points:
        """Build points from four columns, sorted so that their order does not matter.

        Raises DataError for NaN, unequal lengths or a negative variance.
        """
        named = {"x": x, "y": y, "error variance of x": error_x, "error variance of y": error_y}
        columns = [as_values(part, where=name) for name, part in named.items()]
        for name, part in zip(named, columns, strict=True):
            check_lengths(columns[0], part, where=f"x, {name}")
        if any(part.size and part.min() < 0 for part in columns[2:]):
            raise DataError("a variance must not be negative", where="error variances")
        order = np.lexsort(columns[::-1])
        return cls(*(part[order] for part in columns))

    def __len__(self) -> int:
        return len(self.x)

    def line(self) -> FittedLines:
        """Return the line through all points, as arrays of one entry. Raises DataError for fewer than two points."""
        if len(self) < 2:
            raise DataError(f"a line needs at least two points, got {len(self)}", where="points")
        return self.lines(np.ones((1, len(self))))

    def lines(self, weights: NDArray[np.float64] | Counts, *, raised: float = 1.0) -> FittedLines:
        """Return the errors-in-variables fit for every row of `weights` (b, n), which holds the weight of each point.

        `raised` multiplies the variances and the covariance of x and y, but not their error variances: n/(n − 1)
        corrects for the smaller variances in resamples of n points.
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
        """Return the lines with each of the points left out in turn."""
        return self.lines(1.0 - np.eye(len(self)))


# Intervals ------------------------------------------------------------------------------------------------------------

_ENDLESS = 1e100
"""Absolute value from which a slope is treated as infinite."""


def jackknife_error(values: Array) -> float:
    """Return a statistic's jackknife standard error, given its values without each unit; NaN if a value is infinite."""
    n = len(values)
    kept = np.sort(values)
    return float(np.sqrt((n - 1) / n * ((kept - kept.mean()) ** 2).sum())) if np.isfinite(kept).all() else np.nan


def wider_interval(value: float, draws: Array, error: float, n: int, level: float) -> tuple[float, float]:
    """Return the outer limits of two intervals: the expanded percentile interval and the t interval of the jackknife.

    `draws` are the statistic's values in resamples of `n` units, and `error` is its jackknife standard error. NaN if
    one of the intervals is infinite.
    """
    low, high = expanded_percentile(np.clip(draws, -1e300, 1e300), n, level)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * error
    if not (abs(low) < _ENDLESS and abs(high) < _ENDLESS and np.isfinite(reach)):
        return np.nan, np.nan
    return min(low, value - reach), max(high, value + reach)


def wider_p(value: float, draws: Array, error: float, n: int, against: float) -> float:
    """Return the larger of two two-sided p-values for the null value `against`, matching the two intervals.

    The intervals and the other arguments are those of `wider_interval`.
    """
    if error == 0:
        t = 1.0 if value == against else 0.0
    else:
        t = 2 * float(scipy.stats.t.sf(abs(value - against) / error, n - 1))
    return max(t, expanded_p(draws, n, against))
