"""Texts and tables given in Python where others name files: lists, mappings, polars and pandas frames.

A table becomes a file, so that whatever is said of files holds of it: it is checked, cited by its hash,
and read in one way.
"""

from __future__ import annotations

import atexit
import csv
import hashlib
import io
import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from penchant.arguments import kind
from penchant.errors import DataError
from penchant.files import write_text

NAME = "given"
"""What data are cited as that were given in Python, followed by their hash."""
_ROWS = "give a polars or pandas frame, a list of rows, or a mapping of columns"


def texts(given: object) -> list[str]:
    """One text, or several, as a list: a string, an iterable of strings, or a column of polars or pandas.

    Raises DataError naming the first that is no text.
    """
    if isinstance(given, str):
        return [given]
    if isinstance(given, pl.DataFrame | Mapping) or _is_pandas_frame(given):
        raise DataError(
            f"{kind(given)} has several columns", where="texts", hint='give one of them, as in data["text"]'
        )
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise DataError(f"{kind(given)} is no text", where="texts", hint="give a text or a list of texts")
    found = list(given)
    for number, text in enumerate(found, 1):
        if not isinstance(text, str):
            raise DataError(f"{kind(text)} is no text", where=f"text {number}", hint="give texts only")
    return found


def is_table(given: object) -> bool:
    """Whether something is a table, and not the name of a file or several."""
    if isinstance(given, str | Path) or given is None or isinstance(given, bytes):
        return False
    if isinstance(given, pl.DataFrame | Mapping) or _is_pandas_frame(given):
        return True
    return isinstance(given, Sequence) and bool(given) and not all(isinstance(name, str | Path) for name in given)


def rows(given: Any, columns: Sequence[str] = ()) -> list[dict[str, object]]:
    """The rows of a table as mappings. A row that is a tuple or a list has the `columns` in order, as far as it goes.

    Raises DataError naming the row.
    """
    if isinstance(given, pl.DataFrame):
        return given.to_dicts()
    if _is_pandas_frame(given):
        return [{str(name): value for name, value in row.items()} for row in given.to_dict("records")]
    if isinstance(given, Mapping):
        return list(_of_columns(given))
    return [_row(row, number, columns) for number, row in enumerate(given, 1)]


def file_of(given: Any, columns: Sequence[str] = (), *, suffix: str = ".jsonl") -> Path:
    """A file with the rows of a table, JSON lines or ".csv", kept until this process ends. Raises DataError for what is
    no table."""
    table = rows(given, columns)
    if not table:
        raise DataError("holds no rows", where="the data", hint=_ROWS)
    text = _csv(table) if suffix == ".csv" else "".join(_json(row, number) for number, row in enumerate(table, 1))
    folder = _home() / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    file = folder / f"{NAME}{suffix}"
    if not file.exists():
        folder.mkdir(exist_ok=True)
        write_text(text, file)
    return file


def _json(row: Mapping[str, object], number: int) -> str:
    cells = {name: _cell(value) for name, value in row.items()}
    try:
        return json.dumps(cells, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError) as error:
        raise DataError(f"cannot be taken as data: {error}", where=f"row {number}", hint=_ROWS) from error


def _csv(table: Sequence[Mapping[str, object]]) -> str:
    text = io.StringIO()
    names = dict.fromkeys(name for row in table for name in row)
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


@cache
def _home() -> Path:
    home = Path(tempfile.mkdtemp(prefix="penchant-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _of_columns(given: Mapping[Any, Any]) -> Iterator[dict[str, object]]:
    columns = {str(name): [cells] if isinstance(cells, str) else list(cells) for name, cells in given.items()}
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise DataError(f"the columns are not of one length: {told}", where="the data")
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))


def _row(row: Any, number: int, columns: Sequence[str]) -> dict[str, object]:
    if isinstance(row, Mapping):
        return {str(name): value for name, value in row.items()}
    where = f"row {number}"
    if isinstance(row, str) or not isinstance(row, Sequence):
        raise DataError(f"{kind(row)} is no row", where=where, hint=_ROWS)
    if not columns or len(row) > len(columns):
        wanted = f"at most {len(columns)}: {', '.join(columns)}" if columns else "columns with names"
        raise DataError(f"has {len(row)} parts without names where the data have {wanted}", where=where, hint=_ROWS)
    return dict(zip(columns, row, strict=False))


def _cell(value: Any) -> object:
    """A cell as JSON has it: a missing number of pandas and NaN are null, numbers of numpy are numbers."""
    value = value.item() if hasattr(value, "item") and not isinstance(value, str | bytes) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def _is_pandas_frame(given: object) -> bool:
    return type(given).__module__.partition(".")[0] == "pandas" and hasattr(given, "columns")
