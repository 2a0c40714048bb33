"""Effect sizes from samples that each use one contextual vector per stimulus (CEAT; Guo & Caliskan 2021)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError
from penchant.instruments.associations.sampled_effects import Sides, effects
from penchant.stats.inputs import Array

_SINGLE = 1e-6
"""Largest sd regarded as rounding error in single-precision sums of cosines."""
_ROWS = 128
"""Number of vectors converted at once; small enough for a processor's cache at the usual widths."""
_TOO_LARGE = 65_536
"""Larger than any finite float16."""
_NO_FILL = np.int32(-0x70000001)
"""Mask that clears bits 28 to 30, which sign extension fills when a float16 is widened to a float32."""
KEPT = 200
"""Number of samples whose cosines are all kept, for the bootstrap over stimuli."""


@dataclass(frozen=True, slots=True)
class VectorPool:
    """The contextual vectors of one stimulus, and the index of the vector that each sample uses (`picks`).

    `vectors` returns the vectors, shape (n, d), of any float type. It is called only when a pool is used, so that not
    all pools are in memory at once.
    """

    vectors: Callable[[], NDArray[np.floating]]
    picks: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Contextual:
    """Effect sizes and variances of N samples, shape (N,) each, with the associations they are computed from.

    `s`, shape (R,), is averaged over all samples; `cosines`, shape (K, R, C), has the first K samples only.
    """

    effects: Array
    variances: Array
    s: Array
    cosines: NDArray[np.float32]


def contextual_effects(
    rows: tuple[Sequence[VectorPool], Sequence[VectorPool]],
    columns: tuple[Sequence[VectorPool], Sequence[VectorPool]],
    *,
    ddof: int = 1,
    keep: int = KEPT,
) -> Contextual:
    """Return effect sizes of samples that each use one contextual vector per stimulus (CEAT; Guo & Caliskan 2021).

    Variances are sd² of s over all targets; the cosines of the first `keep` samples are kept. Raises DataError for a
    vector that is zero or not finite.
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
    """Unit vectors of one pool at a time, in buffers that the next block overwrites."""

    def __init__(self) -> None:
        self.width = 0

    def take(self, pool: VectorPool) -> None:
        """Load the vectors of a pool."""
        self._vectors = pool.vectors()
        if self._vectors.shape[1] != self.width:
            self.width = self._vectors.shape[1]
            self._block = np.empty((_ROWS, self.width), np.float32)
            self._half = np.empty((_ROWS, self.width), np.float16)

    def blocks(self, picks: NDArray[np.intp], share: float = 1) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield blocks of the unit vectors of `picks`, multiplied by `share`, each with the position of its first pick.

        Raises DataError for a vector that is zero or not finite.
        """
        for start in range(0, len(picks), _ROWS):
            chosen = picks[start : start + _ROWS]
            block = self._block[: len(chosen)]
            if self._vectors.dtype == np.float16:
                half = self._half[: len(chosen)]
                np.take(self._vectors, chosen, axis=0, out=half, mode="clip")
                _widen(half, block)
            else:
                block[...] = self._vectors[chosen]
            lengths = np.sqrt(np.einsum("nd,nd->n", block, block))
            # `_widen` turns infinity and NaN of float16 into finite numbers of 65,536 and more.
            large = chosen[lengths >= _TOO_LARGE]
            if not (np.isfinite(lengths) & (lengths > 0)).all() or not np.isfinite(self._vectors[large]).all():
                raise DataError("a contextual vector is zero or not finite", where="association")
            block *= (np.float32(share) / lengths)[:, None]
            yield start, block

    def of(self, picks: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return a copy of the unit vectors of `picks`."""
        return np.concatenate([block.copy() for _, block in self.blocks(picks)])


def _widen(half: NDArray[np.floating], out: NDArray[np.float32]) -> None:
    """Convert finite float16 values to float32 exactly, with vectorised bit operations."""
    bits = out.view(np.int32)
    np.copyto(bits, half.view(np.int16))  # sign extension fills the upper half
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, _NO_FILL, out=bits)
    out *= np.float32(2.0**112)
