"""Order of the items for each rater: random, with some items repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from penchant.rating.tasks import RatingTask

_BLOCK = 10
"""Number of consecutive items, half of which have their sides swapped."""
_APART = 10
"""Minimum number of items between two showings of the same item, if there are enough items."""


class ListPlace(NamedTuple):
    """Entry in a rater's list: the item's number, whether it is a repeat, and whether its two sentences are swapped."""

    item: int
    repeated: bool
    turned: bool


def plan(task: RatingTask, rater: int) -> list[ListPlace]:
    """Return the list of items for the rater with number `rater`.

    Practice items come first, in the given order. The other items, including attention items, follow in a random order
    drawn with the seed. A proportion of the regular items is repeated, well after the first presentation.
    """
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
    return [ListPlace(i, again, choice and turn) for (i, again), turn in zip(order, turned, strict=True)]


def _in_halves(number: int, draw: np.random.Generator) -> list[bool]:
    """Return `number` random Booleans, half of them true in each block of `_BLOCK` (rounded at random)."""
    turned: list[bool] = []
    while len(turned) < number:
        size = min(_BLOCK, number - len(turned))
        half = size // 2 + (size % 2 and int(draw.integers(2)))
        turned += draw.permutation([True] * half + [False] * (size - half)).tolist()
    return turned


def _with_repeats(
    order: list[tuple[int, bool]], regular: set[int], number: int, draw: np.random.Generator
) -> Iterator[tuple[int, bool]]:
    """Yield the entries of `order`, with `number` of the regular items in the first half of `order` repeated once.

    An entry is an item's number and whether it is a repeat. A repeat follows `_APART` or more positions later if
    possible.
    """
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
