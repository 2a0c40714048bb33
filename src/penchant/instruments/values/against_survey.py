"""Ratings compared with people's answers: representativeness by statement, value and group, and the survey itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.counting import of_all
from penchant.instruments.values.cells import Array, Cell, Cells
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW
from penchant.instruments.values.represented import beside_people, fewer, placed, turned
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate
from penchant.stats.consistency import ALPHA, cronbach_alpha
from penchant.stats.inputs import joined
from penchant.stats.spread import FEW, HOW, spread_interval

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of the respondents' means that are reported."""
SURVEY_MEAN, SURVEY_SD, SURVEY_QUANTILE = "survey mean", "survey sd", "survey quantile"
SURVEY_CONSISTENCY = f"survey {ALPHA}"
RANKS = "rank correlation with the survey's means"


def against_survey(cells: Cells, survey: Survey) -> Iterator[Estimate]:
    """The survey's own statistics by group and value, and the position of every wording's and group's ratings in
    them."""
    asked = np.array([id_ not in survey.absent for id_ in cells.ids])
    done: set[str] = set()
    for cell in cells.cells.values():
        answers = survey.of(cell.group)
        table = np.column_stack(
            [
                answers[id_].to_numpy() if present else np.full(len(answers), np.nan)
                for id_, present in zip(cells.ids, asked, strict=True)
            ]
        )
        for name, inside in cells.blocks():
            chosen = inside & asked
            if cell.group not in done and name != EVERYTHING:
                scores = _scores(table, chosen, cell.reversed)
                for estimate in _people(cell, name, scores, survey.source(cell.group)):
                    yield replace(estimate, note=joined(estimate.note, fewer(chosen, inside)))
                alpha = cronbach_alpha(turned(table, chosen, cell.reversed), level=cell.settings.level)
                yield placed(alpha, SURVEY_CONSISTENCY, EVERYTHING, cell.group, name)
            yield from beside_people(cells, cell, name, table, inside, asked)
        done.add(cell.group)
        yield _ranks(cell, table, asked)


def _scores(table: Array, chosen: NDArray[np.bool_], is_reversed: NDArray[np.bool_]) -> Array:
    """The mean of every respondent over the statements of a value, reversed ones mirrored; NaN where any is missing."""
    if not chosen.any():
        return np.full(len(table), np.nan)
    scores: Array = turned(table, chosen, is_reversed).mean(axis=1)
    return scores


def _people(cell: Cell, value: str, scores: Array, source: str) -> Iterator[Estimate]:
    """Mean, spread and quantiles of the respondents' scores; the mean says where they come from."""
    whole = scores[~np.isnan(scores)]
    n, level, lost = len(whole), cell.settings.level, len(scores) - len(whole)
    note = (
        f"{of_all(lost, len(scores), 'respondents')} ({lost / len(scores):.0%}) with a missing answer left out"
        if lost
        else ""
    )
    if n < 2:
        yield placed(
            Estimate("", np.nan, n, level=level, note="no respondents; " + note),
            SURVEY_MEAN,
            EVERYTHING,
            cell.group,
            value,
        )
        return
    mean, sd = float(whole.mean()), float(whole.std(ddof=1))
    half = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * sd / n**0.5
    how = f"t interval over {n} respondents; {source}"
    low, high = max(LOW, mean - half), min(HIGH, mean + half)
    estimate = Estimate("", mean, n, low, high, level, how=how, note=note)
    yield placed(estimate, SURVEY_MEAN, EVERYTHING, cell.group, value)
    low, high = spread_interval(whole, level)
    how = "" if np.isnan(low) else f"{HOW} over {n} respondents"
    few = f"no interval: fewer than {FEW} respondents, or none who differ" if np.isnan(low) else ""
    estimate = Estimate("", sd, n, low, high, level, how=how, note=joined(few, note))
    yield placed(estimate, SURVEY_SD, EVERYTHING, cell.group, value)
    for share in QUANTILES:
        how = "quantile of the respondents' means, no interval"
        estimate = Estimate("", float(np.quantile(whole, share)), n, level=level, how=how, note=note)
        yield placed(estimate, SURVEY_QUANTILE, EVERYTHING, cell.group, value, f"{share:.0%}")


def _ranks(cell: Cell, table: Array, asked: NDArray[np.bool_]) -> Estimate:
    """The rank correlation of ratings with mean answers: do statements with more agreement get higher ratings?"""
    level = cell.settings.level
    with np.errstate(invalid="ignore"):
        people = np.array([np.nanmean(c) if (~np.isnan(c)).any() else np.nan for c in table[:, asked].T])
    ratings = cell.ratings[asked]
    known = ~np.isnan(people) & ~np.isnan(ratings)
    n = int(known.sum())
    if n < 4 or np.ptp(people[known]) == 0 or np.ptp(ratings[known]) == 0:
        estimate = Estimate("", np.nan, n, level=level, note="too few statements, or no spread")
        return placed(estimate, RANKS, cell.variant, cell.group, EVERYTHING)
    result = scipy.stats.spearmanr(ratings[known], people[known])
    r = float(result.statistic)
    # Bonett & Wright 2000, Psychometrika 65:23–28: the variance of a rank correlation on the scale of Fisher's z.
    half = float(scipy.stats.norm.ppf((1 + level) / 2)) * ((1 + r**2 / 2) / (n - 3)) ** 0.5
    centre = np.arctanh(min(max(r, -1 + 1e-12), 1 - 1e-12))
    low, high = np.tanh([centre - half, centre + half]).tolist()
    estimate = Estimate(
        "",
        r,
        n,
        low,
        high,
        level,
        how="Fisher z, Bonett–Wright variance",
        p=float(result.pvalue),
        test="Spearman's ρ, two-sided",
    )
    return placed(estimate, RANKS, cell.variant, cell.group, EVERYTHING)
