"""Means, and differences of means, over rows that are crossed: every template with every person and every profession.

The units of every factor are a sample. The variance of the error is the jackknife's over the units of each factor; what
two factors share, such as the noise of single rows, is in both, and is taken off the others by the jackknife over the
units that they cross in (Cameron, Gelbach & Miller 2011, J. Bus. Econ. Stat. 29:238–249, without the terms that may
make a variance negative).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from penchant.records import Estimate
from penchant.stats.inputs import Array, Codes, check_level
from penchant.wording.phrases import Method, Note

Statistic = Callable[[Array], float]
"""A number of the rows that have weight 1, (rows,), where others have 0; NaN where too few are left."""
FEW = 5
"""Intervals over fewer units of a factor than this are called rough."""
_NONE = 1e-12
"""A variance below this share of the largest square is rounding."""


@dataclass(frozen=True, slots=True)
class Factor:
    """What rows are crossed by: the `noun` of its units, in the plural, and the unit of every row, (rows,), which is −1
    where a row is of none."""

    noun: str
    unit: Codes

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.unit.max(initial=-1)) + 1


def crossed(
    statistic: Statistic, factors: Sequence[Factor], *, n: int, level: float = 0.95, against: float | None = None
) -> Estimate:
    """A statistic of crossed rows with a t interval and, where there is a number to test it `against`, a t test; `n` is
    what it is over.

    The degrees of freedom are Satterthwaite's (1946, Biometrics Bulletin 2:110–114). Without an interval, with a note,
    where a factor has one unit, or where a statistic without one of its units is not defined.
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
    """The variance that comes from each factor with its degrees of freedom: that of the first in full, which is the one
    with the largest, that of the others without what they share with it."""
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
    """The jackknife's variance of a statistic over units; NaN where there is one, or no value without it."""
    number = int(unit.max(initial=-1)) + 1
    if number < 2:
        return np.nan
    values = np.sort([statistic((unit != each).astype(np.float64)) for each in range(number)])
    return float((number - 1) / number * ((values - values.mean()) ** 2).sum())


def _crossing(one: Codes, other: Codes) -> Codes:
    """The units that two factors cross in, −1 where a row is of no unit of either."""
    both = (one >= 0) & (other >= 0)
    crossing = np.full(len(one), -1, dtype=np.intp)
    crossing[both] = np.unique(np.column_stack([one[both], other[both]]), axis=0, return_inverse=True)[1].ravel()
    return crossing


def mean_of(values: Array) -> Statistic:
    """The mean of rows."""

    def statistic(weights: Array) -> float:
        total = weights.sum()
        return float(weights @ values / total) if total else np.nan

    return statistic


def paired_gap(values: Array, cells: Codes, second: Codes) -> Statistic:
    """The mean over cells of the mean of their rows of the first side minus that of the second (`second` 0 or 1); cells
    without a side do not count."""
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
