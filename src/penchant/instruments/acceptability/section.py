"""Tables and items of acceptability. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penchant.instruments.acceptability.estimates import (
    ALPHA,
    BETWEEN_SCORES,
    MORCELA,
    PARAMETERS,
    PEARSON,
    SPEARMAN,
    values_of,
)
from penchant.instruments.acceptability.settings import AcceptabilitySettings
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, Strip
from penchant.report.pieces import readable
from penchant.report.tables import P, Row, Table, estimate, models, shown


def tables(results: Sequence[Result]) -> list[Table]:
    """Correlations by score and model, MORCELA's parameters, differences between scores, and the raters' agreement."""
    made = [_correlations(results), _parameters(results), _between(results), _agreement(results)]
    return [table for table in made if table.rows]


def _correlations(results: Sequence[Result]) -> Table:
    rows = []
    hows = list(dict.fromkeys(how for result in results for how in result.signature["normalise"].split(",")))
    for how in hows:
        for model, result in zip(models(results), results, strict=True):
            part = result.summary.filter(score=how)
            if not len(part):
                continue
            pearson, spearman = (part.filter(measure=m).row(0, named=True) for m in (PEARSON, SPEARMAN))
            cells = (estimate(pearson, "+.3f"), P(pearson["p"]), estimate(spearman, "+.3f"), P(spearman["p"]))
            rows.append(Row((how, model, pearson["n"], *cells), pearson["signature"]))
    note = (
        "Correlation of the score of a sentence with the mean of what was judged of it. The scores of MORCELA are made "
        "with β and γ that were fitted to other sentences. p: uncorrected."
    )
    columns = ("score", "model", "sentences", "Pearson's r", "p", "Spearman's ρ", "p ")
    return Table("correlations", "Correlation with judgements", columns, tuple(rows), note)


def _parameters(results: Sequence[Result]) -> Table:
    rows = []
    for model, result in zip(models(results), results, strict=True):
        part = result.summary.filter(pl.col("measure").is_in(PARAMETERS))
        if len(part):
            beta, gamma = (part.filter(measure=each).row(0, named=True) for each in PARAMETERS)
            cells = (estimate(beta, ".3f"), P(beta["p"]), estimate(gamma, "+.2f"), P(gamma["p"]))
            rows.append(Row((model, beta["n"], *cells), beta["signature"]))
    note = (
        "(log p − β·log u + γ)/tokens, fitted to all sentences. SLOR has β = 1 and γ = 0, of which p is. With β below "
        "1 frequency counts less than SLOR takes off; with γ above 0 short sentences are rated above what their score "
        "a token says, with γ below 0 long ones are."
    )
    columns = ("model", "sentences", "β", "p of 1", "γ", "p of 0")
    return Table("parameters", "The parameters of MORCELA", columns, tuple(rows), note)


def _between(results: Sequence[Result]) -> Table:
    rows = []
    for model, result in zip(models(results), results, strict=True):
        for row in result.summary.filter(measure=BETWEEN_SCORES).iter_rows(named=True):
            cells = (row["score"], model, row["n"], estimate(row, "+.3f"), P(row["p"]), P(row["p_holm"]))
            rows.append(Row(cells, row["signature"]))
    note = "Differences of Pearson's r, of the same sentences. Holm's correction over the differences of one model."
    columns = ("difference", "model", "sentences", "Pearson's r", "p", "p (Holm)")
    return Table("between-scores", "Differences between scores", columns, tuple(rows), note)


def _agreement(results: Sequence[Result]) -> Table:
    found = results[0].summary.filter(measure=ALPHA)
    rows = tuple(Row((row["n"], estimate(row, ".2f")), row["signature"]) for row in found.iter_rows(named=True))
    note = "Krippendorff's α of the ratings of sentences that several raters judged, interval scale."
    return Table("agreement", "Agreement of raters", ("sentences", "α"), rows, note)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences between every two models, by score."""
    rows = tuple(
        Row(
            (row["score"], row["comparison"], row["n"], estimate(row, "+.3f"), P(row["p"]), P(row["p_holm"])),
            row["signature"],
        )
        for row in comparison.iter_rows(named=True)
    )
    note = "Pearson's r of the first model minus that of the second, same sentences. Holm over the scores of a pair."
    columns = ("score", "difference", "sentences", "Pearson's r", "p", "p (Holm)")
    return [Table("differences", "Differences between models", columns, rows, note)]


def items(results: Sequence[Result]) -> ItemTable:
    """Every sentence with what was judged of it, and its scores under each model."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    columns = [
        Column("id", "id", first["id"]),
        *([Column("prefix", "text", first["prefix"])] if (first["prefix"] != "").any() else []),
        Column("sentence", "text", first["sentence"]),
        Column("rating", "number", first["rating"], digits=2),
        Column("raters", "number", first["ratings"].list.len()),
    ]
    strips, remarks = [], {}
    for model, result in zip(models(results), results, strict=True):
        settings = AcceptabilitySettings.of(result.settings)
        made = {how: values_of(result.items, how, settings)[0] for how in settings.normalisations()}
        last = MORCELA if MORCELA in made else list(made)[-1]
        columns.append(
            Column(last, "number", pl.Series(made[last], dtype=pl.Float64).fill_nan(None), model, 3, signed=True)
        )
        remarks[model] = pl.Series(
            [
                ", ".join(f"{how} {shown(value, '.3f')}" for how, value in zip(made, row, strict=True))
                for row in zip(*(values.tolist() for values in made.values()), strict=True)
            ],
            dtype=pl.String,
        )
        totals = pl.Series(
            [
                f"{shown(s, '.3f')}, {n} token{'' if n == 1 else 's'}"
                for s, n in result.items.select("score", "tokens").iter_rows()
            ],
            dtype=pl.String,
        )
        pieces = readable(result.items["pieces"], result.items["sentence"])
        strips.append(Strip(model, "sentence", pieces, result.items["logprobs"], totals))
    unit = "log-probability of each token, natural logarithm"
    sums = all(result.signature["method"] not in ("aul", "aula") for result in results)
    return joined.table(
        ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit, sums=sums), models(results)
    )
