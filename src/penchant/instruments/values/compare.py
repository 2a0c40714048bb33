"""Comparison of two models on the same value statements."""

from __future__ import annotations

import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.values.cells import Cells
from penchant.instruments.values.estimates import adjusted, reasoned
from penchant.instruments.values.paired import compared_values
from penchant.instruments.values.settings import ValuesSettings
from penchant.records import Estimate, Result, summary_table


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Ratings of a minus those of b on the same statements, by wording, group and value.

    With a t interval and a t test over statements and the calibration, and Holm's adjustment over the values and groups
    of the main wording, and over those of the other wordings together. Raises StudyError for results that cannot be
    compared, naming what differs.
    """
    require_comparable(
        a,
        b,
        free={"model", "bos", "dtype"},
        items=["id", "kind", "variant", "group", "sentence_agree", "sentence_disagree"],
    )
    settings = ValuesSettings.of(a.settings)
    first, second = Cells(a.items, settings), Cells(b.items, settings)
    pair = f"{a.signature['model']} − {b.signature['model']}"
    rows: list[Estimate] = []
    for key, cell in first.cells.items():
        by = {"comparison": pair, "variant": cell.variant, "group": cell.group, "item": ""}
        rows += compared_values(first, cell, second.cells[key], by)
    signature = difference_signature(a, b)
    return summary_table((reasoned(row), signature) for row in adjusted(rows, first.variants[0]))
