"""A simulation: data drawn from a known truth, and the estimates that penchant makes of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penchant.records import Estimate

RESAMPLES = 1_000
"""Resamples of every bootstrap here; the program's default is 10,000 where that is cheap."""
LEVEL = 0.95
_NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?")
_LOST = re.compile(r", [\d,]+ without spread left out|, [\d,]+ equal to the observed one")


@dataclass(frozen=True, slots=True)
class Trial:
    """One estimate of one data set, with the number it is of; NaN where only its test is looked at. `null`: what the
    test tests is true, so that it should reject in 5 % of data sets. `shown`: the measures of the program's tables that
    are made in this way. `test`: the name of a test that is made here."""

    shown: tuple[str, ...]
    estimate: Estimate
    truth: float = math.nan
    null: bool = False
    test: str = ""


@dataclass(frozen=True, slots=True)
class Simulation:
    """`draw(rng, seed)` makes one data set and gives what penchant says of it. `data` says what is drawn, `size` how
    much of it; both stand in the table."""

    section: str
    data: str
    size: str
    draw: Callable[[np.random.Generator, int], Iterable[Trial]]
    sets: int = 1_000

    @property
    def name(self) -> str:
        """Return the key that tells it from all others."""
        return f"{self.section}: {self.data}, {self.size}"


@dataclass(slots=True)
class Tally:
    """Counts over data sets. Truths `below` the interval and `above` it; data sets `without` an interval; tests made
    under the null hypothesis and those of them that reject at .05; estimates with a note."""

    sets: int = 0
    asked: int = 0
    held: int = 0
    below: int = 0
    above: int = 0
    without: int = 0
    tested: int = 0
    rejected: int = 0
    noted: int = 0
    how: Counter[str] = field(default_factory=Counter)
    test: Counter[str] = field(default_factory=Counter)

    def add(self, trial: Trial) -> None:
        """Count one trial."""
        estimate = trial.estimate
        self.sets += 1
        if not math.isnan(trial.truth):
            self.asked += 1
            if math.isnan(estimate.low):
                self.without += 1
            else:
                self.how[shape(estimate.how)] += 1
                self.below += bool(trial.truth < estimate.low)
                self.above += bool(trial.truth > estimate.high)
                self.held += bool(estimate.low <= trial.truth <= estimate.high)
        if trial.null:
            self.tested += 1
            self.rejected += bool(estimate.p <= 1 - LEVEL)  # NaN: no test, and so no finding
            if test := trial.test or str(estimate.row()["test"]):
                self.test[shape(test)] += 1
        self.noted += bool(estimate.note)

    def merge(self, other: Mapping[str, Any]) -> None:
        """Add the counts of another, as `as_dict` gives them."""
        for name, value in other.items():
            if isinstance(value, Mapping):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)

    def as_dict(self) -> dict[str, Any]:
        """The counts, for JSON."""
        return {
            name: dict(value) if isinstance(value, Counter) else value
            for name in self.__slots__
            for value in [getattr(self, name)]
        }


def shape(method: str) -> str:
    """The name of a method with # for its numbers."""
    return _NUMBER.sub("#", _LOST.sub("", method).removesuffix(", two-sided"))


def run(simulation: Simulation, first: int, sets: int) -> dict[tuple[str, ...], Tally]:
    """The counts over some data sets; each data set has a seed of its own, from the name of the simulation and its
    number."""
    tallies: dict[tuple[str, ...], Tally] = {}
    name = list(simulation.name.encode())
    for number in range(first, first + sets):
        rng = np.random.default_rng([number, *name])
        for trial in simulation.draw(rng, number):
            tallies.setdefault(trial.shown, Tally()).add(trial)
    return tallies


def sized(sizes: Sequence[int], noun: str) -> list[tuple[int, str]]:
    """Numbers of items with their names."""
    return [(n, f"{n} {noun}") for n in sizes]
