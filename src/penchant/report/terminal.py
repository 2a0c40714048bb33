"""A section as it fits a terminal: the finding and the headline table, with those columns that have room."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from penchant.errors import one_line
from penchant.report.sections import Placed
from penchant.report.tables import Number, Table, constant, in_columns

ROWS = 12
"""The most rows that are shown."""
_GAP = 2
"""Spaces between two columns."""


def screen(placed: Placed, width: int, *, named: bool, estimates: bool = True) -> Iterator[str]:
    """The finding, if there is one, and the headline table, which is one of differences unless `estimates`; each as
    lines. With `named`, under the title of the section."""
    found = placed.finding()
    title = f": {one_line(placed.title)}" if named else ""
    remark = textwrap.wrap(one_line(placed.remark), width)
    if found or remark:
        head = [f"What was found{title}"] if found else []
        told = (line for text in found for line in _wrapped(text, width))
        yield "\n".join([*remark, *head, *told])
    tables = placed.estimates() if estimates else placed.compared()
    for table in [table for table in tables if not table.detail][:1]:
        yield headline(table if found or not named else replace(table, title=f"{placed.title}: {table.title}"), width)


def headline(table: Table, width: int) -> str:
    """A table with what is the same in all rows said once, the numbers that fit into `width` (those that the table
    calls `first` before others), at most `ROWS` rows, and what is left out."""
    rows = table.rows[:ROWS]
    every = range(len(table.columns))
    words = [i for i in every if all(isinstance(row.cells[i], str) for row in table.rows)]
    same = [i for i in constant(table) if i in words]
    widths = [max(cell_len(one_line(str(text))) for text in _column(table, i)) for i in every]
    shown = [i for i in words if i not in same]
    used = sum(widths[i] + _GAP for i in shown)
    wanted = [table.columns.index(name) for name in table.first if name in table.columns]
    for i in dict.fromkeys([*wanted, *(i for i in every if i not in words)]):
        if used + widths[i] <= width or not set(shown) - set(words):
            shown.append(i)
            used += widths[i] + _GAP
    shown.sort()
    cells = [[table.columns[i] for i in shown], *([str(row.cells[i]) for i in shown] for row in rows)]
    left_out = [table.columns[i].strip() for i in every if i not in shown and i not in same]
    return "\n".join(
        [
            *textwrap.wrap(one_line(table.title), width),
            *textwrap.wrap("; ".join(f"{table.columns[i]}: {one_line(str(rows[0].cells[i]))}" for i in same), width),
            in_columns(cells, [i not in words for i in shown]),
            *_below(table, len(table.rows) - len(rows), shown, left_out, width),
        ]
    )


def _column(table: Table, i: int) -> list[object]:
    return [table.columns[i], *(row.cells[i] for row in table.rows[:ROWS])]


def _below(table: Table, more: int, shown: Sequence[int], left_out: Sequence[str], width: int) -> Iterator[str]:
    """What is not shown of a table."""
    noted = any(
        isinstance(cell, Number) and cell.note for row in table.rows[:ROWS] for cell in (row.cells[i] for i in shown)
    )
    lacking = [
        f"{more} more rows" if more else "",
        *dict.fromkeys(left_out),
        "notes on single numbers" if noted else "",
    ]
    if any(lacking):
        yield from textwrap.wrap(f"Not shown here: {'; '.join(filter(None, lacking))}.", width)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(one_line(text), width, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
