"""Declared tables: which rows, and what stands in their columns. Titles, heads and notes are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from penchant.report.tables import Cell, P, Row, Table, estimate
from penchant.views.rows import At, Line, Source, together
from penchant.wording.templates import Text

HEADS = {"holm": "p (Holm)", "comparison": "difference"}
"""Heads of columns that are the same everywhere and are not their key."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: a `key`, by which `text.yaml` has its head, and what stands in it."""

    key: str
    cell: Callable[[Line], Cell]


def level(name: str, key: str = "") -> Column:
    """Return a column of the levels of a factor."""
    return Column(key or name, lambda line: str(line[name]))


def model() -> Column:
    """Return the column of models."""
    return Column("model", lambda line: line.model)


def pair() -> Column:
    """Return the column of the two models compared."""
    return Column("comparison", lambda line: line.model)


def count(key: str = "n", measure: str = "") -> Column:
    """Return a column of numbers of items."""
    return Column(key, lambda line: _of(line, measure, lambda row: int(row["n"])))


def whole(key: str) -> Column:
    """Return a column of counts that were estimated."""
    return Column(key, lambda line: int(line["value"]))


def number(
    key: str, form: str = ".2f", *, measure: str = "", scale: float = 1, counted: bool = False, **levels: object
) -> Column:
    """Return a column of numbers with their intervals; of another `measure` or other levels than the row's where they
    are given, "–" where there is no such number."""
    return Column(
        key, lambda line: _of(line, measure, lambda row: estimate(row, form, scale=scale, count=counted), **levels)
    )


def p(key: str = "p", measure: str = "") -> Column:
    """Return a column of p-values."""
    return Column(key, lambda line: _of(line, measure, lambda row: P(row["p"])))


def holm(key: str = "holm", measure: str = "") -> Column:
    """Return a column of p-values adjusted over their family."""
    return Column(key, lambda line: _of(line, measure, lambda row: P(row["p_holm"])))


def adjusted(key: str = "holm") -> Column:
    """Return a column of p-values, adjusted where they are of a family."""
    return Column(key, lambda line: P(line["p"] if line["p_holm"] != line["p_holm"] else line["p_holm"]))


def _of(line: Line, measure: str, cell: Callable[[Mapping[str, Any]], Cell], **levels: object) -> Cell:
    if not measure and not levels:
        return cell(line.row)
    found = line.at(**({"measure": measure} if measure else {}), **levels)
    return "–" if found is None else cell(found.row)


Columns: TypeAlias = "Sequence[Column] | Callable[[Sequence[Source]], Sequence[Column]]"


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table called `name`: a row for every row `at` some levels that `takes` does not leave out, models of the same
    levels together (of the levels `by`), or with `by_model` all of one model first. `first` are the keys of columns
    that are shown before others where there is no room, `detail` as in `Table`; `kept` also without rows."""

    name: str
    at: At
    columns: Columns
    by: Sequence[str] | None = None
    by_model: bool = False
    takes: Callable[[Line], bool] = lambda line: True
    first: tuple[str, ...] = ()
    detail: bool = False
    kept: bool = False

    def table(self, found: Sequence[Source], text: Text) -> Table | None:
        """Return the table of some sources in the words of a text; None where there is nothing to show."""
        columns = self.columns(found) if callable(self.columns) else self.columns
        rows = [
            Row(tuple(column.cell(line) for column in columns), line["signature"])
            for line in self._lines(found)
            if self.takes(line)
        ]
        if not rows and not self.kept:
            return None
        own = text.below("tables", self.name)
        heads = {column.key: own.get("columns", column.key) or _head(text, column.key) for column in columns}
        first = tuple(heads[key] for key in self.first)
        note = own.get("note")
        return Table(self.name, own.get("title"), tuple(heads.values()), tuple(rows), note, self.detail, first)

    def _lines(self, found: Sequence[Source]) -> Iterator[Line]:
        if self.by_model:
            return (line for source in found for line in source.only(self.at))
        return together(found, self.at, self.by)


def _head(text: Text, key: str) -> str:
    return text.get("columns", key) or HEADS.get(key, key)


def tables(specs: Iterable[TableSpec], found: Sequence[Source], text: Text) -> list[Table]:
    """Return the tables that have something to show."""
    return [made for spec in specs if (made := spec.table(found, text)) is not None]
