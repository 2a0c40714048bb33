"""Folding of texts, which removes differences in case, punctuation, spacing and numbers."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.corpus.nfc import BASIC
from penchant.corpus.word_matching import WORD, word_characters

_NUMBERS = re.compile("0[0 ]*0")
_IN_WORDS = regex.compile(f"[{WORD}]")
_DIGIT = regex.compile(r"\p{Nd}")
_MANY = 0xFFFF
_RUN = 256  # characters folded at once
_SPACE, _NEWLINE = ord(" "), ord("\n")


class _Folded(dict[int, str]):
    """Cache of the folded form of each character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = " "
        if _IN_WORDS.match(character):
            folded = "0" if _DIGIT.match(character) else character.casefold()
        self[code] = folded
        return folded


_FOLDED = _Folded()


@functools.cache
def _folded_plane() -> NDArray[np.uint16]:
    plane = np.full(BASIC, _SPACE, np.uint16)
    inside = np.flatnonzero(word_characters(BASIC))
    plane[inside] = inside
    for run in np.split(inside, range(_RUN, len(inside), _RUN)):
        characters = run.astype("<u2").tobytes().decode("utf-16-le")
        if characters.casefold() != characters:  # most scripts have no case
            folded = [character.casefold() for character in characters]
            plane[run] = [ord(text) if len(text) == 1 else _MANY for text in folded]
    plane[[ord(digit) for digit in _DIGIT.findall(inside.astype("<u2").tobytes().decode("utf-16-le"))]] = ord("0")
    plane[0xD800:0xE000] = _MANY
    return plane


def fold(text: str) -> str:
    """Return the words of a text, case-folded and separated by single spaces.

    A number, or a sequence of numbers with only non-word characters between them, becomes a single 0.
    """
    folded = " ".join(text.translate(_FOLDED).split())
    return _NUMBERS.sub("0", folded) if "0" in folded else folded


def fold_all(texts: Sequence[str]) -> list[str]:
    """Return `fold(text)` for each text, computed for all texts at once."""
    return fold_lines(texts).split("\n") if texts else []


def fold_lines(texts: Sequence[str]) -> str:
    """Return `fold(text)` for each text, joined by newlines."""
    codes = np.frombuffer("\n".join(texts).encode("utf-16-le", "surrogatepass"), "<u2")
    ends = np.flatnonzero(codes == _NEWLINE)
    if len(ends) != len(texts) - 1:  # a text has several lines, or there are no texts
        return "\n".join(map(fold, texts))
    plane = _folded_plane().take(codes)
    plane[ends] = _NEWLINE
    space = plane == _SPACE
    before = np.concatenate((space[1:], [True]))  # also before the end of a text
    before[ends[ends > 0] - 1] = True
    plain = plane[~(space & before)].tobytes().decode("utf-16-le")
    folded = _NUMBERS.sub("0", plain) if "0" in plain else plain
    if space[:1].any() or space[ends[ends < len(codes) - 1] + 1].any():
        folded = folded.replace("\n ", "\n").removeprefix(" ")
    several = np.unique(np.searchsorted(ends, np.flatnonzero(plane == _MANY))).tolist()
    if several:
        lines = folded.split("\n")
        for number in several:
            lines[number] = fold(texts[number])
        folded = "\n".join(lines)
    return folded
