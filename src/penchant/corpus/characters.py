"""What characters are to words, for many texts at once."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np
import regex
from numpy.typing import NDArray

from penchant.corpus.matching import WORD
from penchant.corpus.normalisation import BASIC, code_points, table_end

_OUTSIDE, _INSIDE, _SPACE = range(3)


@cache
def word_characters(end: int = sys.maxunicode + 1) -> NDArray[np.bool_]:
    """For each code point below `end`, whether it is a word character."""
    codes = np.concatenate([np.arange(0xD800), np.arange(0xE000, end)])  # no surrogates
    characters = codes.astype("<u4").tobytes().decode("utf-32-le")
    changes = np.zeros(len(codes) + 1, np.int8)
    for run in regex.finditer(f"[{WORD}]+", characters):
        changes[run.start()], changes[run.end()] = 1, -1
    in_words = np.zeros(end, dtype=np.bool_)
    in_words[codes] = np.cumsum(changes[:-1], dtype=np.int8) > 0
    return in_words


@cache
def _kinds(end: int) -> NDArray[np.uint8]:
    kinds = np.where(word_characters(end), np.uint8(_INSIDE), np.uint8(_OUTSIDE))
    basic = np.arange(BASIC, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    kinds[[space.start() for space in re.finditer(r"\s", basic)]] = _SPACE  # there is none beyond
    return kinds


def count_words_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """The number of words of each text, counted as by `matching.count_words`."""
    codes = code_points("\n".join([*texts, ""]))
    kinds = _kinds(table_end(codes)).take(codes)
    space = kinds == _SPACE
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    if len(space) and not space[0]:
        starts = np.concatenate(([0], starts))
    if not len(starts):
        return np.zeros(len(texts), np.int64)
    words = starts[np.logical_or.reduceat(kinds == _INSIDE, starts)]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    return np.bincount(np.searchsorted(ends, words, side="right"), minlength=len(texts))
