"""Names of groups that are hardly what their authors meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from penchant.counting import counted, for_one
from penchant.errors import shortened
from penchant.tables.misread import misread

NAMED = 3
"""The names that a caution shows."""


def name_cautions(names: Iterable[str], noun: str) -> Iterator[str]:
    """Cautions about names of groups, which `noun` calls in the plural: those that look alike and are counted apart,
    and those that were read in a wrong encoding."""
    each = list(dict.fromkeys(names))
    yield from counted_apart(each, noun)
    wrong = [shortened(name) for name in each if misread(name)]
    if wrong:
        more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        told = f"{counted(len(wrong), noun)} {for_one(len(wrong), 'have')} a name that was read in a wrong encoding"
        yield f"{told}: {', '.join(wrong[:NAMED])}{more}"


def counted_apart(names: Iterable[str], noun: str) -> Iterator[str]:
    """A caution for every few names that differ only in case, white space or Unicode form; `noun` is what they are of,
    in the plural."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(" ".join(_composed(name).casefold().split()), []).append(name)
    for several in alike.values():
        if len(several) > 1:
            shown = ", ".join(map(ascii if len(set(map(_composed, several))) < len(several) else repr, several))
            yield (
                f"{len(several)} {noun} differ only in case, white space or Unicode form and are counted apart: {shown}"
            )


def _composed(name: str) -> str:
    """A name as it looks."""
    return unicodedata.normalize("NFKC", name)
