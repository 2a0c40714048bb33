"""Report views of value statements; the text is in `text.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.values.calibration import OFFSET, SIGMA, SLOPE
from penchant.instruments.values.claims import CLAIMS
from penchant.instruments.values.data import EVERYTHING, TEXT
from penchant.instruments.values.group_distance import DISTANCE
from penchant.instruments.values.rating_strips import ratings
from penchant.instruments.values.representativeness import REPRESENTATIVE
from penchant.instruments.values.result_facts import facts, is_synthetic
from penchant.instruments.values.tables import COMPARED, TABLES, main_wording
from penchant.records import BaseResult
from penchant.report.figures import COLOURS, FAINT, INK
from penchant.report.item_browser import every_item
from penchant.report.lazy_altair import alt, inline
from penchant.report.tables import models
from penchant.views.interval_figures import Drawn, Forest
from penchant.views.items import ItemColumn, Items, ModelColumn, TokenStrip
from penchant.views.row_selection import FIRST, At, RowSource, sources
from penchant.views.scatter import Panel, Scatter, Straight
from penchant.views.section import Views
from penchant.wording.templates import Text

_SIZE = 240


def calibration(results: Sequence[BaseResult], text: Text) -> Any:
    """Return charts of agreement against disagreement, with the calibration line and y = x, by model and group.

    Returns None for questions, which have no calibration.
    """
    if "agree" not in results[0].items.columns:
        return None
    rows = []
    for model, result in zip(models(results), results, strict=True):
        items = result.items.filter(pl.col("variant") == result.items["variant"][0])
        groups = items["group"].unique(maintain_order=True).to_list()
        panels = [_scatter(result, items.filter(group=group), group) for group in groups]
        rows.append(alt.hconcat(*panels, title=model))
    return alt.vconcat(*rows)


def _line(result: BaseResult, group: str) -> tuple[float, float]:
    summary = result.summary.filter((pl.col("group") == group) & (pl.col("variant") == result.items["variant"][0]))
    values = dict(summary.select("measure", "value").iter_rows())
    return values.get(SLOPE, 1.0), values.get(OFFSET, 0.0)


def _ends(values: pl.Series) -> list[float]:
    return [float(values.min()), float(values.max())]  # type: ignore[arg-type]


def _scatter(result: BaseResult, items: pl.DataFrame, group: str) -> alt.LayerChart:
    words = TEXT.below("figures", "calibration")
    slope, offset = _line(result, group)
    ends = _ends(items["disagree"])
    shown = items.filter(pl.col("kind") != "negation").select(
        pl.col("id").alias("item"),
        "text",
        pl.col("disagree").alias("x"),
        pl.col("agree").alias("y"),
        "rating",
        pl.when(pl.col("kind") == "calibration").then(pl.lit("neutral")).otherwise(pl.col("value")).alias("value"),
    )
    names = [name for name in shown["value"].unique(maintain_order=True).to_list() if name != "neutral"]
    scale = alt.Scale(domain=["neutral", *names], range=["#999999", *COLOURS[: len(names)]])
    shape = alt.Scale(domain=["neutral", *names], range=["circle", *["square"] * len(names)])
    x = alt.X("x:Q", title=words.get("x"), scale=alt.Scale(zero=False))
    fit = [{"x": end, "y": slope * end + offset} for end in ends]
    # The identity can lie far from all statements; it must not squeeze them into a corner.
    heights = _ends(pl.Series([*items["agree"].to_list(), *(end["y"] for end in fit)], dtype=pl.Float64))
    y = alt.Y("y:Q", title=words.get("y"), scale=alt.Scale(zero=False, nice=True, domain=heights))
    points = (
        alt.Chart(inline(shown.to_dicts()))
        .mark_point(filled=True, size=32, opacity=0.75)
        .encode(
            x=x,
            y=y,
            color=alt.Color("value:N", title=words.get("legend"), scale=scale),
            shape=alt.Shape("value:N", title=words.get("legend"), scale=shape),
            tooltip=[
                alt.Tooltip("item:N"),
                alt.Tooltip("text:N"),
                alt.Tooltip("value:N"),
                alt.Tooltip("rating:Q", format=".2f"),
            ],
        )
    )
    same = [{"x": end, "y": end} for end in ends]
    lines = [
        alt.Chart(inline(rows)).mark_line(color=colour, strokeDash=dash, clip=True, aria=False).encode(x=x, y=y)
        for rows, colour, dash in ((same, FAINT, [4, 4]), (fit, INK, [1, 0]))
    ]
    return alt.layer(*lines, points).properties(width=_SIZE, height=_SIZE, title=group)


def representative(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of representativeness by value, model and group, or None if no real people answered."""
    if is_synthetic(results[0]):
        return None
    rows = [
        {"value": line["dimension"], "column": f"{source.model}, {line['group']}", "r": line["value"]}
        for source in sources(results)
        for line in source.only(At(measure=REPRESENTATIVE, item="", variant=FIRST))
    ]
    if not rows:
        return None
    order = [*every_item(results).filter(kind="statement")["value"].unique(maintain_order=True), EVERYTHING]
    columns = [row["column"] for row in rows]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "column:N",
            sort=list(dict.fromkeys(columns)),
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=420),
        ),
        y=alt.Y("value:N", sort=order, title=None, axis=alt.Axis(labelLimit=220)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "r:Q",
            title=text.get("figures", "representativeness", "legend"),
            scale=alt.Scale(domain=[0, 1], scheme="blues"),
        ),
        tooltip=[alt.Tooltip("value:N"), alt.Tooltip("column:N"), alt.Tooltip("r:Q", format=".2f")],
    )
    numbers = base.mark_text(fontSize=11, aria=False).encode(
        text=alt.Text("r:Q", format=".2f"), color=alt.condition("datum.r > 0.6", alt.value("white"), alt.value("black"))
    )
    return alt.layer(cells, numbers).properties(width=alt.Step(74), height=alt.Step(30))


def _by_group(found: Sequence[RowSource]) -> list[RowSource]:
    if any(each.result is not None and is_synthetic(each.result) for each in found):
        return []
    own = [replace(each, frame=each.frame.filter(measure=DISTANCE)) for each in main_wording(found)]
    whole = pl.col("dimension") != EVERYTHING
    return [
        replace(
            each,
            frame=each.frame.sort(whole, maintain_order=True).with_columns(
                pl.format("{}, {}", pl.lit(each.model), "group").alias("place"), people="item"
            ),
        )
        for each in own
    ]


def _residuals(results: Sequence[BaseResult]) -> list[Panel]:
    panels = []
    for source in sources(results):
        assert source.result is not None
        items = source.result.items
        main = items.filter(pl.col("variant") == items["variant"][0])
        for line in source.only(At(measure=SIGMA, variant=FIRST)):
            neutral = main.filter(kind="calibration", group=line["group"])
            points = neutral.select(pl.col("id").alias("item"), "text", "disagree", "residual").to_dicts()
            levels = [Straight(0, (0, at), dashed=True) for at in (-line["value"], 0, line["value"])]
            panels.append(Panel(f"{source.model}, {line['group']}", points, levels))
    return panels


def _neutral_last(result: BaseResult) -> pl.DataFrame:
    items = result.items.sort(pl.col("kind") == "calibration", maintain_order=True)
    named = items.with_columns(pl.col("kind").replace("calibration", "neutral"), pl.col("value").replace("", "–"))
    return named.with_columns(wording="variant")


def _whole(results: Sequence[BaseResult]) -> bool:
    return any(result.signature["method"] == "lp" for result in results)


def _tokens(stance: str) -> TokenStrip:
    def said(items: pl.DataFrame) -> list[str]:
        return items[f"sentence_{stance}"].to_list()

    return TokenStrip(stance, f"tokens_{stance}", f"sentence_{stance}", f"logprobs_{stance}", said)


VIEWS = Views(
    tables=TABLES,
    compared=COMPARED,
    figures=(
        Drawn("ratings", ratings, "value"),
        Drawn("representativeness", representative, numbers="ratings"),
        Forest("people", At(measure=DISTANCE), "dimension", "people", ".2f", "place", of=_by_group),
        Drawn("calibration", calibration, "item"),
        Scatter(
            *("residuals", _residuals, "disagree", "residual"),
            told={"item": "", "text": "", "residual": ".2f"},
            picks="item",
            side=240,
            numbers="calibration",
        ),
    ),
    items=Items(
        columns=(
            *(ItemColumn("id", "id"), ItemColumn("kind", "label"), ItemColumn("value", "label")),
            *(ItemColumn("group", "label"), ItemColumn("wording", "label", varies=True)),
            *(ItemColumn("reversed", "label", varies=True), ItemColumn("text")),
        ),
        each=(ModelColumn("agreement"), ModelColumn("rating", digits=2)),
        tokens=(_tokens("agree"), _tokens("disagree")),
        rows=_neutral_last,
        parallel=_whole,
    ),
    claims=CLAIMS,
    facts=facts,
)
