"""The figure of groups of people: how far a model is from each. Rendering only: every number comes from the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.nearer import DISTANCE
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, Figure
from penchant.report.tables import models


def people_figures(results: Sequence[Result], told: str) -> list[Figure]:
    """The distances from groups of people, where there are any. `told`: what its caption says besides."""
    if not (results[0].summary["measure"] == DISTANCE).any():
        return []
    text = (
        "For each model, group of the templates and value the distance from each group of people with its interval: "
        "the mean over statements of |rating − the group's mean answer|, in points of the scale; “all” is over all "
        "statements. Whether two distances differ is not told by whether their intervals overlap: they are of the same "
        f"ratings, and the table has the interval and the test of each difference.{told}"
    )
    return [Figure("people", "Distance from groups of people", text, _panels(results), "nearer", "value")]


def _panels(results: Sequence[Result]) -> alt.VConcatChart:
    """One row of panels per model, one panel per group of the templates."""
    rows = []
    for model, result in zip(models(results), results, strict=True):
        chosen = (pl.col("measure") == DISTANCE) & (pl.col("variant") == result.items["variant"][0])
        own = result.summary.filter(chosen)
        panels = [_panel(part, str(group)) for (group,), part in own.group_by("group", maintain_order=True)]
        rows.append(alt.hconcat(*panels, title=model))
    return alt.vconcat(*rows)


def _panel(rows: pl.DataFrame, group: str) -> alt.LayerChart:
    people = rows["item"].unique(maintain_order=True).to_list()
    values = rows["dimension"].unique(maintain_order=True).to_list()
    values = [*(value for value in values if value == EVERYTHING), *(value for value in values if value != EVERYTHING)]
    drawn: list[dict[str, Any]] = [
        {"value": value, "people": item, "distance": distance, "low": low, "high": high, "n": n}
        for value, item, distance, low, high, n in rows.select(
            "dimension", "item", "value", "low", "high", "n"
        ).iter_rows()
    ]
    shades = alt.Scale(domain=people, range=[COLOURS[i % len(COLOURS)] for i in range(len(people))])
    base = alt.Chart(alt.InlineData(drawn)).encode(
        y=alt.Y("value:N", sort=values, title=None, axis=alt.Axis(labelLimit=220)),
        yOffset=alt.YOffset("people:N", sort=people),
        color=alt.Color("people:N", sort=people, scale=shades, title="people", legend=alt.Legend(labelLimit=360)),
    )
    spread = base.mark_rule(strokeWidth=2, aria=False).encode(x=_axis("low"), x2="high:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=_axis("distance"),
        tooltip=[
            "value:N",
            "people:N",
            alt.Tooltip("distance:Q", format=".2f"),
            alt.Tooltip("n:Q", title="statements"),
        ],
    )
    return alt.layer(spread, points).properties(width=300, height=len(values) * (14 * len(people) + 14), title=group)


def _axis(field: str) -> alt.X:
    """A field on the scale of distances, 0 to 4."""
    return alt.X(f"{field}:Q", title="distance", scale=alt.Scale(domain=[0, 4], nice=False))
