"""Tables, whose rows carry the signature of their numbers. Rendering only: every number comes from a result.

The terminal, the page, CSV and LaTeX all render the same Table, so that their numbers cannot differ.
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
from penchant.records import Result
from penchant.wording.phrases import Notes, in_words, notes_of, shape, together


@dataclass(frozen=True, slots=True)
class Number:
    """A number to show in the format `form`, followed by its interval and count `n` if there are any.

    `low` and `high` without a `value` show as a range; a number of `few` items shows as too few. `notes` are what a
    reader must know about the number; tables show them as a footnote. `star` follows the value, such as "*" for a
    significant one.
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
        """The notes in words."""
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


FEWEST = 5
"""The fewest items for which an estimate is shown with its interval, and a difference can be found."""
TOO_FEW = "too few"
"""The text shown for fewer items."""


def is_few(row: Mapping[str, Any]) -> bool:
    """Return whether an estimate has an interval, but too few items to show either."""
    return bool(row["n"] < FEWEST) and not math.isnan(row["low"])


def untold(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates without the p-values of too few items, from which nothing is concluded."""
    few = (pl.col("n") < FEWEST) & pl.col("low").is_not_nan()
    return frame.with_columns(pl.when(few).then(math.nan).otherwise(name).alias(name) for name in ("p", "p_holm"))


def shown(value: float, form: str) -> str:
    """Format a number, as in "+.2f", rounded as on paper (51.25 to 51.3); one that rounds to 0 has no minus sign."""
    if form.endswith("f") and math.isfinite(value):
        with localcontext(rounding=ROUND_HALF_UP):
            text = f"{Decimal(repr(float(value))):{form}}"
    else:
        text = f"{value:{form}}"
    return f"{0.0:{form}}" if text.startswith("-") and not text.strip("-0.") else text


def with_minus(text: str) -> str:
    """Return a text with a minus sign instead of a hyphen before digits."""
    return re.sub(r"-(?=\d)", "−", text)


DECIDES = 0.05
"""The largest p-value, adjusted if it is one of several, at which a difference counts as found."""


@dataclass(frozen=True, slots=True)
class P:
    """A p-value, shown to two digits, or to as many as distinguish it from .05; 0 shows as < 1e-300."""

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
class Row:
    """Cells in the order of the columns, and the signature of their numbers."""

    cells: tuple[Cell, ...]
    signature: str = ""


MANY = 3
"""The fewest notes differing only in their numbers for which one mark stands."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that every form of a report renders.

    `name` is short and fit for a file name, `title` says what the numbers are, `note` what a reader must know. A table
    of `detail` is collapsed in the page, and a terminal never shows it. `first` are columns of numbers that are shown
    before others if there is no room for all. `short` is the same table with fewer columns, for print beside the full
    one.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    detail: bool = False
    first: tuple[str, ...] = ()
    short: Table | None = None

    @property
    def numeric(self) -> list[bool]:
        """For each column, true if it holds more than text."""
        return [any(not isinstance(row.cells[i], str) for row in self.rows) for i in range(len(self.columns))]

    def footnotes(self) -> dict[str, str]:
        """Return the marks a, b, c … by note, in order of first appearance.

        Many notes that differ only in their numbers share a mark.
        """
        return {note: mark for mark, notes in self._notes() for note in notes}

    def below(self) -> list[tuple[str, str]]:
        """Return the marks with the texts that stand beside them below the table."""
        return [(mark, together(list(notes.values()))) for mark, notes in self._notes()]

    def _notes(self) -> list[tuple[str, dict[str, Notes]]]:
        """Return the marks with the notes that each stands for, by their words."""
        notes = {c.note: c.notes for row in self.rows for c in row.cells if isinstance(c, Number) and c.notes}
        alike: dict[object, dict[str, Notes]] = {}
        for words, each in notes.items():
            alike.setdefault(tuple(map(shape, each)), {})[words] = each
        kept = [group for group in alike.values() if len(group) >= MANY]
        whole = {words: group for group in kept for words in group}
        groups = (whole.get(words, {words: each}) for words, each in notes.items())
        return [(_mark(i), group) for i, group in enumerate({id(group): group for group in groups}.values())]

    def only(self, columns: Sequence[int]) -> Table:
        """Return the table with these columns, in this order."""
        rows = tuple(replace(row, cells=tuple(row.cells[i] for i in columns)) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in columns), rows=rows)

    def __str__(self) -> str:
        marks = self.footnotes()
        cells = [[marked(cell, marks) for cell in row.cells] for row in self.rows]
        text = in_columns([list(self.columns), *cells], self.numeric)
        notes = [self.note, *(f"{mark} {note}" for mark, note in self.below())]
        below = (line for note in notes for line in textwrap.wrap(one_line(note), 120))
        return "\n".join([one_line(self.title), text, *below])


def constant(table: Table) -> list[int]:
    """Return the columns of words, counts or nothing whose value is the same in all rows.

    A table keeps at least one column; a table of a single row keeps all.
    """
    every = range(len(table.columns))
    alike = [i for i in every if len(table.rows) > 1 and len({_shared_text(row.cells[i]) for row in table.rows}) == 1]
    same = [i for i in alike if _shared_text(table.rows[0].cells[i]) is not None]
    return same if len(same) < len(table.columns) else []


def _shared_text(cell: Cell) -> str | None:
    """Return the text of a cell if it can be said once for all rows; None for a measured number or one with a note."""
    if isinstance(cell, str | int):
        return str(cell)
    return str(cell) if str(cell) == "–" and not (isinstance(cell, Number) and cell.note) else None


def _mark(i: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[i] if i < 26 else _mark(i // 26 - 1) + letters[i % 26]


def marked(cell: Cell, marks: Mapping[str, str]) -> str:
    """Return a cell's text, followed by the mark of its note."""
    return f"{cell} {marks[cell.note]}" if isinstance(cell, Number) and cell.note else str(cell)


def estimate(row: Mapping[str, Any], form: str = ".2f", *, scale: float = 1, count: bool = False) -> Number:
    """Return the number of a row of a summary, multiplied by `scale`."""
    n = int(row["n"]) if count else None
    value, low, high = (scaled(row[key], scale) for key in ("value", "low", "high"))
    return Number(value, low, high, n, form, notes_of(row), few=int(row["n"]) if is_few(row) else 0)


def scaled(value: float, scale: float) -> float:
    """Multiply as on paper: 100 times 0.275 is 27.5, not 27.500000000000004."""
    return float(Decimal(repr(float(value))) * Decimal(repr(scale))) if math.isfinite(value) else scale * value


def models(results: Sequence[Result]) -> list[str]:
    """Return the names of the models, in order."""
    return [result.signature["model"] for result in results]


def aligned(frame: pl.DataFrame) -> str:
    """Return a frame as plain text in aligned columns, numbers to the right."""
    rows = [list(frame.columns), *([_cell(value) for value in row] for row in frame.iter_rows())]
    return in_columns(rows, [dtype.is_numeric() for dtype in frame.dtypes])


def in_columns(rows: list[list[str]], numeric: Sequence[bool]) -> str:
    """Align rows by the width of their characters in a terminal; every cell is one visible line."""
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
