"""Tables with cells separated by commas, semicolons or tabs, as written by spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from penchant.errors import DataError, shortened
from penchant.number_parsing import decimal_comma
from penchant.plurals import counted
from penchant.tables.table_row import TITLE, FileRow

_QUOTED = re.compile(r'"[^"]*"')
_DECLARED = re.compile(r'"?sep=([,;\t])"?[ ,;\t]*(?:\r\n|\n|\r|\Z)', re.IGNORECASE)
"""Pattern of the line before the header that declares the separator for Excel."""
_BREAK = re.compile(r"\r\n|\n|\r")
OPEN = "was a quotation mark left open? Close it, or remove it"
"""Hint for a cell that spans several lines."""
_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma"}


def delimited(text: str, file: Path) -> Iterator[FileRow]:
    """Yield the rows below the header. Raises DataError with the file and line if the table is invalid."""
    delimiter, records = _opened(text, file)
    first, header = _header(records, file)
    names = _names(header)
    _check_header(names, first, file)
    decimal = "."
    if delimiter != ",":  # a decimal comma may be in any row
        rows = list(records)
        cells = (cell for _, fields in rows for cell in fields if "," in cell)
        decimal, records = "," if any(map(decimal_comma, cells)) else "", iter(rows)
    for line, fields in records:
        if len(fields) > 1 and not any(field.strip() for field in fields):
            continue  # spreadsheets leave such rows below a table
        alone = sum(map(bool, names)) == 1 and sum(map(bool, map(str.strip, fields))) > 1
        if alone and names[0] and (len(header) > 1 or " " in names[0]):
            message = f"looks like a title, as the rows below have more columns: {shortened(names[0])}"
            raise DataError(message, file=file, line=first, hint=TITLE)
        if len(fields) != len(header):
            message = f"{counted(len(fields), 'fields')}, but the header has {len(header)}"
            across = any(map(_broken, fields))
            hint = OPEN if across else f"put double quotes around a text that contains a {_NAMES[delimiter]} or a quote"
            raise DataError(f"{message}{_over(line, fields)}", file=file, line=line, hint=hint)
        if any(_swallows(field, number, len(header) - 1, delimiter) for number, field in enumerate(fields)):
            raise DataError(f"a cell contains entire rows{_over(line, fields)}", file=file, line=line, hint=OPEN)
        if any(field.strip() for field in fields[len(names) :]):
            _check_header([name.strip() for name in header], first, file)
        yield FileRow(line, dict(zip(names, fields, strict=False)), decimal)


def _broken(field: str) -> bool:
    return "\n" in field or "\r" in field


def _over(line: int, fields: Sequence[str]) -> str:
    more = sum(len(_BREAK.findall(field)) for field in fields)
    return f": the row continues to line {line + more}" if more else ""


def _swallows(field: str, number: int, separators: int, delimiter: str) -> bool:
    """Return True if a multi-line cell appears to contain the end of its row and the beginning of another.

    A row has `separators` separators, of which `number` precede the cell. Returns False if there are too few columns or
    lines to rule out an ordinary text with commas.
    """
    if not _broken(field):
        return False
    first, *inner, last = (part.count(delimiter) for part in _BREAK.split(field))
    if delimiter == "," and (separators < 2 or not (inner or separators > 2)):
        return False
    return first == separators - number and last == number and all(count == separators for count in inner)


def header_of(text: str, file: Path) -> list[str]:
    """Return the column names of a text with delimited cells. Raises DataError if it has no header."""
    return _names(_header(_opened(text, file)[1], file)[1])


def _names(header: Sequence[str]) -> list[str]:
    """Return the column names, stripped of white space, up to the last nonblank name.

    Spreadsheets write empty columns to the right of a table. If all names are blank, all are returned.
    """
    names = [name.strip() for name in header]
    named = max((number for number, name in enumerate(names, 1) if name), default=len(names))
    return names[:named]


def _header(records: Iterator[tuple[int, list[str]]], file: Path) -> tuple[int, list[str]]:
    for record in records:
        return record
    raise DataError("contains no rows", file=file, hint="write the column names on the first line")


def _opened(text: str, file: Path) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """Return the delimiter, and an iterator over the records with their line numbers, the header first."""
    declared = _DECLARED.match(text)
    if declared is None:
        delimiter = _delimiter(text)
        return delimiter, _records(text, delimiter, file, 0)
    return declared[1], _records(text[declared.end() :], declared[1], file, 1)


def _delimiter(text: str) -> str:
    """Return the delimiter of the header line, determined outside quotes.

    The delimiter is a tab if there is one, otherwise a semicolon if there are more semicolons than commas, otherwise a
    comma.
    """
    bare = _QUOTED.sub("x", text[:65_536])
    first = next((line for line in re.split(r"[\r\n]+", bare) if line), "")
    if "\t" in first:
        return "\t"
    return ";" if first.count(";") > first.count(",") else ","


def _records(text: str, delimiter: str, file: Path, before: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each record's first line number and its cells; `before` is the number of lines that precede `text`."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = before + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(
                f"broken quoting: {error}",
                file=file,
                line=line,
                hint='put the whole text in double quotes and write "" for a quote inside it',
            ) from error
        if fields:
            yield line, fields


def _check_header(header: Sequence[str], line: int, file: Path) -> None:
    # An unnamed first column is the row index that R and pandas write.
    blank = [i for i, name in enumerate(header) if not name.strip() and (i > 0 or len(header) == 1)]
    if blank:
        raise DataError(
            f"column {blank[0] + 1} has no name",
            file=file,
            line=line,
            hint="write the column names on the first line",
        )
    repeated = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if repeated is not None:
        raise DataError("two columns have the same name", file=file, line=line, field=repeated)
