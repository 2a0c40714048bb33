"""Unicode's composed form (NFC, UAX #15) of long texts that are mostly or wholly in that form already."""

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
"""The number of code points in the basic plane; most texts have no others, and its tables are quick to make."""
_END = 0x30000  # no character from here on is changed by NFC or has a combining class
_REORDER, _COMPOSE, _HANGUL, _BEFORE, _NEVER = 1, 2, 4, 4, 0xFF
"""Roles of a character in a change.

The low four bits are its roles as the left of two neighbours, the high four (shifted by _BEFORE) as the right one.
_NEVER marks a character that does not occur in NFC, 0 one that takes no part.
"""
_Codes: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
_L, _V, _T, _LV = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3), range(0xAC00, 0xD7A4, 28)


def normalise(text: str) -> str:
    """Return the text in NFC, the form in which all texts and words are compared.

    The result is that of unicodedata.normalize. In scripts such as Bengali this function is much faster, since it
    decomposes only the few characters that may change.
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
    """The code points of a text, their roles (`parts`), and the places where it may not be in NFC.

    `never` are the places of characters that never occur in NFC, `near` those of the left of two neighbours that may
    take part in a change together.
    """

    codes: _Codes
    parts: NDArray[np.uint8]
    never: NDArray[np.int64]
    near: NDArray[np.int64]


def _look(text: str) -> _Survey | None:
    """Survey a text; None if so many places are suspect that normalising the whole text is faster."""
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
    """Return the code points of a text, lone surrogates included."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):
        return np.frombuffer(data, "<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def table_end(codes: _Codes) -> int:
    """Return the end of a table that covers what `code_points` gave: `BASIC`, or the end of all code points."""
    return BASIC if codes.itemsize == 2 else sys.maxunicode + 1


def _replaced(text: str, survey: _Survey | None) -> str:
    """Replace letters that never occur in NFC, if the survey has so many that replacing each everywhere is fastest."""
    if survey is None or len(survey.never) * 1_000 < len(survey.codes):
        return text
    letters, counts = np.unique(survey.codes[survey.never], return_counts=True)
    first = np.argsort(-counts)[:8]
    for code in letters[first[counts[first] * 10_000 > len(survey.codes)]].tolist():
        text = text.replace(chr(code), unicodedata.normalize("NFC", chr(code)))
    return text


def _changes(survey: _Survey) -> list[int]:
    """Return the places where the text may not be in NFC.

    If there is none, the text is in NFC: each of its characters is (none is _NEVER), and
    1. their decompositions, in sequence, are in canonical order, since no mark follows one of a higher class;
    2. each decomposition composes back to its character only. What could compose with a character after it is the
       first starter or mark of the next one. A starter can only if nothing is left between the two, which the table
       of pairs shows; a mark after a mark that stayed is reported if it composes with anything at all, and a mark
       after a starter by the table of pairs.
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
    """Return the text with the surroundings of each change composed.

    A character that takes no part (a starter without decomposition that composes with nothing) divides a text into
    pieces that can be normalised independently.
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
    """Tables by code point below some end, with one more entry for all other code points.

    `parts` are the roles; `first` and `last` are the combining classes of the first and last character of the
    decomposition. `pairs` are the neighbours that compose, sorted, without Hangul.
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
    """Build the tables from `unicodedata`, which sets the version of Unicode.

    Tables up to `BASIC` are the beginning of the full ones: no characters of the basic plane compose into one beyond
    it.
    """
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
