"""Estimates from stance probabilities: calibration, ratings by value and group, differences, and robustness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.instruments.values.against_survey import RANKS, against_survey
from penchant.instruments.values.calibration import calibration
from penchant.instruments.values.cells import NO_INTERVAL, NO_SPREAD, Array, Cells, WordingCell, placed
from penchant.instruments.values.chat_questions import RATING as RATING
from penchant.instruments.values.chat_questions import asked_estimates
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW, MIDDLE
from penchant.instruments.values.group_distance import FROM_GROUP, NEARER, held_against_groups
from penchant.instruments.values.representativeness import FROM_SURVEY
from penchant.instruments.values.settings import DIFFERENCE as DIFFERENCE
from penchant.instruments.values.settings import ValuesSettings
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_percentile, percentile
from penchant.stats.consistency import cronbach_alpha, variance_shares
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.intervals import t_mean
from penchant.stats.sd_interval import FEW as FEW_VALUES
from penchant.stats.sd_interval import bonett, spread_interval
from penchant.wording.phrases import Method, Note

WIDEST = 2.0
"""The largest possible sd of ratings from 1 to 5."""
MEAN, SPREAD, CHANCE = "mean rating", "spread of ratings", "spread expected by chance"
RATINGS = "ratings"
"""The measure that `DIFFERENCE` compares."""
WORDINGS = "difference of ratings between wordings"
"""The difference of one wording from another, each averaged over the groups."""
MIRROR_DISTANCE = "distance from the mirrored negation"
MIRROR_CORRELATION = "correlation with the mirrored negation"
OVER_GROUPS = (MIRROR_CORRELATION, RANKS)
"""Measures that are tested once in every group and wording."""
BY_VALUE = (MEAN, SPREAD, DIFFERENCE, WORDINGS, FROM_SURVEY, FROM_GROUP, NEARER)
"""Measures tested once for every value; of the tests over all values, only those of `NEARER` are adjusted."""
NEUTRAL = 100
"""Number of neutral statements below which intervals of single ratings are approximate."""
STATEMENTS = 30
"""Number of statements below which intervals of the shares of variance are approximate."""
SHARE = "share of variance: {}"
"""Share of variance due to statements, templates, groups, the interaction of statements and templates, or the rest."""


def value_estimates(items: pl.DataFrame, settings: ValuesSettings, survey: Survey | None) -> list[Estimate]:
    """Return all estimates from rated statements."""
    cells = Cells(items, settings)
    rows: list[Estimate] = []
    if settings.asks:
        rows += asked_estimates(items, settings)
    if not cells.cells:  # no reply chooses an option
        return rows
    for cell in cells.cells.values():
        if not settings.asks:
            rows += (
                cell.placed(estimate, estimate.measure)
                for estimate in calibration(*cell.neutral, line=settings.line, level=settings.level)
            )
        rows += _ratings(cells, cell)
        rows += _negations(items, cell)
    rows += _consistency(cells)
    for variant in cells.variants:
        for first, second in combinations(cells.groups, 2):
            rows += groups_compared(cells, variant, first, second)
    for one, other in combinations(cells.variants, 2):
        a, b = ([cells.cells[variant, group] for group in cells.groups] for variant in (one, other))
        rows += _compared(cells, WORDINGS, a, b, {"variant": f"{one} − {other}", "group": EVERYTHING})
    if len(cells.variants) > 1:
        rows += _robustness(cells)
    if survey is not None:
        rows += against_survey(cells, survey)
        rows += held_against_groups(cells, survey)
    return [_reasoned(row) for row in _adjusted(rows, cells.variants[0])]


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: ValuesSettings) -> Iterator[Estimate]:
    """Yield the differences in ratings between two models (a − b) by wording, group and value.

    Differences are paired by statement; intervals and t tests include the error of the calibration. Holm's adjustment
    covers the values and groups of the main wording, and separately those of the other wordings.
    """
    first, second = Cells(a, settings), Cells(b, settings)
    rows: list[Estimate] = []
    for key, cell in first.cells.items():
        by = {"variant": cell.variant, "group": cell.group}
        rows += _compared(first, DIFFERENCE, [cell], [second.cells[key]], by)
    for row in _adjusted(rows, first.variants[0]):
        yield replace(_reasoned(row), measure=RATINGS)


def groups_compared(cells: Cells, variant: str, first: str, second: str) -> Iterator[Estimate]:
    """Yield the differences in ratings between two groups in a wording, by value, paired by statement."""
    by = {"variant": variant, "group": f"{first} − {second}"}
    return _compared(cells, DIFFERENCE, [cells.cells[variant, first]], [cells.cells[variant, second]], by)


def _compared(
    cells: Cells, measure: str, a: Sequence[WordingCell], b: Sequence[WordingCell], by: Mapping[str, str]
) -> Iterator[Estimate]:
    for name, inside in cells.blocks():
        gaps = _mean([cell.towards[inside] for cell in a]) - _mean([cell.towards[inside] for cell in b])
        draws = _mean([cell.drawn_towards(inside) for cell in a]) - _mean([cell.drawn_towards(inside) for cell in b])
        # A sign-flip test would ignore the errors of the two calibrations, and reject too often.
        found = cells.mean(gaps, draws, (LOW - HIGH, HIGH - LOW), against=0)
        yield replace(found, measure=measure, by={**by, "item": "", "dimension": name})


def _mean(tables: Sequence[Array]) -> Array:
    mean: Array = sum(tables[1:], tables[0]) / len(tables)
    return mean


def _adjusted(rows: Sequence[Estimate], main: str) -> list[Estimate]:
    """Apply Holm's adjustment to each family of tests.

    A family has the tests of one measure for every value and group: those in the main wording, those in all other
    wordings or, for differences between wordings, those of all pairs of wordings. Tests against groups of people form
    such families too; differences of distances that pool all values form families of their own.
    """

    def family(estimate: Estimate) -> str | None:
        by, measure = estimate.by, estimate.measure
        overall = by["dimension"] == EVERYTHING
        if measure not in (*OVER_GROUPS, NEARER) and (measure not in BY_VALUE or overall):
            return None
        wording = "pairs of wordings" if measure == WORDINGS else "main" if by["variant"] == main else "other wordings"
        return f"{measure}, {wording}{', over all values' if overall else ''}"

    return with_holm(rows, family)


def _reasoned(estimate: Estimate) -> Estimate:
    """Add a note to an estimate whose interval is missing because some resamples have no calibration."""
    if estimate.notes or np.isnan(estimate.value) or not np.isnan(estimate.low):
        return estimate
    if estimate.method is not None and (estimate.method.makes_nothing or estimate.method.code == NO_INTERVAL):
        return estimate
    return replace(estimate, method=None, notes=(Note("values.some-without-spread"),))


def _ratings(cells: Cells, cell: WordingCell) -> Iterator[Estimate]:
    settings = cells.settings
    for name, inside in cells.blocks():
        ratings, draws = cell.towards[inside], cell.drawn_towards(inside)
        mean = cells.mean(ratings, draws, (LOW, HIGH), against=MIDDLE, logit=True)
        yield cell.placed(mean, MEAN, name)
        if name != EVERYTHING:
            spread = _spread(cells, cell, ratings, draws, cell.reversed[inside])
            yield from (cell.placed(estimate, estimate.measure, name) for estimate in spread)
            if settings.asks:
                continue
            drawn = cell.drawn_ratings(inside)
            n = len(cell.neutral[0])
            made = {"neutral": n, "resamples": settings.resamples, "seed": settings.seed}
            how = Method("values.bootstrap-of-calibration", **made)
            few = Note("values.few-neutral", least=NEUTRAL) if n < NEUTRAL else None
            for i, at in enumerate(np.flatnonzero(inside).tolist()):
                low, high = expanded_percentile(drawn[:, i], n, settings.level)
                value = float(cell.ratings[at])
                none = np.isnan(value)
                estimate = Estimate("", value, n, low, high, settings.level, None if none else how)
                yield cell.placed(estimate.noted(NO_SPREAD if none else few), RATING, name, cells.ids[at])


def _spread(
    cells: Cells, cell: WordingCell, ratings: Array, draws: Array, is_reversed: NDArray[np.bool_]
) -> Iterator[Estimate]:
    """Yield the sd of the ratings of a value, and the sd expected for as many neutral statements.

    As many neutral ratings are mirrored as there are reversed statements.
    """
    settings, n = cells.settings, len(ratings)
    if n < 2 or np.isnan(ratings).any():
        note = Note("values.fewer-than-two") if n < 2 else NO_SPREAD
        yield Estimate(SPREAD, np.nan, n, level=settings.level, notes=(note,))
        return
    value = float(ratings.std(ddof=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = float(np.log(draws.std(axis=1, ddof=1)).var())
    low, high = spread_interval(ratings, settings.level, noise) if np.isfinite(noise) else (np.nan, np.nan)
    neutral = cell.neutral_ratings
    drawn = {"neutral": len(neutral), "resamples": settings.resamples, "seed": settings.seed}
    method = Method("values.with-noise", of=bonett(units=n, noun="statements"), **drawn, most=WIDEST)
    none = None if low <= high else Note("values.no-interval-of-spread", least=FEW_VALUES)
    high = min(high, max(WIDEST, value))
    estimate = Estimate(SPREAD, value, n, low, high, settings.level, None if none else method).noted(none)
    if n > len(neutral):
        yield estimate.noted(Note("values.too-few-neutral"))
        return
    chance = _drawn_spreads(neutral, is_reversed, settings)
    # Draws of nearly all neutral statements would always be of the same ones; hence both kinds are mixed.
    stated = np.where(is_reversed, 6 - ratings, ratings)
    mixed = _drawn_spreads(np.concatenate([neutral, stated]), is_reversed, settings)
    extreme = min(int((mixed <= value).sum()), int((mixed >= value).sum()))
    p = min(1.0, 2 * (1 + extreme) / (1 + settings.resamples))
    yield estimate.tested(p, Method("values.drawn-spreads-test", two_sided=True))
    low, high = percentile(chance, settings.level)
    method = Method("values.drawn-spreads", statements=n, turned=int(is_reversed.sum()), **drawn)
    yield Estimate(CHANCE, float(chance.mean()), n, low, high, settings.level, method)


def _drawn_spreads(ratings: Array, is_reversed: NDArray[np.bool_], settings: ValuesSettings) -> Array:
    """Return the sd of each draw of ratings, one per entry of `is_reversed`, mirrored where that is true.

    Ratings are drawn without replacement.
    """
    n, rng = len(is_reversed), np.random.default_rng([settings.seed, 2])
    drawn = ratings[rng.random((settings.resamples, len(ratings))).argpartition(n - 1, axis=1)[:, :n]]
    spreads: Array = np.where(is_reversed, 6 - drawn, drawn).std(axis=1, ddof=1)
    return spreads


def _consistency(cells: Cells) -> Iterator[Estimate]:
    table = np.array([cell.towards for cell in cells.cells.values()])
    for name, inside in cells.blocks():
        if name != EVERYTHING:
            alpha = cronbach_alpha(table[:, inside], level=cells.settings.level)
            own = placed(alpha, alpha.measure, EVERYTHING, EVERYTHING, name)
            yield own.noted(Note("values.for-respondents"))


def _robustness(cells: Cells) -> Iterator[Estimate]:
    table = np.array([[cells.cells[v, g].towards for g in cells.groups] for v in cells.variants])  # (V, G, statements)
    table = np.moveaxis(table, -1, 0)
    n, settings = len(table), cells.settings
    shares = variance_shares(table)
    everything = np.ones(n, dtype=bool)
    picks = cells.picks(everything)
    drawn = [
        [np.take_along_axis(cells.cells[v, g].drawn_towards(everything), picks, 1) for g in cells.groups]
        for v in cells.variants
    ]
    draws = variance_shares(np.moveaxis(np.array(drawn), (2, 3), (0, 1)))
    for name, share in shares.items():
        low, high = expanded_percentile(draws[name], n, settings.level)
        few = Note("values.few-of-shares", least=STATEMENTS) if n < STATEMENTS else None
        note = Note("values.ratings-alike") if np.isnan(share) else few
        estimate = Estimate("", float(share), n, low, high, settings.level, cells.method(n)).noted(note)
        yield placed(estimate, SHARE.format(name), EVERYTHING, EVERYTHING, EVERYTHING)


def _negations(items: pl.DataFrame, cell: WordingCell) -> Iterator[Estimate]:
    """Yield distance and correlation between statements' ratings and their negations' mirrored ratings (6 − rating)."""
    cell_items = items.filter((pl.col("variant") == cell.variant) & (pl.col("group") == cell.group))
    pairs = cell_items.filter(pl.col("kind") == "statement").join(
        cell_items.filter(pl.col("kind") == "negation"), on="id", suffix="_negated", maintain_order="left"
    )
    pairs = pairs.drop_nulls(["rating", "rating_negated"])
    n, settings = len(pairs), cell.settings
    if not n:
        return
    plain, mirrored = pairs["rating"].to_numpy(), 6 - pairs["rating_negated"].to_numpy()
    gap = t_mean(
        np.abs(plain - mirrored),
        level=settings.level,
        noun="statements",
        bounds=(0.0, HIGH - LOW),
    )
    yield cell.placed(gap, MIRROR_DISTANCE)
    if n < 4 or np.ptp(plain) == 0 or np.ptp(mirrored) == 0:
        few = Note("values.too-few-to-correlate")
        yield cell.placed(Estimate("", np.nan, n, level=settings.level, notes=(few,)), MIRROR_CORRELATION)
        return
    correlation = scipy.stats.pearsonr(plain, mirrored)
    low, high = correlation.confidence_interval(settings.level)
    r, ends = float(correlation.statistic), Note("values.ratings-end")
    estimate = Estimate("", r, n, float(low), float(high), settings.level, Method("fisher-z"))
    estimate = estimate.tested(correlation.pvalue, Method("pearson-test", two_sided=True)).noted(ends)
    yield cell.placed(estimate, MIRROR_CORRELATION)
