"""Field types of a probe: the arguments that a field accepts, its form in a signature, and its storage in a file.

`data: Annotated[Given[str, Data], CITED, TableField(…)]` is a `str` for pydantic and for code that uses it, while a
type checker accepts any `Data` in a call. The default of such a field is set with `default_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import polars as pl
from pydantic import BaseModel, Field

from penchant.call_checks import kind
from penchant.errors import DataError, encodable, without_folders
from penchant.files import join_names
from penchant.tables.in_memory import NAME, ROWS, document_of, file_of, is_table, plain

K = TypeVar("K")
G = TypeVar("G")

File: TypeAlias = str | Path
"""Type of an argument that names one file."""
Files: TypeAlias = str | Path | Iterable[str | Path]
"""Type of an argument that names one or more files."""
Data: TypeAlias = str | Path | pl.LazyFrame | Iterable[Any]
"""Type of an argument for files or tables: file names, a polars or pandas frame, rows, or columns."""
Columns: TypeAlias = Mapping[str, str]
"""Type of an argument that maps fields to column names."""

if TYPE_CHECKING:

    class Given(Generic[K, G]):
        """A field that stores a K and accepts a G in a call; type checkers use the parameter type of `__set__`."""

        def __get__(self, probe: object, owner: Any = None) -> K: ...

        def __set__(self, probe: object, value: G) -> None: ...

else:

    class Given:
        """Stand-in at run time: `Given[K, G]` is K, the type that pydantic validates."""

        def __class_getitem__(cls, types: tuple[Any, Any]) -> Any:
            return types[0]


def default_of(*, default: Any) -> Any:
    """Return a pydantic field with a default, for a field whose type is `Given`."""
    return Field(default=default)


@dataclass(frozen=True, slots=True)
class Written:
    """Metadata of a field's type: how the field is written in a signature.

    An example is `Annotated[list[str] | None, Written(none="all")]`. `none` replaces None, and `separator` joins the
    values of a list. If `citation` is true, the field names files, which a signature cites by name and hash.
    """

    none: str = "none"
    separator: str = "+"
    citation: bool = False


CITED = Written(citation=True)
"""Metadata of a field that names files."""


@dataclass(frozen=True, slots=True)
class TableField:
    """Metadata of a field that names a table: how a table passed from Python is converted to a file.

    `columns` names the columns of rows passed as lists, in the order of the values. `rows` converts the argument to
    rows, given the call's argument `columns` and the table's name for messages. The rows are stored in a file whose
    name ends in `suffix`, unless `file` returns the path of a file for the argument.
    """

    columns: tuple[str, ...] = ()
    rows: Callable[[Any, Mapping[Any, str], str], Any] = lambda given, columns, name: given
    suffix: str = ".jsonl"
    file: Callable[[Any], Path | None] = lambda given: None


def _document(given: Any) -> Path | None:
    return document_of(given, {}, NAME) if isinstance(given, Mapping) else None


DOCUMENT = TableField(file=_document)
"""Metadata of a field that names a set.yaml; a call may pass its content as a mapping."""


def taken(model: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments `fields` of a call, with each table replaced by the path of a file that stores it.

    Raises DataError if a table is invalid.
    """
    named = fields.get("columns")
    columns = named if isinstance(named, Mapping) else {}
    return {name: _taken(model, name, value, columns) for name, value in fields.items()}


def _taken(model: type[BaseModel], name: str, value: Any, columns: Mapping[Any, str]) -> Any:
    value = plain(value)
    if name not in model.model_fields or not _how(model, name).citation:
        return value
    if isinstance(value, Path):
        return str(value)
    table: TableField | None = next(
        (part for part in model.model_fields[name].metadata if isinstance(part, TableField)), None
    )
    if table is not None and isinstance(value, list) and not value:
        raise DataError("is an empty list", where=f"{model.__name__}, {name}", hint=f"give a file name, or {ROWS}")
    if table is not None and is_table(value):
        if (made := table.file(value)) is not None:
            return str(made)
        called = NAME if name == "data" else name
        return str(file_of(table.rows(value, columns, called), table.columns, suffix=table.suffix, name=called))
    if table is not None and value is not None and not isinstance(value, str | list):
        raise DataError(
            f"{kind(value)} is neither a file nor a table", where=f"{model.__name__}, {name}", hint=_instead(value)
        )
    return [str(part) for part in value] if isinstance(value, list) else value


def _instead(value: object) -> str:
    if type(value).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return f"give a file name, or {ROWS}"
    return "pass the original file or table, and columns=… if its columns have other names"


_PLAIN = Written()


def cited_columns(columns: Mapping[Any, str | list[str]]) -> dict[str, object]:
    """Return the signature field that lists the columns whose names differ from their fields; empty if none does."""
    several = [(field, [named] if isinstance(named, str) else named) for field, named in columns.items()]
    named = [f"{field}={column}" for field, names in several for column in names if column != field]
    return {"columns": join_names(named)} if named else {}


def _how(model: type[BaseModel], name: str) -> Written:
    return next((part for part in model.model_fields[name].metadata if isinstance(part, Written)), _PLAIN)


def names_files(model: type[BaseModel], name: str) -> bool:
    """Return whether a field names files."""
    return _how(model, name).citation


def without_place(value: Any) -> Any:
    """Return the value of a field that names files, with absolute paths replaced by file names."""
    if isinstance(value, list):
        return [without_place(part) for part in value]
    if isinstance(value, dict):
        return {key: without_place(part) for key, part in value.items()}
    if not isinstance(value, str):
        return value
    name = without_folders(value)
    return Path(name).name if Path(name).is_absolute() else name


def in_json(value: Any) -> Any:
    """Return the value of a field in JSON types; undecodable bytes in file names are escaped."""
    if isinstance(value, list | tuple):
        return [in_json(part) for part in value]
    if isinstance(value, dict):
        return {in_json(key): in_json(part) for key, part in value.items()}
    return encodable(value) if isinstance(value, str) else value


def written(settings: BaseModel, name: str) -> str:
    """Return the value of a field as written in a signature."""
    how, value = _how(type(settings), name), getattr(settings, name)
    if value is None:
        return how.none
    if isinstance(value, bool):
        return "yes" if value else "no"
    return join_names(map(str, value), how.separator) if isinstance(value, list | tuple) else str(value)
