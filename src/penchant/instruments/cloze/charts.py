"""Figures of cloze valence. Rendering only: every number comes from items and summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, INK, Figure
from penchant.report.items import every_item
from penchant.report.tables import models

_VALENCE_COLOURS = {-1.0: "#b35806", -0.5: "#f1a340", 0.0: "#dddddd", 0.5: "#998ec3", 1.0: "#542788"}
"""The colours of the points of the scale; those of the valences between them lie between these."""
_UNRATED_COLOUR = "#fff"
_QUARTERS = {0.0: "", 1.0: "¼", 2.0: "½", 3.0: "¾"}
_MANY = 120
"""Number of sentences above which their figure is left out; the table of items has them all."""


def figures(results: Sequence[Result]) -> list[Figure]:
    """β and δ of every sentence with mean and interval, by group and model, and the words predicted at each gap."""
    low, _, high = results[0].signature["scale"].partition(" < ")
    beta = f"β   (−1 {low}  …  +1 {high})"
    level = f"{results[0].summary['level'][0]:.0%}"
    strips = (
        "For each group of sentences and each model a strip of points, one a sentence, and a diamond at their mean "
        f"with its {level} interval: "
    )
    shown = [
        Figure(
            "beta",
            "Where each model leans",
            strips + beta,
            _strips(results, "beta", beta, (-1.0, 1.0)),
            "valence",
            "item",
        ),
        Figure(
            "delta",
            "How well each model suits the sentences",
            strips + "δ, adequacy",
            _strips(results, "delta", "δ, adequacy", (0.0, 1.0)),
            "valence",
            "item",
        ),
    ]
    if all(result.items["beta"].null_count() == len(result.items) for result in results):
        shown = []  # nothing is rated, so no model leans anywhere
    if len(every_item(results)) <= _MANY:
        shown.append(
            Figure(
                "sentences",
                "What each model puts into each gap",
                "For each model and sentence a bar of the predicted words: length is probability, colour is valence, "
                "white is unrated.",
                _sentences(results),
                picks="item",
            )
        )
    elif shown:
        left_out = f" The picture of the words in every gap is left out for more than {_MANY} sentences."
        shown[-1] = replace(shown[-1], text=shown[-1].text + left_out)
    return shown


def _strips(results: Sequence[Result], column: str, axis: str, domain: tuple[float, float]) -> alt.FacetChart:
    """A strip of sentences for each model and group, with mean and interval."""
    names = models(results)
    points = pl.concat(
        result.items.select(
            pl.col("id").alias("item"), "text", "group", "expected", pl.col(column).alias("value")
        ).with_columns(pl.lit(model).alias("model"))
        for model, result in zip(names, results, strict=True)
    ).filter(pl.col("value").is_not_null())
    means = pl.concat(
        result.summary.filter(
            (pl.col("measure") == MEASURES[column]) & (pl.col("group") != EVERYTHING) & pl.col("value").is_not_nan()
        ).select("group", pl.col("value").alias("mean"), "low", "high", pl.lit(model).alias("model"))
        for model, result in zip(names, results, strict=True)
    )
    groups = points["group"].unique(maintain_order=True).to_list()
    # Points and means share one table, as facets need. Neighbouring points of a strip are separated by their rank.
    jittered = points.with_columns(
        ((pl.int_range(pl.len()) * 7 % 11) / 10 - 0.5).over("group", "model").alias("jitter")
    )
    rows = pl.concat([jittered, means], how="diagonal").with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts()
    colour = alt.Color(
        "model:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])), legend=None
    )
    y = alt.Y("model:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart().properties(width=460, height=alt.Step(34))
    x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=list(domain)))
    strip = base.mark_point(filled=True, opacity=0.8, size=28).encode(
        x=x,
        y=y,
        color=colour,
        yOffset=alt.YOffset("jitter:Q", scale=alt.Scale(domain=[-1.2, 1.2])),
        tooltip=["item:N", "text:N", alt.Tooltip("value:Q", format=".2f")],
    )
    spread = base.mark_rule(strokeWidth=2.5, color=INK, aria=False).encode(
        x=alt.X("low:Q", title=axis), x2="high:Q", y=y
    )
    mean = base.mark_point(shape="diamond", filled=True, size=70, opacity=0.85).encode(
        x=alt.X("mean:Q", title=axis), y=y, color=alt.value(INK), tooltip=[alt.Tooltip("mean:Q", format=".2f")]
    )
    return alt.layer(strip, spread, mean, data=alt.InlineData(rows)).facet(
        row=alt.Row("group:N", sort=groups, title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    )


def _sentences(results: Sequence[Result]) -> alt.HConcatChart:
    """For every sentence one bar of the predicted words: length is probability, colour is valence, white "
    "is unrated."""
    panels = []
    ids = every_item(results)["id"].to_list()
    for result in results:
        rows = []
        columns = result.items.select("id", "text", "words", "probs", "valences").iter_rows()
        for (id_, text, words, probs, valences), worths in zip(columns, every_worth(result.items), strict=True):
            start = 0.0
            for word, p, value, said in zip(words, probs, valences, worths, strict=True):
                rows.append(
                    {
                        "item": id_,
                        "text": text,
                        "word": word,
                        "label": word if p * 30 > len(word) * 0.55 else "",
                        "from": start,
                        "to": start + p,
                        "middle": start + p / 2,
                        "p": p,
                        "valence": value,
                        "worth": said,
                    }
                )
                start += p
        base = alt.Chart(alt.InlineData(rows)).encode(
            y=alt.Y("item:N", sort=ids, scale=alt.Scale(domain=ids), title=None),
            tooltip=["text:N", "word:N", alt.Tooltip("p:Q", format=".3f"), "worth:N"],
        )
        scale = alt.Scale(domain=list(_VALENCE_COLOURS), range=list(_VALENCE_COLOURS.values()))
        bars = base.mark_bar(stroke="#888", strokeWidth=0.4).encode(
            x=alt.X("from:Q", title="probability", scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            color=alt.condition(
                "datum.valence === null",
                alt.value(_UNRATED_COLOUR),
                alt.Color("valence:Q", title="valence (white: unrated)", scale=scale),
            ),
        )
        names = base.mark_text(fontSize=9).encode(
            x="middle:Q",
            text="label:N",
            color=alt.condition("datum.valence > 0.75", alt.value("white"), alt.value("black")),
        )
        panels.append((bars + names).properties(width=380, height=alt.Step(15), title=result.signature["model"]))
    return alt.hconcat(*panels)


def worth(value: float | None, ratings: Sequence[float] = ()) -> str:
    """A valence as it is used: a quarter of the scale as a fraction, any other number with decimals; where raters
    differ, what each of them said follows."""
    if value is None:
        return "unrated"
    said = f" ({', '.join(map(_number, ratings))})" if len(set(ratings)) > 1 else ""
    return _number(value) + said


def _number(value: float) -> str:
    whole, rest = divmod(round(abs(value) * 4, 9), 4)
    if rest not in _QUARTERS:
        return f"{value:.3g}".replace("-", "−")
    digits = f"{whole:.0f}" if whole or not rest else ""
    return f"{'−' if value < 0 else ''}{digits}{_QUARTERS[rest]}"


def every_worth(items: pl.DataFrame) -> list[list[str]]:
    """`worth` of every predicted word of every sentence. A table made before ratings were kept has no ratings."""
    if "ratings" not in items.columns:
        items = items.with_columns(ratings=pl.lit(None))
    return [
        [worth(value, said) for value, said in zip(values, ratings or [()] * len(values), strict=True)]
        for values, ratings in items.select("valences", "ratings").iter_rows()
    ]
