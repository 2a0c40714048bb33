"""Marks of acceptability at the beginning of sentences, such as * and ??: refused where one sentence of a pair alone
has one, since a model scores it as a part of the sentence, or taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from penchant.counting import first_of
from penchant.errors import DataError, line_noun
from penchant.instruments.written import Sides, beginning_marks, without_mark
from penchant.records import Item
from penchant.tables.rows import Row

Marks = Literal["refuse", "strip"]
_NAMED = 5
"""The lines that are named of each side."""
_ROLES = ("good", "bad")


def checked_marks(
    items: Sequence[Item], rows: Sequence[Row], file: Path, marks: Marks
) -> tuple[tuple[Item, ...], list[str]]:
    """The pairs of a file, and a caution that counts what was taken out. Raises DataError, with the first lines of each
    side, where marks are refused and one sentence of some pair alone begins with one."""
    sides = [beginning_marks(item.texts["good"], item.texts["bad"]) for item in items]
    if marks == "strip":
        told = _by_side(sides, rows)
        caution = f"marks: strip took marks of acceptability from the beginning of sentences: {told}"
        return tuple(map(_stripped, items, sides)), [caution] if told else []
    alone: list[Sides] = [each if each[0] != each[1] else (False, False) for each in sides]
    if told := _by_side(alone, rows):
        first = next(row for row, each in zip(rows, alone, strict=True) if any(each))
        raise DataError(
            f"a mark of acceptability begins one sentence of a pair alone, which a model scores as text: {told}",
            file=file,
            line=first.line,
            hint="remove the marks, or have them taken out: marks: strip in a study, --marks strip in audit and check",
        )
    return tuple(items), []


def _stripped(item: Item, sides: Sides) -> Item:
    texts = {role: without_mark(item.texts[role]) for role, has in zip(_ROLES, sides, strict=True) if has}
    return replace(item, texts={**item.texts, **texts}) if texts else item


def _by_side(sides: Sequence[Sides], rows: Sequence[Row]) -> str:
    """How many sentences of each side have a mark, and the first lines; empty where none has."""
    parts = []
    for number, role in enumerate(_ROLES):
        lines = [row.line for row, each in zip(rows, sides, strict=True) if each[number]]
        if lines:
            named = first_of([f"{line:d}" for line in lines], _NAMED)
            noun = line_noun(lines[0]) if len(lines) == 1 else f"{line_noun(lines[0])}s"
            parts.append(f"{role} {len(lines):,} ({noun} {named})")
    return "; ".join(parts)
