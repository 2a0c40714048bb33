"""What may be wrong with minimal pairs as they were read, for a user to decide: nothing of it stops a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from penchant.counting import first_of
from penchant.instruments import written
from penchant.instruments.written import Pair
from penchant.records import Item
from penchant.tables.cautions import name_cautions, repeated_rows

_NAMED = 3
"""How many places or groups a caution names."""
_GROUPS: Mapping[str, str] = {"paradigm": "groups", "phenomenon": "phenomena"}


def cautions(name: str, items: Sequence[Item], pairs: Sequence[Pair], sides: tuple[str, str]) -> list[str]:
    """What to say of the pairs of one file, in a line each: how their sentences are written beyond what they contrast,
    sentences that are identical to each other, pairs that are there twice, groups whose names differ only in spelling,
    and groups of one pair. `pairs` has the sentences of the items with their places, and `sides`
    what they are called."""
    told = (
        *written.cautions(pairs, sides),
        *_identical(items),
        *_twice(items),
        *_spelled(items),
        *_alone(items),
    )
    return [f"{name}: {text}" for text in told]


def _identical(items: Sequence[Item]) -> Iterator[str]:
    same = [item for item in items if item.texts["good"] == item.texts["bad"]]
    if same:
        pairs = "pair consists" if len(same) == 1 else "pairs consist"
        lines = first_of([*map(_line, same)], _NAMED)
        yield f"{len(same):,} {pairs} of two identical sentences, which will tie ({lines})"


def _twice(items: Sequence[Item]) -> Iterator[str]:
    said = ((item.texts["good"], item.texts["bad"], item.texts.get("prefix", "")) for item in items)
    return repeated_rows(zip(said, map(_line, items), strict=True), "pairs")


def _line(item: Item) -> str:
    """The line of an item, or its id where it has none."""
    return item.place.rpartition(", ")[2] or item.id


def _spelled(items: Sequence[Item]) -> Iterator[str]:
    for label, noun in _GROUPS.items():
        yield from name_cautions((item.labels[label] for item in items), noun)


def _alone(items: Sequence[Item]) -> Iterator[str]:
    sizes = Counter(item.labels["paradigm"] for item in items)
    single = [group for group, size in sizes.items() if size == 1]
    if single and len(sizes) > 1:
        have = "group has" if len(single) == 1 else "groups have"
        named = first_of([*map(repr, single)], _NAMED)
        yield f"{len(single)} {have} one pair only, from which nothing can be estimated ({named})"
