"""Detection of ratings that are shifted by one row, so that they fit other raters' ratings one row up or down."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from penchant.records import Estimate
from penchant.stats.inputs import Array
from penchant.stats.rated_mean import with_others

Unit = TypeVar("Unit", bound=Hashable)
_FEWEST = 40
"""Minimum number of rated rows in a shift."""
_LEVEL = 0.995
"""Confidence level of the intervals that must not overlap; high, because some rows fit their neighbours by chance."""
_LEAST = 0.3
"""Minimum correlation with the other raters after moving the ratings back."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A run of shifted ratings, from row `first` to row `last`.

    If `down`, the ratings are one row too far down and fit the row above; otherwise, they fit the row below. `here` and
    `moved` are the correlations with the other raters before and after moving the ratings back.
    """

    down: bool
    first: int
    last: int
    here: Estimate
    moved: Estimate


def slipped(order: Sequence[Unit], own: Mapping[Unit, float], others: Mapping[Unit, float]) -> Slip | None:
    """Return the run of ratings that agree much better with the other raters one row up or down; None if there is none.

    `order` lists the units in the order of the rater's table, including unrated ones. Moving the run reduces the sum of
    squared distances to the other raters' means more than moving any other run. The run must have at least 40 rated
    rows. After the move, its rank correlation must be at least 0.3, with an interval above that before the move.
    """
    x, y = (np.array([table.get(unit, np.nan) for unit in order], dtype=np.float64) for table in (own, others))
    slips = [slip for down in (True, False) if (slip := _slip(x, y, down=down)) is not None]
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
    """Return the first and last index of the contiguous run with the largest sum (Kadane's algorithm)."""
    best, sum_, start, part = 0.0, 0.0, 0, (0, -1)
    for i, value in enumerate(gain.tolist()):
        if sum_ <= 0:
            sum_, start = 0.0, i
        sum_ += value
        if sum_ > best:
            best, part = sum_, (start, i)
    return part
