"""Terminal display of a report section: the answers, and as much of the first table as fits."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from itertools import accumulate, chain, zip_longest

from rich.cells import cell_len, chop_cells

from penchant.errors import one_line
from penchant.plurals import counted
from penchant.report.sections import StudySection
from penchant.report.tables import Number, ReportTable, constant, in_columns, models

ROWS = 5
"""The maximum number of rows displayed."""
LEAST = 7
"""The minimum number of lines for a table without answers above it."""
_GAP = 2
"""The number of spaces between columns."""
_HASH = re.compile(r"@[0-9a-f]{7}$")
"""The hash at the end of a model's name."""
_CLAUSE = re.compile(r"[:;] (?![^(]*\))")
"""A colon or semicolon outside brackets."""
_NARROWEST = 12
"""The minimum width of a column of wrapped names."""


def columns() -> int:
    """Return the width of the terminal in columns, limited to the range from 40 to 120."""
    return min(120, max(40, shutil.get_terminal_size().columns))


def wrapped(text: str, width: int, head: str = "", *, whole: bool = False) -> list[str]:
    """Wrap a text to `width` columns, with `head` before the first line and the other lines indented to match.

    Returns no lines for an empty text. Words longer than a line, such as paths, are broken unless `whole` is true.
    """
    lines = _filled(re.split(r"(?<=\s)", text), width - cell_len(head), whole=whole) if text else []
    return [f"{' ' * len(head) if i else head}{line}" for i, line in enumerate(lines)]


def _filled(parts: Sequence[str], room: int, *, whole: bool = False) -> list[str]:
    lines = [""]
    for part in parts:
        for piece in [part] if whole else chop_cells(part, room):
            if lines[-1] and cell_len((lines[-1] + piece).rstrip()) > room:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def screen(placed: StudySection, width: int, room: int, *, named: bool, estimates: bool = True) -> list[str]:
    """Return the lines of a section: its answers, and as many rows of its first table as `room` allows.

    If `named`, the title precedes the answers, the table is left out, and there may be more lines than `room`. Unless
    `estimates`, only answers and tables about differences between models are shown.
    """
    lines = answered(placed, width, None if named else room, named=named, estimates=estimates)
    if named and lines:
        return lines
    tables = placed.estimates() if estimates else placed.compared()
    table = next((table for table in tables if not table.detail), None)
    gap = [""] if lines else []
    shown = (
        [] if table is None else headline(table, width, max(LEAST if not lines else 0, room - len(lines) - len(gap)))
    )
    return [*lines, *gap, *shown] if shown else lines


def answered(
    placed: StudySection, width: int, room: int | None = None, *, named: bool, estimates: bool = True
) -> list[str]:
    """Return the answers of a section in at most `room` lines, preceded by its title if `named`.

    Unless `estimates`, only answers about pairs of models are returned.
    """
    answers = placed.answers() if estimates else [each for each in placed.answers() if each.compares]
    lines = wrapped(one_line(placed.remark), width)
    lines += wrapped(one_line(placed.title), width) if named else []
    sentences = [[_bare(one_line(text), placed) for text in each.sentences] for each in answers]
    return lines + _points(sentences, width, None if room is None else max(1, room - len(lines)))


def _bare(text: str, placed: StudySection) -> str:
    """Return a sentence without the hashes in model names, except in names that would then be ambiguous."""
    named = {name: _HASH.sub("", name) for name in models(placed.results)}
    for name, bare in named.items():
        if list(named.values()).count(bare) == 1:
            text = text.replace(name, bare)
    return text


def _points(answers: Sequence[Sequence[str]], width: int, room: int | None) -> list[str]:
    """Return the sentences of several answers as a list in at most `room` lines.

    If there is too little room, sentences are displayed up to their first colon or semicolon, up to their first
    interval, or further, as far as they fit; the first sentence of each answer takes precedence. Sentences that do not
    fit or would read like another one are only counted.
    """
    sentences = [text for answer in answers for text in answer]
    firsts = [number == 0 for answer in answers for number in range(len(answer))]
    points = [wrapped(text, width, "- ") for text in sentences]
    if room is None or sum(map(len, points)) <= room:
        return list(chain(*points))
    heads = [wrapped(f"{_CLAUSE.split(text)[0]} …", width, "- ") for text in sentences]
    told: list[list[str]] = [[] for _ in points]

    def fits(number: int, lines: list[str]) -> bool:
        after = [*told[:number], lines, *told[number + 1 :]]
        return sum(map(len, after)) + ([] in after) <= room or not any(told)

    for first in (True, False):
        ours = [number for number in range(len(points)) if firsts[number] is first]
        for number in ours:
            if heads[number] not in heads[:number] and fits(number, heads[number]):
                told[number] = heads[number]
        for number in ours:
            lines = _to_interval(points[number], heads[number], width)
            if lines not in told and fits(number, lines):
                told[number] = lines
    for number in sorted(range(len(points)), key=lambda number: not firsts[number]):
        for n in range(len(told[number]), len(points[number]) + 1):
            lines = _cut(points[number], n, heads[number], width)
            if told[number] and len(lines) >= len(told[number]) and fits(number, lines):
                told[number] = lines
    left_out = [f"- {counted(told.count([]), 'more answers')}, shown by --full"] if [] in told else []
    return [*chain(*told), *left_out]


def _to_interval(point: list[str], head: list[str], width: int) -> list[str]:
    """Return the lines up to the first interval, or `head` if there is none."""
    cuts = (_cut(point, n, head, width) for n in range(1, len(point) + 1))
    return next((lines for lines in cuts if "]" in " ".join(lines)), head)


def _cut(point: list[str], n: int, head: list[str], width: int) -> list[str]:
    """Return the first `n` lines of a point, cut after their last interval, with an ellipsis.

    Return all of a point that is not longer, and the shorter `head` if these lines have no interval.
    """
    if n >= len(point):
        return point
    lines = point[:n]
    while lines and ("]" not in lines[-1] or cell_len(_upto(lines[-1])) + 2 > width):
        lines.pop()
    return [*lines[:-1], f"{_upto(lines[-1])} …"] if lines else head


def _upto(line: str) -> str:
    """Return a line up to its last interval."""
    return line[: line.rindex("]") + 1]


def headline(table: ReportTable, width: int, room: int) -> list[str]:
    """Return the lines of a table, cut to `width` columns and `room` lines, or an empty list if no row fits.

    A value shared by all rows is given once. The columns listed in the table's `first` take precedence over other
    columns of numbers, and at most `ROWS` rows are displayed.
    """
    numeric = table.numeric
    every = range(len(table.columns))
    words = [i for i in every if not numeric[i]]
    same = [i for i in constant(table) if i in words]
    titles = [one_line(table.title), *(_shared(table, i) for i in same)]
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
    rows = [_lines([str(row.cells[i]) for i in shown], [widths[i] for i in shown]) for row in table.rows]
    title = wrapped("; ".join(titles), width)
    if (fit := _fitting(rows, room - len(title) - 1)) < len(rows):
        most = wrapped("; ".join([*titles, f"{ROWS} of {len(rows)} rows"]), width)
        fit = _fitting(rows, room - len(most) - 1)
        title = wrapped("; ".join([*titles, f"{fit} of {len(rows)} rows"]), width)
    if not fit:
        return []
    cells = [[table.columns[i] for i in shown], *chain(*rows[:fit])]
    head, _, *body = in_columns(cells, [numeric[i] for i in shown]).split("\n")
    return [*title, head, *body]


def _fitting(rows: Sequence[Sequence[object]], room: int) -> int:
    """Return how many of the first `ROWS` rows fit into `room` lines."""
    heights = list(accumulate(map(len, rows[:ROWS])))
    return sum(height <= room for height in heights)


def _shared(table: ReportTable, i: int) -> str:
    return f"{table.columns[i]}: {one_line(str(table.rows[0].cells[i]))}"


def _column(table: ReportTable, i: int) -> list[object]:
    return [table.columns[i], *(row.cells[i] for row in table.rows[:ROWS])]


def _wanted(table: ReportTable, words: Sequence[int]) -> list[int]:
    first = [table.columns.index(name) for name in table.first if name in table.columns]
    said = [i for i in range(len(table.columns)) if any(str(row.cells[i]) != "–" for row in table.rows)]
    return [i for i in dict.fromkeys([*first, *(i for i in said if i not in words)]) if i in said]


def _needed(table: ReportTable, wanted: Sequence[int]) -> list[int]:
    known = [any(isinstance(cell, Number) for cell in _column(table, i)) for i in wanted]
    return list(wanted[: known.index(True) + 1 if True in known else 1])


def _folded(table: ReportTable, widths: Sequence[int], shown: Sequence[int], width: int) -> list[int]:
    """Narrow the columns `shown`, widest first, until they fit into `width`; return the widths of all columns."""
    folded = list(widths)
    for i in sorted(shown, key=lambda i: -widths[i]):
        over = sum(folded[j] + _GAP for j in shown) - width
        least = min(folded[i], max(_NARROWEST, cell_len(one_line(table.columns[i]))))
        folded[i] = max(least, folded[i] - max(0, over))
    return folded


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    parts = [_filled(re.split(r"(?<=[-/@_:, ])", one_line(cell)), w) for cell, w in zip(cells, widths, strict=True)]
    return [list(line) for line in zip_longest(*parts, fillvalue="")]
