"""Data frames that the tables, figures and prose of WEAT, SEAT, CEAT and the log-probability bias score share.

Estimates can vary by layer, context (a segment's length or a sentence structure), sampling and number of samples. Where
only one level of each can be shown, `chosen` selects it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from penchant.counting import counted
from penchant.instruments.associations.combination import COMBINED
from penchant.instruments.associations.estimates import EFFECT
from penchant.instruments.associations.logprob_estimates import EVERY
from penchant.records import Result
from penchant.report.tables import models

FACTORS = ("layer", "context", "sampling", "samples")
SIGNIFICANT = 0.05


def probe(results: Sequence[Result]) -> str:
    """The name of the instrument that the results come from."""
    return results[0].signature["probe"]


def headline(name: str) -> str:
    """The main measure of an instrument."""
    return COMBINED if name == "ceat" else EFFECT


def context_name(name: str) -> str:
    """The word for a context of an instrument."""
    return {"ceat": "segment", "logprob-bias": "structure"}.get(name, "context")


def context_title(name: str, context: str) -> str:
    """A context as the head of a column or panel; the length of a segment has its unit."""
    if name != "ceat":
        return context
    return "whole sentences" if context == EVERY else f"{context.replace('>', '> ')} words"


def named(category: str, label: str) -> str:
    """A category with its label, as charts and items show it."""
    return f"{category} {label}" if label and label != category else category


def stacked(results: Sequence[Result], *measures: str) -> pl.DataFrame:
    """The estimates of some measures of all models, sorted by category, with a column `who` for the model and one for
    every factor."""
    return ordered(
        (model, result.summary.filter(pl.col("measure").is_in(measures)))
        for model, result in zip(models(results), results, strict=True)
    )


def ordered(frames: Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Tables stacked, sorted by category and then in their own order. A label equal to its category becomes empty."""
    whole = pl.concat([with_factors(frame).with_columns(pl.lit(who).alias("who")) for who, frame in frames])
    if not len(whole):
        return whole
    labels = {c: label for c, label in whole.select("category", "label").iter_rows() if label and label != c}
    rank = {category: i for i, category in enumerate(levels(whole, "category"))}
    return whole.with_columns(
        pl.col("category").replace_strict(labels, default="", return_dtype=pl.String).alias("label")
    ).sort(pl.col("category").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True)


def with_factors(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with a column for every factor; factors that an instrument lacks are empty strings."""
    return frame.with_columns(pl.lit("").alias(name) for name in FACTORS if name not in frame.columns)


def levels(frame: pl.DataFrame, factor: str) -> list[str]:
    """The levels of a factor, in order."""
    values: list[str] = frame[factor].unique(maintain_order=True).to_list()
    return values


def several(frame: pl.DataFrame, *left_out: str) -> list[str]:
    """The factors with more than one level."""
    return [factor for factor in FACTORS if factor not in left_out and len(levels(frame, factor)) > 1]


def chosen(frame: pl.DataFrame) -> dict[str, str]:
    """The level of every factor to show where only one can be shown: the first layer, the longest context, fixed
    sampling if there is any, and the largest number of samples."""
    sampling = levels(frame, "sampling")
    return {
        "layer": levels(frame, "layer")[0],
        "context": max(levels(frame, "context"), key=_length),
        "sampling": "fixed" if "fixed" in sampling else sampling[0],
        "samples": max(levels(frame, "samples"), key=lambda n: int(n or 0)),
    }


def _length(context: str) -> float:
    """The length of a context, in words. All contexts together count as the longest; structures have no length."""
    match = re.fullmatch(r"(>?)\s*(\d+)", context)
    if match is None:
        return float("inf") if context == EVERY else 0
    return int(match[2]) + (0.5 if match[1] else 0)


def families(frame: pl.DataFrame, name: str) -> str:
    """What Holm's adjustment is over: all categories, and the layers and contexts where there are several."""
    factors = [factor for factor in several(frame) if factor in ("layer", "context")]
    words = [f"{context_name(name)}s" if factor == "context" else f"{factor}s" for factor in factors]
    if "context" in factors and name == "logprob-bias":
        words[-1] += " (all structures together apart)"
    every = ["all categories", *words]
    return " and ".join([", ".join(every[:-1]), every[-1]]) if words else every[0]


def only(frame: pl.DataFrame, *factors: str) -> pl.DataFrame:
    """The rows with the chosen level of some factors."""
    if not len(frame):
        return frame
    level = chosen(frame)
    return frame.filter([pl.col(factor) == level[factor] for factor in factors])


def where(frame: pl.DataFrame, name: str, *factors: str) -> list[str]:
    """The chosen levels of some factors in words, for factors with several levels."""
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


def by_category(result: Result) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """The items of every category with its id and label, at the chosen level of every factor."""
    for _, items in only(with_factors(result.items), *FACTORS).group_by("category", maintain_order=True):
        category, label = items["category"][0], items["label"][0]
        yield category, label if label != category else "", items
