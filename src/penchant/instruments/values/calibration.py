"""Agreement calibrated on neutral statements (Al Ali & Libovický 2024, §3), and representativeness of ratings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.records import Estimate
from penchant.stats.bootstrap import resampled
from penchant.stats.inputs import Array, Counts, Seed, as_values, check_lengths, check_level
from penchant.stats.intervals import clustered_ratio
from penchant.stats.sd_interval import FEW as FEWEST
from penchant.stats.sd_interval import bonett, spread_interval
from penchant.wording.phrases import Method, Note

Line = Literal["origin", "difference"]
"""`origin`: the slope a is fitted, without intercept. `difference`: the slope is 1 and the intercept b is fitted."""
_ROUNDING = 1e-12
"""Residual sums of squares below this share of the sum of squares are treated as 0."""
SLOPE, OFFSET, SIGMA = "calibration slope a", "calibration offset b", "residual sd σ"
FREE_SLOPE, FREE_INTERCEPT = "slope of a fit with intercept", "intercept of a fit with intercept"
CORRELATION, NORMALITY = "correlation of agree and disagree", "normality of the residuals (W)"
CROOKED = ("line-without-intercept", "line-of-slope-one")
"""Codes of the notes that a fit with slope and intercept contradicts the calibration, one for each `Line`."""


@dataclass(frozen=True, slots=True)
class CalibrationLines:
    """Fitted calibrations y ≈ a·x + b: arrays `slope` (a), `offset` (b) and `sigma` (σ), one entry per calibration."""

    slope: Array
    offset: Array
    sigma: Array

    def agreement(self, x: Array, y: Array) -> Array:
        """Return P(agree) = Φ((y − a·x − b)/σ), shape (calibrations…, statements); NaN where σ is 0."""
        a, b, sigma = (part[..., None] for part in (self.slope, self.offset, self.sigma))
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(sigma > 0, (y - a * x - b) / sigma, np.nan)
        probability: Array = scipy.special.ndtr(scaled)
        return probability


def lines(x: Array, y: Array, weights: Array, line: Line) -> CalibrationLines:
    """Return the calibration y ≈ a·x + b, with the spread σ around it, for every row of `weights`.

    x and y are the log-probabilities of disagreeing and agreeing; `weights`, shape (rows, statements), weights each
    statement. If `line` is "origin": a = Σxy/Σx², b = 0, σ² = Σ(y − a·x)²/(n−1); if it is "difference": a = 1, b = the
    mean of y − x, σ² = Σ(y − x − b)²/(n−1).
    """
    n = weights.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if line == "origin":
            xx, xy, yy = weights @ (x * x), weights @ (x * y), weights @ (y * y)
            slope, offset = xy / xx, np.zeros_like(n)
            squares = yy - slope * xy
            squares = np.where(squares > _ROUNDING * yy, squares, 0.0)
        else:
            gap = y - x
            middle = gap.mean()  # subtracted first to avoid cancellation between large squares
            slope, total = np.ones_like(n), weights @ (gap - middle)
            offset = middle + total / n
            squares = weights @ (gap - middle) ** 2 - total**2 / n
            squares = np.where(squares > _ROUNDING * (weights @ (x * x + y * y)), squares, 0.0)
        return CalibrationLines(slope, offset, np.sqrt(np.maximum(squares, 0) / (n - 1)))


def resampled_lines(x: Array, y: Array, line: Line, *, seed: Seed, resamples: int) -> CalibrationLines:
    """Return the calibration of every bootstrap resample of the neutral statements."""

    def fitted(counts: Counts, units: Array) -> Array:
        drawn = lines(units[:, 0], units[:, 1], counts.astype(np.float64), line)
        return np.column_stack([drawn.slope, drawn.offset, drawn.sigma])

    draws = resampled(fitted, np.column_stack([x, y]), seed=seed, resamples=resamples, pooled=False)
    return CalibrationLines(*np.ascontiguousarray(draws.T))


def rating(agreement: Array) -> Array:
    """Convert agreement P to a rating from 1 to 5: 4·P + 1."""
    return 4 * agreement + 1


def calibration(x: ArrayLike, y: ArrayLike, *, line: Line, level: float) -> list[Estimate]:
    """Return the estimates of a calibration: slope or offset, residual sd, correlation of x and y, and two checks.

    The checks are a fit with intercept, and the normality of the residuals. Raises DataError for NaN or unequal
    lengths.
    """
    check_level(level)
    x, y = as_values(x, where="disagree"), as_values(y, where="agree")
    check_lengths(x, y, where="calibration")
    order = np.lexsort((y, x))  # makes the result independent of the order of statements, bit for bit
    x, y, n = x[order], y[order], len(x)
    fixed = SLOPE if line == "origin" else OFFSET
    if n < 3:
        few = Note("fewer-than-three-neutral")
        return [Estimate(name, np.nan, n, level=level, notes=(few,)) for name in (fixed, SIGMA, CORRELATION)]
    fitted = lines(x, y, np.ones((1, n)), line)
    residuals = y - float(fitted.slope[0]) * x - float(fitted.offset[0])
    free = _free_line(x, y, line, level)
    misfit = _misfit(x, residuals, free, line)
    own = (_coefficient(fixed, x, y, level), _residual_sd(residuals, float(fitted.sigma[0]), level))
    estimates = [estimate.noted(misfit) for estimate in own]
    estimates.append(_correlation(x, y, level))
    estimates += free
    estimates.append(replace(_normality(y - fitted.slope * x - fitted.offset), level=level))
    return estimates


def _coefficient(name: str, x: Array, y: Array, level: float) -> Estimate:
    """Return the coefficient `name`, the slope Σxy/Σx² or the mean of y − x, as a ratio of two sums over statements."""
    totals, weights = (x * y, x * x) if name == SLOPE else (y - x, np.ones_like(x))
    estimate = Estimate(name, float(totals.sum() / weights.sum()), len(x), level=level)
    ratios = np.divide(totals, weights, out=np.zeros_like(totals), where=weights > 0)
    if not weights.sum() > weights.max() or np.ptp(ratios) <= _ROUNDING * np.abs(ratios).max():
        return estimate.noted(Note("neutral-on-the-line"))
    return clustered_ratio(estimate, totals, weights, "neutral statements")


def _residual_sd(residuals: Array, value: float, level: float) -> Estimate:
    estimate = Estimate(SIGMA, value, len(residuals), level=level)
    low, high = spread_interval(residuals, level, about=0.0)
    if np.isnan(low):
        return estimate.noted(Note("residual-sd-without-interval", least=FEWEST))
    return replace(estimate, low=low, high=high, method=bonett(units=len(residuals), noun="neutral statements"))


def _correlation(x: Array, y: Array, level: float) -> Estimate:
    n = len(x)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(CORRELATION, np.nan, n, level=level, notes=(Note("side-does-not-vary"),))
    result = scipy.stats.pearsonr(x, y)
    low, high = result.confidence_interval(level) if n > 3 else (np.nan, np.nan)
    estimate = Estimate(CORRELATION, float(result.statistic), n, float(low), float(high), level, Method("fisher-z"))
    return estimate.tested(result.pvalue, Method("pearson-test", two_sided=True))


def _free_line(x: Array, y: Array, line: Line, level: float) -> list[Estimate]:
    n = len(x)
    if np.ptp(x) == 0:
        return [
            Estimate(name, np.nan, n, level=level, notes=(Note("x-does-not-vary"),))
            for name in (FREE_SLOPE, FREE_INTERCEPT)
        ]
    fit = scipy.stats.linregress(x, y)
    t = scipy.stats.t.ppf((1 + level) / 2, n - 2)
    pairs = ((fit.slope, fit.stderr), (fit.intercept, fit.intercept_stderr))
    estimates = [
        Estimate(name, float(b), n, float(b - t * se), float(b + t * se), level, Method("t-of-a-fit", df=n - 2))
        for name, (b, se) in zip((FREE_SLOPE, FREE_INTERCEPT), pairs, strict=True)
    ]
    i, taken = (1, 0.0) if line == "origin" else (0, 1.0)
    (b, se), code = pairs[i], ("intercept-test" if line == "origin" else "slope-test")
    if se > 0:
        p = float(2 * scipy.stats.t.sf(abs(b - taken) / se, n - 2))
        estimates[i] = estimates[i].tested(p, Method(code, two_sided=True))
    return estimates


def _misfit(x: Array, residuals: Array, free: list[Estimate], line: Line) -> Note | None:
    """Return a note if the fit with slope and intercept (`free`) contradicts the calibration `line`, else None."""
    slope, intercept = free
    estimate, taken = (intercept, 0.0) if line == "origin" else (slope, 1.0)
    if not (estimate.low > taken or estimate.high < taken) or np.ptp(residuals) == 0:
        return None
    r = float(np.corrcoef(x, residuals)[0, 1])
    return Note(CROOKED[line != "origin"], r=r, value=estimate.value, low=estimate.low, high=estimate.high)


def _normality(residuals: Array) -> Estimate:
    if np.ptp(residuals) == 0:
        return Estimate(NORMALITY, np.nan, len(residuals), notes=(Note("residuals-do-not-vary"),))
    result = scipy.stats.shapiro(residuals)
    estimate = Estimate(NORMALITY, float(result.statistic), len(residuals), method=Method("none-test-statistic"))
    return estimate.tested(result.pvalue, Method("shapiro-wilk"))


def representativeness(ratings: ArrayLike, answers: ArrayLike) -> Array:
    """Return 2·min(#{answers < R}, #{answers > R})/N for every rating R: 1 at the median, 0 outside the answers.

    Answers equal to R count for neither side, and NaN answers are ignored. NaN if there are no answers.
    """
    people = np.sort(np.asarray(answers, dtype=np.float64).ravel())
    people = people[~np.isnan(people)]
    rated = np.asarray(ratings, dtype=np.float64)
    if not len(people):
        return np.full(rated.shape, np.nan)
    below = np.searchsorted(people, rated, side="left")
    above = len(people) - np.searchsorted(people, rated, side="right")
    shares: Array = np.where(np.isnan(rated), np.nan, 2 * np.minimum(below, above) / len(people))
    return shares
