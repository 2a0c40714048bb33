"""Segmentation of running text into words, in any script."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import regex

from penchant.letter_case import folded
from penchant.text_io import decoded, lines, opened
from penchant.unicode_spellings import canonical

WORD = regex.compile(r"[\p{L}\p{M}]+(?:[\u200c\u200d]+[\p{L}\p{M}]+)*")
"""Pattern of a word: letters and marks, with inner joiners (Persian, Bangla); apostrophes and hyphens end a word."""


def count_words(path: str | Path, language: str = "und") -> Counter[str]:
    """Return the counts of a text file's words, in NFC and case-folded by the rules of a language.

    Raises DataError if the file cannot be read.
    """
    counts: Counter[str] = Counter()
    with opened(path) as stream:
        for number, line in lines(stream, path):
            counts.update(WORD.findall(folded(canonical(decoded(line, path, number)), language)))
    return counts
