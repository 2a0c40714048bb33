"""What characters are to words, for many texts at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.corpus.matching import WORD
from penchant.corpus.normalisation import code_points

_PLANE = 1 << 16
"""Beyond these code points there is no white space."""
_OUTSIDE, _INSIDE, _SPACE = range(3)


@cache
def word_characters() -> NDArray[np.bool_]:
    """For each code point, whether it is a word character."""
    codes = np.concatenate([np.arange(0xD800), np.arange(0xE000, sys.maxunicode + 1)])  # no surrogates
    characters = codes.astype("<u4").tobytes().decode("utf-32-le")
    changes = np.zeros(len(codes) + 1, np.int8)
    for run in regex.finditer(f"[{WORD}]+", characters):
        changes[run.start()], changes[run.end()] = 1, -1
    in_words = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
    in_words[codes] = np.cumsum(changes[:-1], dtype=np.int8) > 0
    return in_words


@cache
def _kinds() -> NDArray[np.uint8]:
    kinds = np.where(word_characters(), np.uint8(_INSIDE), np.uint8(_OUTSIDE))
    kinds[[code for code in range(_PLANE) if chr(code).isspace()]] = _SPACE
    return kinds


def count_words_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """The number of words of each text, counted as by `matching.count_words`."""
    kinds = _kinds().take(code_points("\n".join([*texts, ""])))
    space = kinds == _SPACE
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    if len(space) and not space[0]:
        starts = np.concatenate(([0], starts))
    if not len(starts):
        return np.zeros(len(texts), np.int64)
    words = starts[np.logical_or.reduceat(kinds == _INSIDE, starts)]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    return np.bincount(np.searchsorted(ends, words, side="right"), minlength=len(texts))
