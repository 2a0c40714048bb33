"""Detection of near-duplicate sentences, such as boilerplate and copies that differ only in a date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.corpus.block_search import Extraction
from penchant.corpus.nfc import code_points, normalise
from penchant.corpus.text_folding import fold, fold_lines
from penchant.errors import missing_package

SHINGLE = 5
"""Number of characters in a shingle."""
THRESHOLD = 0.8
"""Minimum Jaccard similarity of near duplicates."""
BANDS, ROWS = 14, 5
"""Number of bands of hashes, and number of hashes per band.

Texts at the threshold agree in at least one band with probability 1 − (1 − 0.8⁵)¹⁴ = 0.996.
"""
_SEED = 20
_FACTOR = np.uint32(0x9E3779B1)  # odd, for hashes of shingles by multiplication
_SQUARE = np.uint32(0x9E3779B1**2 & 0xFFFFFFFF)
_MOST_BITS = 22  # of a hash used as an index, so that tables stay small
_ROUNDING = 1e-9
_BITS = 1024  # bits per mask; a sentence has about a hundred shingles
_BLOCK = 1 << 12  # number of masks computed at once
_WORTH = 0.9
"""Proportion of texts remaining after a round of exclusion above which no further round is made."""


class NearDuplicates:
    """Filter that drops near duplicates of earlier sentences.

    Two sentences are near duplicates if the Jaccard similarity of their shingles (sequences of five characters of the
    folded text) is at least `THRESHOLD` (Broder 1997); a near duplicate is detected with a probability of at least
    0.996. Candidates are found by MinHash and locality-sensitive hashing (Leskovec, Rajaraman & Ullman, Mining of
    Massive Datasets, section 3.4).
    """

    def __init__(self) -> None:
        """Create an empty filter. Raises MethodError if the package rensa is missing."""
        try:
            from rensa import RMinHash, RMinHashLSH
        except ImportError as error:
            raise missing_package("rensa", "corpus") from error
        self._minhash: Any = RMinHash
        self._index: Any = RMinHashLSH(THRESHOLD, BANDS * ROWS, BANDS)
        self._kept: list[str] = []
        self._texts: set[str] = set()
        self._masks = _Masks.empty()  # of the texts kept, by key
        self._prepared: dict[str, tuple[str, _Masks]] = {}

    def add(self, text: str) -> bool:
        """Keep a sentence and return True, or return False if it is a near duplicate of a kept sentence."""
        folded, mask = self._prepared.pop(text, None) or (fold(text), None)
        if folded in self._texts:
            return False
        pieces = shingles(folded)
        sketch = self._minhash(BANDS * ROWS, _SEED)
        sketch.update(pieces)
        mask = mask or _Masks.of([folded])
        candidates = self._index.query(sketch)
        if candidates and self._has_similar(pieces, mask, np.array(candidates)):
            return False
        self._index.insert(len(self._kept), sketch)
        self._masks.append(mask)
        self._kept.append(folded)
        self._texts.add(folded)
        return True

    def possible(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the texts that may have a near duplicate among `texts`, without pairwise comparison.

        A text is excluded if too many of its shingles occur in no other text. This is repeated on the remaining texts
        until hardly any more are excluded. Hash collisions can only add texts to the mask.
        """
        folded = fold_lines(texts)
        hashes = _Hashes.of(folded + "\n")
        left = np.arange(len(texts))
        while len(left):
            able = np.flatnonzero(hashes.repeated(THRESHOLD - _ROUNDING))
            done = len(able) > _WORTH * len(left)
            if len(able) < len(left):
                left, hashes = left[able], hashes.at(able)
            if done:
                break
        possible = np.zeros(len(texts), np.bool_)
        possible[left] = True
        if len(left):
            masks, lines = hashes.masks(), folded.split("\n")
            self._prepared = {texts[n]: (lines[n], masks.at(i)) for i, n in enumerate(left.tolist())}
        return possible

    def _has_similar(self, pieces: list[str], mask: _Masks, keys: NDArray[np.int64]) -> bool:
        able = keys[mask.highest_similarities(self._masks, keys) >= THRESHOLD].tolist()
        if not able:
            return False
        distinct = set(pieces)
        for key in able:
            # Only texts are stored: their shingles would take twenty times the memory.
            other = set(shingles(self._kept[key]))
            common = len(distinct & other)
            if common / (len(distinct) + len(other) - common) >= THRESHOLD:
                return True
        return False


class _Hashes(NamedTuple):
    """Hashes of the shingles that begin at each character of several newline-terminated texts.

    `starts` and `ends` delimit the texts; `shingles` has the number of shingles of each text, less than 1 for a text
    shorter than a shingle.
    """

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    shingles: NDArray[np.int64]

    @classmethod
    def of(cls, folded: str) -> _Hashes:
        """Hash folded texts, given as the newline-terminated lines of a string."""
        codes = code_points(folded).astype(np.uint32)
        ends = np.flatnonzero(codes == ord("\n"))
        sizes = np.diff(ends, prepend=-1)
        padded = np.append(codes, np.zeros(SHINGLE - 1, np.uint32))
        two = padded[:-1] * _FACTOR + padded[1:]
        four = two[:-2] * _SQUARE + two[2:]
        return cls(four[: len(codes)] * _FACTOR + padded[SHINGLE - 1 :], ends - sizes + 1, ends, sizes - SHINGLE)

    def at(self, numbers: NDArray[np.int64]) -> _Hashes:
        sizes = self.shingles[numbers] + SHINGLE
        ends = np.cumsum(sizes) - 1
        starts = ends - sizes + 1
        codes = self.codes[np.arange(sizes.sum()) + np.repeat(self.starts[numbers] - starts, sizes)]
        return _Hashes(codes, starts, ends, sizes - SHINGLE)

    def repeated(self, share: float) -> NDArray[np.bool_]:
        """Return a mask of the texts in which at least the proportion `share` of shingles may also occur elsewhere."""
        single = _single(self.codes)
        for place in range(SHINGLE):  # a sequence that runs into the next text is not a shingle
            single[np.maximum(self.ends - place, 0)] = False
        several = self.shingles - np.add.reduceat(single, self.starts, dtype=np.int64)
        return np.asarray((self.shingles < 1) | (several >= share * self.shingles))

    def masks(self) -> _Masks:
        counts = np.maximum(self.shingles, 0)
        bits = np.zeros((len(counts), _BITS // 64), np.uint64)
        for start in range(0, len(counts), _BLOCK):
            block = slice(start, start + _BLOCK)
            own = counts[block]
            texts = np.repeat(np.arange(len(own)), own)
            within = np.arange(len(texts)) - np.repeat(np.cumsum(own) - own, own)
            codes = self.codes[np.repeat(self.starts[block], own) + within]
            flags = np.zeros((len(own), _BITS), np.bool_)
            flags[texts, codes * _FACTOR >> np.uint32(32 - _BITS.bit_length() + 1)] = True
            bits[block] = np.packbits(flags, axis=1).view(np.uint64)
        least = np.maximum(_set_bits(bits), 1)
        return _Masks(bits, least, np.maximum(counts - least, 0))


class _Masks:
    """Bit masks of n shingle sets, of shape (n, number of 64-bit words); every shingle sets one bit.

    Set i has at least `least[i]` different shingles, and at most `spare[i]` more.
    """

    def __init__(self, bits: NDArray[np.uint64], least: NDArray[np.int64], spare: NDArray[np.int64]) -> None:
        self.bits = bits
        self.least = least
        self.spare = spare
        self._used = len(least)

    @classmethod
    def empty(cls) -> _Masks:
        return cls(np.zeros((0, _BITS // 64), np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64))

    @classmethod
    def of(cls, folded: Sequence[str]) -> _Masks:
        return _Hashes.of("\n".join([*folded, ""])).masks()

    def at(self, number: int) -> _Masks:
        part = slice(number, number + 1)
        return _Masks(self.bits[part], self.least[part], self.spare[part])

    def append(self, mask: _Masks) -> None:
        if self._used == len(self.least):
            room = max(16, self._used)
            self.bits = np.pad(self.bits, ((0, room), (0, 0)))
            self.least, self.spare = np.pad(self.least, (0, room)), np.pad(self.spare, (0, room))
        self.bits[self._used], self.least[self._used], self.spare[self._used] = mask.bits, mask.least[0], mask.spare[0]
        self._used += 1

    def highest_similarities(self, others: _Masks, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return upper bounds of the Jaccard similarity of the one set in `self` and the sets `keys` of `others`."""
        common = _set_bits(others.bits[keys] & self.bits) + np.minimum(others.spare[keys], self.spare)
        union = np.maximum(others.least[keys] + self.least - common, common)
        return np.asarray(common / np.maximum(union, 1))


def _single(hashes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    bits = min(len(hashes).bit_length() + 1, _MOST_BITS)
    slots = (hashes * _FACTOR >> np.uint32(32 - bits)).astype(np.intp)
    return np.asarray((np.bincount(slots, minlength=1 << bits) == 1).take(slots))


def _set_bits(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of set bits in each row of `masks`."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(masks).sum(axis=1, dtype=np.int64))
    return np.asarray(_bits_of_numbers().take(masks.view(np.uint16)).sum(axis=1, dtype=np.int64))


@cache
def _bits_of_numbers() -> NDArray[np.uint8]:
    return np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


def shingles(folded: str) -> list[str]:
    """Return all sequences of `SHINGLE` characters in a folded text; a shorter text is its own single shingle."""
    return [folded[start : start + SHINGLE] for start in range(max(len(folded) - SHINGLE + 1, 1))]


# Samples without near duplicates ------------------------------------------------------------------------------------


def drawn(
    rows: pl.DataFrame, settings: Extraction, kept: NDArray[np.int64], near: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return a mask of the rows to keep in the samples; rows must be sorted by word and priority.

    The numbers of kept rows and of near duplicates for each word and segment (cell) are added to `kept` and `near`.
    """
    mask = np.zeros(len(rows), np.bool_)
    cells = rows["cell"].to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(cells // len(settings.bins))) + 1).tolist(), len(rows)]
    for start, end in pairwise(bounds):
        first = _first_of_each(cells[start:end], settings.per_word)
        of_word = rows[start:end]
        # If none of these is a near duplicate of another, they are the sample, whatever rows follow.
        if settings.duplicates == "near" and _possible(of_word[first], NearDuplicates()):
            mask[start:end] = _without_near(of_word, settings.per_word, near)
        else:
            mask[start + first] = True
    kept += np.bincount(cells[mask], minlength=len(kept))
    return mask


def _first_of_each(cells: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    return np.sort(np.concatenate([np.flatnonzero(cells == cell)[:n] for cell in np.unique(cells)]))


def _possible(rows: pl.DataFrame, seen: NearDuplicates) -> dict[str, str]:
    """Return the sentences in `rows` that may be near duplicates according to `seen`, keyed by id."""
    texts = dict(
        zip(rows["id"].to_list(), map(normalise, rows["text"].to_list()), strict=True)
    )  # a sentence may have several rows
    return dict(compress(texts.items(), seen.possible([*texts.values()]).tolist()))


def _without_near(rows: pl.DataFrame, per_word: int, near: NDArray[np.int64]) -> list[bool]:
    seen = NearDuplicates()
    possible = _possible(rows, seen)
    is_new: dict[str, bool] = {}
    mask = []
    taken = Counter[int]()
    for cell, sentence in zip(rows["cell"].to_list(), rows["id"].to_list(), strict=True):
        room = taken[cell] < per_word
        if room and sentence in possible:
            is_new[sentence] = seen.add(possible.pop(sentence))
        mask.append(room and is_new.get(sentence, True))
        taken[cell] += mask[-1]
        near[cell] += room and not mask[-1]
    return mask
