"""Fields of a probe: their arguments in a call, their form in a signature, and the files that stand for tables.

`data: Annotated[Given[str, Data], CITED, Table(…)]` is a `str` for pydantic and for code that reads it, while a type
checker lets a call give all of `Data`. A field of such a type has its default from `default_of`.
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
"""The argument of a call that names one file."""
Files: TypeAlias = str | Path | Iterable[str | Path]
"""The argument of a call that names files."""
Data: TypeAlias = str | Path | pl.LazyFrame | Iterable[Any]
"""The argument of a call for files or tables: names, a frame of polars or pandas, rows, or columns."""
Columns: TypeAlias = Mapping[str, str]
"""The names of columns, by field."""

if TYPE_CHECKING:

    class Given(Generic[K, G]):
        """A field that keeps a K and is given a G in a call; checkers take the parameter's type from `__set__`."""

        def __get__(self, probe: object, owner: Any = None) -> K: ...

        def __set__(self, probe: object, value: G) -> None: ...

else:

    class Given:
        """The first of two types, the one that pydantic checks."""

        def __class_getitem__(cls, types: tuple[Any, Any]) -> Any:
            return types[0]


def default_of(*, default: Any) -> Any:
    """Return a field with a default, of a type that is `Given`."""
    return Field(default=default)


@dataclass(frozen=True, slots=True)
class Written:
    """The form of a field in a signature, as metadata of its type.

    An example is `Annotated[list[str] | None, Written(none="all")]`. `none` stands for None, `separator` between the
    values of a list. A `citation` names files, which a signature cites by name and hash.
    """

    none: str = "none"
    separator: str = "+"
    citation: bool = False


CITED = Written(citation=True)
"""A field that names files."""


@dataclass(frozen=True, slots=True)
class Table:
    """The forms in which Python may give the table that a field names.

    `columns` are the names of the columns, in order, of rows without names. `rows` makes rows of anything else, with
    the names that the call gives to columns and that of the table in messages. The table is kept in a file whose name
    ends in `suffix`, or in the file that `file` makes of it, if any.
    """

    columns: tuple[str, ...] = ()
    rows: Callable[[Any, Mapping[Any, str], str], Any] = lambda given, columns, name: given
    suffix: str = ".jsonl"
    file: Callable[[Any], Path | None] = lambda given: None


def _document(given: Any) -> Path | None:
    return document_of(given, {}, NAME) if isinstance(given, Mapping) else None


DOCUMENT = Table(file=_document)
"""A field that names a set.yaml, whose keys may be given in Python as a mapping."""


def taken(model: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call, with files in place of the tables given for them. Raises DataError."""
    named = fields.get("columns")
    columns = named if isinstance(named, Mapping) else {}
    return {name: _taken(model, name, value, columns) for name, value in fields.items()}


def _taken(model: type[BaseModel], name: str, value: Any, columns: Mapping[Any, str]) -> Any:
    value = plain(value)
    if name not in model.model_fields or not _how(model, name).citation:
        return value
    if isinstance(value, Path):
        return str(value)
    table: Table | None = next((part for part in model.model_fields[name].metadata if isinstance(part, Table)), None)
    if table is not None and isinstance(value, list) and not value:
        raise DataError("is an empty list", where=f"{model.__name__}, {name}", hint=f"name a file, or {ROWS}")
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
    """Return a hint for a value that is neither a file nor a table."""
    if type(value).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return f"name a file, or {ROWS}"
    return "give the file or the table that was read, with columns=… where its columns have other names"


_PLAIN = Written()


def cited_columns(columns: Mapping[Any, str | list[str]]) -> dict[str, object]:
    """Return the part of a signature about columns not called like their fields; empty if there are none."""
    several = [(field, [named] if isinstance(named, str) else named) for field, named in columns.items()]
    named = [f"{field}={column}" for field, names in several for column in names if column != field]
    return {"columns": join_names(named)} if named else {}


def _how(model: type[BaseModel], name: str) -> Written:
    return next((part for part in model.model_fields[name].metadata if isinstance(part, Written)), _PLAIN)


def names_files(model: type[BaseModel], name: str) -> bool:
    """Return whether a field names files."""
    return _how(model, name).citation


def without_place(value: Any) -> Any:
    """Return the value of a field that names files, with absolute paths cut to file names."""
    if isinstance(value, list):
        return [without_place(part) for part in value]
    if isinstance(value, dict):
        return {key: without_place(part) for key, part in value.items()}
    if not isinstance(value, str):
        return value
    name = without_folders(value)
    return Path(name).name if Path(name).is_absolute() else name


def in_json(value: Any) -> Any:
    """Return the value of a field in JSON types; bytes in file names that are not text become their codes."""
    if isinstance(value, list | tuple):
        return [in_json(part) for part in value]
    if isinstance(value, dict):
        return {in_json(key): in_json(part) for key, part in value.items()}
    return encodable(value) if isinstance(value, str) else value


def written(settings: BaseModel, name: str) -> str:
    """Return the value of a field as signatures have it."""
    how, value = _how(type(settings), name), getattr(settings, name)
    if value is None:
        return how.none
    if isinstance(value, bool):
        return "yes" if value else "no"
    return join_names(map(str, value), how.separator) if isinstance(value, list | tuple) else str(value)
