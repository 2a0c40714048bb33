"""The tables of groups of people: how far a model is from each, and which of two it is nearer to. Rendering only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import polars as pl

from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.differences import (
    FEW_SAID,
    FOUND,
    MISSING,
    TESTED,
    findable,
    lookup,
    synthetic,
    weighting,
)
from penchant.instruments.values.nearer import APART, DISTANCE, FROM_GROUP, GROUP_MEAN, GROUP_SIZE, GROUP_WORTH, NEARER
from penchant.records import Result
from penchant.report.made import tested
from penchant.report.no_difference import NEVER
from penchant.report.tables import Cell, Number, P, Row, Table, estimate
from penchant.stats.bootstrap import FEW_CLUSTERS

NEARER_TO = "Which group of people a model is nearer to"
FEWEST = FEW_CLUSTERS
"""Distances from two groups are cut where a rating lies beyond both: fewer statements tell too little of the spread of
their differences. Where five are said to find a difference, they do so in a quarter of cases, and twelve in 83 of 100
or more."""
FROM_GROUPS = "Mean ratings minus the means of groups of people"

_TOO_LARGE = (
    "A distance from few people is too large, because the noise of their means adds to it; a note says by how much at "
    "most, where that matters. The n of a group are its respondents; each statement's mean is over those who answered "
    "it."
)


def nearer(results: Sequence[Result], variants: Sequence[str], name: str, title: str) -> Table:
    """The distances of a model from two groups of people, and their difference."""
    rows = []
    chosen = _chosen(NEARER, variants)
    detail = name != "nearer"
    for result in results:
        estimates, pairs, counts = lookup(result), _pairs(result), _counts(result)
        for row in result.summary.filter(chosen).iter_rows(named=True):
            here = (row["variant"], row["group"], row["dimension"])
            first, second = (estimates[DISTANCE, *here, group] for group in pairs[row["item"]])
            apart = estimates.get((APART, EVERYTHING, EVERYTHING, row["dimension"], row["item"]), {"value": HIGH - LOW})
            width = row["high"] - row["low"]
            size = findable(row, width, apart["value"], max(1, row["n"] - 1), FEWEST)
            cells = (*((row["variant"],) if detail else ()), row["item"], row["group"], row["dimension"])
            cells += (result.signature["model"], row["n"], *(n for name in pairs[row["item"]] for n in counts[name]))
            cells += (estimate(first), estimate(second))
            rows.append(Row((*cells, estimate(row, "+.2f"), P(row["p"]), P(row["p_holm"]), size), row["signature"]))
    columns = (*(["wording"] if detail else []), "people", "group", "value", "model", "statements")
    of_each = ("{} n", "{} eff. n") if weighting(results[0]) else ("{} n",)
    columns += tuple(name.format(which) for which in ("first", "second") for name in of_each)
    columns += ("distance, first", "distance, second", *TESTED)
    tests = tested(*(result.summary.filter(chosen) for result in results))
    note = (
        "Distance: the mean over statements of |rating − mean answer of the group|, in points of the scale. The "
        f"difference is below 0 where the model is nearer to the first group. {_TOO_LARGE} Statements, respondents of "
        "both groups "
        f"and calibration are resampled together. {tests} Holm's correction over values, groups of the templates, "
        f"pairs of groups of people and wordings here, each model by itself; over those of tests over all values "
        f"apart. {FOUND}). '{NEVER}': the two groups' mean answers do not lie as far apart. {FEW_SAID.format(FEWEST)}"
        f"{weighting(results[0])}{synthetic(results[0])}"
    )
    table = Table(name, title, columns, tuple(rows), note, detail=detail, first=("difference", "p (Holm)"))
    return replace(table, short=_short(table)) if rows else table


def _short(table: Table) -> Table:
    """The rows over all values, where there are several, with the distances and their difference."""
    left_out = [i for i, name in enumerate(table.columns) if name.endswith(" n") or name in ("p", "would be found")]
    at = table.columns.index("value")
    overall = tuple(row for row in table.rows if row.cells[at] == EVERYTHING)
    over = "Over all statements. " if overall else ""
    note = (
        f"{over}Distance: mean over statements of |rating − mean answer of the group|. Difference below 0: nearer to "
        "the first group. p: two-sided, with Holm's correction over the rows of a model here."
    )
    kept = replace(table, rows=overall or table.rows, note=note)
    return kept.without([*left_out, *([at] if overall else [])])


def from_groups(results: Sequence[Result], variants: Sequence[str], name: str, title: str) -> Table:
    """The mean rating of a value minus the mean of every group of people over the same statements."""
    rows = []
    chosen = _chosen(FROM_GROUP, variants)
    detail = name != "from-groups"
    weighted = bool(weighting(results[0]))
    for result in results:
        estimates = lookup(result)
        for row in result.summary.filter(chosen).iter_rows(named=True):
            here = (EVERYTHING, EVERYTHING, row["dimension"], row["item"])
            people, worth = (estimates.get((measure, *here), MISSING) for measure in (GROUP_MEAN, GROUP_WORTH))
            cells = (*((row["variant"],) if detail else ()), row["item"], row["group"], row["dimension"])
            cells += (result.signature["model"], row["n"], people["n"])
            cells += (Number(worth["value"], form=".0f"),) if weighted else ()
            means = (Number(row["value"] + people["value"]), estimate(people), estimate(row, "+.2f"))
            rows.append(Row((*cells, *means, P(row["p"]), P(row["p_holm"])), row["signature"]))
    columns = (*(["wording"] if detail else []), "people", "group", "value", "model", "statements", "respondents")
    columns += (*(["effective n"] if weighted else []), "mean rating", "their mean", "difference", "p", "p (Holm)")
    tests = tested(*(result.summary.filter(chosen) for result in results))
    note = (
        "Over the statements that the survey has, and the respondents who answered them all. The interval holds "
        f"statements, respondents and calibration. {tests} Holm's correction over values, groups of the templates, "
        "groups of people and wordings here, each model by itself; the tables 'beside-survey' correct over another "
        f"family, so that the same difference may have another p there.{weighting(results[0])}{synthetic(results[0])}"
    )
    return Table(name, title, columns, tuple(rows), note, detail=detail, first=("difference", "p (Holm)"))


def _chosen(measure: str, variants: Sequence[str]) -> pl.Expr:
    return (pl.col("measure") == measure) & pl.col("variant").is_in(list(variants))


def _pairs(result: Result) -> dict[str, tuple[str, str]]:
    """Every two groups of people, by the name of their difference."""
    names = result.summary.filter(pl.col("measure") == DISTANCE)["item"].unique(maintain_order=True).to_list()
    return {f"{first} − {second}": (first, second) for first, second in combinations(names, 2)}


def _counts(result: Result) -> dict[str, tuple[Cell, ...]]:
    """How many respondents each group of people has and, where they have weights, what they are worth; empty cells in
    results that were written without these numbers."""
    weighted = bool(weighting(result))
    names = result.summary.filter(pl.col("measure") == DISTANCE)["item"].unique()
    counts: dict[str, tuple[Cell, ...]] = dict.fromkeys(names, ("", "") if weighted else ("",))
    for row in result.summary.filter(pl.col("measure") == GROUP_SIZE).iter_rows(named=True):
        counts[row["item"]] = (row["n"], *((Number(row["value"], form=".0f"),) if weighted else ()))
    return counts
