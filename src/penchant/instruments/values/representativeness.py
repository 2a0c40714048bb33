"""People's answers to statements, and the position of a model's ratings among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.values.calibration import representativeness
from penchant.instruments.values.cells import NO_SPREAD, Array, Cells, WordingCell, number_alone
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.records import Estimate
from penchant.stats.bootstrap import CHUNK, expanded_percentile, percentile
from penchant.stats.crossed_mean import crossed_difference
from penchant.stats.weighted import (
    drawn_totals,
    drawn_weights,
    effective_n,
    mean_variance,
    weighted_mean,
    weighted_shares,
)
from penchant.wording.phrases import Method, Note, present


@dataclass(frozen=True, eq=False)
class People:
    """Survey answers, shape (respondents, statements), NaN for no answer, with a weight per respondent or None.

    `seed` and `resamples` determine the bootstrap resamples in `drawn` and `drawn_means`.
    """

    table: Array
    weights: Array | None
    seed: tuple[int, ...]
    resamples: int

    @property
    def counting(self) -> Array:
        """The weight of each respondent, or 1 for each if there are no weights."""
        return np.ones(len(self.table)) if self.weights is None else self.weights

    @cached_property
    def means(self) -> Array:
        """The mean answer to each statement, over all who answered it; NaN if nobody did."""
        known = ~np.isnan(self.table)
        pairs = zip(self.table.T, known.T, strict=True)
        return np.array([weighted_mean(answers[of], self.counting[of]) for answers, of in pairs])

    @cached_property
    def noise(self) -> Array:
        """The expected absolute error of each mean answer, √(2/π)·SE; NaN if there are fewer than two answers."""
        known = ~np.isnan(self.table)
        pairs = zip(self.table.T, known.T, strict=True)
        variances = [mean_variance(answers[of], self.counting[of]) for answers, of in pairs]
        expected: Array = np.sqrt(2 / np.pi * np.array(variances))
        return expected

    @cached_property
    def drawn(self) -> list[tuple[Array, Array]]:
        """The distinct answers to each statement, and their weights in every resample of the respondents."""
        rng = np.random.default_rng(self.seed)
        return drawn_totals(self.table, self.counting, resamples=self.resamples, rng=rng)

    @cached_property
    def drawn_means(self) -> Array:
        """The mean answers in every resample, shape (resamples, statements); NaN if no drawn respondent answered."""
        means = np.full((self.resamples, self.table.shape[1]), np.nan)
        for i, (values, totals) in enumerate(self.drawn):
            whole = totals.sum(axis=1)
            np.divide(totals @ values, whole, out=means[:, i], where=whole > 0)
        return means

    def complete(self, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> tuple[Array, Array | None]:
        """Return the answers (mirrored if reversed) and weights of respondents who answered all chosen statements."""
        answers = turned(self.table, chosen, is_reversed)
        whole = ~np.isnan(answers).any(axis=1)
        return answers[whole], None if self.weights is None else self.weights[whole]


def turned(table: Array, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> Array:
    """Return the answers to the chosen statements, reversed ones mirrored, shape (respondents, statements)."""
    answers = table[:, chosen]
    turned_answers: Array = np.where(is_reversed[chosen], LOW + HIGH - answers, answers)
    return turned_answers


def worth(n: int, weights: Array | None) -> float:
    """Return the effective number of n respondents: n, or Kish's effective number if there are weights."""
    return float(n) if weights is None else effective_n(weights)


REPRESENTATIVE = "representativeness"
FROM_SURVEY = "mean rating − survey mean"
"""The difference of a value's mean rating from the respondents' mean over the same statements."""
SOME = "values.some-in-survey"
"""Code of the note that the survey has only some statements of a value."""


def fewer(chosen: NDArray[np.bool_], inside: NDArray[np.bool_], code: str = SOME) -> Note | None:
    """Return a note if `chosen` marks only some of the statements of a value, which `inside` marks, else None."""
    n, whole = int(chosen.sum()), int(inside.sum())
    return Note(code, have=n, of=whole) if 0 < n < whole else None


def beside_people(
    cells: Cells, cell: WordingCell, value: str, group: People, inside: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> Iterator[Estimate]:
    """Yield the representativeness of ratings and of their mean, and the mean's difference from people's mean.

    Over all values, only the mean representativeness of statements is yielded. `inside` marks the statements of the
    value, and `asked` those with answers in the survey.
    """
    chosen, settings = inside & asked, cell.settings
    if not chosen.any() or not len(group.table):
        why = Note("values.not-in-survey" if len(group.table) else "values.no-respondents-of-group")
        estimate = Estimate("", np.nan, 0, level=settings.level, notes=(why,))
        yield cell.placed(estimate, REPRESENTATIVE, value)
        return
    ids = [cells.ids[i] for i in np.flatnonzero(chosen).tolist()]
    if value == EVERYTHING:
        each = representative_each(cell, group, chosen)
        method = number_alone("values.mean-over-statements", Note("values.theirs-hold-neither"))
        lost = present(_why(cell) if np.isnan(each).any() else None)
        estimate = Estimate("", float(each.mean()), len(each), level=settings.level, method=method, notes=lost)
        yield cell.placed(estimate, REPRESENTATIVE, value)
        return
    for estimate in _of_statements(cell, group, chosen, ids):
        yield cell.placed(estimate, REPRESENTATIVE, value, estimate.by["item"])
    people, weights = group.complete(chosen, cell.reversed)
    for measure, found in (
        (REPRESENTATIVE, _of_mean(cells, cell, people, weights, chosen)),
        (FROM_SURVEY, from_people(cell, people, weights, chosen)),
    ):
        yield cell.placed(found.noted(fewer(chosen, inside)), measure, value)


def representative_each(cell: WordingCell, group: People, chosen: NDArray[np.bool_]) -> Array:
    """Return the representativeness of every chosen statement's rating among the answers to it."""
    pairs = zip(cell.ratings[chosen], group.table[:, chosen].T, strict=True)
    return np.array([_representative(float(rating), answers, group.weights) for rating, answers in pairs])


def _representative(rating: float, answers: Array, weights: Array | None) -> float:
    """Return twice the smaller of the shares of respondents, or of their weight, below and above a rating."""
    if weights is None:
        return float(representativeness(rating, answers))
    return 2 * float(min(weighted_shares(answers, weights, rating)))


def _of_statements(
    cell: WordingCell, group: People, chosen: NDArray[np.bool_], ids: Sequence[str]
) -> Iterator[Estimate]:
    settings, drawn = cell.settings, cell.drawn_ratings(chosen)
    rng = np.random.default_rng([settings.seed, 3])
    places = np.flatnonzero(chosen).tolist()
    for i, value in enumerate(representative_each(cell, group, chosen).tolist()):
        answers = np.sort(group.table[:, places[i]])
        answers = answers[~np.isnan(answers)]
        n = len(answers)
        by = {"item": ids[i]}
        if np.isnan(value) or n < 2:
            note = _why(cell) if np.isnan(value) else Note("values.one-respondent")
            yield Estimate("", value, n, level=settings.level, notes=(note,), by=by)
            continue
        if group.weights is None:
            below = np.searchsorted(answers, drawn[:, i], side="left")
            above = n - np.searchsorted(answers, drawn[:, i], side="right")
            shares, equal = _resampled(below, above, n, rng), float(np.mean(answers == cell.ratings[places[i]]))
        else:
            shares = _reweighted(*group.drawn[places[i]], drawn[:, i])
            equal = 1 - sum(weighted_shares(group.table[:, places[i]], group.weights, float(cell.ratings[places[i]])))
        low, high = _mapped(*percentile(shares, settings.level), equal)
        over = {"respondents": n, "noun": respondents(group.weights)}
        drawn_anew = {"resamples": settings.resamples, "seed": settings.seed}
        method = Method("values.bootstrap-of-shares", **over, **drawn_anew)
        yield Estimate("", value, n, low, high, settings.level, method, by=by)


def respondents(weights: Array | None) -> str:
    """Return the noun for respondents, with or without weights."""
    return "respondents" if weights is None else "weighted respondents"


def _reweighted(values: Array, totals: Array, drawn: Array) -> Array:
    """Return the share of the weight below minus the share above a rating, in every resample.

    `totals`, shape (resamples, answers), has the weights of `values`, the distinct answers in ascending order, and
    `drawn` the rating in each resample.
    """
    upto = np.concatenate([np.zeros((len(totals), 1)), np.cumsum(totals, axis=1)], axis=1)
    rows = np.arange(len(totals))
    below = upto[rows, np.searchsorted(values, drawn, side="left")]
    above = upto[:, -1] - upto[rows, np.searchsorted(values, drawn, side="right")]
    shares: Array = np.divide(below - above, upto[:, -1], out=np.zeros(len(totals)), where=upto[:, -1] > 0)
    return shares


def _of_mean(
    cells: Cells, cell: WordingCell, people: Array, weights: Array | None, chosen: NDArray[np.bool_]
) -> Estimate:
    """Return the representativeness of the mean rating among respondents' means.

    Statements (the same on both sides), the calibration and the respondents are resampled.
    """
    settings, n, k = cell.settings, len(people), int(chosen.sum())
    mean = float(cell.towards[chosen].mean())
    scores = people.mean(axis=1)
    value = _representative(mean, scores, weights)
    estimate = Estimate("", value, n, level=settings.level, notes=(Note("values.with-every-answer"),))
    if np.isnan(value):
        return replace(estimate, notes=(_why(cell),))
    if k < 2 or n < 2:
        return replace(estimate, notes=(Note("values.one", noun="statements" if k < 2 else "respondents"),))
    picks = cells.picks(chosen)
    drawn = np.take_along_axis(cell.drawn_towards(chosen), picks, 1).sum(axis=1)
    counts = np.zeros((len(picks), k))
    np.add.at(counts, (np.arange(len(picks))[:, None], picks), 1)
    shares = _shares_of_sums(people, weights, counts, drawn, np.random.default_rng([settings.seed, 3]))
    equal = float(np.mean(scores == mean)) if weights is None else 1 - sum(weighted_shares(scores, weights, mean))
    low, high = _mapped(*expanded_percentile(shares, k, settings.level), equal)
    over = {"statements": k, "respondents": n, "noun": respondents(weights)}
    drawn_anew = {"resamples": settings.resamples, "seed": settings.seed}
    method = Method("values.bootstrap-of-shares-of-means", **over, **drawn_anew)
    return replace(estimate, low=low, high=high, method=method)


def _shares_of_sums(
    people: Array, weights: Array | None, counts: Array, drawn: Array, rng: np.random.Generator
) -> Array:
    """Return the (weighted) share of respondents below the ratings' sum minus the share above it, by resample.

    Sums are over the resampled statements: `counts`, shape (resamples, statements), has their multiplicities, and
    `drawn` the sums of the ratings.
    """
    n, resamples = len(people), len(counts)
    if weights is not None:
        shares = np.zeros(resamples)
        for block, weight in drawn_weights(weights, resamples=resamples, rng=rng):
            sides = np.sign(drawn[block, None] - counts[block] @ people.T)
            shares[block] = (weight * sides).sum(axis=1) / weight.sum(axis=1)
        return shares
    below, above = np.zeros(resamples, dtype=np.int64), np.zeros(resamples, dtype=np.int64)
    step = max(1, CHUNK // n)
    for start in range(0, resamples, step):
        block = slice(start, start + step)
        sums = counts[block] @ people.T
        below[block] = (sums < drawn[block, None]).sum(axis=1)
        above[block] = (sums > drawn[block, None]).sum(axis=1)
    return _resampled(below, above, n, rng)


def _resampled(below: NDArray[np.integer], above: NDArray[np.integer], n: int, rng: np.random.Generator) -> Array:
    """Return, for each resample of n respondents, the share who answer below the rating minus the share above it."""
    drawn = rng.multinomial(n, np.column_stack([below / n, above / n, np.maximum(0, 1 - (below + above) / n)]))
    shares: Array = (drawn[:, 0] - drawn[:, 1]) / n
    return shares


def _mapped(low: float, high: float, equal: float) -> tuple[float, float]:
    """Map an interval for shares below − above a rating to one for representativeness, 1 − |below − above| − equal."""
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    top = 1 - equal
    return max(0.0, top - max(abs(low), abs(high))), max(0.0, top - nearest)


def from_people(cell: WordingCell, people: Array, weights: Array | None, chosen: NDArray[np.bool_]) -> Estimate:
    """Return the mean rating minus the respondents' mean over the same statements.

    `people`, shape (respondents, statements), has the complete answers, reversed ones mirrored; `weights` may be None.
    """
    settings, ratings = cell.settings, cell.towards[chosen]
    if np.isnan(ratings).any() or not len(people):
        return Estimate("", np.nan, len(ratings), level=settings.level, notes=(_why(cell),))
    drawn = cell.drawn_towards(chosen).mean(axis=1)
    if np.isnan(drawn).any():
        means = np.average(people, axis=0, weights=weights)
        return Estimate("", float((ratings - means).mean()), len(ratings), level=settings.level)
    return crossed_difference(
        ratings,
        people,
        shared=float(drawn.var()),
        calibrated=len(cell.neutral[0]) or None,
        level=settings.level,
        scale=(LOW, HIGH),
        weights=weights,
    )


def _why(cell: WordingCell) -> Note:
    return NO_SPREAD if np.isnan(cell.ratings).any() else Note("values.no-complete-respondent")
