"""Estimates from stance probabilities: calibration, ratings by value and group, differences, and robustness.

Everything here is computed from the table of items (and the survey) alone, so it can be repeated without a model. Every
interval of a rating includes the uncertainty of the calibration, by resampling the neutral statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from penchant.counting import of_all
from penchant.instruments.values.against_survey import RANKS, against_survey
from penchant.instruments.values.calibration import FEW, calibration
from penchant.instruments.values.cells import NO_INTERVAL, NO_SPREAD, Array, Cell, Cells
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW, MIDDLE
from penchant.instruments.values.nearer import FROM_GROUP, NEARER, held_against_groups
from penchant.instruments.values.paired import DIFFERENCE, WORDINGS, groups_compared, wordings_compared
from penchant.instruments.values.represented import FROM_SURVEY
from penchant.instruments.values.respondents import incomplete
from penchant.instruments.values.settings import ValuesSettings
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_percentile, percentile
from penchant.stats.consistency import cronbach_alpha, variance_shares
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.intervals import t_mean
from penchant.stats.spread import FEW as FEW_VALUES
from penchant.stats.spread import bonett, spread_interval
from penchant.wording.phrases import Method, Note

WEAK = 0.3
"""A caution is issued where a correlation of agreeing and disagreeing, or with the mirrored negation, is below this."""
UNCHECKED = "not checked whether negated statements are rated as the mirror image: no statement has a negation"
"""What is told of a set without negations, in the cautions and in the finding."""
ONE_WAY = 5
"""From as many statements on, a caution is issued where agreeing speaks for the value in all of them."""
WIDEST = 2.0
"""No sd of ratings from 1 to 5 is larger."""
MEAN, SPREAD, CHANCE = "mean rating", "spread of ratings", "spread expected by chance"
RATING = "rating"
SLOPE, OFFSET, SIGMA = "calibration slope a", "calibration offset b", "residual sd σ"
FREE_SLOPE, FREE_INTERCEPT = "slope of a fit with intercept", "intercept of a fit with intercept"
CORRELATION, NORMALITY = "correlation of agree and disagree", "normality of the residuals (W)"
"""The measures of `penchant.instruments.values.calibration.calibration`."""
MIRROR_DISTANCE = "distance from the mirrored negation"
MIRROR_CORRELATION = "correlation with the mirrored negation"
OVER_GROUPS = (MIRROR_CORRELATION, RANKS)
"""Measures that are tested once in every group and wording."""
BY_VALUE = (MEAN, SPREAD, DIFFERENCE, WORDINGS, FROM_SURVEY, FROM_GROUP, NEARER)
"""Measures that are tested once for every value; the test over all values is in no family, but for `NEARER`."""
NEUTRAL = 100
"""From as many neutral statements on, intervals of single ratings hold the truth in 93 % or more."""
STATEMENTS = 30
"""From as many statements on, intervals of the shares of variance hold the truth in 93 % or more."""
CROOKED = ("line-without-intercept", "line-of-slope-one")
"""The codes of notes on a calibration that a line with slope and intercept contradicts."""
SHARE = "share of variance: {}"
"""The share of variance between statements, templates or groups, or in wordings that treat statements differently."""


def value_estimates(items: pl.DataFrame, settings: ValuesSettings, survey: Survey | None) -> list[Estimate]:
    """All estimates from rated statements."""
    cells = Cells(items, settings)
    rows: list[Estimate] = []
    for cell in cells.cells.values():
        x, y = cell.neutral
        rows += (_by(estimate, cell) for estimate in calibration(x, y, line=settings.line, level=settings.level))
        rows += _ratings(cells, cell)
        rows += _negations(items, cell)
    rows += _consistency(cells)
    for variant in cells.variants:
        for first, second in combinations(cells.groups, 2):
            rows += groups_compared(cells, variant, first, second)
    for one, other in combinations(cells.variants, 2):
        rows += wordings_compared(cells, one, other)
    if len(cells.variants) > 1:
        rows += _robustness(cells)
    if survey is not None:
        rows += against_survey(cells, survey)
        rows += held_against_groups(cells, survey)
    return [reasoned(row) for row in adjusted(rows, cells.variants[0])]


def adjusted(rows: Sequence[Estimate], main: str) -> list[Estimate]:
    """The estimates with Holm's adjustment over the tests that one table shows: those of a measure over all values and
    groups of the main wording, and those over all values, groups and other wordings; of differences between wordings,
    those over all values and pairs of wordings. Tests of groups of people run over these too. Which group of people a
    model is nearer to over all values is a question of its own, and a family of its own."""

    def family(estimate: Estimate) -> str | None:
        by, measure = estimate.by, estimate.measure
        overall = by["dimension"] == EVERYTHING
        if measure not in (*OVER_GROUPS, NEARER) and (measure not in BY_VALUE or overall):
            return None
        wording = "pairs of wordings" if measure == WORDINGS else "main" if by["variant"] == main else "other wordings"
        return f"{measure}, {wording}{', over all values' if overall else ''}"

    return with_holm(rows, family)


def reasoned(estimate: Estimate) -> Estimate:
    """The estimate, with a note if it lacks an interval without saying why: some resamples could not be calibrated."""
    if estimate.notes or np.isnan(estimate.value) or not np.isnan(estimate.low):
        return estimate
    if estimate.method is not None and (estimate.method.makes_nothing or estimate.method.code == NO_INTERVAL):
        return estimate
    return replace(estimate, method=None, notes=(Note("values.some-without-spread"),))


def _by(estimate: Estimate, cell: Cell, value: str = EVERYTHING, item: str = "") -> Estimate:
    return replace(estimate, by={"variant": cell.variant, "group": cell.group, "dimension": value, "item": item})


def _ratings(cells: Cells, cell: Cell) -> Iterator[Estimate]:
    """Mean and spread of ratings by value, and the rating of every statement."""
    settings = cells.settings
    for name, inside in cells.blocks():
        ratings, draws = cell.towards[inside], cell.drawn_towards(inside)
        mean = cells.mean(ratings, draws, (LOW, HIGH), against=MIDDLE, logit=True)
        yield _by(replace(mean, measure=MEAN), cell, name)
        if name != EVERYTHING:
            spread = _spread(cells, cell, ratings, draws, cell.reversed[inside])
            yield from (_by(estimate, cell, name) for estimate in spread)
            drawn = cell.drawn_ratings(inside)
            n = len(cell.neutral[0])
            made = {"neutral": n, "resamples": settings.resamples, "seed": settings.seed}
            how = Method("values.bootstrap-of-calibration", **made)
            few = Note("values.few-neutral", least=NEUTRAL) if n < NEUTRAL else None
            for i, at in enumerate(np.flatnonzero(inside).tolist()):
                low, high = expanded_percentile(drawn[:, i], n, settings.level)
                value = float(cell.ratings[at])
                none = np.isnan(value)
                estimate = Estimate(RATING, value, n, low, high, settings.level, None if none else how)
                yield _by(estimate.noted(NO_SPREAD if none else few), cell, name, cells.ids[at])


def _spread(
    cells: Cells, cell: Cell, ratings: Array, draws: Array, is_reversed: NDArray[np.bool_]
) -> Iterator[Estimate]:
    """The standard deviation of the ratings within a value, and that of as many neutral statements drawn at random, as
    many of them mirrored. If it is not smaller, the model does not treat the statements as of one kind."""
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
    # Of neutral statements alone, a spread of many would be held against that of those very statements.
    stated = np.where(is_reversed, 6 - ratings, ratings)
    mixed = _drawn_spreads(np.concatenate([neutral, stated]), is_reversed, settings)
    extreme = min(int((mixed <= value).sum()), int((mixed >= value).sum()))
    p = min(1.0, 2 * (1 + extreme) / (1 + settings.resamples))
    yield estimate.tested(p, Method("values.drawn-spreads-test", two_sided=True))
    low, high = percentile(chance, settings.level)
    method = Method("values.drawn-spreads", statements=n, turned=int(is_reversed.sum()), **drawn)
    yield Estimate(CHANCE, float(chance.mean()), n, low, high, settings.level, method)


def _drawn_spreads(ratings: Array, is_reversed: NDArray[np.bool_], settings: ValuesSettings) -> Array:
    """The sd of as many ratings drawn at random without replacement, as many of them turned round."""
    n, rng = len(is_reversed), np.random.default_rng([settings.seed, 2])
    drawn = ratings[rng.random((settings.resamples, len(ratings))).argpartition(n - 1, axis=1)[:, :n]]
    spreads: Array = np.where(is_reversed, 6 - drawn, drawn).std(axis=1, ddof=1)
    return spreads


def _consistency(cells: Cells) -> Iterator[Estimate]:
    """Cronbach's α of the statements of a value, with the model's groups and wordings in place of respondents."""
    table = np.array([cell.towards for cell in cells.cells.values()])
    for name, inside in cells.blocks():
        if name != EVERYTHING:
            alpha = cronbach_alpha(table[:, inside], level=cells.settings.level)
            by = {"variant": EVERYTHING, "group": EVERYTHING, "dimension": name, "item": ""}
            yield replace(alpha, by=by).noted(Note("values.for-respondents"))


def _robustness(cells: Cells) -> Iterator[Estimate]:
    """The shares of the variance of ratings between statements, wordings (templates) and groups, and in wordings that
    treat statements differently."""
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
        by = {"variant": EVERYTHING, "group": EVERYTHING, "dimension": EVERYTHING, "item": ""}
        few = Note("values.few-of-shares", least=STATEMENTS) if n < STATEMENTS else None
        note = Note("values.ratings-alike") if np.isnan(share) else few
        estimate = Estimate(SHARE.format(name), float(share), n, low, high, settings.level, cells.method(n), by=by)
        yield estimate.noted(note)


def _negations(items: pl.DataFrame, cell: Cell) -> Iterator[Estimate]:
    """Distance and correlation of the ratings of statements with the mirrored ratings (6 − rating) of their
    negations."""
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
    yield _by(replace(gap, measure=MIRROR_DISTANCE), cell)
    if n < 4 or np.ptp(plain) == 0 or np.ptp(mirrored) == 0:
        few = Note("values.too-few-to-correlate")
        yield _by(Estimate(MIRROR_CORRELATION, np.nan, n, level=settings.level, notes=(few,)), cell)
        return
    correlation = scipy.stats.pearsonr(plain, mirrored)
    low, high = correlation.confidence_interval(settings.level)
    r, ends = float(correlation.statistic), Note("values.ratings-end")
    estimate = Estimate(MIRROR_CORRELATION, r, n, float(low), float(high), settings.level, Method("fisher-z"))
    yield _by(estimate.tested(correlation.pvalue, Method("pearson-test", two_sided=True)).noted(ends), cell)


def value_cautions(
    items: pl.DataFrame, settings: ValuesSettings, rows: Sequence[Estimate], survey: Survey | None
) -> Iterator[str]:
    """Cautions about the calibration, the ratings and the survey."""
    if survey is not None and not survey.synthetic:
        yield from survey.cautions
    n = len(next(iter(Cells(items, settings).cells.values())).neutral[0])
    if n < FEW:
        yield (
            f"only {n} neutral {'statement calibrates' if n == 1 else 'statements calibrate'} the "
            f"ratings; {FEW} or more are wanted"
        )
    weak = [
        f"{e.by['variant']} {e.by['group']} {e.value:+.2f}"
        for e in rows
        if e.measure == CORRELATION and not e.value >= WEAK
    ]
    if weak and settings.line == "origin":
        yield f"agreeing and disagreeing hardly rise together (r: {', '.join(weak)}): the calibration explains little"
    bent = [f"{e.by['variant']} {e.by['group']} p = {e.p:.2g}" for e in rows if e.measure == NORMALITY and e.p < 0.01]
    if bent:
        yield f"residuals of the calibration are not normal ({', '.join(bent)}); P(agree) takes them to be"
    crooked = [
        f"{e.by['variant']} {e.by['group']}"
        for e in rows
        if e.measure == SIGMA and any(note.code in CROOKED for note in e.notes)
    ]
    if crooked:
        yield (
            f"a line with slope and intercept contradicts the calibration `{settings.line}` ({', '.join(crooked)}): "
            "ratings of clauses that are more probable, or less, than the neutral ones lean to one side"
        )
    if settings.method == "span":
        yield from _unequal(items)
    astray = [
        f"{e.by['variant']} {e.by['group']} {e.value:+.2f}"
        for e in rows
        if e.measure == MIRROR_CORRELATION and e.value < WEAK
    ]
    if astray:
        yield (
            f"negated statements are not rated as the mirror image of the statements (r: {', '.join(astray)}): the "
            "model answers to the topic more than to the claim"
        )
    yield from _of_statements(items)
    if survey is not None:
        yield from _of_survey(survey)
        yield from _unanswered(items, survey)


def _unanswered(items: pl.DataFrame, survey: Survey) -> Iterator[str]:
    """Cautions about statements that many people did not answer."""
    statements = items.filter(pl.col("kind") == "statement").unique("id", maintain_order=True)
    values = statements.group_by("value", maintain_order=True).agg("id").iter_rows()
    groups = {name: survey.of(name) for name in items["group"].unique(maintain_order=True)}
    groups |= {name: survey.answers.filter(inside) for name, inside in survey.sides().items()}
    yield from incomplete(groups, dict(values))


def _of_statements(items: pl.DataFrame) -> Iterator[str]:
    """Cautions about the statements and their ratings."""
    means = items.filter(pl.col("kind") == "statement")
    unchecked = (items["kind"] != "negation").all()
    if unchecked and means["id"].n_unique() >= ONE_WAY and not means["reversed"].any():
        yield (
            "no statement is reversed and none has a negation: agreeing with everything (acquiescence) cannot be told "
            "from holding these values"
        )
    elif unchecked:
        yield f"{UNCHECKED}, so that answers to the topic cannot be told from answers to the claim"
    extreme = means.filter((pl.col("agreement") < 0.005) | (pl.col("agreement") > 0.995))
    if len(extreme):
        yield (
            f"{of_all(len(extreme), len(means), 'ratings', 'lie')} at the end of the scale (P below "
            "0.005 or above 0.995): "
            f"{'this statement is' if len(extreme) == 1 else 'these statements are'} unlike the neutral ones"
        )
    lost = int(means["rating"].null_count())
    if lost:
        yield f"{of_all(lost, len(means), 'ratings')} cannot be computed: the neutral statements show no spread"


def _of_survey(survey: Survey) -> Iterator[str]:
    """Cautions about people's answers."""
    if survey.synthetic:
        yield f"the survey '{survey.name}' is SYNTHETIC: its answers are made up and nothing about people follows"
    if survey.absent:
        noun = "statement is" if len(survey.absent) == 1 else "statements are"
        yield (
            f"{len(survey.absent)} {noun} not in the survey: {', '.join(survey.absent)}; ratings are held against it "
            "over the others only"
        )
    if survey.kept < survey.read:
        why = f": {survey.left_out}" if survey.left_out else ""
        yield f"{of_all(survey.read - survey.kept, survey.read, 'respondents', 'are')} left out{why}"
    if survey.unplaced:
        lost = sum(not name for name in survey.people or ())
        yield (
            f"{of_all(lost, survey.kept, 'respondents', 'belong')} to none of the groups of people, and the model is "
            f"not held against them there: {survey.unplaced}"
        )


def _unequal(items: pl.DataFrame) -> Iterator[str]:
    """A caution about stances of unequal token length: every additional token makes its stance less probable."""
    lengths = items.group_by(["variant", "group"], maintain_order=True).agg(
        pl.col("tokens_agree").unique().sort(), pl.col("tokens_disagree").unique().sort()
    )
    shown = [
        f"{variant} {group} {'/'.join(map(str, agree))} and {'/'.join(map(str, disagree))}"
        for variant, group, agree, disagree in lengths.iter_rows()
    ]
    pairs = {tuple(text.rsplit(" ", 3)[1:]) for text in shown}
    if len(pairs) > 1 or any(a != b for a, b in lengths.select("tokens_agree", "tokens_disagree").iter_rows()):
        yield f"stances have unequal numbers of tokens (agree and disagree: {'; '.join(shown)})"
