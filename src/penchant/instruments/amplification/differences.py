"""Differences between two models, each with its own text, on the same words and sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.amplification.errors_in_variables import FEWEST, Points, jackknife_error
from penchant.instruments.amplification.estimates import (
    SHIFT,
    SLOPE,
    AttributeWord,
    ContrastWords,
    columns,
    family,
    generator,
    wider,
    with_draws,
    words_of,
)
from penchant.instruments.amplification.settings import AmplificationSettings
from penchant.instruments.comparison import difference
from penchant.records import Estimate
from penchant.stats.bootstrap import resampled
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array, Counts
from penchant.stats.intervals import t_mean
from penchant.wording.phrases import Note

STEEPER = difference(SLOPE)


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: AmplificationSettings) -> Iterator[Estimate]:
    """Yield the differences (a − b) in slope, by contrast and kind, then in the mean of m − c over shared words.

    m is a word's association in the model, c that in its text. Shared words are frequent enough in both texts. Words
    are resampled in both models at once; a word too rare in one text is used for the other model only. Holm's
    adjustment is over the contrasts, and over the kinds.
    """
    rows = [
        replace(row, by={"contrast": one.contrast, "kind": kind})
        for one, other in zip(words_of(a, settings), words_of(b, settings), strict=True)
        for kind in one.kinds
        for row in _differences(one, other, kind, settings)
    ]
    yield from sorted(with_holm(rows, family), key=lambda row: row.measure != SLOPE)


def _differences(a: ContrastWords, b: ContrastWords, kind: str, settings: AmplificationSettings) -> Iterator[Estimate]:
    ours, theirs = ({word.word: word for word in each.of(kind)} for each in (a, b))
    yield _steeper(ours, theirs, generator(settings, STEEPER, a.contrast, kind), settings)
    shared = [ours[word].gap - theirs[word].gap for word in ours if word in theirs]
    mean = t_mean(shared, level=settings.level, noun="words", against=0)
    yield replace(mean, measure=SHIFT)


def _steeper(
    ours: dict[str, AttributeWord],
    theirs: dict[str, AttributeWord],
    rng: np.random.Generator,
    settings: AmplificationSettings,
) -> Estimate:
    names = list({**ours, **theirs})
    bare = Estimate(SLOPE, math.nan, len(names), level=settings.level)
    fewest = min(len(ours), len(theirs))
    if fewest < FEWEST:
        return bare.noted(Note("amplification.few-words-of-a-text", least=FEWEST))
    names.sort(key=lambda name: _content(ours.get(name)) + _content(theirs.get(name)))
    sides = [_aligned(names, words) for words in (ours, theirs)]

    def slopes(weights: NDArray[np.float64] | Counts, *, raised: bool = False) -> Array:
        factors = (there.sum() / (there.sum() - 1) if raised else 1.0 for _, there in sides)
        lines = (points.lines(weights * there, raised=by) for (points, there), by in zip(sides, factors, strict=True))
        first, second = (line.slope for line in lines)
        with np.errstate(invalid="ignore"):
            gap: Array = first - second
        return gap

    value = float(slopes(np.ones((1, len(names))))[0])
    drawn = resampled(
        lambda counts, rows: slopes(counts, raised=True),
        np.arange(len(names), dtype=np.float64)[:, None],
        seed=rng,
        resamples=settings.resamples,
        pooled=False,
    )
    method = wider("amplification.wider-of-both", settings, words=len(names), smaller=fewest)
    error = jackknife_error(slopes(1.0 - np.eye(len(names))))
    return with_draws(replace(bare, value=value), drawn, error, fewest, method, 0.0)


def _content(word: AttributeWord | None) -> tuple[float, float]:
    return (math.inf, math.inf) if word is None else (word.c, word.m.value)


def _aligned(names: Sequence[str], words: dict[str, AttributeWord]) -> tuple[Points, NDArray[np.float64]]:
    """Return the points of `words` in the order of `names`, and for each name a flag: 1 if `words` contains it, else 0.

    A missing word has the point of another word, which its flag of 0 excludes from the fit.
    """
    there = np.array([name in words for name in names], dtype=np.float64)
    chosen = [words.get(name) or next(iter(words.values())) for name in names]
    return Points(*columns(chosen)), there
