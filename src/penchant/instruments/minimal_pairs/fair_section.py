"""Tables and figures of fair and original minimal pairs. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs import charts, differences
from penchant.instruments.minimal_pairs import section as pairs
from penchant.instruments.minimal_pairs.estimates import ACCURACY, ALL
from penchant.instruments.minimal_pairs.fair import FAIR, GAIN, ORIGINAL, SHARED
from penchant.records import Result
from penchant.report.drawing import alt
from penchant.report.figures import COLOURS, Figure
from penchant.report.finding import told
from penchant.report.made import tested
from penchant.report.tables import Number, P, Row, Table, estimate, models
from penchant.stats.hypothesis_tests import holm

_SETS = (ORIGINAL, FAIR)


def tables(results: Sequence[Result]) -> list[Table]:
    """Accuracy on both sets with the models' ranks, the same by paradigm, and all tables of minimal pairs."""
    within = [replace(table, detail=True) for table in pairs.tables(sets(results))]
    return [_ranked(results), _by_paradigm(results), *within]


def sets(results: Sequence[Result]) -> list[Result]:
    """The results without the estimates of differences between the sets."""
    return [replace(r, summary=r.summary.filter(pl.col("dataset").is_in(_SETS))) for r in results]


def _rows(result: Result, measure: str, scope: str) -> pl.DataFrame:
    return result.summary.filter((pl.col("measure") == measure) & (pl.col("scope") == scope) & (pl.col("split") == ALL))


def _ranked(results: Sequence[Result]) -> Table:
    grouped: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for result in results:
        for row in _rows(result, ACCURACY, "overall").iter_rows(named=True):
            grouped.setdefault((row["normalise"], result.signature["model"]), {})[row["dataset"]] = row
        for measure in (GAIN, SHARED):
            for row in _rows(result, measure, "overall").iter_rows(named=True):
                grouped.setdefault((row["normalise"], result.signature["model"]), {})[measure] = row
    rows = []
    for how in dict.fromkeys(how for how, _ in grouped):
        by_model = {model: sets for (score, model), sets in grouped.items() if score == how}
        ranks = {name: _ranks({model: sets[name]["value"] for model, sets in by_model.items()}) for name in _SETS}
        for model, sets in by_model.items():
            cells: list[Any] = [how, model]
            for name in _SETS:
                cells += [estimate(sets[name], ".1f", scale=100, count=True), ranks[name][model]]
            gain = sets[GAIN]
            cells += [estimate(gain, "+.1f", scale=100, count=True), P(gain["p"]), _overlap(sets[SHARED])]
            rows.append(Row(tuple(cells), gain["signature"]))
    note = (
        "[intervals], (pairs); fair − original in percentage points, within the paradigms of both sets, over the "
        "distinct pairs; in both: percent of the fair pairs that are original pairs too, which the interval and the "
        "test allow for. Ranks are by "
        "accuracy, best first, and as uncertain as the accuracies; differences between models have intervals and tests "
        "of their own below."
    )
    columns = ("score", "model", "original", "rank", "fair", "rank ", "fair − original", "p", "in both")
    title = "Accuracy in percent on original and fair pairs"
    first = ("fair − original", "p", "original", "fair")
    return Table("fair-and-original", title, columns, tuple(rows), note, first=first)


def _overlap(row: dict[str, Any]) -> Number:
    return Number(100 * row["value"], n=round(row["value"] * row["n"]), form=".1f")


def _ranks(values: dict[str, float]) -> dict[str, int]:
    return {model: 1 + sum(other > value for other in values.values()) for model, value in values.items()}


def _by_paradigm(results: Sequence[Result]) -> Table:
    rows = []
    for result in results:
        sets = {
            (row["normalise"], row["group"], row["dataset"]): row
            for row in _rows(result, ACCURACY, "paradigm").iter_rows(named=True)
        }
        overlaps = {
            (row["normalise"], row["group"]): _overlap(row)
            for row in _rows(result, SHARED, "paradigm").iter_rows(named=True)
        }
        for row in _rows(result, GAIN, "paradigm").iter_rows(named=True):
            key = row["normalise"], row["group"]
            accuracies = (estimate(sets[*key, name], ".1f", scale=100, count=True) for name in _SETS)
            gain = estimate(row, "+.1f", scale=100)
            cells = (row["group"], row["normalise"], result.signature["model"], *accuracies)
            rows.append(Row((*cells, gain, P(row["p"]), P(row["p_holm"]), overlaps[key]), row["signature"]))
    columns = ("paradigm", "score", "model", "original", "fair", "fair − original", "p", "p (Holm)", "in both")
    tests = tested(*(_rows(result, GAIN, "paradigm") for result in results))
    note = f"[intervals], (pairs). {tests} Holm over the paradigms of a model and score."
    title = "Accuracy in percent on original and fair pairs by paradigm"
    return Table("fair-by-paradigm", title, columns, tuple(rows), note, detail=True)


def compared(table: pl.DataFrame) -> list[Table]:
    """The ranks that the differences between models leave open on each of the two sets, then those differences."""
    return [*_open_ranks(table), *differences.compared(table)]


def _open_ranks(table: pl.DataFrame) -> list[Table]:
    """The best and worst possible rank of every model: a difference that is told, with p adjusted over the pairs of
    models, ranks one of the two above the other."""
    rows = table.filter((pl.col("scope") == "overall") & (pl.col("split") == ALL))
    if not len(rows):
        return []
    rows = pl.concat(
        part.with_columns(p_holm=holm(part["p"].to_numpy()))
        for _, part in rows.group_by("normalise", "dataset", maintain_order=True)
    )
    beaten: dict[tuple[str, str], dict[str, list[int]]] = {}
    recipes: dict[tuple[str, str], str] = {}
    for row in rows.iter_rows(named=True):
        counts = beaten.setdefault((row["normalise"], row["dataset"]), {})
        for sign, model in zip((1, -1), row["comparison"].split(" − "), strict=True):
            recipes.setdefault((row["normalise"], model), row["signature"])  # of its first difference
            ahead, behind = counts.setdefault(model, [0, 0])
            above = sign * row["value"] > 0
            counts[model] = [ahead + (told(row) and not above), behind + (told(row) and above)]
    ranges = {
        (how, model, name): Number(low=1 + ahead, high=len(counts) - behind, form="d")
        for (how, name), counts in beaten.items()
        for model, (ahead, behind) in counts.items()
    }
    shown = [
        Row((how, model, *(ranges[how, model, name] for name in _SETS)), recipes[how, model])
        for how, model in dict.fromkeys((how, model) for how, model, _ in ranges)
        if all((how, model, name) in ranges for name in _SETS)
    ]
    note = (
        "A rank is open unless the differences below exclude it, with p adjusted over the pairs of models of a score "
        "and set (Holm)."
    )
    title = "Ranks that the differences leave open"
    columns = ("score", "model", "original", "fair")
    return [Table("open-ranks", title, columns, tuple(shown), note)] if shown else []


def figures(results: Sequence[Result]) -> list[Figure]:
    """A line from the accuracy on original pairs to that on fair ones for every model, a panel for each score."""

    rows = [
        {
            "model": result.signature["model"],
            "score": row["normalise"],
            "set": row["dataset"],
            **{key: None if row[key] != row[key] else 100 * row[key] for key in ("value", "low", "high")},
        }
        for result in results
        for row in _rows(result, ACCURACY, "overall").iter_rows(named=True)
    ]
    names = models(results)
    base = alt.Chart(pl.DataFrame(rows, infer_schema_length=None)).encode(
        x=alt.X("set:N", sort=list(_SETS), title=None, axis=alt.Axis(labelAngle=0), scale=alt.Scale(padding=0.5)),
        color=alt.Color("model:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS)), title="model"),
    )
    y = alt.Y("value:Q", title="accuracy, percent", scale=alt.Scale(zero=False))
    line = base.mark_line(strokeWidth=2).encode(y=y)
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title="accuracy, percent"), y2="high:Q")
    tooltip = ["model:N", "set:N", alt.Tooltip("value:Q", format=".1f"), alt.Tooltip("low:Q", format=".1f")]
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=y,
        shape=alt.Shape("model:N", sort=names, legend=None),
        tooltip=[*tooltip, alt.Tooltip("high:Q", format=".1f")],
    )
    chart = (
        alt.layer(bars, line, points).properties(width=170, height=240).facet(column=alt.Column("score:N", title=None))
    )
    text = "Each model's accuracy on the original and on the fair pairs with its interval; crossing lines change ranks."
    overview = Figure("fair", "Accuracy on original and fair pairs", text, chart, "fair-and-original")
    return [overview, *(replace(figure, name=f"pairs-{figure.name}") for figure in charts.figures(sets(results)))]
