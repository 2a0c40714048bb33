"""Charts of token lengths: accuracy by length difference, and the number of pairs by length difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs.estimates import ACCURACY, BY_DIFFERENCE
from penchant.instruments.minimal_pairs.pair_credits import ALL
from penchant.records import BaseResult
from penchant.report import figures
from penchant.report.figures import FAINT
from penchant.report.lazy_altair import alt, inline
from penchant.stats.inputs import FEWEST as FEWEST_TO_SHOW
from penchant.views.row_selection import sources
from penchant.wording.templates import Text

_WORDS = Text.of(Path(__file__).parent).below("charts")
SCORES = {
    "none": "#0072B2",
    "mean": "#D55E00",
    "pen": "#009E73",
    "slln": "#CC79A7",
    "fitted": "#7F3C8D",
    "slor": "#E69F00",
    "pmi": "#56B4E9",
}
"""Colour of each score."""
LENGTHS = {"A=U": "same", "A>U": "longer", "A<U": "shorter"}
"""Names of the splits in figures and items: how long the acceptable sentence is, compared with the other one."""
FEWEST = 50
"""Minimum number of pairs at a length difference for it to be drawn."""


def varies_in_length(summary: pl.DataFrame) -> bool:
    """Return whether at least two of the splits by length have `FEWEST_TO_SHOW` or more pairs."""
    rows = summary.filter(pl.col("split") != ALL, measure=ACCURACY, scope="overall")
    return rows.filter(pl.col("n") >= FEWEST_TO_SHOW)["split"].n_unique() >= 2


def _steps() -> alt.Axis:
    return alt.Axis(tickMinStep=1, labelExpr="datum.value == 0 ? '0' : format(datum.value, '+d')")


def rule(axis: str, value: float) -> alt.Chart:
    """Return a dashed line across a chart at a value on the axis "x" or "y"."""
    chart = alt.Chart(inline([{axis: value}]))
    return chart.mark_rule(strokeDash=[4, 4], color=FAINT, aria=False).encode(**{axis: f"{axis}:Q"})


def accuracy_by_length(
    summary: pl.DataFrame,
    *,
    fewest: int = FEWEST,
    title: str = "Accuracy by difference of token lengths",
    pair: tuple[str, str] = ("acceptable", "unacceptable"),
) -> alt.LayerChart:
    """Return a chart of accuracy against |A|−|U| for each score, with intervals, for one model and data set.

    Differences with fewer than `fewest` pairs are not drawn; the number of their pairs is stated below the title.
    `pair` contains the names of the sentences A and U.
    """
    rows = _by_difference(summary)
    shown = rows.filter(pl.col("n") >= fewest).with_columns(
        pl.col("split").cast(pl.Int32).alias("difference"),
        (100 * pl.col("value")).alias("accuracy"),
        (100 * pl.col("low")).alias("from"),
        (100 * pl.col("high")).alias("to"),
        pl.col("normalise").alias("score"),
    )
    undrawn = int(rows.filter((pl.col("n") < fewest) & (pl.col("normalise") == rows["normalise"].first()))["n"].sum())
    caption = _WORDS.get("rare", n=undrawn, fewest=fewest) if undrawn else ""
    told = alt.Tooltip("accuracy:Q", format=".1f"), alt.Tooltip("n:Q", title="pairs")
    names = [how for how in SCORES if how in set(shown["score"])]
    shades = alt.Scale(domain=names, range=[SCORES[how] for how in names])
    colour = alt.Color("score:N", sort=names, scale=shades)
    steps = shown["difference"].max() or 0, shown["difference"].min() or 0
    # Scores are drawn side by side at each difference, so that none hides the interval of another.
    shift = {name: 0.06 * (i - (len(names) - 1) / 2) for i, name in enumerate(names)}
    beside = shown.with_columns((pl.col("difference") + pl.col("score").replace_strict(shift)).alias("x"))
    columns = ("x", "difference", "accuracy", "from", "to", "score", "n")
    base = alt.Chart(inline(beside.select(columns).to_dicts()))
    x = alt.X(
        "x:Q",
        title=_WORDS.get("difference", pair=pair),
        axis=_steps(),
        scale=alt.Scale(domain=[float(steps[1]) - 0.3, float(steps[0]) + 0.3], nice=False),  # type: ignore[arg-type]
    )
    y = alt.Y("accuracy:Q", title=_WORDS.get("accuracy"), scale=alt.Scale(domain=[0, 100]))
    lines = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour.legend(None))
    whiskers = base.mark_rule(aria=False).encode(x=x, y=alt.Y("from:Q"), y2=alt.Y2("to:Q"), color=colour.legend(None))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x,
        y=y,
        color=alt.Color("score:N", title="score", sort=names, scale=shades),
        shape=alt.Shape("score:N", sort=names, legend=None),
        tooltip=[*map(alt.Tooltip, ("score:N", "difference:Q")), *told],
    )
    layers = alt.layer(rule("y", 50), whiskers, lines, points).resolve_legend(color="independent")
    return layers.properties(width=520, height=300, title=alt.TitleParams(title, subtitle=caption))


def accuracies_by_length(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a chart of accuracy by length difference, or None if no model has at least two points.

    Each model that has at least two points is shown in a panel of its own.
    """
    curves = [source for source in sources(results) if is_curve(source.frame)]
    pair = text.facts["sides_of"][text.facts["level"]]
    panels = [
        accuracy_by_length(source.frame, title=source.model, pair=pair).properties(width=340) for source in curves
    ]
    return alt.concat(*panels, columns=2) if panels else None


def _by_difference(summary: pl.DataFrame) -> pl.DataFrame:
    return summary.filter(measure=BY_DIFFERENCE, scope="overall")


def is_curve(summary: pl.DataFrame) -> bool:
    """Return whether at least two length differences have enough pairs to be drawn."""
    return int(_by_difference(summary).filter(pl.col("n") >= FEWEST)["split"].n_unique()) > 1


def tokens_by_length(results: Sequence[BaseResult], text: Text) -> Any:
    """Return a histogram of the pairs' difference in tokens, acceptable minus unacceptable, for each tokenizer."""
    rows = []
    for source in sources(results):
        model, steps = source.model, _by_difference(source.frame)
        first = steps.filter(pl.col("normalise") == pl.col("normalise").first())
        for step, n in first.select("split", "n").iter_rows():
            difference = int(step)
            kind = LENGTHS["A=U" if difference == 0 else "A>U" if difference > 0 else "A<U"]
            place = {"from": difference - 0.45, "to": difference + 0.45, "none": 0}
            said = _WORDS.get("bar", model=model, difference=difference, n=n)
            rows.append({"model": model, "difference": difference, **place, "pairs": n, "lengths": kind, "said": said})
    names = [source.model for source in sources(results)]
    most = max((row["pairs"] for row in rows), default=0)
    whole = alt.Axis(format=",d", **({"values": list(range(most + 1))} if most < 6 else {}))  # whole pairs only
    scale = alt.Scale(domain=list(LENGTHS.values()), range=list(figures.COLOURS[1 : 1 + len(LENGTHS)]))
    legend = alt.Legend(values=[kind for kind in LENGTHS.values() if any(row["lengths"] == kind for row in rows)])
    return (
        alt.Chart(inline(rows))
        # mark_bar with both x and x2 draws a thin horizontal bar; mark_rect takes all four sides.
        .mark_rect()
        .encode(
            x=alt.X(
                "from:Q",
                title=_WORDS.get("tokens"),
                axis=_steps(),
            ),
            x2=alt.X2("to:Q"),
            y=alt.Y("none:Q", title="pairs", axis=whole),
            y2=alt.Y2("pairs:Q"),
            description="said:N",
            color=alt.Color(
                "lengths:N", title=_WORDS.get("lengths"), sort=list(LENGTHS.values()), scale=scale, legend=legend
            ),
            row=alt.Row("model:N", sort=names, title=None, header=alt.Header(orient="top", labelAnchor="start")),
            tooltip=[
                alt.Tooltip("model:N"),
                alt.Tooltip("lengths:N"),
                alt.Tooltip("difference:Q", title="difference"),
                alt.Tooltip("pairs:Q"),
            ],
        )
        .properties(width=520, height=110)
    )
