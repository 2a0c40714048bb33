"""Rows of amplification for views: the words furthest from their text, and a row for every word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import polars as pl

from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.estimates import GAP
from penchant.records import Result
from penchant.views.rows import At, Line, Source
from penchant.wording.phrases import in_words, notes_of

MOST = 6
"""Words on either side of those that are furthest from their text."""
_WORD = ("contrast", "word")


def result_of(source: Source) -> Result:
    """Return the result of a model."""
    assert source.result is not None
    return source.result


def asked(results: Sequence[Result]) -> list[str]:
    """Return the names of the contrasts, in order, without the control."""
    controls = {name for result in results for name in result.items.filter("control")["contrast"]}
    names = dict.fromkeys(name for result in results for name in result.summary["contrast"])
    return [name for name in names if name not in controls]


def labels(items: pl.DataFrame, contrast: str) -> tuple[str, str]:
    """Return what the two groups of a contrast are called."""
    first, second = items.filter(contrast=contrast).unique("side").sort("side")["label"]
    return first, second


@lru_cache(maxsize=4)
def in_text(source: Source) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return the counts of the text by contrast and word; with "" for the word those of a contrast."""
    firsts = list(result_of(source).items.unique(_WORD, keep="first").iter_rows(named=True))
    return {(row["contrast"], word): row for row in firsts for word in (row["word"], "")}


def words(line: Line, *, rare: bool) -> list[str]:
    """Return the words of a row's contrast and kind that the text has too rarely, or the others."""
    gaps = line.source.only(At(measure=GAP, contrast=line["contrast"]))
    return [
        gap["word"] for gap in gaps if line["kind"] in (EVERYTHING, gap["kind"]) and math.isnan(gap["value"]) == rare
    ]


def furthest(found: Sequence[Source]) -> list[Source]:
    """Keep, of m − c, that of the words furthest from their text: of either sign, the furthest first; without those of
    the control."""
    return [replace(source, frame=_furthest(source.frame, asked([result_of(source)]))) for source in found]


def _furthest(frame: pl.DataFrame, contrasts: Sequence[str]) -> pl.DataFrame:
    gaps = frame.filter((pl.col("measure") == GAP) & pl.col("value").is_not_nan())
    parts = [
        gaps.filter(side, contrast=contrast).sort(pl.col("value").abs(), "word", descending=[True, False]).head(MOST)
        for contrast in contrasts
        for side in (pl.col("value") > 0, pl.col("value") < 0)
    ]
    return pl.concat([*parts, frame.filter(pl.col("measure") != GAP)])


def far(found: Sequence[Source]) -> list[Source]:
    """Keep m − c of the words that are among the furthest from their text under some model."""
    names = {line["word"] for source in furthest(found) for line in source.only(At(measure=GAP))}
    kept = pl.col("word").is_in(list(names)) & pl.col("value").is_not_nan()
    return [replace(source, frame=source.frame.filter(kept)) for source in found]


def by_word(result: Result) -> pl.DataFrame:
    """Return a row for every word: m, c and m − c, the counts of its text, and its mean corrected score after every
    group word."""
    rows = result.summary.filter(pl.col("word") != "")
    gaps = rows.filter(measure=GAP)
    notes = pl.Series("notes", [in_words(notes_of(row)) for row in gaps.iter_rows(named=True)], dtype=pl.String)
    numbers = rows.pivot("measure", index=["kind", *_WORD], values="value").fill_nan(None)
    for more in (gaps.select(_WORD).with_columns(notes), _by_group_word(result.items)):
        numbers = numbers.join(more, on=_WORD, how="left", maintain_order="left")
    return numbers.with_columns(pl.concat_str(_WORD, separator="\0").alias("id"))


def _by_group_word(items: pl.DataFrame) -> pl.DataFrame:
    means = items.group_by(*_WORD, "side", "group_word", maintain_order=True).agg(
        pl.col("corrected").sort().mean(), pl.col("label", "count_a", "count_b").first()
    )
    largest = means["corrected"].abs().max() or 1.0
    marked = means.with_columns(mark=pl.col("corrected") / largest).group_by(*_WORD, maintain_order=True)
    once = pl.col("count_a", "count_b").first(), pl.col("label").unique(maintain_order=True)
    return marked.agg("group_word", "corrected", "mark", *once)
