"""Texts and tables passed as Python objects; tables are written to temporary files."""

from __future__ import annotations

import atexit
import csv
import hashlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from datetime import date, time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from penchant.call_checks import kind
from penchant.errors import KEPT, DataError, GivenRow, place, shortened
from penchant.files import write_text
from penchant.hub.data_sets import is_hub
from penchant.plurals import counted
from penchant.tables.data_lookup import SET_FILE, bundled, fetched_one
from penchant.tables.table_row import whole
from penchant.tables.yaml_file import dumped
from penchant.text_io import exists, is_file

NAME = "the data"
"""Name of data passed as Python objects; in signatures, a hash follows it."""
_TEXTS = ("text", "sentence", "texts", "sentences")
"""Common names of text columns."""
_LONGEST_NAME = 4096
ROWS = "give a polars or pandas frame, a list of rows, or a mapping of columns"


def texts(given: object, where: str = "texts") -> list[str]:
    """Return one or more texts as a list.

    Accepts a string, an iterable of strings, or a polars or pandas column. Raises DataError for the first value that is
    not a text.
    """
    given = plain(given)
    if isinstance(given, Mapping) or _is_polars(given, "DataFrame") or _is_pandas_frame(given):
        given = _only_column(given, where)
    if isinstance(given, str | Path):
        refuse_file(given, where)
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise DataError(f"{kind(given)} is not a text", where=where, hint="give a text or a list of texts")
    found = list(given)
    for number, text in enumerate(found, 1):
        if not isinstance(text, str):
            hint = "read the file and give its texts" if isinstance(text, Path) else "give texts only"
            raise DataError(_misfit(text, "text"), where=f"text {number}", hint=hint)
    if found and all(map(_is_named_file, found)):
        refuse_file(found[0], where)
    return found


def refuse_file(text: str | Path, where: str) -> None:
    """Raise DataError if a text is the name of a file, since texts are not read from files."""
    if isinstance(text, Path) or _is_named_file(text):
        message = f"{shortened(str(text))} is the name of a file, not a text"
        hint = "read the file and give its contents, such as the column polars.read_csv(FILE)['text']"
        raise DataError(message, where=where, hint=hint)


def _is_named_file(text: str) -> bool:
    return len(text) < _LONGEST_NAME and bool(Path(text).suffix) and is_file(text)


def _only_column(table: Any, where: str) -> Any:
    names = list(table) if isinstance(table, Mapping) else list(table.columns)
    if len(names) != 1:
        message = f"{kind(table)} has {'several' if names else 'no'} columns, expected one"
        texts = {name: [cell for cell in table[name] if isinstance(cell, str)] for name in names}
        held = [name for name in names if texts[name]]
        longest = max(held, key=lambda name: len("".join(texts[name])), default=(names or [None])[0])
        likely = next((name for name in held if str(name).lower() in _TEXTS), longest)
        hint = f"give one of them, as in data[{likely!r}]" if names else "give a text or a list of texts"
        if _is_pandas_frame(table):
            _refuse_index(table, where)
        raise DataError(message, where=where, hint=hint)
    return table[names[0]]


def is_missing(value: object) -> bool:
    """Return True if a cell is missing: None, NaN, or a pandas missing value."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def require_text(value: object, wanted: str, where: str) -> None:
    """Raise DataError if a value is missing, blank or not a text; in the message, `wanted` is a noun for the value."""
    if not isinstance(value, str):
        hint = "leave it out, or give a text" if is_missing(value) else f"give a text, as in {str(value)!r}"
        raise DataError(_misfit(value, wanted), where=where, hint=hint)
    if not value.strip():
        raise DataError(f"the {wanted} is blank", where=where, hint="leave it out, or give a text")


def _misfit(value: object, wanted: str) -> str:
    if not is_missing(value):
        return f"{kind(value)} is not a {wanted}"
    return f"is missing ({'NaN' if isinstance(value, float) else str(value).strip('<>')})"


def plain(given: Any) -> Any:
    """Convert sequences to lists, numpy scalars to Python scalars, and polars lazy frames to data frames.

    Tuples, iterators, and numpy, polars or pandas arrays and columns become lists; other values are returned unchanged.
    Raises DataError if a lazy frame cannot be collected.
    """
    if _is_polars(given, "LazyFrame"):
        import polars as pl

        try:
            return given.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"the LazyFrame cannot be read: {reason}", where="the data", hint=ROWS) from error
    if isinstance(given, np.generic):
        return given.item()
    if isinstance(given, tuple | Iterator | range | KeysView | ValuesView) or _is_polars(given, "Series"):
        return list(given)
    if isinstance(given, np.ndarray) or (_is_of_pandas(given) and hasattr(given, "tolist")):
        return given.tolist()
    return given


def is_table(given: object) -> bool:
    """Return True if an object is a table rather than one or more file names."""
    if isinstance(given, str | Path) or given is None or isinstance(given, bytes):
        return False
    if isinstance(given, Mapping) or _is_polars(given, "DataFrame") or _is_pandas_frame(given):
        return True
    return isinstance(given, Sequence) and bool(given) and not all(isinstance(name, str | Path) for name in given)


def path_of(given: Any, columns: Sequence[str] = (), *, sets: Path | None = None, name: str = NAME) -> Path:
    """Return the path of a named file, of a bundled set in `sets`, or of a temporary file with a table's rows.

    The temporary file is called `name`; `columns` are the column names for rows that have none, such as tuples. Raises
    DataError if `given` is neither a name nor a table.
    """
    if isinstance(given, str | Path):
        if is_hub(given):
            return fetched_one(given)
        known = sets is not None and not exists(Path(given)) and str(given) in bundled(sets, SET_FILE)
        return sets / str(given) if sets is not None and known else Path(given)
    listed = plain(given)
    if not is_table(listed) and not isinstance(listed, list):
        raise DataError(f"{kind(given)} is neither a file nor a table", where=name, hint=f"give a file name, or {ROWS}")
    if isinstance(listed, list) and listed and not is_table(listed):
        raise DataError(
            "several file names are given, but only one file can be read", where=name, hint="read them one by one"
        )
    return file_of(listed, columns, name=name)


def document_of(keys: Mapping[str, Any], tables: Mapping[str, Sequence[str]], name: str) -> Path:
    """Write the mapping `keys` to a temporary YAML file called `name`, and return the path of the file.

    The values of the keys in `tables` may be tables instead of file names; `tables` maps these keys to the column names
    of rows that have none. Each table is written to a file named after its key, or called `name` for the key `file`.
    All files are deleted when Python exits. Raises DataError if a value cannot be written.
    """
    # A table under another key is an unknown key, which is reported when the document is read.
    written = {key: kind(value) if hasattr(value, "columns") else value for key, value in keys.items()}
    texts: dict[str, str] = {}
    for key, columns in tables.items():
        value = plain(keys.get(key))
        if isinstance(value, Path | str):
            written[key] = str(Path(value).absolute())
        elif isinstance(value, list) and value and all(isinstance(each, str | Path) for each in value):
            written[key] = [str(Path(each).absolute()) for each in value]
        elif value is not None:
            called = name if key == "file" else key
            written[key] = f"{called}.jsonl"
            try:
                texts[written[key]] = _lines(rows(value, columns, called), called)
            except TypeError:
                raise DataError(
                    f"{kind(value)} is not a table", where=called, hint=f"give a file name, or {ROWS}"
                ) from None
    document = f"{name}.yaml"
    try:
        texts[document] = dumped(as_yaml(written))
    except yaml.YAMLError as error:
        raise DataError(f"cannot be written as a file: {str(error).splitlines()[0]}", where=name) from None
    return _stored(texts) / document


def as_yaml(value: Any) -> Any:
    """Convert nested values to plain YAML values: numpy to Python scalars, columns to lists, and paths to strings."""
    if isinstance(value, Mapping):
        return {key: as_yaml(each) for key, each in value.items()}
    listed = plain(value)
    if isinstance(listed, list):
        return [as_yaml(each) for each in listed]
    return str(listed) if isinstance(listed, Path) else listed


def _stored(texts: Mapping[str, str]) -> Path:
    """Write files (name: content) to a folder named after a hash of all contents, and return the folder."""
    content = "".join(texts.values()).encode("utf-8", "surrogatepass")
    folder = _home() / hashlib.sha256(content).hexdigest()[:12]
    folder.mkdir(exist_ok=True)
    for file, text in texts.items():
        if not (folder / file).exists():
            write_text(text, folder / file)
    return folder


def rows(given: Any, columns: Sequence[str] = (), name: str = NAME) -> list[dict[str, object]]:
    """Return the rows of a table as mappings from column to cell.

    The cells of a row that is a tuple or a list are assigned to `columns` in order. Raises DataError, with `name` and
    the row, if the table is invalid.
    """
    if _is_polars(given, "DataFrame"):
        of_frame: list[dict[str, object]] = given.to_dicts()
        return of_frame
    if _is_pandas_frame(given):
        _refuse_repeated([str(column) for column in given.columns], name)
        _refuse_index(given, name)
        return [{str(column): value for column, value in row.items()} for row in given.to_dict("records")]
    if isinstance(given, Mapping):
        return list(_of_columns(given, name))
    return [_row(row, place(name, GivenRow(number)), columns) for number, row in enumerate(given, 1)]


def _refuse_repeated(columns: Sequence[str], name: str) -> None:
    for column in columns:
        if columns.count(column) > 1:
            message = f"two columns have the same name: {column}"
            raise DataError(message, where=name, hint="rename one of them, or leave it out")


def _refuse_index(frame: Any, name: str) -> None:
    """Raise DataError if a pandas frame has a named index, whose values would be lost."""
    index = [str(each) for each in frame.index.names if each is not None and each not in frame.columns]
    if index:
        message = f"{', '.join(map(repr, index))} is the index of the frame, not a column"
        raise DataError(message, where=name, hint="give frame.reset_index()")


def file_of(given: Any, columns: Sequence[str] = (), *, suffix: str = ".jsonl", name: str = NAME) -> Path:
    """Write a table to a temporary JSON lines or CSV file called `name` and return its path.

    The file is deleted when Python exits. `columns` are the column names for rows that have none, such as tuples.
    Raises DataError if `given` is not a table.
    """
    table = rows(given, columns, name)
    text = _csv(table) if suffix == ".csv" and table else _lines(table, name)
    return _stored({f"{name}{suffix}": text}) / f"{name}{suffix}"


def _lines(table: Sequence[Mapping[str, object]], name: str) -> str:
    if not table:
        raise DataError("contains no rows", where=name, hint=ROWS)
    return "".join(_json(row, place(name, GivenRow(number))) for number, row in enumerate(table, 1))


def _json(row: Mapping[str, object], where: str) -> str:
    cells = {name: _cell(value) for name, value in row.items()}
    try:
        return json.dumps(cells, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError) as error:
        raise DataError(f"cannot be converted to JSON: {error}", where=where, hint=ROWS) from error


def _csv(table: Sequence[Mapping[str, object]]) -> str:
    text = io.StringIO()
    names = dict.fromkeys(name for row in table for name in row)
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in table)
    return text.getvalue()


@cache
def _home() -> Path:
    home = Path(tempfile.mkdtemp(prefix=KEPT))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _of_columns(given: Mapping[Any, Any], name: str) -> Iterator[dict[str, object]]:
    columns = {str(column): _cells(cells, f"{name} ('{column}')") for column, cells in given.items()}
    lengths = {column: len(cells) for column, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{column} has {length}" for column, length in lengths.items())
        raise DataError(f"the columns have different lengths: {listing}", where=name)
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))


def _cells(given: Any, where: str) -> list[Any]:
    if not isinstance(given, Iterable):
        raise DataError(f"{kind(given)} is not a column", where=where, hint="give a list of its cells")
    return [given] if isinstance(given, str) else list(given)


def _row(row: Any, where: str, columns: Sequence[str]) -> dict[str, object]:
    if isinstance(row, Mapping):
        return {str(name): value for name, value in row.items()}
    if isinstance(row, str) or not isinstance(row, Sequence):
        raise DataError(f"{kind(row)} is not a row", where=where, hint=ROWS)
    if not columns or len(row) > len(columns):
        most = f", but at most {len(columns)} are allowed: {', '.join(columns)}" if columns else ""
        raise DataError(f"has {counted(len(row), 'cells')} without column names{most}", where=where, hint=ROWS)
    return dict(zip(columns, row, strict=False))


def _cell(value: Any) -> object:
    """Return a cell as a JSON value: missing values become None, numpy scalars Python scalars, dates strings."""
    value = value.item() if hasattr(value, "item") and not isinstance(value, str | bytes) else value
    if is_missing(value):
        return None
    return value.isoformat() if isinstance(value, date | time) else whole(value)


def _is_polars(given: object, kind: str) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(given, getattr(polars, kind))


def _is_of_pandas(given: object) -> bool:
    return type(given).__module__.partition(".")[0] == "pandas"


def _is_pandas_frame(given: object) -> bool:
    return _is_of_pandas(given) and hasattr(given, "columns")
