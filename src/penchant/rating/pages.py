"""HTML pages for raters and the owner; all external text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from penchant.errors import missing_package, visible
from penchant.rating.judgement_store import Progress, Showing
from penchant.rating.tasks import FIRST, SECOND, Question, RatingTask

ASSETS = Path(__file__).parent / "assets"
REASONS = ("I do not understand it", "It is not a sentence of this language", "I cannot decide", "Another reason")
"""The reasons for skipping an item."""
_RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "nqo", "ps", "sd", "syr", "ug", "ur", "yi")


def page(name: str, /, **context: Any) -> str:
    """Render the page called `name` with the variables in `context`."""
    return _environment().get_template(f"{name}.html").render(context)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters["visible"] = visible
    return environment


def direction(language: str) -> str:
    """Return the HTML `dir` value of a language: "rtl" for known right-to-left languages, otherwise "auto"."""
    return "rtl" if language.partition("-")[0].lower() in _RIGHT_TO_LEFT else "auto"


def instructions(task: RatingTask) -> str:
    """Return the owner's Markdown instructions as HTML, with any HTML in them escaped.

    Raises MethodError if the Markdown package is missing.
    """
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise missing_package("markdown_it", "rate", error) from error
    return str(MarkdownIt("js-default", {"html": False}).disable("image").render(visible(task.instructions)))


def parts(question: Question) -> tuple[str, str, str]:
    """Return the text before the marked word, the marked word, and the text after it."""
    start, end = question.span or (0, 0)
    return question.text[:start], question.text[start:end], question.text[end:]


def shown(task: RatingTask, showing: Showing, progress: Progress) -> Mapping[str, Any]:
    """Return the template variables of an item's page."""
    chosen = task.answers.index(showing.value) if showing.value in task.answers else None
    sides = [(0, showing.question.text), (1, showing.question.other)]
    return {
        "task": task,
        "question": showing.question,
        "parts": parts(showing.question),
        "sides": sides[::-1] if showing.turned else sides,
        "chosen": chosen,
        "comment": showing.comment,
        "progress": progress,
        "reasons": REASONS,
        "direction": direction(task.language),
    }


def told(task: RatingTask, question: Question, value: float | str) -> str:
    """Return the text of an answer, as shown to raters."""
    if task.kind == "choice":
        return {FIRST: question.text, SECOND: question.other}.get(str(value), str(value))
    label = next((point.label for point in task.points if point.value == value), "")
    number = f"{value:g}" if isinstance(value, float | int) else str(value)
    return f"{number} ({label})" if label else number
