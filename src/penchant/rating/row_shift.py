"""Ratings that slipped by a row: a rater's column that fits the others' one row further up or down."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from penchant.records import Estimate
from penchant.stats.inputs import Array
from penchant.stats.raters import with_others

Unit = TypeVar("Unit", bound=Hashable)
_FEWEST = 40
"""The fewest units over which a slip is told."""
_LEVEL = 0.995
"""A slip is told where intervals of this level are apart, as of many rows some fit their neighbours by chance."""
_LEAST = 0.3
"""The least correlation after the move: raters who do not agree anywhere have not slipped."""


@dataclass(frozen=True, slots=True)
class Slip:
    """The ratings of the rows from `first` to `last` fit those of the row above (`down`: they stand too low), or of the
    row below; the correlations with the others as they stand and once they are moved back."""

    down: bool
    first: int
    last: int
    here: Estimate
    moved: Estimate


def slipped(order: Sequence[Unit], own: Mapping[Unit, float], others: Mapping[Unit, float]) -> Slip | None:
    """Return the rows whose ratings agree far better with the means of the others one row up or down, given the units
    in the order of the rater's table, with those that nobody rated.

    The rows are those that gain most in all by the move, by squared distances; the two rank correlations over them must
    have intervals apart. None where there is no such part of at least 40 rows.
    """
    x, y = (np.array([table.get(unit, np.nan) for unit in order], dtype=np.float64) for table in (own, others))
    slips = [found for down in (True, False) if (found := _slip(x, y, down=down)) is not None]
    return max(slips, key=lambda slip: slip.moved.value, default=None)


def _slip(x: Array, y: Array, *, down: bool) -> Slip | None:
    beside = np.append(np.nan, y[:-1]) if down else np.append(y[1:], np.nan)
    gain = (x - y) ** 2 - (x - beside) ** 2
    known = ~np.isnan(gain)
    first, last = _most(np.where(known, gain, 0.0))
    rows = np.flatnonzero(known[first : last + 1]) + first
    if len(rows) < _FEWEST:
        return None
    here = with_others(x[rows], y[rows], level=_LEVEL)
    moved = with_others(x[rows], beside[rows], level=_LEVEL)
    if not (moved.low > here.high and moved.value >= _LEAST):
        return None
    return Slip(down, int(rows[0]), int(rows[-1]), here, moved)


def _most(gain: Array) -> tuple[int, int]:
    """Return the first and the last row of the part with the largest sum (Kadane's algorithm)."""
    best, sum_, start, found = 0.0, 0.0, 0, (0, -1)
    for i, value in enumerate(gain.tolist()):
        if sum_ <= 0:
            sum_, start = 0.0, i
        sum_ += value
        if sum_ > best:
            best, found = sum_, (start, i)
    return found
