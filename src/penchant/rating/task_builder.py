"""Construction of a rating task from a table or an instrument's items, and from the owner's options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from penchant.errors import DataError, MethodError
from penchant.number_parsing import numeral
from penchant.rating.tasks import FIRST, ItemKind, Point, Question, RatingTask, Wishes
from penchant.tables.data_lookup import suggestion
from penchant.tables.rows import FileRow, read_rows
from penchant.text_io import read_text
from penchant.unicode_spellings import as_named

Judge = Callable[[str, Wishes], RatingTask | None]
_LONGEST = 1 << 20
"""Maximum size of the instructions in bytes."""
_MOST = 9
"""Maximum number of points of a scale, since each point has a digit key on the keyboard."""
_LARGEST = 1_000_000
"""Maximum absolute value of a point."""
_RANGE = re.compile(r"\s*([0-9]{1,6})\s*-\s*([0-9]{1,6})\s*")


@dataclass(frozen=True, slots=True)
class Given:
    """The owner's options for instructions, additional items, repeats and breaks."""

    instructions: Path | None = None
    practice: Path | None = None
    attention: Path | None = None
    repeat: float = 0.05
    breaks: int = 50
    seed: int = 0


def share(text: str) -> float:
    """Parse a proportion such as 5% or 0.05; raise MethodError if it is not between 0 and 1."""
    number, percent, rest = text.strip().partition("%")
    value = numeral(number)
    value = -1 if value is None else value / (100 if percent else 1)
    if rest or not 0 <= value <= 1:
        raise MethodError(f"'{text}' is not a proportion from 0 to 1", where="--repeat", hint="write it as 5% or 0.05")
    return value


def task_of_target(target: str, wishes: Wishes, given: Given, judges: Sequence[Judge]) -> RatingTask:
    """Return the rating task for a target, such as a table, a folder or a result directory.

    If `wishes` names a column, the items are the texts in that column of a table. Otherwise, the task is made by the
    first of `judges`, the instruments' functions, that recognises the target. Raises MethodError if none of them does
    or an option does not apply, and DataError or StudyError if the target is invalid.
    """
    task = _task(target, wishes, judges)
    if not task.items:
        raise DataError("contains no items to rate", file=target)
    practice = _declared(given.practice, task, "practice") if given.practice else ()
    attention = _declared(given.attention, task, "attention") if given.attention else ()
    text = read_text(given.instructions, largest=_LONGEST) if given.instructions else task.instructions
    items = (*task.items, *practice, *attention)
    return replace(task, items=items, instructions=text, repeat=given.repeat, breaks=given.breaks, seed=given.seed)


def _task(target: str, wishes: Wishes, judges: Sequence[Judge]) -> RatingTask:
    for_pairs = wishes.columns or wishes.per_group
    message = "--good, --bad, --group, --id and --per-group apply only to pairs"
    if wishes.column and for_pairs:
        raise MethodError(message, hint="omit --column")
    if wishes.column and wishes.most:
        raise MethodError("--limit applies only to words in gaps", hint="omit --column")
    if wishes.column:
        return _texts_task(Path(target), wishes)
    if wishes.scale:
        raise MethodError("--scale requires a table of texts", hint="give the column of texts with --column")
    tasks = (judge(target, wishes) for judge in judges)
    task = next((task for task in tasks if task is not None), None)
    if task is None:
        hint = "give a result directory of cloze, a table of pairs, a set of value statements, or a table with --column"
        raise MethodError("contains no items to rate", where=target, hint=hint)
    if for_pairs and not task.has_pairs:
        raise MethodError(message, where=target, hint="omit them")
    if wishes.most and not task.has_words:
        raise MethodError("--limit applies only to words in gaps", where=target, hint="omit it")
    return task


def scale_points(text: str) -> tuple[Point, ...]:
    """Parse the points of a scale such as "1-7", "1=bad,2,3=good" or "no,perhaps,yes".

    Points without numbers are numbered from 1. Raises MethodError if the scale is invalid.
    """
    whole = _RANGE.fullmatch(text)
    if whole:
        first, last = int(whole[1]), int(whole[2])
        points = [Point(float(n)) for n in range(first, min(last, first + _MOST) + 1)]
    else:
        points = list(_named(text))
    labels = [as_named(point.label) for point in points if point.label]
    if len(set(labels)) < len(labels):
        raise MethodError(f"two points of '{text}' have the same name", where="--scale", hint="use different names")
    if not 2 <= len(points) <= _MOST or any(b.value <= a.value for a, b in pairwise(points)):
        message = f"'{text}' is not a scale of 2 to {_MOST} ascending points"
        raise MethodError(message, where="--scale", hint='write it like 1-7, "1=bad,2,3=good" or "no,perhaps,yes"')
    return tuple(points)


def _named(text: str) -> Iterator[Point]:
    parts = [part.strip() for part in text.split(",")]
    numbered = any(_number(part.partition("=")[0]) is not None for part in parts)
    for n, part in enumerate(parts, 1):
        number, _, label = part.partition("=")
        value = _number(number)
        if numbered and value is None:
            raise MethodError(
                f"the point '{part}' has no number", where="--scale", hint='write it like "1=bad,2,3=good"'
            )
        yield Point(value, label.strip()) if value is not None else Point(float(n), part)


def _number(text: str) -> float | None:
    number = numeral(text.replace("−", "-"))
    return None if number is None or abs(number) > _LARGEST else float(number)


def _texts_task(path: Path, wishes: Wishes) -> RatingTask:
    """Return the task of rating the texts in a column of a table; a judgement keeps all cells of the text's row."""
    rows = read_rows(path)
    points = scale_points(wishes.scale or "1-5")
    reserved = {"rater", "rating"} & set(rows[0].values)
    if reserved:
        message = f"the column name '{min(reserved)}' is reserved for the table of judgements"
        raise DataError(message, file=path, hint="rename the column")
    items = tuple(
        Question(
            {name: "" if cell is None else str(cell) for name, cell in row.values.items()},
            _cell(row, wishes.column, path),
        )
        for row in rows
    )
    return RatingTask(path.stem, "scale", wishes.question or "How do you rate this?", items, points)


def _declared(path: Path, task: RatingTask, kind: ItemKind) -> Iterator[Question]:
    """Yield the practice or attention items in a table.

    For a scale, the columns of the table are `text`, `right` and, optionally, `word` (a part of the text to mark) and
    `why`; for choices, they are `good`, `bad` and, optionally, `why`.
    """
    for row in read_rows(path):
        why = str(row.values.get("why") or "")
        if task.kind == "choice":
            good, bad = (_cell(row, name, path) for name in ("good", "bad"))
            yield Question({}, good, other=bad, kind=kind, right=FIRST, why=why)
            continue
        text = _cell(row, "text", path)
        cell = row.number(row.values.get("right"))
        right = None if cell in (None, "") else _number(str(cell))
        if right not in task.answers and (kind == "attention" or cell not in (None, "")):
            known = ", ".join(f"{answer:g}" for answer in task.answers if isinstance(answer, float))
            message = f"'{'' if cell is None else cell}' is not a point of the scale"
            raise DataError(message, file=path, line=row.line, field="right", hint=f"use one of {known}")
        question = Question({}, text, kind=kind, right=right, why=why)
        yield _marked(question, str(row.values.get("word") or ""), row, path)


def _marked(question: Question, word: str, row: FileRow, path: Path) -> Question:
    if not word:
        return question
    start = question.text.find(word)
    if start < 0:
        raise DataError(f"the text does not contain '{word}'", file=path, line=row.line, field="word")
    return replace(question, span=(start, start + len(word)))


def _cell(row: FileRow, column: str, path: Path) -> str:
    if column not in row.values:
        message = f"there is no column '{column}'"
        raise DataError(message, file=path, hint=suggestion(column, list(row.values)))
    cell = row.values[column]
    if cell is None or not str(cell).strip():
        raise DataError("the text is blank", file=path, line=row.line, field=column)
    return str(cell)
