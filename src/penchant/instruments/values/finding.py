"""The finding of value statements in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penchant.instruments.values.data import EVERYTHING
from penchant.instruments.values.estimates import DIFFERENCE, MEAN
from penchant.instruments.values.section import first_variant
from penchant.records import Result
from penchant.report.finding import Shown, across, levels, sentences
from penchant.report.tables import models

_RATING = Shown(".2f", "statements", null=3)
_GAP = Shown("+.2f", "statements")


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """The mean rating of each model and group in the main wording, then where models differ, and where groups do."""
    main = first_variant(results[0])
    means = levels(_means(results, main), _RATING, "the middle (3)", most=4)
    noun = "values and groups" if results[0].items["group"].n_unique() > 1 else "values"
    texts = [f"Mean rating, from 1 (disagree) to 5 (agree): {means}" if means else ""]
    if comparison is not None:
        rows = comparison.filter(pl.col("variant") == main)
        texts += [across(_placed(part), _GAP, noun, f"Ratings of {pair[0]}") for pair, part in _by(rows, "comparison")]
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == DIFFERENCE) & (pl.col("variant") == main))
        texts += [
            across(_placed(part), _GAP, "values", f"{model}, ratings of {pair[0]}") for pair, part in _by(rows, "group")
        ]
    return sentences(*texts)


def _means(results: Sequence[Result], main: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mean over all statements of every model and group."""
    for model, result in zip(models(results), results, strict=True):
        rows = result.summary.filter((pl.col("measure") == MEAN) & (pl.col("variant") == main))
        for (group,), part in rows.group_by("group", maintain_order=True):
            whole = part.filter(pl.col("dimension") == EVERYTHING)
            yield f"{model} ({group})", (whole if len(whole) else part).row(0, named=True)


def _by(rows: pl.DataFrame, column: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    return iter(rows.group_by(column, maintain_order=True))


def _placed(part: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The values of some differences; without the mean over all of them where there are several."""
    several = part.filter(pl.col("dimension") != EVERYTHING)
    groups = part["group"].n_unique() > 1
    for row in (several if len(several) else part).iter_rows(named=True):
        yield f"{row['dimension']} ({row['group']})" if groups else row["dimension"], row
