"""Canonically equivalent spellings: the same letters encoded with different code points (UAX #15).

Vowel signs, accents, nukta letters, presentation forms and Hangul have several encodings with the same appearance.
Words are compared in NFC (`canonical`). For some letters, such as Bengali য়, NFC has two characters, but people type a
single character, which `spellings` returns as well.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

_INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0))
)
"""Invisible characters that are neither spaces nor controls: fillers, joiners and variation selectors."""
_END = 0x30000
"""The first code point after all characters with a decomposition."""


def canonical(text: str) -> str:
    """Return the text in NFC, which is equal for two texts if and only if they are canonically equivalent."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spellings(text: str) -> list[str]:
    """Return other encodings of a text that may occur in a vocabulary: NFC, NFD, and NFC with precomposed letters.

    In the last, every letter is a single character if such a character exists.
    """
    if text.isascii():
        return []
    composed = canonical(text)
    others = (composed, unicodedata.normalize("NFD", text), _in_single_characters(composed))
    return [other for other in dict.fromkeys(others) if other != text]


def as_named(name: str) -> str:
    """Return a name normalised for comparison, ignoring case, invisible characters, extra spaces and Unicode form."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", name).casefold())
    return " ".join("".join(char for char in plain if char.isspace() or not _is_invisible(char)).split())


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf") or char in _INVISIBLE


class Spelled:
    """Look-up of a word in an index that may contain it in another canonically equivalent spelling.

    `index` maps words to positions. Equivalent spellings are computed when they are first needed.
    """

    def __init__(self, index: Mapping[str, int]) -> None:
        self._index = index
        self._others: dict[str, str] | None = None

    def __call__(self, word: str) -> str | None:
        """Return a spelling of a word that is in the index, preferably the word itself; None if there is none."""
        if word in self._index or word.isascii():
            return word if word in self._index else None
        if self._others is None:
            self._others = self._equivalents()
        plain = canonical(word)
        return self._others.get(plain, plain if plain in self._index else None)

    def _equivalents(self) -> dict[str, str]:
        """Map the NFC form of each word in the index that is itself not in NFC to its first equivalent in the index."""
        first: dict[str, str] = {}
        for word in self._index:
            if not word.isascii() and not unicodedata.is_normalized("NFC", word):
                first.setdefault(unicodedata.normalize("NFC", word), word)
        for plain, word in first.items():
            if self._index.get(plain, len(self._index)) < self._index[word]:
                first[plain] = plain
        return first


class Alignment:
    """Correspondence of character positions in two spellings of a text; letters and their marks are kept together."""

    def __init__(self, text: str, other: str) -> None:
        """Align `text` with `other`, which must be canonically equivalent."""
        here, there = _letters(text), _letters(other)
        common = [place for place in here if place in there]
        self._here, self._there = [here[place] for place in common], [there[place] for place in common]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of characters in the other spelling that covers text[start:end]."""
        begin = self._there[bisect_right(self._here, start) - 1]
        return begin, max(begin, self._there[bisect_left(self._here, end)])


def _letters(text: str) -> dict[int, int]:
    """Map the offset that each letter, or the end of the text, has in the NFD form of `text` to the position in `text`.

    Canonical ordering and composition never cross an offset that two equivalent spellings share.
    """
    places: dict[int, int] = {}
    at = 0
    for number, character in enumerate(text):
        length, begins = _in_nfd(character)
        if begins or not number:
            places[at] = number
        at += length
    places[at] = len(text)
    return places


@lru_cache(maxsize=1 << 16)
def _in_nfd(character: str) -> tuple[int, bool]:
    whole = unicodedata.normalize("NFD", character)
    return len(whole), not unicodedata.combining(whole[0])


def _in_single_characters(text: str) -> str:
    """Return NFC text further composed with the characters that UAX #15 excludes from composition."""
    excluded = _excluded()
    if not any(mark in excluded for mark in set(text)):
        return text
    composed: list[str] = []
    base, last = -1, 0
    for character in text:
        order = unicodedata.combining(character)
        pairs = excluded.get(character, {})
        if base >= 0 and composed[base] in pairs and (base == len(composed) - 1 or last < order):
            composed[base] = pairs[composed[base]]
            continue
        composed.append(character)
        base, last = (len(composed) - 1, 0) if not order else (base, order)
    return "".join(composed)


@cache
def _excluded() -> dict[str, dict[str, str]]:
    """Return the characters excluded from composition, by the second and then the first part of their decomposition."""
    pairs: dict[str, dict[str, str]] = {}
    for character in map(chr, range(0x80, _END)):
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and unicodedata.normalize("NFC", character) != character:
            first, second = (chr(int(part, 16)) for part in parts)
            pairs.setdefault(second, {})[first] = character
    return pairs


def equivalent(words: Iterable[str]) -> dict[str, str]:
    """Map the NFC of each word to the first word with that NFC."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(canonical(word), word)
    return first
