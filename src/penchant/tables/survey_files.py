"""Reader of SPSS (.sav, .zsav) and Stata (.dta) files, with value labels."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from penchant.errors import Case, DataError, missing_package
from penchant.tables.table_row import FileRow
from penchant.tables.workbooks import plain

_SPSS = (b"$FL2", b"$FL3")
_STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01")


class Labels(dict[str, Mapping[object, str]]):
    """Value labels of each column: a mapping from column to labels by code.

    `columns` maps columns to their variable labels; `declared` maps columns to the codes of user-missing values, keyed
    by case number; `asked` maps columns to the statements presented to respondents.
    """

    columns: Mapping[str, str] = {}
    declared: Mapping[str, Mapping[int, object]] = {}
    asked: Mapping[str, str] = {}


def is_survey_file(start: bytes) -> bool:
    """Return True if the first bytes of a file are those of an SPSS or Stata file."""
    return start.startswith(_SPSS) or _STATA.match(start) is not None


def survey_rows(data: bytes, file: Path) -> tuple[Iterator[FileRow], Labels]:
    """Return an iterator over the rows (with codes in place of value labels), and the labels.

    User-missing values become empty cells. Raises DataError if the file cannot be read, and MethodError if pyreadstat
    is missing.
    """
    try:
        import pyreadstat
    except ImportError as error:
        raise missing_package("pyreadstat", "survey", error) from error
    read = pyreadstat.read_sav if data.startswith(_SPSS) else pyreadstat.read_dta
    try:
        columns, about = read(io.BytesIO(data), output_format="dict")
    except Exception as error:  # pyreadstat also raises the errors of decoding and dates
        kind = "SPSS" if data.startswith(_SPSS) else "Stata"
        raise DataError(f"cannot be read as {kind} data: {error}", file=file, hint="save the file again") from error
    labels = Labels(
        (column, {plain(code): str(label).strip() for code, label in of_column.items()})
        for column, of_column in about.variable_value_labels.items()
    )
    if data.startswith(_SPSS):
        coded, _ = read(io.BytesIO(data), output_format="dict", user_missing=True)
        labels.declared = {name: dict(_declared(columns[name], coded[name])) for name in columns}
    labels.columns = {column: label for column, label in about.column_names_to_labels.items() if label}
    return _rows(columns), labels


def _rows(columns: Mapping[str, Any]) -> Iterator[FileRow]:
    names = list(columns)
    for number, values in enumerate(zip(*(columns[name] for name in names), strict=True), 1):
        yield FileRow(Case(number), {name: _value(value) for name, value in zip(names, values, strict=True)})


def _declared(values: Any, coded: Any) -> Iterator[tuple[int, object]]:
    for number, (value, code) in enumerate(zip(values, coded, strict=True), 1):
        if _value(value) == "" and _value(code) != "":
            yield number, _value(code)


def _value(value: Any) -> object:
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    return "" if value is None or value != value else plain(value)
