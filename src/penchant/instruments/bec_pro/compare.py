"""Comparison of two models on the same sentences."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.bec_pro.estimates import BETWEEN, GAP, tam_estimates
from penchant.instruments.bec_pro.settings import BecProSettings
from penchant.records import Result, summary_table

GAP_DIFFERENCE, BETWEEN_DIFFERENCE = f"difference of {GAP}", f"difference of {BETWEEN}"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Contrasts of genders of a minus those of b, by group and template, and their differences between groups: the same
    estimates of the differences of associations, sentence by sentence.

    Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
    """
    require_comparable(a, b, free={"model", "dtype"}, items=["id", "sentence"])
    settings = BecProSettings.of(a.settings)
    items = a.items.with_columns((a.items["association"] - b.items["association"]).alias("association"))
    pair = f"{a.signature['model']} − {b.signature['model']}"
    signature = difference_signature(a, b)
    return summary_table(
        (replace(each, measure=f"difference of {each.measure}", by={"comparison": pair, **each.by}), signature)
        for each in tam_estimates(items, settings)
        if each.measure in (GAP, BETWEEN)
    )
