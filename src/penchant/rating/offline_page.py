"""Rating pages that work without a server: they keep answers in the browser and save them as a table.

Instruments read this table. Its first row also contains the complete journal of answers, which `take_in` imports.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penchant.errors import DataError, OutputError, visible
from penchant.files import distinct, write_text
from penchant.rating.judgement_store import Rater, Store
from penchant.rating.pages import ASSETS, REASONS, direction, instructions, page, parts
from penchant.rating.server import COMMENT
from penchant.rating.tasks import Question, RatingTask
from penchant.text_io import read_text

JOURNAL = "penchant journal"
"""Name of the column whose first cell contains the complete journal."""
_LARGEST = 50 << 20


@dataclass(frozen=True, slots=True)
class Taken:
    """The rater of an imported file, and the numbers of new and of already known answers."""

    rater: str
    new: int
    known: int


def write_pages(store: Store, folder: str | Path) -> list[Path]:
    """Write a page for each rater and return the paths; raise OutputError if there are no raters or writing fails."""
    raters = store.raters()
    if not raters:
        raise OutputError("there are no raters yet", where=str(folder), hint="add them with --raters anna,ben")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot be created: {error.strerror or error}", where=str(place)) from error
    style, script = ((ASSETS / name).read_text("utf-8") for name in ("rate.css", "onepage.js"))
    written: list[Path] = []
    for rater in raters:
        name = distinct(rater.name, [path.stem for path in written])
        html = page(
            "onepage",
            title=store.task.title,
            style=style,
            script=script,
            policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
            "form-action 'none'; img-src data:",
            told=instructions(store.task),
            data=_embedded(_given(store, rater)),
        )
        write_text(html, place / f"{name}.html")
        written.append(place / f"{name}.html")
    return written


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _embedded(value: object) -> str:
    """Return a value as JSON that is safe inside a script element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _given(store: Store, rater: Rater) -> dict[str, Any]:
    task = store.task
    seen: set[int] = set()
    items = []
    for position in range(1, store.progress(rater).of + 1):
        showing = store.showing(rater, position)
        assert showing is not None
        number = task.items.index(showing.question)
        items.append(_item(task, showing.question, turned=showing.turned, repeated=number in seen))
        seen.add(number)
    return {
        "rater": rater.name,
        "n": rater.n,
        "task": task.sha256,
        "sign": store.signed("page", rater.n, rater.token),
        "kind": task.kind,
        "layout": task.layout,
        "value": task.value,
        "question": visible(task.question),
        "language": task.language,
        "direction": direction(task.language),
        "breaks": task.breaks,
        "answers": list(task.answers),
        "labels": [visible(point.label) for point in task.points],
        "reasons": list(REASONS),
        "items": items,
    }


def _item(task: RatingTask, question: Question, *, turned: bool, repeated: bool) -> dict[str, Any]:
    right = task.answers.index(question.right) if question.right is not None else None
    practice = question.kind == "practice"
    return {
        "key": dict(question.key),
        "parts": [visible(part) for part in parts(question)],
        "other": visible(question.other),
        "turned": turned,
        "counts": question.kind == "item" and not repeated,
        "practice": practice,
        "right": right if practice else None,
        "why": visible(question.why) if practice else "",
    }


def take_in(store: Store, files: Sequence[str | Path]) -> list[Taken]:
    """Import the answers in the files, and return each file's rater with the numbers of answers.

    Raises DataError, without importing any answer, if a file was not saved by a page of `store` or is invalid.
    """
    with store.change():
        return [_take_in(store, Path(file)) for file in files]


def _take_in(store: Store, path: Path) -> Taken:
    journal = _journal(path)
    rater = next((each for each in store.raters() if each.n == journal.get("n")), None)
    if rater is None or journal.get("sign") != store.signed("page", rater.n, rater.token):
        raise DataError(
            "was saved by the rating page of another database",
            file=path,
            hint="give the database from which the page was made",
        )
    if journal.get("task") != store.task.sha256:
        raise DataError("was saved by a page of another task", file=path)
    answers = journal.get("said")
    new = known = 0
    for entry in answers if isinstance(answers, list) else []:
        position, value, skipped, comment, seconds = _checked(store.task, entry, path)
        showing = store.showing(rater, position)
        if showing is None:
            raise DataError(f"has an answer to item {position}, which is not in the list of {rater.name}", file=path)
        if showing.stands and (showing.value, showing.skipped) == (value, skipped):
            known += 1
            continue
        store.answer(rater, showing, value, skipped=skipped, comment=comment, seconds=seconds)
        new += 1
    return Taken(rater.name, new, known)


def _journal(path: Path) -> dict[str, Any]:
    text = read_text(path, largest=_LARGEST)
    try:
        return dict(json.loads(text)[0][JOURNAL])
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise DataError("was not saved by a rater's page", file=path) from error


def _checked(task: RatingTask, entry: object, path: Path) -> tuple[int, float | str | None, str, str, float | None]:
    """Validate a journal entry and return its fields as the database stores them."""
    if not isinstance(entry, Mapping):
        raise DataError("contains a damaged answer", file=path)
    position, number, seconds = entry.get("position"), entry.get("answer"), entry.get("seconds")
    skipped, comment = str(entry.get("skipped") or ""), str(entry.get("comment") or "")[:COMMENT]
    whole = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(task.answers)
    if not isinstance(position, int) or not (whole or (number is None and skipped in REASONS)):
        raise DataError(f"contains an invalid answer: {number!r}", file=path)
    time = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e7 else None
    return position, task.answers[number] if isinstance(number, int) else None, "" if whole else skipped, comment, time
