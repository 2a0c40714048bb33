"""Selection of the scores and columns to export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from penchant.errors import MethodError, one_of
from penchant.report.sections import Document, StudySection
from penchant.report.tables import ReportTable, constant

_NAMING = {"score", "measure", "of"}
"""The columns that contain the name of a score or a measure."""
_AMONG = "where"
"""The column whose cells may contain comma-separated score names."""


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Names of the scores and columns to export; an empty tuple selects all."""

    scores: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, document: Document, scores: str | Sequence[str] | None, columns: str | Sequence[str] | None
    ) -> ExportFilter:
        """Return a filter for the given names, which are sequences or comma-separated strings; None selects all.

        Raises MethodError for a name that no table contains.
        """
        if scores is None and columns is None:
            return cls()
        tables = [table for placed in document.sections for table in placed.tables()]
        heads = dict.fromkeys(name for table in tables for name in names(table.columns))
        short = dict.fromkeys(name.strip() for table in tables for name in table.columns)
        rated = dict.fromkeys(name for table in tables for names in _scores(table, _NAMING) for name in sorted(names))
        return cls(
            () if scores is None else _among(scores, rated, "score", rated),
            () if columns is None else _among(columns, {**heads, **short}, "column", heads),
        )

    def tables(self, placed: StudySection) -> list[ReportTable]:
        """Return a section's tables with the selected rows and columns.

        A table with none of the selected scores keeps all its rows; a table with none of the selected numeric columns
        is omitted. Columns that distinguish rows, such as the paradigm, always come first, and values shared by all
        rows are added to the title.
        """
        tables = [self._columns(self._rows(table)) for table in placed.tables()]
        return [table for table in tables if table is not None]

    def absent(self, document: Document) -> list[str]:
        """Return a sentence for each section that lacks at least one selected column, naming the missing columns."""
        sentences = []
        for placed in document.sections:
            heads = {name for table in placed.tables() for both in _heads(table) for name in both}
            lacking = [name for name in self.columns if name not in heads]
            if lacking:
                left = "" if self.tables(placed) else ", and none of its tables is written"
                sentences.append(f"{placed.place} has no column {', '.join(map(repr, lacking))}{left}")
        return sentences

    def _rows(self, table: ReportTable) -> ReportTable:
        marked = _scores(table, {*_NAMING, _AMONG})
        rows = tuple(row for row, found in zip(table.rows, marked, strict=True) if found & set(self.scores))
        return replace(table, rows=rows, short=None) if rows else table

    def _columns(self, table: ReportTable) -> ReportTable | None:
        if not self.columns:
            return table
        heads, numeric = names(table.columns), table.numeric
        chosen = [i for name in self.columns for i, both in enumerate(_heads(table)) if name in both]
        if not chosen or (any(numeric) and not any(numeric[i] for i in chosen)):
            return None
        telling = _telling(table, [i for i in range(len(heads)) if not numeric[i]], chosen)
        alike = [i for i in constant(table) if i not in (*telling, *chosen)]
        title = "; ".join([table.title, *(f"{heads[i]}: {table.rows[0].cells[i]}" for i in alike)])
        shown = replace(table, title=title, columns=tuple(heads), short=None)
        return shown.only(list(dict.fromkeys([*telling, *chosen])))


def names(columns: Sequence[str]) -> list[str]:
    """Return unique column names; a repeated name, such as p, is prefixed with the name of the preceding column."""
    stripped = [column.strip() for column in columns]
    return [f"{stripped[i - 1]} {name}" if stripped.count(name) > 1 else name for i, name in enumerate(stripped)]


def _heads(table: ReportTable) -> list[tuple[str, str]]:
    return list(zip(names(table.columns), map(str.strip, table.columns), strict=True))


def _telling(table: ReportTable, words: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """Return the indices in `words` (text columns) that are not in `chosen` but are needed to distinguish rows."""
    telling: list[int] = []

    def distinct(columns: Sequence[int]) -> int:
        return len({tuple(row.cells[i] for i in columns) for row in table.rows})

    for i in words:
        known = [*telling, *(word for word in words if word in chosen)]
        if i not in chosen and distinct([*known, i]) > distinct(known):
            telling.append(i)
    return telling


def _scores(table: ReportTable, naming: set[str]) -> list[set[str]]:
    places = [(i, head == _AMONG) for i, head in enumerate(table.columns) if head in naming]
    return [{name for i, among in places for name in _named(str(row.cells[i]), among)} for row in table.rows]


def _named(cell: str, among: bool) -> list[str]:
    return cell.split(", ") if among else [cell, cell.removeprefix("difference of ")]


def _among(given: str | Sequence[str], known: Iterable[str], what: str, listed: Iterable[str]) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) else given
    found = [name for text in texts for name in _split(str(text), set(known))]
    for name in found:
        if name not in known:
            raise MethodError(f"no table contains the {what} '{name}'", hint=one_of(name, listed))
    if not found:
        raise MethodError(f"no {what} is given", hint=one_of("", listed))
    return tuple(dict.fromkeys(found))


def _split(text: str, known: set[str]) -> list[str]:
    """Split a comma-separated text into names; known names that contain commas are kept whole."""
    parts, found = text.split(","), []
    while parts:
        ends = (end for end in range(len(parts), 1, -1) if ",".join(parts[:end]).strip() in known)
        end = next(ends, 1)
        found.append(",".join(parts[:end]).strip())
        parts = parts[end:]
    return [name for name in found if name]
