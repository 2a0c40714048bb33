"""Test of the difference between the effect sizes that two models give the same stimuli.

Where both are alike, each stimulus might as well have its association in the one from the other. So the associations,
scaled to mean 0 and sd 1 in each model, are exchanged between the models, stimulus by stimulus (a randomisation test of
paired data; Fisher 1935, §21), and both effect sizes are computed anew, sd included. Permuting X and Y instead would
test another thing: with d = 1.5 in both models it rejects almost never, because a d of 1.5 has less room than one of 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.associations.sampled_effects import Sides
from penchant.stats.association import Permutation
from penchant.stats.inputs import Array, Seed

_TOLERANCE = 1e-9
_ELEMENTS = 2_000_000
"""Array elements held at once."""


def exchange_test(
    first: Array, second: Array, rows: Sides, *, exact: int, draws: int = 10_000, seed: Seed = 0
) -> Permutation:
    """Two-sided test of equal effect sizes, from s of every row in two models: (K, R) each, for K samples whose effect
    sizes are averaged.

    Rows of one stimulus are exchanged together. A pattern and its mirror image give the same difference, so that n
    stimuli have 2ⁿ⁻¹ patterns; up to `exact`, all are enumerated, the one of the data included. Beyond that `draws` of
    them are drawn, and p = (1 + extreme)/(1 + draws). A pattern in which nothing varies counts as extreme. p is NaN
    where s does not vary in some sample.
    """
    a, b = _standardised(first), _standardised(second)
    units = int(rows.unit.max()) + 1
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Permutation(math.nan, 0, True, 0)
    total = 2 ** (units - 1)
    enumerated = total <= exact
    step = max(1, _ELEMENTS // a.size)
    blocks = _all_patterns(units, step) if enumerated else _drawn_patterns(units, draws, step, seed)
    bound = abs(float(_differences(a, b, np.zeros((1, len(rows.unit))), rows)[0]))
    extreme = ties = 0
    for patterns in blocks:
        sizes = np.abs(_differences(a, b, patterns[:, rows.unit], rows))
        extreme += int((~(sizes < bound - _TOLERANCE)).sum())
        ties += int((np.abs(sizes - bound) <= _TOLERANCE).sum())
    if enumerated:
        return Permutation(extreme / total, total, True, ties)
    return Permutation((1 + extreme) / (1 + draws), draws, False, ties)


def _standardised(s: Array) -> Array:
    centred = s - s.mean(axis=1, keepdims=True)
    sd = centred.std(axis=1, keepdims=True)
    scaled: Array = centred / np.where(sd > _TOLERANCE * np.abs(s).max(initial=0), sd, np.nan)
    return scaled


def _differences(a: Array, b: Array, exchanged: Array, rows: Sides) -> Array:
    """The mean over samples of d of the first model minus d of the second, in units of the largest, (B,), for rows of
    which those marked in `exchanged` (B, R) have changed places.

    Sums over rows are linear in the marks, so that each pattern costs three products and no copy of the table.
    """
    n = a.shape[1]
    first = rows.side == 0
    share = np.where(first, 1 / first.sum(), -1 / (~first).sum())
    gap = exchanged @ ((b - a) * share).T
    mean = exchanged @ (b - a).T / n
    squares = exchanged @ (b**2 - a**2).T / n
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (a @ share + gap) / _sd((a**2).mean(axis=1) + squares, mean)
        other = (b @ share - gap) / _sd((b**2).mean(axis=1) - squares, mean)
        differences: Array = (one - other).mean(axis=1)
    return differences


def _sd(squares: Array, mean: Array) -> Array:
    variance = squares - mean**2
    sd: Array = np.sqrt(np.where(variance > _TOLERANCE, variance, np.nan))
    return sd


def _all_patterns(units: int, step: int) -> Iterator[NDArray[np.float64]]:
    """Every pattern that leaves the first stimulus in its place, in blocks."""
    patterns = product((0.0, 1.0), repeat=units - 1)
    while block := list(islice(patterns, step)):
        yield np.column_stack([np.zeros(len(block)), np.array(block).reshape(len(block), units - 1)])


def _drawn_patterns(units: int, draws: int, step: int, seed: Seed) -> Iterator[NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    for start in range(0, draws, step):
        yield rng.integers(0, 2, size=(min(step, draws - start), units)).astype(np.float64)
