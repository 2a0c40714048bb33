"""Row of a table, independent of the file format."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from penchant.errors import DataError, shortened
from penchant.number_parsing import localised

TITLE = "is there a title above the header? Remove it: the column names must be in the first row"
"""Hint for a first row with one cell above rows with several cells."""


class FileRow(NamedTuple):
    """Row of a table: the line on which it begins, and its values by column.

    `line` is counted from 1; it is the row number in Parquet and workbooks, and the case number in SPSS and Stata.
    `decimal` is the decimal mark of numbers: a point if cells are separated by commas, otherwise a comma if a number in
    the table requires it, or "" if unknown.
    """

    line: int
    values: dict[str, object]
    decimal: str = "."

    def number(self, value: object, file: Path | None = None, field: str | None = None) -> object:
        """Return the number that a string represents; other values are returned unchanged.

        Raises DataError if the number is ambiguous; `file`, `field` and the row's line are its location.
        """
        if not isinstance(value, str):
            return value
        try:
            number = localised(value, self.decimal)
        except ValueError as error:
            hint = "write the number without thousands separators and with a decimal point"
            raise DataError(f"{shortened(value)} {error}", file=file, line=self.line, field=field, hint=hint) from error
        return value if number is None else number


def whole(value: object) -> object:
    """Return a float with an integer value as an int, and other values unchanged.

    Spreadsheets display such a float as an integer, and pandas converts integers to floats if a column has an empty
    cell.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value
