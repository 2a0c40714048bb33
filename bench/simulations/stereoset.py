"""StereoSet: scores over target terms that are a sample, of single terms, by token length, and between two models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from bench.simulations.base import RESAMPLES, Simulation, Trial, sized
from numpy.typing import NDArray

from penchant.instruments.stereoset import compare
from penchant.instruments.stereoset.estimates import (
    ALL,
    ICAT,
    LMS,
    OVER_CLUSTERS,
    OVER_TERMS,
    OVERALL,
    SLOPE,
    SS,
    UNEQUAL,
    Credits,
    _by_length,
    _of_group,
    _of_term,
    ideal,
)
from penchant.instruments.stereoset.probe import StereoSet

SECTION = "StereoSet"
SETS = 1_000
MEANS = (OVER_TERMS, OVER_CLUSTERS)
SETTINGS = StereoSet(data="simulated", resamples=RESAMPLES)
_SPREAD = 40.0
"""a + b of the beta distribution that the preferences of terms have: sd .08 around one half, as real models have."""
Shares = NDArray[np.float64]


def _terms(rng: np.random.Generator, terms: int) -> NDArray[np.str_]:
    """The term of every cluster: from 20 to 33 clusters each, as in the published set."""
    return np.repeat(np.array([f"t{i:03d}" for i in range(terms)]), rng.integers(20, 34, terms))


def _shares(rng: np.random.Generator, mean: float, of: NDArray[np.intp]) -> Shares:
    """The probability of every cluster, that of its term."""
    each: Shares = rng.beta(mean * _SPREAD, (1 - mean) * _SPREAD, int(of.max()) + 1)
    return each[of]


def _won(rng: np.random.Generator, share: Shares) -> Shares:
    return (rng.random(len(share)) < share).astype(np.float64)


def _credits(rng: np.random.Generator, terms: NDArray[np.str_], ss: float, lms: float) -> Credits:
    of = np.unique(terms, return_inverse=True)[1]
    preferred, meant = _won(rng, _shares(rng, ss, of)), _shares(rng, lms, of)
    return Credits(preferred, (_won(rng, meant) + _won(rng, meant)) / 2, terms, np.zeros(len(terms), dtype=bool))


def _overall(terms: int, ss: float, mean: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    lms = 0.8
    credit = _credits(rng, _terms(rng, terms), ss, lms)
    truths = {SS: 100 * ss, LMS: 100 * lms, ICAT: float(ideal(100 * ss, 100 * lms))}
    for estimate in _of_group(credit, OVERALL, ALL, SETTINGS.model_copy(update={"seed": seed})):
        if estimate.measure in truths and estimate.by["mean"] == mean:
            tested = estimate.measure == SS and ss == 0.5
            yield Trial((estimate.measure,), estimate, truths[estimate.measure], null=tested)


def _senseless(terms: int, mean: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """A model that prefers sense as often as nonsense."""
    credit = _credits(rng, _terms(rng, terms), 0.5, 0.5)
    for estimate in _of_group(credit, OVERALL, ALL, SETTINGS.model_copy(update={"seed": seed, "resamples": 20})):
        if estimate.measure == LMS and estimate.by["mean"] == mean:
            yield Trial((LMS,), estimate, 50.0, null=True)


def _of_one(clusters: int, ss: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    meant = np.full(clusters, 0.8)
    credit = Credits(
        _won(rng, np.full(clusters, ss)),
        (_won(rng, meant) + _won(rng, meant)) / 2,
        np.repeat("t", clusters),
        np.zeros(clusters, dtype=bool),
    )
    truths = {SS: 100 * ss, LMS: 80.0, ICAT: float(ideal(100 * ss, 80.0))}
    for estimate in _of_term(credit, "t", SETTINGS.model_copy(update={"seed": seed})):
        yield Trial((estimate.measure,), estimate, truths[estimate.measure], null=estimate.measure == SS and ss == 0.5)


def _lengths(terms: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    credit = _credits(rng, _terms(rng, terms), 0.55, 0.8)
    difference = rng.choice([-2, -1, 0, 1, 2], len(credit.ss), p=[0.05, 0.2, 0.5, 0.2, 0.05]).astype(np.int32)
    truths = {SS: 55.0, UNEQUAL: 50.0, SLOPE: 0.0}
    for estimate in _by_length(credit, difference, SETTINGS):
        if estimate.by.get("lengths") in ("s>a", "s<a"):
            continue  # made as that of equal lengths is
        yield Trial((estimate.measure,), estimate, truths[estimate.measure], null=estimate.measure == SLOPE)


def _models(terms: int, gain: float, mean: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two models whose SS and LMS differ by `gain`; half of the clusters are alike for both."""
    names = _terms(rng, terms)
    one = _credits(rng, names, 0.5 + gain, 0.7 + gain)
    other = _credits(rng, names, 0.5, 0.7)
    if not gain:
        same = rng.random(len(names)) < 0.5
        other = Credits(np.where(same, one.ss, other.ss), np.where(same, one.lms, other.lms), names, other.tied)
    settings = SETTINGS.model_copy(update={"seed": seed})
    for estimate in compare._of_group(one, other, OVERALL, ALL, settings):
        if estimate.by["mean"] == mean:
            yield Trial((estimate.measure,), estimate, 100 * gain, null=not gain)


def _all() -> Iterator[Simulation]:
    for ss in (0.5, 0.6):
        for n, size in sized((9, 21, 79), "terms, 20 to 33 clusters each"):
            for mean in MEANS:
                data = f"SS {100 * ss:g}, LMS 80, {mean}"
                yield Simulation(SECTION, data, size, partial(_overall, n, ss, mean), SETS)
    for n, size in sized((9, 21, 79), "terms, 20 to 33 clusters each"):
        for mean in MEANS:
            yield Simulation(SECTION, f"SS 50, LMS 50, {mean}", size, partial(_senseless, n, mean), SETS)
    for ss in (0.5, 0.7):
        for n, size in sized((27, 54), "clusters of a term"):
            yield Simulation(SECTION, f"a term of SS {100 * ss:g}, LMS 80", size, partial(_of_one, n, ss), SETS)
    for n, size in sized((9, 79), "terms, 20 to 33 clusters each"):
        yield Simulation(SECTION, "lengths that do not matter", size, partial(_lengths, n), SETS)
    for gain, what in ((0.0, "two models alike"), (0.1, "two models, SS and LMS 10 apart")):
        for n, size in sized((9, 79), "terms, 20 to 33 clusters each"):
            for mean in MEANS:
                yield Simulation(SECTION, f"{what}, {mean}", size, partial(_models, n, gain, mean), SETS)


SIMULATIONS = tuple(_all())
