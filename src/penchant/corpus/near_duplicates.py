"""Near duplicates of earlier sentences: copies with another date or headline, templates, boilerplate.

Two sentences are near duplicates if the sets of their shingles (runs of five characters of the folded text) have a
Jaccard similarity at or above a threshold (Broder 1997). Candidates are found by MinHash and bands of hashes (Leskovec,
Rajaraman & Ullman, Mining of Massive Datasets, section 3.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant.corpus.folding import fold, fold_all
from penchant.corpus.normalisation import code_points
from penchant.errors import MethodError, missing_package

SHINGLE = 5
"""Characters per shingle."""
RECALL = 0.995
"""The share of pairs exactly at the threshold that the bands detect; it rises quickly above the threshold."""
_HASHES = 72  # most hashes per sentence
_SEED = 20
_FACTOR = np.uint32(0x9E3779B1)  # odd, for hashes of shingles by multiplication
_MOST_BITS = 22  # of a hash, so that tables by hash stay small
_ROUNDING = 1e-9
_BITS = 4096  # bits per mask; a sentence has about a hundred shingles


class NearDuplicates:
    """Decides for each of a series of sentences whether it is a near duplicate of one kept before.

    A sentence is only dropped if its similarity to a kept one reaches the threshold, and then with a probability of at
    least `RECALL`. Which are dropped depends only on the sentences, their order, and the version of the hashes
    (`rensa.RMinHash.ALGORITHM_VERSION`).
    """

    def __init__(self, threshold: float = 0.8) -> None:
        """`threshold` is the Jaccard similarity, 0.1 to 1, at which sentences are near duplicates. Raises MethodError,
        also if the package rensa is missing."""
        if not 0.1 <= threshold <= 1:
            raise MethodError(
                f"{threshold} is not a valid threshold for near duplicates", hint="use 0.1 to 1, such as 0.8"
            )
        try:
            from rensa import RMinHash, RMinHashLSH
        except ImportError as error:
            raise missing_package("rensa", "corpus") from error
        self.threshold = threshold
        bands, rows = bands_and_rows(threshold)
        self._hashes = bands * rows
        self._minhash: Any = RMinHash
        self._index: Any = RMinHashLSH(threshold, self._hashes, bands)
        self._kept: list[str] = []
        self._texts: set[str] = set()
        self._known: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        """The number of sentences kept."""
        return len(self._kept)

    def add(self, text: str) -> bool:
        """Return True for a new sentence, which is kept, and False for a near duplicate of one kept before."""
        folded = fold(text)
        if folded in self._texts:
            return False
        pieces = shingles(folded)
        sketch = self._minhash(self._hashes, _SEED)
        sketch.update(pieces)
        candidates = self._index.query(sketch)
        if candidates and self._has_similar(set(pieces), candidates):
            return False
        self._index.insert(len(self._kept), sketch)
        self._kept.append(folded)
        self._texts.add(folded)
        return True

    def possible(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which of some texts may have a near duplicate among them, at a fraction of the cost of comparing them.

        If two texts have a similarity of t, at least the share t of the shingles of each stand in the other, too. So a
        text has none if more than 1 − t of its shingles are seen once only. Shingles are counted by a hash of few bits,
        for which one may be taken for another; that, like a text shorter than a shingle, only makes more possible.
        """
        codes = code_points("".join(f"{text}\n" for text in fold_all(texts))).astype(np.uint32)
        ends = np.flatnonzero(codes == ord("\n"))
        sizes = np.diff(ends, prepend=-1)
        padded = np.append(codes, np.zeros(SHINGLE - 1, np.uint32))
        hashes = np.zeros(len(codes), np.uint32)
        for place in range(SHINGLE):
            hashes = hashes * _FACTOR + padded[place : place + len(codes)]
        single = _single(hashes)
        for place in range(SHINGLE):  # what runs into the next text is no shingle
            single[np.maximum(ends - place, 0)] = False
        shingled = sizes - SHINGLE
        shared = shingled - np.add.reduceat(single, ends - sizes + 1, dtype=np.int64)
        return np.asarray((shingled < 1) | (shared >= (self.threshold - _ROUNDING) * shingled))

    def _has_similar(self, pieces: set[str], candidates: list[int]) -> bool:
        """Whether the Jaccard similarity to one of the candidates is at least the threshold.

        Templates have very many candidates, so the masks are compared first: two sets share at most as many shingles
        as their masks share bits, plus the shingles of one set that share a bit with another of that set.
        """
        size, mask = len(pieces), _mask(pieces)
        shared = size - mask.bit_count()
        for key in candidates:
            if key not in self._known:
                kept = set(shingles(self._kept[key]))
                self._known[key] = len(kept), _mask(kept)
            other_size, other_mask = self._known[key]
            common = min((mask & other_mask).bit_count() + shared, size, other_size)
            if common / (size + other_size - common) < self.threshold:
                continue
            # Only texts are stored: their shingles would take twenty times the memory.
            common = len(pieces.intersection(shingles(self._kept[key])))
            if common / (size + other_size - common) >= self.threshold:
                return True
        return False


def _single(hashes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which hashes share their first bits with no other."""
    bits = min(len(hashes).bit_length() + 2, _MOST_BITS)
    slots = (hashes * _FACTOR >> np.uint32(32 - bits)).astype(np.intp)
    places = np.arange(len(slots), dtype=np.int32)
    last = np.empty(1 << bits, np.int32)
    last[slots] = places
    several = np.zeros(1 << bits, np.bool_)
    several[slots[last[slots] != places]] = True
    return ~several[slots]


def _mask(pieces: set[str]) -> int:
    """Set a bit for every shingle; which bit it is does not affect what is kept."""
    mask = 0
    for shingle in pieces:
        mask |= 1 << hash(shingle) % _BITS
    return mask


def shingles(folded: str) -> list[str]:
    """All runs of `SHINGLE` characters of a folded text, in order; a shorter text is a single one."""
    return [folded[start : start + SHINGLE] for start in range(max(len(folded) - SHINGLE + 1, 1))]


def bands_and_rows(threshold: float) -> tuple[int, int]:
    """Choose b bands of r hashes, so that at least one band agrees with probability 1 − (1 − threshold^r)^b ≥ `RECALL`.

    These are the longest bands, which yield the fewest dissimilar candidates, with at most `_HASHES` hashes in all.
    """
    if threshold == 1:
        return 1, _HASHES
    fits = [(math.ceil(math.log(1 - RECALL) / math.log1p(-(threshold**rows))), rows) for rows in range(1, _HASHES + 1)]
    return max((pair for pair in fits if pair[0] * pair[1] <= _HASHES), key=lambda pair: pair[1])
