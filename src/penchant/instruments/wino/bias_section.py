"""Tables and items of WinoBias. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from penchant.instruments.wino.bias_data import ANTI, PRO
from penchant.instruments.wino.bias_estimates import (
    ADJUSTED,
    ADJUSTED_DIFFERENCE,
    LOG_ODDS,
    MALE_DIFFERENCE,
    PREFERS_MALE,
    PREFERS_PRO,
    PRO_DIFFERENCE,
    TIES,
    credits,
    log_odds,
)
from penchant.instruments.wino.scoring import difference, strip
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined
from penchant.report.tables import Cell, P, Row, Table, estimate, models

Found: TypeAlias = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""The rows of a summary of one score, by scope, group and measure."""
ROLES = {PRO: "pro-stereotypical", ANTI: "anti-stereotypical"}
_SCOPES = {"overall": "all pairs", "type": "type", "gender": "pro-stereotypical pronoun", "form": "pronouns"}


def by_score(result: Result) -> list[tuple[str, Found]]:
    """The estimates of a result by score."""
    return [
        (how, {(row["scope"], row["group"], row["measure"]): row for row in part.iter_rows(named=True)})
        for (how,), part in result.summary.group_by(["normalise"], maintain_order=True)
    ]


def tables(results: Sequence[Result]) -> list[Table]:
    """Shares, log-odds of the male pronoun, and preferences by occupation."""
    return [_shares(results), _adjusted(results), _occupations(results)]


def _shares(results: Sequence[Result]) -> Table:
    """The shares that prefer the pro-stereotypical and the male pronoun, over all pairs and parts of them."""
    rows: dict[tuple[str, ...], Row] = {}
    for model, result in zip(models(results), results, strict=True):
        for how, rows_of in by_score(result):
            for scope, group in dict.fromkeys((s, g) for s, g, _ in rows_of if s in _SCOPES):
                pro, male = (rows_of.get((scope, group, measure)) for measure in (PREFERS_PRO, PREFERS_MALE))
                ties = rows_of.get((scope, group, TIES))
                either = pro or male
                if either is not None:
                    key = (part_name(scope, group), how, model)
                    cells: tuple[Cell, ...] = (either["n"], *_share(pro), *_share(male))
                    share: Cell = estimate(ties, ".1f", scale=100) if ties else "–"
                    rows[key] = Row((*key, *cells, share), either["signature"])
    columns = ("pairs", "score", "model", "n", "prefers pro, %", "p, pro", "prefers male, %", "p, male", "ties, %")
    note = (
        "Percent of pairs in which the sentence with the pro-stereotypical pronoun scores higher, and in which the "
        "one with the male pronoun does; a tie counts one half. This is preference between two sentences, not the "
        "accuracy of coreference. A model that always prefers one gender has 50 in the first. Two-sided p of 50, after "
        "Holm's correction over the types, the genders, or the forms of one score and model; uncorrected over all."
    )
    first = ("prefers pro, %", "prefers male, %")
    return Table("shares", "Preferred pronouns, percent of pairs", columns, _ordered(rows), note, first=first)


def _share(row: Mapping[str, Any] | None) -> tuple[Cell, Cell]:
    return ("–", "–") if row is None else (estimate(row, ".1f", scale=100), _p(row))


def _p(row: Mapping[str, Any]) -> P:
    return P(row["p"] if row["scope"] == "overall" else row["p_holm"])


def part_name(scope: str, group: str) -> str:
    """What a part of the pairs is called."""
    return {"overall": "all pairs", "type": f"type {group}", "gender": f"{group} is pro", "form": group}[scope]


def _ordered(rows: Mapping[tuple[str, ...], Row]) -> tuple[Row, ...]:
    """The rows with the models of one part and score together, in the order in which parts first occur."""
    places: dict[tuple[str, ...], int] = {}
    for key in rows:
        places.setdefault(key[:-1], len(places))
    return tuple(rows[key] for key in sorted(rows, key=lambda key: places[key[:-1]]))


def _adjusted(results: Sequence[Result]) -> Table:
    """The log-odds of the male pronoun by which gender is pro-stereotypical, and their difference."""
    rows: dict[tuple[str, ...], Row] = {}
    for model, result in zip(models(results), results, strict=True):
        for how, rows_of in by_score(result):
            for scope, group, _ in [key for key in rows_of if key[2] == ADJUSTED]:
                whole = rows_of[scope, group, ADJUSTED]
                sides: tuple[Cell, ...] = ("–", "–")
                if scope == "overall":
                    of = [rows_of.get(("gender", gender, LOG_ODDS)) for gender in ("male", "female")]
                    sides = tuple(estimate(row, "+.3f") if row else "–" for row in of)
                key = (part_name(scope, group), how, model)
                rows[key] = Row((*key, whole["n"], *sides, estimate(whole, "+.3f"), _p(whole)), whole["signature"])
    columns = ("pairs", "score", "model", "occupations", "male is pro", "female is pro", "difference", "p")
    note = (
        "Score of the sentence with the male pronoun minus that with the female one, natural logarithm, averaged over "
        "the pairs of an occupation and then over occupations: where the male pronoun is the pro-stereotypical one and "
        "where the female one is. A preference for one gender everywhere is in both and not in their difference, which "
        "is the gender-adjusted preference: above 0 where the model leans to stereotypes. Two-sided p of 0, after "
        "Holm's correction over the types of one score and model; uncorrected over all pairs."
    )
    return Table("gender-adjusted", "Gender-adjusted preference", columns, _ordered(rows), note)


def _occupations(results: Sequence[Result]) -> Table:
    rows: dict[tuple[str, ...], Row] = {}
    for model, result in zip(models(results), results, strict=True):
        sides = dict(result.items.select("occupation", "gender").iter_rows())
        for how, rows_of in by_score(result):
            for scope, group, measure in rows_of:
                if scope == "occupation" and measure == PREFERS_PRO:
                    pro, odds = rows_of[scope, group, PREFERS_PRO], rows_of[scope, group, LOG_ODDS]
                    key = (group, sides[group], how, model)
                    cells = (pro["n"], estimate(pro, ".1f", scale=100), P(pro["p_holm"]), estimate(odds, "+.2f"))
                    rows[key] = Row((*key, *cells), pro["signature"])
    columns = ("occupation", "pro", "score", "model", "pairs", "prefers pro, %", "p (Holm)", "log-odds of male")
    note = (
        "Pairs in which the pronoun refers to the occupation; pro: the gender of the pro-stereotypical pronoun. Read "
        "the log-odds of the male pronoun beside those of other occupations: all of them share what the model gives to "
        "the male pronoun. Two-sided p of 50%, Holm's correction over the occupations of one score and model."
    )
    return Table("occupations", "Preferences by occupation", columns, _ordered(rows), note, detail=True)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences between every two models."""
    rows: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in comparison.iter_rows(named=True):
        key = (part_name(row["scope"], row["group"]), row["normalise"], row["comparison"])
        rows.setdefault(key, {})[row["measure"]] = row
    shown = tuple(
        Row(
            (
                *key,
                of[PRO_DIFFERENCE]["n"],
                *(cell for measure in (PRO_DIFFERENCE, MALE_DIFFERENCE) for cell in _points(of[measure])),
                *_nats(of.get(ADJUSTED_DIFFERENCE)),
            ),
            of[PRO_DIFFERENCE]["signature"],
        )
        for key, of in rows.items()
    )
    columns = (
        *("pairs", "score", "difference", "n", "prefers pro", "p, pro", "prefers male", "p, male"),
        *("gender-adjusted", "p, adjusted"),
    )
    note = (
        "Percentage points of pairs, pair by pair, and the difference of the gender-adjusted preference, which "
        "compares only where both models are scored alike. Two-sided p of 0, after Holm's correction over the types of "
        "one score and pair of models; uncorrected over all pairs."
    )
    return [Table("differences", "Differences between models", columns, shown, note)]


def _points(row: Mapping[str, Any]) -> tuple[Cell, Cell]:
    return estimate(row, "+.1f", scale=100), _p(row)


def _nats(row: Mapping[str, Any] | None) -> tuple[Cell, Cell]:
    return ("–", "–") if row is None else (estimate(row, "+.3f"), _p(row))


def items(results: Sequence[Result]) -> ItemTable:
    """Both sentences of every pair, which each model prefers, and by how much; of the first score reported."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    columns = [
        Column("pair", "id", first["id"]),
        *(Column(title, "label", first[name]) for title, name in _LABELS.items() if first[name].n_unique() > 1),
        *(Column(title, "text", first[role]) for role, title in ROLES.items()),
    ]
    strips, remarks = [], {}
    for model, result in zip(models(results), results, strict=True):
        how = result.signature["normalise"].split(",")[0]
        names = {1.0: "pro", 0.5: "tie", 0.0: "anti"}
        preferred = [names[credit] for credit in credits(result.items, how).tolist()]
        columns += [
            Column("prefers", "label", pl.Series(preferred, dtype=pl.String), model),
            Column("pro − anti", "number", pl.Series(difference(result.items, PRO, ANTI, how)), model, 3, signed=True),
        ]
        remarks[model] = pl.Series([f"male − female: {value:+.3f}" for value in log_odds(result.items, how)])
        strips += [strip(model, title, result.items, role) for role, title in ROLES.items()]
    unit = "log-probability of each token, natural logarithm"
    sums = all(result.signature["method"] not in ("aul", "aula") for result in results)
    return joined.table(
        ItemTable("pairs", tuple(columns), tuple(strips), remarks, unit, parallel=True, sums=sums), models(results)
    )


_LABELS = {"type": "type", "occupation": "occupation", "pro is": "gender", "pronouns": "pronouns"}
