"""Tables of the measures, of differences between models, and of ranks. Rendering only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.vector_bias.compare import DIFFERENCE
from penchant.instruments.vector_bias.estimates import NAMES, attributes_of
from penchant.instruments.vector_bias.measures import UNION, Measure
from penchant.instruments.vector_bias.ranks import mean_ranks, rankings
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.records import Result
from penchant.report.tables import Cell, Number, P, Row, Table, estimate, models

SIGNIFICANT = 0.05
_READ = {
    "rnd": "Distance to the mean of X minus distance to the mean of Y, over attributes. Below 0: nearer to X.",
    "rnsb": "Divergence, in nats, of the targets' shares of P(B) from equal ones; P(B) from a classifier that learned "
    "to tell B from A. 0: no target is nearer to B than others.",
    "mac": "Mean cosine distance of targets to attributes, 0 to 2; nearer to 1, less association. No test: 1 is what "
    "unrelated directions have, not a null hypothesis about words.",
    "ect": "Spearman's ρ, over attributes, of their cosines with the means of X and of Y. 1: X and Y order them alike. "
    "The interval takes the targets as they are.",
    "ripa": "Inner product of attributes with the direction from Y to X. Above 0: on the side of X.",
}
"""How to read the table of each measure."""
_STARS = (
    f"* p below {SIGNIFICANT:g} after Holm's adjustment over all numbers of the measure that a model has, "
    f"{UNION} apart."
)


def in_order(frame: pl.DataFrame, kinds: Mapping[Measure, str]) -> Iterator[tuple[Measure, pl.DataFrame]]:
    """The rows of every measure that is there, in the order of its own."""
    for measure, name in kinds.items():
        rows = frame.filter(measure=name)
        if len(rows):
            yield measure, rows


def tables(results: Sequence[Result]) -> list[Table]:
    """A table for each measure, the mean ranks of models, and the details."""
    frames = [
        result.summary.with_columns(pl.lit(model).alias("who"))
        for model, result in zip(models(results), results, strict=True)
    ]
    whole = pl.concat(frames)
    shown = [
        _wide(f"{measure}", f"{NAMES[measure]} by category", rows, [measure], f"{_READ[measure]} {_starred(measure)}")
        for measure, rows in in_order(whole, NAMES)
    ]
    return [*shown, *_ranks(results), _long("everything", "Everything that was measured", whole, "model")]


def _starred(measure: Measure) -> str:
    return "" if measure == "mac" else _STARS


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences between every two models."""
    whole = comparison.with_columns(pl.col("comparison").alias("who"))
    every = [(measure, rows) for measure, rows in in_order(whole, DIFFERENCE)]
    note = (
        "The first model minus the second, over the words that both have, which are resampled in both at once for "
        f"interval and test. * p below {SIGNIFICANT:g} after Holm's adjustment over all differences of a measure, "
        f"{UNION} apart."
    )
    shown = [
        _wide(f"differences-{measure}", f"{NAMES[measure]}: differences", rows, [measure], note, "difference")
        for measure, rows in every
    ]
    detail = _long("differences-all", "Differences: everything", whole, "difference")
    return [*shown, detail]


def _heads(frame: pl.DataFrame, who: str) -> tuple[list[str], list[str]]:
    """The fields that identify a row, and their column heads; labels that only repeat the category are left out."""
    labelled = bool((frame["label"] != frame["category"]).any())
    fields = ["category", *(["label"] if labelled else []), "who"]
    return fields, [{"who": who, "label": "stimuli"}.get(field, field) for field in fields]


def _wide(
    name: str, title: str, frame: pl.DataFrame, measures: Sequence[Measure], note: str, who: str = "model"
) -> Table:
    """A row for each category and model, a column for each set of attributes."""
    fields, heads = _heads(frame, who)
    attributes = list(dict.fromkeys(part for measure in measures for part in attributes_of(measure)))
    grouped: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for row in _by_category(frame).iter_rows(named=True):
        grouped.setdefault(tuple(row[field] for field in fields), {})[row["attributes"]] = row
    form = ".3f" if who == "model" and not set(measures) & {"rnd", "ripa"} else "+.3f"
    rows = []
    for key, by_part in grouped.items():
        cells = [_cell(by_part[part], form) if part in by_part else Number() for part in attributes]
        rows.append(Row((*key, *cells), next(iter(by_part.values()))["signature"]))
    return Table(name, title, (*heads, *attributes), tuple(rows), note.strip())


def _by_category(frame: pl.DataFrame) -> pl.DataFrame:
    rank = {category: i for i, category in enumerate(frame["category"].unique(maintain_order=True))}
    return frame.sort(pl.col("category").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def _cell(row: Mapping[str, Any], form: str) -> Number:
    return replace(estimate(row, form), star="*" if row["p_holm"] < SIGNIFICANT else "")


def _long(name: str, title: str, frame: pl.DataFrame, who: str) -> Table:
    """A row for each estimate, with its p."""
    fields, heads = _heads(frame, who)
    rows = []
    for row in _by_category(frame).iter_rows(named=True):
        cells: list[Cell] = [row["measure"], *(row[field] for field in fields), row["attributes"], row["n"]]
        rows.append(Row((*cells, estimate(row, "+.4f"), P(row["p"]), P(row["p_holm"])), row["signature"]))
    columns = ("measure", *heads, "attributes", "words", "value", "p", "p (Holm)")
    return Table(name, title, columns, tuple(rows), detail=True)


def _ranks(results: Sequence[Result]) -> list[Table]:
    """Mean ranks of the models, and their ranks in every query."""
    means = mean_ranks(results)
    if not means:
        return []
    names = models(results)
    signature = str(results[0].signature.with_(model=" and ".join(names)))
    rows = tuple(
        Row((model, *(Number(e.value, e.low, e.high, notes=e.notes) for e in own)), signature)
        for model, own in zip(names, zip(*means.values(), strict=True), strict=True)
    )
    queries = {name: own[0].n for name, own in means.items()}
    counted = ", ".join(f"{name} {n}" for name, n in queries.items())
    note = (
        f"1 is the least bias of {len(names)} models, ties have their mean rank; the mean over queries, each a "
        f"category with A or with B (queries: {counted}). Least bias: RND, RIPA and RNSB nearest to 0, MAC and ECT "
        "nearest to 1. Brackets: percentiles of the mean rank when words are resampled in all models at once."
        f"{_lengths(results)}"
    )
    whole = Table("ranks", "Mean ranks of the models", ("model", *means), rows, note)
    return [whole, _in_queries(results, signature)]


def _lengths(results: Sequence[Result]) -> str:
    """The caution for measures in units of the vectors' lengths."""
    settings = VectorBiasSettings.of(results[0].settings)
    long = {"ripa", *(["rnd"] if settings.distance == "euclid" else [])} & set(settings.measures)
    if settings.normalise or not long:
        return ""
    names = " and ".join(NAMES[measure] for measure in NAMES if measure in long)
    return f" {names} grow with the lengths of vectors, which models differ in: rank them with normalise: true."


def _in_queries(results: Sequence[Result], signature: str) -> Table:
    names = models(results)
    rows = []
    for ranking in rankings(results):
        for q, query in enumerate(ranking.queries):
            for m, model in enumerate(names):
                shares = (Number(100 * share, form=".0f") for share in ranking.shares[m, q])
                rank = Number(float(ranking.ranks[m, q]), form="g")
                cells: tuple[Cell, ...] = (
                    NAMES[ranking.measure],
                    query.category,
                    query.attributes,
                    model,
                    rank,
                    *shares,
                )
                rows.append(Row(cells, signature))
    places = [f"{place}, % of resamples" for place in range(1, len(names) + 1)]
    columns = ("measure", "category", "attributes", "model", "rank", *places)
    note = "The share of resamples in which a model has each rank; ties are divided among their ranks."
    return Table("ranks-queries", "Ranks in every query", columns, tuple(rows), note, detail=True)
