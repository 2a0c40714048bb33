"""Figures of minimal pairs. Rendering only: every number comes from a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import polars as pl

from penchant.counting import for_one
from penchant.instruments.minimal_pairs import human_section
from penchant.instruments.minimal_pairs.estimates import ACCURACY, ALL, BY_DIFFERENCE, STEREOTYPE, pair_of
from penchant.instruments.minimal_pairs.formats import DIRECTIONS
from penchant.instruments.minimal_pairs.sets import by_set
from penchant.instruments.minimal_pairs.stereotypes import of_stereotypes
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import FAINT, INK, Figure
from penchant.report.tables import models

COLOURS = {
    "none": "#0072B2",
    "mean": "#D55E00",
    "pen": "#009E73",
    "slln": "#CC79A7",
    "slor": "#E69F00",
    "pmi": "#56B4E9",
}
NAMES = {how: how for how in COLOURS}


def accuracy_by_length(
    summary: pl.DataFrame,
    *,
    fewest: int = 50,
    title: str = "Accuracy by difference of token lengths",
    pair: tuple[str, str] = ("acceptable", "unacceptable"),
) -> alt.LayerChart:
    """Accuracy against |A|−|U| for each normalisation, with intervals, from the summary of one data set and model.
    `pair` says what the sentences A and U are. Differences that fewer than `fewest` pairs have are left out; the
    caption says how many pairs that is."""
    rows = _by_difference(summary)
    shown = rows.filter(pl.col("n") >= fewest).with_columns(
        pl.col("split").cast(pl.Int32).alias("difference"),
        (100 * pl.col("value")).alias("accuracy"),
        (100 * pl.col("low")).alias("from"),
        (100 * pl.col("high")).alias("to"),
        pl.col("normalise").replace_strict(NAMES).alias("score"),
    )
    rare = rows.filter((pl.col("n") < fewest) & (pl.col("normalise") == rows["normalise"].first()))
    caption = _rare(int(rare["n"].sum()), fewest)
    names = [NAMES[how] for how in NAMES if NAMES[how] in set(shown["score"])]
    shades = alt.Scale(domain=names, range=[COLOURS[how] for how in NAMES if NAMES[how] in names])
    colour = alt.Color("score:N", sort=names, scale=shades)
    steps = shown["difference"].max() or 0, shown["difference"].min() or 0
    # The scores stand side by side at each difference, so that none hides the interval of another.
    shift = {name: 0.06 * (i - (len(names) - 1) / 2) for i, name in enumerate(names)}
    beside = shown.with_columns((pl.col("difference") + pl.col("score").replace_strict(shift)).alias("x"))
    base = alt.Chart(
        alt.InlineData(beside.select("x", "difference", "accuracy", "from", "to", "score", "n").to_dicts())
    )
    x = alt.X(
        "x:Q",
        title=f"|A| − |U|, tokens of the {pair[0]} minus the {pair[1]} sentence",
        axis=alt.Axis(tickMinStep=1, labelExpr="datum.value == 0 ? '0' : format(datum.value, '+d')"),
        scale=alt.Scale(domain=[float(steps[1]) - 0.3, float(steps[0]) + 0.3], nice=False),  # type: ignore[arg-type]
    )
    y = alt.Y("accuracy:Q", title="accuracy, %", scale=alt.Scale(domain=[0, 100]))
    lines = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour.legend(None))
    whiskers = base.mark_rule(aria=False).encode(x=x, y="from:Q", y2="to:Q", color=colour.legend(None))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x,
        y=y,
        color=alt.Color("score:N", title="score", sort=names, scale=shades),
        shape=alt.Shape("score:N", sort=names, legend=None),
        tooltip=["score:N", "difference:Q", alt.Tooltip("accuracy:Q", format=".1f"), alt.Tooltip("n:Q", title="pairs")],
    )
    half = alt.Chart(alt.InlineData([{"y": 50}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(y="y:Q")
    layers = alt.layer(half, whiskers, lines, points).resolve_legend(color="independent")
    return layers.properties(width=520, height=300, title=alt.TitleParams(title, subtitle=caption))


SPLIT_MARKS = {"A=U": (INK, "circle"), "A>U": ("#D55E00", "triangle-up"), "A<U": ("#0072B2", "triangle-down")}
_BESIDE = 2
"""Panels beside each other: as many as a screen shows at the size of its text."""
_LONG = 20
"""Number of rows above which a plot has its axis at the top."""
FEWEST = 50
"""Fewest pairs that a difference of lengths must have to be drawn."""
Summaries: TypeAlias = Sequence[tuple[str, pl.DataFrame]]
"""The summary of one data set for each model, with the model's name."""


def _rare(pairs: int, fewest: int) -> str:
    """What is not drawn for being rare; empty for nothing."""
    rare = f"{pairs} {for_one(pairs, 'pairs')} with differences rarer than {fewest} pairs"
    return f"{rare} {for_one(pairs, 'are')} not shown" if pairs else ""


def figures(results: Sequence[Result]) -> list[Figure]:
    """For each data set: accuracy by paradigm, split and model; accuracy against |A|−|U| for models with more than one
    difference that enough pairs have; and the distribution of |A|−|U| under each tokenizer."""
    shown = []
    sets = by_set(results)
    for name, having in sets.items():
        summaries = [
            (model, result.summary.filter(pl.col("dataset") == name))
            for model, result in zip(models(having), having, strict=True)
        ]
        suffix = f"-{name}" if len(sets) > 1 else ""
        pair = pair_of(name, having[0])
        if of_stereotypes(summaries[0][1], name):
            shown.append(_stereotype_figure(name, suffix, summaries))
        shown.append(_accuracy_figure(name, suffix, summaries, pair))
        if any(_steps(summary) > 1 for _, summary in summaries):
            shown.append(_length_figure(name, suffix, summaries, pair))
        shown.append(_token_figure(name, suffix, summaries, pair))
    return [*shown, *human_section.figures(results)]


def _accuracy_figure(name: str, suffix: str, summaries: Summaries, pair: tuple[str, str]) -> Figure:
    scope, noun = ("phenomenon", "kind of bias") if of_stereotypes(summaries[0][1], name) else ("paradigm", "paradigm")
    several = _several(summaries, scope)
    return Figure(
        f"accuracy{suffix}",
        f"{name}: accuracy by {noun} and token lengths",
        f"For each model a row for every {noun} of {name}, with the accuracy, the share of pairs whose {pair[0]} "
        "sentence is more probable, and its interval of the pairs in which both sentences have as many tokens (A=U), "
        "that one has more (A>U), and it has fewer (A<U).",
        _accuracies(summaries, scope, noun),
        f"by-{scope}" if several else "accuracy",
        picks=f"{scope} lengths",
    )


def _stereotype_figure(name: str, suffix: str, summaries: Summaries) -> Figure:
    several = _several(summaries, "phenomenon")
    return Figure(
        f"stereotypes{suffix}",
        f"{name}: stereotype score by kind of bias",
        f"For each model a row for every kind of bias of {name}, with the percentage of all its pairs whose more "
        "stereotypical sentence is more probable, and its interval; at the dashed line there is no preference.",
        alt.concat(*(_scores(model, summary) for model, summary in summaries), columns=_BESIDE),
        "stereotype-by-kind" if several else "stereotype",
        picks="phenomenon",
    )


def _several(summaries: Summaries, scope: str) -> bool:
    """Return whether there are several groups of a scope."""
    return len({group for _, summary in summaries for group in summary.filter(scope=scope)["group"]}) > 1


def _scores(model: str, summary: pl.DataFrame) -> alt.LayerChart:
    """The stereotype scores of one model, over all pairs and by kind of bias; of the first score reported."""
    how = summary["normalise"][0]
    chosen = (pl.col("measure") == STEREOTYPE) & (pl.col("scope") == "stereotype") & (pl.col("normalise") == how)
    rows = summary.filter(chosen & ~pl.col("group").is_in(DIRECTIONS)).select(
        pl.when(pl.col("group") == ALL).then(pl.lit("all pairs")).otherwise(pl.col("group")).alias("row"),
        pl.lit(model).alias("model"),
        pl.when(pl.col("group") != ALL).then(pl.col("group")).alias("phenomenon"),
        *(pl.col(column).fill_nan(None) for column in ("value", "low", "high")),
        "n",
    )
    numbers = (("value", "stereotype score"), ("low", "from"), ("high", "to"))
    base = alt.Chart(alt.InlineData(rows.to_dicts())).encode(
        y=alt.Y("row:N", sort=rows["row"].to_list(), title=None, axis=alt.Axis(labelLimit=320)),
        tooltip=[
            alt.Tooltip("row:N", title="kind of bias"),
            *(alt.Tooltip(f"{column}:Q", title=title, format=".1f") for column, title in numbers),
            alt.Tooltip("n:Q", title="pairs"),
        ],
    )
    return _forest_of(base, f"stereotype score, % (score: {how})", alt.Axis(), 18).properties(title=model)


def _forest_of(base: alt.Chart, title: str, axis: alt.Axis, step: int, **marks: alt.Shape) -> alt.LayerChart:
    """Points with their intervals on a scale of percent, above a line at 50; a row is `step` pixels high."""
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, 100]), axis=axis)
    spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q", title=title, axis=axis), x2="high:Q")
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, **marks)
    half = alt.Chart(alt.InlineData([{"x": 50}])).mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(x="x:Q")
    return alt.layer(half, spread, points).properties(width=320, height=alt.Step(step))


def _length_figure(name: str, suffix: str, summaries: Summaries, pair: tuple[str, str]) -> Figure:
    """Accuracy against |A|−|U|, for the models that have more than one point to show."""
    curves = [(model, summary) for model, summary in summaries if _steps(summary) > 1]
    panels = [
        accuracy_by_length(summary, fewest=FEWEST, title=model, pair=pair).properties(width=340)
        for model, summary in curves
    ]
    missing = ", ".join(model for model, _ in summaries if model not in dict(curves))
    lacking = f" Not drawn, for want of differences that {FEWEST} pairs have: {missing}." if missing else ""
    return Figure(
        f"length{suffix}",
        f"{name}: accuracy against the difference of token lengths",
        f"For each model, accuracy on {name} (the {pair[0]} sentence is more probable) at every |A|−|U|, its tokens "
        f"minus those of the {pair[1]} one, for each score; flat where token length does not matter.{lacking}",
        alt.concat(*panels, columns=_BESIDE),
        "by-difference",
    )


def _token_figure(name: str, suffix: str, summaries: Summaries, pair: tuple[str, str]) -> Figure:
    return Figure(
        f"tokens{suffix}",
        f"{name}: token counts by tokenizer",
        f"For each model's tokenizer, the number of pairs of {name} by how many tokens more the {pair[0]} "
        f"sentence has than the {pair[1]} one.",
        _lengths(summaries),
        "by-difference",
    )


def _by_difference(summary: pl.DataFrame) -> pl.DataFrame:
    """The accuracies by |A|−|U|, over all pairs of a data set."""
    return summary.filter((pl.col("measure") == BY_DIFFERENCE) & (pl.col("scope") == "overall"))


def _steps(summary: pl.DataFrame) -> int:
    """The number of differences of length that enough pairs have to be drawn."""
    rows = _by_difference(summary)
    return int(rows.filter(pl.col("n") >= FEWEST)["split"].n_unique())


def _lengths(summaries: Summaries) -> alt.Chart:
    """Number of pairs by |A|−|U|, with a row of bars for each tokenizer."""
    rows = []
    for model, summary in summaries:
        steps = _by_difference(summary)
        for step, n in steps.filter(pl.col("normalise") == steps["normalise"][0]).select("split", "n").iter_rows():
            difference = int(step)
            kind = "A=U" if difference == 0 else "A>U" if difference > 0 else "A<U"
            place = {"from": difference - 0.45, "to": difference + 0.45, "none": 0}
            said = f"{model}, |A|−|U| {difference}: {n} {for_one(n, 'pairs')}"
            rows.append({"model": model, "difference": difference, **place, "pairs": n, "lengths": kind, "said": said})
    names = [model for model, _ in summaries]
    most = max((row["pairs"] for row in rows), default=0)
    whole = alt.Axis(format=",d", **({"values": list(range(most + 1))} if most < 6 else {}))  # there is no half a pair
    return (
        alt.Chart(alt.InlineData(rows))
        # A bar between two places on x would be taken for a horizontal one, as thin as a dash; hence all four sides.
        .mark_rect()
        .encode(
            x=alt.X(
                "from:Q",
                title="|A| − |U|, tokens",
                axis=alt.Axis(tickMinStep=1, labelExpr="datum.value == 0 ? '0' : format(datum.value, '+d')"),
            ),
            x2="to:Q",
            y=alt.Y("none:Q", title="pairs", axis=whole),
            y2="pairs:Q",
            description="said:N",
            color=_split_colour(),
            row=alt.Row("model:N", sort=names, title=None, header=alt.Header(orient="top", labelAnchor="start")),
            tooltip=["model:N", "lengths:N", alt.Tooltip("difference:Q", title="|A|−|U|"), "pairs:Q"],
        )
        .properties(width=520, height=110)
    )


def _split_colour() -> alt.Color:
    scale = alt.Scale(domain=list(SPLIT_MARKS), range=[colour for colour, _ in SPLIT_MARKS.values()])
    return alt.Color("lengths:N", title="token lengths", sort=list(SPLIT_MARKS), scale=scale)


def _accuracies(summaries: Summaries, scope: str, noun: str) -> alt.ConcatChart:
    """A forest plot for each model: a row per group of a scope, which is called `noun`, a mark per split, with
    intervals; of the first score reported."""
    total = "all pairs"
    while any(total in summary.filter(pl.col("scope") == scope)["group"] for _, summary in summaries):
        total = f"({total})"
    rows = [
        (model, summary["normalise"][0], _forest_rows(model, summary, total, scope)) for model, summary in summaries
    ]
    ranked = (
        of_model.filter((pl.col("scope") == scope) & (pl.col("split") == ALL)).sort("value", "row")["row"]
        for _, _, of_model in rows
    )  # the order of the first holds for all models, so that their rows line up
    order = list(dict.fromkeys([total, *(row for each in ranked for row in each)]))
    panels = (_forest(model, how, of_model, order, scope, noun) for model, how, of_model in rows)
    return alt.concat(*panels, columns=_BESIDE)


def _forest_rows(model: str, summary: pl.DataFrame, total: str, scope: str) -> pl.DataFrame:
    """Accuracies in percent, by group of a scope and, in the row `total`, over all pairs."""
    return summary.filter(
        (pl.col("measure") == ACCURACY)
        & (pl.col("normalise") == summary["normalise"][0])
        & pl.col("scope").is_in(["overall", scope])
    ).with_columns(
        pl.when(pl.col("scope") == "overall").then(pl.lit(total)).otherwise(pl.col("group")).alias("row"),
        pl.lit(model).alias("model"),
        pl.when(pl.col("scope") == scope).then(pl.col("group")).alias(scope),
        *((100 * pl.col(column)).fill_nan(None).alias(column) for column in ("value", "low", "high")),
    )


def _forest(model: str, how: str, rows: pl.DataFrame, order: list[str], scope: str, noun: str) -> alt.LayerChart:
    """The forest plot of one model, of the score `how`."""
    shown = rows.filter(pl.col("split").is_in(list(SPLIT_MARKS)) & (pl.col("n") > 0)).select(
        "row", "model", scope, pl.col("split").alias("lengths"), "value", "low", "high", "n"
    )
    base = alt.Chart(alt.InlineData(shown.to_dicts())).encode(
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelLimit=320)),
        yOffset=alt.YOffset("lengths:N", sort=list(SPLIT_MARKS)),
        color=_split_colour(),
        tooltip=[
            alt.Tooltip("row:N", title=noun),
            "lengths:N",
            alt.Tooltip("value:Q", title="accuracy", format=".1f"),
            alt.Tooltip("low:Q", title="from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
            alt.Tooltip("n:Q", title="pairs"),
        ],
    )
    title = f"accuracy, % (score: {how})"
    # A long plot has its axis at the top, where reading begins.
    axis = alt.Axis(orient="top") if len(order) > _LONG else alt.Axis()
    return _forest_of(base, title, axis, 9, shape=_split_shape()).properties(title=model)


def _split_shape() -> alt.Shape:
    scale = alt.Scale(domain=list(SPLIT_MARKS), range=[shape for _, shape in SPLIT_MARKS.values()])
    return alt.Shape("lengths:N", title="token lengths", sort=list(SPLIT_MARKS), scale=scale)
