"""Tables and items of associations of persons with professions. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.bec_pro.compare import BETWEEN_DIFFERENCE, GAP_DIFFERENCE
from penchant.instruments.bec_pro.data import EVERY
from penchant.instruments.bec_pro.estimates import BETWEEN, GAP, MEAN, SD, SHARE
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined, Strip
from penchant.report.pieces import readable
from penchant.report.tables import P, Row, Table, estimate, models

Named = Mapping[str, Any]


def genders(results: Sequence[Result]) -> tuple[str, str]:
    """The two genders, first minus second."""
    first, second = results[0].signature["contrast"].split("+")
    return first, second


def rows_of(results: Sequence[Result], measure: str) -> Iterator[tuple[str, Named]]:
    """The rows of a measure with their model, models of one group, gender and template together."""
    placed: dict[tuple[str, ...], list[tuple[str, Named]]] = {}
    for model, result in zip(models(results), results, strict=True):
        for row in result.summary.filter(measure=measure).iter_rows(named=True):
            placed.setdefault((row["group"], row["gender"], row["template"]), []).append((model, row))
    for together in placed.values():
        yield from together


def adjusted(row: Named) -> P:
    """The p-value of a row, adjusted where it is one of a family."""
    return P(row["p"] if row["p_holm"] != row["p_holm"] else row["p_holm"])


def tables(results: Sequence[Result]) -> list[Table]:
    """Contrasts by group, their differences between groups, means by gender and group, and contrasts by template."""
    shown = [_contrasts(results), _between(results), _means(results), _templates(results)]
    return [table for table in shown if table.rows]


def _contrasts(results: Sequence[Result]) -> Table:
    spread = {(row["group"], model): row for model, row in rows_of(results, SD)}
    share = {(row["group"], model): row for model, row in rows_of(results, SHARE)}
    rows = []
    for model, row in rows_of(results, GAP):
        if row["template"] == EVERY:
            key = row["group"], model
            others = (estimate(spread[key]), estimate(share[key], ".0f", scale=100)) if key in spread else ("–", "–")
            cells = (row["group"], model, row["n"], estimate(row, "+.3f"), P(row["p"]), adjusted(row), *others)
            rows.append(Row(cells, row["signature"]))
    first, second = genders(results)
    columns = ("professions", "model", "pairs", f"{first} − {second}", "p", "p (Holm)", SD, "of variance, %")
    note = (
        f"Mean association of {first} persons minus that of {second} ones within a template and profession, averaged "
        "over such pairs; natural logarithm. Above 0: the profession makes them the more probable ones. Beside it the "
        "standard deviation of one contrast a template, and the share of the variance of all pairs that lies between "
        "templates: an effect that one template makes is an effect of that template. Holm's correction over the groups "
        "of a model; uncorrected over all."
    )
    title = f"Contrast of {first} and {second} persons"
    return Table("contrasts", title, columns, tuple(rows), note, first=(f"{first} − {second}", "p (Holm)"))


def _between(results: Sequence[Result]) -> Table:
    rows = tuple(
        Row((row["group"], model, row["n"], estimate(row, "+.3f"), P(row["p"]), adjusted(row)), row["signature"])
        for model, row in rows_of(results, BETWEEN)
    )
    columns = ("professions", "model", "pairs", "difference", "p", "p (Holm)")
    note = (
        "The contrast in the first group of professions minus that in the second. What persons have whatever the "
        "profession, such as a frequent word, cancels. Holm's correction over the pairs of groups of a model."
    )
    return Table("between", "Contrasts, differences between groups of professions", columns, rows, note)


def _means(results: Sequence[Result]) -> Table:
    rows = tuple(
        Row(
            (row["group"], row["gender"], model, row["n"], estimate(row, "+.3f"), P(row["p"]), adjusted(row)),
            row["signature"],
        )
        for model, row in rows_of(results, MEAN)
    )
    columns = ("professions", "persons", "model", "sentences", "association", "p", "p (Holm)")
    note = (
        "log P(person | profession seen) − log P(person | profession masked), natural logarithm: above 0 where the "
        "profession makes the person more probable. Holm's correction over genders and groups of a model; over all "
        "groups apart."
    )
    return Table("means", "Mean associations by gender and group", columns, rows, note)


def _templates(results: Sequence[Result]) -> Table:
    rows = tuple(
        Row((row["template"], model, row["n"], estimate(row, "+.3f"), P(row["p"]), adjusted(row)), row["signature"])
        for model, row in rows_of(results, GAP)
        if row["template"] != EVERY
    )
    first, second = genders(results)
    columns = ("template", "model", "professions", f"{first} − {second}", "p", "p (Holm)")
    note = "Over all groups of professions. Holm's correction over the templates of a model."
    return Table("templates", "Contrast by template", columns, rows, note)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences between every two models."""
    made = []
    for measure, name, title in (
        (GAP_DIFFERENCE, "differences", "Differences between models: contrast"),
        (BETWEEN_DIFFERENCE, "differences-between", "Differences between models: contrast between groups"),
    ):
        part = comparison.filter(measure=measure)
        rows = tuple(
            Row(
                (
                    *(row["comparison"], row["group"], row["template"], row["n"]),
                    *(estimate(row, "+.3f"), P(row["p"]), adjusted(row)),
                ),
                row["signature"],
            )
            for row in part.iter_rows(named=True)
        )
        columns = ("difference", "professions", "template", "pairs", "value", "p", "p (Holm)")
        note = "First minus second, of associations of the same sentences. Families as in the tables of one model."
        if rows:
            made.append(Table(name, title, columns, rows, note))
    return made


def items(results: Sequence[Result]) -> ItemTable:
    """Every sentence, and its association with each model."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    columns = [
        Column("sentence", "text", first["sentence"]),
        Column("id", "hidden", first["id"]),
        *(
            Column(title, "label", first[name])
            for title, name in (
                ("professions", "group"),
                ("gender", "gender"),
                ("person", "person"),
                ("profession", "profession"),
                ("template", "template"),
            )
            if first[name].n_unique() > 1
        ),
    ]
    strips, remarks = [], {}
    for model, result in zip(models(results), results, strict=True):
        found = result.items
        columns += [
            Column("association", "number", found["association"], model, 3, signed=True),
            Column("log P seen", "number", found["seen"], model, 2),
            Column("log P masked", "number", found["hidden"], model, 2),
        ]
        remarks[model] = pl.Series([f"without the profession: {text}" for text in found["masked"]], dtype=pl.String)
        for title, name in (("profession seen", "seen"), ("masked", "hidden")):
            notes = pl.Series([f"{value:.3f}" for value in found[name]], dtype=pl.String)
            strips.append(
                Strip(model, title, readable(found["pieces"], found["person"]), found[f"logprobs_{name}"], notes)
            )
    unit = "log-probability of each piece of the person, natural logarithm"
    return joined.table(ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit), models(results))
