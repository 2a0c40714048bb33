"""Display of a section in a terminal: the finding, and the headline table with the columns that fit."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

from penchant.errors import one_line
from penchant.plurals import for_one
from penchant.report.sections import StudySection
from penchant.report.tables import Number, ReportTable, constant, in_columns

ROWS = 12
"""The maximum number of rows displayed."""
_GAP = 2
"""The number of spaces between columns."""
_NARROWEST = 12
"""The minimum width of a column of long names, which are wrapped."""


def columns() -> int:
    """Return the width of the terminal in columns, limited to the range from 40 to 120."""
    return min(120, max(40, shutil.get_terminal_size().columns))


def wrapped(text: str, width: int, head: str = "", *, whole: bool = False) -> list[str]:
    """Wrap a text to `width` columns, with `head` before the first line and as many spaces before the others.

    An empty text has no lines. Words that are too wide, such as paths, are broken unless `whole` is true.
    """
    lines = _filled(re.split(r"(?<=\s)", text), width - cell_len(head), whole=whole) if text else []
    return [f"{' ' * len(head) if i else head}{line}" for i, line in enumerate(lines)]


def _filled(parts: Sequence[str], room: int, *, whole: bool = False) -> list[str]:
    """Return lines of at most `room` columns, filled with as many parts of a text as fit."""
    lines = [""]
    for part in parts:
        for piece in [part] if whole else chop_cells(part, room):
            if lines[-1] and cell_len((lines[-1] + piece).rstrip()) > room:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def screen(placed: StudySection, width: int, *, named: bool, estimates: bool = True) -> Iterator[str]:
    """Yield the finding, if any, and the headline table, which is a table of differences if `estimates` is false.

    If `named`, they are preceded by the title of the section.
    """
    found = placed.finding()
    title = f": {one_line(placed.title)}" if named else ""
    remark = wrapped(one_line(placed.remark), width)
    if found or remark:
        head = [f"What was found{title}"] if found else []
        told = (line for text in found for line in wrapped(one_line(text), width, "- "))
        yield "\n".join([*remark, *head, *told])
    tables = placed.estimates() if estimates else placed.compared()
    table = next((table for table in tables if not table.detail), None)
    if table is not None:
        others = placed.tables() if estimates else tables
        titles = [one_line(each.title) for each in others if each.name != table.name]
        titled = table if found or not named else replace(table, title=f"{placed.title}: {table.title}")
        more = wrapped(f"More tables: {'; '.join(titles)}.", width) if titles else []
        yield "\n".join([headline(titled, width), *more])


def headline(table: ReportTable, width: int) -> str:
    """Return a table that fits into `width` columns, followed by a line on what is left out.

    A value shared by all rows is given once. The columns listed in the table's `first` take precedence over other
    columns of numbers, and at most `ROWS` rows are displayed.
    """
    rows, numeric = table.rows[:ROWS], table.numeric
    every = range(len(table.columns))
    words = [i for i in every if not numeric[i]]
    same = [i for i in constant(table) if i in words]
    widths = [max(cell_len(one_line(str(text))) for text in _column(table, i)) for i in every]
    shown = [i for i in words if i not in same]
    wanted = _wanted(table, words)
    widths = _folded(table, widths, shown, width - sum(widths[i] + _GAP for i in _needed(table, wanted)) + _GAP)
    used = sum(widths[i] + _GAP for i in shown)
    for i in wanted:
        if used + widths[i] <= width or not set(shown) - set(words):
            shown.append(i)
            used += widths[i] + _GAP
    shown.sort()
    names = [table.columns[i] for i in shown]
    cells = [line for row in rows for line in _lines([str(row.cells[i]) for i in shown], [widths[i] for i in shown])]
    left_out = [table.columns[i].strip() for i in every if i not in shown and i not in same]
    return "\n".join(
        [
            *wrapped(one_line(table.title), width),
            *wrapped("; ".join(f"{table.columns[i]}: {one_line(str(rows[0].cells[i]))}" for i in same), width),
            in_columns([names, *cells], [numeric[i] for i in shown]),
            *_below(table, len(table.rows) - len(rows), shown, left_out, width),
        ]
    )


def _column(table: ReportTable, i: int) -> list[object]:
    return [table.columns[i], *(row.cells[i] for row in table.rows[:ROWS])]


def _wanted(table: ReportTable, words: Sequence[int]) -> list[int]:
    """Return the indices of the columns of numbers: the columns listed in the table's `first`, then the others."""
    first = [table.columns.index(name) for name in table.first if name in table.columns]
    return list(dict.fromkeys([*first, *(i for i in range(len(table.columns)) if i not in words)]))


def _needed(table: ReportTable, wanted: Sequence[int]) -> list[int]:
    """Return the indices of the columns in `wanted` up to the first column of estimates."""
    known = [any(isinstance(cell, Number) for cell in _column(table, i)) for i in wanted]
    return list(wanted[: known.index(True) + 1 if True in known else 1])


def _folded(table: ReportTable, widths: Sequence[int], shown: Sequence[int], width: int) -> list[int]:
    """Return the column widths with the columns `shown` narrowed, widest first, until they fit into `width`."""
    folded = list(widths)
    for i in sorted(shown, key=lambda i: -widths[i]):
        over = sum(folded[j] + _GAP for j in shown) - width
        least = min(folded[i], max(_NARROWEST, cell_len(one_line(table.columns[i]))))
        folded[i] = max(least, folded[i] - max(0, over))
    return folded


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    """Wrap the cells of a row to the widths of their columns, if possible after a separator in a name."""
    parts = [_filled(re.split(r"(?<=[-/@_:, ])", one_line(cell)), w) for cell, w in zip(cells, widths, strict=True)]
    return [list(line) for line in zip_longest(*parts, fillvalue="")]


def _below(table: ReportTable, more: int, shown: Sequence[int], left_out: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines on the rows, columns and footnotes of a table that are not displayed."""
    noted = any(isinstance(cell, Number) and cell.note for i in shown for cell in _column(table, i))
    rows = f"{more} more {for_one(more, 'rows')}" if more else ""
    lacking = [*filter(None, [rows, *dict.fromkeys(left_out), "footnotes" if noted else ""])]
    if lacking:
        yield from wrapped(f"Not shown here: {'; '.join(lacking)}.", width)
