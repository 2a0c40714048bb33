"""Report tables, whose rows carry the signatures of their numbers.

All output formats render the same `ReportTable`, so that their numbers agree.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, TypeAlias

import polars as pl
from rich.cells import cell_len

from penchant.errors import one_line
from penchant.records import BaseResult
from penchant.stats.inputs import FEWEST, SMALL_SIDE
from penchant.wording.phrases import Notes, in_words, notes_of, shape, together


@dataclass(frozen=True, slots=True)
class Number:
    """A number displayed in the format `form`, followed by its interval and its number of items `n`, if any.

    If `few` is not zero, "too few" and the number of items `few` are displayed instead. `notes` are displayed as
    footnotes, and `star` is text after the value, such as "*" for a significant value. `low` and `high` may be given
    without a `value`.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int | None = None
    form: str = ".2f"
    notes: Notes = ()
    star: str = ""
    few: int = 0

    @property
    def note(self) -> str:
        """Text of `notes`, separated by semicolons."""
        return in_words(self.notes)

    def __str__(self) -> str:
        if self.few:
            return f"{TOO_FEW} ({self.few})"
        parts = [] if math.isnan(self.value) else [f"{shown(self.value, self.form)}{self.star}"]
        if not math.isnan(self.low):
            parts.append(f"[{shown(self.low, self.form)}, {shown(self.high, self.form)}]")
        if self.n is not None:
            parts.append(f"({self.n})")
        return " ".join(parts or "–")


TOO_FEW = "too few"
"""The text displayed if there are fewer than `FEWEST` items."""


def fewest(row: Mapping[str, Any]) -> int:
    """Return the number of items of an estimate, or of a difference's smaller side if that side has too few items."""
    return min([int(row["n"]), *(int(note.params["n"]) for note in notes_of(row) if note.code == SMALL_SIDE)])


def is_few(row: Mapping[str, Any]) -> bool:
    """Return whether an estimate has an interval but fewer than `FEWEST` items.

    A difference also has too few items if only one of its sides does.
    """
    return fewest(row) < FEWEST and not math.isnan(row["low"])


def untold(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table in which the p-values of estimates with too few items are NaN."""
    small = pl.col("notes").str.contains(SMALL_SIDE, literal=True).fill_null(False)
    few = ((pl.col("n") < FEWEST) | small) & pl.col("low").is_not_nan()
    return frame.with_columns(pl.when(few).then(math.nan).otherwise(name).alias(name) for name in ("p", "p_holm"))


def shown(value: float, form: str) -> str:
    """Format a number, rounding ties away from zero (51.25 to 51.3) and omitting the minus sign of zero."""
    if form.endswith("f") and math.isfinite(value):
        with localcontext(rounding=ROUND_HALF_UP):
            text = f"{Decimal(repr(float(value))):{form}}"
    else:
        text = f"{value:{form}}"
    return f"{0.0:{form}}" if text.startswith("-") and not text.strip("-0.") else text


def with_minus(text: str) -> str:
    """Replace hyphens before digits with minus signs."""
    return re.sub(r"-(?=\d)", "−", text)


DECIDES = 0.05
"""The significance level for p-values adjusted for multiple tests."""


@dataclass(frozen=True, slots=True)
class P:
    """A p-value, displayed with two significant digits, or more if close to .05; 0 is displayed as < 1e-300."""

    value: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "–"
        if self.value <= 0:
            return "< 1e-300"
        texts = (f"{self.value:.{digits}g}" for digits in range(2, 18))
        return next(text for text in texts if (float(text) <= DECIDES) == (self.value <= DECIDES))


Cell: TypeAlias = str | int | Number | P


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A table row: its cells in column order, and the signature of their numbers."""

    cells: tuple[Cell, ...]
    signature: str = ""


MANY = 3
"""The minimum number of notes that share a mark if they differ only in their numbers."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table that can be rendered in every format of a report.

    `name` is short and suitable for a file name. A table with `detail` is collapsed on the page and not shown in a
    terminal. `first` lists the numeric columns that take precedence if space is short. `short` is a version with fewer
    columns, which the LaTeX export writes in addition to the full table.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    note: str = ""
    detail: bool = False
    first: tuple[str, ...] = ()
    short: ReportTable | None = None

    @property
    def numeric(self) -> list[bool]:
        """For each column, true if any of its cells is not a string."""
        return [any(not isinstance(row.cells[i], str) for row in self.rows) for i in range(len(self.columns))]

    def footnotes(self) -> dict[str, str]:
        """Return the mark of each note: a, b, c … in order of first appearance.

        Notes that differ only in their numbers share a mark if there are at least `MANY` of them.
        """
        return {note: mark for mark, notes in self._notes() for note in notes}

    def below(self) -> list[tuple[str, str]]:
        """Return the mark and the text of each footnote below the table."""
        return [(mark, together(list(notes.values()))) for mark, notes in self._notes()]

    def _notes(self) -> list[tuple[str, dict[str, Notes]]]:
        notes = {c.note: c.notes for row in self.rows for c in row.cells if isinstance(c, Number) and c.notes}
        alike: dict[object, dict[str, Notes]] = {}
        for words, each in notes.items():
            alike.setdefault(tuple(map(shape, each)), {})[words] = each
        kept = [group for group in alike.values() if len(group) >= MANY]
        whole = {words: group for group in kept for words in group}
        groups = (whole.get(words, {words: each}) for words, each in notes.items())
        return [(_mark(i), group) for i, group in enumerate({id(group): group for group in groups}.values())]

    def only(self, columns: Sequence[int]) -> ReportTable:
        """Return the table with the columns at the given indices, in that order."""
        rows = tuple(replace(row, cells=tuple(row.cells[i] for i in columns)) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in columns), rows=rows)

    def __str__(self) -> str:
        marks = self.footnotes()
        cells = [[marked(cell, marks) for cell in row.cells] for row in self.rows]
        text = in_columns([list(self.columns), *cells], self.numeric)
        notes = [self.note, *(f"{mark} {note}" for mark, note in self.below())]
        below = (line for note in notes for line in textwrap.wrap(one_line(note), 120))
        return "\n".join([one_line(self.title), text, *below])


def constant(table: ReportTable) -> list[int]:
    """Return the indices of columns that have the same value in all rows and contain no estimates or p-values.

    The result is empty for a table with a single row, or if all columns would be included.
    """
    every = range(len(table.columns))
    alike = [i for i in every if len(table.rows) > 1 and len({_shared_text(row.cells[i]) for row in table.rows}) == 1]
    same = [i for i in alike if _shared_text(table.rows[0].cells[i]) is not None]
    return same if len(same) < len(table.columns) else []


def _shared_text(cell: Cell) -> str | None:
    """Return a cell's text for comparison between rows, or None for an estimate, a p-value or a cell with a note."""
    if isinstance(cell, str | int):
        return str(cell)
    return str(cell) if str(cell) == "–" and not (isinstance(cell, Number) and cell.note) else None


def _mark(i: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[i] if i < 26 else _mark(i // 26 - 1) + letters[i % 26]


def marked(cell: Cell, marks: Mapping[str, str]) -> str:
    """Return a cell as text, followed by the mark of its footnote, if any."""
    return f"{cell} {marks[cell.note]}" if isinstance(cell, Number) and cell.note else str(cell)


def estimate(row: Mapping[str, Any], form: str = ".2f", *, scale: float = 1, count: bool = False) -> Number:
    """Return the estimate in a summary row for display, multiplied by `scale`, with its number of items if `count`."""
    n = int(row["n"]) if count else None
    value, low, high = (scaled(row[key], scale) for key in ("value", "low", "high"))
    return Number(value, low, high, n, form, notes_of(row), few=fewest(row) if is_few(row) else 0)


def scaled(value: float, scale: float) -> float:
    """Multiply in decimal arithmetic: 100 times 0.275 is 27.5, not 27.500000000000004."""
    return float(Decimal(repr(float(value))) * Decimal(repr(scale))) if math.isfinite(value) else scale * value


def models(results: Sequence[BaseResult]) -> list[str]:
    """Return the model name of each result, in the order of the results."""
    return [result.signature["model"] for result in results]


def aligned(frame: pl.DataFrame) -> str:
    """Return a data frame as plain text, with numeric columns aligned to the right."""
    rows = [list(frame.columns), *([_cell(value) for value in row] for row in frame.iter_rows())]
    return in_columns(rows, [dtype.is_numeric() for dtype in frame.dtypes])


def in_columns(rows: list[list[str]], numeric: Sequence[bool]) -> str:
    """Return rows as text in aligned columns, allowing for double-width characters; each row is one line."""
    flat = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(cell_len(row[i]) for row in flat) for i in range(len(rows[0]))]
    lines = []
    for row in flat:
        padded = ((cell, " " * (width - cell_len(cell))) for cell, width in zip(row, widths, strict=True))
        cells = (gap + cell if right else cell + gap for (cell, gap), right in zip(padded, numeric, strict=True))
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
