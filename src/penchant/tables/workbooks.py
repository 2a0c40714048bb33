"""Reader of Excel workbooks (.xlsx), which yields the rows of a sheet without cell formats."""

from __future__ import annotations

import datetime
import difflib
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from penchant.errors import DataError, SheetRow, missing_package, shortened
from penchant.tables.table_row import TITLE, FileRow, whole
from penchant.text_io import refused_character

MAGIC = b"PK\x03\x04"
OLD_MAGIC = b"\xd0\xcf\x11\xe0"
_LARGEST = 1 << 29
"""Maximum size of a decompressed workbook in bytes."""
_NO_WORKBOOK = "save it as .xlsx, or as CSV in UTF-8"
_ROWS, _COLUMNS = 1_048_576, 16_384
"""Maximum numbers of rows and columns of a sheet."""
_CELLS = 1 << 26
"""Maximum number of cells of a sheet, including empty cells before the last cell of a row."""
_CELL = re.compile(r"([A-Z]{1,3})([0-9]+)")
_RESAVE = "open it in a spreadsheet and save it"


def workbook_rows(data: bytes, file: Path, sheet: str) -> Iterator[FileRow]:
    """Yield the rows below the header of a sheet, or of the first sheet if `sheet` is "".

    The header is the first nonempty row. Empty cells are empty texts, as in CSV. Raises DataError with the cell if the
    sheet is invalid, and MethodError if openpyxl is missing.
    """
    values, formulas = (_sheet(book, sheet, file) for book in _books(data, file))
    header: list[str] | None = None
    first = 0
    letters: dict[str, str] = {}
    for number, (row, written) in enumerate(zip(values, formulas, strict=True), 1):
        cells = [_value(cell, source, file) for cell, source in zip(row, written, strict=True)]
        if all(cell == "" for cell in cells):
            continue
        if header is None:
            header, first = _header([str(cell) for cell in cells], number, file), number
            letters = {name: _letter(column) for column, name in enumerate(header) if name or not column}
            continue
        surplus = [i for i, cell in enumerate(cells) if cell != "" and (i >= len(header) or (i and not header[i]))]
        named_cells = [i for i, name in enumerate(header) if name]
        if surplus and len(named_cells) == 1 and first:
            title = f"looks like a title, as the rows below have more columns: {shortened(header[named_cells[0]])}"
            raise _cell_error(title, named_cells[0], first, file, TITLE)
        if surplus:
            raise _cell_error(
                "the column has no name", surplus[0], number, file, "put the column names in the first row"
            )
        cells += [""] * (len(header) - len(cells))
        named = {name: cell for i, (name, cell) in enumerate(zip(header, cells, strict=False)) if name or not i}
        if not header[0] and named[""] == "":
            del named[""]
        yield FileRow(SheetRow(number, letters), named)


def _books(data: bytes, file: Path) -> list[Any]:
    """Load the workbook twice: with the saved values of formulas, and with the formulas themselves."""
    try:
        import openpyxl
    except ImportError as error:
        raise missing_package("openpyxl", "tables", error) from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > _LARGEST:
            raise DataError(f"unpacks to more than {_LARGEST >> 20} MiB", file=file, hint="save the sheet as CSV")
        return [openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=plain) for plain in (True, False)]
    except DataError:
        raise
    except Exception as error:  # openpyxl raises whatever its parts do
        raise _unreadable(error, file) from error


def _unreadable(error: Exception, file: Path) -> DataError:
    reason = str(error).partition("\n")[0] or type(error).__name__
    return DataError(f"cannot be read as an Excel workbook: {reason}", file=file, hint=_NO_WORKBOOK)


def refuse_old(file: Path) -> DataError:
    """Return the error for a workbook in the .xls format of Excel before 2007."""
    return DataError("is a workbook in the old .xls format", file=file, hint=_NO_WORKBOOK)


def _sheet(book: Any, name: str, file: Path) -> Iterator[Sequence[Any]]:
    names = [sheet.title for sheet in book.worksheets]
    if name and name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the sheets are {', '.join(names)}"
        raise DataError(f"there is no sheet '{name}'", file=file, hint=hint)
    if not names:
        raise DataError("contains no sheets", file=file)
    sheet = book[name] if name else book.worksheets[0]
    sheet.reset_dimensions()  # a program may have written wrong ones
    try:
        with sheet._get_source() as source:
            refuse_misplaced(source, file, sheet.title)
        yield from sheet.iter_rows()
    except DataError:
        raise
    except Exception as error:  # as in _books: the sheet is parsed while it is read
        raise _unreadable(error, file) from error


def _value(cell: Any, written: Any, file: Path) -> object:
    value = cell.value
    if value is None:
        if written.value is not None:
            message = "contains a formula that was never calculated"
            raise _cell_error(message, cell.column - 1, cell.row, file, _RESAVE)
        return ""
    if cell.data_type == "e":
        raise _cell_error(f"contains the error {value}", cell.column - 1, cell.row, file, "correct or clear the cell")
    if isinstance(value, str) and (wrong := refused_character(value)):
        raise _cell_error(wrong, cell.column - 1, cell.row, file)
    return plain(value)


def plain(value: object) -> object:
    """Convert floats with integer values to int, and dates and times to ISO 8601 strings."""
    if isinstance(value, datetime.datetime):
        return (value.date() if value.time() == datetime.time() else value).isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value) if isinstance(value, datetime.timedelta) else whole(value)


def _header(names: list[str], number: int, file: Path) -> list[str]:
    """Return the column names, stripped of white space, up to the last nonblank name.

    Raises DataError, located in row `number`, if a name appears twice.
    """
    names = [name.strip() for name in names]
    while names and not names[-1]:
        names = names[:-1]
    for column, name in enumerate(names):
        if name and name in names[:column]:
            raise _cell_error(f"two columns have the same name, '{name}'", column, number, file)
    return names


def _cell_error(message: str, column: int, row: int, file: Path, hint: str = "") -> DataError:
    where = f"{file}, cell {_letter(column)}{row}"
    error = DataError(message, where=where, hint=hint)
    error.file, error.line = file, row
    return error


def _letter(column: int) -> str:
    """Return the letters of a column index: A for 0, Z for 25, AA for 26."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


class _Places:
    """Validator of the order of rows and cells; raises ValueError if one is misplaced. `row` is the current row."""

    def __init__(self) -> None:
        self.row = self.column = self.cells = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Process the start tag of an XML element."""
        tag = name.rpartition(":")[2]
        if tag == "row":
            self._enter(attributes.get("r", str(self.row + 1)))
        elif tag == "c":
            self._place(attributes.get("r"))

    def _enter(self, number: str) -> None:
        before, self.row, self.column = self.row, int(number) if re.fullmatch("[0-9]{1,7}", number) else 0, 0
        if not 0 < self.row <= _ROWS:
            self.row = before
            raise ValueError(f"the row number {number[:20]} is not between 1 and {_ROWS:,}")
        if self.row <= before:
            raise ValueError(f"the row is repeated or out of order: it follows row {before}")

    def _place(self, reference: str | None) -> None:
        column = self.column + 1
        if reference is not None:
            match = _CELL.fullmatch(reference)
            if not match or int(match[2]) != self.row:
                raise ValueError(f"the row contains the cell {reference[:20]}, which is invalid or in another row")
            column = 0
            for letter in match[1]:
                column = 26 * column + ord(letter) - ord("A") + 1
        if not self.column < column <= _COLUMNS:
            raise ValueError(f"the cell {reference or column} is repeated, out of order or beyond column XFD")
        self.cells += column - self.column
        self.column = column
        if self.cells > _CELLS:
            raise ValueError(f"the sheet has more than {_CELLS:,} cells up to this row")


def refuse_misplaced(source: IO[bytes], file: Path, sheet: str) -> None:
    """Raise DataError if rows or cells of a sheet are repeated, out of order, or beyond the maximum size of a sheet.

    openpyxl drops rows and cells that are out of order, and inserts any number of missing ones.
    """
    places = _Places()
    parser = expat.ParserCreate()
    parser.StartElementHandler = places.start
    try:
        parser.ParseFile(source)
    except ValueError as error:
        where = f"{file}, sheet '{sheet}', row {places.row}"
        raise DataError(str(error), where=where, hint=_RESAVE) from error
