"""What was found in words: in how many queries each measure tells a model's bias, or two models, apart. Every number
comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.vector_bias.compare import DIFFERENCE
from penchant.instruments.vector_bias.estimates import NAMES
from penchant.instruments.vector_bias.measures import UNION, Measure
from penchant.instruments.vector_bias.section import in_order
from penchant.records import Result
from penchant.report.finding import Shown, listed, measured, sentences, told
from penchant.report.tables import models

_NULL: Mapping[Measure, tuple[float, str]] = {
    "rnd": (0, "0"),
    "rnsb": (0, "what random labels give"),
    "ect": (1, "what exchanged words give"),
    "ripa": (0, "0"),
}
"""What each measure that has a test is without bias, and what its test holds it against."""
_SIDES = {NAMES["rnd"]: ("Y", "X"), NAMES["ripa"]: ("X", "Y")}
"""The targets that attributes are nearer to where a measure is above and below 0."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """One sentence for each model, and one for every two models."""
    texts = []
    for model, result in zip(models(results), results, strict=True):
        rows = in_order(result.summary, NAMES)
        tested = [(NAMES[measure], own, *_NULL[measure]) for measure, own in rows if measure in _NULL]
        texts.append(_told(model, tested, sides=True))
    if comparison is not None:
        for (pair,), rows_of_pair in comparison.group_by("comparison", maintain_order=True):
            gaps = [(NAMES[measure], own, 0.0, "0") for measure, own in in_order(rows_of_pair, DIFFERENCE)]
            texts.append(_told(f"Differences, {pair}", gaps))
    return sentences(*texts)


def _told(what: str, measures: Sequence[tuple[str, pl.DataFrame, float, str]], *, sides: bool = False) -> str:
    """In how many queries each measure is told apart from what it is without bias, by interval and test, and its
    clearest query, with the `sides` that it speaks for if it is of one model; then the measures that are told apart in
    none. The union of A and B is no query of its own."""
    clear_parts: list[str] = []
    unclear: dict[str, list[tuple[str, int]]] = {}
    for name, frame, null, apart in measures:
        rows = measured(frame.filter(pl.col("attributes") != UNION).iter_rows(named=True))
        clear = [row for row in rows if told(row, null)]
        if clear:
            most = max(clear, key=lambda row: abs(row["value"] - null))
            number = replace(_SHOWN, null=null).number(most)
            counted = f"in {len(clear)} of {_queries(len(rows))}, most in {_query(most)}: {number}"
            if sides:
                counted += _side(name, most)
            clear_parts.append(f"{name} is told apart from {apart} {counted}")
        elif rows:
            unclear.setdefault(apart, []).append((name, len(rows)))
    rest = [
        f"{listed([name for name, _ in group])} cannot be told apart from {apart} in any of "
        f"{_queries(sum(n for _, n in group))}"
        for apart, group in unclear.items()
    ]
    return f"{what}: {'; '.join([*clear_parts, *rest])}" if clear_parts or rest else ""


def _query(row: Mapping[str, Any]) -> str:
    """A category by its name and what it is about, with its attributes."""
    label = f" ({row['label']})" if row["label"] not in ("", row["category"]) else ""
    return f"{row['category']}{label} with {row['attributes']}"


def _side(name: str, row: Mapping[str, Any]) -> str:
    """Which targets the attributes are nearer to, where the measure tells."""
    if name not in _SIDES:
        return ", where 1 is no bias" if name == NAMES["ect"] else ""
    return f", nearer to {_SIDES[name][row['value'] < 0]}"


_SHOWN = Shown("+.2f", "words")


def _queries(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"
