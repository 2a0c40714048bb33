"""Tables and items of DisCo. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.disco.estimates import (
    ALL,
    CHI2,
    DIFFERENT,
    EXACT,
    LEVEL,
    OF_TEMPLATE,
    SHARES,
    Template,
    templates_of,
)
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, every_item
from penchant.report.tables import Cell, Number, P, Row, Table, estimate, models
from penchant.stats.templates import SD
from penchant.wording.phrases import notes_of

Named = Mapping[str, Any]


def groups(results: Sequence[Result]) -> tuple[str, str]:
    """The names of the two groups of persons."""
    first, second = every_item(results).unique("side", keep="first").sort("side")["group"]
    return first, second


def whole(result: Result, measure: str) -> Named:
    """The row of a measure over all templates."""
    return result.summary.filter(measure=measure, template=ALL).row(0, named=True)


def tables(results: Sequence[Result]) -> list[Table]:
    """The mean number of fills that differ by gender, the fills that differ, templates, and all fills."""
    shown = [_means(results), _fills(results, told=True), _templates(results), _fills(results, told=False)]
    return [table for table in shown if table.rows]


def _means(results: Sequence[Result]) -> Table:
    rows = []
    for model, result in zip(models(results), results, strict=True):
        mean, exact, sd = (whole(result, measure) for measure in (DIFFERENT, EXACT, SD))
        cells = (model, int(mean["n"]), estimate(mean), P(mean["p"]), estimate(exact), estimate(sd))
        rows.append(Row(cells, mean["signature"]))
    columns = ("model", "templates", "fills that differ", "p", "by the exact test", SD)
    note = (
        "Mean number of fills a template that the two groups of persons get at different rates: χ² of each fill at "
        ".05, divided by the number of fills of its template. Where there is no difference, at most .05 a template are "
        "expected. p: persons exchange their genders at random; of as many such fills or more."
    )
    return Table("means", "Fills that differ by gender, a template", columns, tuple(rows), note)


def fills(result: Result) -> Iterator[tuple[Template, int, Named, Named]]:
    """Every fill of every template: its number there, its χ², and the difference of its shares."""
    rows = {
        (row["measure"], row["template"], row["fill"]): row
        for row in result.summary.filter(pl.col("measure").is_in([CHI2, SHARES])).iter_rows(named=True)
    }
    for template in templates_of(result.items):
        for number, fill in enumerate(template.fills):
            yield template, number, rows[CHI2, template.text, fill], rows[SHARES, template.text, fill]


def corrected(row: Named) -> float:
    """A p-value times the number of fills of its template, at most 1."""
    return min(1.0, float(row["p"]) * int(row["tests"]))


def _fills(results: Sequence[Result], *, told: bool) -> Table:
    rows = []
    first, second = groups(results)
    for model, result in zip(models(results), results, strict=True):
        for template, number, test, share in fills(result):
            if told and not corrected(test) <= LEVEL:
                continue
            counts = [f"{n} of {of}" for n, of in zip(template.counts[number], template.sizes, strict=True)]
            cells: tuple[Cell, ...] = (
                template.text,
                model,
                template.fills[number],
                *counts,
                estimate(share, "+.0f", scale=100),
                Number(test["value"], form=".1f", notes=notes_of(test)),
                P(corrected(test)),
                P(corrected(share)),
                "yes" if corrected(test) <= LEVEL else "no",
            )
            rows.append(Row(cells, test["signature"]))
    columns = (
        *("template", "model", "fill", first, second, "points", "χ²"),
        *("p (Bonferroni)", "exact p (Bonferroni)", "differs"),
    )
    note = (
        "Persons of either group who have the fill among their most probable ones, the difference in percentage points "
        "with its interval, Pearson's χ² without continuity correction, and beside it the exact test, which holds "
        "where expected counts are small. Both p are multiplied by the number of fills of the template."
    )
    if told:
        return Table("fills-that-differ", "The fills that differ by gender", columns, tuple(rows), note)
    return Table("fills", "Every fill", columns, tuple(rows), note, detail=True)


def _templates(results: Sequence[Result]) -> Table:
    rows = []
    by_model = {
        model: {row["template"]: row for row in result.summary.filter(measure=OF_TEMPLATE).iter_rows(named=True)}
        for model, result in zip(models(results), results, strict=True)
    }
    for template in every_item(results)["template"].unique(maintain_order=True):
        for model, found in by_model.items():
            if row := found.get(template):
                rows.append(Row((template, model, int(row["n"]), int(row["value"])), row["signature"]))
    columns = ("template", "model", "fills", "that differ")
    note = "Different fills over all persons, and how many of them differ by gender."
    return Table("templates", "Fills by template", columns, tuple(rows), note)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences between every two models."""
    rows = tuple(
        Row((row["comparison"], row["n"], estimate(row, "+.2f"), P(row["p"])), row["signature"])
        for row in comparison.iter_rows(named=True)
    )
    note = "First minus second, template by template."
    return [Table("differences", "Differences between models", ("difference", "templates", "fills", "p"), rows, note)]


def items(results: Sequence[Result]) -> ItemTable:
    """Every sentence with the fills of each model."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    columns = [
        Column("id", "hidden", first["id"]),
        Column("sentence", "text", first["sentence"]),
        Column("person", "label", first["person"]),
        Column("group", "label", first["group"]),
        Column("template", "label", first["template"]),
    ]
    remarks = {}
    for model, result in zip(models(results), results, strict=True):
        found = result.items
        columns.append(Column("fills", "text", found["fills"].list.join(", "), model))
        remarks[model] = pl.Series(
            [
                "; ".join(f"{fill} {value:.2f}" for fill, value in zip(*row, strict=True))
                for row in found.select("fills", "logprobs").iter_rows()
            ],
            dtype=pl.String,
        )
    made = ItemTable("sentences", tuple(columns), (), remarks, "log-probability of a fill, natural logarithm")
    return joined.table(made, models(results))
