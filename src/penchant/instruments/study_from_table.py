"""Recognition of the columns of a user's table, from which `penchant init --from` makes a study."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from penchant.errors import DataError, one_of
from penchant.instruments.base_probe import Probe
from penchant.tables.rows import FileRow, lacking, read_rows
from penchant.wording.templates import Text

_WORD = re.compile(r"[^\W\d_]+|#")


@dataclass(frozen=True, slots=True)
class Role:
    """A column that an instrument reads.

    It is recognised by its header, which is or contains one of `names` (lower case), else by its cells, if exactly one
    remaining column passes `like`. `what` describes the column in an error. A column with a repeated or empty cell does
    not fit a `unique` role.
    """

    name: str
    names: tuple[str, ...]
    what: str
    like: Callable[[Sequence[str]], bool] | None = None
    needed: bool = True
    unique: bool = False


ID = Role("id", ("id", "item", "nr", "no", "number", "nummer", "#"), "the id", needed=False, unique=True)
"""The column of item ids."""


@dataclass(frozen=True, slots=True)
class UserTable:
    """A user's table: its path, its rows, and the names of the recognised columns, by role."""

    path: Path
    rows: Sequence[FileRow]
    columns: Mapping[str, str]

    @property
    def header(self) -> list[str]:
        """The names of all columns."""
        return list(dict.fromkeys(name for row in self.rows for name in row.values))

    def cells(self, role: str) -> list[str]:
        """Return the cells of a role's column as strings; empty cells are ""."""
        return cells(self.rows, self.columns[role])

    def renamed(self, default: Iterable[str]) -> dict[str, str]:
        """For the roles in `default`, return the columns whose names differ from their roles, keyed by role."""
        return {role: name for role in default if (name := self.columns.get(role, role)) != role}


@dataclass(frozen=True, slots=True)
class StudyParts:
    """Parts of a study from a user's table: the probe's parameters, other files (name: content), and lines to print."""

    parameters: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableReader:
    """Description of how an instrument makes a study from a user's table.

    `alias` is the plain name of such tables, for example pairs; `roles` are the columns to find. `known` returns
    whether the instrument reads a file without being told its columns. `parts` makes the parts of a study from a table;
    its second argument is the table's path as written in the study's files. `power` returns a sentence on the smallest
    effect that a probe's study could detect. `about` returns the lines, if any, to print about the probe's data and a
    model.
    """

    alias: str
    roles: tuple[Role, ...]
    parts: Callable[[UserTable, str], StudyParts]
    power: Callable[[Any, Sequence[Path]], str]
    known: Callable[[Path], bool] = lambda _: False
    about: Callable[[Any, Sequence[Path], Any], Sequence[str]] = lambda *_: ()

    def read(self, file: Path, given: Mapping[str, str]) -> UserTable:
        """Read a table and find its columns; `given` names the columns of some roles.

        Raises DataError if a needed column is not found, or if several fit.
        """
        for role in given:
            if role not in (names := [each.name for each in self.roles]):
                raise DataError(f"--column {role}: there is no such field", file=file, hint=one_of(role, names))
        rows = read_rows(file)
        table = UserTable(file, rows, dict(given))
        lacking(list(given.values()), table.header, file)
        if self.known(file) and not given:
            return table
        return UserTable(file, rows, _found(self.roles, table))


def cells(rows: Sequence[FileRow], column: str) -> list[str]:
    """Return the cells of a column as strings; empty cells are ""."""
    return ["" if (cell := row.values.get(column)) is None else str(cell) for row in rows]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a CSV table with a header."""
    return pl.DataFrame(list(rows), schema=dict.fromkeys(header, pl.String), orient="row").write_csv()


def power_sentence(probe: type[Probe[Any]], **facts: object) -> str:
    """Return the instrument's sentence about the smallest effect that a study could detect, filled in with `facts`."""
    return Text.of(probe.folder()).get("init", "power", **facts)


def _found(roles: Sequence[Role], table: UserTable) -> dict[str, str]:
    columns = dict(table.columns)
    for alike in (_by_header, _by_cells):
        for role in roles:
            free = [name for name in table.header if name and name not in columns.values()]
            fitting = [] if role.name in columns else alike(role, free, table)
            fitting = [name for name in fitting if not role.unique or _is_unique(cells(table.rows, name))]
            if len(fitting) == 1:
                columns[role.name] = fitting[0]
            elif fitting and role.needed:
                raise _unclear(role, fitting, table)
    for role in roles:
        if role.needed and role.name not in columns:
            raise _unclear(role, [name for name in table.header if name and name not in columns.values()], table)
    return columns


def _unclear(role: Role, columns: Sequence[str], table: UserTable) -> DataError:
    named = ", ".join(f"'{name}'" for name in columns) or "no other columns"
    example = columns[0] if columns else "NAME"
    return DataError(
        f"it is unclear which column holds {role.what}: the table has {named}",
        file=table.path,
        hint=f'name it: --column {role.name}="{example}"',
    )


def _by_header(role: Role, free: Sequence[str], table: UserTable) -> list[str]:
    """Return the `free` columns whose header is one of the role's names or, if there are none, contains one."""
    same = [name for name in free if _folded(name) in role.names]
    return same or [name for name in free if not {*_WORD.findall(_folded(name))}.isdisjoint(role.names)]


def _by_cells(role: Role, free: Sequence[str], table: UserTable) -> list[str]:
    return [] if role.like is None else [name for name in free if role.like(cells(table.rows, name))]


def _is_unique(texts: Sequence[str]) -> bool:
    return all(texts) and len(set(texts)) == len(texts)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()
