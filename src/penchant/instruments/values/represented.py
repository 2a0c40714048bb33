"""Where ratings lie among people's answers: the difference from people's mean, and representativeness.

Both are over the statements that the survey has, and the respondents who answered all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.counting import for_one
from penchant.instruments.values.cells import NO_SPREAD, Array, Cell, Cells
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.records import Estimate
from penchant.stats.bootstrap import CHUNK, expanded_percentile, percentile
from penchant.stats.calibration import representativeness
from penchant.stats.crossed_difference import crossed_difference
from penchant.stats.inputs import joined

REPRESENTATIVE = "representativeness"
FROM_SURVEY = "mean rating − survey mean"
"""The difference of a value's mean rating from the respondents' mean over the same statements."""


def placed(estimate: Estimate, measure: str, variant: str, group: str, value: str, item: str = "") -> Estimate:
    """The estimate of a measure in a cell, a value and an item."""
    by = {"variant": variant, "group": group, "dimension": value, "item": item}
    return replace(estimate, measure=measure, by=by)


def turned(table: Array, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> Array:
    """The answers to some statements, reversed ones mirrored: (respondents, statements)."""
    answers = table[:, chosen]
    turned_answers: Array = np.where(is_reversed[chosen], LOW + HIGH - answers, answers)
    return turned_answers


def fewer(chosen: NDArray[np.bool_], inside: NDArray[np.bool_]) -> str:
    """That the survey has only some of the statements of a value; empty where it has all, or none."""
    n, whole = int(chosen.sum()), int(inside.sum())
    return f"over the {n} of {whole} statements that the survey has" if 0 < n < whole else ""


def beside_people(
    cells: Cells, cell: Cell, value: str, table: Array, inside: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Iterator[Estimate]:
    """Representativeness of every statement's rating, and of a value's mean rating with its difference from people's
    mean; over all values, the mean representativeness of statements."""
    chosen, settings = inside & asked, cell.settings
    if not chosen.any() or not len(table):
        why = "no statement of it is in the survey" if len(table) else "no respondents of this group"
        estimate = Estimate("", np.nan, 0, level=settings.level, note=why)
        yield placed(estimate, REPRESENTATIVE, cell.variant, cell.group, value)
        return
    ids = [cells.ids[i] for i in np.flatnonzero(chosen).tolist()]
    if value == EVERYTHING:
        each = representative_each(cell, table, chosen)
        how = "mean over statements, no interval: theirs hold neither other statements nor who answers several of them"
        lost = _why(cell) if np.isnan(each).any() else ""
        estimate = Estimate("", float(each.mean()), len(each), level=settings.level, how=how, note=lost)
        yield placed(estimate, REPRESENTATIVE, cell.variant, cell.group, value)
        return
    for estimate in _of_statements(cell, table, chosen, ids):
        yield placed(estimate, REPRESENTATIVE, cell.variant, cell.group, value, estimate.by["item"])
    people = turned(table, chosen, cell.reversed)
    people = people[~np.isnan(people).any(axis=1)]
    for measure, found in (
        (REPRESENTATIVE, _of_mean(cells, cell, people, chosen)),
        (FROM_SURVEY, _from_survey(cell, people, chosen)),
    ):
        found = replace(found, note=joined(found.note, fewer(chosen, inside)))
        yield placed(found, measure, cell.variant, cell.group, value)


def representative_each(cell: Cell, table: Array, chosen: NDArray[np.bool_]) -> Array:
    """The representativeness of every chosen statement's rating among the answers to it."""
    pairs = zip(cell.ratings[chosen], table[:, chosen].T, strict=True)
    return np.array([float(representativeness(rating, answers)) for rating, answers in pairs])


def _of_statements(cell: Cell, table: Array, chosen: NDArray[np.bool_], ids: Sequence[str]) -> Iterator[Estimate]:
    """Representativeness of each statement's rating, with the calibration and the respondents resampled."""
    settings, drawn = cell.settings, cell.drawn_ratings(chosen)
    rng = np.random.default_rng([settings.seed, 3])
    for i, value in enumerate(representative_each(cell, table, chosen).tolist()):
        answers = np.sort(table[:, chosen][:, i])
        answers = answers[~np.isnan(answers)]
        n = len(answers)
        by = {"item": ids[i]}
        if np.isnan(value) or n < 2:
            note = _why(cell) if np.isnan(value) else "one respondent: no interval"
            yield Estimate("", value, n, level=settings.level, note=note, by=by)
            continue
        below = np.searchsorted(answers, drawn[:, i], side="left")
        above = n - np.searchsorted(answers, drawn[:, i], side="right")
        low, high = percentile(_resampled(below, above, n, rng), settings.level)
        low, high = _mapped(low, high, float(np.mean(answers == cell.ratings[chosen][i])))
        how = (
            f"percentile bootstrap of the share below less that above, over {n} "
            f"{for_one(n, 'respondents')} and the calibration, "
            f"{settings.resamples} resamples, seed {settings.seed}"
        )
        yield Estimate("", value, n, low, high, settings.level, how=how, by=by)


def _of_mean(cells: Cells, cell: Cell, people: Array, chosen: NDArray[np.bool_]) -> Estimate:
    """Representativeness of the mean rating among respondents' means: statements, taken by both sides alike, the
    calibration and the respondents are resampled."""
    settings, n, k = cell.settings, len(people), int(chosen.sum())
    mean = float(cell.towards[chosen].mean())
    scores = people.mean(axis=1)
    value = float(representativeness(mean, scores))
    estimate = Estimate("", value, n, level=settings.level, note="among respondents with every answer")
    if np.isnan(value):
        return replace(estimate, note=_why(cell))
    if k < 2 or n < 2:
        lone = "statement" if k < 2 else "respondent"
        return replace(estimate, note=f"one {lone}: no interval over {lone}s")
    picks = cells.picks(chosen)
    drawn = np.take_along_axis(cell.drawn_towards(chosen), picks, 1).sum(axis=1)
    counts = np.zeros((len(picks), k))
    np.add.at(counts, (np.arange(len(picks))[:, None], picks), 1)
    below, above = np.zeros(len(picks), dtype=np.int64), np.zeros(len(picks), dtype=np.int64)
    step = max(1, CHUNK // n)
    for start in range(0, len(picks), step):
        block = slice(start, start + step)
        sums = counts[block] @ people.T
        below[block] = (sums < drawn[block, None]).sum(axis=1)
        above[block] = (sums > drawn[block, None]).sum(axis=1)
    shares = _resampled(below, above, n, np.random.default_rng([settings.seed, 3]))
    low, high = _mapped(*expanded_percentile(shares, k, settings.level), float(np.mean(scores == mean)))
    how = (
        f"expanded percentile bootstrap of the share below less that above, over {k} "
        f"{for_one(k, 'statements')}, {n} {for_one(n, 'respondents')} and "
        f"the calibration, {settings.resamples} resamples, seed {settings.seed}"
    )
    return replace(estimate, low=low, high=high, how=how)


def _resampled(below: NDArray[np.integer], above: NDArray[np.integer], n: int, rng: np.random.Generator) -> Array:
    """The share of respondents below less that above, with n respondents drawn anew for every entry: how many of them
    fall on either side is multinomial."""
    drawn = rng.multinomial(n, np.column_stack([below / n, above / n, np.maximum(0, 1 - (below + above) / n)]))
    shares: Array = (drawn[:, 0] - drawn[:, 1]) / n
    return shares


def _mapped(low: float, high: float, equal: float) -> tuple[float, float]:
    """An interval of the share below less that above as one of representativeness, 1 − |below − above| − equal: that
    has its largest value, which no resample exceeds, where the two shares are the same."""
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    top = 1 - equal
    return max(0.0, top - max(abs(low), abs(high))), max(0.0, top - nearest)


def _from_survey(cell: Cell, people: Array, chosen: NDArray[np.bool_]) -> Estimate:
    """The mean rating minus the respondents' mean over the same statements."""
    settings, ratings = cell.settings, cell.towards[chosen]
    if np.isnan(ratings).any() or not len(people):
        return Estimate("", np.nan, len(ratings), level=settings.level, note=_why(cell))
    drawn = cell.drawn_towards(chosen).mean(axis=1)
    if np.isnan(drawn).any():
        return Estimate("", float((ratings - people.mean(axis=0)).mean()), len(ratings), level=settings.level)
    return crossed_difference(
        ratings,
        people,
        shared=float(drawn.var()),
        calibrated=len(cell.neutral[0]),
        level=settings.level,
        scale=(LOW, HIGH),
    )


def _why(cell: Cell) -> str:
    """Why a rating has no place among people's answers."""
    return NO_SPREAD if np.isnan(cell.ratings).any() else "no respondent has every answer it needs"
