"""Cloze valence for a terminal and as charts. Rendering only: every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from penchant.probes.cloze_summary import EVERYTHING, MEASURES
from penchant.records import Result
from penchant.report.tables import aligned, p_value

MODEL_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
VALENCE_COLOURS = {"−1": "#b35806", "−½": "#f1a340", "0": "#dddddd", "½": "#998ec3", "1": "#542788", "unrated": "#fff"}
MOVED = "{}, ratings moved"


def table(results: Sequence[Result]) -> str:
    """Mean β, δ and rated mass by group and model, with intervals and the range with moved ratings."""
    rows = []
    for group in dict.fromkeys(g for r in results for g in r.summary["group"].to_list()):
        for result in results:
            own = {row["measure"]: row for row in result.summary.filter(pl.col("group") == group).iter_rows(named=True)}
            beta, delta, mass = (own[measure] for measure in MEASURES.values())
            moved = own[MOVED.format(MEASURES["delta"])]
            rows.append(
                {
                    "group": group,
                    "model": result.signature["model"],
                    "sentences": delta["n"],
                    "mean β": _with_interval(beta, "+.2f"),
                    "mean δ": _with_interval(delta, ".2f"),
                    "δ, ratings moved": _range(moved, ".2f"),
                    "rated mass": f"{mass['value']:.2f}",
                }
            )
    return aligned(pl.DataFrame(rows))


def comparison(found: pl.DataFrame) -> str:
    """Differences of mean β and δ between every two models, by group."""
    rows = []
    for measure in ("beta", "delta"):
        name = f"difference of {MEASURES[measure]}"
        moved = {
            (row["comparison"], row["group"]): row
            for row in found.filter(pl.col("measure") == MOVED.format(name)).iter_rows(named=True)
        }
        for row in found.filter(pl.col("measure") == name).iter_rows(named=True):
            rows.append(
                {
                    "difference": row["comparison"],
                    "of": MEASURES[measure],
                    "group": row["group"],
                    "sentences": row["n"],
                    "value": _with_interval(row, "+.3f"),
                    "ratings moved": _range(moved[row["comparison"], row["group"]], "+.3f"),
                    "p": p_value(row["p"]),
                    "p (Holm)": "" if row["group"] == EVERYTHING else p_value(row["p_holm"]),
                }
            )
    return aligned(pl.DataFrame(rows))


def _with_interval(row: dict[str, float], form: str) -> str:
    if math.isnan(row["value"]):
        return "–"
    return f"{row['value']:{form}}" + ("" if math.isnan(row["low"]) else f" {_range(row, form)}")


def _range(row: dict[str, float], form: str) -> str:
    return "–" if math.isnan(row["low"]) else f"[{row['low']:{form}}, {row['high']:{form}}]"


def charts(results: Sequence[Result]) -> dict[str, alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart]:
    """By name: `beta` and `delta` (each sentence, mean and interval, by group and model), `sentences` (what each model
    puts into each gap, and what that is worth)."""
    low, _, high = results[0].signature["scale"].partition(" < ")
    beta = f"β   (−1 {low}  …  +1 {high})"
    return {
        "beta": _strips(results, "beta", beta, "Where each model leans", (-1.0, 1.0)),
        "delta": _strips(results, "delta", "δ, adequacy", "How well each model suits the sentences", (0.0, 1.0)),
        "sentences": _sentences(results),
    }


def _strips(
    results: Sequence[Result], column: str, axis: str, title: str, domain: tuple[float, float]
) -> alt.FacetChart:
    """A strip of sentences for each model in each group, its mean and interval on it."""
    models = [result.signature["model"] for result in results]
    points = pl.concat(
        result.items.select("id", "text", "group", "expected", pl.col(column).alias("value")).with_columns(
            pl.lit(model).alias("model")
        )
        for model, result in zip(models, results, strict=True)
    )
    means = pl.concat(
        result.summary.filter((pl.col("measure") == MEASURES[column]) & (pl.col("group") != EVERYTHING)).select(
            "group", pl.col("value").alias("mean"), "low", "high", pl.lit(model).alias("model")
        )
        for model, result in zip(models, results, strict=True)
    )
    groups = points["group"].unique(maintain_order=True).to_list()
    # Both kinds of rows in one table, because facets take one; neighbours of a strip are kept apart by their rank.
    apart = points.with_columns(((pl.int_range(pl.len()) * 7 % 11) / 10 - 0.5).over("group", "model").alias("jitter"))
    rows = pl.concat([apart, means], how="diagonal").with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts()
    colour = alt.Color(
        "model:N", sort=models, scale=alt.Scale(domain=models, range=list(MODEL_COLOURS[: len(models)])), legend=None
    )
    y = alt.Y("model:N", sort=models, title=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart().properties(width=460, height=alt.Step(34))
    x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=list(domain)))
    strip = base.mark_point(filled=True, opacity=0.45, size=28).encode(
        x=x,
        y=y,
        color=colour,
        yOffset=alt.YOffset("jitter:Q", scale=alt.Scale(domain=[-1.2, 1.2])),
        tooltip=["id:N", "text:N", alt.Tooltip("value:Q", format=".2f")],
    )
    spread = base.mark_rule(strokeWidth=2.5, color="#111").encode(x=alt.X("low:Q", title=axis), x2="high:Q", y=y)
    mean = base.mark_point(shape="diamond", filled=True, size=110, opacity=1, stroke="white").encode(
        x=alt.X("mean:Q", title=axis), y=y, color=alt.value("#111"), tooltip=[alt.Tooltip("mean:Q", format=".2f")]
    )
    chart = alt.layer(strip, spread, mean, data=alt.InlineData(rows)).facet(
        row=alt.Row("group:N", sort=groups, title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    )
    levels = results[0].summary["level"][0]
    subtitle = f"points: sentences; diamonds: means with {levels:.0%} bootstrap intervals"
    return chart.properties(
        title=alt.TitleParams(title, subtitle=subtitle), description=f"{title}: {axis}, by group and model"
    )


def _sentences(results: Sequence[Result]) -> alt.HConcatChart:
    """For every sentence the predicted words as one bar: length is probability, colour is valence."""
    panels = []
    for result in results:
        rows = []
        for id_, text, words, probs, valences in result.items.select(
            "id", "text", "words", "probs", "valences"
        ).iter_rows():
            start = 0.0
            for word, p, value in zip(words, probs, valences, strict=True):
                rows.append(
                    {
                        "id": id_,
                        "text": text,
                        "word": word,
                        "label": word if p * 30 > len(word) * 0.55 else "",
                        "from": start,
                        "to": start + p,
                        "middle": start + p / 2,
                        "p": p,
                        "worth": _point(value),
                    }
                )
                start += p
        ids = result.items["id"].to_list()
        base = alt.Chart(alt.InlineData(rows)).encode(
            y=alt.Y("id:N", sort=ids, title=None),
            tooltip=["text:N", "word:N", alt.Tooltip("p:Q", format=".3f"), "worth:N"],
        )
        scale = alt.Scale(domain=list(VALENCE_COLOURS), range=list(VALENCE_COLOURS.values()))
        bars = base.mark_bar(stroke="#888", strokeWidth=0.4).encode(
            x=alt.X("from:Q", title="probability", scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            color=alt.Color("worth:N", title="valence", sort=list(VALENCE_COLOURS), scale=scale),
        )
        names = base.mark_text(fontSize=9).encode(
            x="middle:Q",
            text="label:N",
            color=alt.condition("datum.worth == '1'", alt.value("white"), alt.value("black")),
        )
        panels.append((bars + names).properties(width=380, height=alt.Step(15), title=result.signature["model"]))
    return alt.hconcat(*panels).properties(
        title="What each model puts into each gap", description="Predicted words by sentence, with their valence"
    )


def _point(value: float | None) -> str:
    """The point of the scale a valence is nearest to, as a label; halfway, the one farther out."""
    if value is None:
        return "unrated"
    steps = int(2 * abs(value) + 0.5)
    return ("0", "½", "1")[steps] if value >= 0 or not steps else ("", "−½", "−1")[steps]
