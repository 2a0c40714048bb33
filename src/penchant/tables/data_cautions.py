"""Cautions about data that are hardly what their authors meant: names that look alike, rows that stand twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Iterator

from penchant.errors import shortened
from penchant.plurals import counted, first_of, for_one
from penchant.tables.encodings import misread
from penchant.unicode_spellings import as_named

NAMED = 3
"""The names or places that a caution shows."""


def name_cautions(names: Iterable[str], noun: str) -> Iterator[str]:
    """Cautions about names of groups, which `noun` calls in the plural: those that look alike and are counted apart,
    and those that were read in a wrong encoding."""
    each = list(dict.fromkeys(names))
    yield from counted_apart(each, noun)
    wrong = [shortened(name) for name in each if misread(name)]
    if wrong:
        told = f"{counted(len(wrong), noun)} {for_one(len(wrong), 'have')} a name that was read in a wrong encoding"
        yield f"{told}: {first_of(wrong, NAMED)}"


def counted_apart(names: Iterable[str], noun: str) -> Iterator[str]:
    """A caution for every few names that differ only in case, white space, invisible characters or Unicode form; `noun`
    is what they are of, in the plural."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(as_named(name), []).append(name)
    for several in alike.values():
        if len(several) > 1:
            looks = {" ".join(unicodedata.normalize("NFKC", name).split()) for name in several}
            shown = ", ".join(map(repr if len(looks) == len(several) else ascii, several))
            yield (
                f"{len(several)} {noun} differ only in case, white space or Unicode form and are counted apart: {shown}"
            )


def repeated_rows(rows: Iterable[tuple[Hashable, str]], noun: str) -> Iterator[str]:
    """A caution about rows that say the same as an earlier one; of each row what it says, and its place. `noun` is what
    they are, in the plural."""
    first: dict[Hashable, str] = {}
    again = [
        f"{_short(place)} as {_short(first[said])}" for said, place in rows if first.setdefault(said, place) != place
    ]
    if again:
        verbs = ("repeats", "counts") if len(again) == 1 else ("repeat", "count")
        shown = first_of(again, NAMED)
        yield f"{counted(len(again), noun)} {verbs[0]} an earlier one and {verbs[1]} again ({shown})"


def _short(place: str) -> str:
    """A place without its file."""
    return place.rpartition(", ")[2]
