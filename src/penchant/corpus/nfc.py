"""Fast normalisation to NFC (UAX #15) of long texts that are already mostly in NFC."""

from __future__ import annotations

import functools
import sys
import unicodedata
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_SHORT = 512  # up to about this length, unicodedata is faster
_BLOCK = 1 << 16  # characters looked up at once, which fit in the processor's cache
BASIC = 0x10000
"""Number of code points in the Basic Multilingual Plane."""
_END = 0x30000  # no character from here on is changed by NFC or has a combining class
_REORDER, _COMPOSE, _HANGUL, _BEFORE, _NEVER = 1, 2, 4, 4, 0xFF
"""Roles of a character in normalisation, as flags.

The low four bits are its roles as the left of two adjacent characters, the high four (shifted by _BEFORE) as the right.
_NEVER marks a character that does not occur in NFC; 0 marks a character that is never reordered or composed.
"""
_Codes: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
_L, _V, _T, _LV = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3), range(0xAC00, 0xD7A4, 28)


def normalise(text: str) -> str:
    """Return the text in NFC, the form in which all texts and words are compared.

    Equivalent to `unicodedata.normalize`, but much faster for long texts in scripts such as Bengali.
    """
    if text.isascii():
        return text
    if len(text) < _SHORT:
        return unicodedata.normalize("NFC", text)
    if len(text) > _BLOCK:  # the beginning shows what is frequent; surveying the whole text twice is slower
        text = _replaced(text, _look(text[:_BLOCK]))
    survey = _look(text)
    replaced = _replaced(text, survey)
    if replaced is not text:
        text, survey = replaced, _look(replaced)
    if survey is None:
        return unicodedata.normalize("NFC", text)
    return _mend(text, survey, _changes(survey)) if len(survey.never) or len(survey.near) else text


@dataclass(frozen=True)
class _Survey:
    """Code points of a text, their roles in normalisation, and the positions at which the text may not be in NFC.

    `parts` has the roles, as flags such as `_REORDER`. `never` has the positions of characters that do not occur in
    NFC, and `near` the positions of pairs of adjacent characters that may be reordered or composed.
    """

    codes: _Codes
    parts: NDArray[np.uint8]
    never: NDArray[np.int64]
    near: NDArray[np.int64]


def _look(text: str) -> _Survey | None:
    """Survey a text; return None if so many positions may change that normalising the whole text is faster."""
    codes = code_points(text)
    table = _tables_of(codes).parts
    parts = np.empty(len(codes), np.uint8)
    never, near = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    suspects = 0
    for start in range(0, len(codes), _BLOCK):
        end = start + _BLOCK
        table.take(codes[start:end], out=parts[start:end], mode="clip")
        never.append(np.flatnonzero(parts[start:end] == _NEVER) + start)
        block = parts[max(start - 1, 0) : end]  # with the last character of the block before
        near.append(np.flatnonzero((block[:-1] & block[1:] >> _BEFORE) != 0) + max(start - 1, 0))
        suspects += len(near[-1])
        if suspects * 8 > end:
            return None
    return _Survey(codes, parts, np.concatenate(never), np.concatenate(near))


def code_points(text: str) -> _Codes:
    """Return the code points of a text, including lone surrogates."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):
        return np.frombuffer(data, "<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def table_end(codes: _Codes) -> int:
    """Return the size of a table that covers `codes`: `BASIC` for 16-bit codes, otherwise all of Unicode."""
    return BASIC if codes.itemsize == 2 else sys.maxunicode + 1


def _replaced(text: str, survey: _Survey | None) -> str:
    """Replace frequent characters that do not occur in NFC by their normalised forms."""
    if survey is None or len(survey.never) * 1_000 < len(survey.codes):
        return text
    letters, counts = np.unique(survey.codes[survey.never], return_counts=True)
    first = np.argsort(-counts)[:8]
    for code in letters[first[counts[first] * 10_000 > len(survey.codes)]].tolist():
        text = text.replace(chr(code), unicodedata.normalize("NFC", chr(code)))
    return text


def _changes(survey: _Survey) -> list[int]:
    """Return the positions at which the text may not be in NFC; if there are none, the text is in NFC.

    These are the positions of characters that do not occur in NFC, of marks before a mark of a lower combining class,
    and of pairs of characters that may compose.
    """
    tables = _tables_of(survey.codes)
    left, right = survey.codes[survey.near], survey.codes[survey.near + 1]
    does, meets = survey.parts[survey.near], survey.parts[survey.near + 1] >> _BEFORE
    last, first = tables.last.take(left, mode="clip"), tables.first.take(right, mode="clip")
    sure = does & meets & _HANGUL != 0
    sure |= (first > 0) & (last > first)
    sure |= (first > 0) & (last > 0) & (meets & _COMPOSE != 0)
    sure |= np.isin(_pair(left, right), tables.pairs)
    changes: list[int] = np.union1d(survey.near[sure], survey.never).tolist()
    return changes


def _mend(text: str, survey: _Survey, changes: list[int]) -> str:
    """Return the text with the surroundings of each position in `changes` normalised.

    A starter that neither decomposes nor composes divides the text into segments that can be normalised independently.
    """
    if not changes:
        return text
    if len(changes) * 20 > len(text):
        return unicodedata.normalize("NFC", text)
    parts = survey.parts.tobytes()
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
    """Properties of characters, indexed by code point; the last entry is for all code points beyond the table.

    `parts` are the roles in normalisation, as flags; `first` and `last` are the combining classes of the first and last
    characters of the decomposition. `pairs` has the pairs of characters that compose, sorted, without Hangul.
    """

    parts: NDArray[np.uint8]
    first: NDArray[np.uint8]
    last: NDArray[np.uint8]
    pairs: NDArray[np.int64]


def _pair(left: _Codes, right: _Codes) -> NDArray[np.int64]:
    return left.astype(np.int64) << 32 | right


def _tables_of(codes: _Codes) -> _Tables:
    return _tables(min(table_end(codes), _END))


@functools.cache
def _tables(end: int = _END) -> _Tables:
    """Build the tables for code points below `end` from `unicodedata`."""
    parts, first, last = (np.zeros(end + 1, np.uint8) for _ in range(3))
    characters = [*map(chr, range(0x80, _LV.start)), *map(chr, range(_LV.stop, end))]  # Hangul syllables: below
    for mark in filter(unicodedata.combining, characters):
        first[ord(mark)] = last[ord(mark)] = unicodedata.combining(mark)
    never: list[str] = []
    composed: dict[str, list[str]] = {}
    begin: dict[str, list[str]] = {}
    for character in filter(unicodedata.decomposition, characters):
        whole = unicodedata.normalize("NFD", character)
        if unicodedata.normalize("NFC", character) != character:
            never.append(character)
        elif whole != character:  # skips compatibility decompositions
            composed[character] = [chr(int(code, 16)) for code in unicodedata.decomposition(character).split()]
            begin.setdefault(whole[0], []).append(character)
            first[ord(character)], last[ord(character)] = map(unicodedata.combining, (whole[0], whole[-1]))
    # Also pairs whose right character decomposes into one that composes, which exist since Unicode 16.
    pairs = {
        (ord(left), ord(follower)) for left, right in composed.values() for follower in (right, *begin.get(right, ()))
    }
    parts[last > 0] |= _REORDER
    parts[first > 0] |= _REORDER << _BEFORE
    for left, right in pairs:
        parts[left] |= _COMPOSE
        parts[right] |= _COMPOSE << _BEFORE
    parts[[*_L, *_LV]] |= _HANGUL
    parts[[*_V, *_T]] |= _HANGUL << _BEFORE
    parts[list(map(ord, never))] = _NEVER
    return _Tables(parts, first, last, np.array(sorted(left << 32 | right for left, right in pairs), np.int64))
