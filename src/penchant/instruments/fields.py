"""Fields of a probe: how a signature writes them, and the files that stand for the tables of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from penchant.arguments import kind
from penchant.errors import DataError, StudyError
from penchant.files import join_names, split_names
from penchant.records import Signature
from penchant.tables.given import NAME, ROWS, file_of, is_table, plain


@dataclass(frozen=True, slots=True)
class Written:
    """How a field stands in a signature, as metadata of its type: `Annotated[list[str] | None, Written(none="all")]`.

    `none` stands for None, `separator` between the values of a list. `elsewhere` are words that a signature has where
    the field has no part in the result. A `citation` of files, by name and hash, is not read back as a value.
    """

    none: str = "none"
    separator: str = "+"
    elsewhere: tuple[str, ...] = ()
    citation: bool = False


CITED = Written(citation=True)
"""A field that names files."""


@dataclass(frozen=True, slots=True)
class Table:
    """How the table that a field names is given in Python: `columns` are those of rows without names, in order, and
    `rows` makes rows of what is neither rows nor columns, with the names that the call gives to columns and that of the
    table in messages. It is kept in a file whose name ends in `suffix`, or in what `file` makes of it, if it does."""

    columns: tuple[str, ...] = ()
    rows: Callable[[Any, Mapping[Any, str], str], Any] = lambda given, columns, name: given
    suffix: str = ".jsonl"
    file: Callable[[Any], Path | None] = lambda given: None


def taken(model: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a call with files in place of the tables that were given for them. Raises DataError."""
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
            f"{kind(value)} is no file and no table", where=f"{model.__name__}, {name}", hint=_instead(value)
        )
    return [str(part) for part in value] if isinstance(value, list) else value


def _instead(value: object) -> str:
    """What to give in place of what is neither file nor table."""
    if type(value).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return f"name a file, or {ROWS}"
    return "give the file or the table that was read, with columns=… where its columns have other names"


_PLAIN = Written()


def cited_columns(columns: Mapping[Any, str | list[str]]) -> dict[str, object]:
    """The part of a signature about columns that are not called as their fields; nothing where all are."""
    several = [(field, [named] if isinstance(named, str) else named) for field, named in columns.items()]
    named = [f"{field}={column}" for field, names in several for column in names if column != field]
    return {"columns": join_names(named)} if named else {}


def _how(model: type[BaseModel], name: str) -> Written:
    return next((part for part in model.model_fields[name].metadata if isinstance(part, Written)), _PLAIN)


def written(settings: BaseModel, name: str) -> str:
    """The value of a field as a signature has it."""
    how, value = _how(type(settings), name), getattr(settings, name)
    if value is None:
        return how.none
    if isinstance(value, bool):
        return "yes" if value else "no"
    return join_names(map(str, value), how.separator) if isinstance(value, list | tuple) else str(value)


def read_settings(model: type[BaseModel], signature: Signature) -> dict[str, Any]:
    """The fields of a model that a signature has, as values of their types; citations of files are left out.

    Raises StudyError for a value that a field cannot have."""
    return {
        name: _read(model, name, signature[key])
        for name in model.model_fields
        if (key := name.replace("_", "-")) in signature
        and not _how(model, name).citation
        and signature[key] not in _how(model, name).elsewhere
    }


def _read(model: type[BaseModel], name: str, text: str) -> Any:
    how = _how(model, name)
    annotation: Any = model.model_fields[name].annotation
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    parts = split_names(text, how.separator)
    readings: list[Any] = [text, _scalar(text), [_scalar(part) for part in parts], parts]
    if text == how.none and type(None) in get_args(annotation):
        # Where a value is spelled like None, such as the normalisation `none`, it is the value.
        readings.insert(1 if str not in get_args(annotation) else 0, None)
    for reading in readings:
        try:
            return adapter.validate_python(reading)
        except ValidationError:
            continue
    raise StudyError(f"{name.replace('_', '-')} cannot be '{text}'", where="signature")


def _scalar(text: str) -> object:
    """A number, or the text."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
