"""Rows below a table that are not data: a total, a mean, a note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from penchant.errors import DataError, shortened
from penchant.tables.table_row import Row

_LAST = 5
"""The number of rows at the end of a table that are checked."""
_SUMMARY = re.compile(
    r"(?:grand |sub)?totals?|sum|means?|average|avg|median|n|n ?= ?[\d., ]+|(?:total )?n ?[:=] ?[\d., ]+"
    r"|std\.?(?: dev(?:iation|\.)?)?|sd|summe|gesamt|insgesamt|mittelwert|durchschnitt|moyenne|somme|media|promedio"
    r"|celkem|průměr|součet",
    re.IGNORECASE,
)
"""The first cell of a row that sums up those above it."""
_NOTE = re.compile(
    r"(?:notes?|source|sources|legend|generated|exported|created|quelle|anmerkung|poznámka)\b", re.IGNORECASE
)
"""The beginning of a note."""


def footer(rows: Sequence[Row], file: str | Path) -> DataError | None:
    """Return the error for the first of the last rows that sums up or explains the rows above it; None if none does.

    A row is a summary by its first cell, which no row above has. A row is a note if it has one cell alone, of several
    words, which begins as notes do or stands in a column without white space.
    """
    start = max(1, len(rows) - _LAST)
    for number in range(start, len(rows)):
        row = rows[number]
        cells = [(name, cell) for name, cell in row.values.items() if cell is not None and str(cell).strip()]
        if not cells or not isinstance(cells[0][1], str):
            continue
        column, text = cells[0][0], cells[0][1].strip()
        above = [str(other.values.get(column) or "").strip() for other in rows[:start]]
        sums = bool(_SUMMARY.fullmatch(text.rstrip(" :."))) and text.casefold() not in map(str.casefold, above)
        alone = len(cells) == 1 and len(row.values) > 1 and len(text.split()) > 1
        if sums or (alone and (_NOTE.match(text) or not any(len(cell.split()) > 1 for cell in above))):
            message = f"looks like a line below the table, not a row of it: {shortened(text)}"
            return DataError(message, file=file, line=row.line, hint="remove it, and the rows below it")
    return None
