"""Figures of association tests: effect sizes against contexts, layers and numbers of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from penchant.instruments.associations.logprob_estimates import EVERY
from penchant.instruments.associations.random_effects import FIRST
from penchant.instruments.associations.stimulus_charts import panels
from penchant.instruments.associations.view_rows import (
    context_name,
    headline,
    levels,
    named,
    only,
    probe,
    stacked,
)
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, INK
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import models
from penchant.wording.templates import Text

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_PANEL = 210, 120


def _known(results: Sequence[BaseResult]) -> tuple[pl.DataFrame, pl.DataFrame]:
    estimates = stacked(results, headline(probe(results)))
    known = estimates.filter(pl.col("value").is_not_nan())
    whole = estimates.join(known, on="category", how="semi", maintain_order="left")
    return known, only(whole, "sampling", "samples")


def by_context(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of effect sizes by context, one panel per category; None if there is only one context.

    The log-probability bias score over all sentence structures together is left out.
    """
    known, whole = _known(results)
    if not len(known) or len(levels(known, "context")) < 2:
        return None
    shown = only(whole, "layer")
    if probe(results) == "logprob-bias":
        shown = shown.filter(pl.col("context") != EVERY)
    return _lines(shown, "context", context_name(probe(results)), text.get("figures", "context", "axis"))


def by_layer(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of effect sizes by layer, one panel per category; None if there is only one layer."""
    known, whole = _known(results)
    if not len(known) or len(levels(known, "layer")) < 2:
        return None
    return _lines(only(whole, "context"), "layer", "layer", "layer")


def _rows(frame: pl.DataFrame, **fields: str) -> list[dict[str, Any]]:
    return [
        {
            "category": named(row["category"], row["label"]),
            "model": row["who"],
            "d": row["value"],
            "low": row["low"],
            "high": row["high"],
            "p": row["p_holm"],
            "n": row["n"],
            **{field: row[factor] for field, factor in fields.items()},
        }
        for row in frame.iter_rows(named=True)
    ]


def _colour(who: Sequence[str], legend: bool = True) -> dict[str, Any]:
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
    """Return the bounds of an axis that covers all values and 0, rounded outwards to halves, for use in all panels."""
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
    rule = alt.Chart(inline([{axis: 0}])).mark_rule(color=FAINT, strokeDash=[4, 4], aria=False)
    return rule.encode(**{axis: f"{axis}:Q"})


def _lines(shown: pl.DataFrame, factor: str, field: str, unit: str) -> alt.ConcatChart:
    who = levels(shown, "who")
    rows = _rows(shown, **{field: factor})
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
        base = alt.Chart(inline([row for row in rows if row["category"] == category])).encode(
            x=x, xOffset=alt.XOffset("model:N", sort=who), color=marks["color"]
        )
        y = alt.Y("d:Q", title="d", scale=scale)
        spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(
            y=alt.Y("low:Q", title="d", scale=scale), y2=alt.Y2("high:Q")
        )
        lines = base.mark_line(strokeWidth=1, opacity=0.6, aria=False).encode(y=y)
        points = base.mark_point(filled=True, size=45, opacity=1).encode(
            y=y, shape=marks["shape"], tooltip=_tooltip(field)
        )
        return alt.layer(_zero("y"), spread, lines, points).properties(width=_PANEL[0], height=_PANEL[1])

    return panels(list(dict.fromkeys(row["category"] for row in rows)), draw)


def by_samples(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of CEAT's published interval against the number of samples, or None for other instruments.

    This interval shrinks with the number of samples; the interval over stimuli, drawn behind it, does not.
    """
    first, (known, _) = stacked(results, FIRST), _known(results)
    if not len(first):
        return None
    shown, honest = (only(frame, "layer", "context", "sampling", "samples") for frame in (first, known))
    who = models(results)
    scale = alt.Scale(
        domain=_domain(*(frame[end] for frame in (shown, honest) for end in ("value", "low", "high"))), nice=False
    )
    steps = sorted(set(shown["n"]))
    log = alt.Scale(type="log", nice=False, domain=[steps[0] / 1.3, steps[-1] * 1.3])
    published, bands = _rows(shown), _rows(honest)
    marks = _colour(who, legend=False)

    def draw(model: str, category: str) -> alt.LayerChart:
        samples, band = (
            [row for row in rows if (row["category"], row["model"]) == (category, model)] for rows in (published, bands)
        )
        x = alt.X("n:Q", title="samples", scale=log, axis=alt.Axis(values=steps, format=",", labelOverlap=True))
        y = alt.Y("d:Q", title="CES", scale=scale)
        ground = (
            alt.Chart(inline(band))
            .mark_rect(opacity=0.25)
            .encode(
                y=alt.Y("low:Q", title="CES", scale=scale),
                y2=alt.Y2("high:Q"),
                color=marks["color"],
                tooltip=_tooltip(),
            )
        )
        base = alt.Chart(inline(samples)).encode(x=x)
        spread = base.mark_rule(strokeWidth=2, color=INK, aria=False).encode(
            y=alt.Y("low:Q", title="CES", scale=scale), y2=alt.Y2("high:Q")
        )
        points = base.mark_point(filled=True, size=18, opacity=1, color=INK).encode(
            y=y, shape=marks["shape"], tooltip=[*_tooltip(), alt.Tooltip("n:Q", title="samples")]
        )
        return alt.layer(_zero("y"), ground, spread, points).properties(width=_PANEL[0], height=_PANEL[1])

    categories = list(dict.fromkeys(row["category"] for row in published))
    if len(who) == 1:
        return panels(categories, partial(draw, who[0]))
    return alt.vconcat(*(panels(categories, partial(draw, model)).properties(title=model) for model in who))
