"""Multi-pattern search for word forms in text (Aho and Corasick 1975)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.corpus.nfc import BASIC, code_points, table_end
from penchant.corpus.word_matching import word_characters
from penchant.errors import missing_package

_DFA_BYTES = 1 << 20
"""Maximum total size of the forms, in bytes, for which a DFA (the fastest and largest automaton) is built."""
_BLOCK = 1 << 16
"""Number of characters encoded at once; a block fits in the processor's cache."""
_OTHER, _INSIDE, _NEWLINE, _FIRST = range(4)
"""Codes of characters that occur in no form (non-word, word, newline), and the first code of those that do."""

Integers = NDArray[np.int64]


class Places(NamedTuple):
    """Occurrences of forms in a text, sorted by line, begin and end.

    Each array has one entry per occurrence: `forms` and `lines` are the indices of its form and its line, `begins` and
    `ends` its character offsets in the line, and `starts` the character offset of the line in the text.
    """

    forms: Integers
    lines: Integers
    begins: Integers
    ends: Integers
    starts: Integers


class Scanner:
    """Searcher for word forms in texts; forms and texts must be in NFC.

    Each character that occurs in a form has its own integer code and all other characters share three codes, so that
    one byte per character usually suffices.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        """Build the automaton. Raises MethodError if the package ahocorasick_rs is missing."""
        try:
            from ahocorasick_rs import BytesAhoCorasick, Implementation
        except ImportError as error:
            raise missing_package("ahocorasick_rs", "corpus") from error
        self.forms = [form for form in dict.fromkeys(forms) if "\n" not in form]  # no line contains the others
        self._characters = sorted(set().union(*self.forms))
        self._tables: dict[int, NDArray[np.uint8] | NDArray[np.uint16]] = {}
        basic = not self._characters or ord(self._characters[-1]) < BASIC
        inside = word_characters(BASIC) if basic else word_characters()
        known = [bool(inside[ord(character)]) for character in self._characters]
        self._in_words = np.array([False, True, False, *known])
        self._ends_inside = np.array(
            [[bool(inside[ord(form[at])]) for at in (0, -1)] for form in self.forms], np.bool_
        ).reshape(-1, 2)
        patterns = [self._coded(form).tobytes() for form in self.forms]
        small = sum(map(len, patterns)) <= _DFA_BYTES
        self._automaton = BytesAhoCorasick(
            patterns, implementation=Implementation.DFA if small else Implementation.ContiguousNFA
        )

    def find(self, text: str) -> Places:
        """Find all occurrences of the forms at word boundaries, including overlapping ones.

        A form that begins or ends with a non-word character may adjoin a word, as "No." does in "No.He"; the
        caller must discard such an occurrence if the word belongs to the same sentence.
        """
        coded = self._coded(text)
        width = coded.dtype.itemsize
        hits = self._automaton.find_matches_as_indexes(coded.data.cast("B"), overlapping=True)
        matches = np.fromiter(chain.from_iterable(hits), np.int64, 3 * len(hits)).reshape(-1, 3)
        forms, begins, ends = matches.T
        if width > 1:  # a match must begin where a wide character does
            forms, begins, ends = (column[begins % width == 0] for column in (forms, begins // width, ends // width))
        first, last = self._ends_inside[forms].T
        whole = ~(first & self._within(coded, begins - 1) | last & self._within(coded, ends))
        order = np.lexsort((ends[whole], begins[whole]))
        forms, begins, ends = (column[whole][order] for column in (forms, begins, ends))
        newlines = np.flatnonzero(coded == _NEWLINE)
        lines = np.searchsorted(newlines, begins)
        starts = np.concatenate(([0], newlines + 1))[lines]
        return Places(forms, lines, begins - starts, ends - starts, starts)

    def lines(self, text: str) -> list[int]:
        """Return the indices of the lines that contain a form, in ascending order."""
        numbers: list[int] = np.unique(self.find(text).lines).tolist()
        return numbers

    def _coded(self, text: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
        points = code_points(text)
        codes = self._codes(table_end(points))
        coded = np.empty(len(points), codes.dtype)
        for start in range(0, len(points), _BLOCK):
            codes.take(points[start : start + _BLOCK], out=coded[start : start + _BLOCK], mode="clip")
        return coded

    def _codes(self, end: int) -> NDArray[np.uint8] | NDArray[np.uint16]:
        if end not in self._tables:
            wide = _FIRST + len(self._characters) > 256
            inside = word_characters(end)  # _OTHER or _INSIDE
            codes = inside.astype(np.uint16) if wide else inside.astype(np.uint8)
            codes[ord("\n")] = _NEWLINE
            own = [ord(character) for character in self._characters if ord(character) < end]
            codes[own] = range(_FIRST, _FIRST + len(own))
            self._tables[end] = codes
        return self._tables[end]

    def _within(self, coded: NDArray[np.uint8] | NDArray[np.uint16], at: Integers) -> NDArray[np.bool_]:
        inside = (at >= 0) & (at < len(coded))
        inside[inside] = self._in_words[coded[at[inside]]]
        return inside
