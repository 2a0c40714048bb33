"""Accuracy over the checkpoints of a training: where it changes, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
from bench.simulations.base import LEVEL, RESAMPLES, Simulation, Trial, sized
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from penchant.instruments.minimal_pairs.training_curve import (
    ACQUIRED,
    AFTER,
    BEFORE,
    best_part,
    change_point,
    estimates_of,
)

Array = NDArray[np.float64]
SECTION = "Training curves"
CHECKPOINTS = 12
STEPS = [2**n for n in range(CHECKPOINTS)]
OF_PAIR, OF_NEXT = 0.4, 0.8
"""Share of the variance of a pair's latent difficulty that stays, and correlation of the rest with the next step's."""
CURVES = {
    "from .5 to .8 at the sixth checkpoint": np.repeat([0.5, 0.8], [5, 7]),
    "from .5 to .6 at the sixth checkpoint": np.repeat([0.5, 0.6], [5, 7]),
    "from .5 to .8 at the eleventh checkpoint": np.repeat([0.5, 0.8], [10, 2]),
    "from .5 to .65 at the fourth and to .8 at the ninth checkpoint": np.repeat([0.5, 0.65, 0.8], [3, 5, 4]),
    "a slow rise from .5 to .9": 0.5 + 0.4 * expit((np.arange(CHECKPOINTS) - 6.3) / 1.2),
}
FLAT = {".5 at all checkpoints": 0.5, ".9 at all checkpoints": 0.9}
NEAR_CEILING = ((0.95, 100, 8), (0.97, 200, 12), (0.97, 50, 8), (0.95, 100, 20))
"""Accuracies, pairs and checkpoints at which single steps have few errors."""


def _read(rng: np.random.Generator, curve: Array, pairs: int, alike: float = OF_NEXT) -> Array:
    """Credits of pairs at checkpoints: whether a latent normal number lies under its quantile, the numbers of one pair
    having a part in common and the rest being autoregressive."""
    rest = np.empty((pairs, len(curve)))
    rest[:, 0] = rng.normal(size=pairs)
    for step in range(1, len(curve)):
        rest[:, step] = alike * rest[:, step - 1] + math.sqrt(1 - alike**2) * rng.normal(size=pairs)
    latent = math.sqrt(OF_PAIR) * rng.normal(size=(pairs, 1)) + math.sqrt(1 - OF_PAIR) * rest
    return (norm.cdf(latent) < curve).astype(np.float64)


def _change(curve: Array, pairs: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    at = int(best_part(curve[None] * pairs, pairs)[0])
    change = change_point(_read(rng, curve, pairs), level=LEVEL, resamples=RESAMPLES, seed=seed, noun="pairs")
    truths = (STEPS[at], curve[:at].mean(), curve[at:].mean())
    for estimate, truth in zip(estimates_of(change, STEPS, pairs, LEVEL), truths, strict=True):
        shown = (estimate.measure,) if estimate.measure == ACQUIRED else (BEFORE, AFTER)
        yield Trial(shown, estimate, float(truth))


def _none(
    level: float, pairs: int, checkpoints: int, alike: float, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    credits = _read(rng, np.full(checkpoints, level), pairs, alike)
    change = change_point(credits, level=LEVEL, resamples=RESAMPLES, seed=seed, noun="pairs")
    steps = list(range(checkpoints))
    yield Trial((ACQUIRED,), next(iter(estimates_of(change, steps, pairs, LEVEL))), null=True)


def _all() -> Iterable[Simulation]:
    for n, size in sized((20, 30, 50, 200), "pairs, 12 checkpoints"):
        for name, curve in CURVES.items():
            yield Simulation(SECTION, name, size, partial(_change, curve, n), 400)
        for name, level in FLAT.items():
            yield Simulation(SECTION, name, size, partial(_none, level, n, CHECKPOINTS, OF_NEXT), 1_000)
    for level, n, checkpoints in NEAR_CEILING:
        for alike, what in ((OF_NEXT, "neighbours alike"), (0.0, "neighbours unlike")):
            size = f"{n} pairs, {checkpoints} checkpoints"
            trial = partial(_none, level, n, checkpoints, alike)
            yield Simulation(SECTION, f"{level:g} at all checkpoints, {what}".replace("0.", "."), size, trial, 1_000)


ALL = list(_all())
