"""Rating tasks: items on a scale, or choices between two sentences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["scale", "choice"]
Layout = Literal["long", "sides", "wide"]
ItemKind = Literal["item", "practice", "attention"]
FIRST, SECOND = "good", "bad"
"""The names of the answers that choose the first and the second text of an item."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scale: its number, and its name if it has one."""

    value: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One item.

    `key` are the cells that identify its judgements; `text` is shown, and `span` is the place in it of the word to
    judge. A choice has an `other` text, and `text` is the first, called "good". `right` is the correct answer of a
    practice or attention item, and `why` the reason shown for it.
    """

    key: Mapping[str, str]
    text: str
    span: tuple[int, int] | None = None
    other: str = ""
    kind: ItemKind = "item"
    right: float | str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A task for every rater.

    `question` stands above each item, `points` are those of the scale (none for a choice), `layout` is the form of the
    table of judgements (see `penchant.tables.judgement_database`), whose values are in a column named `value`.
    `language` is a BCP 47 tag, "und" if unknown. `instructions` are Markdown.
    """

    title: str
    kind: Kind
    question: str
    items: tuple[Question, ...]
    points: tuple[Point, ...] = ()
    layout: Layout = "long"
    value: str = "rating"
    language: str = "und"
    instructions: str = ""
    breaks: int = 50
    repeat: float = 0.05
    seed: int = 0

    @property
    def answers(self) -> tuple[float | str, ...]:
        """The possible answers, in order."""
        return (FIRST, SECOND) if self.kind == "choice" else tuple(point.value for point in self.points)

    @property
    def has_pairs(self) -> bool:
        """True if the items are pairs of sentences."""
        return self.kind == "choice" or self.layout == "sides"

    def described(self) -> dict[str, Any]:
        """Return everything but the items, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "items"}

    @property
    def sha256(self) -> str:
        """The hash of the task, without instructions, title and breaks, which may change."""
        asked = {name: value for name, value in asdict(self).items() if name not in ("instructions", "title", "breaks")}
        return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def task_of(described: Mapping[str, Any], items: tuple[Question, ...]) -> Task:
    """Return the task of a stored description."""
    points = tuple(Point(**point) for point in described["points"])
    return Task(**{**described, "points": points}, items=items)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The owner's choices for the task of a target.

    `task` chooses among an instrument's kinds, such as `choice` or `sentences`; `everything` includes words that are
    already rated; results in the directories `without` are ignored. For pairs, `columns` are those of their tables by
    field, `files` the tables of a study that is the target, and `per_group` the number drawn from each group with the
    `seed` (0: all).
    """

    task: str = ""
    everything: bool = False
    column: str = ""
    scale: str = ""
    question: str = ""
    without: Collection[Path] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    per_group: int = 0
    seed: int = 0
