"""Samples of a stream that do not depend on its order: the items with the smallest random priorities.

The priority of an item is a hash of its content: equal items share a priority and count once, parts of a stream can be
sampled separately and merged, and the same items are drawn wherever they occur. For a cell with more than k distinct
items, the k-th smallest priority also estimates how many there are (Bar-Yossef et al. 2002; Beyer et al. 2007).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SPACE = 1 << 64
"""Priorities are integers from 0 to below this."""


def priority(seed: int, *parts: str) -> int:
    """The priority of an item described by its parts, uniform over seeds."""
    content = "\0".join((str(seed), *parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


T = TypeVar("T")


def spread(
    items: Sequence[T], limit: int, *, seed: int, content: Callable[[T], Sequence[str]], group: Callable[[T], str]
) -> list[T]:
    """At most `limit` items, in their order, spread evenly over their groups: from each in turn the one of the smallest
    priority. A sample of fewer is part of every sample of more."""
    order = sorted(range(len(items)), key=lambda i: priority(seed, *content(items[i])))
    taken: Counter[str] = Counter()
    turns = []
    for i in order:
        turns.append((taken[group(items[i])], i))
        taken[group(items[i])] += 1
    turns.sort(key=lambda turn: turn[0])  # within a turn the priorities stay in order
    return [items[i] for i in sorted(i for _, i in turns[:limit])]


class Smallest:
    """The k smallest distinct priorities of each of many cells."""

    def __init__(self, cells: int, k: int) -> None:
        self.k = k
        self._kept: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)] * cells
        self._new: list[set[int]] = [set() for _ in range(cells)]
        self.limits = [SPACE] * cells
        """By cell, the lowest priority that can no longer enter the sample; always above the k-th smallest."""

    def add(self, cell: int, value: int) -> bool:
        """Add a priority. Returns False if it was there before, or cannot belong to the sample."""
        if value >= self.limits[cell] or value in self._new[cell]:
            return False
        kept = self._kept[cell]
        if len(kept):
            at = int(np.searchsorted(kept, np.uint64(value)))
            if at < len(kept) and int(kept[at]) == value:
                return False
        self._new[cell].add(value)
        if len(self._new[cell]) > max(64, self.k // 4):
            self._merge(cell)
        return True

    def extend(self, cell: int, priorities: NDArray[np.uint64]) -> None:
        """Add many priorities of one cell."""
        self._new[cell].update(priorities.tolist())
        self._merge(cell)

    def _merge(self, cell: int) -> None:
        merged = np.union1d(self._kept[cell], np.fromiter(self._new[cell], np.uint64, len(self._new[cell])))
        self._kept[cell], self._new[cell] = merged[: self.k], set()
        if len(merged) >= self.k:
            self.limits[cell] = int(merged[self.k - 1]) + 1

    def sample(self, cell: int) -> NDArray[np.uint64]:
        """The priorities of the sample, in rising order."""
        self._merge(cell)
        return self._kept[cell]

    def distinct(self, cell: int) -> tuple[int, bool]:
        """The number of distinct items in a cell, and whether it is exact. Otherwise it is estimated as (k − 1) / u,
        with u the k-th smallest priority as a share of all; its relative standard error is 1 / √(k − 2), for k > 2."""
        kept = self.sample(cell)
        if len(kept) < self.k:
            return len(kept), True
        return round((self.k - 1) * SPACE / int(kept[-1])), False
