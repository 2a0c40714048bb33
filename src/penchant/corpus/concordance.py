"""Keyword in context: occurrences of words, one per line, with the text on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl
import regex
from rich.cells import cell_len

from penchant.errors import visible

_PLAIN = ("[", "]")
_BOLD = ("\x1b[1m", "\x1b[0m")
_FEWEST = 8
"""Minimum width of the context on either side, in terminal columns."""


def concordance(occurrences: pl.DataFrame, *, width: int, bold: bool) -> Iterator[str]:
    """Yield a keyword-in-context line of about `width` terminal columns for each occurrence.

    The columns id, text, start and end are required. The form found is aligned across lines, in bold if `bold`
    is true and otherwise in brackets; the sentence id ends the line. Truncation never separates a letter from its
    combining marks.
    """
    rows = [tuple(map(visible, _parts(*row))) for row in occurrences.select("id", "text", "start", "end").iter_rows()]
    forms, names = (max((cell_len(row[part]) for row in rows), default=0) for part in (1, 3))
    left, right = _BOLD if bold else _PLAIN
    side = max((width - forms - names - 2 - (0 if bold else 2)) // 2, _FEWEST)
    for before, form, after, name in rows:
        lead = "".join(reversed(_fitting(reversed(_letters(before)), side)))
        tail = "".join(_fitting(_letters(after), side + forms - cell_len(form)))
        pad, fill = " " * (side - cell_len(lead)), " " * (side + forms - cell_len(form) - cell_len(tail))
        yield f"{pad}{lead}{left}{form}{right}{tail}{fill}  {name}"


def _parts(name: str, text: str, start: int, end: int) -> tuple[str, str, str, str]:
    """Return the text before a form, the form, the text after it and the id `name`, all with white space collapsed."""
    before, form, after = text[:start], text[start:end], text[end:]
    lead = " ".join(before.split()) + " " * (before[-1:].isspace())
    tail = " " * (after[:1].isspace()) + " ".join(after.split())
    return lead, " ".join(form.split()), tail, " ".join(name.split())


def _letters(text: str) -> list[str]:
    """Split a text into grapheme clusters."""
    clusters: list[str] = regex.findall(r"\X", text)
    return clusters


def _fitting(letters: Iterable[str], width: int) -> list[str]:
    """Return the leading letters that fit in `width` terminal columns, with an ellipsis if any are cut off."""
    kept: list[str] = []
    room = width
    for letter in letters:
        room -= cell_len(letter)
        kept.append(letter)
        if room < 0:
            while kept and room < 1:
                room += cell_len(kept.pop())
            return [*kept, "…"]
    return kept
