"""The table of the stimuli of an association test: one row a stimulus, with its association."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.associations.estimates import (
    Cell,
    Stimuli,
    towards,
    without,
)
from penchant.instruments.associations.sampled_effects import Name
from penchant.instruments.associations.settings import AssociationSettings

ITEM = ("category", "label", "layer", "context")


@dataclass(frozen=True, slots=True)
class Filled:
    """A cell with the stimuli of its rows (`down`) and columns (`across`), each as (side, word, text)."""

    cell: Cell
    down: Sequence[tuple[str, str, str]]
    across: Sequence[tuple[str, str, str]]

    def items(self, settings: AssociationSettings) -> Iterator[dict[str, Any]]:
        """One row per stimulus: its association, the effect size without it, and a target's cosines with A, then B."""
        mean = np.asarray(self.cell.tables).mean(axis=0)
        for stimuli, values, left_out, table in (
            (self.down, *_both(self.cell, settings, 0), mean),
            (self.across, *_both(self.cell, settings, 1), None),
        ):
            for i, (side, word, text) in enumerate(stimuli):
                yield {
                    **self.cell.by,
                    "side": side,
                    "word": word,
                    "text": text,
                    "association": float(values[i]),
                    "without": None if np.isnan(left_out[i]) else float(left_out[i]),
                    "cosines": None if table is None else table[i].tolist(),
                }


def _both(cell: Cell, settings: AssociationSettings, axis: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return towards(cell)[axis], without(cell, settings)[axis]


def items_table(rows: Iterable[Mapping[str, Any]], factors: Sequence[str] = ITEM, **more: Any) -> pl.DataFrame:
    """The table of items, with an id made of the columns that identify a row. `more` are further columns and types."""
    schema: dict[str, Any] = {
        **dict.fromkeys(("id", *factors, "side", "word", "text"), pl.String),
        "association": pl.Float64,
        "without": pl.Float64,
        "cosines": pl.List(pl.Float32),
        **more,
    }
    keys = [key for key in (*factors, "side", "word", "text") if key != "label"]
    return pl.DataFrame([{**row, "id": " ".join(filter(None, (row[key] for key in keys)))} for row in rows], schema)


def table_items(
    tables: Iterable[tuple[Mapping[str, str], Stimuli, Filled | None]], settings: AssociationSettings
) -> pl.DataFrame:
    """One row per stimulus (or sentence) of every table."""
    return items_table([row for _, _, filled in tables if filled for row in filled.items(settings)])


def stimulus_names(part: Iterable[tuple[str, str]], unit_of_test: str) -> list[Name]:
    """What tells the stimuli of a set apart, each given as word and sentence: the word where the unit is "word", else
    word and sentence, with a number where the same stand there again."""
    seen: Counter[tuple[str, str]] = Counter()
    names: list[Name] = []
    for key in part:
        names.append(key[0] if unit_of_test == "word" else (*key, seen[key]))
        seen[key] += 1
    return names
