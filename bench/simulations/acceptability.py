"""Judgements of sentences that follow a score of a known β and γ: are these, and the correlations, recovered?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from bench.simulations.base import RESAMPLES, Simulation, Trial
from numpy.typing import NDArray

from penchant.instruments.acceptability.estimates import ALPHA, BETWEEN_SCORES, SPEARMAN
from penchant.instruments.acceptability.morcela import BETA, GAMMA, Folded, cross_validated, fit, parameter, scores
from penchant.instruments.acceptability.settings import DIFFERENCE, PEARSON
from penchant.stats.agreement import interval_alpha
from penchant.stats.correlations import correlation, correlation_difference

Array = NDArray[np.float64]
Drawn = tuple[Array, Array, Array, Array]
SECTION = "Judgements of sentences"
SETS = 1_000
_FOLDS = 10
_PLANTED = {"as SLOR": (1.0, 0.0), "frequency counts half": (0.5, 3.0), "frequency does not count": (0.0, -2.0)}
"""β and γ."""
_NOISE = {"": 0.9, ", noisy": 2.5}
"""The sd of what else ratings depend on, beside a score whose sd is about .8."""


def drawn(rng: np.random.Generator, n: int, beta: float, gamma: float, noise: float, *, even: bool) -> Drawn:
    """log p, log u, length and ratings of n sentences: tokens of 4 to 24, some rare, which are improbable, too; the
    noise of ratings is the same for all, or (not `even`) larger for short sentences, and ratings have seven points."""
    lengths = rng.integers(4, 25, n).astype(np.float64)
    rare = rng.normal(size=n)
    unigrams = lengths * (-7.5 - 0.8 * rare) + np.sqrt(lengths) * rng.normal(size=n)
    logprobs = 0.6 * unigrams + lengths * (0.5 + 0.7 * rng.normal(size=n)) - 2.0
    quality = scores(logprobs, unigrams, lengths, beta, gamma)
    width = noise if even else noise * np.sqrt(10 / lengths)
    judged = quality + width * rng.normal(size=n)
    if not even:
        judged = np.round(3 * (judged - judged.mean()) / 2)
    return logprobs, unigrams, lengths, judged


def _parameters(
    n: int, beta: float, gamma: float, noise: float, even: bool, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    fitted = fit(*drawn(rng, n, beta, gamma, noise, even=even))
    yield Trial((BETA,), parameter(fitted, BETA), beta, null=beta == 1)
    yield Trial((GAMMA,), parameter(fitted, GAMMA), gamma, null=gamma == 0)


_OF = (0.5, 3.0, 1.5)


def _folded(rng: np.random.Generator, n: int) -> tuple[Folded, Array]:
    """Sentences with their scores out of fold, and their SLOR."""
    p, u, lengths, judged = drawn(rng, n, *_OF, even=True)
    return Folded.of(p, u, lengths, judged, rng.permutation(n) % _FOLDS), scores(p, u, lengths, 1.0, 0.0)


@cache
def _truths(n: int) -> Array:
    """The averages over as many sentences: Pearson's r (of the mean of Fisher's z), Spearman's ρ, and r minus that
    of SLOR."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(2_000):
        made, slor = _folded(rng, n)
        r, of_slor = (np.corrcoef(each, made.judged)[0, 1] for each in (made.scores, slor))
        ranks = [np.argsort(np.argsort(side)) for side in (made.scores, made.judged)]
        found.append((np.arctanh(r), np.arctanh(np.corrcoef(ranks[0], ranks[1])[0, 1]), r - of_slor))
    means: Array = np.mean(found, axis=0)
    means[:2] = np.tanh(means[:2])
    return means


def _correlated(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    made, slor = _folded(rng, n)
    pearson, spearman, gain = _truths(n)
    yield Trial((PEARSON,), cross_validated(made), pearson)
    yield Trial((SPEARMAN,), cross_validated(made, ranks=True), spearman)
    yield Trial((BETWEEN_SCORES, DIFFERENCE), cross_validated(made, other=slor), gain)


def _by_chance(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Judgements that have nothing to do with any score; and two models that follow the judgements equally."""
    p, u, lengths, judged = drawn(rng, n, *_OF, even=True)
    folds = rng.permutation(n) % _FOLDS
    nothing = Folded.of(p, u, lengths, rng.normal(size=n), folds)
    yield Trial((PEARSON,), cross_validated(nothing), null=True)
    yield Trial((SPEARMAN,), cross_validated(nothing, ranks=True), null=True)
    own = 0.5 * np.sqrt(lengths) * rng.normal(size=(2, n))
    one, other = (Folded.of(p + each, u, lengths, judged, folds) for each in own)
    yield Trial((BETWEEN_SCORES, DIFFERENCE), cross_validated(one, other=other), 0.0, null=True)


@cache
def _rank_truth() -> float:
    rng = np.random.default_rng(2)
    first = rng.normal(size=(2, 1_000_000))
    ranks = [np.argsort(np.argsort(side)) for side in (first[0], 0.5 * first[0] + first[1])]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _plain(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Scores of one or two models and judgements that have half of each of them in common, or nothing."""
    settings: dict[str, Any] = {"seed": seed, "resamples": RESAMPLES, "noun": "sentences"}
    one, other, rest, apart = rng.normal(size=(4, n))
    judged = 0.5 * one + rest
    yield Trial((PEARSON,), correlation(one, judged, ranks=False, **settings), 0.5 / np.sqrt(1.25))
    yield Trial((SPEARMAN,), correlation(one, judged, ranks=True, **settings), _rank_truth())
    yield Trial((PEARSON,), correlation(apart, judged, ranks=False, **settings), 0.0, null=True)
    yield Trial((SPEARMAN,), correlation(apart, judged, ranks=True, **settings), 0.0, null=True)
    both = 0.5 * one + 0.5 * other + rest
    gap = correlation_difference(both, one, other, **settings)
    yield Trial((BETWEEN_SCORES, DIFFERENCE), gap, 0.0, null=True)


def _agreed(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    worth = rng.normal(size=(n, 1))
    found = interval_alpha(list(worth + rng.normal(size=(n, 4))), seed=seed, resamples=RESAMPLES)
    yield Trial((ALPHA,), found, 0.5)


def _all() -> Iterator[Simulation]:
    for name, (beta, gamma) in _PLANTED.items():
        for kind, noise in _NOISE.items():
            for n in (40, 100, 400):
                for even, how in ((True, ""), (False, ", seven points, short ones uneven")):
                    of = partial(_parameters, n, beta, gamma, noise, even)
                    yield Simulation(SECTION, f"{name}{kind}{how}", f"{n} sentences", of, SETS)
    for n in (40, 100, 400):
        yield Simulation(SECTION, "MORCELA out of fold", f"{n} sentences", partial(_correlated, n), 400)
        yield Simulation(SECTION, "MORCELA, by chance", f"{n} sentences", partial(_by_chance, n), 400)
        yield Simulation(SECTION, "normal scores", f"{n} sentences", partial(_plain, n), 400)
        yield Simulation(SECTION, "ratings of 4 raters", f"{n} sentences", partial(_agreed, n), 400)


ALL = tuple(_all())
