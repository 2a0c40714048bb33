"""Which lines of a large text hold any of many words: one pass, whatever their number (Aho and Corasick, 1975).

A sieve before the exact search of `matching.Matcher`: it knows the same borders of words, so that it passes every line
in which the other finds something, and looks at nothing but bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.data.matching import WORD
from penchant.data.text_files import missing

_DFA_BYTES = 1 << 20
"""The bytes of all forms up to which the fastest automaton, which is also the largest, is built."""


class Scanner:
    """Finds lines by forms; these and the text are in NFC."""

    def __init__(self, forms: Iterable[str]) -> None:
        """Raises MethodError without the package ahocorasick_rs."""
        try:
            from ahocorasick_rs import BytesAhoCorasick, Implementation
        except ImportError as error:
            raise missing("ahocorasick_rs") from error
        patterns = [form.encode() for form in dict.fromkeys(forms)]
        small = sum(map(len, patterns)) <= _DFA_BYTES
        self._automaton = BytesAhoCorasick(
            patterns, implementation=Implementation.DFA if small else Implementation.ContiguousNFA
        )

    def lines(self, text: str) -> list[int]:
        """The numbers, from 0, of the lines in which a form stands as whole words."""
        data = text.encode("utf-8", "surrogatepass")
        hits = self._automaton.find_matches_as_indexes(data, overlapping=True)
        if not hits:
            return []
        places = np.array(hits, dtype=np.int64)
        raw = np.frombuffer(data, dtype=np.uint8)
        begins = places[_outside(raw, places[:, 1], before=True) & _outside(raw, places[:, 2], before=False), 1]
        ends = np.flatnonzero(raw == ord("\n"))
        found: list[int] = np.unique(np.searchsorted(ends, begins)).tolist()
        return found


def _outside(raw: NDArray[np.uint8], at: NDArray[np.int64], *, before: bool) -> NDArray[np.bool_]:
    """Whether the character before (or at) each place belongs to no word; the ends of the text do not."""
    found = np.ones(len(at), dtype=np.bool_)
    if before:
        inside = at > 0
        lead = at[inside] - 1
        for _ in range(3):
            lead -= (raw[lead] & 0xC0) == 0x80
    else:
        inside = at < len(raw)
        lead = at[inside]
    found[inside] = ~_word_characters()[_code_points(raw, lead)]
    return found


def _code_points(raw: NDArray[np.uint8], lead: NDArray[np.int64]) -> NDArray[np.int64]:
    """The characters whose first bytes stand at the places."""
    first = raw[lead].astype(np.int64)
    length = 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)
    found = np.where(length == 1, first, first & (0xFF >> (length + 1)))
    for i in range(1, 4):
        longer = length > i
        found[longer] = found[longer] << 6 | (raw[lead[longer] + i] & 0x3F)
    return found


@cache
def _word_characters() -> NDArray[np.bool_]:
    """By code point, whether it belongs to words."""
    table = np.zeros(0x110000, dtype=np.bool_)
    every = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x110000)))
    for run in regex.finditer(f"[{WORD}]+", every):
        for part in regex.findall("[\0-\ud7ff]+|[\ue000-\U0010ffff]+", run[0]):
            table[ord(part[0]) : ord(part[-1]) + 1] = True
    return table
