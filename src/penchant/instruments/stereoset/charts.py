"""Figures of StereoSet. Rendering only: every number comes from a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.instruments.stereoset.estimates import ALL, BIAS_TYPE, BOTH, LENGTHS, LMS, OVERALL, SS
from penchant.instruments.stereoset.scores import OVER_CLUSTERS, OVER_TERMS
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, Figure
from penchant.report.tables import models

_TOTAL = "all types"
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def figures(results: Sequence[Result]) -> list[Figure]:
    """SS and LMS by bias type and model, for each part; SS by token length."""
    parts = [part for part in results[0].summary["part"].unique(maintain_order=True) if part != BOTH]
    shown = []
    for part in parts:
        suffix = f"-{part}" if len(parts) > 1 else ""
        place = f"{part}: " if len(parts) > 1 else ""
        shown.append(
            Figure(
                f"scores{suffix}",
                f"{place}SS and LMS by bias type",
                "For each bias type and model, SS with its interval around 50, where neither the stereotype nor the "
                "anti-stereotype is preferred, and LMS with its interval; means over target terms, of the first score.",
                alt.concat(*(_forest(results, part, measure) for measure in (SS, LMS)), columns=2),
                "by-bias-type",
                picks="bias_type",
            )
        )
    return [*shown, _lengths(results, parts)]


def _rows(results: Sequence[Result], chosen: pl.Expr) -> list[dict[str, Any]]:
    rows = []
    for model, result in zip(models(results), results, strict=True):
        first = pl.col("normalise") == result.summary["normalise"][0]
        for row in result.summary.filter(chosen & first & (pl.col("n") > 0)).iter_rows(named=True):
            rows.append({"model": model, **row})
    return rows


def _forest(results: Sequence[Result], part: str, measure: str) -> alt.LayerChart:
    """A row for every bias type, a mark for every model."""
    chosen = (pl.col("part") == part) & (pl.col("measure") == measure) & (pl.col("mean") == OVER_TERMS)
    chosen &= pl.col("scope").is_in([OVERALL, BIAS_TYPE])
    rows = [
        {
            "model": row["model"],
            "row": _TOTAL if row["scope"] == OVERALL else row["group"],
            "bias type": None if row["scope"] == OVERALL else row["group"],
            **{key: row[key] for key in ("value", "low", "high", "n")},
        }
        for row in _rows(results, chosen)
    ]
    groups = list(dict.fromkeys(row["row"] for row in rows))
    return _plot(rows, [_TOTAL, *(name for name in groups if name != _TOTAL)], models(results), measure, "target terms")


def _lengths(results: Sequence[Result], parts: Sequence[str]) -> Figure:
    """SS by which of the two sentences has more tokens, for each part."""
    panels = []
    for part in parts:
        chosen = (pl.col("part") == part) & (pl.col("measure") == SS) & (pl.col("scope") == OVERALL)
        chosen &= (pl.col("mean") == OVER_CLUSTERS) & (pl.col("lengths") != ALL)
        rows = [
            {"model": row["model"], "row": row["lengths"], **{key: row[key] for key in ("value", "low", "high", "n")}}
            for row in _rows(results, chosen)
        ]
        title = f"{part}: {SS}" if len(parts) > 1 else SS
        panels.append(_plot(rows, list(LENGTHS), models(results), title, "clusters"))
    return Figure(
        "lengths",
        "SS by token length",
        "For each model, SS where stereotype and anti-stereotype have equally many tokens (s=a), the stereotype has "
        "more (s>a) and it has fewer (s<a); alike where preferences do not move with length. Over clusters, of the "
        "first score.",
        alt.concat(*panels, columns=2),
        "lengths",
    )


def _plot(
    rows: Sequence[dict[str, Any]], order: Sequence[str], names: Sequence[str], title: str, noun: str
) -> alt.LayerChart:
    marks = alt.Shape(
        "model:N", sort=list(names), scale=alt.Scale(domain=list(names), range=_cycled(_SHAPES, len(names)))
    )
    shades = alt.Scale(domain=list(names), range=_cycled(COLOURS, len(names)))
    base = alt.Chart(alt.InlineData(list(rows))).encode(
        y=alt.Y("row:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=200)),
        yOffset=alt.YOffset("model:N", sort=list(names)),
        color=alt.Color("model:N", sort=list(names), scale=shades, legend=alt.Legend(orient="bottom", columns=1)),
        tooltip=[
            "model:N",
            alt.Tooltip("row:N", title="group"),
            alt.Tooltip("value:Q", title=title, format=".1f"),
            alt.Tooltip("low:Q", title="from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
            alt.Tooltip("n:Q", title=noun),
        ],
    )
    scale = alt.Scale(domain=[0, 100])
    spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q")
    points = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=alt.X("value:Q", title=title, scale=scale), shape=marks
    )
    half = alt.Chart(alt.InlineData([{"x": 50}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
    return alt.layer(half, spread, points).properties(width=280, height=alt.Step(16), title=title)


def _cycled(values: Sequence[str], count: int) -> list[str]:
    return [values[i % len(values)] for i in range(count)]
