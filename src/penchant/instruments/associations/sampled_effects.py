"""Effect sizes d from tables of associations: the difference in mean s between two sets of rows, divided by the sd.

s is the association of a row: its mean over the first set of columns minus that over the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.errors import DataError
from penchant.stats.bootstrap import resample_counts
from penchant.stats.inputs import Array, check_level, check_resamples

Table = NDArray[np.float32] | NDArray[np.float64]
Name = str | int | tuple[int | str, ...]
"""Name that identifies a stimulus; all names of a set are of one type."""
_BLOCK = 4_000_000
"""Array elements held at once while resampling."""
_DOUBLE = 1e-12
"""Largest sd regarded as rounding error in double-precision sums of cosines."""
_ONE = 1 - 1e-12
"""The correlation used in place of 1, whose artanh is infinite."""
SEPARATED = 0.999
"""Share of the largest d beyond which an effect size has no interval."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The set (`side`, 0 or 1) and the stimulus (`unit`) of every row or column of a table.

    Rows of one stimulus, such as sentences with the same word, are resampled together.
    """

    side: NDArray[np.intp]
    unit: NDArray[np.intp]

    @classmethod
    def of(cls, first: Sequence[Name], second: Sequence[Name]) -> Sides:
        """Build `Sides` from the names of two sets: equal names are one stimulus within a set, two stimuli across sets.

        Stimuli are numbered by name, so that resampling draws the same ones whatever their order in a file.
        """
        keys = [(0, name) for name in first] + [(1, name) for name in second]
        numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
        unit = [numbers[key] for key in keys]
        return cls(np.array([key[0] for key in keys], dtype=np.intp), np.array(unit, dtype=np.intp))

    def units(self, side: int) -> NDArray[np.intp]:
        """Return the stimuli of one set, in the order of their rows."""
        return np.array(list(dict.fromkeys(self.unit[self.side == side].tolist())), dtype=np.intp)

    def weights(self, counts: Array) -> Array:
        """Return row weights, shape (n, B), from the number of times each stimulus was drawn, shape (units, B)."""
        weights: Array = counts[self.unit]
        return weights

    def means(self, values: Array) -> tuple[Array, Array]:
        """Return the mean of each stimulus of the first and of the second set, from one value per row."""
        sums = np.bincount(self.unit, values)
        means = sums / np.bincount(self.unit)
        return means[self.units(0)], means[self.units(1)]


def contrasts(table: Table, columns: Sides) -> Array:
    """Return s of every row: shape (…, R) for tables of shape (…, R, C)."""
    array = np.asarray(table, dtype=np.float64)
    first = columns.side == 0
    s: Array = array[..., first].mean(axis=-1) - array[..., ~first].mean(axis=-1)
    return s


def effects(s: Array, rows: Sides, *, ddof: int = 1, rounding: float = _DOUBLE) -> Array:
    """Return d of every sample: shape (…) for s of shape (…, R). d is NaN where s varies by at most `rounding`."""
    return _weighted(s[..., None], np.ones((len(rows.side), 1)), rows, ddof, rounding)[..., 0]


def _weighted(s: Array, weights: Array, rows: Sides, ddof: int, rounding: float = _DOUBLE) -> Array:
    """Return d, shape (…, B), of s, shape (…, R, B); row r has the weight weights[r, b] in resample b."""
    first = (rows.side == 0)[:, None]
    w_first, w_second = weights * first, weights * ~first
    n = weights.sum(axis=0)
    # The weighted mean is subtracted before squaring, so that squares of large numbers do not cancel.
    centred = s - (np.einsum("...rb,rb->...b", s, weights) / n)[..., None, :]
    gap = np.einsum("...rb,rb->...b", centred, w_first / w_first.sum(axis=0) - w_second / w_second.sum(axis=0))
    slack = rounding * np.maximum(1.0, np.abs(s).max(axis=-2, initial=0.0))
    centred *= centred
    squares = np.einsum("...rb,rb->...b", centred, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(squares / (n - ddof))
        d: Array = np.where((n > ddof) & (sd > slack), gap / sd, np.nan)
    return d


def resampled_effects(
    tables: Table, rows: Sides, columns: Sides, *, seed: int, resamples: int, ddof: int = 1, paired: bool = False
) -> Array:
    """Return B bootstrap draws of the mean effect size of `tables`, shape (K, R, C).

    Stimuli are resampled within each of the four sets, and so are the K tables (such as samples of sentences).
    If `paired`, the stimuli of the two sets of columns are paired by position and drawn as pairs.
    """
    check_resamples(resamples)
    rng = np.random.default_rng([seed, 6])
    array = np.asarray(tables, dtype=np.float64)
    k, r, _ = array.shape
    means = np.empty(resamples)
    step = max(1, _BLOCK // (k * r))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        across = columns.weights(_drawn(columns, size, rng, paired=paired))
        mix = _mix(across, columns)
        down = rows.weights(_drawn(rows, size, rng))
        by_table = _weighted(array @ mix, down, rows, ddof)  # (K, B)
        share = rng.multinomial(k, np.full(k, 1 / k), size=size).T / k if k > 1 else np.ones((1, size))
        means[start : start + size] = np.where(share > 0, by_table * share, 0).sum(axis=0)
    return means


def counted_effects(table: Table, rows: Sides, columns: Sides, down: Array, across: Array, *, ddof: int = 1) -> Array:
    """Return d of `table`, shape (R, C), in every resample, shape (B,).

    `down` and `across`, shape (units, B), count how often each stimulus of the rows and of the columns was drawn.
    """
    array = np.asarray(table, dtype=np.float64)
    return _weighted(array @ _mix(columns.weights(across), columns), rows.weights(down), rows, ddof)


def largest_effect(rows: Sides, *, ddof: int = 1) -> float:
    """Return the largest possible d of these rows, reached when s is constant within each set.

    Any d is this value times the correlation of s with set membership.
    """
    n, share = len(rows.side), float((rows.side == 0).mean())
    return math.sqrt((n - ddof) / n / (share * (1 - share)))


def effect_interval(value: float, draws: Array, n: int, level: float, largest: float) -> tuple[float, float]:
    """Return the bounds of the interval of an effect size from the `draws` of `resampled_effects`.

    They are the basic bootstrap interval on the scale of artanh(d/largest), which is Fisher's z of a correlation
    (Davison & Hinkley 1997, §5.2). It corrects the bias of d towards 0 with few stimuli. Its tails are those of normal
    quantiles times √(n/(n − 1)), where n is the number of stimuli in the smallest set (Hesterberg 2015, The American
    Statistician 69:371–386). The bounds are NaN if there is one stimulus or no draw, or if d is within a
    thousandth of the largest (`SEPARATED`), where z tends to infinity.
    """
    check_level(level)
    if n < 2 or not len(draws) or np.isnan(draws).any() or abs(value) > SEPARATED * largest:
        return math.nan, math.nan
    tail = float(scipy.stats.norm.cdf(-math.sqrt(n / (n - 1)) * scipy.stats.norm.ppf((1 + level) / 2)))
    z, drawn_z = (np.arctanh(np.clip(d / largest, -_ONE, _ONE)) for d in (np.float64(value), draws))
    low, high = largest * np.tanh(2 * z - np.quantile(drawn_z, [1 - tail, tail]))
    return float(low), float(high)


def reliability(tables: Table, columns: Sides, *, paired: bool = False) -> float:
    """Return the share of the variance of s over rows that is not due to the choice of columns.

    The share is the mean over `tables`, shape (K, R, C), of 1 − (MSₐ/a + MS_b/b)/var s, with the mean squares of rows
    by columns within each set (Cronbach's α of a difference of means). d is about the square root of the share times
    the d of very many columns. The share is NaN if there is one row, or one stimulus in a set of columns.
    """
    array = np.asarray(tables, dtype=np.float64)
    each = [
        np.stack([array[..., columns.unit == unit].mean(axis=-1) for unit in columns.units(side)], axis=-1)
        for side in (0, 1)
    ]
    parts = [each[0] - each[1]] if paired else each
    if array.shape[-2] < 2 or min(part.shape[-1] for part in parts) < 2:
        return math.nan
    noise = np.zeros(len(array))
    for part in parts:
        centred = part - part.mean(axis=-1, keepdims=True) - part.mean(axis=-2, keepdims=True)
        centred += part.mean(axis=(-1, -2), keepdims=True)
        rows, n = part.shape[-2:]
        noise += (centred**2).sum(axis=(-1, -2)) / ((rows - 1) * (n - 1) * n)
    variance = contrasts(array, columns).var(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((1 - noise / variance).mean())


def resampled_contrasts(
    tables: Table, rows: Sides, columns: Sides, *, seed: int, resamples: int, paired: bool = False
) -> tuple[Array, Array]:
    """Return bootstrap draws of the mean s of the first and of the second set of rows, shape (S, B) each.

    All `tables`, shape (S, R, C), have the same stimuli, which are resampled for all tables at once.
    """
    check_resamples(resamples)
    rng = np.random.default_rng([seed, 7])
    mix = _mix(columns.weights(_drawn(columns, resamples, rng, paired=paired)), columns)
    down = rows.weights(_drawn(rows, resamples, rng))
    shares = [np.where((rows.side == side)[:, None], down, 0) for side in (0, 1)]
    array = np.asarray(tables, dtype=np.float64)
    first, second = (np.einsum("srb,rb->sb", array @ mix, share / share.sum(axis=0)) for share in shares)
    return first, second


def _mix(weights: Array, columns: Sides) -> Array:
    """Return the coefficient of each column in s (first mean minus second) in B resamples, shape (C, B)."""
    first = (columns.side == 0)[:, None]
    w_first, w_second = weights * first, weights * ~first
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Array = w_first / w_first.sum(axis=0) - w_second / w_second.sum(axis=0)
    return shares


def _drawn(sides: Sides, resamples: int, rng: np.random.Generator, *, paired: bool = False) -> Array:
    """Return the number of times each stimulus is drawn in bootstrap resamples, shape (units, B)."""
    sizes = [len(sides.units(side)) for side in (0, 1)]
    if paired and sizes[0] != sizes[1]:
        raise DataError(f"sets of {sizes[0]} and {sizes[1]} stimuli cannot be paired", where="association")
    strata = np.zeros(sum(sizes), dtype=np.intp)
    strata[sides.units(1)] = 1
    ones = np.ones(len(strata), dtype=np.intp)
    counts = resample_counts(ones, resamples, rng, strata=strata, paired=paired)
    if paired:  # paired by the order of rows, not by number
        counts[:, sides.units(1)] = counts[:, sides.units(0)]
    return np.ascontiguousarray(counts.T).astype(np.float64)


def effects_without(table: Table, rows: Sides, columns: Sides, *, ddof: int = 1) -> tuple[Array, Array]:
    """Return d without the stimulus of each row, shape (R,), and d without the stimulus of each column, shape (C,).

    d is NaN where a set would be empty.
    """
    array = np.asarray(table, dtype=np.float64)
    s = contrasts(array, columns)
    down = _all_but(rows)
    by_row = _weighted(np.repeat(s[:, None], down.shape[1], axis=1), down, rows, ddof) if down.size else np.empty(0)
    mix = _mix(_all_but(columns), columns)
    by_column = _weighted(array @ mix, np.ones((len(s), mix.shape[1])), rows, ddof)
    return by_row[rows.unit], by_column[columns.unit]


def _all_but(sides: Sides) -> Array:
    """Return weights, shape (n, units): column j is 0 for the rows of stimulus j, else 1; NaN if a set has only j."""
    weights: Array = (sides.unit[:, None] != np.arange(int(sides.unit.max()) + 1)).astype(np.float64)
    for side in (0, 1):
        units = sides.units(side)
        if len(units) == 1:
            weights[:, units] = np.nan
    return weights
