"""A model against the text it was trained on: slopes, words, and what is said of two models and of a control.

Words have a true log-odds ξ in the text and a true m = β·ξ + scatter in the model. The text is drawn by counts; the
model is asked in templates crossed with group words, each of which moves every answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from bench.simulations.base import LEVEL, RESAMPLES, Simulation, Trial
from numpy.typing import NDArray

from penchant.instruments.amplification.differences import differences
from penchant.instruments.amplification.estimates import (
    AGAINST_0,
    BEYOND,
    CORRELATION,
    EXACT,
    GAP,
    RELIABILITY,
    SHIFT,
    SLOPE,
    C,
    M,
    amplification_estimates,
    words_of,
)
from penchant.instruments.amplification.probe import Amplification
from penchant.instruments.comparison import difference
from penchant.records import Estimate

Array = NDArray[np.float64]
SECTION = "A model against its text"
_SPREAD = 0.7
"""The standard deviation of ξ."""
_TEMPLATES, _GROUP = 6, 12


@dataclass(frozen=True, slots=True)
class Text:
    """Return the numbers of words in the sentences of A and of B."""

    name: str
    a: int
    b: int


SMALL = Text("42,000 and 15,000 words", 42_000, 15_000)
LARGE = Text("390,000 and 68,000 words", 390_000, 68_000)
ENDLESS = Text("a billion words each", 10**9, 10**9)


@dataclass(frozen=True, slots=True)
class World:
    """A planted slope β, the scatter of words about the line, and the text."""

    slope: float
    scatter: float
    text: Text

    @property
    def name(self) -> str:
        """Return a description of the draws, for the page."""
        return f"slope {self.slope:g}, scatter {self.scatter:g}, sentences of {self.text.name}"


def settings(seed: int) -> Amplification:
    """The instrument's own, with few resamples."""
    return Amplification(data="x", text="x", resamples=RESAMPLES, seed=seed, level=LEVEL)


def counts(rng: np.random.Generator, xi: Array, text: Text) -> Array:
    """Return the counts of each word in the sentences of either group, (words, 2).

    Every word occurs 20 times or more in all, as rarer ones are left out whichever side they are on.
    """
    base = np.exp(rng.uniform(np.log(5e-4), np.log(4e-3), len(xi)))
    means = base * np.exp(xi / 2) * text.a, base * np.exp(-xi / 2) * text.b
    drawn = np.column_stack([rng.poisson(mean) for mean in means]).astype(np.float64)
    again = drawn.sum(axis=1) < 20
    if again.any():
        drawn[again] = counts(rng, xi[again], text)
    return drawn


def asked(rng: np.random.Generator, m: Array) -> Array:
    """The corrected scores of every word: (words, sides, templates, group words)."""
    shape = (len(m), 2, _TEMPLATES, _GROUP)
    moved = rng.normal(0, 0.2, (*shape[:3], 1)) + rng.normal(0, 0.4, (*shape[:2], 1, _GROUP))
    scores: Array = m[:, None, None, None] * np.array([0.5, -0.5])[:, None, None] + moved + rng.normal(0, 0.3, shape)
    return scores


def items(
    rng: np.random.Generator, world: World, xi: Array, contrast: str = "gender", *, control: bool = False
) -> tuple[pl.DataFrame, Array]:
    """The table of items of one model and its text, and the true m of the words."""
    n, half = len(xi), _TEMPLATES * _GROUP
    m = world.slope * xi + rng.normal(0, world.scatter, n)
    text = counts(rng, xi, world.text)
    names = [f"w{number}" for number in range(n)]
    columns: dict[str, Any] = {
        "id": [f"{contrast} {number}" for number in range(2 * half * n)],
        "word": [name for name in names for _ in range(2 * half)],
        "side": (["A"] * half + ["B"] * half) * n,
        "template": [str(template) for template in range(_TEMPLATES) for _ in range(_GROUP)] * 2 * n,
        "corrected": asked(rng, m).ravel(),
        "count_a": np.repeat(text[:, 0], 2 * half),
        "count_b": np.repeat(text[:, 1], 2 * half),
    }
    whole = pl.DataFrame(columns).with_columns(
        kind=pl.lit("k"),
        contrast=pl.lit(contrast),
        control=pl.lit(control),
        words_a=pl.lit(world.text.a),
        words_b=pl.lit(world.text.b),
        sentence=pl.col("id"),
    )
    return whole, m


@cache
def _population(world: World) -> tuple[float, float, float]:
    """The slope that takes the text for exact, the correlation and the reliability of c over very many words."""
    rng = np.random.default_rng(17)
    known = []
    for _ in range(60):
        xi = rng.normal(0, _SPREAD, 60)
        drawn, _ = items(rng, world, xi)
        (words,) = words_of(drawn, settings(0))
        by = {word.word: word for word in words.kept}
        known += [(xi[i], by[f"w{i}"].c - xi[i], by[f"w{i}"].m.value - world.slope * xi[i]) for i in range(60)]
    x, off_c, off_m = np.array(known).T
    # Only the errors are estimated: what is large, the variance of ξ, is known.
    both = _SPREAD**2 + float(np.cov(x, off_c)[0, 1])
    of_c = both + float(np.cov(x, off_c)[0, 1] + off_c.var())
    of_m = world.slope**2 * _SPREAD**2 + float(off_m.var())
    return world.slope * both / of_c, world.slope * both / (of_c * of_m) ** 0.5, 1 - float(off_c.var()) / of_c


def _by_measure(rows: Iterable[Estimate]) -> dict[str, Estimate]:
    """Those over all words of the first contrast."""
    return {row.measure: row for row in rows if not row.by["word"] and row.by["contrast"] == "gender"}


def _trials(world: World, n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    xi = rng.normal(0, _SPREAD, n)
    drawn, m = items(rng, world, xi)
    rows = amplification_estimates(drawn, settings(seed))
    by = _by_measure(rows)
    exact, correlation, reliability = _population(world)
    yield Trial((SLOPE,), by[SLOPE], world.slope, null=world.slope == 1)
    yield Trial((AGAINST_0,), by[AGAINST_0], world.slope, null=world.slope == 0)
    yield Trial((EXACT,), by[EXACT], exact, null=world.text == ENDLESS and world.slope == 1)
    yield Trial((CORRELATION,), by[CORRELATION], correlation, null=world.slope == 0)
    if world.text != ENDLESS:  # whose reliability is 1, and whose c is known to more digits than ξ says
        yield Trial((RELIABILITY,), by[RELIABILITY], reliability)
    yield Trial((SHIFT,), by[SHIFT], 0.0, null=True)
    own = {row.measure: row for row in rows if row.by["word"] == "w0"}
    yield Trial((M,), own[M], float(m[0]))
    if world.text != ENDLESS:
        yield Trial((C,), own[C], float(xi[0]))
    yield Trial((GAP,), own[GAP], float(m[0] - xi[0]), null=bool(m[0] == xi[0]))


def _compared(world: World, n: int, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """Two models of the same slope, each with a text of its own; and a contrast beside a control of the same slope."""
    xi = rng.normal(0, _SPREAD, n)
    first, second = (items(rng, world, xi)[0] for _ in range(2))
    for row in differences(first, second, settings(seed)):
        yield Trial((difference(row.measure),), row, 0.0, null=True)
    control, _ = items(rng, world, rng.normal(0, _SPREAD, n // 2), "control", control=True)
    beyond = _by_measure(amplification_estimates(pl.concat([first, control]), settings(seed)))[BEYOND]
    yield Trial((BEYOND,), beyond, 0.0, null=True)


_WORLDS: Sequence[tuple[World, Sequence[int]]] = (
    (World(1, 0.3, SMALL), (20, 45, 100)),
    (World(1, 0.3, LARGE), (20, 45, 100)),
    (World(0.5, 0.3, SMALL), (45,)),
    (World(0, 0.3, SMALL), (45,)),
    (World(1, 0, LARGE), (45,)),
    (World(1, 0.3, ENDLESS), (45,)),
)


def _all() -> Iterator[Simulation]:
    for world, sizes in _WORLDS:
        for n in sizes:
            yield Simulation(SECTION, world.name, f"{n} words", partial(_trials, world, n), 400)
    for world, n in ((World(0.5, 0.3, SMALL), 45), (World(0.5, 0.3, LARGE), 90)):
        size = f"{n} words, {n // 2} in the control"
        yield Simulation(SECTION, f"two models, {world.name}", size, partial(_compared, world, n), 400)


ALL = tuple(_all())
