"""How far the raters of the predicted words agree, in the result that stands on their ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.cloze.scale import POINTS
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.rating.opposed import each_with_others, newcomers, opposed
from penchant.records import Estimate
from penchant.stats.agreement import TENTATIVE, krippendorff_alpha, raw_agreement
from penchant.stats.raters import worth
from penchant.wording.phrases import Note

ALPHA, RAW = "Krippendorff's alpha (ordinal)", "raw agreement (two raters of the same word)"


Ratings: TypeAlias = Mapping[tuple[str, str], Mapping[int, float]]
"""The ratings of each word in its sentence, by the number of the rater."""


def by_word(items: pl.DataFrame) -> Ratings:
    """Return what each rater, by number, says of each predicted word in its sentence."""
    said: dict[tuple[str, str], dict[int, float]] = {}
    if "raters" not in items.columns:  # made before ratings were kept
        return said
    for id_, words, raters, ratings in items.select("id", "words", "raters", "ratings").iter_rows():
        for word, who, values in zip(words, raters, ratings, strict=True):
            if who:
                said[id_, word] = dict(zip(who, values, strict=True))
    return said


def agreement_estimates(items: pl.DataFrame, settings: ClozeSettings, group: str) -> Iterator[Estimate]:
    """Yield Krippendorff's ordinal α and raw agreement over the predicted words that two raters or more judged, if any
    were. `group` is what all sentences are called."""
    said = [list(ratings.values()) for ratings in by_word(items).values()]
    if not any(len(values) > 1 for values in said):
        return
    counts = _counts(said)
    numbers = {"seed": settings.seed, "resamples": settings.resamples, "level": settings.level}
    alpha = krippendorff_alpha(counts, domain=POINTS, **numbers)  # type: ignore[arg-type]
    for found, measure in ((alpha, ALPHA), (raw_agreement(counts, level=settings.level, noun="words"), RAW)):
        yield replace(found, measure=measure, by={"group": group})


def _counts(said: Sequence[Sequence[float]]) -> NDArray[np.int64]:
    """Return how many ratings of each word are each point of the scale, shape (words, points)."""
    return np.array([[values.count(point) for point in POINTS] for values in said], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Judged:
    """Who rated words: the number of `words`, how many each rater judged (`each`), how many words so many raters judged
    (`by`), the effective number of raters by Kish (`worth`), and Krippendorff's ordinal α (`alpha`)."""

    words: int
    each: Mapping[int, int]
    by: Sequence[tuple[int, int]]
    worth: float
    alpha: float

    @classmethod
    def of(cls, said: Ratings) -> Judged:
        """Count the ratings of some words."""
        each = _numbers(said)
        by = sorted(Counter(map(len, said.values())).items(), reverse=True)
        counts = _counts([list(ratings.values()) for ratings in said.values()])
        alpha = krippendorff_alpha(counts, domain=POINTS, seed=0, resamples=1).value
        return cls(len(said), each, [(n, number) for number, n in by], worth(list(each.values())), alpha)

    @property
    def twice(self) -> int:
        """The number of words that two raters or more judged."""
        return sum(n for n, number in self.by if number > 1)


def little(estimates: Sequence[Estimate]) -> Iterator[Note]:
    """Yield the caution for raters who agree little."""
    for found in estimates:
        if found.measure == ALPHA and found.value < TENTATIVE:
            yield Note("cloze.little-agreement", alpha=found.value, words=found.n, least=TENTATIVE)


def doubtful_raters(items: pl.DataFrame) -> Iterator[str]:
    """Yield cautions about raters whose ratings run against the others', and about those who judged few of the words.
    Results number raters in the order of their names, which stay in the file of ratings."""
    said = by_word(items)
    correlations = each_with_others(list(said.values()))
    for told in opposed(dict(sorted(correlations.items())), "words", lambda rater: f"rater {rater + 1}"):
        yield str(Note("cloze.opposed", said=told))
    few = newcomers(_numbers(said), len(said), "words")
    if few:
        yield few


def _numbers(said: Ratings) -> dict[int, int]:
    """Return how many words each rater judged."""
    return dict(Counter(rater for ratings in said.values() for rater in ratings))
