"""Effect sizes over tables of associations: of one table, of resampled stimuli, and of drawn contextual vectors.

A table has a row for every stimulus of two sets and a column for every stimulus of two others; WEAT's holds cosines,
with targets as rows and attributes as columns. s of a row is the mean over the first set of columns minus that over the
second, and the effect size d is the difference of the mean s of the two sets of rows, over the sd of s of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from penchant.errors import DataError
from penchant.stats.intervals import Array, check_level, check_resamples

Table = NDArray[np.float32] | NDArray[np.float64]
_BLOCK = 4_000_000
"""Numbers held at once while resampling."""
_ROWS = 128
"""Vectors gathered at once; small enough for a processor's cache at the usual widths."""
_DOUBLE, _SINGLE = 1e-12, 1e-6
"""An sd of no more than this is rounding, in sums of cosines of double and of single precision."""
_ONE = 1 - 1e-12
"""The correlation that stands for 1, of which artanh is infinite."""
_TOO_LARGE = 65_536
"""More than any number of float16."""
_NO_FILL = np.int32(-0x70000001)
"""All bits but those above a float16's exponent and below the sign of a float32."""
KEPT = 200
"""Samples of which every single cosine is kept, for the bootstrap over stimuli."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The rows (or columns) of a table: which of the two sets each belongs to (0 or 1), and which stimulus it is of.
    Rows of one stimulus, such as sentences with the same word, are resampled together."""

    side: NDArray[np.intp]
    unit: NDArray[np.intp]

    @classmethod
    def of(cls, first: Sequence[object], second: Sequence[object]) -> Sides:
        """Of the stimuli of two sets; equal names within a set are one stimulus, across the sets they are two."""
        keys = [(0, name) for name in first] + [(1, name) for name in second]
        numbers: dict[tuple[int, object], int] = {}
        unit = [numbers.setdefault(key, len(numbers)) for key in keys]
        return cls(np.array([key[0] for key in keys], dtype=np.intp), np.array(unit, dtype=np.intp))

    def units(self, side: int) -> NDArray[np.intp]:
        """The stimuli of one set, in order."""
        return np.array(list(dict.fromkeys(self.unit[self.side == side].tolist())), dtype=np.intp)

    def weights(self, counts: Array) -> Array:
        """(n, B) from how often each stimulus was drawn, (units, B)."""
        found: Array = counts[self.unit]
        return found

    def means(self, values: Array) -> tuple[Array, Array]:
        """The mean of each stimulus of the first set and of the second, from one value a row."""
        sums = np.bincount(self.unit, values)
        whole = sums / np.bincount(self.unit)
        return whole[self.units(0)], whole[self.units(1)]


def contrasts(table: Table, columns: Sides) -> Array:
    """s of every row, (…, R) from (…, R, C): the mean over the columns of the first set minus that over the second."""
    whole = np.asarray(table, dtype=np.float64)
    first = columns.side == 0
    found: Array = whole[..., first].mean(axis=-1) - whole[..., ~first].mean(axis=-1)
    return found


def effects(s: Array, rows: Sides, *, ddof: int = 1, rounding: float = _DOUBLE) -> Array:
    """d of every sample, (…,) from s (…, R); NaN where s does not vary by more than its rounding."""
    return _weighted(s[..., None], np.ones((len(rows.side), 1)), rows, ddof, rounding)[..., 0]


def _weighted(s: Array, weights: Array, rows: Sides, ddof: int, rounding: float = _DOUBLE) -> Array:
    """d of s (…, R, B) where row r counts weights[r, b] times."""
    first = (rows.side == 0)[:, None]
    one, two = weights * first, weights * ~first
    n = weights.sum(axis=0)
    # The mean of the rows that count is taken off before squares are, so that no squares of large numbers cancel.
    centred = s - (np.einsum("...rb,rb->...b", s, weights) / n)[..., None, :]
    gap = np.einsum("...rb,rb->...b", centred, one / one.sum(axis=0) - two / two.sum(axis=0))
    slack = rounding * np.maximum(1.0, np.abs(s).max(axis=-2, initial=0.0))
    centred *= centred
    squares = np.einsum("...rb,rb->...b", centred, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(squares / (n - ddof))
        found: Array = np.where((n > ddof) & (sd > slack), gap / sd, np.nan)
    return found


def resampled_effects(
    tables: Table, rows: Sides, columns: Sides, *, seed: int, resamples: int, ddof: int = 1, paired: bool = False
) -> Array:
    """Mean effect sizes (B,) of tables (K, R, C) whose stimuli were drawn anew, with replacement within each of the
    four sets, and of K tables (such as samples of sentences) drawn anew.

    `paired`: the columns' stimuli of the two sets belong together by position and are drawn as pairs.
    """
    check_resamples(resamples)
    rng = np.random.default_rng([seed, 6])
    whole = np.asarray(tables, dtype=np.float64)
    k, r, _ = whole.shape
    found = np.empty(resamples)
    step = max(1, _BLOCK // (k * r))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        across = columns.weights(_drawn(columns, size, rng, paired=paired))
        mix = _mix(across, columns)
        down = rows.weights(_drawn(rows, size, rng))
        each = _weighted(whole @ mix, down, rows, ddof)  # (K, B)
        share = rng.multinomial(k, np.full(k, 1 / k), size=size).T / k if k > 1 else np.ones((1, size))
        found[start : start + size] = np.where(share > 0, each * share, 0).sum(axis=0)
    return found


def largest_effect(rows: Sides, *, ddof: int = 1) -> float:
    """The largest d of these rows, which they have when s is one number in each set. d is this times the correlation of
    s with the set."""
    n, share = len(rows.side), float((rows.side == 0).mean())
    return math.sqrt((n - ddof) / n / (share * (1 - share)))


def effect_interval(value: float, draws: Array, n: int, level: float, largest: float) -> tuple[float, float]:
    """Bounds of an effect size from `draws` of `resampled_effects`: the basic bootstrap interval on the scale of
    artanh(d/largest), which is Fisher's z of a correlation (Davison & Hinkley 1997, §5.2).

    d of few stimuli is nearer to 0 than that of many, and d of resampled stimuli, of which fewer are distinct, nearer
    still; the basic interval takes this bias off, where quantiles of the draws would count it twice. Its tails are
    those of normal quantiles times √(n/(n − 1)), n the stimuli of the smallest set, because the spread of a bootstrap
    divides by n (Hesterberg 2015, The American Statistician 69:371–386). NaN for one stimulus or without draws.
    """
    check_level(level)
    if n < 2 or not len(draws) or np.isnan(draws).any():
        return math.nan, math.nan
    tail = float(stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.norm.ppf((1 + level) / 2)))
    z, drawn = (np.arctanh(np.clip(d / largest, -_ONE, _ONE)) for d in (np.float64(value), draws))
    low, high = largest * np.tanh(2 * z - np.quantile(drawn, [1 - tail, tail]))
    return float(low), float(high)


def resampled_contrasts(
    tables: Table, rows: Sides, columns: Sides, *, seed: int, resamples: int, paired: bool = False
) -> tuple[Array, Array]:
    """Mean s of the first and of the second set of rows, (S, B) each, of tables (S, R, C) of the same stimuli, which
    are drawn anew for all tables at once."""
    check_resamples(resamples)
    rng = np.random.default_rng([seed, 7])
    mix = _mix(columns.weights(_drawn(columns, resamples, rng, paired=paired)), columns)
    down = rows.weights(_drawn(rows, resamples, rng))
    shares = [np.where((rows.side == side)[:, None], down, 0) for side in (0, 1)]
    whole = np.asarray(tables, dtype=np.float64)
    first, second = (np.einsum("srb,rb->sb", whole @ mix, share / share.sum(axis=0)) for share in shares)
    return first, second


def _mix(weights: Array, columns: Sides) -> Array:
    """What each column adds to the mean over the first set minus that over the second, (C, B)."""
    first = (columns.side == 0)[:, None]
    one, two = weights * first, weights * ~first
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = one / one.sum(axis=0) - two / two.sum(axis=0)
    return found


def _drawn(sides: Sides, resamples: int, rng: np.random.Generator, *, paired: bool = False) -> Array:
    """How often each stimulus was drawn, (units, B)."""
    counts = np.zeros((int(sides.unit.max()) + 1, resamples))
    shared: Array | None = None
    for side in (0, 1):
        units = sides.units(side)
        drawn = shared if paired and shared is not None else _multinomial(len(units), resamples, rng)
        if len(drawn) != len(units):
            raise DataError(f"{len(drawn)} and {len(units)} stimuli cannot be pairs", where="association")
        counts[units] = shared = drawn
    return counts


def _multinomial(n: int, resamples: int, rng: np.random.Generator) -> Array:
    return rng.multinomial(n, np.full(n, 1 / n), size=resamples).T.astype(np.float64)


def effects_without(table: Table, rows: Sides, columns: Sides, *, ddof: int = 1) -> tuple[Array, Array]:
    """d of a table (R, C) without each stimulus of the rows, and without each of the columns, one a row and a column;
    NaN where a set would be empty."""
    whole = np.asarray(table, dtype=np.float64)
    s = contrasts(whole, columns)
    down = _all_but(rows)
    by_row = _weighted(np.repeat(s[:, None], down.shape[1], axis=1), down, rows, ddof) if down.size else np.empty(0)
    mix = _mix(_all_but(columns), columns)
    by_column = _weighted(whole @ mix, np.ones((len(s), mix.shape[1])), rows, ddof)
    return by_row[rows.unit], by_column[columns.unit]


def _all_but(sides: Sides) -> Array:
    """Weights (n, units): one for all rows but those of one stimulus; NaN where its set has no other."""
    weights: Array = (sides.unit[:, None] != np.arange(int(sides.unit.max()) + 1)).astype(np.float64)
    for side in (0, 1):
        units = sides.units(side)
        if len(units) == 1:
            weights[:, units] = np.nan
    return weights


# Contextual vectors ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pool:
    """The contextual vectors of one stimulus and which of them each sample takes. `vectors` gives (n, d), of any float
    type; it is called when they are wanted, so that not all pools are in memory at once."""

    vectors: Callable[[], NDArray[np.floating]]
    picks: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Contextual:
    """Of N samples: effect sizes (N,) and their variances (N,), s of every row averaged over the samples (R,), and of
    the first K samples every cosine, (K, R, C)."""

    effects: Array
    variances: Array
    s: Array
    cosines: NDArray[np.float32]


def contextual_effects(
    rows: tuple[Sequence[Pool], Sequence[Pool]],
    columns: tuple[Sequence[Pool], Sequence[Pool]],
    *,
    ddof: int = 1,
    keep: int = KEPT,
) -> Contextual:
    """Effect sizes of samples that take one contextual vector of each stimulus (CEAT; Guo & Caliskan 2021).

    s of a vector is its cosine with a difference of mean unit vectors, so each sample needs the sum of its attributes'
    vectors and one product for each target, not every cosine. Variances are sd² of s over all targets. Raises DataError
    for a vector without direction.
    """
    n = len(rows[0][0].picks)
    kept = min(keep, n)
    sizes = [len(part) for part in columns]
    rows_all, columns_all = [*rows[0], *rows[1]], [*columns[0], *columns[1]]
    direction = np.empty(0, np.float32)
    across: list[NDArray[np.float32]] = []
    units = _Units()
    for j, pool in enumerate(columns_all):
        units.take(pool)
        if not j:
            direction = np.zeros((n, units.width), np.float32)
        for start, block in units.blocks(pool.picks, 1 / sizes[0] if j < sizes[0] else -1 / sizes[1]):
            direction[start : start + len(block)] += block
        across.append(units.of(pool.picks[:kept]))
    s = np.empty((n, len(rows_all)))
    down: list[NDArray[np.float32]] = []
    for i, pool in enumerate(rows_all):
        units.take(pool)
        for start, block in units.blocks(pool.picks):
            s[start : start + len(block), i] = np.einsum("nd,nd->n", direction[start : start + len(block)], block)
        down.append(units.of(pool.picks[:kept]))
    cosines = np.einsum("rkd,ckd->krc", np.stack(down), np.stack(across))
    sides = Sides.of(range(len(rows[0])), range(len(rows[1])))
    variances = s.var(axis=1, ddof=ddof) if s.shape[1] > ddof else np.full(n, math.nan)
    return Contextual(effects(s, sides, ddof=ddof, rounding=_SINGLE), variances, s.mean(axis=0), cosines)


class _Units:
    """The vectors of one pool after the other, handed out at unit length, in memory that the next block overwrites."""

    def __init__(self) -> None:
        self.width = 0

    def take(self, pool: Pool) -> None:
        """Go on with this pool."""
        self._given = pool.vectors()
        if self._given.shape[1] != self.width:
            self.width = self._given.shape[1]
            self._block = np.empty((_ROWS, self.width), np.float32)
            self._half = np.empty((_ROWS, self.width), np.float16)

    def blocks(self, picks: NDArray[np.intp], share: float = 1) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The unit vectors of some picks times `share`, block by block, each with its first one's place. Raises
        DataError for a vector that has no direction."""
        for start in range(0, len(picks), _ROWS):
            chosen = picks[start : start + _ROWS]
            block = self._block[: len(chosen)]
            if self._given.dtype == np.float16:
                half = self._half[: len(chosen)]
                np.take(self._given, chosen, axis=0, out=half, mode="clip")
                _widen(half, block)
            else:
                block[...] = self._given[chosen]
            lengths = np.sqrt(np.einsum("nd,nd->n", block, block))
            # Infinity and NaN of float16 have become numbers, of 65,536 and more.
            large = chosen[lengths >= _TOO_LARGE]
            if not (np.isfinite(lengths) & (lengths > 0)).all() or not np.isfinite(self._given[large]).all():
                raise DataError("a contextual vector has no direction", where="association")
            block *= (np.float32(share) / lengths)[:, None]
            yield start, block

    def of(self, picks: NDArray[np.intp]) -> NDArray[np.float32]:
        """The unit vectors of some picks, kept."""
        return np.concatenate([block.copy() for _, block in self.blocks(picks)])


def _widen(half: NDArray[np.floating], out: NDArray[np.float32]) -> None:
    """Finite float16 as float32, exactly: the bits moved to their places, the exponent mended by a product. NumPy's own
    conversion goes number by number and takes longer than everything else here."""
    bits = out.view(np.int32)
    np.copyto(bits, half.view(np.int16))  # the sign fills the upper half
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, _NO_FILL, out=bits)
    out *= np.float32(2.0**112)
