"""One row of a table, whatever file it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from penchant.errors import DataError, shortened
from penchant.number_parsing import localised

TITLE = "is there a title above the header? Take it out: the first row names the columns"
"""What to do about a first row with one cell above rows with more."""


class Row(NamedTuple):
    """One row: the 1-based line on which it begins (in Parquet, its 1-based number; in SPSS and Stata, that of the
    case; in a workbook, that of its row) and its values by column. `decimal` is the mark of its numbers: a point; a
    comma where semicolons or tabs separate the cells and some number shows it; "" where none does."""

    line: int
    values: dict[str, object]
    decimal: str = "."

    def number(self, value: object, file: Path | None = None, field: str | None = None) -> object:
        """Return the number that a text of the table is, anything else as it is. Raises DataError, with the place if
        `file` and `field` are given, for a number with two readings."""
        if not isinstance(value, str):
            return value
        try:
            number = localised(value, self.decimal)
        except ValueError as error:
            hint = "write it without separators, and decimals with a point"
            raise DataError(f"{shortened(value)} {error}", file=file, line=self.line, field=field, hint=hint) from error
        return value if number is None else number


def whole(value: object) -> object:
    """A decimal number that is whole as a whole number: spreadsheets show it so, and pandas makes numbers decimal where
    a cell of their column is empty. Anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
