"""Declared tables: which rows, and what stands in their columns. Titles, heads and notes are in `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

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


def count(key: str = "n") -> Column:
    """Return a column of numbers of items."""
    return Column(key, lambda line: int(line["n"]))


def whole(key: str) -> Column:
    """Return a column of counts that were estimated."""
    return Column(key, lambda line: int(line["value"]))


def number(key: str, form: str = ".2f", *, measure: str = "", scale: float = 1) -> Column:
    """Return a column of numbers with their intervals; of another `measure` than the row's where it is given, "–" where
    there is no such number."""

    def cell(line: Line) -> Cell:
        found = line.at(measure=measure) if measure else line
        return "–" if found is None else estimate(found.row, form, scale=scale)

    return Column(key, cell)


def p() -> Column:
    """Return the column of p-values."""
    return Column("p", lambda line: P(line["p"]))


def adjusted() -> Column:
    """Return the column of p-values, adjusted where they are of a family."""
    return Column("holm", lambda line: P(line["p"] if line["p_holm"] != line["p_holm"] else line["p_holm"]))


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table called `name`: a row for every row `at` some levels that it `takes`, models of the same levels together,
    or with `by_model` all of one model first. `first` are the keys of columns that are shown before others where there
    is no room, `detail` as in `Table`, `short` the keys of columns for print, which has a `title` and a `note` of its
    own under `short` in `text.yaml`."""

    name: str
    at: At
    columns: Sequence[Column]
    by_model: bool = False
    takes: Callable[[Line], bool] = lambda line: True
    first: tuple[str, ...] = ()
    detail: bool = False
    short: tuple[str, ...] = ()

    def table(self, found: Sequence[Source], text: Text) -> Table | None:
        """Return the table of some sources in the words of a text; None where there is nothing to show."""
        by_model = (line for source in found for line in source.only(self.at))
        rows = tuple(
            Row(tuple(column.cell(line) for column in self.columns), line["signature"])
            for line in (by_model if self.by_model else together(found, self.at))
            if self.takes(line)
        )
        if not rows:
            return None
        own = text.below("tables", self.name)
        heads = {column.key: own.get("columns", column.key) or _head(text, column.key) for column in self.columns}
        first = tuple(heads[key] for key in self.first)
        table = Table(self.name, own.get("title"), tuple(heads.values()), rows, own.get("note"), self.detail, first)
        return replace(table, short=self._short(table, own.below("short"))) if self.short else table

    def _short(self, table: Table, text: Text) -> Table:
        kept = [i for i, column in enumerate(self.columns) if column.key in self.short]
        return replace(table.only(kept), title=text.get("title") or table.title, note=text.get("note") or table.note)


def _head(text: Text, key: str) -> str:
    return text.get("columns", key) or HEADS.get(key, key)


def tables(specs: Iterable[TableSpec], found: Sequence[Source], text: Text) -> list[Table]:
    """Return the tables that have something to show."""
    return [made for spec in specs if (made := spec.table(found, text)) is not None]
