"""One row of a table, whatever file it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from penchant.errors import DataError, shortened
from penchant.number_parsing import localised

TITLE = "is there a title above the header? Remove it: the first row names the columns"
"""The hint about a first row with one cell above rows with more."""


class Row(NamedTuple):
    """One row: the line on which it begins, and its values by column.

    `line` counts from 1; it is the row's number in Parquet and workbooks, the number of the case in SPSS and Stata.
    `decimal` is the mark of its numbers: a point; a comma where semicolons or tabs separate the cells and some number
    shows it; "" where none does.
    """

    line: int
    values: dict[str, object]
    decimal: str = "."

    def number(self, value: object, file: Path | None = None, field: str | None = None) -> object:
        """Return the number that a text of the table is, or any other value unchanged.

        Raises DataError, with the place if `file` and `field` are given, for a number with two readings.
        """
        if not isinstance(value, str):
            return value
        try:
            number = localised(value, self.decimal)
        except ValueError as error:
            hint = "write it without separators, and decimals with a point"
            raise DataError(f"{shortened(value)} {error}", file=file, line=self.line, field=field, hint=hint) from error
        return value if number is None else number


def whole(value: object) -> object:
    """Return a decimal number that is whole as an int, and anything else unchanged.

    Spreadsheets show it so, and pandas makes numbers decimal where a cell of their column is empty.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value
