"""Cautions about probable mistakes in data: similar names, wrong encodings, and repeated rows."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Iterator

from penchant.errors import shortened
from penchant.plurals import counted, first_of, for_one
from penchant.tables.wrong_encodings import misread
from penchant.unicode_spellings import as_named

NAMED = 3
"""Maximum number of names or rows in a caution."""


def name_cautions(names: Iterable[str], noun: str) -> Iterator[str]:
    """Yield cautions about group names that look alike or were decoded with a wrong encoding.

    `noun` is the plural noun for the groups.
    """
    each = list(dict.fromkeys(names))
    yield from counted_apart(each, noun)
    wrong = [shortened(name) for name in each if misread(name)]
    if wrong:
        message = f"{counted(len(wrong), noun)} {for_one(len(wrong), 'have')} a name that was read in a wrong encoding"
        yield f"{message}: {first_of(wrong, NAMED)}"


def counted_apart(names: Iterable[str], noun: str) -> Iterator[str]:
    """Yield a caution for names that differ only in case, white space, invisible characters or Unicode form.

    `noun` is the plural noun for the objects that have the names.
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(as_named(name), []).append(name)
    for several in alike.values():
        if len(several) > 1:
            looks = {" ".join(unicodedata.normalize("NFKC", name).split()) for name in several}
            shown = ", ".join(map(repr if len(looks) == len(several) else ascii, several))
            message = (
                f"{len(several)} {noun} differ only in case, white space or Unicode form and are counted separately"
            )
            yield f"{message}: {shown}"


def repeated_rows(rows: Iterable[tuple[Hashable, str]], noun: str) -> Iterator[str]:
    """Yield a caution about repeated rows, given as (content, location) pairs; `noun` is the plural noun for rows."""
    first: dict[Hashable, str] = {}
    again = [
        f"{_short(place)} as {_short(first[content])}"
        for content, place in rows
        if first.setdefault(content, place) != place
    ]
    if again:
        verbs = ("repeats", "is") if len(again) == 1 else ("repeat", "are")
        shown = first_of(again, NAMED)
        yield f"{counted(len(again), noun)} {verbs[0]} an earlier one and {verbs[1]} counted again ({shown})"


def _short(place: str) -> str:
    return place.rpartition(", ")[2]
