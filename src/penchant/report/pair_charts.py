"""Figures of minimal pairs. Rendering only: every number comes from a summary."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from penchant.records import Result
from penchant.report.figures import FAINT, INK, Figure
from penchant.report.tables import models

COLOURS = {"none": "#0072B2", "mean": "#D55E00", "pen": "#009E73"}
NAMES = {"none": "none", "mean": "mean", "pen": "pen"}


def accuracy_by_length(
    summary: pl.DataFrame, *, fewest: int = 50, title: str = "Accuracy by difference of token lengths"
) -> alt.LayerChart:
    """Accuracy against |A|−|U| for each normalisation, with intervals; one panel's worth of a minimal-pair summary.

    Differences that fewer than `fewest` pairs have are left out, and the caption says how many pairs that is.
    """
    rows = summary.filter((pl.col("measure") == "accuracy by |A|−|U|") & (pl.col("scope") == "overall"))
    shown = rows.filter(pl.col("n") >= fewest).with_columns(
        pl.col("split").cast(pl.Int32).alias("difference"),
        (100 * pl.col("value")).alias("accuracy"),
        (100 * pl.col("low")).alias("from"),
        (100 * pl.col("high")).alias("to"),
        pl.col("normalise").replace_strict(NAMES).alias("score"),
    )
    rare = rows.filter((pl.col("n") < fewest) & (pl.col("normalise") == rows["normalise"].first()))
    left_out = int(rare["n"].sum())
    caption = f"{left_out} pairs with differences rarer than {fewest} pairs are not shown" if left_out else ""
    names = [NAMES[how] for how in NAMES if NAMES[how] in set(shown["score"])]
    shades = alt.Scale(domain=names, range=[COLOURS[how] for how in NAMES if NAMES[how] in names])
    colour = alt.Color("score:N", sort=names, scale=shades)
    steps = shown["difference"].max() or 0, shown["difference"].min() or 0
    # The three stand side by side at each difference, so that none hides another's interval.
    shift = {name: 0.06 * (i - (len(names) - 1) / 2) for i, name in enumerate(names)}
    beside = shown.with_columns((pl.col("difference") + pl.col("score").replace_strict(shift)).alias("x"))
    base = alt.Chart(
        alt.InlineData(beside.select("x", "difference", "accuracy", "from", "to", "score", "n").to_dicts())
    )
    axis = alt.Axis(tickMinStep=1, labelExpr="datum.value == 0 ? '0' : format(datum.value, '+d')")
    x = alt.X(
        "x:Q",
        title="|A| − |U|, tokens of the acceptable minus the unacceptable sentence",
        axis=axis,
        scale=alt.Scale(domain=[float(steps[1]) - 0.3, float(steps[0]) + 0.3], nice=False),  # type: ignore[arg-type]
    )
    y = alt.Y("accuracy:Q", title="accuracy, %", scale=alt.Scale(domain=[0, 100]))
    lines = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour.legend(None))
    whiskers = base.mark_rule(aria=False).encode(x=x, y="from:Q", y2="to:Q", color=colour.legend(None))
    shape = alt.Shape("score:N", sort=names, legend=None)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x,
        y=y,
        color=alt.Color("score:N", title="score", sort=names, scale=shades),
        shape=shape,
        tooltip=["score:N", "difference:Q", alt.Tooltip("accuracy:Q", format=".1f"), alt.Tooltip("n:Q", title="pairs")],
    )
    half = alt.Chart(alt.InlineData([{"y": 50}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(y="y:Q")
    layers = alt.layer(half, whiskers, lines, points).resolve_legend(color="independent")
    return layers.properties(width=520, height=300, title=alt.TitleParams(title, subtitle=caption))


SPLIT_MARKS = {"A=U": (INK, "circle"), "A>U": ("#D55E00", "triangle-up"), "A<U": ("#0072B2", "triangle-down")}
_LONG = 20
FEWEST = 50
"""Pairs that a difference of lengths must have to be drawn."""


def figures(results: Sequence[Result]) -> list[Figure]:
    """For each data set: accuracy by paradigm, split and model; accuracy against |A|−|U| for the models in which some
    difference has enough pairs; and how |A|−|U| is spread under each tokenizer."""
    found = []
    names = results[0].summary["dataset"].unique(maintain_order=True).to_list()
    for name in names:
        own = [
            (model, r.summary.filter(pl.col("dataset") == name))
            for model, r in zip(models(results), results, strict=True)
        ]
        suffix = f"-{name}" if len(names) > 1 else ""
        found.append(
            Figure(
                f"accuracy{suffix}",
                f"{name}: accuracy by paradigm and token lengths",
                f"For each model a row for every paradigm of {name}, with the accuracy and its interval of the pairs "
                "in which both sentences have as many tokens, the acceptable one has more, and it has fewer.",
                _accuracies(own),
                "by-paradigm"
                if own[0][1].filter(pl.col("scope") == "paradigm")["group"].n_unique() > 1
                else "accuracy",
                picks="paradigm lengths",
            )
        )
        curves = [(model, summary) for model, summary in own if _steps(summary) > 1]
        if curves:
            panels = [
                accuracy_by_length(own, fewest=FEWEST, title=model).properties(width=340) for model, own in curves
            ]
            missing = ", ".join(model for model, _ in own if model not in dict(curves))
            lacking = f" Not drawn, for want of differences that {FEWEST} pairs have: {missing}." if missing else ""
            found.append(
                Figure(
                    f"length{suffix}",
                    f"{name}: accuracy against the difference of token lengths",
                    f"For each model, accuracy on {name} at every |A|−|U| for each score; flat where token length "
                    f"does not matter.{lacking}",
                    alt.hconcat(*panels),
                    "by-difference",
                )
            )
        found.append(
            Figure(
                f"tokens{suffix}",
                f"{name}: token counts by tokenizer",
                f"For each model's tokenizer, the number of pairs of {name} by how many tokens more the acceptable "
                "sentence has than the unacceptable one.",
                _lengths(own),
                "by-difference",
            )
        )
    return found


def _steps(summary: pl.DataFrame) -> int:
    """Differences of length that have enough pairs to be drawn."""
    rows = summary.filter((pl.col("measure") == "accuracy by |A|−|U|") & (pl.col("scope") == "overall"))
    return int(rows.filter(pl.col("n") >= FEWEST)["split"].n_unique())


def _lengths(summaries: Sequence[tuple[str, pl.DataFrame]]) -> alt.Chart:
    """Pairs by |A|−|U|, a row of bars for each tokenizer."""
    rows = []
    for model, summary in summaries:
        steps = summary.filter((pl.col("measure") == "accuracy by |A|−|U|") & (pl.col("scope") == "overall"))
        for step, n in steps.filter(pl.col("normalise") == steps["normalise"][0]).select("split", "n").iter_rows():
            difference = int(step)
            kind = "A=U" if difference == 0 else "A>U" if difference > 0 else "A<U"
            place = {"from": difference - 0.45, "to": difference + 0.45}
            rows.append({"model": model, "difference": difference, **place, "pairs": n, "lengths": kind})
    names = [model for model, _ in summaries]
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "from:Q",
                title="|A| − |U|, tokens of the acceptable minus the unacceptable sentence",
                axis=alt.Axis(tickMinStep=1, labelExpr="datum.value == 0 ? '0' : format(datum.value, '+d')"),
            ),
            x2="to:Q",
            y=alt.Y("pairs:Q", title="pairs"),
            color=_split_colour(),
            row=alt.Row("model:N", sort=names, title=None, header=alt.Header(orient="top", labelAnchor="start")),
            tooltip=["model:N", "lengths:N", alt.Tooltip("difference:Q", title="|A|−|U|"), "pairs:Q"],
        )
        .properties(width=520, height=110)
    )


def _split_colour() -> alt.Color:
    scale = alt.Scale(domain=list(SPLIT_MARKS), range=[colour for colour, _ in SPLIT_MARKS.values()])
    return alt.Color("lengths:N", title="token lengths", sort=list(SPLIT_MARKS), scale=scale)


def _accuracies(summaries: Sequence[tuple[str, pl.DataFrame]]) -> alt.HConcatChart:
    """A forest plot for each model: a row a paradigm, a mark a split, with intervals; of the first score reported."""
    panels = []
    order: list[str] = []
    total = "all pairs"
    while total in set(summaries[0][1].filter(pl.col("scope") == "paradigm")["group"]):
        total = f"({total})"
    for model, summary in summaries:
        how = summary["normalise"][0]
        rows = summary.filter(
            (pl.col("measure") == "accuracy")
            & (pl.col("normalise") == how)
            & pl.col("scope").is_in(["overall", "paradigm"])
        ).with_columns(
            pl.when(pl.col("scope") == "overall").then(pl.lit(total)).otherwise(pl.col("group")).alias("row"),
            pl.lit(model).alias("model"),
            pl.when(pl.col("scope") == "paradigm").then(pl.col("group")).alias("paradigm"),
            *((100 * pl.col(column)).fill_nan(None).alias(column) for column in ("value", "low", "high")),
        )
        if not order:  # the first model's order holds for all, so that rows line up
            ranked = rows.filter((pl.col("scope") == "paradigm") & (pl.col("split") == "all")).sort("value", "row")
            order = [total, *ranked["row"].to_list()]
        shown = rows.filter(pl.col("split").is_in(list(SPLIT_MARKS)) & (pl.col("n") > 0))
        base = alt.Chart(
            alt.InlineData(
                shown.select(
                    "row", "model", "paradigm", pl.col("split").alias("lengths"), "value", "low", "high", "n"
                ).to_dicts()
            )
        ).encode(
            y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelLimit=320)),
            yOffset=alt.YOffset("lengths:N", sort=list(SPLIT_MARKS)),
            color=_split_colour(),
            tooltip=[
                alt.Tooltip("row:N", title="paradigm"),
                "lengths:N",
                alt.Tooltip("value:Q", title="accuracy", format=".1f"),
                alt.Tooltip("low:Q", title="from", format=".1f"),
                alt.Tooltip("high:Q", title="to", format=".1f"),
                alt.Tooltip("n:Q", title="pairs"),
            ],
        )
        axis = f"accuracy, % (score: {how})"
        # A long plot is read from its top too.
        sides = alt.Axis(orient="top") if len(order) > _LONG else alt.Axis()
        x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=[0, 100]), axis=sides)
        spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(
            x=alt.X("low:Q", title=axis, axis=sides), x2="high:Q"
        )
        points = base.mark_point(filled=True, size=45, opacity=1).encode(
            x=x,
            shape=alt.Shape(
                "lengths:N",
                title="token lengths",
                sort=list(SPLIT_MARKS),
                scale=alt.Scale(domain=list(SPLIT_MARKS), range=[shape for _, shape in SPLIT_MARKS.values()]),
            ),
        )
        half = (
            alt.Chart(alt.InlineData([{"x": 50}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
        )
        panels.append(alt.layer(half, spread, points).properties(width=320, height=alt.Step(9), title=model))
    return alt.hconcat(*panels)
