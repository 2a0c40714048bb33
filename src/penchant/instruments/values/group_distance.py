"""Distances of a model from several groups of people, and differences between these distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.instruments.values.against_survey import EFFECTIVE, KISH, SURVEY_MEAN, of_people, people_of
from penchant.instruments.values.cells import NO_SPREAD, Array, Cells, WordingCell, number_alone, placed
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.representativeness import People, fewer, from_people, respondents, worth
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_p, expanded_percentile
from penchant.wording.phrases import Method, Note

DISTANCE = "distance from a group of people"
NEARER = "difference of distances from groups of people"
"""The measure is negative if the model is nearer to the first group."""
APART = "distance between groups of people"
"""Mean absolute difference of the groups' mean answers; no difference of distances is larger."""
FROM_GROUP = "mean rating − mean of a group of people"
GROUP_MEAN = "mean of a group of people"
GROUP_WORTH = "effective number of respondents of a group (Kish)"
GROUP_SIZE = "effective number of all respondents of a group"
"""Without weights it equals `n`, the number of respondents, including those who answered only some statements."""
LEAST, NOISE, NOISY = 0.01, 0.05, 0.1
"""Thresholds of the note on how much the sampling error of a group's means adds to a distance.

The note is added above `NOISE` points, or above both `LEAST` points and the share `NOISY` of the distance.
"""
_OF_GROUP = {SURVEY_MEAN: GROUP_MEAN, EFFECTIVE: GROUP_WORTH}
_END = 1e-6
"""Distance by which mean answers are moved inside the ends of the scale, so that their probits are finite."""
_TEST = Method("values.bootstrap-of-distance-test", two_sided=True)


def held_against_groups(cells: Cells, survey: Survey) -> Iterator[Estimate]:
    """Yield statistics of groups of people and a model's distances from the groups, or nothing if there are no groups.

    A distance is the mean over statements of |rating − mean answer|. Statements (the same for ratings and all groups),
    the respondents of each group and the neutral statements are resampled together.
    """
    groups: dict[str, People] = {}
    for i, (name, inside) in enumerate(survey.sides().items()):
        weights = None if survey.weights is None else np.array(survey.weights)[inside]
        groups[name] = people_of(cells, survey, survey.answers.filter(inside), weights, 5, i)
    if not groups:
        return
    asked = np.array([id_ not in survey.absent for id_ in cells.ids])
    yield from _groups(cells, groups, asked, survey)
    yield from _apart(cells, groups, asked)
    for cell in cells.cells.values():
        for value, inside in cells.blocks():
            for estimate in _of_cell(cells, cell, groups, inside & asked, value):
                own = cell.placed(estimate, estimate.measure, value, estimate.by["item"])
                yield own.noted(fewer(inside & asked, inside))


def _groups(cells: Cells, groups: Mapping[str, People], asked: NDArray[np.bool_], survey: Survey) -> Iterator[Estimate]:
    cell = next(iter(cells.cells.values()))
    for name, group in groups.items():
        n = len(group.table)
        method = number_alone("values.respondents" if group.weights is None else KISH)
        size = Estimate("", worth(n, group.weights), n, level=cell.settings.level, method=method)
        yield placed(size, GROUP_SIZE, EVERYTHING, EVERYTHING, EVERYTHING, name)
        for value, inside in cells.blocks():
            for estimate in (
                of_people(cell, value, group, inside & asked, survey.answered(name)) if value != EVERYTHING else ()
            ):
                if estimate.measure in _OF_GROUP:
                    yield placed(estimate, _OF_GROUP[estimate.measure], EVERYTHING, EVERYTHING, value, name)


def _apart(cells: Cells, groups: Mapping[str, People], asked: NDArray[np.bool_]) -> Iterator[Estimate]:
    level = cells.settings.level
    for (first, a), (second, b) in combinations(groups.items(), 2):
        for value, inside in cells.blocks():
            gaps = np.abs(a.means - b.means)[inside & asked]
            gaps = gaps[~np.isnan(gaps)]
            method = number_alone("values.mean-over-statements") if len(gaps) else None
            why = None if len(gaps) else Note("values.none-answered")
            size = float(gaps.mean()) if len(gaps) else np.nan
            estimate = Estimate("", size, len(gaps), level=level, method=method).noted(why)
            yield placed(estimate, APART, EVERYTHING, EVERYTHING, value, f"{first} − {second}")


def _of_cell(
    cells: Cells, cell: WordingCell, groups: Mapping[str, People], chosen: NDArray[np.bool_], value: str
) -> Iterator[Estimate]:
    for name, group in groups.items():
        people, weights = group.complete(chosen, cell.reversed)
        if value != EVERYTHING and chosen.any():
            yield replace(from_people(cell, people, weights, chosen), measure=FROM_GROUP, by={"item": name})
        yield replace(_distance(cells, cell, {name: group}, chosen), measure=DISTANCE, by={"item": name})
    for (first, a), (second, b) in combinations(groups.items(), 2):
        yield replace(
            _distance(cells, cell, {first: a, second: b}, chosen), measure=NEARER, by={"item": f"{first} − {second}"}
        )


def _distance(cells: Cells, cell: WordingCell, named: Mapping[str, People], chosen: NDArray[np.bool_]) -> Estimate:
    """Return the distance from the group in `named`, or if it has two groups, the first distance minus the second.

    Only statements that were answered in each of these groups count.
    """
    settings, groups = cell.settings, list(named.values())
    both = chosen & ~np.isnan([group.means for group in groups]).any(axis=0)
    k = int(both.sum())
    if not k or np.isnan(cell.ratings[both]).any():
        why = NO_SPREAD if k else Note("values.none-answered")
        return Estimate("", np.nan, k, level=settings.level, notes=(why,))
    ratings, drawn = cell.ratings[both], cell.drawn_ratings(both)
    gaps = _less([np.abs(ratings - group.means[both]) for group in groups])
    value = float(np.sort(gaps).mean())
    estimate = Estimate("", value, k, level=settings.level)
    estimate = estimate.noted(fewer(both, chosen, "values.some-answered"), _noisy(named, both, value))
    if k < 2 or min(len(group.table) for group in groups) < 2:
        one = Note("values.one", noun="statements") if k < 2 else Note("values.one-respondent")
        return estimate.noted(one, first=True)
    draws = cells.means(_less([np.abs(drawn - group.drawn_means[:, both]) for group in groups]), both)
    units = max(2, min(k, *(int(worth(len(group.table), group.weights) + 1e-9) for group in groups)))
    low, high = expanded_percentile(draws, units, settings.level)
    if np.isnan(low):
        return estimate.noted(Note("values.no-answer-drawn"), first=True)
    estimate = replace(estimate, low=low, high=high, method=_method(cells, groups, k))
    if len(groups) < 2:
        return estimate
    least = _least_p(cell.leaning[both], groups[0].means[both], groups[1].means[both])
    return estimate.tested(expanded_p(draws, units, least=least), _TEST)


def _least_p(leaning: Array, first: Array, second: Array) -> float:
    """Return a lower limit for the p-value of a difference of distances, needed if there are few statements.

    The limit is the p-value of a t test. For each statement, `leaning` (in σ) minus the middle between the mean answers
    of the two groups, `first` and `second`, is multiplied by `second` − `first`; the test is of a mean of 0.
    """
    apart = second - first
    middle = np.clip((first + second) / 2, LOW + _END, HIGH - _END)
    sides = apart * (leaning - scipy.special.ndtri((middle - LOW) / (HIGH - LOW)))
    if len(sides) < 2 or not np.ptp(sides) > 0:
        return 1.0
    return float(scipy.stats.ttest_1samp(sides, 0).pvalue)


def _noisy(named: Mapping[str, People], both: NDArray[np.bool_], value: float) -> Note | None:
    """Return a note that bounds the error that sampled respondents add to the distance `value`, or None if it is small.

    The bound is the mean over the statements `both` of √(2/π)·SE, the expected absolute error of a group's mean answer.
    For two groups, `value` is a difference of distances, and the bound is the difference of the groups' bounds.
    """
    added = {name: float(group.noise[both].mean()) for name, group in named.items()}
    if len(named) < 2:
        ((name, noise),) = added.items()
        return Note("values.noise", whose=_counted(named[name]), more=noise) if _matters(noise, value) else None
    (small, most), (large, least) = sorted(added.items(), key=lambda pair: -pair[1])
    if not _matters(most - least, value):
        return None
    first = {"first": small, "of_first": _counted(named[small])}
    return Note("values.noise-of-two", more=most - least, **first, second=large, of_second=_counted(named[large]))


def _matters(noise: float, value: float) -> bool:
    return noise > min(NOISE, max(LEAST, NOISY * abs(value)))


def _counted(group: People) -> Note:
    n = len(group.table)
    return Note("values.group", respondents=n, effective=None if group.weights is None else worth(n, group.weights))


def _less(parts: list[Array]) -> Array:
    gaps: Array = parts[0] - sum(parts[1:], np.zeros_like(parts[0]))
    return gaps


def _method(cells: Cells, groups: list[People], k: int) -> Method:
    over = {"respondents": [len(group.table) for group in groups], "noun": respondents(groups[0].weights)}
    drawn = {"resamples": cells.settings.resamples, "seed": cells.settings.seed}
    return Method("values.bootstrap-of-distance", statements=k, **over, neutral=cells.neutral, **drawn)
