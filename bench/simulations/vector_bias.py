"""RND, RNSB, MAC, ECT and RIPA on word vectors: of one model, differences of two models, and mean ranks of three."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
from bench.simulations.base import Simulation, Trial
from numpy.typing import NDArray

from penchant.instruments.comparison import difference as difference_of
from penchant.instruments.vector_bias.cells import CategoryVectors
from penchant.instruments.vector_bias.estimates import (
    NAMES,
    difference_from,
    estimates,
    observed,
    resamples_of,
    smallest,
)
from penchant.instruments.vector_bias.measures import AGAINST, FIRST, Measure, SetVectors, Space, divergence, spearman
from penchant.instruments.vector_bias.probe import VectorBias
from penchant.instruments.vector_bias.ranks import estimates_of, ranking_of
from penchant.records import Estimate

Array = NDArray[np.float64]
ONE, TWO, THREE = (
    "Measures of bias on word vectors",
    "Measures of bias of two models",
    "Mean ranks of three models by measures of bias",
)
SETS = 400
DIMENSIONS = 50
MEASURES: tuple[Measure, ...] = ("rnd", "rnsb", "mac", "ect", "ripa")
NONE, CLEAR = 0.0, 0.2
"""How far the means of X and Y lie from the middle, on the side of A and of B."""
_NOISE = 0.5
"""What two models see differently of a word, in units of what tells words apart."""


def _settings(seed: int) -> VectorBias:
    return VectorBias.model_validate({"data": "simulated", "resamples": 400, "refits": 200, "seed": seed})


def _lists(rng: np.random.Generator, sizes: tuple[int, ...], apart: float) -> list[Array]:
    """Vectors of X, Y, A and B: what all have in common, what tells X and A from Y and B, and what every word has."""
    return [
        np.concatenate([[0.6, own], np.zeros(DIMENSIONS - 2)]) + rng.normal(0, DIMENSIONS**-0.5, (size, DIMENSIONS))
        for size, own in zip(sizes, (apart, -apart, 0.5, -0.5), strict=True)
    ]


def _cell(parts: list[Array]) -> CategoryVectors:
    x, y, a, b = parts
    sides = [tuple(f"{side}{i:03}" for i in range(len(part))) for side, part in zip("xyab", parts, strict=True)]
    return CategoryVectors("simulated", "", (sides[0], sides[1], sides[2], sides[3]), {}, SetVectors(x, y, a, b))


def _unit(vectors: Array) -> Array:
    scaled: Array = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


@cache
def _truths(apart: float, attributes: int) -> dict[Measure, float]:
    """The measures of very many words with the attributes A; of RNSB, the mean over classifiers that learned from as
    many attributes."""
    rng = np.random.default_rng(1)
    x, y, a, _ = _lists(rng, (60_000,) * 4, apart)
    to_x, to_y = (np.linalg.norm(a - part.mean(axis=0), axis=1).mean() for part in (x, y))
    targets = _unit(np.concatenate([x, y])).mean(axis=0)
    bias = []
    for _ in range(200):
        t, u, learned, other = _lists(rng, (2_000, 2_000, attributes, attributes), apart)
        space = Space.of(np.concatenate([learned, other]), np.concatenate([t, u]))
        labels = np.repeat([0.0, 1.0], attributes)[None]
        bias.append(divergence(space.probabilities(labels, np.ones(labels.shape)), np.ones((1, 4_000)))[0])
    return {
        "rnd": float(to_x - to_y),
        "rnsb": float(np.mean(bias)),
        "mac": float(1 - targets @ _unit(a).mean(axis=0)),
        "ripa": float(_unit(x - y).mean(axis=0) @ a.mean(axis=0)),
    }


@cache
def _attributes() -> Array:
    """Directions of very many attributes A."""
    return _unit(_lists(np.random.default_rng(2), (1, 1, 40_000, 1), 0)[2])


def _coherence(x: Array, y: Array) -> float:
    """ECT of these targets over very many attributes."""
    a = _attributes()
    return float(spearman(a @ x.mean(axis=0), a @ y.mean(axis=0)))


def _one(n: int, c: int, apart: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    parts = _lists(rng, (n, n, c, c), apart)
    found = {(e.measure, e.by["attributes"]): e for e in estimates(_cell(parts), _settings(seed))}
    truths = {**_truths(apart, c), "ect": _coherence(*parts[:2])}
    for measure in MEASURES:
        estimate = found[NAMES[measure], AGAINST if measure == "rnsb" else FIRST]
        # Labels of attributes are exchangeable nowhere here: A and B differ.
        null = not apart and measure in ("rnd", "ect", "ripa")
        yield Trial((NAMES[measure],), estimate, truths[measure], null=null)


@cache
def _truth_of_pairs(apart: float) -> float:
    rng = np.random.default_rng(1)
    x, y, a, _ = _lists(rng, (60_000,) * 4, apart)
    return float(_unit(x - y).mean(axis=0) @ a.mean(axis=0))  # what the words of a pair share cancels


def _pairs(n: int, c: int, apart: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Pairs of targets, which have something in common."""
    x, y, a, b = _lists(rng, (n, n, c, c), apart)
    common = rng.normal(0, DIMENSIONS**-0.5, x.shape)
    cell = _cell([x + common, y + common, a, b])
    settings = _settings(seed).model_copy(update={"measures": ("ripa",)})
    first, *_ = estimates(replace(cell, vectors=replace(cell.vectors, pairs=True)), settings)
    yield Trial((NAMES["ripa"],), first, _truth_of_pairs(apart), null=not apart)


def _labels(n: int, c: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Attributes of which A and B are one kind."""
    x, y, a, _ = _lists(rng, (n, n, 2 * c, 1), CLEAR)
    settings = _settings(seed).model_copy(update={"measures": ("rnsb",)})
    (estimate,) = estimates(_cell([x, y, a[:c], a[c:]]), settings)
    yield Trial((NAMES["rnsb"],), estimate, null=True)


def _two(n: int, c: int, apart: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two models that see the same words, each with noise of its own, and would find the same in many words. For ECT,
    which takes targets as they are, both see the same targets."""
    parts = _lists(rng, (n, n, c, c), apart)
    settings = _settings(seed)
    scale = _NOISE * DIMENSIONS**-0.5
    noisy = [_cell([part + rng.normal(0, scale, part.shape) for part in parts]) for _ in range(2)]
    alike = [_cell([parts[0], parts[1], cell.vectors.a, cell.vectors.b]) for cell in noisy]
    for measure in MEASURES:
        cells = alike if measure == "ect" else noisy
        name = AGAINST if measure == "rnsb" else FIRST
        values = [observed(cell, measure, settings)[name] for cell in cells]
        draws = [cell.draws(measure, settings, resamples_of(measure, settings))[name] for cell in cells]
        empty = Estimate(difference_of(NAMES[measure]), float("nan"), 0)
        size = smallest(cells[0], measure, name)
        gap = difference_from(empty, values[0] - values[1], draws[0] - draws[1], size, measure, settings)
        yield Trial((empty.measure,), gap, 0.0, null=True)


_CATEGORIES = 4


def _three(n: int, rng: np.random.Generator) -> list[tuple[CategoryVectors, ...]]:
    """Some categories in three models that see the same words, of which the second and the third tell X from Y more."""
    every = []
    for _ in range(_CATEGORIES):
        parts = _lists(rng, (n,) * 4, NONE)
        models = []
        for apart in (0.0, 0.1, 0.3):
            moved = [part + rng.normal(0, _NOISE * DIMENSIONS**-0.5, part.shape) for part in parts]
            for part, sign in zip(moved[:2], (1, -1), strict=True):
                part[:, 1] += sign * apart
            models.append(_cell(moved))
        every.append(tuple(models))
    return every


@cache
def _expected_ranks(n: int) -> dict[Measure, Array]:
    """The mean ranks that so many words of the kind give on average."""
    settings = _settings(0).model_copy(update={"refits": 1})
    found: dict[Measure, list[Array]] = {measure: [] for measure in MEASURES}
    for number in range(250):
        every = _three(n, np.random.default_rng([number, 3]))
        for measure in MEASURES:
            found[measure].append(ranking_of(every, measure, settings).ranks.mean(axis=1))
    return {measure: np.mean(ranks, axis=0) for measure, ranks in found.items()}


def _ranks(n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    every, settings = _three(n, rng), _settings(seed).model_copy(update={"refits": 100})
    for measure in MEASURES:
        ranking = ranking_of(every, measure, settings)
        for estimate, truth in zip(estimates_of(ranking, settings), _expected_ranks(n)[measure], strict=True):
            yield Trial((estimate.measure,), estimate, float(truth))


def _all() -> Iterable[Simulation]:
    for apart, what in ((NONE, "X and Y alike"), (CLEAR, "X nearer to A, Y to B")):
        for n, c in ((5, 5), (8, 8), (8, 25), (25, 25)):
            size = f"{n} targets, {c} attributes a list"
            yield Simulation(ONE, what, size, partial(_one, n, c, apart), SETS)
    for apart, what in ((NONE, "pairs alike"), (CLEAR, "x nearer to A, y to B")):
        for n in (8, 25):
            yield Simulation(ONE, what, f"{n} pairs, {n} attributes a list", partial(_pairs, n, n, apart), SETS)
    for n, c in ((8, 8), (25, 25)):
        size = f"{n} targets, {c} attributes a list"
        yield Simulation(ONE, "A and B alike", size, partial(_labels, n, c), SETS)
    for n in (8, 25):
        size = f"{n} words a list"
        yield Simulation(TWO, "X nearer to A, Y to B", size, partial(_two, n, n, CLEAR), SETS)
    for n in (8, 25):
        size = f"{_CATEGORIES} categories, {n} words a list"
        yield Simulation(THREE, "bias of 0, .1 and .3", size, partial(_ranks, n), SETS)


ALL = tuple(_all())
