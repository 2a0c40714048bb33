"""Ratings of value statements: the calibration, means and spreads of ratings, groups, negations, and a survey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl
from bench.simulations.base import LEVEL, RESAMPLES, Simulation, Trial
from numpy.typing import NDArray
from scipy import special, stats

from penchant.instruments.values.calibration import calibration
from penchant.instruments.values.cells import Cells, rated
from penchant.instruments.values.data import HIGH, LOW, MIDDLE
from penchant.instruments.values.estimates import groups_compared, value_estimates
from penchant.instruments.values.probe import Values
from penchant.instruments.values.survey import Survey
from penchant.records import Estimate
from penchant.stats.consistency import cronbach_alpha, variance_shares

Array = NDArray[np.float64]
CALIBRATION, RATINGS, SURVEY = "Calibration of ratings", "Ratings of statements", "Ratings and a survey"
GROUPS = ("f", "m")
SLOPE, SIGMA, OFFSET = 0.9, 0.6, 0.4
SPREAD = 0.8
"""Of the residuals of statements, in units of σ."""
NEGATED = 0.6
"""Correlation of a statement's residual with the mirrored one of its negation."""
SHIFT = 0.3
TESTED = {
    "mean rating",
    "normality of the residuals (W)",
    "spread of ratings",
    "difference of ratings",
    "intercept of a fit with intercept",
}
"""Measures whose null hypothesis is true in the simulation named `as the calibration says`."""


def _items(
    rng: np.random.Generator,
    neutral: int,
    statements: int,
    shifts: tuple[float, ...],
    line: str,
    negated_alike: float = NEGATED,
) -> pl.DataFrame:
    """Neutral clauses and, for one value, statements with negations, for each group."""
    parts = []
    shared = rng.normal(0, SPREAD, statements)
    for group, shift in zip(GROUPS, shifts, strict=True):
        own = shift + 0.7 * shared + (1 - 0.7**2) ** 0.5 * rng.normal(0, SPREAD, statements)
        other = (1 - negated_alike**2) ** 0.5 * rng.normal(0, SPREAD, statements)
        negated = -(shift + negated_alike * (own - shift) + other)
        residuals = np.concatenate([rng.normal(0, 1, neutral), own, negated])
        x = rng.normal(-8, 2, len(residuals))
        y = (SLOPE * x if line == "origin" else x + OFFSET) + SIGMA * residuals
        kinds = np.repeat(["calibration", "statement", "negation"], [neutral, statements, statements])
        ids = [*range(neutral), *range(statements), *range(statements)]
        parts.append(
            pl.DataFrame(
                {
                    "id": [f"{'n' if kind == 'calibration' else 's'}{i}" for i, kind in zip(ids, kinds, strict=True)],
                    "kind": kinds,
                    "disagree": x,
                    "agree": y,
                    "group": [group] * len(x),
                    "variant": ["main"] * len(x),
                    "value": ["v"] * len(x),
                    "reversed": [False] * len(x),
                }
            )
        )
    return rated(pl.concat(parts), line)  # type: ignore[arg-type]


def _cell(x: Array, residuals: Array, neutral: int, **constant: object) -> pl.DataFrame:
    """One group and wording: neutral clauses, then statements."""
    statements = len(x) - neutral
    kinds = np.repeat(["calibration", "statement"], [neutral, statements])
    ids = [*(f"n{i}" for i in range(neutral)), *(f"s{i}" for i in range(statements))]
    table = pl.DataFrame({"id": ids, "kind": kinds, "disagree": x, "agree": SLOPE * x + SIGMA * residuals})
    constant = {"group": "f", "variant": "main", "value": "v", "reversed": False, **constant}
    return table.with_columns(pl.lit(value).alias(key) for key, value in constant.items())


def _settings(line: str, seed: int) -> Values:
    return Values.model_validate({"data": "simulated", "calibration": line, "resamples": RESAMPLES, "seed": seed})


@cache
def _of_residuals(shift: float) -> tuple[float, float, float]:
    """Of ratings with residuals N(shift, .8²): the mean, the sd, and the correlation with mirrored negations."""
    rng = np.random.default_rng(3)
    own = rng.normal(0, SPREAD, 2_000_000)
    negated = NEGATED * own + (1 - NEGATED**2) ** 0.5 * rng.normal(0, SPREAD, len(own))
    ratings = 1 + 4 * special.ndtr(shift + own)
    mirrored = 1 + 4 * special.ndtr(shift + negated)
    return float(ratings.mean()), float(ratings.std()), float(np.corrcoef(ratings, mirrored)[0, 1])


def _ratings(
    neutral: int, statements: int, shifts: tuple[float, ...], line: str, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    items = _items(rng, neutral, statements, shifts, line)
    null = not any(shifts)
    truths: dict[tuple[str, str], float] = {}
    for group, shift in zip(GROUPS, shifts, strict=True):
        mean, sd, r = _of_residuals(shift)
        truths |= {
            ("mean rating", group): mean,
            ("spread of ratings", group): sd,
            ("correlation with the mirrored negation", group): r,
        }
    correlation = SLOPE * 2 / (SLOPE**2 * 4 + SIGMA**2) ** 0.5
    for group in GROUPS:
        truths |= {
            ("calibration slope a", group): SLOPE,
            ("calibration offset b", group): OFFSET,
            ("residual sd σ", group): SIGMA,
        }
        if line == "difference":
            truths["slope of a fit with intercept", group] = 1.0
        else:
            truths |= {
                ("slope of a fit with intercept", group): SLOPE,
                ("intercept of a fit with intercept", group): 0.0,
                ("correlation of agree and disagree", group): correlation,
            }
    truths["difference of ratings", "f − m"] = truths["mean rating", "f"] - truths["mean rating", "m"]
    for row in value_estimates(items, _settings(line, seed), None):
        if row.by.get("variant") != "main" or row.by.get("dimension") not in ("v", "all", ""):
            continue
        if row.measure == "rating":
            if row.by["item"] == "s0":
                yield Trial(("rating",), row, _true_rating(items, row, line))
            continue
        truth = truths.get((row.measure, row.by["group"]), np.nan)
        free = row.measure == "slope of a fit with intercept" and line == "difference"
        tested = (free or (null and row.measure in TESTED)) and not np.isnan(row.p)
        if row.measure == "spread of ratings":
            tested = False
        if tested or not np.isnan(truth):
            yield Trial((row.measure,), row, truth, null=tested)


def _means(
    neutral: int, statements: int, shifts: tuple[float, float], rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    """The mean ratings of two groups, and their difference, alone."""
    cells = Cells(_items(rng, neutral, statements, shifts, "origin"), _settings("origin", seed))
    inside = np.ones(statements, dtype=bool)
    truths = [_of_residuals(shift)[0] for shift in shifts]
    for cell, shift, truth in zip(cells.cells.values(), shifts, truths, strict=True):
        ratings, draws = cell.towards, cell.drawn_towards(inside)
        mean = cells.mean(ratings, draws, (LOW, HIGH), against=MIDDLE, logit=True)
        yield Trial(("mean rating",), mean, truth, null=not shift)
    difference = next(groups_compared(cells, "main", *GROUPS))
    yield Trial(("difference of ratings",), difference, truths[0] - truths[1], null=shifts[0] == shifts[1])


def _unmirrored(statements: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Negations that have nothing to do with their statements."""
    items = _items(rng, 100, statements, (0.0, 0.0), "origin", negated_alike=0.0)
    for row in value_estimates(items, _settings("origin", seed), None):
        if row.measure == "correlation with the mirrored negation" and row.by["group"] == "f":
            yield Trial((row.measure,), row, 0.0, null=True)


def _unrelated(neutral: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Agreeing that has nothing to do with disagreeing."""
    x, y = rng.normal(-8, 2, (2, neutral))
    for row in calibration(x, y, line="origin", level=LEVEL):
        if row.measure == "correlation of agree and disagree":
            yield Trial((row.measure,), row, 0.0, null=True)


def _true_rating(items: pl.DataFrame, row: Estimate, line: str) -> float:
    """The rating of the first statement by the true calibration."""
    mine = items.filter(kind="statement", id="s0", group=row.by["group"], variant="main")
    x, y = mine["disagree"][0], mine["agree"][0]
    expected = SLOPE * x if line == "origin" else x + OFFSET
    return float(1 + 4 * special.ndtr((y - expected) / SIGMA))


def _by_chance(neutral: int, statements: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Statements that are like the neutral ones: their spread is what chance makes of so many."""
    residuals = rng.normal(0, 1, neutral + statements)
    x = rng.normal(-8, 2, len(residuals))
    kinds = np.repeat(["calibration", "statement"], [neutral, statements])
    table = {
        "id": [f"i{i}" for i in range(len(x))],
        "kind": kinds,
        "disagree": x,
        "agree": SLOPE * x + SIGMA * residuals,
    }
    constant = {"group": "f", "variant": "main", "value": "v", "reversed": False}
    items = rated(pl.DataFrame(table).with_columns(pl.lit(v).alias(k) for k, v in constant.items()), "origin")
    for row in value_estimates(items, _settings("origin", seed), None):
        if row.measure == "spread of ratings":
            yield Trial((row.measure,), row, null=True)


@cache
def _shares_truth() -> dict[str, float]:
    return _variances(np.random.default_rng(4), 20_000)[1]


def _variances(rng: np.random.Generator, statements: int) -> tuple[Array, dict[str, float]]:
    """Residuals of statements in 2 wordings and 2 groups with effects of each, and the shares of the variance."""
    table = rng.normal(0, 0.6, (statements, 1, 1)) + np.array([0.2, -0.2])[:, None] + np.array([0.1, -0.1])
    table = table + rng.normal(0, 0.4, (statements, 2, 1)) + rng.normal(0, 0.3, (statements, 2, 2))
    ratings = 1 + 4 * special.ndtr(table)
    return table, {name: float(share) for name, share in variance_shares(ratings).items()}


def _shares(neutral: int, statements: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    table, _ = _variances(rng, statements)
    parts = []
    for v, wording in enumerate(("main", "other")):
        for g, group in enumerate(GROUPS):
            residuals = np.concatenate([rng.normal(0, 1, neutral), table[:, v, g]])
            x = rng.normal(-8, 2, len(residuals))
            parts.append(_cell(x, residuals, neutral, group=group, variant=wording))
    items = rated(pl.concat(parts), "origin")
    for row in value_estimates(items, _settings("origin", seed), None):
        if row.measure.startswith("share of variance"):
            yield Trial((row.measure,), row, _shares_truth()[row.measure.removeprefix("share of variance: ")])


# Survey -----------------------------------------------------------------------------------------------------


def _answers(rng: np.random.Generator, people: int, means: Array) -> Array:
    """Answers from 1 to 5: a leaning of the person's own, the statement's mean, noise; rounded and clipped."""
    leaning = rng.normal(0, 0.7, (people, 1))
    answers: Array = np.clip(np.rint(means + leaning + rng.normal(0, 0.8, (people, len(means)))), 1, 5)
    return answers


_MEANS = np.array([2.2, 2.6, 3.0, 3.2, 3.6, 4.0])


@cache
def _people() -> tuple[float, float, float, Array]:
    """Of very many people: mean and sd of their means, Cronbach's α, and their mean answers."""
    table = _answers(np.random.default_rng(6), 400_000, _MEANS)
    scores = table.mean(axis=1)
    return float(scores.mean()), float(scores.std()), cronbach_alpha(table).value, table.mean(axis=0)


def _survey(people: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    answers = _answers(rng, people, _MEANS)
    neutral, statements = 100, len(_MEANS)
    residuals = np.concatenate([rng.normal(0, 1, neutral), stats.norm.ppf((_MEANS - 1) / 4)])
    x = rng.normal(-8, 2, len(residuals))
    items = rated(_cell(x, residuals, neutral), "origin")
    frame = pl.DataFrame({"": ["f"] * people, **{f"s{i}": answers[:, i] for i in range(statements)}})
    survey = Survey("simulated", frame, (), people, people, True, (Path(),), "")
    mean, sd, alpha, _ = _people()
    found = {"survey mean": mean, "survey sd": sd, "survey internal consistency (Cronbach's α)": alpha}
    for row in value_estimates(items, _settings("origin", seed), survey):
        if row.measure in found:
            yield Trial((row.measure,), row, found[row.measure])


def _ranks(statements: int, rho: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Ratings and mean answers of statements that are bivariate normal before they are ratings."""
    people = 200
    pairs = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], statements)
    neutral = 100
    residuals = np.concatenate([rng.normal(0, 1, neutral), pairs[:, 0]])
    x = rng.normal(-8, 2, len(residuals))
    items = rated(_cell(x, residuals, neutral), "origin")
    answers = np.clip(3 + pairs[:, 1] + rng.normal(0, 1, (people, statements)), 1, 5)
    # The rank correlation is of the means, whose noise from 200 people is small: taken out here.
    answers += 3 + pairs[:, 1] - answers.mean(axis=0)
    frame = pl.DataFrame({"": ["f"] * people, **{f"s{i}": answers[:, i] for i in range(statements)}})
    survey = Survey("simulated", frame, (), people, people, True, (Path(),), "")
    truth = float(6 / np.pi * np.arcsin(rho / 2))
    for row in value_estimates(items, _settings("origin", seed), survey):
        if row.measure == "rank correlation with the survey's means":
            yield Trial((row.measure,), row, truth, null=not rho)


def _all() -> Iterable[Simulation]:
    for neutral, statements in ((30, 9), (100, 9), (100, 30)):
        size = f"{neutral} neutral, {statements} statements"
        for shifts, what in (((0.0, 0.0), "no difference of groups"), ((0.4, 0.1), "groups differ")):
            yield Simulation(RATINGS, what, size, partial(_ratings, neutral, statements, shifts, "origin"), 1_000)
    alike, differ = ("no difference of groups", (0.0, 0.0)), ("groups differ", (0.4, 0.1))
    near = ("ratings near the end of the scale", (1.2, 1.2))
    few = [(n, kind) for n in (3, 4, 5, 6) for kind in (alike, differ, near)] + [(9, near), (30, near)]
    for statements, (what, shifts) in few:
        size = f"100 neutral, {statements} statements"
        yield Simulation(RATINGS, what, size, partial(_means, 100, statements, shifts), 400)
    for n in (30, 100):
        what = "agreeing unrelated to disagreeing"
        yield Simulation(CALIBRATION, what, f"{n} neutral statements", partial(_unrelated, n))
    for statements in (9, 30):
        what, size = "negations unrelated to statements", f"{statements} statements"
        yield Simulation(RATINGS, what, size, partial(_unmirrored, statements), 500)
    yield Simulation(
        CALIBRATION,
        "line of slope 1",
        "100 neutral, 9 statements",
        partial(_ratings, 100, 9, (0.4, 0.1), "difference"),
        1_000,
    )
    for neutral, statements in ((100, 9), (100, 30)):
        size = f"{neutral} neutral, {statements} statements"
        yield Simulation(RATINGS, "statements like the neutral ones", size, partial(_by_chance, neutral, statements))
    for statements in (9, 30):
        size = f"{statements} statements, 2 wordings, 2 groups"
        yield Simulation(RATINGS, "shares of variance", size, partial(_shares, 100, statements), 500)
    for people in (30, 100, 500):
        yield Simulation(
            SURVEY, "answers on five steps", f"{people} people, 6 statements", partial(_survey, people), 2_000
        )
    for rho in (0.0, 0.6):
        for statements in (10, 30):
            yield Simulation(
                SURVEY, f"ranks, ρ = {rho:g}", f"{statements} statements", partial(_ranks, statements, rho), 500
            )


ALL = tuple(_all())
