"""Rating task for minimal pairs: a choice between the two sentences, or ratings on a seven-point scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penchant.corpus.priority_sampling import spread
from penchant.errors import MethodError, one_of
from penchant.instruments.minimal_pairs.data import read_many, whole
from penchant.rating.tasks import Point, Question, RatingTask, Wishes
from penchant.records import Item
from penchant.tables.data_lookup import SET_FILE
from penchant.wording.templates import Text

CHOICE, SENTENCES = "choice", "sentences"
_POINTS = 7
_WORDS = Text.of(Path(__file__).parent).below("judging")


def task(target: str, wishes: Wishes) -> RatingTask | None:
    """Return the rating task for the pairs in a table, folder or study; None if the target is something else.

    Raises DataError if the pairs are invalid, and MethodError if the kind of task is unknown.
    """
    path = Path(target)
    if not path.exists() or (path.suffix.lower() in (".yaml", ".yml") and not wishes.files):
        return None
    if path.is_dir() and any((path / name).exists() for name in (SET_FILE, "manifest.json", "signature.txt")):
        return None
    way = wishes.task or CHOICE
    if way not in (CHOICE, SENTENCES):
        raise MethodError(f"unknown task '{way}'", where="--task", hint=one_of(way, (CHOICE, SENTENCES)))
    questions = []
    every = [item for pairs in read_many(wishes.files or [path], wishes.columns) for item in pairs.items]
    for item in _drawn(every, wishes) if wishes.per_group else every:
        good, bad = item.texts["good"], item.texts["bad"]
        key = {"dataset": item.labels["dataset"], "pair": item.id, "good": good, "bad": bad}
        if way == CHOICE:
            questions.append(Question(key, whole(item, "good"), other=whole(item, "bad")))
        else:
            questions += [Question({**key, "side": side}, whole(item, side)) for side in ("good", "bad")]
    words = _WORDS.below(way)
    title, question, instructions = (words.get(key) for key in ("title", "question", "instructions"))
    question = wishes.question or question
    if way == CHOICE:
        return RatingTask(title, "choice", question, tuple(questions), value="choice", instructions=instructions)
    ends = {1: words.get("low"), _POINTS: words.get("high")}
    points = tuple(Point(float(n), ends.get(n, "")) for n in range(1, _POINTS + 1))
    return RatingTask(title, "scale", question, tuple(questions), points, layout="sides", instructions=instructions)


def _drawn(items: Sequence[Item], wishes: Wishes) -> list[Item]:
    """Return a sample of each group, in the order of `items`; it depends only on the seed and the sentences."""
    groups: dict[tuple[str, str], list[tuple[int, Item]]] = {}
    for numbered in enumerate(items):
        labels = numbered[1].labels
        groups.setdefault((labels["dataset"], labels["group"]), []).append(numbered)

    def content(numbered: tuple[int, Item]) -> tuple[str, str]:
        return numbered[1].texts["good"], numbered[1].texts["bad"]

    drawn = dict(
        each
        for members in groups.values()
        for each in spread(members, wishes.per_group, seed=wishes.seed, content=content, group=lambda _: "")
    )
    return [drawn[number] for number in sorted(drawn)]
