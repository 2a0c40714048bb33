"""Keyword in context: occurrences of a word, one a line, with what stands on both sides of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl
import regex
from rich.cells import cell_len

_PLAIN = ("[", "]")
_BOLD = ("\x1b[1m", "\x1b[0m")
_FEWEST = 8
"""Columns on either side, however narrow the whole."""


def concordance(found: pl.DataFrame, *, width: int, bold: bool) -> Iterator[str]:
    """Lines of about `width` columns for rows with id, text, start, end: the form in bold or in brackets, beginning in
    the same column of every line, and at the end the sentence's id. Letters keep their marks where a line is cut."""
    rows = [_parts(*row) for row in found.select("id", "text", "start", "end").iter_rows()]
    forms, names = (max((cell_len(row[part]) for row in rows), default=0) for part in (1, 3))
    left, right = _BOLD if bold else _PLAIN
    side = max((width - forms - names - 2 - (0 if bold else 2)) // 2, _FEWEST)
    for before, form, after, name in rows:
        lead = "".join(reversed(_fitting(reversed(_letters(before)), side)))
        tail = "".join(_fitting(_letters(after), side + forms - cell_len(form)))
        pad, fill = " " * (side - cell_len(lead)), " " * (side + forms - cell_len(form) - cell_len(tail))
        yield f"{pad}{lead}{left}{form}{right}{tail}{fill}  {name}"


def _parts(name: str, text: str, start: int, end: int) -> tuple[str, str, str, str]:
    """What stands before the form, the form, what stands behind it, and the id, with single spaces."""
    before, form, after = text[:start], text[start:end], text[end:]
    lead = " ".join(before.split()) + " " * (before[-1:].isspace())
    tail = " " * (after[:1].isspace()) + " ".join(after.split())
    return lead, " ".join(form.split()), tail, name


def _letters(text: str) -> list[str]:
    """The text in grapheme clusters: letters with their marks."""
    found: list[str] = regex.findall(r"\X", text)
    return found


def _fitting(letters: Iterable[str], width: int) -> list[str]:
    """As many of the letters, from the first on, as fit; an ellipsis where that is not all."""
    kept: list[str] = []
    given = list(letters)
    room = width
    for letter in given:
        room -= cell_len(letter)
        kept.append(letter)
        if room < 0:
            while kept and room < 1:
                room += cell_len(kept.pop())
            return [*kept, "…"]
    return kept
