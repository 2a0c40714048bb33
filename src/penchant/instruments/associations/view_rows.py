"""Selected rows of estimates and items for the tables, figures and prose of association tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import polars as pl

from penchant.instruments.associations.compare import DIFFERENCE
from penchant.instruments.associations.estimates import EFFECT
from penchant.instruments.associations.logprob_estimates import EVERY
from penchant.instruments.associations.random_effects import COMBINED
from penchant.plurals import counted
from penchant.records import BaseResult, Signature
from penchant.report.tables import models
from penchant.views.row_selection import RowSource
from penchant.views.tables import Column, level, model
from penchant.wording.templates import listed

FACTORS = ("layer", "context", "sampling", "samples")
SIGNIFICANT = 0.05


def probe(results: Sequence[BaseResult]) -> str:
    """Return the name of the instrument that produced the results."""
    return results[0].signature["probe"]


def headline(name: str) -> str:
    """Return the main measure of an instrument."""
    return COMBINED if name == "ceat" else EFFECT


def context_name(name: str) -> str:
    """Return an instrument's noun for a context."""
    return {"ceat": "segment", "logprob-bias": "structure"}.get(name, "context")


def context_title(name: str, context: str) -> str:
    """Return the heading of a context in a column or panel; for a segment of CEAT, its length, such as "25 words"."""
    if name != "ceat":
        return context
    return "whole sentences" if context == EVERY else f"{context.replace('>', '> ')} words"


def named(category: str, label: str) -> str:
    """Return a category with its label, for charts and items."""
    return f"{category} {label}" if label and label != category else category


def stacked(results: Sequence[BaseResult], *measures: str) -> pl.DataFrame:
    """Return the estimates of `measures` for all models, sorted by category.

    They have a column `who` for the model and one for every factor.
    """
    return ordered(
        (model, result.summary.filter(pl.col("measure").is_in(measures)))
        for model, result in zip(models(results), results, strict=True)
    )


def ordered(frames: Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Stack named tables, with the names as column `who`, sorted by category; order is otherwise kept.

    A label equal to its category becomes empty.
    """
    whole = pl.concat([with_factors(frame).with_columns(pl.lit(who).alias("who")) for who, frame in frames])
    if not len(whole):
        return whole
    labels = {c: label for c, label in whole.select("category", "label").iter_rows() if label and label != c}
    rank = {category: i for i, category in enumerate(levels(whole, "category"))}
    return whole.with_columns(
        pl.col("category").replace_strict(labels, default="", return_dtype=pl.String).alias("label")
    ).sort(pl.col("category").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def with_factors(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a column for every factor; factors that an instrument lacks are empty strings."""
    return frame.with_columns(pl.lit("").alias(name) for name in FACTORS if name not in frame.columns)


def levels(frame: pl.DataFrame, factor: str) -> list[str]:
    """Return the levels of a factor, in order of first appearance."""
    values: list[str] = frame[factor].unique(maintain_order=True).to_list()
    return values


def several(frame: pl.DataFrame, *left_out: str) -> list[str]:
    """Return the factors with more than one level, except those in `left_out`."""
    return [factor for factor in FACTORS if factor not in left_out and len(levels(frame, factor)) > 1]


def chosen(frame: pl.DataFrame) -> dict[str, str]:
    """Return, for every factor, the level to show if only one level can be shown.

    These are the first layer, the longest context, fixed sampling if there is any, and the largest number of samples.
    """
    sampling = levels(frame, "sampling")
    return {
        "layer": levels(frame, "layer")[0],
        "context": max(levels(frame, "context"), key=_length),
        "sampling": "fixed" if "fixed" in sampling else sampling[0],
        "samples": max(levels(frame, "samples"), key=lambda n: int(n or 0)),
    }


def _length(context: str) -> float:
    """Return the length of a context, in words: infinite for all contexts together, 0 for structures."""
    match = re.fullmatch(r"(>?)\s*(\d+)", context)
    if match is None:
        return float("inf") if context == EVERY else 0
    return int(match[2]) + (0.5 if match[1] else 0)


def families(frame: pl.DataFrame, name: str) -> str:
    """Describe the scope of Holm's adjustment: all categories and, if there are several, all layers and contexts."""
    factors = [factor for factor in several(frame) if factor in ("layer", "context")]
    words = [f"{context_name(name)}s" if factor == "context" else f"{factor}s" for factor in factors]
    if "context" in factors and name == "logprob-bias":
        words[-1] += " (all structures together adjusted separately)"
    return listed(["all categories", *words])


def only(frame: pl.DataFrame, *factors: str) -> pl.DataFrame:
    """Return the rows at the level that `chosen` returns for each of `factors`."""
    if not len(frame):
        return frame
    level = chosen(frame)
    return frame.filter([pl.col(factor) == level[factor] for factor in factors])


def where(frame: pl.DataFrame, name: str, *factors: str) -> list[str]:
    """Describe the level that `chosen` returns for each of `factors` with several levels, for the instrument `name`."""
    if not len(frame):
        return []
    level = chosen(frame)
    words = {
        "layer": f"layer {level['layer']}",
        "context": _context_words(name, level["context"]),
        "sampling": f"{level['sampling']} sentences",
        "samples": counted(int(level["samples"] or 0), "samples"),
    }
    return [words[factor] for factor in several(frame) if factor in factors]


def _context_words(name: str, context: str) -> str:
    if name == "ceat" and context != EVERY:
        return f"segments of {context_title(name, context)}"
    return context_title(name, context) if name == "ceat" else "all structures" if context == EVERY else context


def by_category(result: BaseResult) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield the id, label and items of every category, at the level that `chosen` returns for each factor."""
    for _, items in only(with_factors(result.items), *FACTORS).group_by("category", maintain_order=True):
        category, label = items["category"][0], items["label"][0]
        yield category, label if label != category else "", items


HEADLINE = (EFFECT, COMBINED)
"""The main measures: the effect size, and for CEAT the combined effect size."""
Kept: TypeAlias = Callable[[Sequence[RowSource]], list[RowSource]]
Columns: TypeAlias = Callable[[Sequence[RowSource]], list[Column]]


def probe_of(found: Sequence[RowSource]) -> str:
    """Return the name of the instrument that produced the rows of the sources."""
    result = found[0].result
    return (Signature.parse(found[0].frame["signature"][0]) if result is None else result.signature)["probe"]


def stacked_rows(found: Sequence[RowSource]) -> list[RowSource]:
    """Return the sources with rows sorted by category and a column for every factor.

    A label equal to its category becomes empty.
    """
    whole = ordered((str(i), source.frame) for i, source in enumerate(found))
    return [replace(source, frame=whole.filter(who=str(i)).drop("who")) for i, source in enumerate(found)]


def shown_at(
    *factors: str, measures: Sequence[str] = (*HEADLINE, DIFFERENCE)
) -> Callable[[Sequence[RowSource]], list[RowSource]]:
    """Return a function that keeps rows at the levels of `factors` that `chosen` selects from rows of `measures`."""

    def kept(found: Sequence[RowSource]) -> list[RowSource]:
        placed = stacked_rows(found)
        rows = pl.concat([source.frame.filter(pl.col("measure").is_in(measures)) for source in placed])
        if not len(rows):
            return placed
        shown = chosen(rows)
        levels_ = [pl.col(factor) == shown[factor] for factor in factors]
        return [replace(source, frame=source.frame.filter(levels_)) for source in placed]

    return kept


def rows_of(found: Sequence[RowSource], *measures: str) -> pl.DataFrame:
    """Return the rows of `measures` from all sources as one table."""
    return pl.concat([source.frame.filter(pl.col("measure").is_in(measures)) for source in stacked_rows(found)])


def heads(rows: pl.DataFrame, name: str, who: Column, *left_out: str) -> list[Column]:
    """Return the columns that identify a row: category, label, model, and the factors that `several` returns."""
    named = {"context": context_name(name)}
    factors = [level(factor, named.get(factor, factor)) for factor in several(rows, *left_out)]
    return [level("category"), level("label", "stimuli"), who, *factors]


def varying(*measures: str, rest: Sequence[Column], within: Kept = stacked_rows) -> Columns:
    """Return a function that builds the columns of a table of `measures`: those that identify a row, then `rest`.

    A factor has a column if it has several levels in the rows that `within` returns.
    """

    def columns(found: Sequence[RowSource]) -> list[Column]:
        return [*heads(rows_of(within(found), *measures), probe_of(found), model()), *rest]

    return columns
