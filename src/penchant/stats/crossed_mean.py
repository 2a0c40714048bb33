"""Means, and differences between means, over crossed rows, such as every template with every profession.

The units of each factor are a random sample and contribute to the standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.inputs import Array, Codes, check_level
from penchant.stats.weighted import effective_n, mean_variance
from penchant.wording.phrases import Method, Note

Statistic = Callable[[Array], float]
"""A function of row weights, 0 or 1, that returns a statistic of the rows with weight 1, or NaN for too few rows."""
FEW = 5
"""The smallest number of units per factor for an interval without a caution."""
_NONE = 1e-12
"""The relative size below which a variance is considered zero."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor by which rows are crossed, with the plural `noun` of its units and the `unit` of each row, (rows,).

    Units are numbered from 0; rows that belong to no unit have −1.
    """

    noun: str
    unit: Codes

    @property
    def units(self) -> int:
        """Number of units."""
        return int(self.unit.max(initial=-1)) + 1


def crossed(
    statistic: Statistic, factors: Sequence[Factor], *, n: int, level: float = 0.95, against: float | None = None
) -> Estimate:
    """Return a statistic of crossed rows with a t interval and, if `against` is given, a t test of that value.

    The variance is the sum of the jackknife variances over the units of each factor. The factor with the largest
    variance shares a part with every other factor, such as the noise of single rows; this part, the jackknife variance
    over the cells of both factors, is subtracted from the variance of the other factor (Cameron, Gelbach & Miller 2011,
    J. Bus. Econ. Stat. 29:238–249, without the terms that may make a variance negative). The degrees of freedom are
    Satterthwaite's (1946, Biometrics Bulletin 2:110–114). `n` is the sample size to report. The estimate has a note
    instead of an interval if a factor has one unit, or if the statistic is undefined without one of the units.
    """
    check_level(level)
    rows = len(factors[0].unit)
    value = statistic(np.ones(rows))
    estimate = Estimate("", value, n, level=level)
    if np.isnan(value):
        return estimate.noted(Note("side-missing"))
    single = [factor.noun for factor in factors if factor.units < 2]
    if single:
        return estimate.noted(Note("factors-of-one", nouns=single))
    parts = _parts(statistic, factors)
    if any(np.isnan(part) for part, _ in parts):
        return estimate.noted(Note("side-missing-without-unit"))
    variance = sum(part for part, _ in parts)
    if not variance > _NONE * value**2:
        return estimate.noted(Note("no-interval-nothing-varies"))
    df = variance**2 / sum(part**2 / of for part, of in parts)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, df)) * variance**0.5
    method = Method("satterthwaite", over=[[factor.units, factor.noun] for factor in factors], df=df)
    few = [[factor.units, factor.noun] for factor in factors if factor.units < FEW]
    estimate = replace(estimate, low=value - reach, high=value + reach, method=method)
    estimate = estimate.noted(Note("few-of-factors", few=few) if few else None)
    if against is None:
        return estimate
    p = float(2 * scipy.stats.t.sf(abs(value - against) / variance**0.5, df))
    return estimate.tested(p, Method("satterthwaite-test", two_sided=True))


def _parts(statistic: Statistic, factors: Sequence[Factor]) -> list[tuple[float, int]]:
    """Return the variance component and the degrees of freedom of each factor.

    The largest component includes the variance that it shares with the other factors; the other components exclude it.
    """
    whole = [jackknife(statistic, factor.unit) for factor in factors]
    if np.isnan(whole).any():
        return [(np.nan, 0)]
    first = int(np.argmax(whole))
    parts = []
    for number, (factor, variance) in enumerate(zip(factors, whole, strict=True)):
        if number != first:
            shared = jackknife(statistic, _crossing(factors[first].unit, factor.unit))
            variance = max(0.0, variance - (0.0 if np.isnan(shared) else shared))
        parts.append((variance, factor.units - 1))
    return parts


def jackknife(statistic: Statistic, unit: Codes) -> float:
    """Return the jackknife variance of a statistic over units; NaN for one unit, or if a leave-one-out value is NaN."""
    number = int(unit.max(initial=-1)) + 1
    if number < 2:
        return np.nan
    values = np.sort([statistic((unit != each).astype(np.float64)) for each in range(number)])
    return float((number - 1) / number * ((values - values.mean()) ** 2).sum())


def _crossing(one: Codes, other: Codes) -> Codes:
    """Return the index of each row's cell in the crossing of two factors; −1 for a row that lacks a unit of either."""
    both = (one >= 0) & (other >= 0)
    crossing = np.full(len(one), -1, dtype=np.intp)
    crossing[both] = np.unique(np.column_stack([one[both], other[both]]), axis=0, return_inverse=True)[1].ravel()
    return crossing


def mean_of(values: Array) -> Statistic:
    """Return a function that computes the weighted mean of the rows' values."""

    def statistic(weights: Array) -> float:
        total = weights.sum()
        return float(weights @ values / total) if total else np.nan

    return statistic


def paired_gap(values: Array, cells: Codes, second: Codes) -> Statistic:
    """Return a function that computes the difference between the means of a cell's two sides, averaged over cells.

    `cells` has the number of each row's cell, such as its template and profession. `second` is 0 for rows of the first
    side and 1 for rows of the second, whose mean is subtracted. Cells without rows on both sides are ignored.
    """
    number = int(cells.max(initial=-1)) + 1
    place = 2 * cells + second

    def statistic(weights: Array) -> float:
        counts = np.bincount(place, weights, 2 * number)
        sums = np.bincount(place, weights * values, 2 * number)
        both = (counts[0::2] > 0) & (counts[1::2] > 0)
        if not both.any():
            return float("nan")
        return float((sums[0::2][both] / counts[0::2][both] - sums[1::2][both] / counts[1::2][both]).mean())

    return statistic


# Words by templates ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """A difference between means, the `variance` of its error, and Satterthwaite's degrees of freedom `df` (1946).

    `variance` and `df` are NaN for one template or for a group of one word, since the spread is then unknown.
    """

    value: float
    variance: float
    df: float


def contrast(first: ArrayLike, second: ArrayLike) -> MeanDifference:
    """Return the mean of `first` minus the mean of `second`, given scores (templates, words) over the same templates.

    The variance is estimated from variance components of two random factors (Searle, Casella & McCulloch 1992, ch. 4):
    templates, words of either group, and the residual, which is included in the first component. Raises DataError for
    NaN, for arrays that are not two-dimensional, and for unequal numbers of templates.
    """
    one, other = (np.asarray(part, dtype=np.float64) for part in (first, second))
    if one.ndim != 2 or other.ndim != 2 or not one.size or not other.size or len(one) != len(other):
        raise DataError(
            f"expected shapes (templates, words) with equal numbers of templates, got {one.shape} and {other.shape}",
            where="contrast",
        )
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise DataError("a score is NaN or infinite", where="contrast")
    gaps = np.sort(_means(one, 1) - _means(other, 1))
    value = float(gaps.mean())
    if len(gaps) < 2 or one.shape[1] < 2 or other.shape[1] < 2:
        return MeanDifference(value, np.nan, np.nan)
    parts = [(float(gaps.var(ddof=1)) / len(gaps), len(gaps) - 1)]
    parts += [(_between(side) / side.shape[1], side.shape[1] - 1) for side in (one, other)]
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / df for part, df in parts)
    return MeanDifference(value, variance, variance**2 / spread if spread > 0 else np.inf)


def _means(scores: Array, axis: int) -> Array:
    """Return means along an axis, summed in sorted order, so that the order of words or templates has no effect."""
    means: Array = np.sort(scores, axis=axis).mean(axis=axis)
    return means


def _between(scores: Array) -> float:
    """Return the variance between the words of one group, excluding the residual variance; at least 0."""
    templates = len(scores)
    words = _means(scores, 0)
    middle = float(np.sort(words).mean())
    rest = scores - words - _means(scores, 1)[:, None] + middle
    error = float(np.sort((rest**2).ravel()).sum()) / ((templates - 1) * (len(words) - 1))
    return max(0.0, float(np.sort(words).var(ddof=1)) - error / templates)


# Items by people ------------------------------------------------------------------------------------------


def crossed_difference(
    ratings: Array,
    answers: Array,
    *,
    shared: float,
    calibrated: int | None,
    level: float,
    scale: tuple[float, float],
    weights: Array | None = None,
) -> Estimate:
    """Return the mean rating minus the respondents' mean over the same items, with a t interval and a test of 0.

    `ratings` has one rating per item, (items,); `answers` has the shape (people, items), without missing answers.
    `shared` is the variance of the mean rating due to a calibration on `calibrated` units (None: no calibration).
    `scale` contains the limits of the scale of ratings and answers; the interval is clipped to the differences that
    are possible on this scale, given the interval of the respondents' mean. `weights` are the respondents' survey
    weights, (people,), or None; the number of weighted respondents is Kish's effective number.

    The error variance has three components: items (the variance of their gaps), people (the variance of their means),
    and `shared`. The degrees of freedom are based on the smaller of the numbers of items and people, a conservative
    choice. The variation within people between items is included twice; this excess is small.
    """
    check_level(level)
    people, n = answers.shape
    counting = np.ones(people) if weights is None else weights
    means = answers.mean(axis=0) if weights is None else weights @ answers / weights.sum()
    gaps = ratings - means
    estimate = Estimate("", float(np.sort(gaps).mean()), n, level=level)
    if n < 2 or people < 2:
        return estimate.noted(Note("one-of-crossed", noun="statements" if n < 2 else "respondents"))
    parts = np.array([gaps.var(ddof=1) / n, mean_variance(answers.mean(axis=1), counting), shared])
    error = float(np.sqrt(parts.sum()))
    if not error > 1e-12 * (scale[1] - scale[0]):
        return estimate.noted(Note("nothing-varies-no-test"))
    df = min(n, people) - 1 if weights is None else max(1, min(n, int(effective_n(weights))) - 1)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, df)) * error
    least, most = _possible(answers, counting, means, scale, df, level)
    low, high = max(least, estimate.value - reach), min(most, estimate.value + reach)
    ends = low == least or high == most
    p = float(2 * scipy.stats.t.sf(abs(estimate.value) / error, df))
    noun = "respondents" if weights is None else "weighted respondents"
    method = Method("t-crossed", df=df, statements=n, people=people, noun=noun, neutral=calibrated)
    final = Estimate("", estimate.value, n, low, high, level, method)
    return final.tested(p, Method("t-test-same-errors", two_sided=True)).noted(Note("ends-of-survey") if ends else None)


def _possible(
    answers: Array, weights: Array, means: Array, scale: tuple[float, float], df: int, level: float
) -> tuple[float, float]:
    error = np.sqrt(mean_variance(answers.mean(axis=1), weights) + means.var(ddof=1) / len(means))
    half = float(scipy.stats.t.ppf((1 + level) / 2, df) * error)
    mean = float(np.sort(means).mean())
    low, high = max(scale[0], mean - half), min(scale[1], mean + half)
    return scale[0] - high, scale[1] - low
