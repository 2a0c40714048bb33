"""One row of a table, whatever file it comes from."""

from __future__ import annotations

import re
from typing import NamedTuple

TITLE = "is there a title above the header? Take it out: the first row names the columns"
"""What to do about a first row with one cell above rows with more."""
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", re.ASCII)


class Row(NamedTuple):
    """One row: the 1-based line on which it begins (in Parquet, its 1-based number; in SPSS and Stata, that of the
    case; in a workbook, that of its row) and its values by column. `decimal` is the mark of its numbers: a comma where
    semicolons or tabs separate the cells."""

    line: int
    values: dict[str, object]
    decimal: str = "."

    def number(self, value: object) -> object:
        """A value, whose decimal comma becomes a point if it is a number's text in a table that may write one so."""
        if self.decimal == "," and isinstance(value, str) and _WITH_COMMA.fullmatch(value):
            return value.replace(",", ".")
        return value


def whole(value: object) -> object:
    """A decimal number that is whole as a whole number: spreadsheets show it so, and pandas makes numbers decimal where
    a cell of their column is empty. Anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
