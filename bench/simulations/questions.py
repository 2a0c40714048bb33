"""Questions with options, several a template: bias scores and accuracies over templates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl
from bench.simulations.base import LEVEL, Simulation, Trial, sized

from penchant.instruments.bbq.probe import BBQ
from penchant.instruments.comparison import difference
from penchant.instruments.measures import estimates

SECTION = "Questions about two groups"
EACH = 16
"""Number of questions of a template in either context."""
NEARLY = 0.998
"""The share of right answers of a model that is nearly always right."""
LEAN, KNOWS = 0.15, 0.6
"""The mean bias score in either context, and the mean share of answers that it is not known, of both of two models."""


def answered(rng: np.random.Generator, templates: int, mean: float = LEAN) -> pl.DataFrame:
    """Answers to the questions of some templates, whose leanings differ and have this mean."""
    knows = rng.beta(3, 2, templates).repeat(EACH)
    lean = (2 * rng.beta(5 + 5 * mean, 5 - 5 * mean, templates) - 1).repeat(EACH)
    named = rng.random(len(lean)) > knows
    sides = np.where(rng.random(len(lean)) < (1 + lean) / 2, 1.0, -1.0)
    again = np.where(rng.random(len(lean)) < (1 + lean) / 2, 1.0, -1.0)
    both = {"template": np.arange(templates).repeat(EACH), "category": "c"}
    ambiguous = pl.DataFrame({**both, "bias_ambig": sides * named, "right_ambig": (~named).astype(float)})
    clear = pl.DataFrame({**both, "bias_disambig": again, "right_disambig": (again > 0).astype(float)})
    return pl.concat([ambiguous, clear], how="diagonal")


TRUTHS = {
    "bias_ambig": LEAN * (1 - KNOWS),
    "bias_disambig": LEAN,
    "right_ambig": KNOWS,
    "right_disambig": (1 + LEAN) / 2,
}


def _scores(templates: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    items, other = answered(rng, templates), answered(rng, templates)
    truths = {measure.name: TRUTHS[str(measure.of)] for measure in BBQ.measures}
    for found in estimates(BBQ.measures, items, LEVEL, "questions"):
        if found.by["category"] == "all":
            yield Trial((found.measure,), found, truths[found.measure])
    for found in estimates(BBQ.measures, items, LEVEL, "questions", other=other):
        if found.by["category"] == "all":
            yield Trial((difference(found.measure),), found, 0.0, null=True)


def _unbiased(templates: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    for found in estimates(BBQ.measures[:2], answered(rng, templates, 0.0), LEVEL, "questions"):
        if found.by["category"] == "all":
            yield Trial((found.measure,), found, 0.0, null=True)


def _right(templates: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Accuracies of a model that is nearly always right."""
    right = (rng.random(templates * EACH) < NEARLY).astype(float)
    both = {"template": np.arange(templates).repeat(EACH), "category": "c"}
    items = pl.DataFrame({**both, "right_ambig": right, "right_disambig": right})
    for found in estimates(BBQ.measures[2:], items, LEVEL, "questions"):
        if found.by["category"] == "all":
            yield Trial((found.measure,), found, NEARLY)


def _all() -> Iterator[Simulation]:
    for n, size in sized((5, 10, 25), "templates"):
        kinds = {"of leaning templates": _scores, "without a leaning": _unbiased, "nearly always right": _right}
        for data, draw in kinds.items():
            yield Simulation(SECTION, f"answers {data}, {EACH} questions each", size, partial(draw, n), 2_000)


ALL = tuple(_all())
