"""Declarative headline: the rows of a summary or comparison that answer an instrument's question."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from penchant.records import SIDES
from penchant.views.rows import FIRST, At, RowSource

ALL = "all"
"""The level of rows that summarise all levels of a column."""
NUMBERS = ("value", "low", "high", "n")


@dataclass(frozen=True, slots=True)
class Headline:
    """Rows of a summary (`of`) and of a comparison (`compared`) that answer an instrument's question.

    Rows of the first measure are selected by default. If a column contains the level "all", only rows with that level
    are used.
    """

    of: At = field(default_factory=lambda: At(measure=FIRST))
    compared: At = field(default_factory=lambda: At(measure=FIRST))

    def table(self, frame: pl.DataFrame, model: str = "") -> pl.DataFrame:
        """Return the selected rows, with their models, unspecified levels, measure, value, low, high and n.

        `model` is the model of a summary, or "" for a comparison.
        """
        at = self.of if model else self.compared
        source = RowSource(model, frame)
        chosen = pl.DataFrame([dict(line.row) for line in source.only(at)], frame.schema)
        named = [name for name in source.names if name != "measure" and not isinstance(at.levels.get(name), str)]
        shown = []
        for name in named:
            whole = chosen[name].is_in([ALL])
            if whole.any():
                chosen = chosen.filter(whole)
            elif name not in at.firsts and not chosen[name].is_in([""]).all():
                shown.append(name)
        first = [pl.lit(model).alias("model")] if model else list(SIDES)
        return chosen.select(*first, *shown, "measure", *NUMBERS)
