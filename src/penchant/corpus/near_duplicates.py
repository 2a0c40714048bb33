"""Near duplicates of earlier sentences: copies with another date or headline, templates, boilerplate.

Two sentences are near duplicates if the sets of their shingles (runs of five characters of the folded text) have a
Jaccard similarity at or above a threshold (Broder 1997). Candidates are found by MinHash and bands of hashes (Leskovec,
Rajaraman & Ullman, Mining of Massive Datasets, section 3.4).
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.corpus.matching import WORD
from penchant.errors import MethodError, missing_package

SHINGLE = 5
"""Characters per shingle."""
RECALL = 0.995
"""The share of pairs exactly at the threshold that the bands detect; it rises quickly above the threshold."""
_HASHES = 72  # most hashes per sentence
_SEED = 20
_BITS = 4096  # bits per mask; a sentence has about a hundred shingles
_NUMBERS = re.compile("0[0 ]*0")
_IN_WORDS = regex.compile(f"[{WORD}]")
_DIGIT = regex.compile(r"\p{Nd}")


class _Folded(dict[int, str]):
    """The folded form of each character, computed once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = " "
        if _IN_WORDS.match(character):
            folded = "0" if _DIGIT.match(character) else character.casefold()
        self[code] = folded
        return folded


_FOLDED = _Folded()
_MANY = 0xFFFF


@functools.cache
def _folded_plane() -> NDArray[np.uint16]:
    """Folded characters of the basic plane, or _MANY where the folded form is not a single character of that plane."""
    folded = [_FOLDED[code] if not 0xD800 <= code < 0xE000 else "" for code in range(0x10000)]
    return np.array([ord(text) if len(text) == 1 else _MANY for text in folded], np.uint16)


def fold(text: str) -> str:
    """Return the words of a text, case-folded and separated by single spaces; a number, or several with only signs
    between them, becomes a single 0. Texts that differ only in case, punctuation, spacing or numbers fold alike."""
    codes = _folded_plane().take(np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2"))
    plain = text.translate(_FOLDED) if codes.max(initial=0) == _MANY else codes.tobytes().decode("utf-16-le")
    folded = " ".join(plain.split())
    return _NUMBERS.sub("0", folded) if "0" in folded else folded


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
