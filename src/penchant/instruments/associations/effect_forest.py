"""The figure of effect sizes: a row per category, and beside each interval the words that move the effect size most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.associations.influence import influences
from penchant.instruments.associations.view_rows import HEADLINE, levels, named, rows_of, shown_at
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, INK
from penchant.report.lazy_altair import alt, inline
from penchant.views.interval_figures import SHAPES
from penchant.views.row_selection import At, Line, RowSource, sources, together
from penchant.wording.templates import Text

_WIDTH, _MARGIN = 610, 155
"""Pixels of the plot, and of the space for words on each side of its intervals."""
_HEAD = 16
"""Pixels above the marks of a category, for its name."""
_LANE, _NARROW = 15, 8
"""Height in pixels of a mark with words, and of one without."""
_MOST = 24
"""The maximum number of marks with words."""
_WORDS = 2
"""The maximum number of words on each side."""


def effects(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of effect sizes with intervals, or None if no effect size is known.

    On each side of an interval are the words that move the effect size to that side.
    """
    shown = _by_layer(sources(results))
    lines = list(together([source for source, _ in shown], At(measure=HEADLINE)))
    if not lines:
        return None
    words = {(source.model, *place): sides for source, layer in shown for place, sides in _moving(source, layer)}
    rows = [_row(line, words.get((line.model, line["category"]), ("", ""))) for line in lines]
    names = [source.model for source, _ in shown]
    return _chart(rows, list(dict.fromkeys(names)), text.get("figures", "effects", "axis"))


def _by_layer(found: Sequence[RowSource]) -> list[tuple[RowSource, str]]:
    """Return the rows with a value, split into one source per model and layer, each with its layer.

    If there are several layers, the sources are named after model and layer.
    """
    several = len(levels(rows_of(found, *HEADLINE), "layer")) > 1
    return [
        (replace(source, model=f"{source.model}, layer {layer}" if several else source.model, frame=part), str(layer))
        for source in shown_at("context", "sampling", "samples")(found)
        for (layer,), part in source.frame.filter(pl.col("value").is_not_nan()).group_by("layer", maintain_order=True)
    ]


def _moving(source: RowSource, layer: str) -> Iterator[tuple[tuple[str], tuple[str, str]]]:
    """Yield each category with the words that most lower its effect size at a layer, and those that most raise it."""
    assert source.result is not None
    for part in influences(source.result, "context", "sampling", "samples"):
        if part["layer"][0] == layer:
            higher, lower = pl.col("without") > pl.col("d"), pl.col("without") < pl.col("d")
            left, right = (part.filter(side).head(_WORDS)["stimulus"].to_list() for side in (higher, lower))
            yield (part["category"][0],), (", ".join(left), ", ".join(right))


def _row(line: Line, words: tuple[str, str]) -> dict[str, Any]:
    label = named(line["category"], line["label"])
    numbers = {key: None if line[key] != line[key] else line[key] for key in ("value", "low", "high")}
    ends = {"from": numbers["low"], "to": numbers["high"]}
    placed = {end: numbers["value"] if at is None else at for end, at in ends.items()}
    sides = dict(zip(("left", "right"), words, strict=True))
    return {"category": label, "row": label, "model": line.model, **numbers, **placed, **sides, "n": line["n"]}


def _chart(rows: list[dict[str, Any]], names: Sequence[str], axis: str) -> alt.LayerChart:
    worded = len(rows) <= _MOST
    order = list(dict.fromkeys(row["row"] for row in rows))
    step = _HEAD + len(names) * (_LANE if worded else _NARROW)
    share = _HEAD / step
    y = alt.Y("row:N", sort=order, axis=None, scale=alt.Scale(paddingInner=share, paddingOuter=share / 2, align=1))
    low, high = ends(rows)
    ticks = [low + i / 2 for i in range(round(2 * (high - low)) + 1)]
    scale = alt.Scale(domain=[low, high], nice=False, padding=_MARGIN if worded else 0)
    x = alt.X("value:Q", scale=scale, title=axis, axis=alt.Axis(values=ticks, format=".1f"))
    heads = alt.Chart(inline([{"row": row} for row in order])).mark_text(
        align="left", baseline="bottom", dy=-1, fontWeight="bold", color=INK, limit=_WIDTH, aria=False
    )
    nought = alt.Chart(inline([{"value": 0}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False)
    layers = [
        nought.encode(x=x),
        heads.encode(x=alt.value(0), y=alt.Y("row:N", sort=order, axis=None, bandPosition=0), text=alt.Text("row:N")),
        *_marks(rows, names, x, y),
        *(_beside(rows, names, side, y) for side in ("left", "right") if worded),
    ]
    return alt.layer(*layers).properties(width=_WIDTH, height=step * len(order))


def ends(rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the ends of an axis that covers the intervals of all rows and 0, rounded outwards to halves."""
    low, high = min(0.0, *(row["from"] for row in rows)), max(0.0, *(row["to"] for row in rows))
    return math.floor(2 * low) / 2, math.ceil(2 * high) / 2 or 0.5


def _marks(rows: list[dict[str, Any]], names: Sequence[str], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    legend = alt.Legend(orient="top", columns=1, title=None, labelLimit=420) if len(names) > 1 else None
    colours, shapes = (
        alt.Scale(domain=list(names), range=[kinds[i % len(kinds)] for i in range(len(names))])
        for kinds in (COLOURS, SHAPES)
    )
    base = alt.Chart(inline(rows)).encode(
        y=y,
        yOffset=alt.YOffset("model:N", sort=list(names)),
        color=alt.Color("model:N", sort=list(names), scale=colours, legend=legend),
    )
    told = [
        alt.Tooltip(f"{field}:Q", title=title, format="+.2f")
        for field, title in (("value", "value"), ("low", "from"), ("high", "to"))
    ]
    return [
        base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=50, opacity=1).encode(
            x=x,
            shape=alt.Shape("model:N", sort=list(names), scale=shapes, legend=legend),
            tooltip=[alt.Tooltip("row:N"), alt.Tooltip("model:N"), *told, alt.Tooltip("n:Q")],
        ),
    ]


def _beside(rows: list[dict[str, Any]], names: Sequence[str], side: str, y: alt.Y) -> alt.Chart:
    """Return a chart layer with the words on one side of the intervals."""
    end, align, gap = ("from", "right", -7) if side == "left" else ("to", "left", 7)
    return (
        alt.Chart(inline(rows))
        .mark_text(align=align, dx=gap, fontSize=10, color=INK, limit=_MARGIN - 10, aria=False)
        .encode(x=alt.X(f"{end}:Q"), y=y, yOffset=alt.YOffset("model:N", sort=list(names)), text=alt.Text(f"{side}:N"))
    )
