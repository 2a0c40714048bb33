"""Agreement between raters, and means of β and δ with one rater left out at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.rating.reversed_raters import each_with_others, newcomers, opposed
from penchant.records import Estimate
from penchant.stats.agreement import TENTATIVE, krippendorff_alpha, raw_agreement
from penchant.stats.rated_mean import mean_over_raters, worth
from penchant.wording.phrases import Note

Array = NDArray[np.float64]
ALPHA, RAW = "Krippendorff's alpha (ordinal)", "raw agreement (two raters of the same word)"
SAMPLED = "{}, for other raters too"
"""Name of a measure whose interval treats raters as a sample."""
KNOWN = "cloze.known"
ENDS = "cloze.ends"
"""Codes of notes that may apply to most rows of a table."""
_ALL_KNOWN = 0.995
"""Share of the rated probability judged by two or more raters above which no note mentions the rest."""


class Raters:
    """β (valence) and δ (how well β suits the sentence) of every sentence, with each rater left out in turn.

    A word's valence is then the mean over its other raters. A word without other raters keeps its valence, and a note
    gives the share of the probability judged by two or more raters. With two tables of the same sentences, each rater
    is left out of both at once.
    """

    def __init__(self, tables: list[pl.DataFrame], settings: ClozeSettings) -> None:
        """Collect the ratings of tables with the same sentences in the same order."""
        self._settings = settings
        self._expected = tables[0]["expected"].to_numpy()
        self._groups = tables[0]["group"].to_numpy()
        self._betas = [table["beta"].fill_null(np.nan).to_numpy() for table in tables]
        entries = [_entries(table, rated_only=settings.rated_only) for table in tables]
        number = max(map(_number, tables))
        self._shifts = [np.zeros((number, len(tables[0]))) for _ in tables]
        self._heard = np.zeros((number, len(tables[0])), dtype=bool)
        self._by_rater = np.sum([_by_rater(table, number) for table in tables], axis=0)
        for shift, part in zip(self._shifts, entries, strict=True):
            for rater, row, change in part:
                shift[rater, row] += change
                self._heard[rater, row] = True
        masses = [_masses(table) for table in tables]
        self._judged, self._rated = (sum(parts) for parts in zip(*masses, strict=True))

    def _values(self, column: str, *, rater: bool) -> Array:
        """Return β or δ of every sentence or, with two tables, the differences between them.

        The shape is (1, sentences) or, with `rater`, (raters, sentences), with one rater left out in each row.
        """
        betas = [beta + shift if rater else beta[None] for beta, shift in zip(self._betas, self._shifts, strict=True)]
        values = betas if column == "beta" else [1 - np.abs(self._expected - beta) / 2 for beta in betas]
        return values[0] if len(values) == 1 else values[0] - values[1]

    def estimate(
        self, column: str, measure: str, inside: NDArray[np.bool_], bounds: tuple[float, float], fixed: Estimate
    ) -> Estimate:
        """Estimate the mean over the sentences selected by `inside`, or the mean difference between two tables.

        Raters are treated as a sample. The interval lies within `bounds` and includes the interval of `fixed`, the
        estimate for these raters alone.
        """
        value = self._values(column, rater=False)[0]
        kept = inside & ~np.isnan(value)
        heard = self._heard[:, kept].any(axis=1)
        estimate = mean_over_raters(
            value[kept],
            self._values(column, rater=True)[heard][:, kept],
            strata=self._groups[kept].tolist(),
            level=self._settings.level,
            bounds=bounds,
            judged=self._by_rater[heard][:, kept].sum(axis=1),
        )
        judged, rated = float(self._judged[kept].sum()), float(self._rated[kept].sum())
        share = judged / rated if rated else 0.0
        part = estimate.method is not None and share < _ALL_KNOWN
        estimate = estimate.noted(Note(KNOWN, share=share) if part else None)
        low, high = min(estimate.low, fixed.low), max(estimate.high, fixed.high)
        if (low, high) != (estimate.low, estimate.high) and not np.isnan([low, high, estimate.low, fixed.low]).any():
            estimate = replace(estimate, low=low, high=high).noted(Note(ENDS))
        return replace(estimate, measure=SAMPLED.format(measure))

    def share(self) -> float:
        """Return the share of the rated probability judged by two or more raters."""
        rated = float(self._rated.sum())
        return float(self._judged.sum()) / rated if rated else 0.0


def _entries(table: pl.DataFrame, *, rated_only: bool) -> list[tuple[int, int, float]]:
    """Return (rater, sentence row, change in β without the rater) for every rater of every word with several raters."""
    found = []
    for row, (words, mass) in enumerate(zip(_judged_words(table), table["rated_share"], strict=True)):
        for p, value, raters, ratings in words:
            for rater in dict.fromkeys(raters):
                others = [r for who, r in zip(raters, ratings, strict=True) if who != rater]
                if others:
                    change = sum(others) / len(others) - value
                    found.append((rater, row, p * change / (mass if rated_only else 1.0)))
    return found


def _number(table: pl.DataFrame) -> int:
    return 1 + max((r for words in _judged_words(table) for _, _, raters, _ in words for r in raters), default=-1)


def _by_rater(table: pl.DataFrame, number: int) -> Array:
    judged = np.zeros((number, len(table)))
    for row, words in enumerate(_judged_words(table)):
        for p, _, raters, _ in words:
            judged[list(set(raters)), row] += p
    return judged


def _judged_words(table: pl.DataFrame) -> list[list[tuple[float, float, list[int], list[float]]]]:
    """Return the rated words of every sentence as (probability, valence, raters, ratings)."""
    rows = (zip(*row, strict=True) for row in table.select("probs", "valences", "raters", "ratings").iter_rows())
    return [[word for word in words if word[1] is not None and word[0] > 0] for words in rows]


def _masses(table: pl.DataFrame) -> tuple[Array, Array]:
    words = _judged_words(table)
    judged = [sum(p for p, _, raters, _ in row if len(set(raters)) > 1) for row in words]
    return np.array(judged, dtype=np.float64), table["rated_share"].to_numpy()


# Agreement ----------------------------------------------------------------------------------------------------------


Ratings: TypeAlias = Mapping[tuple[str, str], Mapping[int, float]]
"""Ratings by (sentence id, word), then by rater number."""


def by_word(items: pl.DataFrame) -> Ratings:
    """Return the ratings of the predicted words by (sentence id, word), then by rater number."""
    said: dict[tuple[str, str], dict[int, float]] = {}
    for id_, words, raters, ratings in items.select("id", "words", "raters", "ratings").iter_rows():
        for word, who, values in zip(words, raters, ratings, strict=True):
            if who:
                said[id_, word] = dict(zip(who, values, strict=True))
    return said


def agreement_estimates(items: pl.DataFrame, settings: ClozeSettings, group: str) -> Iterator[Estimate]:
    """Yield Krippendorff's ordinal α and raw agreement over predicted words with two or more raters, if any.

    The estimates are over all sentences and are labelled with `group`.
    """
    said = by_word(items)
    if not any(len(ratings) > 1 for ratings in said.values()):
        return
    counts = counts_of(said.values())
    numbers = {"seed": settings.seed, "resamples": settings.resamples, "level": settings.level}
    alpha = krippendorff_alpha(counts, domain=POINTS, **numbers)  # type: ignore[arg-type]
    for found, measure in ((alpha, ALPHA), (raw_agreement(counts, level=settings.level, noun="words"), RAW)):
        yield replace(found, measure=measure, by={"group": group})


def counts_of(said: Iterable[Mapping[Any, float]]) -> NDArray[np.int64]:
    """Return the number of ratings of each word in `said` at each point of the scale, shape (words, points)."""
    rows = [[list(ratings.values()).count(point) for point in POINTS] for ratings in said]
    return np.array(rows, dtype=np.int64).reshape(-1, len(POINTS))


@dataclass(frozen=True, slots=True)
class RatingCounts:
    """Counts of ratings, with Kish's effective number of raters (`worth`) and Krippendorff's ordinal α (`alpha`).

    `words` is the number of rated words. `each` maps each rater to the number of words that the rater judged; each pair
    in `by` is a number of words and the number of raters who judged each of these words.
    """

    words: int
    each: Mapping[int, int]
    by: Sequence[tuple[int, int]]
    worth: float
    alpha: float

    @classmethod
    def of(cls, said: Ratings) -> RatingCounts:
        """Count the ratings."""
        each = _numbers(said)
        by = sorted(Counter(map(len, said.values())).items(), reverse=True)
        alpha = krippendorff_alpha(counts_of(said.values()), domain=POINTS, seed=0, resamples=1).value
        return cls(len(said), each, [(n, number) for number, n in by], worth(list(each.values())), alpha)

    @property
    def twice(self) -> int:
        """The number of words judged by two or more raters."""
        return sum(n for n, number in self.by if number > 1)


def little(estimates: Sequence[Estimate]) -> Iterator[Note]:
    """Yield a caution if Krippendorff's α among the estimates is low."""
    for found in estimates:
        if found.measure == ALPHA and found.value < TENTATIVE:
            yield Note("cloze.little-agreement", alpha=found.value, words=found.n, least=TENTATIVE)


def doubtful_raters(items: pl.DataFrame) -> Iterator[Note | str]:
    """Yield cautions about raters whose ratings oppose the others', and about raters who judged few words.

    Raters are numbered in the order of their names, which the results do not contain.
    """
    said = by_word(items)
    correlations = each_with_others(list(said.values()))
    for caution in opposed(dict(sorted(correlations.items())), "words", lambda rater: f"rater {rater + 1}"):
        yield Note("cloze.opposed", said=caution)
    few = newcomers(_numbers(said), len(said), "words")
    if few:
        yield few


def _numbers(said: Ratings) -> dict[int, int]:
    return dict(Counter(rater for ratings in said.values() for rater in ratings))
