"""Guards for text in CSV files: a spreadsheet would run a cell that begins like a formula.

Such a cell gets an apostrophe in front, after OWASP's advice on CSV injection, and so does one that begins with
apostrophes before that, so that the guard can be removed without loss. Numbers stay numbers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

MARK = "\ufeff"
"""The mark at the beginning of a CSV file by which a spreadsheet recognizes UTF-8."""
_FORMULA = "'*[=+\\-@\t\r\n＝＋－＠]"
_GUARDED = re.compile(_FORMULA)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """Return the text as a cell that no spreadsheet takes for a formula; `unguarded` undoes it."""
    return f"'{text}" if _GUARDED.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text of a guarded cell; any other cell is unchanged, unless it looks like a guarded one."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def for_spreadsheets(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with its texts and column names guarded."""
    import polars as pl

    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(
        pl.Series(name, [None if text is None else guarded(text) for text in frame[name]], dtype=pl.String)
        for name in texts
    ).rename(guarded)
