"""Cautions about cloze valence: what nobody rated, and what turns on how unrated words count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import polars as pl

from penchant.instruments.cloze.estimates import EVERYTHING, OVER_ALL, PER_RATED
from penchant.instruments.cloze.raters import Raters
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.instruments.cloze.valences import UNRATED, is_word
from penchant.report.finding import Shown, deciding, told
from penchant.wording.phrases import Note

LITTLE_RATED = 0.5
"""A caution is issued where the mean rated mass is below this share of the mass of all predictions."""
HALF_JUDGED = 0.5
"""A caution is issued where two raters or more judge less than this share of the rated mass."""
SHOWN = Shown("+.3f", "sentences")
_Row: TypeAlias = Mapping[str, Any]


def cloze_cautions(items: pl.DataFrame, settings: ClozeSettings) -> Iterator[Note]:
    """Yield cautions about predictions that nobody rates, or that one rater does."""
    total = int(items["words"].list.len().sum())
    mass = float(items["rated_mass"].mean() or 0.0)  # type: ignore[arg-type]
    top = float(items["top_mass"].mean() or 0.0)  # type: ignore[arg-type]
    if total and not int(items["rated"].sum()):
        yield Note("cloze.none-rated", of=total)
        return
    unrated, words, pieces = (int(counts.sum()) for counts in (items["unrated"], unrated_words(items), items["pieces"]))
    marks = unrated - words
    renormalise = settings.renormalise
    if words + marks + pieces:
        counts = {"words": words, "marks": marks, "pieces": pieces, "of": total}
        yield Note("cloze.not-rated", **counts, renormalise=renormalise, mass=mass, top=top)
    if mass < LITTLE_RATED * top:
        yield Note("cloze.little-rated", renormalise=renormalise)
    judged = Raters([items], settings).share()
    if judged < HALF_JUDGED and mass > 0:
        yield Note("cloze.one-rater-each", share=judged)
    if empty := without_beta(items):
        yield Note("cloze.no-beta", ids=empty, of=len(items))


def unrated_words(items: pl.DataFrame) -> pl.Series:
    """Return how many predictions of each sentence are words that nobody rated, and not marks of punctuation."""
    columns = items.select("words", "sources").iter_rows()
    counts = [
        sum(source == UNRATED and is_word(word) for word, source in zip(words, sources, strict=True))
        for words, sources in columns
    ]
    return pl.Series(counts, dtype=pl.Int64)


def without_beta(items: pl.DataFrame) -> list[str]:
    """Return the ids of the sentences that have no β, because no predicted word is rated."""
    return items.filter(pl.col("beta").is_null())["id"].to_list()


def turning(rows: Iterable[_Row]) -> Iterator[Note]:
    """Yield the caution about groups in which one choice of `renormalise` tells a lean and the other does not, or the
    opposite one."""
    places = [[group, *numbers] for _, group, *numbers in turns(rows)]
    if places:
        yield Note("cloze.turns", places=places)


def turns(rows: Iterable[_Row]) -> Iterator[tuple[str, str, str, str]]:
    """Yield where one choice of `renormalise` tells an estimate apart from 0 and the other does not, or on the other
    side: comparison, group ("" for all sentences), and the numbers over all probability and per rated one."""
    by = {(row.get("comparison", ""), row["group"], row["measure"]): row for row in rows}
    for (pair, group, measure), row in by.items():
        for way in (PER_RATED, OVER_ALL):
            other = by.get((pair, group, way.format(measure)))
            if other is None or math.isnan(deciding(row) + deciding(other)) or _side(row) == _side(other):
                continue
            over_all, per_rated = (other, row) if way == OVER_ALL else (row, other)
            place = "" if group == EVERYTHING else group
            yield pair, place, SHOWN.number(over_all, n=False), SHOWN.number(per_rated, n=False)


def _side(row: _Row) -> int:
    """Return −1 or 1 where an estimate is told to be below or above 0, else 0."""
    return (1 if row["value"] > 0 else -1) * told(row)
