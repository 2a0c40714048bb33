"""Texts that are no sentence but a word that programs write for an empty cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penchant.errors import shortened
from penchant.plurals import counted, first_of, for_one

NAMED = 3
"""The most places that a caution shows."""
_WORDS = frozenset({"nan", "none", "null", "n/a", "#n/a", "<na>", "<nan>", "nat", "nil"})


def missing_word(text: str) -> bool:
    """Return whether a text is only a word for a missing cell, such as NaN, None or NULL, in any case."""
    return text.strip().casefold() in _WORDS


def missing_cautions(texts: Iterable[tuple[str, str]], noun: str) -> Iterator[str]:
    """Yield a caution about texts, given with their places, that are such a word; `noun` calls them in the plural."""
    found = [f"{place}: {shortened(text)}" for text, place in texts if missing_word(text)]
    if found:
        yield (
            f"{counted(len(found), noun)} {for_one(len(found), 'are')} only a word that programs write for a missing "
            f"cell, and read as text ({first_of(found, NAMED)})"
        )
