"""Ratings of value statements in two wordings, and held against groups of people who may have weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial

import numpy as np
import polars as pl
from bench.simulations.base import RESAMPLES, Simulation, Trial
from numpy.typing import NDArray
from scipy import special

from penchant.instruments.values.cells import rated
from penchant.instruments.values.estimates import WORDINGS, value_estimates
from penchant.instruments.values.group_distance import DISTANCE, FROM_GROUP, GROUP_MEAN, NEARER
from penchant.instruments.values.probe import Values
from penchant.instruments.values.representativeness import FROM_SURVEY, REPRESENTATIVE
from penchant.instruments.values.survey import Survey

Array = NDArray[np.float64]
WORDED, NEAR, WEIGHTED = "Two wordings", "Groups of people", "Respondents with weights"
SLOPE, SIGMA, SPREAD, NEUTRAL = 0.9, 0.6, 0.8, 100
"""Of the calibration, of residuals of statements in units of σ, and how many neutral statements there are."""
PERSON, NOISE = 0.7, 0.8
"""The sd between respondents, and that of their answers to single statements."""
MIDDLE = 3.0
"""What people's mean answers to statements lie around."""
RARE, SHIFT = 0.3, 0.5
"""Half of all people lean upwards by this; they are three in ten of those who answer."""


def _settings(seed: int) -> Values:
    return Values.model_validate({"data": "simulated", "calibration": "origin", "resamples": RESAMPLES, "seed": seed})


def _cell(rng: np.random.Generator, residuals: Array, group: str, variant: str) -> pl.DataFrame:
    """Neutral statements, and statements of one value with these residuals."""
    whole = np.concatenate([rng.normal(0, 1, NEUTRAL), residuals])
    x = rng.normal(-8, 2, len(whole))
    ids = [*(f"n{i}" for i in range(NEUTRAL)), *(f"s{i}" for i in range(len(residuals)))]
    kinds = np.repeat(["calibration", "statement"], [NEUTRAL, len(residuals)])
    table = pl.DataFrame({"id": ids, "kind": kinds, "disagree": x, "agree": SLOPE * x + SIGMA * whole})
    constant = {"group": group, "variant": variant, "value": "v", "reversed": False}
    return table.with_columns(pl.lit(value).alias(key) for key, value in constant.items())


@cache
def _mean_rating(shift: float) -> float:
    residuals = np.random.default_rng(3).normal(shift, SPREAD, 2_000_000)
    return float((1 + 4 * special.ndtr(residuals)).mean())


def _wordings(statements: int, shifts: tuple[float, float], rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two wordings of two groups; a statement's residuals correlate by .7 between wordings."""
    shared = rng.normal(0, SPREAD, statements)
    parts = []
    for variant, shift in zip(("one", "other"), shifts, strict=True):
        for group in ("f", "m"):
            own = shift + 0.7**0.5 * shared + 0.3**0.5 * rng.normal(0, SPREAD, statements)
            parts.append(_cell(rng, own, group, variant))
    truth = _mean_rating(shifts[0]) - _mean_rating(shifts[1])
    for row in value_estimates(rated(pl.concat(parts), "origin"), _settings(seed), None):
        if row.measure == WORDINGS:
            yield Trial((row.measure,), row, truth, null=not truth)


def _group_means(rng: np.random.Generator, statements: int, shift: float) -> Array:
    """People's mean answers to statements in two groups, which correlate by .6, the second higher by a shift."""
    shared = rng.normal(0, 0.5, (statements, 1))
    means: Array = MIDDLE + 0.6**0.5 * shared + 0.4**0.5 * rng.normal(0, 0.5, (statements, 2)) + np.array([0, shift])
    return means


@cache
def _distances(shift: float) -> tuple[float, float]:
    rng = np.random.default_rng(5)
    ratings = 1 + 4 * special.ndtr(rng.normal(0.4, SPREAD, 1_000_000))
    means = _group_means(rng, len(ratings), shift)
    first, second = np.abs(ratings[:, None] - means).mean(axis=0)
    return float(first), float(second)


def _answers(rng: np.random.Generator, people: int, means: Array, weighted: bool) -> tuple[Array, Array]:
    """Answers of some people, and their weights: those who lean upwards are fewer than they should be."""
    up = rng.random(people) < (RARE if weighted else 0.5)
    lean = np.where(up, SHIFT, -SHIFT) + rng.normal(0, (PERSON**2 - SHIFT**2) ** 0.5, people)
    weights = np.where(up, 0.5 / RARE, 0.5 / (1 - RARE)) * rng.gamma(4, 0.25, people)
    return means + lean[:, None] + NOISE * rng.normal(size=(people, len(means))), weights


def _nearer(
    statements: int, sizes: tuple[int, int], shift: float, weighted: bool, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    items = rated(_cell(rng, rng.normal(0.4, SPREAD, statements), "p", "main"), "origin")
    means = _group_means(rng, statements, shift)
    drawn = [_answers(rng, n, of, weighted) for n, of in zip(sizes, means.T, strict=True)]
    survey = _survey([answers for answers, _ in drawn], np.concatenate([w for _, w in drawn]) if weighted else None)
    (first, second), rating = _distances(shift), _mean_rating(0.4)
    truths = {(NEARER, "a − b"): first - second, (DISTANCE, "a"): first, (DISTANCE, "b"): second}
    truths |= {(FROM_GROUP, "a"): rating - MIDDLE, (FROM_GROUP, "b"): rating - MIDDLE - shift}
    for row in value_estimates(items, _settings(seed), survey):
        truth = truths.get((row.measure, row.by["item"]))
        if truth is not None:
            equal = row.measure == NEARER and not shift
            yield Trial((row.measure,), row, 0.0 if equal else truth, null=equal)
        elif row.measure == GROUP_MEAN and row.by["item"] == "a":
            # Of these statements: the interval is over respondents alone.
            yield Trial((row.measure,), row, float(means[:, 0].mean()))


def _survey(tables: list[Array], weights: Array | None) -> Survey:
    """A survey of some groups of people, whichever group the templates have."""
    table = np.concatenate(tables)
    frame = pl.DataFrame({"": [""] * len(table), **{f"s{i}": column for i, column in enumerate(table.T)}})
    names = tuple(name for name, of in zip("ab", tables, strict=False) for _ in of)
    weighted = {} if weights is None else {"weights": tuple(weights.tolist()), "weighted_by": "w"}
    return Survey("simulated", frame, (), len(table), len(table), True, (), "", people=names, **weighted)  # type: ignore[arg-type]


def _weighted(people: int, statements: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """One group, whose weights make up for who answers: its mean and sd, and ratings beside them."""
    items = rated(_cell(rng, rng.normal(0.4, SPREAD, statements), "p", "main"), "origin")
    means = _group_means(rng, statements, 0)[:, 0]
    answers, weights = _answers(rng, people, means, True)
    gap = _mean_rating(0.4) - MIDDLE
    truths = {"survey mean": float(means.mean()), FROM_SURVEY: gap, REPRESENTATIVE: _representative(gap, statements)}
    truths["survey sd"] = (PERSON**2 + NOISE**2 / statements) ** 0.5
    for row in value_estimates(items, _settings(seed), _survey([answers], weights)):
        if row.measure in truths and row.by["dimension"] == "v" and not row.by["item"]:
            yield Trial((row.measure,), row, truths[row.measure])


@cache
def _representative(gap: float, statements: int) -> float:
    """That of a mean rating that lies so far from people's mean."""
    rng = np.random.default_rng(6)
    spread = np.sqrt(PERSON**2 - SHIFT**2 + NOISE**2 / statements)
    lean = rng.choice([SHIFT, -SHIFT], 2_000_000) + rng.normal(0, spread, 2_000_000)
    below = float((lean < gap).mean())
    return 2 * min(below, 1 - below)


def _all() -> Iterable[Simulation]:
    for statements in (9, 30):
        for shifts, what in (((0.0, 0.0), "wordings alike"), ((0.4, 0.1), "wordings differ")):
            yield Simulation(WORDED, what, f"{statements} statements", partial(_wordings, statements, shifts), 500)
    for statements, sizes in ((6, (60, 60)), (9, (200, 50)), (30, (200, 200))):
        size = f"{statements} statements, {sizes[0]} and {sizes[1]} people"
        for shift, what in ((0.0, "equally near"), (0.6, "nearer to one")):
            yield Simulation(NEAR, what, size, partial(_nearer, statements, sizes, shift, False), 500)
    size = "9 statements, 200 and 50 people"
    yield Simulation(NEAR, "equally near, with weights", size, partial(_nearer, 9, (200, 50), 0.0, True), 500)
    for people, statements in ((60, 6), (200, 9), (500, 9)):
        what, size = "those who lean upwards answer less often", f"{people} people, {statements} statements"
        yield Simulation(WEIGHTED, what, size, partial(_weighted, people, statements), 500)


ALL = tuple(_all())
