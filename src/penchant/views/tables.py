"""Declarative tables, whose titles, headings and notes are in `text.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from penchant.report.significance import deciding
from penchant.report.tables import DECIDES, Cell, Number, P, ReportRow, ReportTable, estimate
from penchant.views.row_selection import At, Line, RowSource, together
from penchant.wording.templates import Text

HEADS = {"holm": "p (Holm)", "pair": "difference"}
"""Default headings of columns whose heading differs from their key."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `key` selects its heading in `text.yaml`, `cell` returns a row's cell, `none` replaces empty cells."""

    key: str
    cell: Callable[[Line], Cell]
    none: Cell = ""


def level(name: str, key: str = "") -> Column:
    """Return a column with the levels of the factor `name`."""
    return Column(key or name, lambda line: str(line[name]))


def model() -> Column:
    """Return the column with the names of models."""
    return Column("model", lambda line: line.model)


def pair() -> Column:
    """Return the column with the two models compared."""
    return Column("pair", lambda line: line.model)


def count(key: str = "n", **levels: object) -> Column:
    """Return a column of item counts, taken from the row that differs from a cell's row only in the given `levels`."""
    return beside(key, levels, lambda line: int(line["n"]), "")


def whole(key: str) -> Column:
    """Return a column with estimates that are counts, displayed as integers."""
    return Column(key, lambda line: int(line["value"]))


def number(
    key: str, form: str = ".2f", *, scale: float = 1, star: bool = False, counted: bool = False, **levels: object
) -> Column:
    """Return a column with estimates, their intervals and, if `counted`, their n.

    Estimates are taken from the row that differs from a cell's row only in the given `levels`, such as another measure;
    a tuple lists levels in order of preference. A missing estimate is displayed as "–". If `star`, estimates with a
    significant adjusted p-value are marked.
    """

    def cell(line: Line) -> Cell:
        marked = star and line["p_holm"] <= DECIDES
        return replace(estimate(line.row, form, scale=scale, count=counted), star="*" if marked else "")

    return beside(key, levels, cell, Number())


def p(key: str = "p", **levels: object) -> Column:
    """Return a column of p-values, taken from the row that differs from a cell's row only in the given `levels`."""
    return beside(key, levels, lambda line: P(line["p"]), P(math.nan))


def adjusted(key: str = "holm", **levels: object) -> Column:
    """Return a column with p-values, adjusted if they belong to a family of tests.

    They are taken from the row that differs from a cell's row only in the given `levels`.
    """
    return beside(key, levels, lambda line: P(deciding(line.row)), P(math.nan))


def beside(key: str, levels: Mapping[str, object], cell: Callable[[Line], Cell], none: Cell = "") -> Column:
    """Return a column with each cell computed from the row that differs from the cell's row only in the given `levels`.

    A cell contains `none` if there is no such row.
    """

    def at_levels(line: Line) -> Cell:
        other = line.at(**levels) if levels else line
        return "" if other is None else cell(other)

    return Column(key, at_levels, none)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """Declaration of a table, with a row for each source row that matches `at` and satisfies `takes`.

    Rows that differ only in the model are adjacent; if `by_model`, all rows of a model are. `columns` may be a function
    of the sources. `first` lists the keys of columns that take precedence if space is short. `detail` is as in
    `ReportTable`, or a function of the rows. `short` lists the keys of the columns of the short table, whose `title`
    and `note` are under `short` in `text.yaml`; the short table is limited to the rows that match `short_at`, if there
    are any. `of` transforms the sources, for example to compute ranks. Columns that are empty in all rows are omitted.
    """

    name: str
    at: At
    columns: Sequence[Column] | Callable[[Sequence[RowSource]], Sequence[Column]]
    by_model: bool = False
    takes: Callable[[Line], bool] = lambda line: True
    first: tuple[str, ...] = ()
    detail: bool | Callable[[Sequence[Line]], bool] = False
    of: Callable[[Sequence[RowSource]], Sequence[RowSource]] = lambda found: found
    short: tuple[str, ...] = ()
    short_at: At | None = None

    def table(self, found: Sequence[RowSource], text: Text) -> ReportTable | None:
        """Return the table for the given sources and text, or None if it has no rows."""
        columns, found = self.columns(found) if callable(self.columns) else self.columns, self.of(found)
        by_model = (line for source in found for line in source.only(self.at))
        lines = [line for line in (by_model if self.by_model else together(found, self.at)) if self.takes(line)]
        if not lines:
            return None
        filled = [(column, [column.cell(line) for line in lines]) for column in columns]
        columns, cells = zip(*(each for each in filled if any(cell != "" for cell in each[1])), strict=True)
        shown = [
            [column.none if cell == "" else cell for cell in of_one]
            for column, of_one in zip(columns, cells, strict=True)
        ]
        rows = tuple(
            ReportRow(row, line["signature"]) for row, line in zip(zip(*shown, strict=True), lines, strict=True)
        )
        own = text.below("tables", self.name)
        heads = {column.key: own.get("columns", column.key) or _head(text, column.key) for column in columns}
        first = tuple(heads[key] for key in self.first if key in heads)
        detail = self.detail(lines) if callable(self.detail) else self.detail
        table = ReportTable(self.name, own.get("title"), tuple(heads.values()), rows, own.get("note"), detail, first)
        return replace(table, short=self._short(table, lines, own.below("short"), list(heads))) if self.short else table

    def _short(self, table: ReportTable, lines: Sequence[Line], text: Text, keys: Sequence[str]) -> ReportTable:
        at = self.short_at or At()
        rows = tuple(row for row, line in zip(table.rows, lines, strict=True) if at(line.row))
        printed = replace(table, rows=rows or table.rows).only([i for i, key in enumerate(keys) if key in self.short])
        return replace(printed, title=text.get("title") or table.title, note=text.get("note") or table.note)


def _head(text: Text, key: str) -> str:
    return text.get("columns", key) or HEADS.get(key, key)


def tables(specs: Iterable[TableSpec], found: Sequence[RowSource], text: Text) -> list[ReportTable]:
    """Return the tables of all declarations for which there is something to show."""
    return [table for spec in specs if (table := spec.table(found, text)) is not None]
