"""Ratings of the same statements held against each other: between groups, between wordings, and between models.

The unit is the statement: the two ratings of each are subtracted, and the mean of the differences has the interval that
mean ratings have, with the same resampled calibrations on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.values.cells import Array, Cell, Cells
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.settings import DIFFERENCE as DIFFERENCE
from penchant.records import Estimate

WORDINGS = "difference of ratings between wordings"
"""Of one wording minus another, each averaged over the groups."""


def groups_compared(cells: Cells, variant: str, first: str, second: str) -> Iterator[Estimate]:
    """Ratings of one group minus those of another in a wording, paired by statement."""
    a, b = cells.cells[variant, first], cells.cells[variant, second]
    return compared_values(cells, a, b, {"variant": variant, "group": f"{first} − {second}", "item": ""})


def compared_values(cells: Cells, a: Cell, b: Cell, by: Mapping[str, str]) -> Iterator[Estimate]:
    """Ratings of one cell minus those of another by value, paired by statement."""
    for name, inside in cells.blocks():
        yield replace(_paired(cells, [a], [b], inside), measure=DIFFERENCE, by={**by, "dimension": name})


def wordings_compared(cells: Cells, first: str, second: str) -> Iterator[Estimate]:
    """Ratings in one wording minus those in another by value, paired by statement; a statement's rating in a wording is
    its mean over the groups."""
    a, b = ([cells.cells[variant, group] for group in cells.groups] for variant in (first, second))
    for name, inside in cells.blocks():
        by = {"variant": f"{first} − {second}", "group": EVERYTHING, "dimension": name, "item": ""}
        yield replace(_paired(cells, a, b, inside), measure=WORDINGS, by=by)


def _paired(cells: Cells, a: Sequence[Cell], b: Sequence[Cell], inside: NDArray[np.bool_]) -> Estimate:
    """The mean over the statements inside of the mean rating of some cells minus that of others."""
    gaps = _mean([cell.towards[inside] for cell in a]) - _mean([cell.towards[inside] for cell in b])
    draws = _mean([cell.drawn_towards(inside) for cell in a]) - _mean([cell.drawn_towards(inside) for cell in b])
    # Flipping the signs of statements would take the two calibrations for known: it rejects what is true in 10 %.
    return cells.mean(gaps, draws, (LOW - HIGH, HIGH - LOW), against=0)


def _mean(tables: Sequence[Array]) -> Array:
    """The mean of some arrays of one shape."""
    mean: Array = sum(tables[1:], tables[0]) / len(tables)
    return mean
