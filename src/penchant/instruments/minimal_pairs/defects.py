"""Cautions about defects of minimal pairs, and the treatment of acceptability marks in only one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from penchant.errors import DataError, is_kept, line_noun
from penchant.instruments import text_defects
from penchant.instruments.minimal_pairs.formats import ROLES
from penchant.instruments.text_defects import LocatedSentence, Pair, Sides, beginning_marks, without_mark
from penchant.plurals import first_of
from penchant.records import Item
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.rows import FileRow
from penchant.wording.phrases import Note
from penchant.wording.templates import Text

Marks = Literal["refuse", "strip"]
_WORDS = Text.of(Path(__file__).parent).below("cautions")
_NAMED = 3
"""Maximum number of lines or groups that a caution lists."""
_LINES = 5
"""Maximum number of marked lines listed for the good and for the bad sentences."""
_GROUPS: Mapping[str, str] = {"group": "groups", "phenomenon": "phenomena"}


def checked_marks(
    items: Sequence[Item], rows: Sequence[FileRow], file: Path, marks: Marks
) -> tuple[tuple[Item, ...], list[str]]:
    """Return the pairs, without acceptability marks if `marks` is "strip", and a caution about the removed marks.

    Raises DataError if marks are refused and only one sentence of a pair begins with one.
    """
    sides = [beginning_marks(item.texts["good"], item.texts["bad"]) for item in items]
    if marks == "strip":
        marked = _by_side(sides, rows)
        return tuple(map(_stripped, items, sides)), [_WORDS.get("stripped", sides=marked)] if marked else []
    alone: list[Sides] = [each if each[0] != each[1] else (False, False) for each in sides]
    if marked := _by_side(alone, rows):
        first = next(row for row, each in zip(rows, alone, strict=True) if any(each))
        raise DataError(
            f"only one sentence of a pair begins with a mark of acceptability, which a model scores as text: {marked}",
            file=file,
            line=first.line,
            hint="remove the marks, or use marks: strip in a study, --marks strip in audit and check",
        )
    return tuple(items), []


def _stripped(item: Item, sides: Sides) -> Item:
    texts = {role: without_mark(item.texts[role]) for role, has in zip(ROLES, sides, strict=True) if has}
    return replace(item, texts={**item.texts, **texts}) if texts else item


def _by_side(sides: Sequence[Sides], rows: Sequence[FileRow]) -> str:
    parts = []
    for number, role in enumerate(ROLES):
        lines = [row.line for row, each in zip(rows, sides, strict=True) if each[number]]
        if lines:
            named = first_of([f"{line:d}" for line in lines], _LINES)
            noun = line_noun(lines[0]) if len(lines) == 1 else f"{line_noun(lines[0])}s"
            parts.append(f"{role} {len(lines):,} ({noun} {named})")
    return "; ".join(parts)


def cautions(
    items: Sequence[Item], rows: Sequence[FileRow], file: Path, sides: tuple[str, str]
) -> Iterator[Note | str]:
    """Yield cautions about the pairs of one file; `sides` are the column names of the two sentences."""
    name = file.stem if is_kept(file) else file.name
    pairs = []
    for item, row in zip(items, rows, strict=True):
        line = f"{line_noun(row.line)} {row.line:d}"
        first, second = (LocatedSentence(item.texts[role], name, line) for role in ROLES)
        pairs.append(Pair(first, second, item.labels["group"]))
    yield from text_defects.cautions(pairs, sides)
    if same := [_line(item) for item in items if item.texts["good"] == item.texts["bad"]]:
        yield _WORDS.get("identical", n=len(same), lines=first_of(same, _NAMED))
    texts = ((item.texts["good"], item.texts["bad"], item.texts.get("prefix", "")) for item in items)
    yield from repeated_rows(zip(texts, map(_line, items), strict=True), "pairs")
    for label, noun in _GROUPS.items():
        yield from name_cautions((item.labels[label] for item in items), noun)
    sizes = Counter(item.labels["group"] for item in items)
    single = [repr(group) for group, size in sizes.items() if size == 1]
    if single and len(sizes) > 1:
        yield _WORDS.get("alone", n=len(single), named=first_of(single, _NAMED))


def _line(item: Item) -> str:
    return item.place.rpartition(", ")[2] or item.id
