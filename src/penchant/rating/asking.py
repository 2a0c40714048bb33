"""From a target to a task: what instruments, or a table, ask of people, with what the owner adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from penchant.errors import DataError, MethodError
from penchant.numerals import numeral
from penchant.rating.tables import declared, texts_task
from penchant.rating.tasks import Task, Wishes
from penchant.reading import read_text

Judge = Callable[[str, Wishes], Task | None]
_LONGEST = 1 << 20
"""The most bytes of instructions."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the owner adds to a task."""

    instructions: Path | None = None
    practice: Path | None = None
    attention: Path | None = None
    repeat: float = 0.05
    breaks: int = 50
    seed: int = 0


def share(text: str) -> float:
    """A share between 0 and 1, as 5% or 0.05. Raises MethodError."""
    number, percent, rest = text.strip().partition("%")
    value = numeral(number)
    value = -1 if value is None else value / (100 if percent else 1)
    if rest or not 0 <= value <= 1:
        raise MethodError(f"'{text}' is no share", where="--repeat", hint="such as 5% or 0.05")
    return value


def task_of_target(target: str, wishes: Wishes, given: Given, judges: Sequence[Judge]) -> Task:
    """The task of a target: of its texts where a column is named, else what the first instrument makes of it that knows
    it. Raises DataError, MethodError or StudyError."""
    for_pairs = wishes.columns or wishes.per_group
    if wishes.column and for_pairs:
        raise MethodError("--good, --bad, --group, --id and --per-group are for pairs", hint="leave out --column")
    if wishes.column:
        task = texts_task(Path(target), wishes.column, wishes.scale, wishes.question)
    elif wishes.scale:
        raise MethodError("--scale is for a table of texts", hint="name their column with --column")
    else:
        found = (judge(target, wishes) for judge in judges)
        known = next((task for task in found if task is not None), None)
        if known is None:
            raise MethodError(
                "is nothing that people can judge",
                where=target,
                hint="name a result directory of cloze, a table of pairs, a set of value statements, or a table with "
                "--column",
            )
        if for_pairs and not known.has_pairs:
            told = "--good, --bad, --group, --id and --per-group are for pairs"
            raise MethodError(told, where=target, hint="leave them out")
        task = known
    if not task.items:
        raise DataError("holds nothing to judge", file=target)
    added = [
        *(declared(given.practice, task, "practice") if given.practice else ()),
        *(declared(given.attention, task, "attention") if given.attention else ()),
    ]
    told = read_text(given.instructions, largest=_LONGEST) if given.instructions else task.instructions
    return replace(
        task,
        items=(*task.items, *added),
        instructions=told,
        repeat=given.repeat,
        breaks=given.breaks,
        seed=given.seed,
    )
