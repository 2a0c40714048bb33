"""Tables of stimuli as rows of named values: CSV, TSV, JSON lines, a JSON array of objects, Parquet.

The format is detected from the content. Text is UTF-8, with or without a byte-order mark, and values are kept as they
are. Quotes in CSV and TSV follow RFC 4180. Blank lines between rows are skipped; anything else that does not fit
raises a DataError with its place.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from penchant.errors import DataError, in_words
from penchant.reading import decoded, lines, opened
from penchant.tables.json_text import RepeatedKeyError, excess, may_be_excessive, unsound, without_repeats
from penchant.tables.spreadsheets import unguarded

_PARQUET = b"PAR1"
_QUOTED = re.compile(r'"[^"]*"')
_SPACE = re.compile(r"[ \t\r\n]*")


class Row(NamedTuple):
    """One row: the 1-based line on which it begins (in Parquet, its 1-based number) and its values by column."""

    line: int
    values: dict[str, object]


def read_rows(path: str | Path) -> list[Row]:
    """Read all rows of a table. Raises DataError naming file, line and field, also for a table without rows."""
    file = Path(path)
    data = _bytes(file)
    rows = list(_rows(data, file))
    if not rows:
        raise DataError("holds no rows", file=file)
    return rows


Model = TypeVar("Model", bound=BaseModel)


def read_models(path: str | Path, model: type[Model], *, guarded: bool = False) -> list[tuple[int, Model]]:
    """Read the rows of a table as instances of a pydantic model, each with its line; the table may have no rows.

    An empty cell of CSV or TSV counts as missing; where cells are `guarded` against spreadsheets, they are taken as
    what they stand for. Raises DataError naming file, line and field.
    """
    file = Path(path)
    data = _bytes(file)
    models = []
    for row in _rows(data, file, unguarded if guarded else None):
        values = {name: value for name, value in row.values.items() if value not in ("", None)}
        try:
            models.append((row.line, model.model_validate(values)))
        except ValidationError as error:
            first = error.errors()[0]
            field = str(first["loc"][0]) if first["loc"] else None
            columns = ", ".join(row.values)
            hint = f"the columns are {columns}" if first["type"] == "missing" and field not in row.values else ""
            raise DataError(in_words(first), file=file, line=row.line, field=field, hint=hint) from error
    return models


def columns(path: str | Path) -> list[str] | None:
    """The names of the columns of a CSV or TSV file, None for another format. Raises DataError."""
    file = Path(path)
    data = _bytes(file)
    text = "" if data.startswith(_PARQUET) else _text(data, file)
    if not text or text[_end_of_space(text, 0)] in "{[":
        return None
    return next(_records(text, _delimiter(text), file))[1]


def _bytes(file: Path) -> bytes:
    """The content: all of a Parquet file, text line by line. Raises DataError, also for a line that is too long."""
    with opened(file) as stream:
        start = stream.read(len(_PARQUET))
        stream.seek(0)
        data = stream.read() if start == _PARQUET else b"".join(line for _, line in lines(stream, file))
    if not data:
        raise DataError("the file is empty", file=file)
    return data


def _text(data: bytes, file: Path) -> str:
    text = decoded(data, file)
    if not text.strip():
        raise DataError("the file is empty", file=file, hint="it holds white space only")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError("holds the character NUL", file=file, line=line, hint="check that the file is text")
    return text


def _rows(data: bytes, file: Path, of_cell: Callable[[str], str] | None = None) -> Iterator[Row]:
    """The rows; `of_cell` is what a cell of CSV or TSV stands for, if not for itself."""
    if data.startswith(_PARQUET):
        return _parquet(data, file)
    text = _text(data, file)
    first = text[_end_of_space(text, 0)]
    if first == "{":
        return _json_lines(text, file)
    if first == "[":
        return _json_array(text, file)
    rows = _delimited(text, file)
    if of_cell is None:
        return rows
    return (Row(line, {name: of_cell(str(cell)) for name, cell in values.items()}) for line, values in rows)


def _end_of_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


# --- JSON ---------------------------------------------------------------------------------------------------------


_DECODER = json.JSONDecoder(object_pairs_hook=without_repeats())
_LINE_HINT = "write one object a line, or one array of objects"


def _json_lines(text: str, file: Path) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        start = _end_of_space(line, 0)
        if start == len(line):
            continue
        value, end = _decode(line, start, number, file)
        if _end_of_space(line, end) != len(line):
            raise DataError(
                f"unexpected text after the object, from character {end + 1} on",
                file=file,
                line=number,
                hint=_LINE_HINT,
            )
        yield _json_row(value, line, number, file)


def _json_array(text: str, file: Path) -> Iterator[Row]:
    """The elements of the array that makes up the file, each with the line of its opening brace."""
    number, counted = 1, 0
    position = _end_of_space(text, _end_of_space(text, 0) + 1)
    closed = text[position : position + 1] == "]"
    while not closed:
        number, counted = number + text.count("\n", counted, position), position
        value, end = _decode(text, position, number, file)
        yield _json_row(value, text[position:end], number, file)
        position = _end_of_space(text, end)
        mark = text[position : position + 1]
        closed = mark == "]"
        if not closed and mark != ",":
            line = number + text.count("\n", counted, position)
            raise DataError("invalid JSON: ',' or ']' is missing here", file=file, line=line)
        if not closed:
            position = _end_of_space(text, position + 1)
    position = _end_of_space(text, position + 1)
    if position != len(text):
        line = number + text.count("\n", counted, position)
        raise DataError("unexpected text after the array", file=file, line=line, hint=_LINE_HINT)


def _decode(text: str, start: int, line: int, file: Path) -> tuple[object, int]:
    """The JSON value at `start`, which is on `line`, and its end."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RepeatedKeyError as error:
        raise DataError("the name occurs twice in one object", file=file, line=line, field=str(error)) from error
    except json.JSONDecodeError as error:
        place = line + text.count("\n", start, error.pos)
        raise DataError(f"invalid JSON: {error.msg}", file=file, line=place, hint=_LINE_HINT) from error
    except (ValueError, RecursionError) as error:  # such as thousands of digits or of brackets
        raise DataError(f"invalid JSON: {error}", file=file, line=line) from error
    return value, end


def _json_row(value: object, source: str, line: int, file: Path) -> Row:
    if not isinstance(value, dict):
        raise DataError(
            f"expected an object with named values, found {_kind(value)}",
            file=file,
            line=line,
            hint=_LINE_HINT,
        )
    problem, at = excess(source) if may_be_excessive(source) else ("", 0)
    if problem:
        place = line + source.count("\n", 0, at)
        raise DataError(f"invalid JSON: {problem}", file=file, line=place)
    if "\\ud" in source or "\\uD" in source or "\\u0000" in source:
        key, wrong = unsound(value)
        if wrong:
            raise DataError(wrong, file=file, line=line, field=key[0])
    return Row(line, value)


def _kind(value: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


# --- CSV and TSV --------------------------------------------------------------------------------------------------


def _delimited(text: str, file: Path) -> Iterator[Row]:
    delimiter = _delimiter(text)
    records = _records(text, delimiter, file)
    line, header = next(records)
    _check_header(header, delimiter, line, file)
    for line, fields in records:
        if len(fields) != len(header):
            raise DataError(
                f"{len(fields)} fields where the header names {len(header)}",
                file=file,
                line=line,
                hint=f"put a text that holds a {_name(delimiter)} or a quote in double quotes",
            )
        yield Row(line, dict(zip(header, fields, strict=True)))


def _delimiter(text: str) -> str:
    """A tab if the header line has one outside quotes, otherwise a comma."""
    bare = _QUOTED.sub("x", text[:65_536])
    header = next((line for line in re.split(r"[\r\n]+", bare) if line), "")
    return "\t" if "\t" in header else ","


def _name(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else "comma"


def _records(text: str, delimiter: str, file: Path) -> Iterator[tuple[int, list[str]]]:
    """Records with the line on which each begins; a quoted field may span several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
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


def _check_header(header: Sequence[str], delimiter: str, line: int, file: Path) -> None:
    # An unnamed first column is the row index that R and pandas write.
    blank = [i for i, name in enumerate(header) if not name.strip() and (i > 0 or len(header) == 1)]
    if blank:
        raise DataError(
            f"column {blank[0] + 1} has no name",
            file=file,
            line=line,
            hint="the first line names the columns",
        )
    repeated = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if repeated is not None:
        raise DataError("two columns have the same name", file=file, line=line, field=repeated)
    if len(header) == 1 and ";" in header[0]:
        raise DataError(
            "the columns are separated by ';'",
            file=file,
            line=line,
            hint="save it separated by commas or tabs",
        )


# --- Parquet ------------------------------------------------------------------------------------------------------


def _parquet(data: bytes, file: Path) -> Iterator[Row]:
    # Checked first: truncation is the most common damage, and polars' own message for it is unhelpful.
    if len(data) < 12 or not data.endswith(_PARQUET):
        raise DataError("the Parquet file is cut short", file=file, hint="write or copy it again")
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"cannot be read as Parquet: {reason}", file=file) from error
    return (Row(number, values) for number, values in enumerate(frame.iter_rows(named=True), 1))
