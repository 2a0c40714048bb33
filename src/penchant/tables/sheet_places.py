"""Rows and cells of a sheet of a workbook: each stands once, in order, where a spreadsheet may have it.

openpyxl drops cells and rows that stand out of order, and fills in those that are left out, whatever their numbers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO
from xml.parsers import expat

from penchant.errors import DataError

_ROWS, _COLUMNS = 1_048_576, 16_384
"""The last row and column of a sheet."""
_CELLS = 1 << 26
"""The most cells of a sheet, with the empty ones before the last of a row."""
_CELL = re.compile(r"([A-Z]{1,3})([0-9]+)")
_HINT = "open it in a spreadsheet and save it"


class _Places:
    """Goes through the elements of a sheet. Raises ValueError with what is wrong; `row` is where."""

    def __init__(self) -> None:
        self.row = self.column = self.cells = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Enter an element."""
        tag = name.rpartition(":")[2]
        if tag == "row":
            self._enter(attributes.get("r", str(self.row + 1)))
        elif tag == "c":
            self._place(attributes.get("r"))

    def _enter(self, number: str) -> None:
        before, self.row, self.column = self.row, int(number) if re.fullmatch("[0-9]{1,7}", number) else 0, 0
        if not 0 < self.row <= _ROWS:
            self.row = before
            raise ValueError(f"a row has the number {number[:20]}, and a sheet rows from 1 to {_ROWS:,}")
        if self.row <= before:
            raise ValueError(f"the row stands behind row {before}")

    def _place(self, reference: str | None) -> None:
        column = self.column + 1
        if reference is not None:
            match = _CELL.fullmatch(reference)
            if not match or int(match[2]) != self.row:
                raise ValueError(f"the row holds the cell {reference[:20]}")
            column = 0
            for letter in match[1]:
                column = 26 * column + ord(letter) - ord("A") + 1
        if not self.column < column <= _COLUMNS:
            raise ValueError(f"the cell {reference or column} stands twice, out of order or too far to the right")
        self.cells += column - self.column
        self.column = column
        if self.cells > _CELLS:
            raise ValueError(f"the sheet has more than {_CELLS:,} cells up to here")


def refuse_misplaced(source: IO[bytes], file: Path, sheet: str) -> None:
    """Raise DataError naming sheet and row for rows or cells that are repeated, out of order or beyond a sheet."""
    places = _Places()
    parser = expat.ParserCreate()
    parser.StartElementHandler = places.start
    try:
        parser.ParseFile(source)
    except ValueError as error:
        where = f"{file}, sheet '{sheet}', row {places.row}"
        raise DataError(str(error), where=where, hint=_HINT) from error
