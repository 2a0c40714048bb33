"""Figures of value statements. Rendering only: every number comes from items and summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.instruments.values.against_survey import SURVEY_QUANTILE
from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.estimates import MEAN, OFFSET, SIGMA, SLOPE
from penchant.instruments.values.people_charts import people_figures
from penchant.instruments.values.represented import REPRESENTATIVE
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, FAINT, INK, Figure
from penchant.report.finding import listed
from penchant.report.items import every_item
from penchant.report.tables import models

_SIZE = 240


def figures(results: Sequence[Result]) -> list[Figure]:
    """Ratings with the survey behind them; where there is a survey, representativeness as a heat map and
    the distances from groups of people; agreeing against
    disagreeing with the calibration and the identity; and residuals."""
    shown = [_rating_figure(results)]
    if results[0].signature["survey"] != "none":
        shown.append(_representativeness_figure(results))
        shown += people_figures(results, f"{_made_up(results[0])}{_unlike(results)}")
    return [*shown, _scatter_figure(results), _residual_figure(results)]


def _scatter_figure(results: Sequence[Result]) -> Figure:
    return Figure(
        "calibration",
        "Agreeing against disagreeing",
        "For each model and group the log-probability of agreeing against that of disagreeing: grey circles are "
        "neutral statements, coloured squares value statements; the full line is the calibration, the dashed one "
        "identity, where it is in view. A statement above the full line is agreed with more than expected.",
        _panels(results, _scatter),
        "calibration",
        "item",
    )


def _residual_figure(results: Sequence[Result]) -> Figure:
    return Figure(
        "residuals",
        "Residuals of the calibration",
        "For each model and group how far the neutral statements lie above or below the calibration, with lines "
        "at 0 and at one σ to either side; without a pattern where the calibration fits.",
        _panels(results, _residuals),
        "calibration",
        "item",
    )


def _rating_figure(results: Sequence[Result]) -> Figure:
    behind = "."
    if results[0].signature["survey"] != "none":
        behind = (
            "; behind it the survey's respondents of the group: the wide bar from 5 to 95 percent, the dark one "
            f"from 25 to 75, the tick at the median.{_made_up(results[0])}"
        )
    text = f"For each value, group and model the mean rating with its interval{behind}{_unlike(results)}"
    return Figure("ratings", "Ratings by value and group", text, _ratings(results), "ratings", "value")


def _representativeness_figure(results: Sequence[Result]) -> Figure:
    return Figure(
        "representativeness",
        "Representativeness among the survey's answers",
        "A cell for each value, model and group: 1 where the mean rating is the respondents' median, 0 where it is "
        f"outside their answers; “all” is the mean over statements.{_made_up(results[0])}{_unlike(results)}",
        _heat(results),
        "ratings",
    )


def _made_up(result: Result) -> str:
    return " The survey is SYNTHETIC." if result.signature["survey"].startswith("synthetic ") else ""


def _unlike(results: Sequence[Result]) -> str:
    """What a caption says of models that were not scored and calibrated alike."""
    ways = {key: list(dict.fromkeys(result.signature[key] for result in results)) for key in ("method", "calibration")}
    different = [f"{key} ({listed(own)})" for key, own in ways.items() if len(own) > 1]
    if not different:
        return ""
    return (
        f" The models differ in {listed(different)}: their ratings stand on one axis, but no difference between models "
        "can be read from it."
    )


def _main(result: Result) -> pl.DataFrame:
    """The items of the first wording."""
    return result.items.filter(pl.col("variant") == result.items["variant"][0])


def _panels(results: Sequence[Result], draw: Any) -> alt.VConcatChart:
    """One row of panels per model, one panel per group."""
    rows = []
    for model, result in zip(models(results), results, strict=True):
        items = _main(result)
        groups = items["group"].unique(maintain_order=True).to_list()
        panels = [draw(result, items.filter(pl.col("group") == group), group) for group in groups]
        rows.append(alt.hconcat(*panels, title=model))
    return alt.vconcat(*rows)


def _line(result: Result, group: str) -> tuple[float, float, float]:
    """Slope, offset and σ of the calibration, in the main wording."""
    summary = result.summary.filter((pl.col("group") == group) & (pl.col("variant") == result.items["variant"][0]))
    values = dict(summary.select("measure", "value").iter_rows())
    return values.get(SLOPE, 1.0), values.get(OFFSET, 0.0), values[SIGMA]


def _ends(values: pl.Series) -> list[float]:
    return [float(values.min()), float(values.max())]  # type: ignore[arg-type]


def _scatter(result: Result, items: pl.DataFrame, group: str) -> alt.LayerChart:
    slope, offset, _ = _line(result, group)
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
    x = alt.X("x:Q", title="log P(disagree)", scale=alt.Scale(zero=False))
    fit = [{"x": end, "y": slope * end + offset} for end in ends]
    # The identity can lie far from all statements; it must not squeeze them into a corner.
    heights = _ends(pl.Series([*items["agree"].to_list(), *(end["y"] for end in fit)], dtype=pl.Float64))
    y = alt.Y("y:Q", title="log P(agree)", scale=alt.Scale(zero=False, nice=True, domain=heights))
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
    same = [{"x": end, "y": end} for end in ends]
    lines = [
        alt.Chart(alt.InlineData(rows)).mark_line(color=colour, strokeDash=dash, clip=True, aria=False).encode(x=x, y=y)
        for rows, colour, dash in ((same, FAINT, [4, 4]), (fit, INK, [1, 0]))
    ]
    return alt.layer(*lines, points).properties(width=_SIZE, height=_SIZE, title=group)


def _residuals(result: Result, items: pl.DataFrame, group: str) -> alt.LayerChart:
    _, _, sigma = _line(result, group)
    neutral = items.filter(pl.col("kind") == "calibration").select(
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
    """A panel per group: values in rows, models side by side, the survey's quantiles behind them."""
    items = every_item(results)
    values = items.filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list()
    groups = items["group"].unique(maintain_order=True).to_list()
    return alt.hconcat(*(_rating_panel(results, group, values) for group in groups))


def _rating_panel(results: Sequence[Result], group: str, values: Sequence[str]) -> alt.LayerChart:
    names = models(results)
    y = alt.Y("value:N", sort=list(values), title=None, axis=alt.Axis(labelLimit=220))
    shades = alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
    base = alt.Chart(alt.InlineData(_mean_ratings(results, group))).encode(
        y=y,
        yOffset=alt.YOffset("model:N", sort=names),
        color=alt.Color("model:N", sort=names, scale=shades, legend=alt.Legend(labelLimit=360)),
    )
    spread = base.mark_rule(strokeWidth=2, aria=False).encode(x=_rating_axis("low"), x2="high:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=_rating_axis("rating"),
        tooltip=["value:N", "model:N", alt.Tooltip("rating:Q", format=".2f"), alt.Tooltip("n:Q", title="statements")],
    )
    middle = alt.Chart(alt.InlineData([{"x": 3}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False)
    layers = [*_quantiles(results[0], group, y), middle.encode(x=_rating_axis("x")), spread, points]
    height = len(values) * (14 * len(names) + 14)
    return alt.layer(*layers).properties(width=300, height=height, title=group)


def _rating_axis(field: str) -> alt.X:
    """A field on the scale of ratings, 1 to 5."""
    return alt.X(f"{field}:Q", title="rating", scale=alt.Scale(domain=[1, 5], zero=False, nice=False))


def _mean_ratings(results: Sequence[Result], group: str) -> list[dict[str, Any]]:
    """The mean rating of every value by every model, in one group and the main wording."""
    main = results[0].items["variant"][0]
    chosen = (pl.col("measure") == MEAN) & (pl.col("group") == group) & (pl.col("variant") == main)
    return [
        {"value": value, "model": model, "rating": mean, "low": low, "high": high, "n": n}
        for model, result in zip(models(results), results, strict=True)
        for value, mean, low, high, n in result.summary.filter(chosen & (pl.col("dimension") != EVERYTHING))
        .select("dimension", "value", "low", "high", "n")
        .iter_rows()
    ]


def _quantiles(result: Result, group: str, y: alt.Y) -> list[alt.Chart]:
    """Bars from 5 to 95 and from 25 to 75 percent of the survey's respondents, and a tick at their median."""
    people = result.summary.filter((pl.col("measure") == SURVEY_QUANTILE) & (pl.col("group") == group))
    if not len(people):
        return []
    fields = ("value", "p5", "p25", "p50", "p75", "p95")
    wide = people.pivot("item", index="dimension", values="value")
    rows = [dict(zip(fields, row, strict=True)) for row in wide.iter_rows()]
    base = alt.Chart(alt.InlineData(rows)).encode(y=y)
    return [
        base.mark_bar(color=FAINT, opacity=0.2, aria=False).encode(x=_rating_axis("p5"), x2="p95:Q"),
        base.mark_bar(color=FAINT, opacity=0.35, aria=False).encode(x=_rating_axis("p25"), x2="p75:Q"),
        base.mark_tick(color=INK, thickness=2, aria=False).encode(x=_rating_axis("p50")),
    ]


def _heat(results: Sequence[Result]) -> alt.LayerChart:
    rows = []
    order = [
        *every_item(results).filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list(),
        EVERYTHING,
    ]
    columns = []
    for model, result in zip(models(results), results, strict=True):
        estimates = result.summary.filter(
            (pl.col("measure") == REPRESENTATIVE)
            & (pl.col("variant") == result.items["variant"][0])
            & (pl.col("item") == "")
        )
        for group, dimension, value in estimates.select("group", "dimension", "value").iter_rows():
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
