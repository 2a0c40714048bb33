"""Tables and items of StereoSet. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.stereoset.estimates import (
    ALL,
    BIAS_TYPE,
    BOTH,
    ICAT,
    LENGTHS,
    LMS,
    LMS_GAP,
    OVERALL,
    SLOPE,
    SS,
    SS_GAP,
    TARGET,
    TIES,
    UNEQUAL,
    margins,
)
from penchant.instruments.stereoset.scores import OVER_TERMS
from penchant.instruments.stereoset.scoring import AUTHORS, LETTERS
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, Strip, every_item
from penchant.report.made import tested
from penchant.report.pieces import readable
from penchant.report.tables import Cell, P, Row, Table, estimate, models, shown

_SCORES = (
    "LMS: percent of comparisons in which the stereotype or the anti-stereotype scores higher than the unrelated "
    "sentence; SS: percent of clusters in which the stereotype scores higher than the anti-stereotype, 50 being no "
    "preference; ICAT: LMS · min(SS, 100 − SS)/50. Over terms: target terms count alike, as published; over clusters: "
    "clusters do. p: two-sided, of SS being 50."
)
Named = Mapping[str, Any]


def tables(results: Sequence[Result]) -> list[Table]:
    """The scores overall, by bias type and by target term, and SS by token length."""
    return [
        _overall(results),
        _by_type(results),
        _lengths(results),
        _by_target(results),
    ]


def _by_key(result: Result, scope: str) -> Iterator[tuple[tuple[str, ...], dict[str, Named]]]:
    """The LMS, SS, ICAT and ties of a result by part, group, score and mean, in order."""
    chosen = (pl.col("scope") == scope) & (pl.col("lengths") == ALL)
    chosen &= pl.col("measure").is_in([LMS, SS, ICAT, TIES])
    rows = result.summary.filter(chosen)
    for key, part in rows.group_by(["part", "group", "normalise", "mean"], maintain_order=True):
        yield tuple(map(str, key)), {row["measure"]: row for row in part.iter_rows(named=True)}


def _together(results: Sequence[Result], scope: str) -> Iterator[tuple[tuple[str, ...], str, dict[str, Named]]]:
    """The same of several results, with the models of one part, group, score and mean together."""
    groups: dict[tuple[str, ...], list[tuple[str, dict[str, Named]]]] = {}
    for model, result in zip(models(results), results, strict=True):
        for key, rows in _by_key(result, scope):
            groups.setdefault(key, []).append((model, rows))
    for key, members in groups.items():
        for model, rows in members:
            if LMS in rows:
                yield key, model, rows


def _three(rows: dict[str, Named]) -> tuple[Cell, Cell, Cell]:
    return tuple(estimate(rows[measure], ".1f") for measure in (LMS, SS, ICAT))  # type: ignore[return-value]


def _overall(results: Sequence[Result]) -> Table:
    rows, ties = [], {}
    for (part, _, how, mean), model, named in _together(results, OVERALL):
        lms, ss, both = _three(named)
        if TIES in named:
            ties[part, how, model] = round(named[TIES]["value"] * named[TIES]["n"])
        cells = (part, how, model, mean, int(named[SS]["n"]), lms, ss, P(named[SS]["p"]), both)
        rows.append(Row(cells, named[SS]["signature"]))
    tied = sum(ties.values())
    note = f"{_SCORES} n: terms or clusters. both: the clusters of both parts, pooled by term. " + (
        f"Ties of stereotype and anti-stereotype: {_counted(ties)}."
        if tied
        else "No stereotype ties with its anti-stereotype."
    )
    columns = ("part", "score", "model", "mean", "n", LMS, SS, "p of 50", ICAT)
    return Table("scores", "StereoSet scores", columns, tuple(rows), note, first=(LMS, SS, ICAT))


def _counted(ties: Mapping[tuple[str, str, str], int]) -> str:
    return "; ".join(f"{n} ({', '.join(key)})" for key, n in ties.items() if n and key[0] != BOTH)


def _by_type(results: Sequence[Result]) -> Table:
    rows = []
    for (part, group, how, mean), model, named in _together(results, BIAS_TYPE):
        lms, ss, both = _three(named)
        tests = P(named[SS]["p"]), P(named[SS]["p_holm"])
        rows.append(
            Row((part, group, how, model, mean, int(named[SS]["n"]), lms, ss, *tests, both), named[SS]["signature"])
        )
    columns = ("part", "bias type", "score", "model", "mean", "n", LMS, SS, "p of 50", "p (Holm)", ICAT)
    note = f"{_SCORES} Holm's correction over the bias types of one part, score, mean and model."
    title = "StereoSet scores by bias type"
    return Table("by-bias-type", title, columns, tuple(rows), note, first=(LMS, SS, ICAT))


def _by_target(results: Sequence[Result]) -> Table:
    """Of the first score of each model."""
    types: dict[str, list[str]] = {}
    for target, kind in every_item(results).select("target", "bias_type").unique(maintain_order=True).iter_rows():
        types.setdefault(target, []).append(kind)
    firsts = {model: result.summary["normalise"][0] for model, result in zip(models(results), results, strict=True)}
    rows = []
    for (part, group, how, _), model, named in _together(results, TARGET):
        if how == firsts[model]:
            lms, ss, both = _three(named)
            cells = (part, ", ".join(types.get(group, [])), group, how, model, int(named[SS]["n"]), lms, ss)
            rows.append(Row((*cells, P(named[SS]["p_holm"]), both), named[SS]["signature"]))
    columns = ("part", "bias type", "target term", "score", "model", "clusters", LMS, SS, "p of 50 (Holm)", ICAT)
    note = (
        f"{_SCORES} The clusters of a term are taken as independent; Holm's correction over the terms of one part, "
        "score and model. Of the first score reported."
    )
    return Table("by-target", "StereoSet scores by target term", columns, tuple(rows), note, detail=True)


def _lengths(results: Sequence[Result]) -> Table:
    """SS by which sentence is longer, for each model."""
    rows = []
    for model, result in zip(models(results), results, strict=True):
        whole = result.summary.filter(pl.col("scope") == OVERALL)
        length = pl.col("measure").is_in([UNEQUAL, SLOPE]) | pl.col("lengths").is_in(list(LENGTHS))
        for (part, how), of_one in whole.filter(length).group_by(["part", "normalise"], maintain_order=True):
            named = {(row["measure"], row["lengths"]): row for row in of_one.iter_rows(named=True)}
            slope = named[SLOPE, ALL]
            cells: list[Cell] = [str(part), str(how), model, estimate(named[UNEQUAL, ALL], ".1f")]
            cells += [estimate(named[SS, name], ".1f", count=True) for name in LENGTHS]
            cells += [estimate(slope, "+.2f"), P(slope["p"]), P(slope["p_holm"])]
            rows.append(Row(tuple(cells), slope["signature"]))
    note = (
        "Percent of clusters whose stereotype (s) and anti-stereotype (a) have unequal numbers of tokens, and SS over "
        "clusters by which of the two has more, with [intervals] and (clusters). Log-odds: how the odds of preferring "
        "the stereotype change with each token that it has more, within target terms; 0 where SS does not move with "
        "length. Holm's correction over the parts and scores of one model, both together left out."
    )
    columns = ("part", "score", "model", "unequal, %", *LENGTHS, "log-odds per token", "p", "p (Holm)")
    title = "SS by token length"
    return Table("lengths", title, columns, tuple(sorted(rows, key=lambda row: _place(row, rows))), note)


def _place(row: Row, rows: Sequence[Row]) -> tuple[int, int]:
    """Where a row stands: models of one part and score together, in the order in which these first occur."""
    first = next(i for i, other in enumerate(rows) if other.cells[:2] == row.cells[:2])
    return first, rows.index(row)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of SS and LMS between every two models: overall, then by bias type."""
    made = []
    for scope, name, title in (
        (OVERALL, "differences", "Differences between models, percentage points"),
        (BIAS_TYPE, "differences-by-bias-type", "Differences between models by bias type, percentage points"),
    ):
        part = comparison.filter(pl.col("scope") == scope)
        by_type = scope == BIAS_TYPE
        note = f"{tested(part)} First minus second, over the same target terms or clusters." + (
            " Holm's correction over the bias types of one part, score, mean and pair of models." if by_type else ""
        )
        columns = ("difference", "part", *(("bias type",) if by_type else ()), "score", "mean", "n")
        heads = ("p", "p (Holm)") if by_type else ("p",)
        columns = (*columns, SS, *heads, LMS, *(f"{head} " for head in heads))
        made.append(Table(name, title, columns, tuple(_differences(part, by_type)), note, detail=by_type))
    return made


def _differences(comparison: pl.DataFrame, by_type: bool) -> Iterator[Row]:
    keys = ["comparison", "part", "group", "normalise", "mean"]
    for (pair, part, group, how, mean), rows in comparison.group_by(keys, maintain_order=True):
        named = {row["measure"]: row for row in rows.iter_rows(named=True)}
        cells: list[Cell] = [str(pair), str(part), *((str(group),) if by_type else ()), str(how), str(mean)]
        cells.append(int(named[SS_GAP]["n"]))
        for measure in (SS_GAP, LMS_GAP):
            row = named[measure]
            cells += [estimate(row, "+.1f"), P(row["p"]), *((P(row["p_holm"]),) if by_type else ())]
        yield Row(tuple(cells), named[SS_GAP]["signature"])


def items(results: Sequence[Result]) -> ItemTable:
    """The sentences of every cluster, and of each model which it prefers and by how much; of the first score."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    columns = [
        Column("cluster", "id", first["id"]),
        *(Column(name, "label", first[key]) for key, name in (("part", "part"), ("bias_type", "bias type"))),
        Column("target term", "label", first["target"]),
        Column("context", "text", first["context"]),
        *(Column(role, "text", first[name]) for role, name in LETTERS.items()),
        *(Column(f"fill, {role}", "hidden", first[f"fill_{name}"]) for role, name in LETTERS.items()),
    ]
    strips, remarks = [], {}
    for model, result in zip(models(results), results, strict=True):
        how = result.summary["normalise"][0]
        against = margins(result.items, how)
        order = [_order(*row) for row in zip(*(margin.tolist() for margin in against), strict=True)]
        columns += [
            Column("prefers", "label", pl.Series(order, dtype=pl.String), model),
            Column("s − a", "number", pl.Series(against[0]), model, 3, signed=True),
            Column("tokens, s − a", "number", result.items["difference"], model, 0, signed=True),
        ]
        remarks[model] = pl.Series(
            [
                f"s {row[0]}; a {row[1]}; u {row[2]} (score before normalisation)"
                for row in zip(*(_plain(result.items[f"score_{name}"]) for name in LETTERS.values()), strict=True)
            ],
            dtype=pl.String,
        )
        for role, name in LETTERS.items():
            read = f"fill_{name}" if _only_fills(result) else name
            pieces = readable(result.items[f"pieces_{name}"], result.items[read])
            counts = [f"{n} token{'' if n == 1 else 's'}" for n in result.items[f"tokens_{name}"]]
            strips.append(Strip(model, role, pieces, result.items[f"logprobs_{name}"], pl.Series(counts)))
    unit = "log-probability of each token that is scored, natural logarithm"
    return joined.table(
        ItemTable("clusters", tuple(columns), tuple(strips), remarks, unit, sums=False), models(results)
    )


def _only_fills(result: Result) -> bool:
    """Whether only the fill of the blank is scored: by the authors' methods, with a masked model."""
    return result.signature["method"].startswith(AUTHORS) and result.signature["bos"] == "template"


def _plain(scores: pl.Series) -> list[str]:
    return [shown(value, ".4g").replace("-", "−") for value in scores]


def _order(s_a: float, s_u: float, a_u: float) -> str:
    """Which sentence of a cluster scores highest."""
    best = [
        name
        for name, ahead in (
            ("stereotype", s_a >= 0 and s_u >= 0),
            ("anti-stereotype", s_a <= 0 and a_u >= 0),
            ("unrelated", s_u <= 0 and a_u <= 0),
        )
        if ahead
    ]
    return best[0] if len(best) == 1 else "tie"


def overall(result: Result, part: str, measure: str) -> Named | None:
    """An overall number of a part, over terms, of the first score; None where there is none."""
    rows = result.summary.filter(
        (pl.col("scope") == OVERALL)
        & (pl.col("part") == part)
        & (pl.col("measure") == measure)
        & (pl.col("mean") == OVER_TERMS)
    )
    return rows.row(0, named=True) if len(rows) else None
