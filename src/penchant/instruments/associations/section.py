"""Tables of association tests. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.details import beyond, details, over_templates, sets
from penchant.instruments.associations.frames import (
    SIGNIFICANT,
    context_name,
    context_title,
    families,
    headline,
    levels,
    only,
    ordered,
    probe,
    several,
    stacked,
    where,
)
from penchant.instruments.associations.prose import reading
from penchant.records import Result, Signature
from penchant.report.tables import Cell, Number, P, Row, Table, estimate

_APART = "Samplings and numbers of samples are adjusted apart."


def tables(results: Sequence[Result]) -> list[Table]:
    """Effect sizes by category and model, then the detail tables of the instrument."""
    name = probe(results)
    whole = stacked(results, headline(name))
    title = f"{'Combined effect sizes' if name == 'ceat' else 'Effect sizes'} by category"
    shown = [_effects(name, whole, ", ".join([title, *where(whole, name, "sampling", "samples")]), results)]
    if several(whole, "layer"):
        everything = long(name, whole, "effects-all", f"{title}: everything that was measured")
        apart = f" {_APART}" if name == "ceat" else ""
        note = f"Holm's adjustment is over {families(whole, name)} of a model.{apart}"
        shown.append(replace(everything, note=note, detail=True))
    more = [*beyond(results), *over_templates(results)]
    return [table for table in (shown[0], *more, sets(results), *shown[1:], *details(results)) if table.rows]


def _effects(name: str, whole: pl.DataFrame, title: str, results: Sequence[Result]) -> Table:
    """The main table, with one column per context where there are several."""
    main = only(whole, "sampling", "samples")
    if len(levels(whole, "context")) == 1:
        return replace(long(name, main, "effects", title), note=reading(results))
    note = f"{reading(results)} * p after adjustment below {SIGNIFICANT:g}."
    return replace(_wide(name, main, "effects", title), note=note)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Differences of effect sizes between every two models, by category."""
    frame = comparison.filter(pl.col("measure") == DIFFERENCE)
    whole = ordered((str(pair[0]), part) for pair, part in frame.group_by("comparison", maintain_order=True))
    name = Signature.parse(whole["signature"][0])["probe"]
    both = "the stimuli, and the samples of sentences," if name == "ceat" else "the stimuli"
    note = (
        f"d of the first model minus that of the second. Intervals resample {both} of both models at once, attributes "
        "too; in simulations they held the true difference in 99 to 100 % of cases, so that they are rather wide. p: "
        "exchange of the two models within stimuli, attributes as they are. Holm's adjustment is over "
        f"{families(whole, name)} of a pair of models, not over pairs."
    )
    make = _wide if len(levels(whole, "context")) > 1 else long
    title = "Differences of effect sizes between models"
    titled = ", ".join([title, *where(whole, name, "sampling", "samples")])
    main = only(whole, "sampling", "samples")
    stars = f" * p after adjustment below {SIGNIFICANT:g}." if make is _wide else ""
    shown = [replace(make(name, main, "differences", titled, who="difference"), note=note + stars)]
    if len(main) < len(whole):
        everything = long(name, whole, "differences-all", f"{title}: everything", who="difference")
        shown.append(replace(everything, note=f"{note} {_APART}", detail=True))
    return shown


def _columns(frame: pl.DataFrame, who: str) -> tuple[list[str], list[str]]:
    """The fields that identify a row, and their column heads."""
    fields = ["category", *(["label"] if any(frame["label"]) else []), "who"]
    return fields, [{"who": who, "label": "stimuli"}.get(field, field) for field in fields]


def long(name: str, frame: pl.DataFrame, table: str, title: str, *, who: str = "model") -> Table:
    """One row per estimate, with a column for every factor that varies."""
    fields, heads = _columns(frame, who)
    factors = several(frame)
    tested = bool(frame["p"].is_not_nan().any())
    form = ".2f" if who == "model" else "+.2f"
    rows = []
    for row in frame.iter_rows(named=True):
        cells: list[Cell] = [*(row[field] for field in (*fields, *factors)), row["n"], estimate(row, form)]
        rows.append(Row((*cells, *((P(row["p"]), P(row["p_holm"])) if tested else ())), row["signature"]))
    heads += [context_name(name) if factor == "context" else factor for factor in factors]
    columns = (*heads, "n", "d" if who == "model" else "difference of d", *(("p", "p (Holm)") if tested else ()))
    return Table(table, title, columns, tuple(rows))


def _wide(name: str, frame: pl.DataFrame, table: str, title: str, *, who: str = "model") -> Table:
    """One row per category and model (and layer), one column per context."""
    fields, heads = _columns(frame, who)
    factors = several(frame, "context")
    contexts = levels(frame, "context")
    grouped: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        grouped.setdefault(tuple(row[field] for field in (*fields, *factors)), {})[row["context"]] = row
    form = ".2f" if who == "model" else "+.2f"
    rows = []
    for key, by_context in grouped.items():
        cells = [starred(by_context[context], form) if context in by_context else Number() for context in contexts]
        rows.append(Row((*key, *cells), next(iter(by_context.values()))["signature"]))
    columns = (*heads, *factors, *(context_title(name, context) for context in contexts))
    return Table(table, title, columns, tuple(rows))


def starred(row: Mapping[str, Any], form: str = ".2f") -> Number:
    """An estimate with a star where its adjusted p-value is small."""
    return replace(estimate(row, form), star="*" if row["p_holm"] < SIGNIFICANT else "")
