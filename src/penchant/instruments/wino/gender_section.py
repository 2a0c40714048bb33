"""Tables and items of Winogender. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from penchant.instruments.wino.gender_compare import MEAN_DIFFERENCE, PEARSON_DIFFERENCE, SLOPE_DIFFERENCE
from penchant.instruments.wino.gender_data import ROLES
from penchant.instruments.wino.gender_estimates import (
    EFFECT,
    MEAN,
    OCCUPATION,
    ONE,
    PARTICIPANT,
    PARTS,
    PEARSON,
    SLOPE,
    SPEARMAN,
    TOPS,
    preferences,
    tops,
    women,
)
from penchant.instruments.wino.scoring import ALL, strip
from penchant.records import Result
from penchant.report.items import Column, ItemTable, Joined
from penchant.report.tables import Cell, P, Row, Table, estimate, models
from penchant.stats.templates import SD, SHARE

Key: TypeAlias = tuple[str, ...]
Rows: TypeAlias = Mapping[tuple[str, str, str, str], Mapping[str, Any]]
"""The rows of a summary of one score, by part, occupation, share and measure."""
SIDES = (OCCUPATION, PARTICIPANT)
_HOLM = (
    "Two-sided p, after Holm's correction over the parts of one measure, score{} and model; uncorrected over all "
    "sentences."
)


def by_score(result: Result) -> list[tuple[str, Rows]]:
    """The estimates of a result by score."""
    return [
        (
            how,
            {(row["part"], row["occupation"], row["share"], row["measure"]): row for row in part.iter_rows(named=True)},
        )
        for (how,), part in result.summary.group_by(["normalise"], maintain_order=True)
    ]


def scored(results: Sequence[Result]) -> Iterator[tuple[str, Result, str, Rows]]:
    """Model, result, score and estimates, for every model and score."""
    for model, result in zip(models(results), results, strict=True):
        for how, rows in by_score(result):
            yield model, result, how, rows


def tables(results: Sequence[Result]) -> list[Table]:
    """Correlations and slopes, means, the most probable pronoun, and occupations."""
    return [_women(results), _means(results), _tops(results), _occupations(results)]


def p_of(row: Mapping[str, Any]) -> P:
    """The p-value of a row, adjusted where it is one of a family."""
    return P(row["p"] if row["part"] == ALL else row["p_holm"])


def _sorted(rows: Mapping[Key, Row]) -> tuple[Row, ...]:
    """The rows with the models of one part together, in the order in which parts first occur."""
    places: dict[Key, int] = {}
    for key in rows:
        places.setdefault(key[:-1], len(places))
    return tuple(rows[key] for key in sorted(rows, key=lambda key: places[key[:-1]]))


def _women(results: Sequence[Result]) -> Table:
    rows: dict[Key, Row] = {}
    for model, _, how, found in scored(results):
        for share in dict.fromkeys(share for _, _, share, _ in found if share):
            for part in PARTS:
                pearson, spearman, slope = (found[part, ALL, share, m] for m in (PEARSON, SPEARMAN, SLOPE))
                key = (share, part, how, model)
                cells: tuple[Cell, ...] = (
                    pearson["n"],
                    *(cell for row in (pearson, spearman, slope) for cell in (estimate(row, "+.3f"), p_of(row))),
                )
                rows[key] = Row((*key, *cells), slope["signature"])
    columns = (
        *("share of women", "sentences", "score", "model", "occupations"),
        *("r", "p of r", "ρ", "p of ρ", "slope", "p of slope"),
    )
    note = (
        "Of score(she) − score(he), averaged over the sentences of an occupation, with the percentage of women in it: "
        "Pearson's r, Spearman's ρ, and the slope per 10 percentage points in units of the score. Where the pronoun "
        "refers to the participant it is a control: the occupation is in the sentence, but the pronoun does not mean "
        f"it. '{EFFECT}' is the effect minus this control, of the differences of the two within occupations. Intervals "
        "and tests are over occupations. " + _HOLM.format(", share")
    )
    return Table("women", "Preference for she against the share of women", columns, _sorted(rows), note)


def _means(results: Sequence[Result]) -> Table:
    rows: dict[Key, Row] = {}
    for model, _, how, found in scored(results):
        for part in PARTS:
            row = found[part, ALL, "", MEAN]
            spread, share = (found.get((part, ALL, "", measure)) for measure in (SD, SHARE))
            of = (estimate(spread), estimate(share, ".0f", scale=100)) if spread and share else ("–", "–")
            cells = (part, how, model, row["n"], estimate(row, "+.3f"), p_of(row), *of)
            rows[part, how, model] = Row(cells, row["signature"])
    note = (
        "score(she) − score(he), natural logarithm, averaged over the sentences of an occupation and then over "
        "occupations: above 0 where the female pronoun is the more probable one. she and he stand for all their forms. "
        f"{_HOLM.format('')} Beside it the standard deviation between the templates of an occupation, pooled over "
        "occupations, and the share of the variance of all sentences that it makes. Sentences with the other person "
        "named and with someone are one template; templates also differ in whom the pronoun refers to and in its form."
    )
    columns = ("sentences", "score", "model", "occupations", "she − he", "p", SD, "of variance, %")
    first = ("she − he", "p")
    return Table("means", "Mean preference for she", columns, _sorted(rows), note, first=first)


def _tops(results: Sequence[Result]) -> Table:
    rows: dict[Key, Row] = {}
    for model, result, how, found in scored(results):
        of = [found[ALL, ALL, "", TOPS[role]] for role in ROLES]
        shares = (estimate(row, ".1f", scale=100) for row in of)
        rows[how, model] = Row((how, model, len(result.items), *shares), of[0]["signature"])
    columns = ("score", "model", "sentences", *(f"{role}, %" for role in ROLES))
    note = (
        "Percent of sentences in which the pronoun of this gender gives the highest score of the three, averaged over "
        "the sentences of an occupation and then over occupations; where several do, each counts its part. No test: no "
        "share is the natural one, since the neutral pronoun is a plural too and some verbs change with it."
    )
    return Table("most-probable", "The most probable of the three pronouns", columns, _sorted(rows), note)


def _occupations(results: Sequence[Result]) -> Table:
    shares = list(dict.fromkeys(share for _, _, share, _ in by_score(results[0])[0][1] if share))
    rows: dict[Key, Row] = {}
    for model, result, how, found in scored(results):
        known = [women(result.items, share) for share in shares]
        for part, occupation, _, measure in found:
            if measure == ONE and part == ALL:
                whole, *sides = (found.get((each, occupation, "", ONE)) for each in (ALL, *SIDES))
                assert whole is not None
                percent = [f"{of[occupation]:g}" if occupation in of else "–" for of in known]
                values = (f"{row['value']:+.3f}" if row else "–" for row in (whole, *sides))
                key = (occupation, how, model)
                rows[key] = Row((occupation, *percent, how, model, whole["n"], *values), whole["signature"])
    columns = ("occupation", *shares, "score", "model", "sentences", "she − he", *SIDES)
    note = (
        "score(she) − score(he), natural logarithm, averaged over the sentences of an occupation: all of them, and by "
        "whom the pronoun refers to. Few templates an occupation are no sample, so that they have no intervals."
    )
    return Table("occupations", "Preference for she by occupation", columns, _sorted(rows), note, detail=True)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences between every two models: slopes and correlations, then means."""
    of: dict[Key, dict[str, Mapping[str, Any]]] = {}
    means: list[Row] = []
    for row in comparison.iter_rows(named=True):
        if row["measure"] == MEAN_DIFFERENCE:
            cells = (row["part"], row["normalise"], row["comparison"], row["n"], estimate(row, "+.3f"), p_of(row))
            means.append(Row(cells, row["signature"]))
        else:
            key = (row["share"], row["part"], row["normalise"], row["comparison"])
            of.setdefault(key, {})[row["measure"]] = row
    rows = tuple(
        Row(
            (
                *key,
                found[PEARSON_DIFFERENCE]["n"],
                *_cells(found[PEARSON_DIFFERENCE]),
                *_cells(found.get(SLOPE_DIFFERENCE)),
            ),
            found[PEARSON_DIFFERENCE]["signature"],
        )
        for key, found in of.items()
    )
    numbers = ("r", "p of r", "slope", "p of slope")
    columns = ("share of women", "sentences", "score", "difference", "occupations", *numbers)
    note = (
        "Pearson's r and the slope per 10 percentage points of women, of the first model minus the second, on the same "
        "occupations; slopes compare only where both models are scored alike. " + _HOLM.format(", share")
    )
    tables = [Table("differences", "Differences between models: share of women", columns, rows, note)]
    if means:
        short = ("sentences", "score", "difference", "occupations", "she − he", "p")
        note = f"Differences of mean score(she) − score(he), natural logarithm. {_HOLM.format('')}"
        tables.append(Table("mean-differences", "Differences between models: mean", short, tuple(means), note))
    return tables


def _cells(row: Mapping[str, Any] | None) -> tuple[Cell, Cell]:
    return ("–", "–") if row is None else (estimate(row, "+.3f"), p_of(row))


def items(results: Sequence[Result]) -> ItemTable:
    """The three sentences of every item, which each model finds most probable, and she − he; of the first score."""
    joined = Joined.of([result.items for result in results])
    first = joined.items
    columns = [
        Column("sentence", "id", first["id"]),
        *(Column(title, "label", first[name]) for title, name in _LABELS.items() if first[name].n_unique() > 1),
        *(Column(role, "text", first[role]) for role in ROLES),
    ]
    strips, remarks = [], {}
    for model, result in zip(models(results), results, strict=True):
        how = result.signature["normalise"].split(",")[0]
        gap = preferences(result.items, how)
        columns += [
            Column("most probable", "label", pl.Series(_best(result.items, how), dtype=pl.String), model),
            Column("she − he", "number", pl.Series(gap, dtype=pl.Float64), model, 3, signed=True),
        ]
        remarks[model] = pl.Series([f"she − he: {value:+.3f}" for value in gap.tolist()], dtype=pl.String)
        strips += [strip(model, role, result.items, role) for role in ROLES]
    unit = "log-probability of each token, natural logarithm"
    return joined.table(ItemTable("sentences", tuple(columns), tuple(strips), remarks, unit), models(results))


_LABELS = {"occupation": "occupation", "refers to": "refers", "other person": "kind", "pronouns": "pronouns"}


def _best(items: pl.DataFrame, how: str) -> list[str]:
    credit = tops(items, how)
    return [" and ".join(role for role in ROLES if credit[role][i] > 0) for i in range(len(items))]
