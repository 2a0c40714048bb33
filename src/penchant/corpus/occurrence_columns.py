"""Tables of occurrences: their columns, and their division into segments by sentence length."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from penchant.corpus.word_matching import window
from penchant.errors import MethodError

SCHEMA: Mapping[str, Any] = {
    "id": pl.String,
    "word": pl.String,
    "text": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "matched": pl.String,
    "words": pl.Int64,
    "source": pl.String,
}
"""Columns of a table of occurrences.

The columns are the sentence id, the stimulus, the sentence, the start and end of the form, the form, the number of
words in the sentence, and the file (or "the data#" and a hash for a table given in Python).
"""
KEY = "penchant"
"""Key of the extraction record in a table's Parquet metadata."""

Mode = Literal["window", "bin"]
_LONGER = re.compile(r">\s*([0-9]+)")


@dataclass(frozen=True, slots=True)
class Segment:
    """Range of sentence lengths in words (`high` is None if unlimited); `length` is the window size, if any."""

    name: str
    length: int | None
    low: int
    high: int | None


def segments(spec: Sequence[int | str], mode: Mode) -> tuple[Segment, ...]:
    """Return the segments of a study, each given as a number L, ">L" or "all".

    With mode `window`, L means windows of exactly L words; with mode `bin`, it means whole sentences of at most L words
    and more than the previous bound. ">L" means whole sentences of more than L words, and "all" (not with `bin`) all
    whole sentences. Raises MethodError if a segment is invalid or repeated.
    """
    if not spec:
        raise MethodError("no segment is given", hint="give segments such as 9, 25, 75 and '>75'")
    result: list[Segment] = []
    for item in spec:
        segment = _segment(item, mode, result[-1] if result else None)
        if segment in result:
            raise MethodError(f"the segment '{item}' is given twice")
        result.append(segment)
    return tuple(result)


def _segment(item: int | str, mode: Mode, previous: Segment | None) -> Segment:
    longer = _LONGER.fullmatch(item.strip()) if isinstance(item, str) else None
    bound = int(longer[1]) if longer else item
    if item == "all" and mode == "window":
        return Segment("all", None, 1, None)
    if isinstance(bound, bool) or not isinstance(bound, int):
        also = ", or 'all'" if mode == "window" else ""
        hint = f"give a number of words, '>' and a number{also}"
        raise MethodError(f"{item!r} is not a valid segment", hint=hint)
    if bound < 1:
        raise MethodError(f"{item!r} is not a valid segment: a sentence has at least one word")
    if mode == "window":
        return Segment(f">{bound}", None, bound + 1, None) if longer else Segment(str(bound), bound, bound, None)
    return _bin(bound, bool(longer), previous)


def _bin(bound: int, longer: bool, previous: Segment | None) -> Segment:
    low = previous.high + 1 if previous and previous.high else 1
    if previous and (previous.high is None or bound < low - longer):
        shown = f">{bound}" if longer else str(bound)
        hint = "give the bounds in increasing order, such as 9, 25 and '>25'"
        raise MethodError(f"the bin {shown} cannot follow {previous.name}", hint=hint)
    if longer:
        return Segment(f">{bound}", None, bound + 1, None)
    return Segment(f"{low}–{bound}" if low < bound else str(bound), None, low, bound)


def cut(occurrences: pl.DataFrame, segment: Segment) -> pl.DataFrame:
    """Return the occurrences in a segment, in their original order; if it has a `length`, sentences are cut to windows.

    In windows, `start` and `end` are offsets in the window, and `words` is still the number of words in the sentence;
    forms with more words than the window are omitted.
    """
    fits = pl.col("words") >= segment.low
    fitting = occurrences.filter(fits if segment.high is None else fits & (pl.col("words") <= segment.high))
    if segment.length is None:
        return fitting
    places = zip(fitting["text"].to_list(), fitting["start"].to_list(), fitting["end"].to_list(), strict=True)
    windows = [window(text, start, end, segment.length) for text, start, end in places]
    kept = fitting.filter(pl.Series([part is not None for part in windows], dtype=pl.Boolean))
    columns = {name: SCHEMA[name] for name in ("text", "start", "end")}
    parts = pl.DataFrame([part for part in windows if part is not None], schema=columns, orient="row")
    return kept.with_columns(parts.get_columns())
