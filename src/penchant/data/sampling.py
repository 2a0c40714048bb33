"""Samples of a stream that do not depend on its order: the items with the smallest of random priorities.

Each item's priority is a hash of what it says, so that equal items have one priority and count once, parts of a stream
can be sampled apart and put together, and the same items are drawn wherever they stand. Of a cell with more than k
distinct items the k-th smallest priority also tells how many there are (Bar-Yossef et al. 2002; Beyer et al. 2007).
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

SPACE = 1 << 64
"""Priorities are whole numbers from 0 to below this."""


def priority(seed: int, *parts: str) -> int:
    """The priority of what the parts say, uniform over seeds."""
    told = "\0".join((str(seed), *parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")


class Smallest:
    """The k smallest distinct priorities of each of many cells."""

    def __init__(self, cells: int, k: int) -> None:
        self.k = k
        self._kept: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)] * cells
        self._new: list[set[int]] = [set() for _ in range(cells)]
        self.limits = [SPACE] * cells
        """By cell: a priority from here on belongs to no sample. Never below the k-th smallest."""

    def add(self, cell: int, own: int) -> bool:
        """Take in a priority. False when it was there before, or can belong to no sample."""
        if own >= self.limits[cell] or own in self._new[cell]:
            return False
        kept = self._kept[cell]
        if len(kept):
            at = int(np.searchsorted(kept, np.uint64(own)))
            if at < len(kept) and int(kept[at]) == own:
                return False
        self._new[cell].add(own)
        if len(self._new[cell]) > max(64, self.k // 4):
            self._merge(cell)
        return True

    def extend(self, cell: int, priorities: NDArray[np.uint64]) -> None:
        """Take in many priorities of one cell at once."""
        self._new[cell].update(priorities.tolist())
        self._merge(cell)

    def _merge(self, cell: int) -> None:
        whole = np.union1d(self._kept[cell], np.fromiter(self._new[cell], np.uint64, len(self._new[cell])))
        self._kept[cell], self._new[cell] = whole[: self.k], set()
        if len(whole) >= self.k:
            self.limits[cell] = int(whole[self.k - 1]) + 1

    def sample(self, cell: int) -> NDArray[np.uint64]:
        """The priorities of the sample, the smallest first."""
        self._merge(cell)
        return self._kept[cell]

    def distinct(self, cell: int) -> tuple[int, bool]:
        """How many distinct items the cell had, and whether that is exact or the estimate (k − 1) / u, where u is the
        k-th smallest priority as a share of all; its relative standard error is 1 / √(k − 2), k > 2."""
        kept = self.sample(cell)
        if len(kept) < self.k:
            return len(kept), True
        return round((self.k - 1) * SPACE / int(kept[-1])), False
