"""Detection of footer rows below a table, such as totals, means and notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from penchant.errors import DataError, shortened
from penchant.tables.table_row import FileRow

_LAST = 5
"""Number of rows at the end of a table to check."""
_SUMMARY = re.compile(
    r"(?:grand |sub)?totals?|sum|means?|average|avg|median|n|n ?= ?[\d., ]+|(?:total )?n ?[:=] ?[\d., ]+"
    r"|std\.?(?: dev(?:iation|\.)?)?|sd|summe|gesamt|insgesamt|mittelwert|durchschnitt|moyenne|somme|media|promedio"
    r"|celkem|průměr|součet",
    re.IGNORECASE,
)
"""Pattern of the first cell of a summary row."""
_NOTE = re.compile(
    r"(?:notes?|source|sources|legend|generated|exported|created|quelle|anmerkung|poznámka)\b", re.IGNORECASE
)
"""Pattern of the beginning of a note."""


def footer(rows: Sequence[FileRow], file: str | Path) -> DataError | None:
    """Return the error for the first footer row among the last rows of a table, or None if there is none.

    A summary row is recognised by its first cell, which must not occur in earlier rows. A note is a row with a single
    cell of several words that begins like a note, or whose column otherwise contains only single words.
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
            message = f"looks like a footer, not a row of the table: {shortened(text)}"
            return DataError(message, file=file, line=row.line, hint="remove this row and the rows below it")
    return None
