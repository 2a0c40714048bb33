"""Minimal pairs as a task for raters: a choice between the two sentences, or each sentence on a scale of seven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penchant.corpus.sampling import spread
from penchant.errors import MethodError, one_of
from penchant.instruments.minimal_pairs.data import read_many, whole
from penchant.rating.tasks import Point, Question, Task, Wishes
from penchant.records import Item
from penchant.tables.places import SET_FILE

CHOICE, SENTENCES = "choice", "sentences"
_POINTS = 7
_CHOOSE = """Each page shows two sentences. Choose the one that **sounds better** to you – as you would say it or hear
it said, not as a grammar book would have it. There are no right answers; do not think long."""
_RATE = """Each page shows a sentence. Say how **natural** it sounds to you, from 1 (nobody would say that) to 7
(perfectly natural) – not whether it is true or likely. There are no right answers; do not think long."""


def task(target: str, wishes: Wishes) -> Task | None:
    """The pairs of a table, of the tables in a directory, or of a study; None for another target. Raises DataError,
    MethodError."""
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
    if way == CHOICE:
        asked = wishes.question or "Which sentence sounds better?"
        return Task(
            "Which sentence sounds better?", "choice", asked, tuple(questions), value="choice", instructions=_CHOOSE
        )
    ends = {1: "nobody would say that", _POINTS: "perfectly natural"}
    return Task(
        "How natural are these sentences?",
        "scale",
        wishes.question or "How natural does this sentence sound?",
        tuple(questions),
        tuple(Point(float(n), ends.get(n, "")) for n in range(1, _POINTS + 1)),
        layout="sides",
        instructions=_RATE,
    )


def _drawn(items: Sequence[Item], wishes: Wishes) -> list[Item]:
    """Some pairs of every group, in their order, drawn with the seed by their sentences alone."""
    groups: dict[tuple[str, str], list[tuple[int, Item]]] = {}
    for place, item in enumerate(items):
        groups.setdefault((item.labels["dataset"], item.labels["paradigm"]), []).append((place, item))
    drawn = [
        each
        for members in groups.values()
        for each in spread(
            members,
            wishes.per_group,
            seed=wishes.seed,
            content=lambda one: (one[1].texts["good"], one[1].texts["bad"]),
            group=lambda one: "",
        )
    ]
    return [item for _, item in sorted(drawn, key=lambda one: one[0])]
