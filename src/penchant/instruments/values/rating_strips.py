"""The figure of ratings: a strip for each value, with people's answers behind the ratings of the models."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import polars as pl

from penchant.instruments.values.against_survey import SURVEY_QUANTILE
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW, MIDDLE
from penchant.instruments.values.estimates import MEAN
from penchant.instruments.values.result_facts import is_synthetic
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, INK
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import models
from penchant.views.row_selection import FIRST, At, but, sources
from penchant.wording.templates import Text

_WIDTH = 290
_NAME = 18
"""Pixels above a strip, for the name of its value."""
_LANE, _NARROW = 22, 12
"""Pixels of a strip for each model, with the name of the model and without."""
_MOST, _LONGEST = 20, 28
"""The maximum number of ratings in a panel and of letters in a name for which models are named at their marks."""

Axis: TypeAlias = "Callable[[str], alt.X]"
"""A function that returns the x encoding of a field on the scale of ratings."""


def ratings(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart with a panel per group and a strip per value, in which each model has a mark with its interval.

    Models are named at the marks of the first strip or, where names are long or marks many, in a legend.
    """
    names, items = models(results), every_item(results)
    values = items.filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list()
    groups = items["group"].unique(maintain_order=True).to_list()
    named = max(map(len, names)) <= _LONGEST and len(names) * len(values) <= _MOST
    x = _axis(text.below("figures", "ratings"))
    panels = [_panel(results, group, values, x, direct=named, first=group == groups[0]) for group in groups]
    return alt.concat(*panels, columns=2, spacing={"row": 14, "column": 28})


def _axis(text: Text) -> Axis:
    """Return a function that encodes a field as x position on the rating scale, whose ends `text` names."""
    ends = (
        f"{json.dumps(text.get('ends', 'low'))} : datum.value == {HIGH} ? {json.dumps(text.get('ends', 'high'))} : ''"
    )
    label = f"[datum.label, datum.value == {LOW} ? {ends}]"
    axis = alt.Axis(values=list(range(int(LOW), int(HIGH) + 1)), format="d", labelExpr=label, title=None)
    scale = alt.Scale(domain=[LOW, HIGH], zero=False, nice=False)
    return lambda field: alt.X(f"{field}:Q", axis=axis, scale=scale)


def _panel(
    results: Sequence[BaseResult], group: str, values: Sequence[str], x: Axis, *, direct: bool, first: bool
) -> alt.LayerChart:
    names, rows = models(results), _mean_ratings(results, group)
    step = _NAME + (_LANE if direct else _NARROW) * len(names)
    share = _NAME / step
    y = alt.Y(
        "value:N", sort=list(values), axis=None, scale=alt.Scale(paddingInner=share, paddingOuter=share / 2, align=1)
    )
    strips = alt.Chart(inline([{"value": value, "x": LOW, "to": HIGH} for value in values])).encode(y=y)
    title = alt.Y("value:N", sort=list(values), axis=None, bandPosition=0)
    layers = [
        strips.mark_bar(color=FAINT, opacity=0.08, aria=False).encode(x=x("x"), x2=alt.X2("to:Q")),
        *_people(results[0], group, y, x),
        _rule(x, MIDDLE),
        strips.mark_text(align="left", baseline="bottom", dy=-4, fontWeight="bold", color=INK, aria=False).encode(
            x=alt.value(0), y=title, text=alt.Text("value:N")
        ),
        *_marks(rows, names, y, x, legend=not direct),
    ]
    labelled = [row for row in rows if direct and first and row["value"] == values[0]]
    layers += _labels(labelled, names, y, x)
    return alt.layer(*layers).properties(width=_WIDTH, height=step * len(values), title=group)


def _rule(x: Axis, at: float) -> alt.Chart:
    return alt.Chart(inline([{"x": at}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x=x("x"))


def _marks(rows: list[dict[str, Any]], names: Sequence[str], y: alt.Y, x: Axis, *, legend: bool) -> list[alt.Chart]:
    shades = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    shown = alt.Legend(orient="bottom", columns=1, labelLimit=360, title=None) if legend else None
    base = alt.Chart(inline(rows)).encode(
        y=y,
        yOffset=alt.YOffset("model:N", sort=list(names)),
        color=alt.Color("model:N", sort=list(names), scale=shades, legend=shown),
    )
    spread = base.mark_rule(strokeWidth=2, aria=False).encode(x=x("low"), x2=alt.X2("high:Q"))
    told = [alt.Tooltip("x:Q", title="rating", format=".2f"), alt.Tooltip("n:Q", title="statements")]
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x("x"), tooltip=[alt.Tooltip("value:N"), alt.Tooltip("model:N"), *told]
    )
    return [spread, points]


def _labels(rows: list[dict[str, Any]], names: Sequence[str], y: alt.Y, x: Axis) -> list[alt.Chart]:
    """Return charts that write the names of models above their marks, within the panel."""
    sides = {"left": (LOW, LOW + 1), "center": (LOW + 1, HIGH - 1), "right": (HIGH - 1, HIGH + 1)}
    return [
        alt.Chart(inline(near))
        .mark_text(align=side, dy=-9, fontSize=10, color=INK, aria=False)
        .encode(x=x("x"), y=y, yOffset=alt.YOffset("model:N", sort=list(names)), text=alt.Text("model:N"))
        for side, (low, high) in sides.items()
        if (near := [row for row in rows if low <= row["x"] < high])
    ]


def _mean_ratings(results: Sequence[BaseResult], group: str) -> list[dict[str, Any]]:
    at = At(measure=MEAN, variant=FIRST, group=group, dimension=but(EVERYTHING))
    return [
        {
            "value": line["dimension"],
            "model": source.model,
            "x": line["value"],
            **{key: line[key] for key in ("low", "high", "n")},
        }
        for source in sources(results)
        for line in source.only(at)
    ]


def _people(result: BaseResult, group: str, y: alt.Y, x: Axis) -> list[alt.Chart]:
    """Return bars for the middle 90 % and the middle 50 % of respondents, and a tick at the median.

    The list is empty if there is no survey or its answers are made up.

    A respondent's answer to a value is a mean over its statements, which lies between the points of the scale.
    Quantiles therefore describe these means better than shares of each point, and they can be weighted.
    """
    people = result.summary.filter((pl.col("measure") == SURVEY_QUANTILE) & (pl.col("group") == group))
    if not len(people) or is_synthetic(result):
        return []
    wide = people.pivot("item", index="dimension", values="value").select("dimension", "5%", "25%", "50%", "75%", "95%")
    rows = [dict(zip(("value", "p5", "p25", "x", "p75", "p95"), row, strict=True)) for row in wide.iter_rows()]
    base = alt.Chart(inline(rows)).encode(y=y)
    return [
        base.mark_bar(color=FAINT, opacity=opacity, aria=False).encode(x=x(low), x2=alt.X2(f"{high}:Q"))
        for low, high, opacity in (("p5", "p95", 0.25), ("p25", "p75", 0.4))
    ] + [base.mark_tick(color=INK, thickness=2, bandSize=0, aria=False).encode(x=x("x"))]
