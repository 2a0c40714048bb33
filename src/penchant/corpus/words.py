"""Words of running text, in any script."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import regex

from penchant.errors import DataError

WORD = regex.compile(r"[\p{L}\p{M}]+(?:[\u200c\u200d]+[\p{L}\p{M}]+)*")
"""A run of letters and their marks, including joiners inside it (Persian, Bangla); apostrophes and hyphens end a word,
as for most tokenizers."""


def count_words(path: str | Path) -> Counter[str]:
    """Count each word of a text file, in NFC and case-folded. Raises DataError if the file cannot be read."""
    counts: Counter[str] = Counter()
    number = 0
    try:
        with Path(path).open("rb") as stream:
            for line in stream:
                number += 1
                counts.update(WORD.findall(unicodedata.normalize("NFC", line.decode("utf-8")).casefold()))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8", file=path, line=number, hint="save it as UTF-8") from error
    return counts
