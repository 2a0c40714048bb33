"""Figures of the measures and of ranks. Rendering only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.instruments.vector_bias.estimates import NAMES
from penchant.instruments.vector_bias.measures import UNION
from penchant.instruments.vector_bias.ranks import mean_ranks
from penchant.instruments.vector_bias.section import in_order
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.tables import models

_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_WITHOUT_BIAS = {"rnd": 0, "rnsb": 0, "mac": 1, "ect": 1, "ripa": 0}
"""What each measure is without bias: where its panel has a dashed line."""
_UNITS = {
    "rnd": "difference of distances",
    "rnsb": "divergence, nats",
    "mac": "cosine distance",
    "ect": "Spearman's ρ",
    "ripa": "inner product",
}
"""What the axis of each panel is."""
_WIDTH = 250


def figures(results: Sequence[Result]) -> list[Figure]:
    """A panel for each measure, and the mean ranks of several models."""
    who = models(results)
    frames = [result.summary.with_columns(pl.lit(m).alias("who")) for m, result in zip(who, results, strict=True)]
    whole = pl.concat(frames).filter(pl.col("value").is_not_nan() & (pl.col("attributes") != UNION))
    drawn = []
    if len(whole):
        panels = [_panel(measure, NAMES[measure], rows, who) for measure, rows in in_order(whole, NAMES)]
        text = (
            "A panel for each measure, a row for each category with the attributes A or B: for each model the value "
            "with its interval. The dashed line is where there is no bias: 0 of RND, RNSB and RIPA, 1 of MAC and ECT."
        )
        chart = alt.concat(*panels, columns=2).resolve_legend(color="shared", shape="shared")
        numbers = next(measure for measure, _ in in_order(whole, NAMES))
        drawn.append(Figure("measures", "Bias by measure and category", text, chart, numbers, "category"))
    return [*drawn, *_ranks(results)]


def _marks(who: Sequence[str]) -> dict[str, Any]:
    """Colour and shape, which tell models apart."""
    shades = [COLOURS[i % len(COLOURS)] for i in range(len(who))]
    shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(who))]
    legend = alt.Legend(orient="top", direction="vertical", labelLimit=420, title=None, symbolOpacity=1)
    return {
        "color": alt.Color("model:N", sort=list(who), scale=alt.Scale(domain=list(who), range=shades), legend=legend),
        "shape": alt.Shape("model:N", sort=list(who), scale=alt.Scale(domain=list(who), range=shapes), legend=legend),
    }


def _panel(measure: str, name: str, frame: pl.DataFrame, who: Sequence[str]) -> alt.LayerChart:
    rows = [
        {
            "category": row["category"],
            "query": f"{row['category']} {row['attributes']}",
            "model": row["who"],
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
            "p": row["p_holm"],
        }
        for row in frame.iter_rows(named=True)
    ]
    order = [
        f"{category} {part}"
        for category in dict.fromkeys(row["category"] for row in rows)
        for part in dict.fromkeys(frame["attributes"])
    ]
    scale = alt.Scale(zero=measure in ("rnd", "rnsb", "ripa"))
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("query:N", sort=order, title=None, axis=alt.Axis(labelLimit=160)),
        yOffset=alt.YOffset("model:N", sort=list(who)),
        tooltip=[
            "query:N",
            "model:N",
            *(alt.Tooltip(f"{field}:Q", format="+.3f") for field in ("value", "low", "high")),
            alt.Tooltip("p:Q", title="p (Holm)", format=".2g"),
        ],
    )
    marks = _marks(who)
    x = alt.X("value:Q", title=_UNITS[measure], scale=scale, axis=alt.Axis(tickCount=5, labelFlush=False))
    nothing = alt.Chart(alt.InlineData([{"value": _WITHOUT_BIAS[measure]}])).mark_rule(
        color=FAINT, strokeDash=[4, 4], aria=False
    )
    spread = base.mark_rule(strokeWidth=2, aria=False).encode(
        x=alt.X("low:Q", title=_UNITS[measure]), x2="high:Q", color=marks["color"]
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, **marks)
    step = max(8, 18 // len(who)) if len(who) > 1 else 18
    return alt.layer(nothing.encode(x=x), spread, points).properties(title=name, width=_WIDTH, height=alt.Step(step))


def _ranks(results: Sequence[Result]) -> list[Figure]:
    """The mean rank of every model under each measure."""
    means = mean_ranks(results)
    if not means:
        return []
    who = models(results)
    rows = [
        {"measure": name, "model": model, "rank": e.value, "low": e.low, "high": e.high}
        for name, own in means.items()
        for model, e in zip(who, own, strict=True)
    ]
    scale = alt.Scale(domain=[1, len(who)], nice=False)
    marks = _marks(who)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("measure:N", sort=list(means), title=None),
        yOffset=alt.YOffset("model:N", sort=list(who)),
        tooltip=["measure:N", "model:N", *(alt.Tooltip(f"{f}:Q", format=".2f") for f in ("rank", "low", "high"))],
    )
    x = alt.X("rank:Q", title="mean rank, 1: least bias", scale=scale, axis=alt.Axis(tickMinStep=1))
    spread = base.mark_rule(strokeWidth=2, aria=False).encode(
        x=alt.X("low:Q", title="mean rank, 1: least bias", scale=scale), x2="high:Q", color=marks["color"]
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, **marks)
    chart = alt.layer(spread, points).properties(width=420, height=alt.Step(max(9, 22 // len(who))))
    text = (
        "For each measure and model the mean rank over queries with its interval when words are resampled; 1 would be "
        "the least bias in every query."
    )
    return [Figure("ranks", "Mean ranks of the models", text, chart, "ranks")]
