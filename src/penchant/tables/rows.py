"""Reader of tables in any supported format, which is detected from the content.

The formats are CSV, TSV, JSON lines, a JSON array of objects, Parquet, an Excel workbook (or one sheet of it, as
FILE.xlsx#Sheet), SPSS and Stata, and the database of judgements written by `penchant rate`. Text is UTF-8, with or
without a byte-order mark, and values are unchanged. Cells are separated by commas, semicolons or tabs, as in the
header; quotes follow RFC 4180, and Excel's line `sep=;` before the header is supported. Blank lines between rows are
skipped; any other irregularity raises DataError with its location.
"""

from __future__ import annotations

import io
import re
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ValidationError

from penchant.errors import DataError, GivenRow, in_words, is_kept, shortened, together
from penchant.limits import LARGEST
from penchant.tables.data_lookup import suggestion
from penchant.tables.delimited import delimited, header_of
from penchant.tables.formula_escape import unguarded
from penchant.tables.json_tables import end_of_space, json_array, json_lines
from penchant.tables.judgement_database import (
    is_judgements,
    judgement_labels,
    judgement_rows,
    judgement_texts,
    refuse_open,
)
from penchant.tables.survey_files import Labels, is_survey_file, survey_rows
from penchant.tables.table_row import FileRow, whole
from penchant.tables.workbooks import MAGIC, OLD_MAGIC, refuse_old, workbook_rows
from penchant.text_io import decoded, lines, named_sheet, opened

__all__ = [
    "LONGEST_MAGIC",
    "FileRow",
    "checked_models",
    "columns",
    "is_binary",
    "lacking",
    "read_labelled",
    "read_models",
    "read_rows",
]

_PARQUET = b"PAR1"
LONGEST_MAGIC = 16
"""Number of bytes at the beginning of a file that `is_binary` requires."""
_WEB_PAGE = re.compile(r"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\s*[+-]?\d*[.,]?\d+\s*")
_MERGED = "are cells merged? Only the first of them contains the value: copy it to the cells below"
_AS_NAMED: Mapping[str, str] = {}


def read_rows(path: str | Path) -> list[FileRow]:
    """Read all rows of a table. Raises DataError if the table is invalid or has no rows."""
    return read_labelled(path)[0]


def read_labelled(path: str | Path) -> tuple[list[FileRow], Labels]:
    """Read all rows of a table, and the labels of its codes (from SPSS, Stata and databases of judgements)."""
    file = Path(path)
    data = _bytes(file)
    labels = Labels()
    if is_survey_file(data[:LONGEST_MAGIC]):
        coded, labels = survey_rows(data, file)
        rows = list(coded)
    elif is_judgements(data):
        rows = list(judgement_rows(data, file))
        labels = Labels(judgement_labels(data, file))
        labels.asked = judgement_texts(data, file)
    else:
        rows = list(_rows(data, file))
    if not rows:
        raise DataError("contains no rows", file=file)
    return rows, labels


Model = TypeVar("Model", bound=BaseModel)


def read_models(
    path: str | Path,
    model: type[Model],
    *,
    columns: Mapping[Any, str] = _AS_NAMED,
    naming: str = "",
) -> list[tuple[int, Model]]:
    """Read the rows of a table as instances of a pydantic model, each with its line; the table may have no rows.

    Empty CSV or TSV cells are missing values. `columns` maps fields to column names if they differ; `naming` is a hint
    on specifying a column name, with FIELD as a placeholder for the field. Raises DataError for the first invalid cell,
    with its file, line and field, and the other invalid cells in its notes.
    """
    models, errors = checked_models(path, model, columns=columns, naming=naming)
    if errors:
        raise together(errors)
    return models


def checked_models(
    path: str | Path,
    model: type[Model],
    *,
    guarded: bool = False,
    columns: Mapping[Any, str] = _AS_NAMED,
    naming: str = "",
) -> tuple[list[tuple[int, Model]], list[DataError]]:
    """Read rows like `read_models`, but return the errors instead of raising them.

    If `guarded` is true, cells escaped by `formula_escape.guarded` are unescaped.
    """
    file = Path(path)
    data = _bytes(file)
    numbers = [name for name, field in model.model_fields.items() if _is_number(field.annotation, *field.metadata)]
    models: list[tuple[int, Model]] = []
    errors: list[DataError] = []
    absent: set[str] = set()
    rows = list(_rows(data, file, unguarded if guarded else None))
    header = list(dict.fromkeys(name for row in rows for name in row.values))
    lacking([*columns.values()] if rows else [], header, file)
    for row in (_renamed(row, columns) for row in rows):
        values = {name: value for name, value in row.values.items() if value not in ("", None)}
        wrong = {}
        for name in [name for name in numbers if name in values]:
            try:
                values[name] = _number(row, values[name], file, columns.get(name, name))
            except DataError as error:
                errors.append(error)
                wrong[name] = values.pop(name)
        try:
            read = model.model_validate(values)
            models += [] if wrong else [(row.line, read)]
        except ValidationError as error:
            for each in error.errors():
                field = str(each["loc"][0]) if each["loc"] else None
                if field in absent or field in wrong:
                    continue
                hint = ""
                if field is not None and each["type"] == "missing" and field not in row.values:
                    hints = [suggestion(field, list(row.values)), naming.replace("FIELD", field)]
                    hint = "; ".join(filter(None, hints))
                    absent |= {field} - set(header)
                shown = columns.get(field or "", field)
                errors.append(DataError(in_words(each), file=file, line=row.line, field=shown, hint=hint))
    _ask_for_merged(errors, [row.line for row in rows], header)
    return models, errors


def _ask_for_merged(errors: list[DataError], lines: list[int], header: list[str]) -> None:
    """Add a hint about merged cells to the errors of a column if several missing cells follow a cell with a value.

    `lines` has the line of every row of the table, and `header` its column names.
    """
    numbers = {line: number for number, line in enumerate(lines)}
    for column in header if errors else ():
        empty = [error for error in errors if error.field == column and error.message == in_words({"type": "missing"})]
        at = {numbers[error.line] for error in empty if error.line is not None}
        if any(row and row - 1 not in at and row + 1 in at for row in at):
            for error in empty:
                error.hint = error.hint or _MERGED


def _renamed(row: FileRow, columns: Mapping[Any, str]) -> FileRow:
    if not columns:
        return row
    rest = {name: value for name, value in row.values.items() if name not in columns.values()}
    return row._replace(
        values=rest | {field: row.values[column] for field, column in columns.items() if column in row.values}
    )


def _number(row: FileRow, value: object, file: Path, field: str) -> object:
    number = row.number(value, file, field)
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST:
        message = "expected a number" if isinstance(number, str | bool) else f"expected a number up to {LARGEST:g}"
        raise DataError(f"{message}, got {shortened(value)}", file=file, line=row.line, field=field)
    return number + 0  # turns −0 into 0


def _is_number(annotation: Any, *metadata: Any) -> bool:
    """Return True if a field's type is a number or an optional number, without a validator that parses texts."""
    origin = get_origin(annotation)
    if any(isinstance(each, BeforeValidator) for each in metadata):
        return False
    if origin is Annotated:
        return _is_number(*get_args(annotation))
    if origin in (Union, types.UnionType):
        return all(arg is type(None) or _is_number(arg) for arg in get_args(annotation))
    return annotation in (int, float)


def lacking(names: Mapping[str, None] | list[str], present: list[str], file: str | Path) -> None:
    """Raise DataError if one of `names` is not among the columns `present`."""
    for name in names:
        if name not in present:
            raise DataError(f"there is no column '{name}'", file=file, hint=suggestion(name, present))


def columns(path: str | Path) -> list[str] | None:
    """Return the column names of a file with delimited cells, or None for other formats.

    Raises DataError if the file cannot be read.
    """
    file = Path(path)
    data = _bytes(file)
    if is_binary(data[:LONGEST_MAGIC]):
        return None
    text = _text(data, file)
    return None if text[end_of_space(text, 0)] in "{[" else header_of(text, file)


def is_binary(start: bytes) -> bool:
    """Return True if the first bytes of a file are those of a binary table format."""
    return start.startswith((_PARQUET, MAGIC, OLD_MAGIC)) or is_survey_file(start) or is_judgements(start)


def _bytes(file: Path) -> bytes:
    with opened(file) as stream:
        start = stream.read(LONGEST_MAGIC)
        if is_judgements(start):
            refuse_open(stream, file)
        stream.seek(0)
        data = stream.read() if is_binary(start) else b"".join(line for _, line in lines(stream, file))
    if not data:
        raise DataError("the file is empty", file=file)
    return data


def _text(data: bytes, file: Path) -> str:
    text = decoded(data, file)
    if not text.strip():
        raise DataError("the file is empty", file=file, hint="it contains only white space")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError("contains the character NUL", file=file, line=line, hint="check that the file is text")
    if _WEB_PAGE.match(text):
        message = "is a web page, not a table"
        raise DataError(message, file=file, hint="download the file itself; on GitHub, use the Raw button")
    return text


def _rows(data: bytes, file: Path, of_cell: Callable[[str], str] | None = None) -> Iterator[FileRow]:
    """Return an iterator over the rows of a table; data passed as Python objects have row numbers instead of lines.

    `of_cell` is applied to each text cell of CSV, TSV and Excel tables.
    """
    if is_kept(file):
        rows = delimited(_text(data, file), file) if file.suffix == ".csv" else json_lines(_text(data, file), file)
        return _one_header((row._replace(line=GivenRow(number)) for number, row in enumerate(rows, 1)), file)
    if data.startswith(_PARQUET):
        return _one_header(_parquet(data, file), file)
    if data.startswith(OLD_MAGIC):
        raise refuse_old(file)
    if is_judgements(data):
        return judgement_rows(data, file)
    if is_survey_file(data[:LONGEST_MAGIC]):
        return survey_rows(data, file)[0]
    if data.startswith(MAGIC):
        rows = workbook_rows(data, file, named_sheet(file)[1])
    else:
        text = _text(data, file)
        first = text[end_of_space(text, 0)]
        if first in "{[":
            return json_lines(text, file) if first == "{" else json_array(text, file)
        rows = delimited(text, file)
    rows = _one_header(rows, file)
    return rows if of_cell is None else (_read_as(row, of_cell) for row in rows)


def _one_header(rows: Iterator[FileRow], file: Path) -> Iterator[FileRow]:
    """Yield the rows; raise DataError for a row that repeats the column names, in any order and letter case.

    Such a row shows that tables were concatenated. Rows of numbers are exempt, since both columns and answers of a
    survey may be called 1 to 5.
    """
    names: set[str] = set()
    for row in rows:
        names = names or {_folded(name) for name in row.values}
        cells = [cell for cell in row.values.values() if cell not in (None, "")]
        folded = {_folded(cell) for cell in cells if isinstance(cell, str)}
        named = len(cells) > 1 and len(folded) == len(cells) and folded <= names
        if named and any(not _NUMBER.fullmatch(str(cell)) for cell in cells):
            raise DataError(
                "repeats the header: were two tables concatenated?",
                file=file,
                line=row.line,
                hint="remove the row, and check that the columns of the rows below it are in the same order",
            )
        yield row


def _folded(name: str) -> str:
    return name.strip(" \t\ufeff").casefold()


def _read_as(row: FileRow, of_cell: Callable[[str], str]) -> FileRow:
    cells = {name: of_cell(cell) if isinstance(cell, str) else cell for name, cell in row.values.items()}
    return row._replace(values=cells)


# --- Parquet ------------------------------------------------------------------------------------------------------


def _parquet(data: bytes, file: Path) -> Iterator[FileRow]:
    import polars as pl

    # Checked first: truncation is the most common damage, and polars' own message for it is unhelpful.
    if len(data) < 12 or not data.endswith(_PARQUET):
        raise DataError("the Parquet file is truncated", file=file, hint="write or copy it again")
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"cannot be read as Parquet: {reason}", file=file) from error
    rows = enumerate(frame.iter_rows(named=True), 1)
    return (FileRow(number, {name: whole(value) for name, value in values.items()}) for number, values in rows)
