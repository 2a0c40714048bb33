"""Means over sentences and statements, over raters too, and what is said of two models that do not differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

import numpy as np
from bench.simulations.base import LEVEL, RESAMPLES, Simulation, Trial, sized
from numpy.typing import NDArray
from scipy import stats

from penchant.stats.agreement import krippendorff_alpha
from penchant.stats.equivalence import detectable, equivalent, narrower
from penchant.stats.intervals import t_mean
from penchant.stats.rated_mean import mean_over_raters

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]
SECTION = "Means over sentences"
NONE_FOUND = "Where no difference is found"
SHOWN = ("mean β", "mean δ", "mean rated share", "difference of mean β", "difference of mean δ")


def _normal(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(0.1, 0.15, n)


def _exponential(rng: np.random.Generator, n: int) -> Array:
    return rng.exponential(0.1, n)


def _rare(rng: np.random.Generator, n: int) -> Array:
    """Nine of ten near 0, one of ten about −.6: skewness −2.5, as β where few sentences have a rated prediction."""
    return np.where(rng.random(n) < 0.1, rng.uniform(-1, -0.2, n), rng.normal(0, 0.05, n))


def _lognormal(rng: np.random.Generator, n: int) -> Array:
    return rng.lognormal(-2.5, 1, n)


def _sparse(rng: np.random.Generator, n: int) -> Array:
    """Three of four are 0, the others on either side of it: β where most sentences have no rated prediction."""
    return np.where(rng.random(n) < 0.75, 0.0, rng.uniform(-0.3, 0.6, n))


def _one_sided(rng: np.random.Generator, n: int) -> Array:
    """Three of four are 0, the others below it, most of them near and a few far: β of a model in another's English."""
    return np.where(rng.random(n) < 0.75, 0.0, -np.minimum(1, rng.lognormal(-4, 1.5, n)))


def _one_sided_mean() -> float:
    """Of min(1, X) with X lognormal(−4, 1.5), of which a fourth is not 0."""
    m, s = -4, 1.5
    below = math.exp(m + s * s / 2) * stats.norm.cdf((-m - s * s) / s)
    return float(-0.25 * (below + stats.norm.sf(-m / s)))


_SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (_normal, 0.1),
    "exponential (skewness 2)": (_exponential, 0.1),
    "nine of ten near 0, one of ten about −.6 (skewness −2.5)": (_rare, -0.06),
    "lognormal (skewness 6)": (_lognormal, math.exp(-2)),
    "three of four 0, the others on both sides": (_sparse, 0.25 * 0.15),
    "three of four 0, the others on one side, a few far": (_one_sided, _one_sided_mean()),
}


def _mean(kind: str, n: int, groups: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    draw, truth = _SHAPES[kind]
    estimate = t_mean(draw(rng, n), strata=np.arange(n) % groups, bounds=(-2, 2), against=truth)
    yield Trial(SHOWN, estimate, truth, null=True)


def _distance(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    values = np.abs(rng.normal(0, 1, n))
    estimate = t_mean(values, noun="statements", bounds=(0, 4))
    yield Trial(("distance from the mirrored negation",), estimate, float(np.sqrt(2 / np.pi)))


# Raters -----------------------------------------------------------------------------------------------------

_RATED = tuple(f"{measure}, for other raters too" for measure in ("mean β", "mean δ"))
_RATED_GAP = tuple(f"difference of {measure}" for measure in _RATED)


def rated(rng: np.random.Generator, sentences: int, raters: int, lean: float) -> tuple[Array, Array]:
    """Return the expected lean of sentences, and the β of each by each rater.

    There are six words on the scale of five, and raters differ by noise of .35 and a leaning of their own.
    """
    rho = rng.choice([-1.0, 1.0], sentences)
    p = rng.dirichlet(np.full(6, 0.6), sentences) * rng.uniform(0.4, 0.9, (sentences, 1))
    worth = np.clip(rng.normal(0.25 * rho[:, None], 0.55, (sentences, 6)), -1, 1)
    own = rng.normal(0, lean, raters) + rng.normal(0, 0.35, (sentences, 6, raters))
    ratings = np.clip(np.round(2 * (worth[..., None] + own)) / 2, -1, 1)
    return rho, np.einsum("sk,skr->sr", p, ratings)


def suits(rho: Array, betas: Array) -> Array:
    fits: Array = 1 - np.abs(rho - betas) / 2
    return fits


@cache
def _truth(lean: float) -> tuple[float, float]:
    rho, betas = rated(np.random.default_rng(1), 4_000, 400, lean)
    return float(betas.mean()), float(suits(rho, betas.mean(axis=1)).mean())


def _over_raters(sentences: int, raters: int, lean: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    rho, betas = rated(rng, sentences, raters, lean)
    without = np.array([np.delete(betas, r, axis=1).mean(axis=1) for r in range(raters)])
    beta, delta = _truth(lean)
    yield Trial((_RATED[0], _RATED_GAP[0]), mean_over_raters(betas.mean(axis=1), without), beta)
    fits = mean_over_raters(suits(rho, betas.mean(axis=1)), suits(rho, without))
    yield Trial((_RATED[1], _RATED_GAP[1]), fits, delta)


@cache
def _alpha_truth() -> float:
    return krippendorff_alpha(_judged(np.random.default_rng(5), 100_000, 3), domain=_SCALE, seed=0, resamples=2).value


_SCALE = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])


def _judged(rng: np.random.Generator, units: int, raters: int) -> NDArray[np.int64]:
    worth = rng.normal(0, 0.5, (units, 1))
    ratings = np.clip(np.round(2 * (worth + rng.normal(0, 0.35, (units, raters)))) / 2, -1, 1)
    counts: NDArray[np.int64] = (ratings[..., None] == _SCALE).sum(axis=1)
    return counts


def _agreement(units: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    alpha = krippendorff_alpha(_judged(rng, units, 3), domain=_SCALE, seed=seed, resamples=RESAMPLES)
    yield Trial(("Krippendorff's alpha (ordinal)",), alpha, _alpha_truth())


# No difference ------------------------------------------------------------------------------------------------


def _equal(kind: str, n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two one-sided tests where the difference is the bound itself: should say "within it" in 5 % of data sets."""
    draw, truth = _SHAPES[kind]
    values = draw(rng, n)
    tight = t_mean(values, level=narrower(LEVEL))
    shown = equivalent(tight.low, tight.high, abs(truth))
    test = "two one-sided tests of a difference within a bound"
    yield Trial(("equality within a bound",), tight.tested(0.0 if shown else 1.0, None), null=True, test=test)


def _found(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """A difference as large as the smallest detectable one of other data of this size: should be found in 80 %."""
    pilot = t_mean(_normal(rng, n))
    size = detectable(pilot.low, pilot.high, LEVEL)
    moved = t_mean(_normal(rng, n) - 0.1 + size, against=0.0)
    yield Trial(("smallest detectable difference",), moved, null=True)


def _all() -> Iterable[Simulation]:
    for kind in _SHAPES:
        for n, size in sized((10, 20, 60, 240), "sentences"):
            yield Simulation(SECTION, f"values: {kind}", size, partial(_mean, kind, n, 1), 2_000)
        for n, size in sized((20, 60), "sentences in 2 groups"):
            yield Simulation(SECTION, f"values: {kind}", size, partial(_mean, kind, n, 2), 2_000)
    for n, size in sized((9, 40), "statements"):
        yield Simulation(SECTION, "distances: half-normal", size, partial(_distance, n), 2_000)
    for lean, how in ((0.1, "alike"), (0.25, "of different leanings")):
        for raters in (2, 3, 5):
            for n in (20, 60):
                size = f"{n} sentences, {raters} raters"
                yield Simulation(SECTION, f"raters {how}", size, partial(_over_raters, n, raters, lean), 2_000)
    for n, size in sized((20, 60, 240), "units, 3 raters"):
        yield Simulation(SECTION, "ratings on five steps, α = .62", size, partial(_agreement, n))
    for kind in ("normal", "exponential (skewness 2)"):
        for n, size in sized((20, 60, 240), "sentences"):
            data = f"a difference as large as the bound, values {kind}"
            yield Simulation(SECTION, data, size, partial(_equal, kind, n))
    for n, size in sized((20, 60, 240), "sentences"):
        yield Simulation(NONE_FOUND, "a difference of the detectable size", size, partial(_found, n), 2_000)


ALL = tuple(_all())
