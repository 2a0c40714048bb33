"""Declarative headline: the rows of a summary or comparison that answer an instrument's question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from penchant.records import SIDES
from penchant.views.row_selection import FIRST, At, Line, RowSource

ALL = "all"
"""The level of rows that summarise all levels of a column."""
NUMBERS = ("value", "low", "high", "n")


@dataclass(frozen=True, slots=True)
class Headline:
    """Rows of a summary (`of`) and of a comparison (`compared`) that answer an instrument's question.

    Rows of the first measure are selected by default. If a column contains the level "all", only rows with that level
    are used. `instead` returns a row that replaces the given row, or None to keep it.
    """

    of: At = field(default_factory=lambda: At(measure=FIRST))
    compared: At = field(default_factory=lambda: At(measure=FIRST))
    instead: Callable[[Line], Line | None] = lambda line: None

    def table(self, frame: pl.DataFrame, model: str = "") -> pl.DataFrame:
        """Return the selected rows with model, levels that the selection leaves open, measure, value, low, high and n.

        `model` is the model of a summary, or "" for a comparison.
        """
        rows, shown = self._selected(frame, model)
        first = [pl.lit(model).alias("model")] if model else list(SIDES)
        return frame[rows].select(*first, *shown, "measure", *NUMBERS)

    def rows(self, frame: pl.DataFrame, model: str = "") -> list[int]:
        """Return the indices of the selected rows."""
        return self._selected(frame, model)[0]

    def _selected(self, frame: pl.DataFrame, model: str) -> tuple[list[int], list[str]]:
        at = self.of if model else self.compared
        source = RowSource(model, frame)
        chosen, shown = source.only(at), []
        for name in source.names:
            if name == "measure" or isinstance(at.levels.get(name), str):
                continue
            whole = [line for line in chosen if line[name] == ALL]
            if whole:
                chosen = whole
            elif name not in at.firsts and any(line[name] != "" for line in chosen):
                shown.append(name)
        numbers = {id(line): number for number, line in enumerate(source.lines)}
        return [numbers[id(self.instead(line) or line)] for line in chosen], shown
