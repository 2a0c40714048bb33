"""Ratings held against people's answers: representativeness by statement, value and group, and the survey itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from penchant.data.survey import Survey
from penchant.data.values import EVERYTHING
from penchant.probes.values_cells import NO_SPREAD, Array, Cell
from penchant.records import Estimate
from penchant.stats.calibration import cronbach_alpha, representativeness

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
REPRESENTATIVE = "representativeness"


def against_survey(
    cells: Iterable[Cell],
    ids: Sequence[str],
    values: Sequence[str],
    blocks: Sequence[tuple[str, NDArray[np.bool_]]],
    survey: Survey,
) -> Iterator[Estimate]:
    """The survey's own numbers by group and value, and where the ratings of every wording and group lie in them."""
    asked = np.array([id_ not in survey.absent for id_ in ids])
    done: set[str] = set()
    for cell in cells:
        answers = survey.of(cell.group)
        table = np.column_stack(
            [
                answers[id_].to_numpy() if present else np.full(len(answers), np.nan)
                for id_, present in zip(ids, asked, strict=True)
            ]
        )
        for name, inside in blocks:
            chosen = inside & asked
            if cell.group not in done and name != EVERYTHING:
                yield from _people(cell, name, _scores(table, chosen, cell.reversed))
                alpha = cronbach_alpha(_turned(table, chosen, cell.reversed), level=cell.settings.level)
                yield _by(alpha, f"survey {alpha.measure}", EVERYTHING, cell.group, name)
            yield from _represented(cell, name, table, chosen, [ids[i] for i in np.flatnonzero(chosen).tolist()])
        done.add(cell.group)
        yield _ranks(cell, table, asked)


def _by(found: Estimate, measure: str, variant: str, group: str, value: str, item: str = "") -> Estimate:
    by = {"variant": variant, "group": group, "dimension": value, "item": item}
    return replace(found, measure=measure, by=by)


def _turned(table: Array, chosen: NDArray[np.bool_], turned: NDArray[np.bool_]) -> Array:
    own = table[:, chosen]
    found: Array = np.where(turned[chosen], 6 - own, own)
    return found


def _scores(table: Array, chosen: NDArray[np.bool_], turned: NDArray[np.bool_]) -> Array:
    """Every respondent's mean over the statements of a value, reversed ones turned round; NaN where one is missing."""
    if not chosen.any():
        return np.full(len(table), np.nan)
    found: Array = _turned(table, chosen, turned).mean(axis=1)
    return found


def _people(cell: Cell, value: str, scores: Array) -> Iterator[Estimate]:
    """Mean, spread and quantiles of the respondents' scores."""
    whole = scores[~np.isnan(scores)]
    n, level, lost = len(whole), cell.settings.level, len(scores) - len(whole)
    note = f"{lost} respondents with a missing answer left out" if lost else ""
    if n < 2:
        yield _by(
            Estimate("", np.nan, n, level=level, note="no respondents; " + note),
            "survey mean",
            EVERYTHING,
            cell.group,
            value,
        )
        return
    mean, sd = float(whole.mean()), float(whole.std(ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * sd / n**0.5
    found = Estimate("", mean, n, mean - half, mean + half, level, how=f"t interval over {n} respondents", note=note)
    yield _by(found, "survey mean", EVERYTHING, cell.group, value)
    bounds = [sd * ((n - 1) / stats.chi2.ppf((1 + side * level) / 2, n - 1)) ** 0.5 for side in (1, -1)]
    found = Estimate("", sd, n, float(bounds[0]), float(bounds[1]), level, how="χ² interval", note=note)
    yield _by(found, "survey sd", EVERYTHING, cell.group, value)
    for share in QUANTILES:
        how = "quantile of the respondents' means, no interval"
        found = Estimate("", float(np.quantile(whole, share)), n, level=level, how=how, note=note)
        yield _by(found, "survey quantile", EVERYTHING, cell.group, value, f"{share:.0%}")


def _represented(
    cell: Cell, value: str, table: Array, chosen: NDArray[np.bool_], ids: Sequence[str]
) -> Iterator[Estimate]:
    """Of a value's mean rating among the respondents' scores, and of every statement's rating among its answers; over
    all values the mean over statements. Statements are taken as given."""
    settings = cell.settings
    tails = [(1 - settings.level) / 2, (1 + settings.level) / 2]
    how = (
        f"percentile bootstrap of the calibration, {settings.resamples} resamples, seed {settings.seed}; statements "
        "and respondents as given"
    )
    if not chosen.any() or not len(table):
        why = "no statement of it is in the survey" if len(table) else "no respondents of this group"
        found = Estimate("", np.nan, 0, level=settings.level, note=why)
        yield _by(found, REPRESENTATIVE, cell.variant, cell.group, value)
        return
    asked = table[:, chosen].T
    each = np.array([float(representativeness(r, p)) for r, p in zip(cell.ratings[chosen], asked, strict=True)])
    drawn = cell.drawn_ratings(chosen).T
    each_drawn = np.column_stack([representativeness(r, p) for r, p in zip(drawn, asked, strict=True)])
    if value == EVERYTHING:
        own, draws, n = float(each.mean()), each_drawn.mean(axis=1), int(chosen.sum())
        note = "mean over statements"
    else:
        scores = _scores(table, chosen, cell.reversed)
        people = scores[~np.isnan(scores)]
        own = float(representativeness(cell.towards[chosen].mean(), people))
        draws = representativeness(cell.drawn_towards(chosen).mean(axis=1), people)
        n, note = len(people), "of the value's mean rating, among respondents with every answer"
        for i, id_ in enumerate(ids):
            low, high = np.quantile(each_drawn[:, i], tails).tolist()
            count = int((~np.isnan(asked[i])).sum())
            why = _why(cell) if np.isnan(each[i]) else ""
            item = Estimate("", float(each[i]), count, low, high, settings.level, how=how, note=why)
            yield _by(item, REPRESENTATIVE, cell.variant, cell.group, value, id_)
    low, high = np.quantile(draws, tails).tolist()
    if np.isnan(own):
        note = _why(cell)
    found = Estimate("", own, n, low, high, settings.level, how=how, note=note)
    yield _by(found, REPRESENTATIVE, cell.variant, cell.group, value)


def _why(cell: Cell) -> str:
    """Why nothing is representative."""
    return NO_SPREAD if np.isnan(cell.ratings).any() else "no respondent has every answer it needs"


def _ranks(cell: Cell, table: Array, asked: NDArray[np.bool_]) -> Estimate:
    """Do statements that people agree with more get higher ratings?"""
    name = "rank correlation with the survey's means"
    level = cell.settings.level
    with np.errstate(invalid="ignore"):
        people = np.array([np.nanmean(c) if (~np.isnan(c)).any() else np.nan for c in table[:, asked].T])
    own = cell.ratings[asked]
    known = ~np.isnan(people) & ~np.isnan(own)
    n = int(known.sum())
    if n < 4 or np.ptp(people[known]) == 0 or np.ptp(own[known]) == 0:
        found = Estimate("", np.nan, n, level=level, note="too few statements, or no spread")
        return _by(found, name, cell.variant, cell.group, EVERYTHING)
    result = stats.spearmanr(own[known], people[known])
    r = float(result.statistic)
    # Bonett & Wright 2000, Psychometrika 65:23–28: the variance of a rank correlation on the scale of Fisher's z.
    half = float(stats.norm.ppf((1 + level) / 2)) * ((1 + r**2 / 2) / (n - 3)) ** 0.5
    centre = np.arctanh(min(max(r, -1 + 1e-12), 1 - 1e-12))
    low, high = np.tanh([centre - half, centre + half]).tolist()
    found = Estimate(
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
    return _by(found, name, cell.variant, cell.group, EVERYTHING)
