"""Unicode's composed form (NFC, UAX #15) of long texts, of which most or all is in that form already.

`unicodedata` looks through a text quickly only where no character might compose with the one before. In Bengali, where
া might, it takes every text apart and puts it together again; here only the few characters that have to are.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_SHORT = 512  # up to about this length unicodedata is faster
_BLOCK = 1 << 16  # characters looked up at once, which stay in the processor's cache
_END = 0x30000  # no character from here on is changed by NFC or has a combining class
_REORDER, _COMPOSE, _HANGUL, _BEFORE, _NEVER = 1, 2, 4, 4, 0xFF
"""Parts a character may take in a change, in the low four bits as the left of two neighbours and in the high four
(shifted by _BEFORE) as the right one; _NEVER for one that does not occur in NFC; 0 for one that takes no part."""
_Codes: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
_L, _V, _T, _LV = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3), range(0xAC00, 0xD7A4, 28)


def normalise(text: str) -> str:
    """The text in NFC, in which texts and forms are compared: unicodedata.normalize("NFC", text), sooner.

    Not every letter becomes one character: য় ড় ঢ় of Bengali are always two.
    """
    if text.isascii():
        return text
    if len(text) < _SHORT:
        return unicodedata.normalize("NFC", text)
    found = _look(text)
    often = _often(found) if found else []
    if often:
        for letter in often:
            text = text.replace(letter, unicodedata.normalize("NFC", letter))
        found = _look(text)
    if found is None:
        return unicodedata.normalize("NFC", text)
    return _mend(text, found, _changes(found)) if len(found.never) or len(found.near) else text


@dataclass(frozen=True)
class _Found:
    """Of a text: its code points, the parts each may take, where characters are that never occur in NFC, and where the
    left one is of two neighbours that may take part in a change together."""

    codes: _Codes
    parts: NDArray[np.uint8]
    never: NDArray[np.int64]
    near: NDArray[np.int64]


def _look(text: str) -> _Found | None:
    """None for a text with so many suspects that they are not worth telling apart."""
    codes = code_points(text)
    table = _tables().parts
    parts = np.empty(len(codes), np.uint8)
    never, near = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    suspects = 0
    for start in range(0, len(codes), _BLOCK):
        end = start + _BLOCK
        table.take(codes[start:end], out=parts[start:end], mode="clip")
        never.append(np.flatnonzero(parts[start:end] == _NEVER) + start)
        block = parts[max(start - 1, 0) : end]  # and the last one before
        near.append(np.flatnonzero((block[:-1] & block[1:] >> _BEFORE) != 0) + max(start - 1, 0))
        suspects += len(near[-1])
        if suspects * 8 > end:
            return None
    return _Found(codes, parts, np.concatenate(never), np.concatenate(near))


def code_points(text: str) -> _Codes:
    """The code points of a text, surrogates that stand alone included."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):
        return np.frombuffer(data, "<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _often(found: _Found) -> list[str]:
    """Letters that never occur in NFC, if they are so many that each is best replaced everywhere at once."""
    if len(found.never) * 1000 < len(found.codes):
        return []
    letters, counts = np.unique(found.codes[found.never], return_counts=True)
    first = np.argsort(-counts)[:8]
    return [chr(code) for code in letters[first[counts[first] * 1000 > len(found.codes)]]]


def _changes(found: _Found) -> list[int]:
    """Where the text may not be in NFC.

    A text in which no place is found is in NFC, for each of its characters is (none is _NEVER), and
    1. their decompositions one after the other are in canonical order, as no mark follows one of a higher class;
    2. each then composes to the character it is of. What could compose with a character behind it are the next one's
       first starter or mark. A starter can only if nothing is left between the two, which the table of pairs tells;
       a mark after a mark that stayed is found if it composes with anything at all, after a starter by the pairs.
    """
    tables = _tables()
    left, right = found.codes[found.near], found.codes[found.near + 1]
    does, meets = found.parts[found.near], found.parts[found.near + 1] >> _BEFORE
    last, first = tables.last.take(left, mode="clip"), tables.first.take(right, mode="clip")
    sure = does & meets & _HANGUL != 0
    sure |= (first > 0) & (last > first)
    sure |= (first > 0) & (last > 0) & (meets & _COMPOSE != 0)
    sure |= np.isin(_pair(left, right), tables.pairs)
    changes: list[int] = np.union1d(found.near[sure], found.never).tolist()
    return changes


def _mend(text: str, found: _Found, changes: list[int]) -> str:
    """The text with what is around each change composed. A character that takes no part (a starter without
    decomposition that composes with nothing) divides a text into pieces whose NFC are independent of each other."""
    if not changes:
        return text
    if len(changes) * 20 > len(text):
        return unicodedata.normalize("NFC", text)
    parts = found.parts.tobytes()
    pieces: list[str] = []
    done = 0
    for place in changes:
        if place < done:
            continue
        start = max(parts.rfind(0, done, place) + 1, done)
        end = parts.find(0, place + 1)
        end = len(text) if end < 0 else end
        pieces += text[done:start], unicodedata.normalize("NFC", text[start:end])
        done = end
    return "".join([*pieces, text[done:]])


# --- tables -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tables:
    """By code point below _END (and one row for all others): the parts it may take, the combining classes of the first
    and last character of its decomposition; and the pairs of neighbours that compose, sorted, Hangul left out."""

    parts: NDArray[np.uint8]
    first: NDArray[np.uint8]
    last: NDArray[np.uint8]
    pairs: NDArray[np.int64]


def _pair(left: _Codes, right: _Codes) -> NDArray[np.int64]:
    return left.astype(np.int64) << 32 | right


@functools.cache
def _tables() -> _Tables:
    """From the data of `unicodedata`, whose version of Unicode is the one that counts."""
    parts, first, last = (np.zeros(_END + 1, np.uint8) for _ in range(3))
    characters = [*map(chr, range(0x80, _LV.start)), *map(chr, range(_LV.stop, _END))]  # syllables of Hangul below
    for mark in filter(unicodedata.combining, characters):
        first[ord(mark)] = last[ord(mark)] = unicodedata.combining(mark)
    never: list[str] = []
    composed: dict[str, list[str]] = {}
    begin: dict[str, list[str]] = {}
    for character in filter(unicodedata.decomposition, characters):
        whole = unicodedata.normalize("NFD", character)
        if unicodedata.normalize("NFC", character) != character:
            never.append(character)
        elif whole != character:  # not one that is decomposed for compatibility only
            composed[character] = [chr(int(code, 16)) for code in unicodedata.decomposition(character).split()]
            begin.setdefault(whole[0], []).append(character)
            first[ord(character)], last[ord(character)] = map(unicodedata.combining, (whole[0], whole[-1]))
    # Also of a character and one whose decomposition begins with what composes, as there are since Unicode 16.
    pairs = {(ord(left), ord(other)) for left, right in composed.values() for other in (right, *begin.get(right, ()))}
    parts[last > 0] |= _REORDER
    parts[first > 0] |= _REORDER << _BEFORE
    for left, right in pairs:
        parts[left] |= _COMPOSE
        parts[right] |= _COMPOSE << _BEFORE
    parts[[*_L, *_LV]] |= _HANGUL
    parts[[*_V, *_T]] |= _HANGUL << _BEFORE
    parts[list(map(ord, never))] = _NEVER
    return _Tables(parts, first, last, np.array(sorted(left << 32 | right for left, right in pairs), np.int64))
