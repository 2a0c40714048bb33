"""Words in their gaps, as a task for raters: where does each stand between the two varieties?"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from penchant.errors import StudyError
from penchant.instruments.cloze.data import GAP
from penchant.instruments.cloze.ratings import cloze_results, unrated
from penchant.instruments.cloze.scale import POINTS
from penchant.rating.tasks import Point, Question, Task, Wishes

_NAMES = ("{low}", "rather {low}", "both or neither", "rather {high}", "{high}")
_TOLD = """Each page shows a sentence with one word marked. Say of which variety the **marked word** is typical in this
sentence – not whether the sentence is true, nor whether the word is the best one there.

If you do not know the word, skip it and say so."""


def task(target: str, wishes: Wishes) -> Task | None:
    """The words that models predicted in a result directory and nobody rated, or all; None for another target. Raises
    StudyError."""
    folder = Path(target)
    if not any(any(folder.glob(f"{depth}signature.txt")) for depth in ("", "*/", "*/*/")):
        return None
    results = cloze_results(folder, without=wishes.without)
    words = unrated(results, estimated=True, rated=True) if wishes.everything else unrated(results)
    if not len(words):
        raise StudyError("every predicted word is rated", where=target, hint="--all asks for all words again")
    low, _, high = results[0].signature.get("scale", "").partition(" < ")
    names = {"low": low or "−1", "high": high or "+1"}
    questions = []
    for id_, text, word, filled in words.select("sentence", "text", "word", "filled").iter_rows():
        start = unicodedata.normalize("NFC", text[: text.index(GAP)])
        span = (len(start), len(start) + len(word))
        shown = unicodedata.normalize("NFC", filled)
        questions.append(Question({"sentence": id_, "text": text, "word": word}, shown, span))
    return Task(
        f"Words between {names['low']} and {names['high']}",
        "scale",
        wishes.question or "Which variety is the marked word typical of, in this sentence?",
        tuple(questions),
        tuple(Point(value, name.format(**names)) for value, name in zip(POINTS, _NAMES, strict=True)),
        language=results[0].signature.get("language", "und"),
        instructions=_TOLD,
    )
