"""Cautions about cloze valence: what nobody rated, and what turns on how unrated words count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from penchant.counting import for_one, of_all
from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES, OVER_ALL, PER_RATED
from penchant.instruments.cloze.raters import Raters
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.instruments.cloze.valences import PIECE, UNRATED, is_word
from penchant.records import Estimate
from penchant.report.finding import NAMED, listed, told
from penchant.report.tables import shown

LITTLE_RATED = 0.5
"""A caution is issued where the mean rated mass is below this share of the mass of all predictions."""
HALF_JUDGED = 0.5
"""A caution is issued where two raters or more judge less than this share of the rated mass."""


def cloze_cautions(items: pl.DataFrame, settings: ClozeSettings) -> Iterator[str]:
    """Cautions about predictions that nobody rates, or that one rater does."""
    total = int(items["words"].list.len().sum())
    mass = float(items["rated_mass"].mean() or 0.0)  # type: ignore[arg-type]
    top = float(items["top_mass"].mean() or 0.0)  # type: ignore[arg-type]
    if total and not int(items["rated"].sum()):
        yield (
            f"none of the {total} predicted words is rated, so there is no β and no δ yet: penchant rate DIR "
            "-o ratings.sqlite --open 5 lets five people rate them"
        )
        return
    told = _not_rated(items, total)
    if told:
        yield (
            f"{told}; they {'are left out of' if settings.renormalise else 'add nothing to'} β. The rated "
            f"words hold {mass:.0%} of the probability on average, all predicted ones {top:.0%}"
        )
    if mass < LITTLE_RATED * top:
        drawn = "" if settings.renormalise else ", which draws β towards 0"
        yield f"less than half of the predicted probability is rated{drawn}: rate more words"
    judged = Raters([items], settings).share()
    if judged < HALF_JUDGED and mass > 0:
        yield (
            f"{judged:.0%} of the rated probability is judged by two raters or more: what one rater or a lexicon says "
            "counts as known, and no interval holds for other raters; let a second person rate"
        )
    yield from left_out(items)


def _not_rated(items: pl.DataFrame, total: int) -> str:
    """How many predictions nobody rated, and how many nobody can: marks of punctuation and pieces of words; empty where
    all are rated."""
    counts = unrated_kinds(items).sum()
    words, marks, pieces = (int(counts[kind][0]) for kind in counts.columns)
    if not words + marks + pieces:
        return ""
    others = [f"{marks} {for_one(marks, 'are')} punctuation"] * bool(marks)
    others += [f"{pieces} {'are pieces' if pieces > 1 else 'is a piece'} of words"] * bool(pieces)
    if words:
        rest = f", {' and '.join(others)}, which nobody can judge" if others else ""
        return f"{of_all(words, total, 'predictions', 'are')} rated by nobody{rest}"
    return f"every predicted word is rated; of {total} predictions {' and '.join(others)}, which nobody can judge"


def unrated_kinds(items: pl.DataFrame) -> pl.DataFrame:
    """How many predictions of each sentence are words that nobody rated, marks of punctuation that nobody rated, and
    pieces of words or special tokens."""
    rows = []
    for spelled, sources in items.select("words", "sources").iter_rows():
        unrated = [word for word, source in zip(spelled, sources, strict=True) if source == UNRATED]
        words = sum(map(is_word, unrated))
        rows.append((words, len(unrated) - words, sources.count(PIECE)))
    return pl.DataFrame(rows, schema=dict.fromkeys(("words", "marks", "pieces"), pl.Int64), orient="row")


def without_beta(items: pl.DataFrame) -> list[str]:
    """The ids of the sentences that have no β, because no predicted word is rated."""
    return items.filter(pl.col("beta").is_null())["id"].to_list()


def named(ids: Sequence[str]) -> str:
    """The ids of sentences, the first of many."""
    rest = len(ids) - NAMED
    return listed([*ids[:NAMED], f"{rest:,} more"]) if rest > 0 else listed(ids)


def left_out(items: pl.DataFrame) -> Iterator[str]:
    """The caution about sentences that no mean counts."""
    empty = without_beta(items)
    if empty:
        n = len(empty)
        yield (
            f"{of_all(n, len(items), 'sentences', 'have')} no rated prediction ({named(empty)}): nobody can say where "
            f"the model leans there, so that {for_one(n, 'they')} {for_one(n, 'have')} no β and no δ and "
            f"{for_one(n, 'are')} left out of the means"
        )


def turning(estimates: Sequence[Estimate]) -> Iterator[str]:
    """The caution about groups in which one choice of `renormalise` tells a lean and the other does not, or the
    opposite one."""
    by = {(found.measure, found.by.get("group", "")): found for found in estimates}
    beta = MEASURES["beta"]
    parts = []
    for group in dict.fromkeys(group for _, group in by):
        own = by.get((beta, group))
        for over_all in (False, True):
            other = by.get(((OVER_ALL if over_all else PER_RATED).format(beta), group))
            if own is None or other is None or math.isnan(own.low + other.low) or lean(own) == lean(other):
                continue
            first, second = (other, own) if over_all else (own, other)
            where = "over all sentences" if group == EVERYTHING else f"in {group}"
            parts.append(f"{where} {_interval(first)} over all probability, {_interval(second)} per rated one")
    if parts:
        yield (
            f"where the model leans turns on whether unrated words count (renormalise): mean β is "
            f"{'; '.join(parts)}. Report both, or the one that was chosen before the ratings were seen"
        )


def lean(found: Estimate) -> int:
    """−1 or 1 where an estimate is told to be below or above 0, else 0."""
    return (1 if found.value > 0 else -1) * told(found.row())


def _interval(found: Estimate) -> str:
    value, low, high = (shown(number, "+.3f").replace("-", "−") for number in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"
