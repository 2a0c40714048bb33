"""Means and contrasts over sentences that are crossed: every template with every profession and every person; and how
far templates differ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import polars as pl
from bench.simulations.base import LEVEL, Simulation, Trial

from penchant.instruments.bec_pro import estimates
from penchant.instruments.comparison import difference
from penchant.stats.inputs import Array
from penchant.stats.templates import SD, nested_templates, sd_over_templates

SECTION = "Persons, professions and templates, all crossed"
SPREADS = "How far templates differ"
GENDERS = ("female", "male")
GROUPS = ("first", "second")
SETS, MORE = 600, 1_000
"""More of the size of BEC-Pro."""

_EFFECTS = {
    "sentences differ alone": (0.0, 0.0, 0.0),
    "templates, professions and persons differ alike": (0.5, 0.5, 0.5),
    "persons differ most": (0.1, 0.1, 1.0),
    "templates differ most": (1.0, 0.1, 0.1),
    "professions differ most": (0.1, 1.0, 0.1),
}
"""Standard deviations of what a template and a profession add to the difference of genders, and of what a person adds,
where a sentence has one of ½."""
_NOISE = 0.5
_BEC_PRO = (5, 20, 9)
"""As many as a group of BEC-Pro has."""
_SIZES = ((3, 8, 4), _BEC_PRO, (12, 12, 9))
"""Numbers of templates, of professions and of persons of either gender."""


def _items(rng: np.random.Generator, size: tuple[int, int, int], effects: tuple[float, float, float]) -> pl.DataFrame:
    """Associations of the sentences of one group of professions for every person; the true contrast is 0."""
    templates, professions, persons = size
    of_template, of_profession, of_person = effects
    shape = (2, templates, professions, persons)
    values = _NOISE * rng.normal(size=shape)
    values += of_template / 2**0.5 * rng.normal(size=(2, templates, 1, 1))
    values += of_profession / 2**0.5 * rng.normal(size=(2, 1, professions, 1))
    values += of_person * rng.normal(size=(2, 1, 1, persons))
    keys = list(product(range(2), range(templates), range(professions), range(persons)))
    return pl.DataFrame(
        {
            "gender": [GENDERS[side] for side, *_ in keys],
            "template": [f"t{template}" for _, template, *_ in keys],
            "profession": [f"p{profession}" for *_, profession, _ in keys],
            "group": [GROUPS[2 * profession >= professions] for *_, profession, _ in keys],
            "person": [f"{GENDERS[side]} {person}" for side, *_, person in keys],
            "association": values.ravel(),
        }
    )


def _contrasts(
    size: tuple[int, int, int], effects: tuple[float, float, float], rng: np.random.Generator, seed: int
) -> Iterator[Trial]:
    items = _items(rng, size, effects)
    gap = estimates.gap(items, GENDERS, LEVEL)
    yield Trial((estimates.GAP, difference(estimates.GAP)), gap, 0, null=True)
    (between,) = estimates.between(items, GENDERS, LEVEL)
    yield Trial((estimates.BETWEEN, difference(estimates.BETWEEN)), between, 0, null=True)
    mean = estimates._mean(items.filter(gender=GENDERS[0]), LEVEL)
    yield Trial((estimates.MEAN,), mean, 0, null=True)


def _in_one(size: tuple[int, int, int], rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    """The contrast of one template, whose professions and persons are a sample."""
    items = _items(rng, size, (0.0, 0.5, 0.5))
    gap = estimates.gap(items.filter(template="t0"), GENDERS, LEVEL, templates=False)
    yield Trial((estimates.GAP, difference(estimates.GAP)), gap, 0, null=True)


# How far templates differ -------------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, shape: str, size: int) -> Array:
    """Numbers of sd 1."""
    return rng.normal(size=size) if shape == "normal" else rng.standard_t(6, size=size) / 1.5**0.5


def _crossed_spread(templates: int, shape: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    yield Trial((SD,), sd_over_templates(_drawn(rng, shape, templates), level=LEVEL), 1)


def _nested_spread(units: int, each: int, shape: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    unit = np.repeat(np.arange(units), each)
    values = rng.normal(size=units)[unit] + _drawn(rng, shape, len(unit))
    found, _ = nested_templates(values, np.arange(len(unit)), unit, level=LEVEL, noun="occupations")
    yield Trial((SD,), found, 1)


def _all() -> Iterator[Simulation]:
    for size in _SIZES:
        named = "{} templates, {} professions, {} persons of either gender".format(*size)
        for data, effects in _EFFECTS.items():
            sets = MORE if size == _BEC_PRO else SETS
            yield Simulation(SECTION, data, named, partial(_contrasts, size, effects), sets)
    for size, named in ((1, 20, 9), "20 professions"), ((1, 60, 9), "60 professions"):
        of = f"{named}, 9 persons of either gender"
        yield Simulation(SECTION, "one template", of, partial(_in_one, size), SETS)
    for shape, data in (("normal", "normal"), ("heavy", "of heavy tails (t of 6 df)")):
        for templates in (5, 6, 16):
            drawn = partial(_crossed_spread, templates, shape)
            yield Simulation(SPREADS, f"one number a template, {data}", f"{templates} templates", drawn, 1_000)
        for units in (12, 60):
            drawn = partial(_nested_spread, units, 2, shape)
            named = f"{units} occupations of two templates each"
            yield Simulation(SPREADS, f"one number a template, {data}", named, drawn, 1_000)


ALL = tuple(_all())
