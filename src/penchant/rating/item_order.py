"""The order in which a rater sees the items: an own one, with some items twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from penchant.rating.tasks import Task

_BLOCK = 10
"""Of so many places one after the other half change sides."""
_APART = 10
"""The fewest items between two showings of one, where there are so many."""


class Place(NamedTuple):
    """What stands at one place of a rater's list: the number of an item, whether it is shown again, and whether the two
    texts of a choice have changed sides."""

    item: int
    repeated: bool
    turned: bool


def plan(task: Task, rater: int) -> list[Place]:
    """Return the list of rater number `rater`: practice in the order given, then the items in an order drawn with the
    seed, attention items among them, and a share of the items a second time, well after the first."""
    draw = np.random.default_rng([task.seed, rater])
    kinds = [question.kind for question in task.items]
    regular = [i for i, kind in enumerate(kinds) if kind == "item"]
    order = [(i, False) for i in draw.permutation(regular).tolist()] if regular else []
    for i, kind in enumerate(kinds):
        if kind == "attention":
            order.insert(int(draw.integers(len(order) + 1)), (i, False))
    order = list(_with_repeats(order, set(regular), round(task.repeat * len(regular)), draw))
    order = [*((i, False) for i, kind in enumerate(kinds) if kind == "practice"), *order]
    turned = _in_halves(len(order), draw)
    choice = task.kind == "choice"
    return [Place(i, again, choice and turn) for (i, again), turn in zip(order, turned, strict=True)]


def _in_halves(number: int, draw: np.random.Generator) -> list[bool]:
    """Draw which places change sides: half of every `_BLOCK` places, of an odd rest one more or one less."""
    turned: list[bool] = []
    while len(turned) < number:
        size = min(_BLOCK, number - len(turned))
        half = size // 2 + (size % 2 and int(draw.integers(2)))
        turned += draw.permutation([True] * half + [False] * (size - half)).tolist()
    return turned


def _with_repeats(
    order: list[tuple[int, bool]], regular: set[int], number: int, draw: np.random.Generator
) -> Iterator[tuple[int, bool]]:
    """Yield the order, in which some items of its first half come again: at the earliest after `_APART` others."""
    half = order[: (len(order) + 1) // 2]
    early = [(position, i) for position, (i, _) in enumerate(half) if i in regular]
    chosen = draw.choice(len(early), size=min(number, len(early)), replace=False).tolist() if early else []
    after: dict[int, list[int]] = {}
    for position, i in (early[j] for j in sorted(chosen)):
        first = min(position + _APART, len(order) - 1)
        after.setdefault(int(draw.integers(first, len(order))), []).append(i)
    for position, place in enumerate(order):
        yield place
        yield from ((i, True) for i in after.get(position, []))
