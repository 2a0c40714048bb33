"""The rows of tables of association tests: sorted by category, at the levels that are shown, with what varies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import polars as pl

from penchant.instruments.associations.combination import COMBINED
from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.estimates import EFFECT
from penchant.instruments.associations.frames import chosen, context_name, ordered, several
from penchant.records import Signature
from penchant.views.rows import Source
from penchant.views.tables import Column, level, model

HEADLINE = (EFFECT, COMBINED)
"""The main measure: of CEAT the combined one."""
Kept: TypeAlias = Callable[[Sequence[Source]], list[Source]]
Columns: TypeAlias = Callable[[Sequence[Source]], list[Column]]


def probe_of(found: Sequence[Source]) -> str:
    """Return the instrument that some sources are of."""
    result = found[0].result
    return (Signature.parse(found[0].frame["signature"][0]) if result is None else result.signature)["probe"]


def stacked_rows(found: Sequence[Source]) -> list[Source]:
    """Return the rows sorted by category, with a column for every factor; a label equal to its category is empty."""
    whole = ordered((str(i), source.frame) for i, source in enumerate(found))
    return [replace(source, frame=whole.filter(who=str(i)).drop("who")) for i, source in enumerate(found)]


def shown_at(
    *factors: str, measures: Sequence[str] = (*HEADLINE, DIFFERENCE)
) -> Callable[[Sequence[Source]], list[Source]]:
    """Return what keeps the level of some factors that is shown where only one can be."""

    def kept(found: Sequence[Source]) -> list[Source]:
        placed = stacked_rows(found)
        rows = pl.concat([source.frame.filter(pl.col("measure").is_in(measures)) for source in placed])
        if not len(rows):
            return placed
        shown = chosen(rows)
        levels_ = [pl.col(factor) == shown[factor] for factor in factors]
        return [replace(source, frame=source.frame.filter(levels_)) for source in placed]

    return kept


def rows_of(found: Sequence[Source], *measures: str) -> pl.DataFrame:
    """Return the rows of some measures of all sources."""
    return pl.concat([source.frame.filter(pl.col("measure").is_in(measures)) for source in stacked_rows(found)])


def heads(rows: pl.DataFrame, name: str, who: Column, *left_out: str) -> list[Column]:
    """Return the columns that identify a row: the category, its label if any has one, the model and what varies."""
    named = {"context": context_name(name)}
    factors = [level(factor, named.get(factor, factor)) for factor in several(rows, *left_out)]
    return [level("category"), level("label", "stimuli"), who, *factors]


def varying(*measures: str, rest: Sequence[Column], within: Kept = stacked_rows) -> Columns:
    """Return what makes the columns of a table of some measures."""

    def columns(found: Sequence[Source]) -> list[Column]:
        return [*heads(rows_of(within(found), *measures), probe_of(found), model()), *rest]

    return columns
