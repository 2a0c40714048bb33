"""Sentences that say nearly the same as one before: copies with another date or headline, templates, boilerplate.

Two sentences are nearly the same when the sets of their shingles (runs of five characters of the folded text) have a
Jaccard similarity from some threshold on (Broder 1997). Which to compare is found by MinHash and bands of hashes
(Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, section 3.4).
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.data.matching import WORD
from penchant.data.text_files import missing
from penchant.errors import MethodError

SHINGLE = 5
"""Characters of a shingle."""
RECALL = 0.995
"""The share of pairs exactly at the threshold that the bands bring together; it grows quickly above the threshold."""
_HASHES = 72  # at most so many of a sentence
_SEED = 20
_BITS = 4096  # of a mask; a sentence has some hundred shingles
_NUMBERS = re.compile("0[0 ]*0")
_IN_WORDS = regex.compile(f"[{WORD}]")
_DIGIT = regex.compile(r"\p{Nd}")


class _Folded(dict[int, str]):
    """What each character is folded to, looked up once."""

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
def _table() -> NDArray[np.uint16]:
    """What the characters of the basic plane are folded to, or _MANY where that is not one character of it."""
    folded = [_FOLDED[code] if not 0xD800 <= code < 0xE000 else "" for code in range(0x10000)]
    return np.array([ord(own) if len(own) == 1 else _MANY for own in folded], np.uint16)


def fold(text: str) -> str:
    """The words of a text by single spaces, without case; numbers, and several with nothing but signs between them,
    become one 0. So texts that differ only in case, punctuation, spacing or numbers fold alike."""
    found = _table().take(np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2"))
    plain = text.translate(_FOLDED) if found.max(initial=0) == _MANY else found.tobytes().decode("utf-16-le")
    folded = " ".join(plain.split())
    return _NUMBERS.sub("0", folded) if "0" in folded else folded


class NearDuplicates:
    """Tells for one sentence after the other whether it is nearly the same as one kept before.

    No sentence is dropped without a kept one whose similarity is at least the threshold; one that has such is dropped
    with a probability of at least `RECALL`. Which are dropped depends only on the sentences, their order, and the
    version of the hashes (`rensa.RMinHash.ALGORITHM_VERSION`).
    """

    def __init__(self, threshold: float = 0.8) -> None:
        """Sentences are nearly the same from a Jaccard similarity of `threshold`, 0.1 to 1, on. Raises MethodError,
        also where the package rensa is missing."""
        if not 0.1 <= threshold <= 1:
            raise MethodError(f"{threshold} is no threshold for near duplicates", hint="use 0.1 to 1, such as 0.8")
        try:
            from rensa import RMinHash, RMinHashLSH
        except ImportError as error:
            raise missing("rensa") from error
        self.threshold = threshold
        bands, rows = bands_and_rows(threshold)
        self._hashes = bands * rows
        self._minhash: Any = RMinHash
        self._index: Any = RMinHashLSH(threshold, self._hashes, bands)
        self._kept: list[str] = []
        self._texts: set[str] = set()
        self._known: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        """How many sentences were kept."""
        return len(self._kept)

    def add(self, text: str) -> bool:
        """True: the sentence is new, and kept. False: it is nearly the same as one kept before."""
        folded = fold(text)
        if folded in self._texts:
            return False
        found = shingles(folded)
        sketch = self._minhash(self._hashes, _SEED)
        sketch.update(found)
        candidates = self._index.query(sketch)
        if candidates and self._has_similar(set(found), candidates):
            return False
        self._index.insert(len(self._kept), sketch)
        self._kept.append(folded)
        self._texts.add(folded)
        return True

    def _has_similar(self, own: set[str], candidates: list[int]) -> bool:
        """Whether the Jaccard similarity to one of the candidates is at least the threshold.

        Templates have very many candidates, so what the masks tell is used first: two sets have no more shingles in
        common than their masks have bits, and those of one set that share a bit.
        """
        size, mask = len(own), _mask(own)
        shared = size - mask.bit_count()
        for key in candidates:
            if key not in self._known:
                kept = set(shingles(self._kept[key]))
                self._known[key] = len(kept), _mask(kept)
            other, theirs = self._known[key]
            common = min((mask & theirs).bit_count() + shared, size, other)
            if common / (size + other - common) < self.threshold:
                continue
            # Only the text is held: its shingles take twenty times the memory.
            common = len(own.intersection(shingles(self._kept[key])))
            if common / (size + other - common) >= self.threshold:
                return True
        return False


def _mask(found: set[str]) -> int:
    """A bit for every shingle; which bit does not matter to what is kept."""
    mask = 0
    for shingle in found:
        mask |= 1 << hash(shingle) % _BITS
    return mask


def shingles(folded: str) -> list[str]:
    """All runs of `SHINGLE` characters of a folded text, in their order; a shorter text is one."""
    return [folded[start : start + SHINGLE] for start in range(max(len(folded) - SHINGLE + 1, 1))]


def bands_and_rows(threshold: float) -> tuple[int, int]:
    """Bands b of r hashes of which at least one agrees with probability 1 − (1 − threshold^r)^b ≥ `RECALL`.

    The longest bands, which bring the fewest unlike sentences together, that need at most `_HASHES` hashes.
    """
    if threshold == 1:
        return 1, _HASHES
    fits = [(math.ceil(math.log(1 - RECALL) / math.log1p(-(threshold**rows))), rows) for rows in range(1, _HASHES + 1)]
    return max((pair for pair in fits if pair[0] * pair[1] <= _HASHES), key=lambda pair: pair[1])
