"""Tables and items of cloze valence. Rendering only: every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from penchant.counting import for_one
from penchant.instruments.cloze.agreeing import agreement_table
from penchant.instruments.cloze.charts import every_worth
from penchant.instruments.cloze.compare import difference
from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES, MOVED, unrated_kinds
from penchant.instruments.cloze.raters import SAMPLED
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Strip
from penchant.report.made import tested
from penchant.report.tables import Number, P, Row, Table, estimate, models, shown

_FIRST = ("mean β", "mean δ", "sentences")
_ABSENT = {"low": float("nan"), "high": float("nan"), "note": "made before ratings were kept"}
"""What stands for an estimate that an older result does not have."""


def tables(results: Sequence[Result]) -> list[Table]:
    """Mean β, δ and rated mass by group and model, with intervals and the range under moved ratings."""
    rows = []
    for group in dict.fromkeys(g for r in results for g in r.summary["group"].to_list()):
        for result in results:
            of_group = result.summary.filter(pl.col("group") == group)
            by_measure = {row["measure"]: row for row in of_group.iter_rows(named=True)}
            beta, delta, mass = (by_measure[measure] for measure in MEASURES.values())
            moved = by_measure[MOVED.format(MEASURES["delta"])]
            sampled = [by_measure.get(SAMPLED.format(MEASURES[column]), _ABSENT) for column in ("beta", "delta")]
            cells = (
                group,
                result.signature["model"],
                delta["n"],
                estimate(beta, "+.3f"),
                Number(low=sampled[0]["low"], high=sampled[0]["high"], form="+.3f", note=sampled[0]["note"]),
                estimate(delta, ".3f"),
                Number(low=sampled[1]["low"], high=sampled[1]["high"], form=".3f", note=sampled[1]["note"]),
                Number(low=moved["low"], high=moved["high"], form=".3f"),
                estimate(mass, count=mass["n"] != delta["n"]),
            )
            rows.append(Row(cells, delta["signature"]))
    low, _, high = results[0].signature["scale"].partition(" < ")
    of_delta = ("mean δ", "δ, raters sampled", "δ, ratings moved")
    columns = ("group", "model", "sentences", "mean β", SAMPLED.format("β"), *of_delta, "rated mass")
    note = (
        f"{_of_beta(low, high)}; δ: how well that suits the sentences, 0 to 1. "
        "The intervals of β and δ are for other sentences with the same raters; raters sampled: for other raters, too. "
        "Ratings moved: where mean δ lies had some ratings been half a point higher or lower."
    )
    valence = Table("valence", "Mean valence and adequacy by group", columns, tuple(rows), note, first=_FIRST)
    return [replace(valence, short=_short(valence, _of_beta(low, high))), *agreement_table(models(results), results)]


def _of_beta(low: str, high: str) -> str:
    return f"β: where a model leans, from −1 ({low}) to +1 ({high})"


def _short(table: Table, of_beta: str) -> Table:
    """The columns of β and of what is rated; those of other raters only where there are several."""
    sampled = table.columns.index(SAMPLED.format("β"))
    numbers = (cell for row in table.rows if isinstance(cell := row.cells[sampled], Number))
    others = any(not math.isnan(number.low) for number in numbers)
    left_out = [i for i, name in enumerate(table.columns) if "δ" in name or (i == sampled and not others)]
    note = f"{of_beta}. Intervals of mean β are for other sentences with the same raters" + (
        "; raters sampled: for other raters, too." if others else "."
    )
    return replace(table.without(left_out), title="Mean valence by group", note=note)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of mean β and δ between every two models, by group."""
    rows = []
    for measure in ("beta", "delta"):
        name = difference(MEASURES[measure])
        moved, others = (
            {
                (row["comparison"], row["group"]): row
                for row in comparison.filter(pl.col("measure") == beside.format(name)).iter_rows(named=True)
            }
            for beside in (MOVED, SAMPLED)
        )
        for row in comparison.filter(pl.col("measure") == name).iter_rows(named=True):
            shifted = moved[row["comparison"], row["group"]]
            sampled = others.get((row["comparison"], row["group"]), _ABSENT)
            cells = (
                row["comparison"],
                MEASURES[measure],
                row["group"],
                row["n"],
                estimate(row, "+.3f"),
                Number(low=sampled["low"], high=sampled["high"], form="+.3f", note=sampled["note"]),
                Number(low=shifted["low"], high=shifted["high"], form="+.3f"),
                P(row["p"]),
                "" if row["group"] == EVERYTHING else P(row["p_holm"]),
            )
            rows.append(Row(cells, row["signature"]))
    columns = ("difference", "of", "group", "sentences", "value", "raters sampled", "ratings moved", "p", "p (Holm)")
    note = (
        "Raters sampled: the interval for other raters, too. "
        f"{tested(comparison)} Only sentences that have a β under both models count. Holm's correction over the "
        "groups of one measure and pair of models; not over measures or pairs."
    )
    return [Table("differences", "Differences between models", columns, tuple(rows), note)]


def items(results: Sequence[Result]) -> ItemTable:
    """Every sentence with its β and δ under every model, and every predicted word with probability and valence."""
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
        tokens = [
            [f"{word} {worth}" for word, worth in zip(words, worths, strict=True)]
            for words, worths in zip(result.items["words"], every_worth(result.items), strict=True)
        ]
        numbers = zip(
            result.items.select("beta", "delta", "rated").iter_rows(),
            unrated_kinds(result.items).iter_rows(),
            strict=True,
        )
        remarks[model] = pl.Series(
            [
                f"β {_shown(beta, '+.3f')}, δ {_shown(delta, '.3f')}; {rated} {for_one(rated, 'words')} "
                f"rated, {unrated} unrated, {marks + pieces} punctuation or pieces of words"
                for (beta, delta, rated), (unrated, marks, pieces) in numbers
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
    unit = (
        "probability of each word; after the word its valence, the mean over raters; where they differ, what each of "
        "them said, in the order of their names"
    )
    return ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit)


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else shown(value, form)
