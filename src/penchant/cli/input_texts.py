"""Input texts of a command, with their locations: lines of a file or standard input, or cells of a table."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from penchant.errors import DataError, MethodError, shortened, together
from penchant.errors import place as file_place
from penchant.text_io import lines as limited_lines
from penchant.text_io import not_utf8, opened


def refuse_own_output(file: str) -> None:
    """Raise DataError if standard output is the input file, since reading would never end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or no descriptor, such as under a test
        source = os.fstat(sys.stdin.buffer.fileno()) if file == "-" else Path(file).stat()
        if stat.S_ISREG(source.st_mode) and os.path.samestat(source, os.fstat(sys.stdout.fileno())):
            name = "standard input" if file == "-" else file
            raise DataError("is both input and output", where=name, hint="redirect the output to another file")


def lines(file: str) -> Iterator[tuple[str, str]]:
    """Yield each line of a file, without its line ending, and its location for error messages."""
    name = "standard input" if file == "-" else file
    number = 0
    if file == "-" and sys.stdin is None:
        raise DataError("is closed", where=name, hint="give a file, or pipe in one sentence per line")
    with nullcontext(sys.stdin.buffer) if file == "-" else opened(file) as stream:
        for number, raw in limited_lines(stream, name):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                yield text.rstrip("\r\n"), f"{name}, line {number}"
            except UnicodeDecodeError as error:
                raise not_utf8(raw, name, number) from error
    if not number:
        raise DataError("is empty", where=name, hint="give one sentence per line")


def sentences(file: str, column: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield each line of a file or, if `column` is given, each cell of a column, with its location for messages."""
    if column is None:
        refuse_binary(file)
        yield from lines(file)
        return
    (texts,) = texts_of(file, [column])
    yield from texts


def texts_of(
    file: str, columns: Sequence[str], *, blank: Collection[str] = (), codes: Collection[str] = ()
) -> list[list[tuple[str, str]]]:
    """Return the (text, location) pairs of all rows of a table, as one list for each column.

    Columns in `blank` may have empty cells; columns in `codes` may contain integers, which are read as strings.
    Raises DataError, listing the cells, if other cells contain no text, and MethodError if `file` is standard input.
    """
    from penchant.tables.rows import lacking, read_rows

    if file == "-":
        message = "--column needs a table in a file, not standard input"
        raise MethodError(message, hint="give a table file, such as a CSV")
    rows = read_rows(file)
    lacking(list(columns), list(dict.fromkeys(name for row in rows for name in row.values)), file)
    errors = []
    for row in rows:
        for column in columns:
            text = row.values.get(column)
            if column in blank and text in (None, ""):
                continue
            if column in codes and isinstance(text, int) and not isinstance(text, bool):
                row.values[column] = text = str(text)
            if not isinstance(text, str) or not text.strip():
                empty = text is None or text == ""
                message = "the field is blank" if empty else f"expected a string, found {shortened(text)}"
                hint = "remove the row or fill the cell" if empty or isinstance(text, str) else "give a column of texts"
                errors.append(DataError(message, file=file, line=row.line, field=column, hint=hint))
    if errors:
        raise together(errors)
    return [[(str(row.values.get(column) or ""), file_place(file, row.line)) for row in rows] for column in columns]


TABLES = frozenset({".csv", ".tsv", ".jsonl", ".parquet", ".xlsx", ".sav", ".dta"})
"""Suffixes of table files, which are read by column."""


def refuse_binary(file: str) -> None:
    """Raise DataError if a file that should contain lines of text is a table, judging by its content or suffix."""
    from penchant.tables.rows import LONGEST_MAGIC, is_binary

    if file == "-":
        return
    with opened(file) as stream:
        binary = is_binary(stream.read(LONGEST_MAGIC))
    if binary or Path(file).suffix.lower() in TABLES:
        named = ", ".join(map(repr, _columns(file)))
        message = f"looks like a table with the columns {named}" if named else "looks like a table"
        raise DataError(message, file=file, hint="give the column of its sentences with --column")


def _columns(file: str) -> list[str]:
    from penchant.tables.rows import read_rows

    try:
        return list(dict.fromkeys(name for row in read_rows(file)[:100] for name in row.values))
    except DataError:
        return []
