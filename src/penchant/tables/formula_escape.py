"""Escaping of text in CSV files, since spreadsheets evaluate cells that begin like formulas.

An apostrophe is added before such cells, as OWASP recommends against CSV injection, and before cells in which
apostrophes already precede a formula, so that escaping is reversible. Numbers are not escaped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

MARK = "\ufeff"
"""Byte-order mark, by which spreadsheets recognise a CSV file as UTF-8."""
_FORMULA = "'*[=+\\-@\t\r\n＝＋－＠]"
_GUARDED = re.compile(_FORMULA)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """Return a text escaped so that no spreadsheet evaluates it as a formula; `unguarded` is the inverse."""
    return f"'{text}" if _GUARDED.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text of an escaped cell; cells that do not look escaped are returned unchanged."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def for_spreadsheets(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a data frame with its text cells and column names escaped."""
    import polars as pl

    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(
        pl.Series(name, [None if text is None else guarded(text) for text in frame[name]], dtype=pl.String)
        for name in texts
    ).rename(guarded)
