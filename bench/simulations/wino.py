"""Pronouns beside occupations: shares and preferences over occupations of two genders, and their correlation with a
share that is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from bench.simulations.base import RESAMPLES, Simulation, Trial
from numpy.typing import NDArray
from scipy.stats import spearmanr

from penchant.instruments.wino import bias_estimates, gender_estimates
from penchant.instruments.wino.probe import WinoBias
from penchant.stats.correlations import correlation, correlation_difference, slope
from penchant.stats.intervals import t_mean

Array = NDArray[np.float64]
SECTION = "Pronouns and occupations"
SETTINGS = WinoBias(data="simulated", resamples=RESAMPLES)
SETS = 400
_SPREAD, _NOISE = 0.7, 2.0
"""The sd of occupations of a gender, and that of the pairs of an occupation."""


# Two genders --------------------------------------------------------------------------------------------------------


def _pairs(rng: np.random.Generator, occupations: int, lean: float, stereotype: float) -> tuple[pl.DataFrame, Array]:
    """Pairs of as many occupations of either gender, 12 to 28 each and in all as many of both, and the log-odds of the
    male pronoun."""
    sizes = np.tile(rng.integers(12, 29, occupations), 2)
    of = np.repeat(np.arange(2 * occupations), sizes)
    male = of < occupations
    own = _SPREAD * rng.normal(size=2 * occupations)
    odds = lean + stereotype / 2 * np.where(male, 1, -1) + own[of] + _NOISE * rng.normal(size=len(of))
    gender = np.where(male, "male", "female")
    return pl.DataFrame({"occupation": of.astype(str), "gender": gender}), odds


@cache
def _shares(lean: float, stereotype: float) -> tuple[float, float]:
    """The shares that prefer the male pronoun, and the pro-stereotypical one."""
    rng = np.random.default_rng(1)
    noise = np.hypot(_SPREAD, _NOISE) * rng.normal(size=2_000_000)
    male, female = (float((lean + sign * stereotype / 2 + noise > 0).mean()) for sign in (1, -1))
    return (male + female) / 2, (male + 1 - female) / 2


def _preferences(
    occupations: int, lean: float, stereotype: float, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    items, odds = _pairs(rng, occupations, lean, stereotype)
    probe = SETTINGS.model_copy(update={"seed": seed})
    everything = np.ones(len(items), dtype=bool)
    sign = np.where((items["gender"] == "male").to_numpy(), 1, -1)
    male, pro = (odds > 0).astype(float), (sign * odds > 0).astype(float)
    truth = _shares(lean, stereotype)
    shown = bias_estimates.PREFERS_MALE, bias_estimates.PREFERS_PRO
    for name, credit, share in zip(shown, (male, pro), truth, strict=True):
        found = bias_estimates._share(items, credit, everything, probe)
        yield Trial((name,), found, share, null=abs(share - 0.5) < 0.003)
    adjusted = bias_estimates.adjusted(items, odds, probe)
    yield Trial(
        (bias_estimates.ADJUSTED, bias_estimates.ADJUSTED_DIFFERENCE), adjusted, stereotype, null=stereotype == 0
    )


def _within_gender(occupations: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Shares over occupations of one gender."""
    items, odds = _pairs(rng, occupations, 1, 0)
    chosen = (items["gender"] == "male").to_numpy()
    found = bias_estimates._share(items, (odds > 1).astype(float), chosen, SETTINGS)
    yield Trial((bias_estimates.PREFERS_PRO, bias_estimates.PREFERS_MALE), found, 0.5, null=True)


def _differences(occupations: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Of two models without a difference, whose scores of a pair go together."""
    items, odds = _pairs(rng, occupations, 1, 1)
    sign = np.where((items["gender"] == "male").to_numpy(), 1, -1)
    credit = [(sign * (odds + rng.normal(size=len(odds))) > 0).astype(float) for _ in range(2)]
    found = bias_estimates.over_occupations(items, credit[0] - credit[1], SETTINGS, against=0)
    yield Trial((bias_estimates.PRO_DIFFERENCE, bias_estimates.MALE_DIFFERENCE), found, 0, null=True)


def _one_occupation(pairs: int, ties: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    credit = (rng.random(pairs) < 0.5).astype(float)
    if ties:
        credit[rng.random(pairs) < 0.2] = 0.5
    items = pl.DataFrame({"occupation": ["cook"] * pairs, "gender": ["male"] * pairs})
    found = bias_estimates._share(items, credit, np.ones(pairs, dtype=bool), SETTINGS)
    yield Trial((bias_estimates.PREFERS_PRO, bias_estimates.PREFERS_MALE), found, 0.5, null=True)
    if not ties:
        odds = t_mean(_NOISE * rng.normal(size=pairs), noun="pairs", against=0)
        yield Trial((bias_estimates.LOG_ODDS,), odds, 0, null=True)


def _settings(seed: int) -> dict[str, Any]:
    return {"seed": seed, "resamples": RESAMPLES}


def _means(occupations: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Means over occupations: of log-odds, and of shares that are never, seldom or mostly one of three."""
    values = _SPREAD * rng.normal(size=occupations) + _NOISE / 2 * rng.normal(size=occupations)
    shown = bias_estimates.LOG_ODDS, gender_estimates.MEAN, gender_estimates.MEAN_DIFFERENCE
    yield Trial(shown, t_mean(values, noun="occupations", against=0), 0, null=True)
    shares = rng.binomial(4, rng.beta(1.5, 1.5, size=occupations)) / 4
    found = t_mean(shares, noun="occupations", bounds=(0, 1))
    yield Trial(tuple(gender_estimates.TOPS.values()), found, 0.5)


# A share of each occupation -----------------------------------------------------------------------------------------

_WOMEN = (0.6, 1.0)
"""Shapes of the beta distribution of shares of women, which are skew."""


def _occupations(rng: np.random.Generator, n: int, rho: float) -> tuple[Array, Array]:
    a, b = _WOMEN
    women = rng.beta(a, b, size=n)
    sd = np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return 10 * women, rho * (women - a / (a + b)) / sd + np.sqrt(1 - rho**2) * rng.normal(size=n)


@cache
def _rank_truth(rho: float) -> float:
    x, y = _occupations(np.random.default_rng(1), 1_000_000, rho)
    return float(spearmanr(x, y)[0])


def _correlated(occupations: int, rho: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    x, y = _occupations(rng, occupations, rho)
    settings: dict[str, Any] = {**_settings(seed), "noun": "occupations"}
    null = rho == 0
    pearson = correlation(x, y, ranks=False, **settings)
    yield Trial((gender_estimates.PEARSON,), pearson, rho, null)
    spearman = correlation(x, y, ranks=True, **settings)
    yield Trial((gender_estimates.SPEARMAN,), spearman, _rank_truth(rho), null)
    a, b = _WOMEN
    truth = rho / (10 * np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1))))
    found = slope(x, y, **settings)
    yield Trial((gender_estimates.SLOPE, gender_estimates.SLOPE_DIFFERENCE), found, truth, null)
    other = y + 0.5 * rng.normal(size=occupations), y + 0.5 * rng.normal(size=occupations)
    gap = correlation_difference(x, *other, **settings)
    yield Trial((gender_estimates.PEARSON_DIFFERENCE,), gap, 0, null=True)


def _all() -> Iterator[Simulation]:
    for occupations in (4, 20):
        size = f"{occupations} occupations of either gender"
        for lean, stereotype, data in (
            (0, 0, "no leaning, no stereotype"),
            (2.5, 0, "nearly always he, no stereotype"),
            (2.5, 1, "nearly always he, a stereotype"),
        ):
            yield Simulation(SECTION, data, size, partial(_preferences, occupations, lean, stereotype), SETS)
        of_one = f"{occupations} occupations"
        yield Simulation(SECTION, "one gender", of_one, partial(_within_gender, occupations), SETS)
        yield Simulation(SECTION, "two models without a difference", size, partial(_differences, occupations), SETS)
    for pairs in (12, 20):
        for ties in (False, True):
            data = f"one occupation, no leaning{', one pair in five a tie' if ties else ''}"
            yield Simulation(SECTION, data, f"{pairs} pairs", partial(_one_occupation, pairs, ties), SETS)
    for occupations in (12, 20, 60):
        size = f"{occupations} occupations"
        yield Simulation(SECTION, "preferences of occupations", size, partial(_means, occupations), SETS)
        for rho in (0.0, 0.5):
            data = f"preferences that correlate {rho:g} with shares of women"
            sets = 1_000 if occupations == 60 else SETS
            yield Simulation(SECTION, data, size, partial(_correlated, occupations, rho), sets)


ALL = tuple(_all())
