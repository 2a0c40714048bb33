"""Cloze valence as tables, figures, items and words. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import altair as alt
import polars as pl

from penchant.probes.cloze_summary import EVERYTHING, MEASURES
from penchant.records import Result
from penchant.report.figures import COLOURS, INK, Figure
from penchant.report.items import Column, ItemTable, Strip
from penchant.report.tables import Number, P, Row, Table, estimate, literal, models

VALENCE_COLOURS = {"−1": "#b35806", "−½": "#f1a340", "0": "#dddddd", "½": "#998ec3", "1": "#542788", "unrated": "#fff"}
MOVED = "{}, ratings moved"
_MANY = 120
"""More sentences than these make no picture; the table of items has them all."""


def tables(results: Sequence[Result]) -> list[Table]:
    """Mean β, δ and rated mass by group and model, with intervals and the range with moved ratings."""
    rows = []
    for group in dict.fromkeys(g for r in results for g in r.summary["group"].to_list()):
        for result in results:
            own = {row["measure"]: row for row in result.summary.filter(pl.col("group") == group).iter_rows(named=True)}
            beta, delta, mass = (own[measure] for measure in MEASURES.values())
            moved = own[MOVED.format(MEASURES["delta"])]
            cells = (
                group,
                result.signature["model"],
                delta["n"],
                estimate(beta, "+.3f"),
                estimate(delta, ".3f"),
                Number(low=moved["low"], high=moved["high"], form=".3f"),
                estimate(mass, count=mass["n"] != delta["n"]),
            )
            rows.append(Row(cells, delta["signature"]))
    low, _, high = results[0].signature["scale"].partition(" < ")
    columns = ("group", "model", "sentences", "mean β", "mean δ", "δ, ratings moved", "rated mass")
    note = (
        f"β: where a model leans, from −1 ({low}) to +1 ({high}); δ: how well that suits the sentences, 0 to 1. "
        "Ratings moved: where mean δ lies had some ratings been half a point higher or lower."
    )
    return [Table("valence", "Mean valence and adequacy by group", columns, tuple(rows), note)]


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of mean β and δ between every two models, by group."""
    rows = []
    for measure in ("beta", "delta"):
        name = f"difference of {MEASURES[measure]}"
        moved = {
            (row["comparison"], row["group"]): row
            for row in comparison.filter(pl.col("measure") == MOVED.format(name)).iter_rows(named=True)
        }
        for row in comparison.filter(pl.col("measure") == name).iter_rows(named=True):
            shifted = moved[row["comparison"], row["group"]]
            cells = (
                row["comparison"],
                MEASURES[measure],
                row["group"],
                row["n"],
                estimate(row, "+.3f"),
                Number(low=shifted["low"], high=shifted["high"], form="+.3f"),
                P(row["p"]),
                "" if row["group"] == EVERYTHING else P(row["p_holm"]),
            )
            rows.append(Row(cells, row["signature"]))
    columns = ("difference", "of", "group", "sentences", "value", "ratings moved", "p", "p (Holm)")
    note = (
        "Two-sided sign-flip test over sentences that have a β under both models. Holm's correction over the groups "
        "of one measure and pair of models; not over measures or pairs."
    )
    return [Table("differences", "Differences between models", columns, tuple(rows), note)]


def figures(results: Sequence[Result]) -> list[Figure]:
    """β and δ of each sentence with mean and interval, by group and model; and what each model puts into each gap."""
    low, _, high = results[0].signature["scale"].partition(" < ")
    beta = f"β   (−1 {low}  …  +1 {high})"
    level = f"{results[0].summary['level'][0]:.0%}"
    strips = (
        "For each group of sentences and each model a strip of points, one a sentence, and a diamond at their mean "
        f"with its {level} bootstrap interval: "
    )
    found = [
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
    if len(results[0].items) <= _MANY:
        found.append(
            Figure(
                "sentences",
                "What each model puts into each gap",
                "For each model and sentence a bar of the predicted words: length is probability, colour is valence.",
                _sentences(results),
                picks="item",
            )
        )
    else:
        left_out = f" The picture of the words in every gap is left out for more than {_MANY} sentences."
        found[-1] = replace(found[-1], text=found[-1].text + left_out)
    return found


def _strips(results: Sequence[Result], column: str, axis: str, domain: tuple[float, float]) -> alt.FacetChart:
    """A strip of sentences for each model in each group, its mean and interval on it."""
    names = models(results)
    points = pl.concat(
        result.items.select(
            pl.col("id").alias("item"), "text", "group", "expected", pl.col(column).alias("value")
        ).with_columns(pl.lit(model).alias("model"))
        for model, result in zip(names, results, strict=True)
    )
    means = pl.concat(
        result.summary.filter((pl.col("measure") == MEASURES[column]) & (pl.col("group") != EVERYTHING)).select(
            "group", pl.col("value").alias("mean"), "low", "high", pl.lit(model).alias("model")
        )
        for model, result in zip(names, results, strict=True)
    )
    groups = points["group"].unique(maintain_order=True).to_list()
    # Both kinds of rows in one table, because facets take one; neighbours of a strip are kept apart by their rank.
    apart = points.with_columns(((pl.int_range(pl.len()) * 7 % 11) / 10 - 0.5).over("group", "model").alias("jitter"))
    rows = pl.concat([apart, means], how="diagonal").with_columns(pl.col(pl.Float64).fill_nan(None)).to_dicts()
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
    mean = base.mark_point(shape="diamond", filled=True, size=110, opacity=1, stroke="white").encode(
        x=alt.X("mean:Q", title=axis), y=y, color=alt.value(INK), tooltip=[alt.Tooltip("mean:Q", format=".2f")]
    )
    return alt.layer(strip, spread, mean, data=alt.InlineData(rows)).facet(
        row=alt.Row("group:N", sort=groups, title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
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
                        "item": id_,
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
            y=alt.Y("item:N", sort=ids, title=None),
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
    return alt.hconcat(*panels)


def _point(value: float | None) -> str:
    """The point of the scale a valence is nearest to, as a label; halfway, the one farther out."""
    if value is None:
        return "unrated"
    steps = int(2 * abs(value) + 0.5)
    return ("0", "½", "1")[steps] if value >= 0 or not steps else ("", "−½", "−1")[steps]


def items(results: Sequence[Result]) -> ItemTable:
    """Every sentence with its β and δ for every model, and every predicted word with its probability and valence."""
    first = results[0].items
    columns = [
        Column("sentence", "id", first["id"]),
        Column("group", "label", first["group"]),
        Column("text", "text", first["text"]),
        Column("expected", "number", first["expected"], digits=1, signed=True),
    ]
    strips = []
    remarks = {}
    for model, result in zip(models(results), results, strict=True):
        columns += [
            Column("β", "number", result.items["beta"], model, 3, signed=True),
            Column("δ", "number", result.items["delta"], model, 3),
            Column("rated mass", "number", result.items["rated_mass"], model, 3),
            Column("words", "hidden", result.items["words"].list.join(" "), model),
        ]
        worth = [[_point(value) for value in values] for values in result.items["valences"]]
        tokens = [
            [f"{word} {point}" for word, point in zip(words, points, strict=True)]
            for words, points in zip(result.items["words"], worth, strict=True)
        ]
        numbers = result.items.select("beta", "delta", "rated", "unrated", "pieces").iter_rows()
        remarks[model] = pl.Series(
            [
                f"β {_shown(beta, '+.3f')}, δ {_shown(delta, '.3f')}; {rated} words rated, {unrated} unrated, "
                f"{pieces} no words"
                for beta, delta, rated, unrated, pieces in numbers
            ],
            dtype=pl.String,
        )
        strips.append(
            Strip(
                model,
                "fills the gap with",
                pl.Series(tokens, dtype=pl.List(pl.String)),
                result.items["probs"],
                pl.Series([f"{mass:.3f} in all" for mass in result.items["top_mass"]], dtype=pl.String),
                result.items["valences"],
            )
        )
    unit = "probability of each word; after the word its valence"
    return ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit)


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


_SOURCES = {
    "ratings": "people's ratings ({}), the mean over raters",
    "lexicon": "a lexicon ({})",
    "corpora": "the log-odds of the word between two texts ({}) [@monroe2008]",
}
_UNRATED = {
    "zero": "A word that none of them knows adds nothing to β; the probability of the rated words is shown beside it.",
    "error": "Every word is rated.",
}


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    low, _, high = literal(signature["scale"]).partition(" < ")
    asked = "; or ".join(_asked(result) for result in {r.signature["method"]: r for r in results}.values())
    used = [_SOURCES[key].format(literal(signature[key])) for key in _SOURCES if signature[key] != "none"]
    divided = " divided by the rated probability" if signature["renormalise"] == "yes" else ""
    level = f"{float(signature['level']):.0%}"
    found = [
        f"Sentences with one gap stand between {low} (−1) and {high} (+1) [@cuscito2024]. For each, {asked}. The "
        "valence σ of a word in its sentence comes from "
        f"{'; else from '.join(used) or 'nowhere: no source rates a word'}. The leaning of a model is β = Σ "
        f"σ·p{divided}, its adequacy to a sentence of expected valence ρ is δ = 1 − ½|ρ − β|. "
        f"{_UNRATED[signature['unrated']]}",
        f"Means over sentences come with {level} BCa bootstrap intervals [@efron1987], {signature['resamples']} "
        f"resamples within the groups, seed {signature['seed']}. As a check of the ratings, {signature['moves']} of "
        f"them, drawn at random, move by half a point within the scale, {signature['draws']} times; the central "
        f'{level} of the means are shown as "ratings moved".',
    ]
    if len(results) > 1:
        found.append(
            "Two models are compared sentence by sentence: BCa bootstrap interval of the mean difference, two-sided "
            "sign-flip test, Holm's correction over the groups [@holm1979]."
        )
    return found


def _asked(result: Result) -> str:
    signature = result.signature
    if signature["method"] == "fill":
        return f"the {signature['k']} most probable words of a masked model at the gap, with their probabilities p"
    return (
        f"the {signature['k']} most probable words of a closed list, with probabilities p from the softmax of their "
        f"sentences' `{signature['method']}` scores"
    )


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot mean."""
    return [
        "β says which variety the words a model puts into these gaps belong to, as far as somebody rated them; δ how "
        "well that suits the sentences. Most words belong to both varieties and are worth 0, so both stay near the "
        "middle even for a model at home in one of them: read differences between models and groups, not the size of "
        "one number.",
        "Only the words among the most probable ones count, and only the rated ones: a small rated mass leaves room "
        "for the opposite finding.",
    ]
