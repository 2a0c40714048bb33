"""Near duplicates of earlier sentences: copies with another date or headline, templates, boilerplate."""

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
"""Characters per shingle."""
THRESHOLD = 0.8
"""Jaccard similarity from which sentences are near duplicates."""
BANDS, ROWS = 14, 5
"""Bands of so many hashes. One at least agrees with probability 1 − (1 − 0.8⁵)¹⁴ = 0.996 for pairs exactly at the
threshold, and more above it; longer bands yield fewer dissimilar candidates, but would miss more at 72 hashes."""
_SEED = 20
_FACTOR = np.uint32(0x9E3779B1)  # odd, for hashes of shingles by multiplication
_SQUARE = np.uint32(0x9E3779B1**2 & 0xFFFFFFFF)
_MOST_BITS = 22  # of a hash, so that tables by hash stay small
_ROUNDING = 1e-9
_BITS = 1024  # bits per mask; a sentence has about a hundred shingles
_BLOCK = 1 << 12  # masks made at once
_WORTH = 0.9
"""Texts are counted again without the others if at most this share of them is left: that costs a twentieth of what it
does to compare a text."""


class NearDuplicates:
    """Decides for each of a series of sentences whether it is a near duplicate of one kept before.

    A sentence is only dropped if the Jaccard similarity of its shingles (runs of five characters of the folded text) to
    those of a kept one reaches `THRESHOLD` (Broder 1997), and then with a probability of at least 0.996. MinHash and
    bands of hashes find candidates (Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, section 3.4).
    """

    def __init__(self) -> None:
        """Raises MethodError if the package rensa is missing."""
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
        """Return True for a new sentence, which is kept, and False for a near duplicate of one kept before."""
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
        """Which of some texts may have a near duplicate among them, at a fraction of the cost of comparing them.

        If two texts have a similarity of t, at least the share t of the shingles of each stand in the other, too. So a
        text has none if more than 1 − t of its shingles are seen once only. Shingles are counted by a hash of few bits,
        for which one may be taken for another; that, like a text shorter than a shingle, only makes more possible. As
        long as there are fewer each time, they are counted again without the others, none of which is like them. Those
        that remain are prepared for `add`.
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
        """Whether the Jaccard similarity to one of the texts of these keys is at least the threshold.

        Templates have very many candidates, so a bound by masks excludes nearly all of them first.
        """
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
    """A hash for each place of several texts, joined by line ends: that of the shingle which begins there. `starts` and
    `ends` (its line end) are those of each text, `shingles` its number of them, below 1 for one shorter than a
    shingle."""

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    shingles: NDArray[np.int64]

    @classmethod
    def of(cls, folded: str) -> _Hashes:
        """Those of folded texts, each a line of one text, with its end."""
        codes = code_points(folded).astype(np.uint32)
        ends = np.flatnonzero(codes == ord("\n"))
        sizes = np.diff(ends, prepend=-1)
        padded = np.append(codes, np.zeros(SHINGLE - 1, np.uint32))
        two = padded[:-1] * _FACTOR + padded[1:]
        four = two[:-2] * _SQUARE + two[2:]
        return cls(four[: len(codes)] * _FACTOR + padded[SHINGLE - 1 :], ends - sizes + 1, ends, sizes - SHINGLE)

    def at(self, numbers: NDArray[np.int64]) -> _Hashes:
        """Those of some of the texts."""
        sizes = self.shingles[numbers] + SHINGLE
        ends = np.cumsum(sizes) - 1
        starts = ends - sizes + 1
        codes = self.codes[np.arange(sizes.sum()) + np.repeat(self.starts[numbers] - starts, sizes)]
        return _Hashes(codes, starts, ends, sizes - SHINGLE)

    def repeated(self, share: float) -> NDArray[np.bool_]:
        """Of which texts at least this share of the shingles may be seen more than once, or which have none."""
        single = _single(self.codes)
        for place in range(SHINGLE):  # what runs into the next text is no shingle
            single[np.maximum(self.ends - place, 0)] = False
        several = self.shingles - np.add.reduceat(single, self.starts, dtype=np.int64)
        return np.asarray((self.shingles < 1) | (several >= share * self.shingles))

    def masks(self) -> _Masks:
        """The masks of the texts."""
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
    """A mask for each of several sets of shingles, in which every shingle sets a bit: `bits` (n, words). A set has at
    least `least` shingles, one for each bit that is set, and at most `spare` more."""

    def __init__(self, bits: NDArray[np.uint64], least: NDArray[np.int64], spare: NDArray[np.int64]) -> None:
        self.bits = bits
        self.least = least
        self.spare = spare
        self._used = len(least)

    @classmethod
    def empty(cls) -> _Masks:
        """None as yet."""
        return cls(np.zeros((0, _BITS // 64), np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64))

    @classmethod
    def of(cls, folded: Sequence[str]) -> _Masks:
        """Those of folded texts."""
        return _Hashes.of("\n".join([*folded, ""])).masks()

    def at(self, number: int) -> _Masks:
        """One of them."""
        part = slice(number, number + 1)
        return _Masks(self.bits[part], self.least[part], self.spare[part])

    def append(self, mask: _Masks) -> None:
        """Add one behind the others."""
        if self._used == len(self.least):
            room = max(16, self._used)
            self.bits = np.pad(self.bits, ((0, room), (0, 0)))
            self.least, self.spare = np.pad(self.least, (0, room)), np.pad(self.spare, (0, room))
        self.bits[self._used], self.least[self._used], self.spare[self._used] = mask.bits, mask.least[0], mask.spare[0]
        self._used += 1

    def highest_similarities(self, others: _Masks, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """At most how similar this set, the only one here, is to some of the others.

        Two sets share at most as many shingles as their masks share bits, plus the shingles of a set that share a bit
        with another of it, in the set that has fewer of these.
        """
        common = _set_bits(others.bits[keys] & self.bits) + np.minimum(others.spare[keys], self.spare)
        union = np.maximum(others.least[keys] + self.least - common, common)
        return np.asarray(common / np.maximum(union, 1))


def _single(hashes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which hashes share their first bits with no other."""
    bits = min(len(hashes).bit_length() + 1, _MOST_BITS)
    slots = (hashes * _FACTOR >> np.uint32(32 - bits)).astype(np.intp)
    return np.asarray((np.bincount(slots, minlength=1 << bits) == 1).take(slots))


def _set_bits(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of bits that are set in each mask, (n,), of masks (n, words)."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(masks).sum(axis=1, dtype=np.int64))
    return np.asarray(_bits_of_numbers().take(masks.view(np.uint16)).sum(axis=1, dtype=np.int64))


@cache
def _bits_of_numbers() -> NDArray[np.uint8]:
    return np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


def shingles(folded: str) -> list[str]:
    """All runs of `SHINGLE` characters of a folded text, in order; a shorter text is a single one."""
    return [folded[start : start + SHINGLE] for start in range(max(len(folded) - SHINGLE + 1, 1))]


# Samples without near duplicates ------------------------------------------------------------------------------------


def drawn(
    rows: pl.DataFrame, settings: Extraction, kept: NDArray[np.int64], near: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Draw the samples of some words from their rows, sorted by word and priority: which rows belong to them. Adds to
    the counts by cell, `kept` and `near`."""
    mask = np.zeros(len(rows), np.bool_)
    cells = rows["cell"].to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(cells // len(settings.bins))) + 1).tolist(), len(rows)]
    for start, end in pairwise(bounds):
        first = _first_of_each(cells[start:end], settings.per_word)
        of_word = rows[start:end]
        # If none of these is near another, they are the sample, whatever comes behind them.
        if settings.duplicates == "near" and _possible(of_word[first], NearDuplicates()):
            mask[start:end] = _without_near(of_word, settings.per_word, near)
        else:
            mask[start + first] = True
    kept += np.bincount(cells[mask], minlength=len(kept))
    return mask


def _first_of_each(cells: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    return np.sort(np.concatenate([np.flatnonzero(cells == cell)[:n] for cell in np.unique(cells)]))


def _possible(rows: pl.DataFrame, seen: NearDuplicates) -> dict[str, str]:
    """The sentences, by id, that may be near duplicates of each other."""
    texts = dict(
        zip(rows["id"].to_list(), map(normalise, rows["text"].to_list()), strict=True)
    )  # some stand there twice
    return dict(compress(texts.items(), seen.possible([*texts.values()]).tolist()))


def _without_near(rows: pl.DataFrame, per_word: int, near: NDArray[np.int64]) -> list[bool]:
    """Return the rows of a word that belong to its samples, `per_word` of each cell, without near duplicates of those
    before, whose count by cell grows."""
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
