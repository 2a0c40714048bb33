"""Answers of chat models: spread over orders and replies, shares of replies, and replies against probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
import polars as pl
from bench.simulations.base import LEVEL, Simulation, Trial, sized

from penchant.instruments.answer_steadiness import steadiness
from penchant.instruments.elicitation import HEDGED, OPTION, REFUSED, UNREAD, orders_of

SECTION = "Answers of chat models"
SCALE = np.linspace(1, 5, 5)
SAMPLES = 10
READINGS = (REFUSED, HEDGED, UNREAD)
_KINDS = {"opinions": (1.5, 0.5, 0.1), "places": (0.3, 2.0, 0.1), "refusals": (1.0, 1.0, 0.6)}
"""The sd of what an item is worth, that of what a place in the list is worth, and the mean share without an option."""
_ORDERS = np.array(orders_of(5, "balanced"))


def answered(rng: np.random.Generator, items: int, kind: str) -> pl.DataFrame:
    """Items of a population, with the columns that penchant keeps of questions with five options."""
    opinion, place, lost = _KINDS[kind]
    worth = opinion * rng.normal(size=(items, 1, 5))
    places = place * np.linspace(1, 0, 5) + 0.3 * rng.normal(size=(items, 1, 5))
    at = np.argsort(_ORDERS, axis=1)  # (orders, options): the place of every option
    logits = worth + np.take_along_axis(
        np.broadcast_to(places, (items, len(at), 5)), np.broadcast_to(at, (items, *at.shape)), 2
    )
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    numbers = np.arange(SAMPLES) % len(_ORDERS)
    chosen = (shares[:, numbers].cumsum(-1) < rng.random((items, SAMPLES, 1))).sum(-1).clip(0, 4)
    without = rng.random((items, SAMPLES)) < rng.beta(2 * lost, 2 * (1 - lost), (items, 1))
    how = rng.integers(len(READINGS), size=(items, SAMPLES))
    return pl.DataFrame(
        {
            "order_probabilities": shares.tolist(),
            "probabilities": shares.mean(1).tolist(),
            "readings": np.where(without, np.array(READINGS)[how], OPTION).tolist(),
            "chosen": [
                [None if lost else option for option, lost in zip(*row, strict=True)]
                for row in zip(chosen.tolist(), without.tolist(), strict=True)
            ],
        }
    )


@cache
def _truth(kind: str) -> dict[str, float]:
    items = answered(np.random.default_rng(1), 100_000, kind)
    return {each.measure: each.value for each in steadiness(items, SCALE, LEVEL, "statements")}


def _steady(items: int, kind: str, rng: np.random.Generator, seed: int) -> Iterator[Trial]:
    for found in steadiness(answered(rng, items, kind), SCALE, LEVEL, "statements"):
        yield Trial((found.measure,), found, _truth(kind)[found.measure])


def _all() -> Iterator[Simulation]:
    for kind in _KINDS:
        for n, size in sized((9, 34, 100), "statements"):
            yield Simulation(SECTION, f"answers by {kind}", size, partial(_steady, n, kind), 2_000)


ALL = tuple(_all())
