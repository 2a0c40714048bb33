"""Ranks of several models from the least to the most biased, by every measure, with their uncertainty.

A query is a category with one set of attributes (RNSB: with B against A). Under a measure, the model with the least
bias in a query has rank 1; models are compared by their mean ranks over queries (Badilla, Bravo-Marquez & Pérez 2020).
Words are resampled in all models at once; the ranks in resamples show how far the observed ranks depend on the words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from penchant.errors import StudyError
from penchant.instruments.base_probe import require_comparable
from penchant.instruments.vector_bias.cells import CategoryVectors, shared_cells
from penchant.instruments.vector_bias.estimates import NAMES, attributes_of, observed
from penchant.instruments.vector_bias.measures import UNION, Measure
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.records import BaseResult, Estimate
from penchant.stats.bootstrap import percentile
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note, present

ENOUGH = 25
"""Number of words needed in every list for accurate intervals of mean ranks by RNSB (docs/validity.md)."""
EVERY = "all measures"
"""The name of the mean over measures."""


class Query(NamedTuple):
    """A category and a set of attributes."""

    category: str
    label: str
    attributes: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Observed `ranks`, shape (models, queries), and mean ranks in resamples (`draws`), under one measure.

    `draws` has the shape (models, resamples). `shares`, shape (models, queries, ranks), has the share of resamples in
    which a model has each rank in a query; ties are divided among the tied ranks. `smallest` is the number of words in
    the smallest list.
    """

    measure: Measure
    queries: tuple[Query, ...]
    ranks: Array
    draws: Array
    shares: Array
    smallest: int = 0


def amount(measure: Measure, values: Array) -> Array:
    """Return the amount of bias: the distance from the unbiased value (RND, RIPA and RNSB: 0; MAC and ECT: 1)."""
    of_bias: Array = np.abs(values - 1 if measure in ("mac", "ect") else values)
    return of_bias


def rankings(results: Sequence[BaseResult]) -> list[Ranking]:
    """Rank models under every measure that they share, over the words that all models have.

    The list is empty if there is one model, or if results differ in words or settings.
    """
    try:
        for other in results[1:]:
            require_comparable(results[0], other, free={"model", "case"}, items=["id"])
    except StudyError:
        return []
    settings = VectorBiasSettings.of(results[0].settings)
    frames = [result.items for result in results]
    every = [cells for cells in shared_cells(frames, settings) if not cells[0].notes] if len(results) > 1 else []
    candidates = (ranking_of(every, measure, settings) for measure in settings.measures)
    return [ranking for ranking in candidates if ranking.queries]


def ranking_of(every: Sequence[tuple[CategoryVectors, ...]], measure: Measure, settings: VectorBiasSettings) -> Ranking:
    """Rank models under one measure; `every` has, for each category, the `CategoryVectors` of every model."""
    queries, values, draws = [], [], []
    for models in every:
        found = [observed(cell, measure, settings) for cell in models]
        drawn = [cell.draws(measure, settings, settings.refits) for cell in models]
        for name in attributes_of(measure):
            if name != UNION and not any(math.isnan(one[name]) for one in found):
                queries.append(Query(models[0].id, models[0].label, name))
                values.append([one[name] for one in found])
                draws.append([one[name] for one in drawn])
    if not queries:
        return Ranking(measure, (), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0, 0)))
    resampled = amount(measure, np.array(draws))  # (queries, models, resamples)
    usable = resampled[:, :, ~np.isnan(resampled).any(axis=(0, 1))]
    ranks = scipy.stats.rankdata(amount(measure, np.array(values)), axis=1).T
    mean_ranks = scipy.stats.rankdata(usable, axis=1).mean(axis=0)
    fewest = min(len(words) for models in every for words in models[0].names)
    return Ranking(measure, tuple(queries), ranks, mean_ranks, _shares(usable), fewest)


def _shares(resampled: Array) -> Array:
    """Return `Ranking.shares` from the amounts of bias, shape (queries, models, resamples)."""
    of_one = resampled[:, :, None, :]
    less = (resampled[:, None] < of_one).sum(axis=2)
    equal = (resampled[:, None] == of_one).sum(axis=2)
    ranks = np.arange(resampled.shape[1])[:, None, None, None]
    held = np.where((ranks >= less) & (ranks < less + equal), 1 / equal, 0.0)
    shares: Array = held.mean(axis=-1).transpose(2, 1, 0)
    return shares


def mean_ranks(results: Sequence[BaseResult]) -> Mapping[str, list[Estimate]]:
    """Return the mean rank of every model, in the order of the results, by the name of the measure.

    With several measures, the mean over measures is included. `n` counts queries.
    """
    by_measure = rankings(results)
    if not by_measure:
        return {}
    settings = VectorBiasSettings.of(results[0].settings)
    ranks = {NAMES[ranking.measure]: estimates_of(ranking, settings) for ranking in by_measure}
    if len(by_measure) > 1:
        fewest = min(ranking.draws.shape[1] for ranking in by_measure)
        whole = np.mean([ranking.ranks.mean(axis=1) for ranking in by_measure], axis=0)
        draws = np.mean([ranking.draws[:, :fewest] for ranking in by_measure], axis=0)
        queries = sum(len(ranking.queries) for ranking in by_measure)
        ranks[EVERY] = _estimates(whole, draws, queries, EVERY, None, settings)
    return ranks


def estimates_of(ranking: Ranking, settings: VectorBiasSettings) -> list[Estimate]:
    """Return the mean rank of every model under one measure."""
    few = ranking.measure == "rnsb" and ranking.smallest < ENOUGH
    note = Note("vector_bias.few-for-ranks", have=ranking.smallest, would_do=ENOUGH) if few else None
    ranks, name = ranking.ranks.mean(axis=1), NAMES[ranking.measure]
    return _estimates(ranks, ranking.draws, len(ranking.queries), name, note, settings)


def _estimates(
    ranks: Array, draws: Array, queries: int, name: str, note: Note | None, settings: VectorBiasSettings
) -> list[Estimate]:
    method = Method("vector_bias.bootstrap-of-ranks", resamples=draws.shape[1], seed=settings.seed)
    bare = Estimate(f"mean rank by {name}", math.nan, queries, level=settings.level, method=method, notes=present(note))
    bounds = (_bounds(own, settings.level) for own in draws)
    return [
        replace(bare, value=float(value), low=low, high=high) for value, (low, high) in zip(ranks, bounds, strict=True)
    ]


def _bounds(draws: Array, level: float) -> tuple[float, float]:
    return percentile(draws, level) if len(draws) else (math.nan, math.nan)
