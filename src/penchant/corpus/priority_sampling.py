"""Order-independent sampling from a stream, by the smallest random priorities."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

SPACE = 1 << 64
"""Number of possible priorities: the integers from 0 to SPACE − 1."""


def priority(seed: int, *parts: str) -> int:
    """Return the priority of an item: a uniformly distributed hash of the seed and the item's parts.

    Equal items have equal priorities, so repeated items count once, and samples do not depend on where items occur.
    """
    return int.from_bytes(_begun(seed, *parts).digest(), "little")


def priorities(seed: int, words: Sequence[str], nths: Sequence[int], contents: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return `priority(seed, word, str(nth), content)` for each item; contents are encoded in UTF-8."""
    begun: dict[tuple[str, int], Any] = {}
    digests = []
    for word, nth, content in zip(words, nths, contents, strict=True):
        start = begun.get((word, nth))
        if start is None:
            start = begun[word, nth] = _begun(seed, word, str(nth), "")
        digest = start.copy()
        digest.update(content)
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def _begun(seed: int, *parts: str) -> Any:
    content = "\0".join((str(seed), *parts)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=8)


T = TypeVar("T")


def spread(
    items: Sequence[T], limit: int, *, seed: int, content: Callable[[T], Sequence[str]], group: Callable[[T], str]
) -> list[T]:
    """Return a sample of at most `limit` items, in their original order, spread evenly over the groups.

    The groups take turns, and each contributes its remaining item whose `content` has the smallest priority. Every
    sample is a subset of any larger sample of the same items with the same seed.
    """
    order = sorted(range(len(items)), key=lambda i: priority(seed, *content(items[i])))
    taken: Counter[str] = Counter()
    turns = []
    for i in order:
        turns.append((taken[group(items[i])], i))
        taken[group(items[i])] += 1
    turns.sort(key=lambda turn: turn[0])  # within a turn the priorities stay in order
    return [items[i] for i in sorted(i for _, i in turns[:limit])]


class Smallest:
    """Sample of the k smallest distinct priorities in each of several strata, called cells."""

    def __init__(self, cells: int, k: int) -> None:
        self.k = k
        self._kept: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)] * cells
        self._sorted = np.zeros(cells, np.bool_)
        self._new: list[set[int]] = [set() for _ in range(cells)]
        self.highest = np.full(cells, SPACE - 1, np.uint64)
        """Highest priority still accepted in each cell."""

    def add(self, cells: NDArray[np.int64], priorities: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add each priority to its cell, and return a mask of the priorities that are new and accepted."""
        added = np.zeros(len(cells), np.bool_)
        able = np.flatnonzero(priorities <= self.highest[cells])
        able = able[~self._kept_before(cells[able], priorities[able])]
        numbers, values = cells[able].tolist(), priorities[able].tolist()
        entered = []
        for place, cell, value in zip(able.tolist(), numbers, values, strict=True):  # most cells receive few priorities
            new = self._new[cell]
            if value not in new:
                new.add(value)
                entered.append(place)
        added[entered] = True
        for cell in set(numbers):
            if len(self._new[cell]) > max(64, self.k // 4):
                self._merge(cell)
        return added

    def entering(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add each row's `priority` to its `cell`, and return the rows that are new and accepted."""
        return rows.filter(self.add(rows["cell"].to_numpy().astype(np.int64), rows["priority"].to_numpy()))

    def _kept_before(self, cells: NDArray[np.int64], priorities: NDArray[np.uint64]) -> NDArray[np.bool_]:
        known = np.zeros(len(cells), np.bool_)
        sorted_before = np.flatnonzero(self._sorted[cells])
        for cell in np.unique(cells[sorted_before]).tolist():
            some = sorted_before[cells[sorted_before] == cell]
            kept, wanted = self._kept[cell], priorities[some]
            known[some] = kept[np.searchsorted(kept, wanted).clip(max=len(kept) - 1)] == wanted
        return known

    def extend(self, cell: int, priorities: NDArray[np.uint64]) -> None:
        """Add many priorities to a cell."""
        self._new[cell].update(priorities.tolist())
        self._merge(cell)

    def _merge(self, cell: int) -> None:
        if not self._new[cell]:
            return
        merged = np.union1d(self._kept[cell], np.fromiter(self._new[cell], np.uint64, len(self._new[cell])))
        self._kept[cell], self._new[cell] = merged[: self.k], set()
        self._sorted[cell] = True
        if len(merged) >= self.k:
            self.highest[cell] = merged[self.k - 1]

    def sample(self, cell: int) -> NDArray[np.uint64]:
        """Return the priorities in a cell's sample, in ascending order."""
        self._merge(cell)
        return self._kept[cell]

    def distinct(self, cell: int) -> tuple[int, bool]:
        """Return the number of distinct items in a cell, and True if it is exact rather than estimated.

        The estimate is (k − 1) / u, where u is the k-th smallest priority divided by the number of possible priorities;
        its relative standard error is 1 / √(k − 2) for k > 2 (Bar-Yossef et al. 2002; Beyer et al. 2007).
        """
        kept = self.sample(cell)
        if len(kept) < self.k:
            return len(kept), True
        return round((self.k - 1) * SPACE / int(kept[-1])), False
