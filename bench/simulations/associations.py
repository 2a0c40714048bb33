"""Effect sizes of word lists: WEAT and SEAT, CEAT over samples of sentences, the log-probability bias score, and two
models on the same words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial

import numpy as np
from bench.simulations.base import RESAMPLES, Simulation, Trial
from numpy.typing import NDArray

from penchant.instruments.associations.ceat import CEAT
from penchant.instruments.associations.compare import _difference, _Measured
from penchant.instruments.associations.contextual_effects import VectorPool, contextual_effects
from penchant.instruments.associations.estimates import Cell, Filled, Stimuli, by_sentence, effect
from penchant.instruments.associations.logprob_estimates import SCORES, _differences
from penchant.instruments.associations.random_effects import FIRST, Combination
from penchant.instruments.associations.sampled_effects import Sides, contrasts, effects
from penchant.instruments.associations.weat_seat import WEAT
from penchant.records import Estimate
from penchant.stats.association import combine

Array = NDArray[np.float64]
WORDS, CONTEXTS, SCORED, MODELS = (
    "Effect sizes of word lists",
    "CEAT over samples of sentences",
    "Log-probability bias score",
    "Effect sizes of two models",
)
APART = {0.0: 0.0, 1.0: 0.0817}
"""How far the means of X and Y lie from the middle for an effect size, where A and B are clearly apart."""
CLEAR, FAINT = 0.5, 0.2
EFFECT = ("effect size",)
DIMENSIONS = 50


def _weat(**more: object) -> WEAT:
    return WEAT.model_validate({"data": "simulated", "resamples": RESAMPLES, "draws": 999, "exact": 1, **more})


def _ceat(seed: int) -> CEAT:
    return CEAT.model_validate(
        {"data": "simulated", "sentences": "simulated", "resamples": 400, "draws": 999, "exact": 1, "seed": seed}
    )


def _unit(vectors: Array) -> Array:
    scaled: Array = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


def _sets(rng: np.random.Generator, sizes: tuple[int, ...], places: tuple[float, ...]) -> list[Array]:
    """Vectors around the means of four sets: what all have in common, and what tells X from Y and A from B."""
    return [
        np.concatenate([[0.6, own], np.zeros(DIMENSIONS - 2)]) + rng.normal(0, DIMENSIONS**-0.5, (size, DIMENSIONS))
        for size, own in zip(sizes, places, strict=True)
    ]


def _places(apart: float, attributes: float) -> tuple[float, ...]:
    return (apart, -apart, attributes, -attributes)


@cache
def _truth(apart: float, attributes: float, copies: int = 1, noise: float = 0.0) -> float:
    """The effect size of very many words, each the mean over its copies with noise of their own."""
    rng = np.random.default_rng(1)
    x, y, a, b = _sets(rng, (60_000,) * 4, _places(apart, attributes))
    seen = [
        _unit(part[:, None] + rng.normal(0, noise or 1e-9, (len(part), copies, DIMENSIONS))) for part in (x, y, a, b)
    ]
    direction = seen[2].mean(axis=(0, 1)) - seen[3].mean(axis=(0, 1))
    s, t = (part @ direction for part in seen[:2])
    return float((s.mean() - t.mean()) / np.concatenate([s.ravel(), t.ravel()]).std())


def _weat_trial(
    n: int, c: int, d: float, attributes: float, test: str, rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    x, y, a, b = map(_unit, _sets(rng, (n, n, c, c), _places(APART[d], attributes)))
    table = (np.concatenate([x, y]) @ np.concatenate([a, b]).T)[None]
    cell = Cell({}, table, Sides.of(range(n), range(n)), Sides.of(range(c), range(c)))
    estimate = effect(cell, _weat(seed=seed, test=test))
    yield Trial(EFFECT, estimate, _truth(APART[d], attributes), null=not d)


def _seat_trial(n: int, sentences: int, d: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Words in several sentences, each with noise of its own that is half of what tells words apart."""
    noise = 0.5 * DIMENSIONS**-0.5
    parts = [
        _unit(np.repeat(part, sentences, axis=0) + rng.normal(0, noise, (n * sentences, DIMENSIONS)))
        for part in _sets(rng, (n,) * 4, _places(APART[d], CLEAR))
    ]
    table = (np.concatenate(parts[:2]) @ np.concatenate(parts[2:]).T)[None]
    words = np.repeat(np.arange(n), sentences).tolist()
    sides = Sides.of(words, words)
    cell, settings = Cell({}, table, sides, sides), _weat(seed=seed)
    estimate = effect(cell, settings)
    yield Trial(EFFECT, estimate, _truth(APART[d], CLEAR, sentences, noise), null=not d)
    yield Trial(("effect size, every sentence by itself",), by_sentence(cell, estimate, settings), null=not d)


# Contexts ---------------------------------------------------------------------------------------------------

COMBINED = ("combined effect size",)
PUBLISHED = ("combined effect size, as published", "combined effect size of the first samples")
FURTHER = ("effect size of a further sample",)
_NOISE = 0.7 * DIMENSIONS**-0.5


@cache
def _contextual_truth(apart: float) -> float:
    """Mean effect size of samples of very many words, each in one sentence."""
    return _truth(apart, CLEAR, 1, _NOISE)


def _ceat_trial(n: int, occurrences: int, d: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    samples = 100
    pools, further = [], []  # a further sample is of the same sentences
    for part in _sets(rng, (n,) * 4, _places(APART[d], CLEAR)):
        seen = part[:, None] + rng.normal(0, _NOISE, (n, occurrences, DIMENSIONS))
        pools.append([VectorPool(partial(np.asarray, own), rng.integers(0, occurrences, samples)) for own in seen])
        further.append(_unit(seen[np.arange(n), rng.integers(0, occurrences, n)]))
    by_measure = _combined(pools, seed)
    sides = Sides.of(range(n), range(n))
    truth = _contextual_truth(APART[d])
    yield Trial(COMBINED, by_measure[COMBINED[0], 2 * n], truth, null=not d)
    yield Trial(PUBLISHED, by_measure[FIRST, samples], truth, null=not d)
    table = np.concatenate(further[:2]) @ np.concatenate(further[2:]).T
    another = float(effects(contrasts(table[None], sides), sides).mean())
    yield Trial(FURTHER, by_measure[FURTHER[0], samples], another)


def _combined(pools: Sequence[Sequence[VectorPool]], seed: int) -> dict[tuple[str, int], Estimate]:
    """Return CEAT's estimates from the sentences of four sets of words."""
    settings = _ceat(seed)
    whole = contextual_effects((pools[0], pools[1]), (pools[2], pools[3]), ddof=settings.ddof)
    names = [tuple(f"{side}{i}" for i in range(len(part))) for side, part in zip("xyab", pools, strict=True)]
    rows, columns = (Sides.of(range(len(one)), range(len(other))) for one, other in (names[:2], names[2:]))
    cell = Cell({}, whole.cosines, rows, columns)
    texts = [("X", name, "") for name in (*names[0], *names[1])]
    stimuli = Stimuli(names[0], names[1], names[2], names[3], {})
    samples = len(pools[0][0].picks)
    combination = Combination({}, stimuli, samples, whole, Filled(cell, texts, texts, {}), {}, cell.draws(settings))
    return {(row.measure, row.n): row for row in combination.estimates(settings)}


def _unequal_trial(few: tuple[int, ...], rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """24 and 8 target words of the same mean: the 24 in 20 sentences each, the 8 in one of the numbers `few` each."""
    pools = []
    for part, sentences in zip(_sets(rng, (24, 8, 8, 8), _places(0.0, CLEAR)), ((20,), few, (20,), (20,)), strict=True):
        numbers = rng.choice(sentences, len(part))
        seen = [word + rng.normal(0, _NOISE, (k, DIMENSIONS)) for word, k in zip(part, numbers, strict=True)]
        pools.append([VectorPool(partial(np.asarray, own), rng.integers(0, len(own), 100)) for own in seen])
    yield Trial(COMBINED, _combined(pools, seed)[COMBINED[0], 32], 0.0, null=True)


# Scores -----------------------------------------------------------------------------------------------------

DIFFERENCES = tuple(f"difference of {score} scores" for score in SCORES)


def _scores(n: int, c: int, paired: bool, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Every score is that of its attribute, of its target and of noise. An attribute favours X over Y by .3 on average;
    the two targets of a pair have something in common."""
    favours = 0.3 + rng.normal(0, 0.4, (2 * n, 1))
    of_targets = rng.normal(0, 0.5, (2, c)) + (rng.normal(0, 1, c) if paired else 0.0)
    scores = np.concatenate([of_targets[0] + favours / 2, of_targets[1] - favours / 2], axis=1)
    scores = scores + rng.normal(0, 1, (2 * n, 1)) + rng.normal(0, 0.5, (2 * n, 2 * c))
    rows, columns = Sides.of(range(n), range(n)), Sides.of(range(c), range(c))
    cells = {score: Cell({}, scores[None], rows, columns, paired) for score in SCORES}
    words = [("A", f"a{i}") for i in range(n)] + [("B", f"b{i}") for i in range(n)]
    first = next(iter(_differences(cells, words, _weat(seed=seed))))
    yield Trial(DIFFERENCES, first, 0.3)


# Two models -------------------------------------------------------------------------------------------------


def _two_models(n: int, d: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two models with the same effect size that see the same words, each with noise of its own."""
    noise = 0.5 * DIMENSIONS**-0.5
    parts = _sets(rng, (n,) * 4, _places(APART[d], CLEAR))
    sides, settings, measured, values = Sides.of(range(n), range(n)), _weat(seed=seed), [], []
    for _ in range(2):
        own = [_unit(part + rng.normal(0, noise, part.shape)) for part in parts]
        table = (np.concatenate(own[:2]) @ np.concatenate(own[2:]).T)[None]
        cell, s = Cell({}, table, sides, sides), contrasts(table, sides)
        values.append(float(effects(s, sides).mean()))
        measured.append(_Measured(sides, s, cell.draws(settings), n))
    estimate = _difference(values[0] - values[1], measured[0], measured[1], settings)
    yield Trial(("difference of effect sizes",), estimate, 0.0, null=True)


def _two_models_in_context(n: int, occurrences: int, d: float, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """The same of CEAT: the two models see the same words in the same sentences, with noise of their own on both."""
    settings = _ceat(seed)
    parts = _sets(rng, (n,) * 4, _places(APART[d], CLEAR))
    picked = rng.integers(0, occurrences, (4, n, 100))
    sides, measured, values = Sides.of(range(n), range(n)), [], []
    for _ in range(2):
        pools = []
        for part, chosen in zip(parts, picked, strict=True):
            own = part + rng.normal(0, 0.5 * DIMENSIONS**-0.5, part.shape)
            seen = own[:, None] + rng.normal(0, _NOISE, (n, occurrences, DIMENSIONS))
            pools.append([VectorPool(partial(np.asarray, of), rows) for of, rows in zip(seen, chosen, strict=True)])
        whole = contextual_effects((pools[0], pools[1]), (pools[2], pools[3]), ddof=settings.ddof)
        cell = Cell({}, whole.cosines, sides, sides)
        values.append(combine(whole.effects, whole.variances).effect)
        measured.append(_Measured(sides, contrasts(cell.tables, cell.columns), cell.draws(settings), n))
    estimate = _difference(values[0] - values[1], measured[0], measured[1], settings)
    yield Trial(("difference of effect sizes",), estimate, 0.0, null=True)


def _all() -> Iterable[Simulation]:
    for d in (0.0, 1.0):
        for n, c in ((8, 8), (8, 25), (25, 25)):
            size = f"{n} targets, {c} attributes a list"
            yield Simulation(WORDS, f"d = {d:g}", size, partial(_weat_trial, n, c, d, CLEAR, "permutation"))
    for n, c in ((8, 8), (25, 25)):
        size = f"{n} targets, {c} attributes a list"
        what = "d = 0, attributes that hardly differ"
        yield Simulation(WORDS, what, size, partial(_weat_trial, n, c, 0.0, FAINT, "permutation"))
        yield Simulation(WORDS, "d = 0, normal test", size, partial(_weat_trial, n, c, 0.0, CLEAR, "normal"))
    for d in (0.0, 1.0):
        for n in (8, 25):
            yield Simulation(
                WORDS,
                f"d = {d:g}, sentences",
                f"{n} words a list, 4 sentences each",
                partial(_seat_trial, n, 4, d),
                500,
            )
    for d in (0.0, 1.0):
        for n, occurrences in ((8, 20), (8, 200), (25, 20)):
            size = f"{n} words a list, {occurrences} sentences each, 100 samples"
            yield Simulation(CONTEXTS, f"d = {d:g}", size, partial(_ceat_trial, n, occurrences, d))
    for few, what in (((20,), "20 sentences each"), ((1, 2, 3), "the 8 in 1 to 3 sentences, the 24 in 20")):
        size = f"24 and 8 target words, {what}, 100 samples"
        yield Simulation(CONTEXTS, "d = 0, unequal lists", size, partial(_unequal_trial, few))
    for paired in (False, True):
        for n, c in ((8, 8), (8, 25), (25, 25)):
            size = f"{n} attributes, {c} {'pairs of ' if paired else ''}targets"
            yield Simulation(SCORED, "difference of .3", size, partial(_scores, n, c, paired))
    for d in (0.0, 1.0):
        for n in (8, 25):
            yield Simulation(MODELS, f"both d = {d:g}", f"{n} words a list", partial(_two_models, n, d))
    for d in (0.0, 1.0):
        for n, occurrences in ((8, 20), (25, 20)):
            size = f"{n} words a list, {occurrences} sentences each, 100 samples"
            trial = partial(_two_models_in_context, n, occurrences, d)
            yield Simulation(MODELS, f"both d = {d:g}, contexts", size, trial, 400)


ALL = tuple(_all())
