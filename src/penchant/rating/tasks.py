"""Rating tasks: ratings of items on a scale, or choices between two sentences."""

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
"""Names of the answers that choose the first and the second text of an item."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scale, with its number and an optional name."""

    value: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """An item of a task.

    `key` contains the cells that identify the item in the table of judgements, and `span` is the position in `text` of
    the word to judge. In a choice, `text` is the first sentence, called "good", and `other` the second. `right` is the
    correct answer to a practice or attention item, and `why` the explanation shown with it.
    """

    key: Mapping[str, str]
    text: str
    span: tuple[int, int] | None = None
    other: str = ""
    kind: ItemKind = "item"
    right: float | str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class RatingTask:
    """A rating task, the same for all raters.

    `question` is shown above each item. `points` are the points of the scale, empty for a choice. `layout` is the
    layout of the table of judgements (see `penchant.tables.judgement_database`), and `value` the name of its column of
    judgements. `language` is a BCP 47 tag, "und" if unknown. `instructions` is Markdown text.
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
        """The possible answers: the numbers of the scale points or, for a choice, `FIRST` and `SECOND`."""
        return (FIRST, SECOND) if self.kind == "choice" else tuple(point.value for point in self.points)

    @property
    def has_pairs(self) -> bool:
        """True if the items are pairs of sentences."""
        return self.kind == "choice" or self.layout == "sides"

    @property
    def has_words(self) -> bool:
        """True if the items are words in the gaps of sentences."""
        return self.layout == "long" and any({"sentence", "word"} <= item.key.keys() for item in self.items)

    def described(self) -> dict[str, Any]:
        """Return all fields except the items, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "items"}

    @property
    def sha256(self) -> str:
        """The SHA-256 hash of the task without its instructions, title and breaks, which may change."""
        asked = {name: value for name, value in asdict(self).items() if name not in ("instructions", "title", "breaks")}
        return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def task_of(described: Mapping[str, Any], items: tuple[Question, ...]) -> RatingTask:
    """Reconstruct a task from its stored description and its items."""
    points = tuple(Point(**point) for point in described["points"])
    return RatingTask(**{**described, "points": points}, items=items)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The owner's options that determine the items and the scale of a task.

    `task` selects one of an instrument's kinds of task, such as `choice` or `sentences`. If `everything` is true, words
    that are already rated are included. `without` contains result directories to ignore. For pairs, `columns` maps
    fields to columns of their tables, `files` are the tables of the study if the target is a study, and `per_group` is
    the number of pairs drawn from each group with `seed` (0 for all pairs). `most` is the number of predicted words
    to rate (0 for all words).
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
    most: int = 0
    seed: int = 0
