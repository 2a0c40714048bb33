"""The finding of cloze valence in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.instruments.cloze.compare import difference
from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES
from penchant.records import Result
from penchant.report.finding import Shown, across, differences, measured, outside, sentences
from penchant.report.tables import models

_BETA = Shown("+.3f", "sentences")
_DELTA = Shown("+.3f", "sentences")


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Towards which variety each model leans over all sentences, which model suits the sentences better, and in which
    groups of sentences."""
    low, _, high = results[0].signature["scale"].partition(" < ")
    leaning = [
        text
        for model, result in zip(models(results), results, strict=True)
        if _rated(result)
        for text in _leaning(model, _whole(result.summary, MEASURES["beta"]), low, high)
    ]
    if comparison is None or not all(map(_rated, results)):
        return sentences("; ".join(leaning))
    return sentences("; ".join(leaning), *_compared(comparison))


def _rated(result: Result) -> bool:
    """Whether any word that the model predicts is rated; else β is 0 without anything having been measured."""
    return any(row["value"] > 0 for row in measured(_whole(result.summary, MEASURES["rated_mass"])))


def _whole(frame: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    """The rows over all sentences, which are those of the only group where there is one."""
    rows = frame.filter(pl.col("measure") == measure)
    whole = rows.filter(pl.col("group") == EVERYTHING)
    return (whole if len(whole) else rows).to_dicts()


def _leaning(model: str, rows: list[dict[str, Any]], low: str, high: str) -> list[str]:
    texts = []
    for row in measured(rows)[:1]:
        clear = outside(row)
        side = low if row["value"] < 0 else high
        leans = f"leans towards {side}" if clear else f"cannot be told to lean towards {low} or {high}"
        texts.append(f"{model} {leans} (mean β {_BETA.number(row)})")
    return texts


def _compared(comparison: pl.DataFrame) -> list[str]:
    measure = difference(MEASURES["delta"])
    overall = differences(_whole(comparison, measure), _DELTA, "suits the sentences better than", what="mean δ")
    by_group = comparison.filter((pl.col("measure") == measure) & (pl.col("group") != EVERYTHING))
    pairs = by_group["comparison"].unique().to_list()
    if len(pairs) != 1 or by_group["group"].n_unique() < 2:
        return [overall]
    rows = ((row["group"], row) for row in by_group.iter_rows(named=True))
    return [overall, across(rows, _DELTA, "groups", f"Difference of mean δ, {pairs[0]}")]
