"""Figures of association tests. Rendering only: every number comes from items and summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from penchant.instruments.associations.combination import FIRST
from penchant.instruments.associations.frames import (
    context_name,
    headline,
    levels,
    named,
    only,
    probe,
    several,
    stacked,
    where,
)
from penchant.instruments.associations.logprob_estimates import EVERY
from penchant.instruments.associations.stimulus_charts import panels, scores, words
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.tables import models

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_PANEL = 210, 120


def figures(results: Sequence[Result]) -> list[Figure]:
    """Effect sizes by category, against context length, layer and number of samples; prior against corrected scores;
    and the association of every stimulus."""
    name = probe(results)
    estimates = stacked(results, headline(name))
    known = estimates.filter(pl.col("value").is_not_nan())
    drawn = []
    if len(known):
        drawn.append(_forest(name, known))
        # Missing estimates are kept: a line breaks there.
        shown = only(estimates.join(known, on="category", how="semi", maintain_order="left"), "sampling", "samples")
        if len(levels(known, "context")) > 1:
            drawn.append(_by_context(name, known, only(shown, "layer")))
        if len(levels(known, "layer")) > 1:
            drawn.append(_by_layer(name, known, only(shown, "context")))
    if name == "ceat":
        drawn += _by_samples(results, known)
    if name == "logprob-bias":
        drawn.append(scores(results))
    return [*drawn, *words(results)]


def _shown(names: Sequence[str]) -> str:
    """The chosen levels as a sentence; empty where there are none."""
    return f" Shown: {', '.join(names)}." if names else ""


def _rows(frame: pl.DataFrame, name: str, *factors: str) -> list[dict[str, Any]]:
    """Estimates as rows of a chart. A context is named as in the items."""
    return [
        {
            "category": named(row["category"], row["label"]),
            "model": row["who"],
            "d": row["value"],
            "low": row["low"],
            "high": row["high"],
            "p": row["p_holm"],
            "n": row["n"],
            **{context_name(name) if factor == "context" else factor: row[factor] for factor in factors},
        }
        for row in frame.iter_rows(named=True)
    ]


def _colour(who: Sequence[str], legend: bool = True) -> dict[str, Any]:
    """Colour and shape encodings that tell models apart."""
    shades = [COLOURS[i % len(COLOURS)] for i in range(len(who))]
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(who))]
    drawn = (
        alt.Legend(orient="top", direction="vertical", labelLimit=420, title=None, symbolOpacity=1) if legend else None
    )
    return {
        "color": alt.Color("model:N", sort=list(who), scale=alt.Scale(domain=list(who), range=shades), legend=drawn),
        "shape": alt.Shape("model:N", sort=list(who), scale=alt.Scale(domain=list(who), range=shapes), legend=drawn),
    }


def _domain(*columns: pl.Series) -> list[float]:
    """Bounds of an axis shared by all panels: all values and 0, rounded outwards to halves."""
    values = [v for column in columns for v in column.to_list() if v is not None and math.isfinite(v)]
    low, high = min([0.0, *values]), max([0.0, *values])
    return [math.floor(2 * low) / 2, math.ceil(2 * high) / 2 or 0.5]


def _tooltip(*more: str) -> list[Any]:
    return [
        "category:N",
        "model:N",
        *(f"{field}:N" for field in more),
        alt.Tooltip("d:Q", format="+.2f"),
        alt.Tooltip("low:Q", title="from", format="+.2f"),
        alt.Tooltip("high:Q", title="to", format="+.2f"),
    ]


def _zero(axis: str) -> alt.Chart:
    """A dashed line at 0 of the given axis."""
    rule = alt.Chart(alt.InlineData([{axis: 0}])).mark_rule(color=FAINT, strokeDash=[4, 4], aria=False)
    return rule.encode(**{axis: f"{axis}:Q"})


def _forest(name: str, whole: pl.DataFrame) -> Figure:
    shown = only(whole, "context", "sampling", "samples")
    factors = several(shown)
    if factors:  # layers are distinguished in the same way as models
        shown = shown.with_columns(pl.format("{}, layer {}", "who", "layer").alias("who"))
    who, categories = (
        levels(shown, "who"),
        [named(*row) for row in shown.select("category", "label").unique(maintain_order=True).iter_rows()],
    )
    bounds = alt.Scale(domain=_domain(shown["value"], shown["low"], shown["high"]), nice=False)
    base = alt.Chart(alt.InlineData(_rows(shown, name))).encode(
        y=alt.Y("category:N", sort=categories, title=None, axis=alt.Axis(labelLimit=420, labelPadding=8)),
        yOffset=alt.YOffset("model:N", sort=who),
        tooltip=[*_tooltip(), alt.Tooltip("p:Q", title="p (Holm)", format=".2g")],
    )
    marks = _colour(who)
    spread = base.mark_rule(strokeWidth=2, aria=False).encode(
        x=alt.X("low:Q", title="effect size d", scale=bounds), x2="high:Q", color=marks["color"]
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("d:Q", title="effect size d", scale=bounds), **marks
    )
    chart = alt.layer(_zero("x"), spread, points).properties(
        width=420, height=alt.Step(max(9, 22 // len(who)) if len(who) > 1 else 20)
    )
    text = (
        "For each category and model the effect size with its interval; right of the dashed line X goes with A and Y "
        "with B."
    )
    return Figure(
        "effects",
        "Effect sizes by category",
        text + _shown(where(whole, name, "context", "sampling", "samples")),
        chart,
        "effects",
        "category",
    )


def _by_context(name: str, whole: pl.DataFrame, shown: pl.DataFrame) -> Figure:
    title = "the length of the segment" if name == "ceat" else "the structure of the sentence"
    text = (
        "A panel for each category: for each model the effect size with its interval in contexts of growing length, "
        "in the order of the study."
    )
    if name == "logprob-bias":  # the average over all structures is not a structure of its own
        shown = shown.filter(pl.col("context") != EVERY)
    unit = "segment, words" if name == "ceat" else context_name(name)
    chart = _lines(name, shown, "context", unit)
    return Figure(
        "context",
        f"Effect size against {title}",
        text + _shown(where(whole, name, "layer", "sampling", "samples")),
        chart,
        "effects",
        f"category {context_name(name)}",
    )


def _by_layer(name: str, whole: pl.DataFrame, shown: pl.DataFrame) -> Figure:
    text = "A panel for each category: for each model the effect size with its interval at each layer read."
    chart = _lines(name, shown, "layer", "layer")
    shown_levels = _shown(where(whole, name, "context", "sampling", "samples"))
    return Figure("layers", "Effect size against the layer", text + shown_levels, chart, "effects", "category layer")


def _lines(name: str, shown: pl.DataFrame, factor: str, unit: str) -> alt.ConcatChart:
    """Effect sizes against the levels of a factor: one line per model, with their marks side by side."""
    who = levels(shown, "who")
    field = context_name(name) if factor == "context" else factor
    rows = _rows(shown, name, factor)
    order = levels(shown, factor)
    scale = alt.Scale(domain=_domain(shown["value"], shown["low"], shown["high"]), nice=False)
    marks = _colour(who)

    def draw(category: str) -> alt.LayerChart:
        x = alt.X(
            f"{field}:N",
            title=unit,
            scale=alt.Scale(domain=order, paddingInner=0.5, paddingOuter=0.25),
            axis=alt.Axis(labelAngle=-30 if max(map(len, order)) > 5 else 0),
        )
        base = alt.Chart(alt.InlineData([row for row in rows if row["category"] == category])).encode(
            x=x, xOffset=alt.XOffset("model:N", sort=who), color=marks["color"]
        )
        y = alt.Y("d:Q", title="d", scale=scale)
        spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(
            y=alt.Y("low:Q", title="d", scale=scale), y2="high:Q"
        )
        lines = base.mark_line(strokeWidth=1, opacity=0.6, aria=False).encode(y=y)
        points = base.mark_point(filled=True, size=45, opacity=1).encode(
            y=y, shape=marks["shape"], tooltip=_tooltip(field)
        )
        return alt.layer(_zero("y"), spread, lines, points).properties(width=_PANEL[0], height=_PANEL[1])

    return panels(list(dict.fromkeys(row["category"] for row in rows)), draw)


def _by_samples(results: Sequence[Result], whole: pl.DataFrame) -> list[Figure]:
    """The published interval against the number of samples, with which it shrinks; the one over stimuli does not."""
    first = stacked(results, FIRST)
    if not len(first):
        return []
    shown, honest = (only(frame, "layer", "context", "sampling", "samples") for frame in (first, whole))
    who = models(results)
    scale = alt.Scale(
        domain=_domain(*(frame[end] for frame in (shown, honest) for end in ("value", "low", "high"))), nice=False
    )
    steps = sorted(set(shown["n"]))
    log = alt.Scale(type="log", nice=False, domain=[steps[0] / 1.3, steps[-1] * 1.3])
    published, bands = _rows(shown, "ceat"), _rows(honest, "ceat")
    marks = _colour(who, legend=False)

    def draw(model: str, category: str) -> alt.LayerChart:
        samples, band = (
            [row for row in rows if (row["category"], row["model"]) == (category, model)] for rows in (published, bands)
        )
        x = alt.X("n:Q", title="samples", scale=log, axis=alt.Axis(values=steps, format=",", labelOverlap=True))
        y = alt.Y("d:Q", title="CES", scale=scale)
        ground = (
            alt.Chart(alt.InlineData(band))
            .mark_rect(opacity=0.25)
            .encode(y=alt.Y("low:Q", title="CES", scale=scale), y2="high:Q", color=marks["color"], tooltip=_tooltip())
        )
        base = alt.Chart(alt.InlineData(samples)).encode(x=x)
        spread = base.mark_rule(strokeWidth=2, color=INK, aria=False).encode(
            y=alt.Y("low:Q", title="CES", scale=scale), y2="high:Q"
        )
        points = base.mark_point(filled=True, size=18, opacity=1, color=INK).encode(
            y=y, shape=marks["shape"], tooltip=[*_tooltip(), alt.Tooltip("n:Q", title="samples")]
        )
        return alt.layer(_zero("y"), ground, spread, points).properties(width=_PANEL[0], height=_PANEL[1])

    categories = list(dict.fromkeys(row["category"] for row in published))
    if len(who) == 1:
        chart: Any = panels(categories, partial(draw, who[0]))
    else:
        chart = alt.vconcat(*(panels(categories, partial(draw, model)).properties(title=model) for model in who))
    text = (
        "A panel for each category: the combined effect size of the first 10, 20, 50 … samples with its published "
        "interval, which shrinks with the number of samples by construction; the band behind is the interval of the "
        "effect size of all samples over stimuli and samples."
    )
    shown_levels = _shown(where(first, "ceat", "layer", "context", "sampling", "samples"))
    title = "Combined effect size against the number of samples"
    return [Figure("samples", title, text + shown_levels, chart, "first-samples", "category")]
