"""Detection of texts that are words for a missing value, such as NaN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penchant.errors import shortened
from penchant.plurals import counted, first_of, for_one

NAMED = 3
"""Maximum number of texts in a caution."""
_WORDS = frozenset({"nan", "none", "null", "n/a", "#n/a", "<na>", "<nan>", "nat", "nil"})


def missing_word(text: str) -> bool:
    """Return True if a text is a word for a missing value, such as NaN, None or NULL, in any letter case."""
    return text.strip().casefold() in _WORDS


def missing_cautions(texts: Iterable[tuple[str, str]], noun: str) -> Iterator[str]:
    """Yield a caution if any of the texts, given as (text, location) pairs, is a word for a missing value.

    `noun` is the plural noun for the texts.
    """
    found = [f"{place}: {shortened(text)}" for text, place in texts if missing_word(text)]
    if found:
        yield (
            f"{counted(len(found), noun)} {for_one(len(found), 'are')} only a word for a missing value, but treated as "
            f"text ({first_of(found, NAMED)})"
        )
