"""Figures of single stimuli and sentences of association tests."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.associations.estimates import SIDES
from penchant.instruments.associations.logprob_estimates import ASSOCIATION
from penchant.instruments.associations.view_rows import (
    by_category,
    levels,
    named,
    only,
    probe,
    with_factors,
)
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import models
from penchant.views.interval_figures import figure
from penchant.wording.templates import Text

_CELLS = 28
"""Approximate number of cells along an axis of a panel."""
_SIDE = 160
_TITLE = 40
"""Characters per line of a panel's title."""
_STRIP = 250
_STEP = 46
"""Pixels between the strips of two sets, which leave space for the labels above and below."""

Values = NDArray[np.float64]


def panels(categories: Sequence[str], draw: Callable[[str], alt.LayerChart]) -> alt.ConcatChart:
    """Return one panel per category, with its name as a wrapped title."""
    return alt.concat(
        *(
            draw(category).properties(
                title=alt.TitleParams(
                    text=textwrap.wrap(category, _TITLE) or [category], anchor="start", fontSize=11, frame="group"
                )
            )
            for category in categories
        ),
        columns=3,
    )


# Prior against corrected score --------------------------------------------------------------------------------------


def scores(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of sentence counts by prior and corrected score; None for instruments without these scores.

    It has a panel per structure of sentence and a row per model, divided by list of attributes if there are at most two
    lists.
    """
    if not all("prior" in result.items.columns for result in results):
        return None
    own = text.below("figures", "scores")
    prior, corrected = (np.concatenate([r.items[name].to_numpy() for r in results]) for name in ("prior", "corrected"))
    across, up = _edges(prior), _edges(corrected)
    structures = list(dict.fromkeys(s for r in results for s in levels(r.items, "context")))
    split = [
        each for name, result in zip(models(results), results, strict=True) for each in _by_attributes(name, result)
    ]
    counted = [[_counted(items, structure, across, up) for structure in structures] for _, items in split]
    most = max((cell["sentences"] for row in counted for cells in row for cell in cells), default=1)
    rows = [
        alt.hconcat(
            *(
                _cells(row[i], across, up, most, own, first=i == 0).properties(title=structure)
                for i, structure in enumerate(structures)
            ),
            title=alt.TitleParams(name, anchor="start"),
        )
        for (name, _), row in zip(split, counted, strict=True)
    ]
    return alt.vconcat(*rows)


def _by_attributes(model: str, result: BaseResult) -> list[tuple[str, pl.DataFrame]]:
    """Return a model's items with its name, split by list of attributes if there are at most two lists."""
    lists = result.items["attribute_list"].unique(maintain_order=True)
    if len(lists) > len(SIDES) // 2:
        return [(model, result.items)]
    return [(f"{model}, {name}", result.items.filter(attribute_list=name)) for name in lists]


def _edges(values: Values) -> tuple[float, float, float]:
    """Return the lowest edge, the width and the highest edge of bins that cover all values and have an edge at 0."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    low, high = min(low, 0.0), max(high, 0.0)
    rough = (high - low if high - low > 1e-6 else 1.0) / _CELLS
    size = 10 ** math.floor(math.log10(rough))
    width = next(size * step for step in (1, 2, 2.5, 5, 10) if size * step >= rough)
    first, last = math.floor(low / width), math.ceil(high / width)
    return first * width, width, max(last, first + 1) * width


def _counted(
    items: pl.DataFrame, structure: str, across: tuple[float, float, float], up: tuple[float, float, float]
) -> list[dict[str, Any]]:
    inside = items.filter(pl.col("context") == structure)
    cell = [
        ((pl.col(name) - low) / width).floor().cast(pl.Int64).alias(name)
        for name, (low, width, _) in (("prior", across), ("corrected", up))
    ]
    counts = inside.select(cell).group_by("prior", "corrected").agg(pl.len().alias("n")).sort("prior", "corrected")
    rows = []
    for i, j, n in counts.drop_nulls().iter_rows():
        x, y = across[0] + i * across[1], up[0] + j * up[1]
        # An edge that is 0 up to rounding counts as 0.
        sign = "raised" if y > -up[1] / 2 else "lowered"
        ends = {"x": x, "x2": x + across[1], "y": y, "y2": y + up[1]}
        rows.append({key: round(value, 9) for key, value in ends.items()} | {"sentences": n, "by": sign})
    return rows


def _cells(
    rows: list[dict[str, Any]],
    across: tuple[float, float, float],
    up: tuple[float, float, float],
    most: int,
    text: Text,
    *,
    first: bool,
) -> alt.LayerChart:
    plain = alt.Axis(grid=False)
    x = alt.X("x:Q", title=text.get("x"), scale=alt.Scale(domain=[across[0], across[2]], nice=False), axis=plain)
    y = alt.Y(
        "y:Q", title=text.get("y") if first else None, scale=alt.Scale(domain=[up[0], up[2]], nice=False), axis=plain
    )
    cells = (
        alt.Chart(inline(rows))
        .mark_rect(stroke=None)
        .encode(
            x=x,
            x2=alt.X2("x2:Q"),
            y=y,
            y2=alt.Y2("y2:Q"),
            color=alt.Color(
                "by:N",
                title=text.get("legend"),
                scale=alt.Scale(domain=["raised", "lowered"], range=[COLOURS[0], COLOURS[1]]),
            ),
            opacity=alt.Opacity(
                "sentences:Q",
                title=text.get("count"),
                scale=alt.Scale(type="log", domain=[1, max(2, most)], range=[0.15, 1]),
                legend=alt.Legend(symbolFillColor=INK, symbolStrokeWidth=0),
            ),
            tooltip=[
                alt.Tooltip("sentences:Q", format=","),
                *(
                    alt.Tooltip(f"{end}:Q", title=text.get("ends", end), format="+.2f" if "y" in end else ".2f")
                    for end in ("x", "x2", "y", "y2")
                ),
            ],
        )
    )
    nought = alt.Chart(inline([{"y": 0}])).mark_rule(color=FAINT, strokeDash=[4, 4], aria=False).encode(y=alt.Y("y:Q"))
    return alt.layer(cells, nought).properties(width=_SIDE, height=_SIDE)


# Strips of stimuli -------------------------------------------------------------------------------------------------


class StimulusStrips:
    """Figures with a strip per category and set, a mark per stimulus and labels for the extremes."""

    def draw(self, results: Sequence[BaseResult], text: Text) -> list[Figure]:
        """Return a figure for each model that has stimuli."""
        figures_ = []
        for number, (model, result) in enumerate(zip(models(results), results, strict=True), start=1):
            frames = _of_attributes(result) if probe(results) == "logprob-bias" else _of_words(result)
            if frames:
                own = text.given(model="" if len(results) == 1 else model)
                chart = figure(
                    "words", _strips(frames, model, own.get("figures", "words", "axis")), own, "category set item"
                )
                figures_.append(chart if len(results) == 1 else replace(chart, name=f"words-{number}"))
        return figures_


def _of_words(result: BaseResult) -> list[tuple[str, pl.DataFrame]]:
    return [
        (
            named(category, label),
            items.group_by("side", "list", "word", maintain_order=True)
            .agg(pl.col("association").mean())
            .rename({"side": "set"}),
        )
        for category, label, items in by_category(result)
    ]


def _of_attributes(result: BaseResult) -> list[tuple[str, pl.DataFrame]]:
    associations = with_factors(result.summary).filter(pl.col("measure") == ASSOCIATION)
    return [
        (
            named(attributes["category"][0], attributes["label"][0]),
            attributes.select(
                *(pl.col("side").alias("set"), pl.lit("").alias("list")),
                *(pl.col("stimulus").alias("word"), pl.col("value").alias("association")),
            ),
        )
        for _, attributes in only(associations, "context").group_by("category", maintain_order=True)
    ]


def _strips(frames: Sequence[tuple[str, pl.DataFrame]], model: str, axis: str) -> alt.ConcatChart:
    tables = dict(frames)
    return panels(list(tables), lambda category: _strip(category, tables[category], model, axis))


def _strip(category: str, frame: pl.DataFrame, model: str, axis: str) -> alt.LayerChart:
    named_lists = frame.select("set", "list").unique(maintain_order=True).iter_rows()
    lists = {side: f"{side} {name}" for side, name in named_lists if name}
    shown = frame.drop_nulls("association").filter(pl.col("association").is_finite())
    sets = [side for side in SIDES if side in set(shown["set"])]
    rows = [
        {"category": category, "model": model, "set": side, "item": word, "association": value}
        for side, word, value in shown.select("set", "word", "association").iter_rows()
    ]
    x = alt.X("association:Q", title=axis, axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=True))
    named_sets = alt.Axis(grid=False, labelLimit=100, labelExpr=f"{json.dumps(lists)}[datum.value] || datum.value")
    y = alt.Y("set:N", sort=sets, title=None, axis=named_sets)
    shades = alt.Scale(domain=list(SIDES), range=list(COLOURS[:4]))
    colour = alt.Color("set:N", scale=shades, legend=None)
    marks = (
        alt.Chart(inline(rows))
        .mark_tick(thickness=1.5, size=14, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("item:N"),
                alt.Tooltip("set:N"),
                alt.Tooltip("category:N"),
                alt.Tooltip("association:Q", format="+.4f"),
            ],
        )
    )
    values = [row["association"] for row in rows]
    low, high = min([0.0, *values]), max([0.0, *values])
    names: list[alt.Chart] = []
    for extreme, offset in ((max, -13), (min, 14)):
        ends = [
            extreme((row for row in rows if row["set"] == side), key=lambda row: row["association"]) for side in sets
        ]
        for align in ("left", "center", "right"):
            labels = [row for row in ends if _aligned(row["association"], low, high) == align]
            if labels:
                names.append(
                    alt.Chart(inline(labels))
                    .mark_text(dy=offset, align=align, fontSize=10, color=INK, limit=_STRIP, aria=False)
                    .encode(x=x, y=y, text=alt.Text("item:N"))
                )
    nought = alt.Chart(inline([{"association": 0}])).mark_rule(color=FAINT, strokeDash=[4, 4], aria=False)
    return alt.layer(nought.encode(x=x), marks, *names).properties(width=_STRIP, height=alt.Step(_STEP))


def _aligned(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.5
    return "left" if share < 0.3 else "right" if share > 0.7 else "center"
