"""Value statements as a task for raters: one's own survey, on the scale of five that models are mapped to."""

from __future__ import annotations

from pathlib import Path

from penchant.instruments.values.data import HIGH, LOW, read_values
from penchant.rating.tasks import Point, Question, Task, Wishes
from penchant.tables.places import SET_FILE, bundled

_SETS = Path(__file__).parent / "sets"
_NAMES = ("strongly disagree", "disagree", "neither", "agree", "strongly agree")
_TOLD = """Each page shows a statement. Say how far **you yourself** agree with it. There are no right answers."""


def task(target: str, wishes: Wishes) -> Task | None:
    """The statements of a set; None for another target. Raises DataError."""
    path = Path(target)
    known = (path / SET_FILE).is_file() or path.name == SET_FILE
    if not known and target not in bundled(_SETS, SET_FILE):
        return None
    read = read_values(target)
    questions = tuple(Question({"id": each.id}, each.text) for each in read.statements)
    points = tuple(Point(float(n), name) for n, name in zip(range(LOW, HIGH + 1), _NAMES, strict=True))
    return Task(
        "How far do you agree?",
        "scale",
        wishes.question or "How far do you agree?",
        questions,
        points,
        layout="wide",
        value="answer",
        language=read.language,
        instructions=_TOLD,
    )
