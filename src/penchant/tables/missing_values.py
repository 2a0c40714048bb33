"""Texts that are no sentence but the word that a program writes where a cell is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penchant.errors import shortened
from penchant.plurals import counted, first_of, for_one

NAMED = 3
"""The places that a caution names."""
_WORDS = frozenset({"nan", "none", "null", "n/a", "#n/a", "<na>", "<nan>", "nat", "nil"})


def missing_word(text: str) -> bool:
    """Whether a text is nothing but a word for a missing cell, such as NaN, None or NULL, in any case."""
    return text.strip().casefold() in _WORDS


def missing_cautions(texts: Iterable[tuple[str, str]], noun: str) -> Iterator[str]:
    """A caution about those of the texts, given with their places, that are such a word; `noun` calls them, in the
    plural."""
    found = [f"{place}: {shortened(text)}" for text, place in texts if missing_word(text)]
    if found:
        yield (
            f"{counted(len(found), noun)} {for_one(len(found), 'are')} nothing but what programs write for a missing "
            f"cell, and read as text ({first_of(found, NAMED)})"
        )
