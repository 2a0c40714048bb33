"""Cells of a paper's tables: measured estimates beside printed numbers, and whether the two agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from scipy.stats import norm

from penchant.papers.paper import Axis, AxisEntry, Key, Paper, PrintedNumber, TableLayout
from penchant.records import BaseResult
from penchant.views.row_selection import At, Line, RowSource, sources

AGREES, DIFFERS, BARRED, ABSENT = "agrees", "differs", "cannot be compared", ""
_SHARED = ("probe", "shows", "scale", "form", "rule")
"""Settings of a table that an entry can replace."""
_ALPHA = 0.05
"""The maximum probability that a table in which all numbers agree has a cell with the verdict `DIFFERS`."""


@dataclass(frozen=True, slots=True)
class PaperCell:
    """A cell of a table: its labels, what was measured, what is printed, and the verdict with its reason.

    `head` is the label of the cell's column without the model. `line` is the estimate, None if nothing was measured;
    `printed` is None if the paper prints no number for this model. `model` is the paper's label of the model.
    """

    row: tuple[str, ...]
    column: tuple[str, ...]
    entry: AxisEntry
    line: Line | None
    printed: PrintedNumber | None
    model: str = ""
    head: str = ""
    verdict: str = ABSENT
    why: str = ""

    @property
    def value(self) -> float:
        """The measured number, on the scale of the paper; NaN if nothing was measured."""
        return self.scaled(self.entry.shows)

    def scaled(self, name: str) -> float:
        """Return the estimate's column `name`, such as `low`, on the paper's scale; NaN if nothing was measured."""
        return math.nan if self.line is None else float(self.line[name]) * (self.entry.scale or 1)

    @property
    def difference(self) -> float:
        """The measured number minus the printed one."""
        return self.value - (math.nan if self.printed is None else self.printed.value)


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table in the layout of the paper, with its cells row by row."""

    layout: TableLayout
    cells: Sequence[PaperCell]

    def compared(self) -> list[PaperCell]:
        """Return the cells with a measured and a printed number."""
        return [cell for cell in self.cells if cell.printed is not None and cell.value == cell.value]


def tables(
    paper: Paper, printed: Mapping[Key, PrintedNumber], results: Sequence[BaseResult], asked: Mapping[str, str]
) -> list[PaperTable]:
    """Return the paper's tables for which something was measured.

    `asked` maps the names of models in the results to their names in the study.
    """
    found = []
    for layout in paper.tables:
        cells = list(_cells(paper, layout, printed, results, asked))
        if any(cell.line is not None for cell in cells):
            found.append(PaperTable(layout, _decided(layout, cells)))
    return found


def _cells(
    paper: Paper,
    layout: TableLayout,
    printed: Mapping[Key, PrintedNumber],
    results: Sequence[BaseResult],
    asked: Mapping[str, str],
) -> Iterator[PaperCell]:
    every = [_Measured(source, paper.label(asked.get(source.model, source.model))) for source in sources(results)]
    order = [*paper.models.values(), ""]
    every.sort(key=lambda each: order.index(each.label))
    models = dict.fromkeys(each.source.model for each in every if each.probe == layout.probe) if layout.models else [""]
    rows, columns = (
        list(product(*(_entries(axis, layout, every) for axis in axes))) for axes in (layout.rows, layout.columns)
    )
    if layout.models == "rows":
        places = [(m, r, c) for m, r, c in product(models, rows, columns)]
    elif layout.models == "innermost":
        places = [(m, r, c) for r, c, m in product(rows, columns, models)]
    else:
        places = [(m, r, c) for r, m, c in product(rows, models, columns)]
    for model, row, column in places:
        entry = _together(layout, [*row, *column])
        shown = _shown(paper, entry, model, every)
        line = None if shown is None else next(iter(shown.source.only(At(**entry.at))), None)
        heads = [tuple(e.label for e in part if e.label) for part in (row, column)]
        head = " / ".join(heads[1])
        name = _printed_for(paper, layout, entry, shown)
        number = None if name is None else printed.get((layout.item, " / ".join(heads[0]), head, name))
        if layout.models == "rows":
            heads[0] = (model, *heads[0])
        elif model:
            heads[1] = (*heads[1], model) if layout.models == "innermost" else (model, *heads[1])
        yield PaperCell(heads[0], heads[1], entry, line, number, "" if shown is None else shown.label, head)


@dataclass(frozen=True, slots=True)
class _Measured:
    """The estimates of a model, and the paper's label of the model, or "" if the paper does not have the model."""

    source: RowSource
    label: str

    @property
    def probe(self) -> str:
        assert self.source.result is not None
        return str(self.source.result.signature["probe"])


def _printed_for(paper: Paper, layout: TableLayout, entry: AxisEntry, shown: _Measured | None) -> str | None:
    """Return the model whose printed number belongs in a cell, or None if the paper prints none for the model shown.

    An entry that names no model, or one that the paper does not identify, matches any model of the paper.
    """
    if shown is None or not shown.label:
        return None
    if layout.models:
        return shown.label
    return entry.model if entry.model == shown.label or entry.model not in paper.models.values() else None


def _shown(paper: Paper, entry: AxisEntry, model: str, every: Sequence[_Measured]) -> _Measured | None:
    """Return an entry's estimates: those of `model` if given, else of the entry's model, else of the first model.

    An entry that names a model of the paper never shows another of the paper's models.
    """
    inside = [each for each in every if each.probe == entry.probe and model in ("", each.source.model)]
    if entry.model in paper.models.values():
        inside = [each for each in inside if each.label in ("", entry.model)]
    inside.sort(key=lambda each: bool(entry.model) and each.label != entry.model)
    return next(iter(inside), None)


def _entries(axis: Axis, layout: TableLayout, every: Sequence[_Measured]) -> list[AxisEntry]:
    if isinstance(axis, list):
        return axis
    inside = [each.source for each in every if each.probe == layout.probe]
    levels = dict.fromkeys(str(line[axis.each]) for source in inside for line in source.only(At(**layout.at)))
    first = [level for level in axis.labels if level in levels]
    ordered = dict.fromkeys(level for level in (*first, *levels) if level not in axis.without)
    return [AxisEntry(label=axis.labels.get(level, level), at={axis.each: level}) for level in ordered]


def _together(layout: TableLayout, entries: Sequence[AxisEntry]) -> AxisEntry:
    """Return one entry that combines the settings of the table and of `entries`; later entries take precedence."""
    at = dict(layout.at)
    taken: dict[str, Any] = {name: getattr(layout, name) for name in _SHARED}
    for entry in entries:
        at |= entry.at
        own = {name: getattr(entry, name) for name in (*_SHARED, "model")}
        taken |= {name: value for name, value in own.items() if value not in ("", None)}
    return AxisEntry(label="", at=at, **taken)


def _decided(layout: TableLayout, cells: Sequence[PaperCell]) -> list[PaperCell]:
    several = sum(cell.printed is not None and cell.value == cell.value for cell in cells)
    decided = []
    for cell in cells:
        if cell.printed is None or cell.value != cell.value:
            decided.append(cell)
            continue
        why = _barred(layout, cell)
        verdict = BARRED if why else (AGREES if agree(cell, several) else DIFFERS)
        decided.append(replace(cell, verdict=verdict, why=why))
    return decided


def _barred(layout: TableLayout, cell: PaperCell) -> str:
    """Return the reason why a cell's measured number cannot be compared with the printed one, or "" if it can."""
    assert cell.printed is not None and cell.line is not None and cell.line.source.result is not None
    if math.isnan(cell.printed.value):
        return "no number is printed"
    if cell.entry.rule != "exact" and math.isnan(cell.scaled("low")):
        return "no interval was measured"
    signature = cell.line.source.result.signature
    if "limit" in signature:
        return "a pilot"
    for each in layout.barred:
        parts = ((each.row, cell.row), (each.column, cell.column))
        same = each.model in ("", cell.model) and each.data in signature["data"]
        if same and all(label in found for label, found in parts if label):
            return each.why
    return ""


def agree(cell: PaperCell, cells: int) -> bool:
    """Return whether a measured number agrees with the printed one, as one of `cells` comparisons (Bonferroni).

    Numbers agree if the measured one rounds to the printed one. Except under the rule "exact", they also agree if the
    printed one, allowing for rounding, lies in the interval, which is widened for the number of comparisons and, under
    "two samples", by √2 for the sampling error of the printed number.
    """
    assert cell.printed is not None and cell.line is not None
    gap = abs(cell.difference)
    if gap <= cell.printed.half_unit * (1 + 1e-9):
        return True
    if cell.entry.rule == "exact":
        return False
    side = "low" if cell.difference > 0 else "high"
    limit = cell.scaled(side)
    wider = float(norm.isf(_ALPHA / 2 / cells) / norm.isf((1 - float(cell.line["level"])) / 2))
    reach = abs(cell.value - limit) * wider * (math.sqrt(2) if cell.entry.rule == "two samples" else 1)
    return gap <= reach + cell.printed.half_unit
