"""Tables and items of value statements. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from penchant.instruments.values.against_survey import (
    DESIGN,
    EFFECTIVE,
    RANKS,
    SURVEY_CONSISTENCY,
    SURVEY_MEAN,
    SURVEY_QUANTILE,
    SURVEY_SD,
)
from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.differences import (
    BESIDE,
    GROUPS,
    MISSING,
    beside_survey,
    between,
    is_weighted,
    lookup,
    of_wordings,
    synthetic,
    weighting,
)
from penchant.instruments.values.estimates import (
    CHANCE,
    CORRELATION,
    FREE_INTERCEPT,
    FREE_SLOPE,
    MEAN,
    MIRROR_CORRELATION,
    MIRROR_DISTANCE,
    NORMALITY,
    OFFSET,
    RATING,
    SHARE,
    SIGMA,
    SLOPE,
    SPREAD,
)
from penchant.instruments.values.groups_of_people import FROM_GROUPS, NEARER_TO, from_groups, nearer
from penchant.instruments.values.represented import REPRESENTATIVE
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, Strip, every_item
from penchant.report.made import tested
from penchant.report.pieces import readable
from penchant.report.tables import Cell, Number, P, Row, Table, estimate, models
from penchant.stats.consistency import ALPHA

_SIGNIFICANT = 0.05
"""The largest adjusted p-value at which a table says that a spread is larger or smaller than by chance."""

_P_OF_SPREAD = "p, spread ≠ chance (Holm)"
_NULLS = {
    MIRROR_CORRELATION: ("0", "consistent: +1"),
    RANKS: ("0", "people's order: +1"),
    MIRROR_DISTANCE: ("", "consistent: 0"),
}
"""What the p of a measure of robustness is the test of, and the value that a consistent model would have."""


def first_variant(result: Result) -> str:
    """The main wording, which is the first."""
    return str(result.items["variant"][0])


def _dimensions(result: Result) -> list[str]:
    names = result.items.filter(pl.col("kind") == "statement")["value"].unique(maintain_order=True).to_list()
    return [*names, EVERYTHING] if len(names) > 1 else names


def _groups(result: Result) -> list[str]:
    return result.items["group"].unique(maintain_order=True).to_list()


def tables(results: Sequence[Result]) -> list[Table]:
    """Ratings by value and group, with the survey; differences between groups; calibration; robustness; then every
    wording, every statement and the survey itself."""
    variants = every_item(results)["variant"].unique(maintain_order=True).to_list()
    main = first_variant(results[0])
    title = "Ratings by value and group, 1 (disagree) to 5 (agree)"
    shown = [
        _ratings(results, [main], "ratings", title),
        beside_survey(results, [main], "beside-survey", BESIDE),
        between(results, [main], "groups", GROUPS),
        of_wordings(results),
        nearer(results, [main], "nearer", NEARER_TO),
        from_groups(results, [main], "from-groups", FROM_GROUPS),
        _calibrated(results, [main]),
        _robust(results, [main, EVERYTHING]),
    ]
    if len(variants) > 1:
        others = [variant for variant in variants if variant != main]
        title = "Ratings by value and group, other wordings"
        shown.append(_ratings(results, others, "ratings-by-wording", title, detail=True))
        shown.append(beside_survey(results, others, "beside-survey-by-wording", f"{BESIDE}, other wordings"))
        shown.append(between(results, others, "groups-by-wording", f"{GROUPS}, other wordings"))
        shown.append(nearer(results, others, "nearer-by-wording", f"{NEARER_TO}, other wordings"))
        shown.append(from_groups(results, others, "from-groups-by-wording", f"{FROM_GROUPS}, other wordings"))
        detailed = (_calibrated(results, variants), "every wording"), (_robust(results, others), "other wordings")
        for table, of in detailed:
            by_wording = f"{table.title}, {of}"
            shown.append(replace(table, name=f"{table.name}-by-wording", title=by_wording, detail=True))
    shown += [_statements(results, main), _survey(replace(results[0], items=every_item(results)))]
    return [table for table in shown if table.rows]


def _ratings(
    results: Sequence[Result], variants: Sequence[str], name: str, title: str, *, detail: bool = False
) -> Table:
    rows = []
    surveyed = results[0].signature["survey"] != "none"
    lookups = [lookup(result) for result in results]
    for variant in variants:
        for dimension in _dimensions(results[0]):
            for group in _groups(results[0]):
                for model, estimates in zip(models(results), lookups, strict=True):
                    here = (variant, group, dimension, "")
                    mean = estimates[MEAN, *here]
                    spread = estimates.get((SPREAD, *here), MISSING)
                    chance = estimates.get((CHANCE, *here), MISSING)
                    cells: list[Cell] = [variant] if detail else []
                    cells += [dimension, group, model, mean["n"], estimate(mean)]
                    cells += [replace(estimate(spread), star=_beside_chance(spread, chance))]
                    cells += [P(spread.get("p_holm", float("nan"))), estimate(chance)]
                    if surveyed:
                        people = estimates.get((SURVEY_MEAN, EVERYTHING, group, dimension, ""), MISSING)
                        cells += [estimate(people), estimate(estimates[REPRESENTATIVE, *here])]
                    rows.append(Row(tuple(cells), mean["signature"]))
    columns = [*(["wording"] if detail else []), "value", "group", "model", "statements", "mean rating"]
    columns += ["spread (sd)", _P_OF_SPREAD, "spread by chance"]
    if surveyed:
        columns += ["survey mean", "representativeness"]
    note = (
        "Reversed statements are turned round. Spread by chance: sd of as many neutral statements drawn at random, "
        "with its central range; p holds the spread against as many drawn from neutral statements and these "
        "together, two-sided, with Holm's correction over all values and groups of "
        f"{'these wordings' if detail else 'this wording'}, for each model by itself. ↑ marks a spread "
        "that is larger than by chance (adjusted p at most .05), ↓ a smaller one: only ↓ says that the statements are "
        "rated as of one value."
    )
    if surveyed:
        note += " Representativeness: 1 where the rating is the median of people's answers, 0 where it is outside them."
        note += synthetic(results[0])
    people_first = ("mean rating", "survey mean", "representativeness") if surveyed else ()
    first = (*people_first, "statements", "mean rating", "spread (sd)", _P_OF_SPREAD)
    return Table(name, title, tuple(columns), tuple(rows), note, detail=detail, first=first)


def _beside_chance(spread: Mapping[str, Any], chance: Mapping[str, Any]) -> str:
    """An arrow where a spread is told apart from that by chance: up where it is larger, down where it is smaller."""
    if not spread.get("p_holm", np.nan) <= _SIGNIFICANT:
        return ""
    return " ↑" if spread["value"] > chance["value"] else " ↓"


def _calibrated(results: Sequence[Result], variants: Sequence[str]) -> Table:
    rows = []
    names = {"origin": "slope a", "difference": "offset b"}
    fixed_name = " or ".join(dict.fromkeys(names[result.signature["calibration"]] for result in results))
    for result in results:
        estimates = lookup(result)
        for variant in variants:
            for group in _groups(result):
                here = (variant, group, EVERYTHING, "")
                name = SLOPE if result.signature["calibration"] == "origin" else OFFSET
                fixed, sigma = estimates[name, *here], estimates[SIGMA, *here]
                free = [estimates.get((measure, *here), MISSING) for measure in (FREE_SLOPE, FREE_INTERCEPT)]
                normal = estimates.get((NORMALITY, *here), MISSING)
                cells = (
                    variant,
                    group,
                    result.signature["model"],
                    fixed["n"],
                    estimate(fixed, ".3f"),
                    estimate(sigma),
                    estimate(estimates[CORRELATION, *here]),
                    estimate(free[0]),
                    estimate(free[1]),
                    P(normal["p"]),
                )
                rows.append(Row(cells, fixed["signature"]))
    columns = (
        "wording",
        "group",
        "model",
        "neutral",
        fixed_name,
        "σ",
        "r",
        "free slope",
        "free intercept",
        "normality p",
    )
    note = (
        "Neutral statements: log P(agree) against log P(disagree). r is their correlation; the free line has an "
        "intercept and is for comparison; normality p: of the residuals, one check a line and not corrected."
    )
    return Table("calibration", "Calibration on neutral statements", columns, tuple(rows), note)


def _robust(results: Sequence[Result], variants: Sequence[str]) -> Table:
    rows = []
    measure = pl.col("measure")
    chosen = measure.is_in([MIRROR_DISTANCE, MIRROR_CORRELATION, ALPHA, RANKS]) | measure.str.starts_with(
        SHARE.format("")
    )
    for result in results:
        for row in result.summary.filter(chosen & pl.col("variant").is_in(list(variants))).iter_rows(named=True):
            cells = (
                row["measure"],
                row["variant"],
                row["group"],
                row["dimension"],
                result.signature["model"],
                row["n"],
            )
            null, consistent = _NULLS.get(row["measure"], ("", ""))
            told = (consistent, estimate(row), null, P(row["p"]), P(row["p_holm"]))
            rows.append(Row((*cells, *told), row["signature"]))
    columns = ("measure", "wording", "group", "value", "model", "n", "wanted", "estimate", "p is of", "p", "p (Holm)")
    note = (
        "A consistent model rates a negated statement 6 minus the statement's rating: distance 0, correlation +1. The "
        "p of a correlation tests 0, and a small one beside a correlation below 0 is the opposite of consistent. "
        "Shares of variance: how much of the ratings lies between statements, wordings (templates) and groups, and how "
        "much in wordings that treat statements differently (statement × template): where that is large, a rating is "
        "one of a wording. Cronbach's α of the model takes its groups and wordings for respondents. Holm's correction "
        "over the groups and wordings of one measure here, for each model by itself."
    )
    return Table("robustness", "Consistency and robustness", columns, tuple(rows), note)


def _statements(results: Sequence[Result], main: str) -> Table:
    rows = []
    texts = dict(every_item(results).filter(pl.col("kind") == "statement").select("id", "text").iter_rows())
    for result in results:
        estimates = lookup(result)
        each = result.summary.filter((pl.col("measure") == RATING) & (pl.col("variant") == main))
        for row in each.iter_rows(named=True):
            here = (row["variant"], row["group"], row["dimension"], row["item"])
            beside = estimates.get((REPRESENTATIVE, *here), MISSING)
            cells = (row["item"], texts[row["item"]], row["dimension"], row["group"], result.signature["model"])
            rows.append(Row((*cells, estimate(row), estimate(beside)), row["signature"]))
    columns = ("id", "statement", "value", "group", "model", "rating", "representativeness")
    note = "As the statements stand, not turned round. The intervals are those of the calibration alone."
    return Table("statements", "Ratings of single statements", columns, tuple(rows), note, detail=True)


def _survey(result: Result) -> Table:
    rows = []
    estimates, weighted = lookup(result), is_weighted(result)
    for dimension in _dimensions(result):
        for group in _groups(result):
            mean = estimates.get((SURVEY_MEAN, EVERYTHING, group, dimension, ""))
            if mean is not None:
                spread = estimates.get((SURVEY_SD, EVERYTHING, group, dimension, ""), MISSING)
                alpha = estimates.get((SURVEY_CONSISTENCY, EVERYTHING, group, dimension, ""), MISSING)
                median = estimates.get((SURVEY_QUANTILE, EVERYTHING, group, dimension, "50%"), MISSING)
                here = (EVERYTHING, group, dimension, "")
                numbers = (estimates.get((name, *here), MISSING)["value"] for name in (EFFECTIVE, DESIGN))
                worth = [Number(number, form=form) for number, form in zip(numbers, (".0f", ".2f"), strict=True)]
                shown = (estimate(mean), Number(median["value"]), estimate(spread), estimate(alpha))
                cells = (dimension, group, mean["n"], *(worth if weighted else ()), *shown)
                rows.append(Row(cells, mean["signature"]))
    counted = ("respondents", *(("effective n", "design effect") if weighted else ()))
    columns = ("value", "group", *counted, "mean", "median", "sd", "Cronbach's α")
    note = "Respondents' means over the statements of a value, reversed ones turned round."
    note += weighting(result) + synthetic(result)
    return Table("survey", f"The survey: {result.signature['survey']}", columns, tuple(rows), note, detail=True)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of ratings between every two models by group and value: the main wording, then the others."""
    main = comparison["variant"][0]
    title = "Differences of ratings between models"
    shown = [_differences(comparison.filter(pl.col("variant") == main), "differences", title)]
    others = comparison.filter(pl.col("variant") != main)
    if len(others):
        shown.append(replace(_differences(others, "differences-by-wording", f"{title}, other wordings"), detail=True))
    return shown


def _differences(comparison: pl.DataFrame, name: str, title: str) -> Table:
    rows = []
    for row in comparison.iter_rows(named=True):
        corrected: Cell = "" if row["dimension"] == EVERYTHING else P(row["p_holm"])
        cells = (row["comparison"], row["variant"], row["group"], row["dimension"], row["n"], estimate(row, "+.2f"))
        rows.append(Row((*cells, P(row["p"]), corrected), row["signature"]))
    columns = ("difference", "wording", "group", "value", "statements", "rating", "p", "p (Holm)")
    note = f"{tested(comparison)} Holm's correction over values, groups and wordings here, each pair by itself."
    return Table(name, title, columns, tuple(rows), note)


def items(results: Sequence[Result]) -> ItemTable:
    """Every clause in every wording and group, with its rating under every model and the tokens of both stances; the
    study's own statements before neutral ones."""
    neutral = pl.col("kind") == "calibration"
    results = [replace(result, items=result.items.sort(neutral, maintain_order=True)) for result in results]
    joined = Joined.of([result.items for result in results])
    first = joined.items
    kinds = first["kind"].replace("calibration", "neutral")
    columns = [
        Column("clause", "id", first["id"]),
        Column("kind", "label", kinds),
        Column("value", "label", first["value"].replace("", "–")),
        Column("group", "label", first["group"]),
        *([Column("wording", "label", first["variant"])] if first["variant"].n_unique() > 1 else []),
        Column("text", "text", first["text"]),
    ]
    strips = []
    remarks = {}
    whole = False
    for model, result in zip(models(results), results, strict=True):
        clauses = result.items
        columns += [
            Column("P(agree)", "number", clauses["agreement"], model, 3),
            Column("rating", "number", clauses["rating"], model, 2),
        ]
        numbers = clauses.select("agree", "disagree", "residual").iter_rows()
        remarks[model] = pl.Series(
            [
                f"log P agree {_signed(y)}, disagree {_signed(x)}; above expectation by {_signed(r)}"
                for y, x, r in numbers
            ],
            dtype=pl.String,
        )
        whole = whole or result.signature["method"] == "lp"
        for stance in ("agree", "disagree"):
            pieces = readable(clauses[f"pieces_{stance}"], clauses[f"sentence_{stance}"])
            strips.append(Strip(model, stance, pieces, clauses[f"logprobs_{stance}"], clauses[f"sentence_{stance}"]))
    unit = "log-probability of each token, natural logarithm"
    made = ItemTable("clauses", tuple(columns), tuple(strips), remarks, unit, parallel=whole)
    return joined.table(made, models(results))


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")
