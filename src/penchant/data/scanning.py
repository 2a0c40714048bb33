"""Where any of many forms stand in a large text: one pass, whatever their number (Aho and Corasick, 1975).

Characters are first turned into small numbers, one for each that occurs in a form and three for all others, so that the
automaton reads a byte a character and tells places in characters. Borders of words are those of `matching`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.data.matching import WORD
from penchant.data.normalisation import code_points
from penchant.data.text_files import missing

_DFA_BYTES = 1 << 20
"""The bytes of all forms up to which the fastest automaton, which is also the largest, is built."""
_BLOCK = 1 << 16
"""Characters looked up at once, which stay in the processor's cache."""
_OTHER, _INSIDE, _NEWLINE, _FIRST = range(4)
"""What is no part of a form: a character outside words, one inside them, the end of a line; then the others."""

Integers = NDArray[np.int64]


class Places(NamedTuple):
    """Forms in a text, by rising line, begin and end: the number of each form, that of its line, and where it begins
    and ends in characters of the line."""

    forms: Integers
    lines: Integers
    begins: Integers
    ends: Integers


class Scanner:
    """Finds forms; these and the text are in NFC."""

    def __init__(self, forms: Iterable[str]) -> None:
        """Raises MethodError without the package ahocorasick_rs."""
        try:
            from ahocorasick_rs import BytesAhoCorasick, Implementation
        except ImportError as error:
            raise missing("ahocorasick_rs") from error
        self.forms = [form for form in dict.fromkeys(forms) if "\n" not in form]  # such stand in no line
        characters = sorted(set().union(*self.forms))
        inside = _word_characters()
        wide = _FIRST + len(characters) > 256
        table = inside.astype(np.uint16 if wide else np.uint8)  # _OTHER or _INSIDE
        table[ord("\n")] = _NEWLINE
        table[[ord(character) for character in characters]] = range(_FIRST, _FIRST + len(characters))
        self._table = table
        self._in_words = np.array([False, True, False, *(bool(inside[ord(one)]) for one in characters)])
        patterns = [self._coded(form).tobytes() for form in self.forms]
        small = sum(map(len, patterns)) <= _DFA_BYTES
        self._automaton = BytesAhoCorasick(
            patterns, implementation=Implementation.DFA if small else Implementation.ContiguousNFA
        )

    def find(self, text: str) -> Places:
        """Every place where a form stands as whole words; those of different forms may overlap."""
        coded = self._coded(text)
        width = coded.dtype.itemsize
        hits = self._automaton.find_matches_as_indexes(coded.data.cast("B"), overlapping=True)
        found = np.fromiter((number for hit in hits for number in hit), np.int64, 3 * len(hits)).reshape(-1, 3)
        found = found[found[:, 1] % width == 0]  # what begins within a wide character is none
        forms, begins, ends = found[:, 0], found[:, 1] // width, found[:, 2] // width
        whole = ~(self._within(coded, begins - 1) | self._within(coded, ends))
        order = np.lexsort((ends[whole], begins[whole]))
        forms, begins, ends = (own[whole][order] for own in (forms, begins, ends))
        newlines = np.flatnonzero(coded == _NEWLINE)
        lines = np.searchsorted(newlines, begins)
        starts = np.concatenate(([0], newlines + 1))[lines]
        return Places(forms, lines, begins - starts, ends - starts)

    def lines(self, text: str) -> list[int]:
        """The numbers, from 0, of the lines in which a form stands as whole words."""
        found: list[int] = np.unique(self.find(text).lines).tolist()
        return found

    def _coded(self, text: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
        points = code_points(text)
        found = np.empty(len(points), self._table.dtype)
        for start in range(0, len(points), _BLOCK):
            self._table.take(points[start : start + _BLOCK], out=found[start : start + _BLOCK], mode="clip")
        return found

    def _within(self, coded: NDArray[np.uint8] | NDArray[np.uint16], at: Integers) -> NDArray[np.bool_]:
        """Whether a character of words is at each place; beyond the ends of the text there is none."""
        inside = (at >= 0) & (at < len(coded))
        inside[inside] = self._in_words[coded[at[inside]]]
        return inside


@cache
def _word_characters() -> NDArray[np.bool_]:
    """By code point, whether it belongs to words."""
    table = np.zeros(0x110000, dtype=np.bool_)
    every = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x110000)))
    for run in regex.finditer(f"[{WORD}]+", every):
        for part in regex.findall("[\0-\ud7ff]+|[\ue000-\U0010ffff]+", run[0]):
            table[ord(part[0]) : ord(part[-1]) + 1] = True
    return table
