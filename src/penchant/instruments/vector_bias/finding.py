"""What was found in words: in how many queries each measure tells a model's bias, or two models, apart. Every number
comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.vector_bias.compare import DIFFERENCE
from penchant.instruments.vector_bias.estimates import NAMES
from penchant.instruments.vector_bias.measures import UNION, Measure
from penchant.instruments.vector_bias.section import in_order
from penchant.records import Result
from penchant.report.finding import Shown, measured, sentences, told
from penchant.report.tables import models

_NULL: Mapping[Measure, tuple[float, str]] = {
    "rnd": (0, "0"),
    "rnsb": (0, "what random labels give"),
    "ect": (1, "what exchanged words give"),
    "ripa": (0, "0"),
}
"""What each measure that has a test is without bias, and what its test holds it against."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """One sentence for each model, and one for every two models."""
    texts = []
    for model, result in zip(models(results), results, strict=True):
        parts = [
            _counted(NAMES[measure], rows, *_NULL[measure])
            for measure, rows in in_order(result.summary, NAMES)
            if measure in _NULL
        ]
        texts.append(_joined(model, parts))
    if comparison is not None:
        for (pair,), rows in comparison.group_by("comparison", maintain_order=True):
            parts = [_counted(NAMES[measure], own, 0, "0") for measure, own in in_order(rows, DIFFERENCE)]
            texts.append(_joined(f"Differences, {pair}", parts))
    return sentences(*texts)


def _joined(what: str, parts: Sequence[str]) -> str:
    known = [part for part in parts if part]
    return f"{what}: {'; '.join(known)}" if known else ""


def _counted(name: str, frame: pl.DataFrame, null: float, apart: str) -> str:
    """In how many queries an estimate is told apart from `null`, by its interval and its test, and the clearest of
    them. The union of two sets of attributes is no query of its own."""
    rows = measured(frame.filter(pl.col("attributes") != UNION).iter_rows(named=True))
    if not rows:
        return ""
    clear = [row for row in rows if told(row, null)]
    queries = f"{len(rows)} {'query' if len(rows) == 1 else 'queries'}"
    if not clear:
        return f"{name} cannot be told apart from {apart} in any of {queries}"
    most = max(clear, key=lambda row: abs(row["value"] - null))
    where = f"{most['category']} with {most['attributes']}"
    return f"{name} is told apart from {apart} in {len(clear)} of {queries}, most in {where}: {_number(most)}"


def _number(row: Mapping[str, Any]) -> str:
    return Shown("+.2f", "words").number(row)
