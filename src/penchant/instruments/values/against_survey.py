"""Ratings compared with survey answers by statement, value and group, and statistics of the survey itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.instruments.values.cells import Array, Cells, WordingCell, number_alone, placed
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.representativeness import People, beside_people, fewer, turned, worth
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate
from penchant.stats.consistency import ALPHA, cronbach_alpha
from penchant.stats.sd_interval import FEW, bonett, spread_interval
from penchant.stats.weighted import (
    effective_n,
    linearised,
    mean_variance,
    sd_interval,
    weighted_mean,
    weighted_quantile,
    weighted_sd,
)
from penchant.wording.phrases import Method, Note, Notes, present

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The reported quantiles of the respondents' means."""
SURVEY_MEAN, SURVEY_SD, SURVEY_QUANTILE = "survey mean", "survey sd", "survey quantile"
RESPONDENTS = "respondents"
SURVEY_CONSISTENCY = f"survey {ALPHA}"
EFFECTIVE, DESIGN = "effective number of respondents (Kish)", "design effect of the weights (Kish)"
AGREEING = "values.agreeing"
"""Code of the note on the answer coded as agreement."""
LEFT_OUT = "values.left-out"
"""Code of the note on respondents left out of a mean for missing answers."""
KISH = "values.kish"
"""Code of the method that computes an effective number of respondents."""
RANKS = "rank correlation with the survey's means"


def against_survey(cells: Cells, survey: Survey) -> Iterator[Estimate]:
    """Yield the survey's own statistics by group and value, and the position of ratings among people's answers."""
    asked = np.array([id_ not in survey.absent for id_ in cells.ids])
    groups: dict[str, People] = {}
    for cell in cells.cells.values():
        first = cell.group not in groups
        if first:
            groups[cell.group] = people_of(cells, survey, survey.of(cell.group), survey.weights_of(cell.group), 4)
            yield placed(_respondents(survey, cell), RESPONDENTS, EVERYTHING, cell.group, EVERYTHING)
        group = groups[cell.group]
        for name, inside in cells.blocks():
            chosen = inside & asked
            if first and name != EVERYTHING:
                for estimate in of_people(cell, name, group, chosen, survey.answered(cell.group)):
                    item = estimate.by.get("item", "")
                    own = placed(estimate, estimate.measure, EVERYTHING, cell.group, name, item)
                    yield own.noted(fewer(chosen, inside))
                table = turned(group.table, chosen, cell.reversed)
                alpha = cronbach_alpha(table, level=cell.settings.level, weights=group.weights)
                yield placed(alpha, SURVEY_CONSISTENCY, EVERYTHING, cell.group, name)
            yield from beside_people(cells, cell, name, group, inside, asked)
        yield _ranks(cell, group, asked)


def _respondents(survey: Survey, cell: WordingCell) -> Estimate:
    """Return the number of respondents in a group, with notes on exclusions and on the answer coded as agreement."""
    notes = present(
        Note("values.kept", kept=survey.kept, read=survey.read, others=survey.others or None),
        Note("values.of-no-group", others=survey.elsewhere) if survey.elsewhere else None,
        Note(AGREEING, answer=survey.agreeing) if survey.agreeing else None,
    )
    number, method = float(len(survey.of(cell.group))), number_alone("values.counted")
    return Estimate("", number, survey.read, level=cell.settings.level, method=method, notes=notes)


def people_of(cells: Cells, survey: Survey, answers: pl.DataFrame, weights: Array | None, *seed: int) -> People:
    """Return respondents with their answers to every statement; `seed` extends the settings' seed for resampling."""
    nobody = np.full(len(answers), np.nan)
    table = np.column_stack([nobody if id_ in survey.absent else answers[id_].to_numpy() for id_ in cells.ids])
    return People(table, weights, (cells.settings.seed, *seed), cells.settings.resamples)


def of_people(
    cell: WordingCell, value: str, group: People, chosen: NDArray[np.bool_], source: Note
) -> Iterator[Estimate]:
    """Yield mean, sd and quantiles of respondents' scores, that is, of their mean answers to the `chosen` statements.

    If there are weights, the effective number of respondents and the design effect follow. `source` is the note on the
    source and weighting of the answers.
    """
    scores, weights = _scores(group, chosen, cell.reversed)
    n, level, whole = len(scores), cell.settings.level, len(group.table)
    lost = whole - n
    notes = present(Note(LEFT_OUT, lost=lost, of=whole, share=lost / whole) if lost else None)
    if n < 2:
        yield Estimate(SURVEY_MEAN, np.nan, n, level=level, notes=(Note("values.no-respondents"), *notes))
        return
    yield _mean(scores, weights, level, source).noted(*notes)
    yield _sd(scores, weights, level, notes)
    for share in QUANTILES:
        if weights is None:
            method, quantile = number_alone("values.quantile"), float(np.quantile(scores, share))
        else:
            method, quantile = number_alone("values.weighted-quantile"), weighted_quantile(scores, weights, share)
        by = {"item": f"{share:.0%}"}
        yield Estimate(SURVEY_QUANTILE, quantile, n, level=level, method=method, notes=notes, by=by)
    if weights is not None:
        effective, of_weights = effective_n(weights), number_alone("values.design-effect")
        yield Estimate(EFFECTIVE, effective, n, level=level, method=number_alone(KISH), notes=notes)
        yield Estimate(DESIGN, n / effective, n, level=level, method=of_weights, notes=notes)


def _scores(group: People, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> tuple[Array, Array | None]:
    """Return the scores (mean answers, reversed items mirrored) and weights of respondents with complete answers."""
    if not chosen.any():
        return np.empty(0), None
    answers, weights = group.complete(chosen, is_reversed)
    return answers.mean(axis=1), weights


def _mean(scores: Array, weights: Array | None, level: float, source: Note) -> Estimate:
    n = len(scores)
    counting = np.ones(n) if weights is None else weights
    mean, error, df = weighted_mean(scores, counting), mean_variance(scores, counting) ** 0.5, worth(n, weights) - 1
    half = float(scipy.stats.t.ppf((1 + level) / 2, df)) * error
    worth_of = None if weights is None else df + 1
    method = Method("values.t-of-survey", respondents=n, worth=worth_of, source=source)
    return Estimate(SURVEY_MEAN, mean, n, max(LOW, mean - half), min(HIGH, mean + half), level, method)


def _sd(scores: Array, weights: Array | None, level: float, notes: Notes) -> Estimate:
    n = len(scores)
    if weights is None:
        sd, (low, high) = float(scores.std(ddof=1)), spread_interval(scores, level)
        method = bonett(units=n, noun="respondents")
    else:
        sd, (low, high) = weighted_sd(scores, weights), sd_interval(scores, weights, level)
        method = linearised(weights)
    if np.isnan(low):
        few = Note("values.no-interval-of-sd", least=FEW)
        return Estimate(SURVEY_SD, sd, n, level=level, notes=(few, *notes))
    return Estimate(SURVEY_SD, sd, n, low, high, level, method, notes=notes)


def _ranks(cell: WordingCell, group: People, asked: NDArray[np.bool_]) -> Estimate:
    level = cell.settings.level
    people, ratings = group.means[asked], cell.ratings[asked]
    known = ~np.isnan(people) & ~np.isnan(ratings)
    n = int(known.sum())
    if n < 4 or np.ptp(people[known]) == 0 or np.ptp(ratings[known]) == 0:
        estimate = Estimate("", np.nan, n, level=level, notes=(Note("values.too-few-to-correlate"),))
        return cell.placed(estimate, RANKS)
    result = scipy.stats.spearmanr(ratings[known], people[known])
    r = float(result.statistic)
    # Bonett & Wright 2000, Psychometrika 65:23–28: the variance of a rank correlation on the scale of Fisher's z.
    half = float(scipy.stats.norm.ppf((1 + level) / 2)) * ((1 + r**2 / 2) / (n - 3)) ** 0.5
    centre = np.arctanh(min(max(r, -1 + 1e-12), 1 - 1e-12))
    low, high = np.tanh([centre - half, centre + half]).tolist()
    estimate = Estimate("", r, n, low, high, level, Method("values.fisher-z-of-ranks"))
    estimate = estimate.tested(float(result.pvalue), Method("values.spearman-test", two_sided=True))
    return cell.placed(estimate, RANKS)
