"""Figures of value statements. Rendering only: every number comes from items and summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from penchant.data.values import EVERYTHING
from penchant.records import Result
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.tables import models

_SIZE = 240


def figures(results: Sequence[Result]) -> list[Figure]:
    """Agreeing against disagreeing with the fit and the identity; residuals; ratings with the survey behind them;
    representativeness as a heat map."""
    found = [
        Figure(
            "calibration",
            "Agreeing against disagreeing",
            "For each model and group the log-probability of agreeing against that of disagreeing: grey circles are "
            "neutral statements, coloured squares value statements; the full line is the calibration, the dashed one "
            "identity. A statement above the full line is agreed with more than expected.",
            _panels(results, _scatter),
            "calibration",
            "item",
        ),
        Figure(
            "residuals",
            "Residuals of the calibration",
            "For each model and group how far the neutral statements lie above or below the calibration, with lines "
            "at 0 and at one σ to either side; without a pattern where the calibration fits.",
            _panels(results, _residuals),
            "calibration",
            "item",
        ),
        Figure(
            "ratings",
            "Ratings by value and group",
            "For each value, group and model the mean rating with its interval"
            + (
                "; behind it the survey's respondents of the group: the wide bar from 5 to 95 percent, the dark one "
                "from 25 "
                "to 75, the tick at the median." + _made_up(results[0])
                if results[0].signature["survey"] != "none"
                else "."
            ),
            _ratings(results),
            "ratings",
            "value",
        ),
    ]
    if results[0].signature["survey"] != "none":
        found.append(
            Figure(
                "representativeness",
                "Representativeness among the survey's answers",
                "A cell for each value, model and group: 1 where the mean rating is the respondents' median, 0 where "
                "it is "
                "outside their answers; “all” is the mean over statements." + _made_up(results[0]),
                _heat(results),
                "ratings",
            )
        )
    return found


def _made_up(result: Result) -> str:
    return " The survey is SYNTHETIC." if result.signature["survey"].startswith("synthetic ") else ""


def _main(result: Result) -> pl.DataFrame:
    """The items of the first wording."""
    return result.items.filter(pl.col("variant") == result.items["variant"][0])


def _panels(results: Sequence[Result], draw: Any) -> alt.VConcatChart:
    """A row of panels for each model, a panel a group."""
    rows = []
    for model, result in zip(models(results), results, strict=True):
        own = _main(result)
        groups = own["group"].unique(maintain_order=True).to_list()
        panels = [draw(result, own.filter(pl.col("group") == group), group) for group in groups]
        rows.append(alt.hconcat(*panels, title=model))
    return alt.vconcat(*rows)


def _line(result: Result, group: str) -> tuple[float, float, float]:
    """Slope, offset and σ of the main wording."""
    own = result.summary.filter((pl.col("group") == group) & (pl.col("variant") == result.items["variant"][0]))
    found = dict(own.select("measure", "value").iter_rows())
    return found.get("calibration slope a", 1.0), found.get("calibration offset b", 0.0), found["residual sd σ"]


def _ends(values: pl.Series) -> list[float]:
    return [float(values.min()), float(values.max())]  # type: ignore[arg-type]


def _scatter(result: Result, own: pl.DataFrame, group: str) -> alt.LayerChart:
    slope, offset, _ = _line(result, group)
    ends = _ends(own["disagree"])
    shown = own.filter(pl.col("kind") != "negation").select(
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
    x = alt.X("x:Q", title="log P(disagree)", scale=alt.Scale(zero=False))
    y = alt.Y("y:Q", title="log P(agree)", scale=alt.Scale(zero=False))
    points = (
        alt.Chart(alt.InlineData(shown.to_dicts()))
        .mark_point(filled=True, size=32, opacity=0.75)
        .encode(
            x=x,
            y=y,
            color=alt.Color("value:N", title="statements", scale=scale),
            shape=alt.Shape("value:N", title="statements", scale=shape),
            tooltip=["item:N", "text:N", "value:N", alt.Tooltip("rating:Q", format=".2f")],
        )
    )
    fit = [{"x": end, "y": slope * end + offset} for end in ends]
    same = [{"x": end, "y": end} for end in ends]
    lines = [
        alt.Chart(alt.InlineData(rows)).mark_line(color=colour, strokeDash=dash, clip=True, aria=False).encode(x=x, y=y)
        for rows, colour, dash in ((same, FAINT, [4, 4]), (fit, INK, [1, 0]))
    ]
    return alt.layer(*lines, points).properties(width=_SIZE, height=_SIZE, title=group)


def _residuals(result: Result, own: pl.DataFrame, group: str) -> alt.LayerChart:
    _, _, sigma = _line(result, group)
    neutral = own.filter(pl.col("kind") == "calibration").select(
        pl.col("id").alias("item"), "text", pl.col("disagree").alias("x"), pl.col("residual").alias("y")
    )
    y = alt.Y("y:Q", title="residual")
    points = (
        alt.Chart(alt.InlineData(neutral.to_dicts()))
        .mark_point(filled=True, size=32, opacity=0.75, color="#0072B2")
        .encode(
            x=alt.X("x:Q", title="log P(disagree)", scale=alt.Scale(zero=False)),
            y=y,
            tooltip=["item:N", "text:N", alt.Tooltip("y:Q", title="residual", format=".2f")],
        )
    )
    levels = [{"y": value, "dash": "σ" if value else "0"} for value in (-sigma, 0.0, sigma)]
    rules = (
        alt.Chart(alt.InlineData(levels))
        .mark_rule(color=FAINT, aria=False)
        .encode(
            y=y,
            strokeDash=alt.StrokeDash(
                "dash:N", scale=alt.Scale(domain=["0", "σ"], range=[[1, 0], [4, 4]]), legend=None
            ),
        )
    )
    return alt.layer(rules, points).properties(width=_SIZE, height=_SIZE / 2, title=group)


def _ratings(results: Sequence[Result]) -> alt.HConcatChart:
    """A panel a group: values in rows, models side by side, the survey's quantiles behind."""
    names = models(results)
    main = results[0].items["variant"][0]
    order = results[0].items.filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list()
    panels = []
    for group in results[0].items["group"].unique(maintain_order=True).to_list():
        rows = []
        for model, result in zip(names, results, strict=True):
            wanted = (pl.col("measure") == "mean rating") & (pl.col("group") == group) & (pl.col("variant") == main)
            found = result.summary.filter(wanted & (pl.col("dimension") != EVERYTHING))
            rows += [
                {"value": d, "model": model, "rating": v, "low": low, "high": high, "n": n}
                for d, v, low, high, n in found.select("dimension", "value", "low", "high", "n").iter_rows()
            ]
        y = alt.Y("value:N", sort=order, title=None, axis=alt.Axis(labelLimit=220))
        scale = alt.Scale(domain=[1, 5], zero=False, nice=False)
        x = alt.X("rating:Q", title="rating", scale=scale)
        base = alt.Chart(alt.InlineData(rows)).encode(
            y=y,
            yOffset=alt.YOffset("model:N", sort=names),
            color=alt.Color(
                "model:N",
                sort=names,
                scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])),
                legend=alt.Legend(labelLimit=360),
            ),
        )
        spread = base.mark_rule(strokeWidth=2, aria=False).encode(
            x=alt.X("low:Q", title="rating", scale=scale), x2="high:Q"
        )
        points = base.mark_point(filled=True, size=70, opacity=1).encode(
            x=x,
            tooltip=[
                "value:N",
                "model:N",
                alt.Tooltip("rating:Q", format=".2f"),
                alt.Tooltip("n:Q", title="statements"),
            ],
        )
        people = results[0].summary.filter((pl.col("measure") == "survey quantile") & (pl.col("group") == group))
        wide = people.pivot("item", index="dimension", values="value") if len(people) else None
        behind = []
        if wide is not None:
            bars = [
                dict(zip(("value", "p5", "p25", "p50", "p75", "p95"), row, strict=True)) for row in wide.iter_rows()
            ]
            ground = alt.Chart(alt.InlineData(bars)).encode(y=y)
            behind = [
                ground.mark_bar(color=FAINT, opacity=0.2, aria=False).encode(
                    x=alt.X("p5:Q", title="rating", scale=scale), x2="p95:Q"
                ),
                ground.mark_bar(color=FAINT, opacity=0.35, aria=False).encode(
                    x=alt.X("p25:Q", title="rating", scale=scale), x2="p75:Q"
                ),
                ground.mark_tick(color=INK, thickness=2, aria=False).encode(
                    x=alt.X("p50:Q", title="rating", scale=scale)
                ),
            ]
        middle = (
            alt.Chart(alt.InlineData([{"x": 3}]))
            .mark_rule(strokeDash=[4, 4], color=FAINT, aria=False)
            .encode(x=alt.X("x:Q", title="rating", scale=scale))
        )
        panels.append(
            alt.layer(*behind, middle, spread, points).properties(
                width=300, height=len(order) * (14 * len(names) + 14), title=group
            )
        )
    return alt.hconcat(*panels)


def _heat(results: Sequence[Result]) -> alt.LayerChart:
    rows = []
    order = [
        *results[0].items.filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list(),
        EVERYTHING,
    ]
    columns = []
    for model, result in zip(models(results), results, strict=True):
        own = result.summary.filter(
            (pl.col("measure") == "representativeness")
            & (pl.col("variant") == result.items["variant"][0])
            & (pl.col("item") == "")
        )
        for group, dimension, value in own.select("group", "dimension", "value").iter_rows():
            columns.append(f"{model}, {group}")
            rows.append({"value": dimension, "column": f"{model}, {group}", "r": value})
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=alt.X(
            "column:N",
            sort=list(dict.fromkeys(columns)),
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=420),
        ),
        y=alt.Y("value:N", sort=order, title=None, axis=alt.Axis(labelLimit=220)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("r:Q", title="representativeness", scale=alt.Scale(domain=[0, 1], scheme="blues")),
        tooltip=["value:N", "column:N", alt.Tooltip("r:Q", format=".2f")],
    )
    numbers = base.mark_text(fontSize=11, aria=False).encode(
        text=alt.Text("r:Q", format=".2f"), color=alt.condition("datum.r > 0.6", alt.value("white"), alt.value("black"))
    )
    return alt.layer(cells, numbers).properties(width=alt.Step(74), height=alt.Step(30))
