"""Pairs that people judged: the model against them, them against each other, and their agreement."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
from bench.simulations.base import RESAMPLES, Simulation, Trial
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.fixed_group_estimates import MEAN, fixed
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    ALPHAS,
    CEILING,
    CORRELATIONS,
    HUMAN_ACCURACY,
    JUDGED_ACCURACY,
)
from penchant.stats.agreement import interval_alpha, krippendorff_alpha
from penchant.stats.crossed_judgements import ceiling, correlation, left_out, majority
from penchant.stats.intervals import accuracy, clustered_mean
from penchant.stats.rated_mean import mean_over_raters

Array = NDArray[np.float64]
SECTION = "What people judged"
_KINDS = {"ratings, raters alike": (0.7, 0.3), "ratings, raters apart": (2.5, 0.0), "choices": (0.7, 0.3)}
"""The noise of a rater beside what pairs are worth (sd 1), and how much slopes of raters differ."""
_PARADIGMS = 8
SETS = 300


def judged(rng: np.random.Generator, pairs: int, raters: int, kind: str, rho: float = 0.6) -> tuple[Array, Array]:
    """Δmodel of pairs, whose correlation with what they are worth is `rho`, and what raters judged."""
    noise, slope = _KINDS[kind]
    model = rng.normal(size=pairs)
    worth = rho * model + np.sqrt(1 - rho**2) * rng.normal(size=pairs)
    slopes, own = 1 + slope * rng.normal(size=(raters, 1)), 0.5 * rng.normal(size=(raters, 1))
    table = slopes * worth + own + noise * rng.normal(size=(raters, pairs))
    return model, np.where(table > -1, 1.0, -1.0) if kind == "choices" else table


@cache
def _truth(raters: int, kind: str, ranks: bool) -> float:
    rng = np.random.default_rng(1)
    return float(np.mean([left_out(*judged(rng, 4_000, raters, kind), ranks=ranks)[0] for _ in range(100)]))


def _correlated(pairs: int, raters: int, kind: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    model, table = judged(rng, pairs, raters, kind)
    for ranks, measure in CORRELATIONS.items():
        found = correlation(model, table, ranks=ranks, seed=seed, resamples=400, noun="pairs")
        yield Trial((measure,), found, _truth(raters, kind, ranks))


@cache
def _mean_truth(pairs: int, raters: int, kind: str, ranks: bool) -> float:
    rng = np.random.default_rng(2)
    return float(np.mean([_within(rng, pairs, raters, kind, ranks)[:, 0].mean() for _ in range(300)]))


def _within(rng: np.random.Generator, pairs: int, raters: int, kind: str, ranks: bool) -> Array:
    """The correlations within paradigms, with all raters and without each."""
    model, table = judged(rng, pairs * _PARADIGMS, raters, kind)
    parts = np.arange(pairs * _PARADIGMS).reshape(_PARADIGMS, pairs)
    found: Array = np.array([left_out(model[part], table[:, part], ranks=ranks) for part in parts])
    known: Array = found[~np.isnan(found[:, 0])]  # where all choose the same sentence there is none
    return known


def _mean_of_correlations(pairs: int, raters: int, kind: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    for ranks, measure in CORRELATIONS.items():
        within = _within(rng, pairs, raters, kind, ranks)
        found = mean_over_raters(within[:, 0], within[:, 1:].T, noun="paradigms", bounds=(-1, 1))
        yield Trial((MEAN.format(measure, "paradigms"),), found, _mean_truth(pairs, raters, kind, ranks))


def _chosen(
    rng: np.random.Generator,
    paradigms: int,
    pairs: int,
    raters: int,
    noise: float,
    lean: float,
    own: float = 0.4,
    effects: Array | None = None,
) -> Array:
    """Choices of pairs in paradigms that differ by an sd of .4 where there are several, or by their `effects`, as
    raters' leanings do by that of their `own`."""
    drawn = 0.4 * (paradigms > 1) * rng.normal(size=paradigms)
    effect = np.repeat(drawn if effects is None else effects, pairs)
    worth = rng.normal(size=paradigms * pairs) + lean + effect
    table = worth + own * rng.normal(size=(raters, 1)) + noise * rng.normal(size=(raters, paradigms * pairs))
    return np.where(table > 0, 1.0, -1.0)


@cache
def _chosen_truth(several: bool, raters: int, noise: float, lean: float) -> tuple[float, float]:
    rng = np.random.default_rng(1)
    size = (200, 10) if several else (1, 2_000)
    tables = (_chosen(rng, *size, raters, noise, lean) for _ in range(60))
    value = float(np.mean([ceiling(table).value for table in tables]))
    same = (_chosen(rng, *size, raters, noise, lean, own=0) for _ in range(60))
    return value, float(np.mean([(majority(table) + 1) / 2 for table in same]))


def _against(
    paradigms: int, pairs: int, raters: int, noise: float, lean: float, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    truth = _chosen_truth(paradigms > 1, raters, noise, lean)
    labels = np.repeat(np.arange(paradigms), pairs).tolist()
    several = paradigms > 1
    noun = "paradigms" if several else "pairs"
    table = _chosen(rng, paradigms, pairs, raters, noise, lean)
    yield Trial((CEILING,), ceiling(table, clusters=labels if several else None, noun=noun), truth[0])
    # Shares are about these raters, whose leanings are therefore the same in all data sets.
    votes = (majority(_chosen(rng, paradigms, pairs, raters, noise, lean, own=0)) + 1) / 2
    shares = clustered_mean(votes, labels, noun=noun, proportion=True) if several else accuracy(votes)
    yield Trial((HUMAN_ACCURACY, AGAINST_MAJORITY, JUDGED_ACCURACY), shares, truth[1])


_EFFECTS = np.array([-0.6, -0.2, 0.2, 0.6])


@cache
def _fixed_truth(raters: int, noise: float, lean: float) -> float:
    rng = np.random.default_rng(3)
    tables = (_chosen(rng, 4, 500, raters, noise, lean, effects=_EFFECTS) for _ in range(60))
    return float(np.mean([ceiling(table).value for table in tables]))


def _same_paradigms(
    pairs: int, raters: int, noise: float, lean: float, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    table = _chosen(rng, 4, pairs, raters, noise, lean, effects=_EFFECTS)
    shown = tuple(fixed(CEILING, noun) for noun in ("paradigms", "bias types"))
    yield Trial(shown, ceiling(table, noun="pairs"), _fixed_truth(raters, noise, lean))


@cache
def _alpha_truths() -> tuple[float, float]:
    nominal, interval = _alphas(np.random.default_rng(5), 50_000, 0, 2)
    return nominal.truth, interval.truth


def _alphas(rng: np.random.Generator, units: int, seed: int, resamples: int) -> tuple[Trial, Trial]:
    worth = rng.normal(size=(units, 1))
    ratings = worth + rng.normal(size=(units, 4))
    choices = ratings > -0.8
    counts = np.stack([(~choices).sum(axis=1), choices.sum(axis=1)], axis=1)
    nominal = krippendorff_alpha(counts, domain=[-1, 1], scale="nominal", seed=seed, resamples=resamples)
    interval = interval_alpha(list(ratings), seed=seed, resamples=resamples)
    return (
        Trial((ALPHAS["choices"],), nominal, nominal.value),
        Trial((ALPHAS["ratings"],), interval, interval.value),
    )


def _agreement(units: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    for trial, truth in zip(_alphas(rng, units, seed, RESAMPLES), _alpha_truths(), strict=True):
        yield Trial(trial.shown, trial.estimate, truth)


def _all() -> Iterator[Simulation]:
    for kind in _KINDS:
        for pairs, raters in ((12, 3), (40, 5), (100, 10)):
            size = f"{pairs} pairs, {raters} raters"
            yield Simulation(SECTION, kind, size, partial(_correlated, pairs, raters, kind), SETS)
        size = f"{_PARADIGMS} paradigms of 30 pairs, 5 raters"
        yield Simulation(SECTION, kind, size, partial(_mean_of_correlations, 30, 5, kind), SETS)
    for noise, lean, share in ((1.5, 0.6, "two in three"), (0.7, 1.0, "four in five"), (0.5, 2.0, "nearly all")):
        data = f"choices, {share} alike"
        for pairs, raters in ((20, 4), (50, 5), (100, 9)):
            size = f"{pairs} pairs, {raters} raters"
            yield Simulation(SECTION, data, size, partial(_against, 1, pairs, raters, noise, lean), SETS)
        size = f"{_PARADIGMS} paradigms of 20 pairs, 5 raters"
        yield Simulation(SECTION, data, size, partial(_against, _PARADIGMS, 20, 5, noise, lean), SETS)
        size = "the same 4 paradigms of 15 pairs, 5 raters"
        yield Simulation(SECTION, data, size, partial(_same_paradigms, 15, 5, noise, lean), SETS)
    for units in (20, 60, 240):
        yield Simulation(SECTION, "choices and ratings of 4 raters", f"{units} pairs", partial(_agreement, units), SETS)


ALL = tuple(_all())
