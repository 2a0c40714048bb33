"""Agreement calibrated on neutral statements, and ratings held against people's answers.

With x the log-probability of disagreeing and y that of agreeing, neutral statements give what to expect, y ≈ a·x + b,
and the spread σ around it; a statement's agreement is how far its y lies above that. Source: "How Gender Interacts with
Political Values: A Case Study on Czech BERT Models" (Al Ali & Libovický 2024), §3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from penchant.records import Estimate
from penchant.stats.intervals import Array, Seed, as_values, check_lengths, check_level, check_resamples

Line = Literal["origin", "difference"]
"""`origin`: slope a free, no intercept. `difference`: slope 1, the intercept b free."""
_ROUNDING = 1e-12
"""Of the sum of squares of y: what is less than this share of it is the rounding of the sums."""
FEW = 30
"""Fewer neutral statements than these are too few."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Calibrations: arrays of one shape, a number each (or one for every resample)."""

    slope: Array
    offset: Array
    sigma: Array

    def agreement(self, x: Array, y: Array) -> Array:
        """P(agree) = Φ((y − a·x − b)/σ), shape (calibrations…, statements); NaN where σ is 0."""
        a, b, sigma = (part[..., None] for part in (self.slope, self.offset, self.sigma))
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(sigma > 0, (y - a * x - b) / sigma, np.nan)
        found: Array = special.ndtr(scaled)
        return found


def lines(x: Array, y: Array, weights: Array, line: Line) -> Lines:
    """The calibration of every row of `weights` (rows, statements): how often each statement counts.

    origin: a = Σxy/Σx², σ² = Σ(y − a·x)²/(n−1). difference: a = 1, b = the mean of y − x, σ² = Σ(y − x − b)²/(n−1).
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
            middle = gap.mean()  # taken off first, so that squares of large numbers do not cancel
            slope, total = np.ones_like(n), weights @ (gap - middle)
            offset = middle + total / n
            squares = weights @ (gap - middle) ** 2 - total**2 / n
            squares = np.where(squares > _ROUNDING * (weights @ (x * x + y * y)), squares, 0.0)
        return Lines(slope, offset, np.sqrt(np.maximum(squares, 0) / (n - 1)))


def rating(agreement: Array) -> Array:
    """4·P + 1, on the scale from 1 to 5."""
    return 4 * agreement + 1


def resample_counts(n: int, resamples: int, rng: np.random.Generator) -> Array:
    """How often each of n units is drawn in each resample (resamples, n)."""
    return rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)


def calibration(x: ArrayLike, y: ArrayLike, *, line: Line, seed: Seed, resamples: int, level: float) -> list[Estimate]:
    """What the neutral statements say: slope or offset, residual sd and correlation, each with its interval, the fit
    with an intercept beside it, and how normal the residuals are. Raises DataError for NaN or unequal lengths."""
    check_level(level)
    check_resamples(resamples)
    x, y = as_values(x, where="disagree"), as_values(y, where="agree")
    check_lengths(x, y, where="calibration")
    n = len(x)
    if n < 3:
        note = "fewer than three neutral statements"
        return [Estimate(name, np.nan, n, level=level, note=note) for name in (*_NAMES[line], _CORRELATION)]
    rng = np.random.default_rng(seed)
    own = lines(x, y, np.ones((1, n)), line)
    drawn = lines(x, y, resample_counts(n, resamples, rng), line)
    left_out = lines(x, y, 1 - np.eye(n), line)
    found = []
    fields = ("slope" if line == "origin" else "offset", "sigma")
    for name, field in zip(_NAMES[line], fields, strict=True):
        parts = [getattr(part, field) for part in (own, drawn, left_out)]
        value, draws, without = float(parts[0][0]), parts[1], parts[2]
        low, high = bca_interval(value, draws, without, level)
        how = f"BCa bootstrap over {n} neutral statements, {resamples} resamples, seed {seed}"
        found.append(Estimate(name, value, n, low, high, level, how=how))
    found.append(_correlation(x, y, level))
    found += _free_line(x, y, level)
    found.append(replace(_normality(y - own.slope * x - own.offset), level=level))
    return found


_NAMES = {"origin": ("calibration slope a", "residual sd σ"), "difference": ("calibration offset b", "residual sd σ")}
_CORRELATION = "correlation of agree and disagree"


def bca_interval(value: float, draws: Array, left_out: Array, level: float) -> tuple[float, float]:
    """Bias-corrected and accelerated (Efron 1987): `draws` of the bootstrap, `left_out` of the jackknife; NaN where
    there is none."""
    below = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    if not 0 < below < 1 or np.isnan(draws).any():
        return np.nan, np.nan
    shift = stats.norm.ppf(below)
    gaps = left_out.mean() - left_out
    spread = np.sum(gaps**2)
    acceleration = np.sum(gaps**3) / (6 * spread**1.5) if spread > 0 else 0.0
    z = shift + stats.norm.ppf(np.array([(1 - level) / 2, (1 + level) / 2]))
    shares = stats.norm.cdf(shift + z / (1 - acceleration * z))
    bounds = np.quantile(draws, shares)
    return float(bounds[0]), float(bounds[1])


def expanded_interval(draws: Array, n: int, level: float) -> tuple[float, float]:
    """Percentile interval widened for n resampled units (Hesterberg 2015, The American Statistician 69:371–386): as
    the t interval is wider than the normal one with the sd of the bootstrap, which divides by n."""
    if n < 2 or np.isnan(draws).any():
        return np.nan, np.nan
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1))
    bounds = np.quantile(draws, [tail, 1 - tail])
    return float(bounds[0]), float(bounds[1])


def _correlation(x: Array, y: Array, level: float) -> Estimate:
    n = len(x)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(_CORRELATION, np.nan, n, level=level, note="one side does not vary")
    found = stats.pearsonr(x, y)
    low, high = found.confidence_interval(level) if n > 3 else (np.nan, np.nan)
    return Estimate(
        _CORRELATION,
        float(found.statistic),
        n,
        float(low),
        float(high),
        level,
        how="Fisher z",
        p=float(found.pvalue),
        test="Pearson's r, two-sided",
    )


def _free_line(x: Array, y: Array, level: float) -> list[Estimate]:
    """The fit with an intercept, for comparison."""
    n = len(x)
    names = ("slope of a fit with intercept", "intercept of a fit with intercept")
    if np.ptp(x) == 0:
        return [Estimate(name, np.nan, n, level=level, note="x does not vary") for name in names]
    found = stats.linregress(x, y)
    t = stats.t.ppf((1 + level) / 2, n - 2)
    pairs = ((found.slope, found.stderr), (found.intercept, found.intercept_stderr))
    return [
        Estimate(name, float(v), n, float(v - t * e), float(v + t * e), level, how=f"t interval, {n - 2} df")
        for name, (v, e) in zip(names, pairs, strict=True)
    ]


def _normality(residuals: Array) -> Estimate:
    name = "normality of the residuals (W)"
    if np.ptp(residuals) == 0:
        return Estimate(name, np.nan, len(residuals), note="the residuals do not vary")
    found = stats.shapiro(residuals)
    how = "no interval: a test statistic"
    return Estimate(name, float(found.statistic), len(residuals), how=how, p=float(found.pvalue), test="Shapiro–Wilk")


def representativeness(ratings: ArrayLike, answers: ArrayLike) -> Array:
    """2·min(#{answers < R}, #{answers > R})/N for every rating R: 1 at the median, 0 outside the answers.

    Strict, so that answers equal to R count for neither side; answers that are NaN are no answers. NaN without any.
    """
    people = np.sort(np.asarray(answers, dtype=np.float64).ravel())
    people = people[~np.isnan(people)]
    asked = np.asarray(ratings, dtype=np.float64)
    if not len(people):
        return np.full(asked.shape, np.nan)
    below = np.searchsorted(people, asked, side="left")
    above = len(people) - np.searchsorted(people, asked, side="right")
    found: Array = np.where(np.isnan(asked), np.nan, 2 * np.minimum(below, above) / len(people))
    return found


def cronbach_alpha(scores: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Internal consistency of items (columns) over respondents (rows); rows with a NaN are left out and counted.

    α = k/(k−1) · (1 − Σ item variances / variance of the sums), with Feldt's interval (1965, Psychometrika 30:357–370).
    """
    name = "internal consistency (Cronbach's α)"
    table = np.asarray(scores, dtype=np.float64)
    whole = table[~np.isnan(table).any(axis=1)]
    n, k = len(whole), table.shape[1]
    lost = len(table) - n
    note = f"{lost} respondents with a missing answer left out" if lost else ""
    total = whole.sum(axis=1).var(ddof=1) if n > 1 else 0.0
    if k < 2 or n < 3 or not total > 0:
        why = "fewer than two items" if k < 2 else "fewer than three respondents" if n < 3 else "the sums do not vary"
        return Estimate(name, np.nan, n, level=level, note="; ".join(filter(None, (why, note))))
    alpha = k / (k - 1) * (1 - whole.var(axis=0, ddof=1).sum() / total)
    df = n - 1, (n - 1) * (k - 1)
    low = 1 - (1 - alpha) * stats.f.ppf((1 + level) / 2, *df)
    high = 1 - (1 - alpha) * stats.f.ppf((1 - level) / 2, *df)
    how = f"Feldt, {k} items, {n} respondents"
    return Estimate(name, float(alpha), n, float(low), float(high), level, how=how, note=note)


def variance_shares(table: Array) -> dict[str, Array]:
    """Shares of the sum of squares of a full table (…, statements, templates, groups): each factor's own and the rest.

    Balanced, so that the parts add up to 1; NaN where nothing varies.
    """
    axes = {"statement": -3, "template": -2, "group": -1}
    mean = table.mean(axis=(-3, -2, -1), keepdims=True)
    total = ((table - mean) ** 2).sum(axis=(-3, -2, -1))
    shares: dict[str, Array] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, axis in axes.items():
            others = tuple(a for a in axes.values() if a != axis)
            gaps = table.mean(axis=others, keepdims=True) - mean
            weight = table.shape[others[0]] * table.shape[others[1]]
            shares[name] = weight * (gaps**2).sum(axis=(-3, -2, -1)) / total
        shares["rest"] = 1 - shares["statement"] - shares["template"] - shares["group"]
    return shares
