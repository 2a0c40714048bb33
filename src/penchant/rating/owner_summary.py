"""Summary for the owner: progress, agreement over time, disputed items, and tables to export."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

from penchant.errors import visible
from penchant.rating.judgement_store import Rater, Store
from penchant.rating.pages import told
from penchant.rating.tasks import Question, RatingTask
from penchant.records import Estimate
from penchant.report.figures import Figure
from penchant.stats.agreement import Scale, krippendorff_alpha, raw_agreement
from penchant.stats.inputs import Counts
from penchant.tables.formula_escape import for_spreadsheets
from penchant.tables.judgement_database import CURRENT, judgement_rows

STEPS = 10
"""Number of points in time at which agreement is computed."""
MOST = 100
"""Maximum number of disputed items to show."""
RESAMPLES = 1_000
_SAID = f"""
    SELECT raters.name, places.item, said.value, places.repeated, said.seconds,
        COALESCE(said.skipped, ''), COALESCE(said.comment, '')
    FROM ({CURRENT}) AS said
    JOIN places ON places.rater = said.rater AND places.position = said.position
    JOIN raters ON raters.n = said.rater
    ORDER BY said.n
"""
_OF = """
    SELECT raters.name, COUNT(*) FROM places JOIN raters ON raters.n = places.rater GROUP BY raters.n ORDER BY raters.n
"""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer that was not retracted; `value` is None if the item was skipped."""

    rater: str
    item: int
    value: float | str | None
    repeated: bool
    seconds: float | None
    skipped: str
    comment: str


@dataclass(frozen=True, slots=True)
class RaterFacts:
    """A rater's progress and consistency.

    `repeats` counts the items answered twice, `same` the repeats with equal answers, and `apart` is the mean distance
    between the two answers (NaN for choices). `missed` of the `attention` items were answered incorrectly. `seconds` is
    the median time per item, NaN if no time is known.
    """

    name: str
    done: int
    of: int
    skipped: int
    seconds: float
    repeats: int
    same: int
    apart: float
    attention: int
    missed: int


@dataclass(frozen=True, slots=True)
class Disputed:
    """An item on which raters disagree, with all answers, the owner's last decision and the number of decisions."""

    item: int
    question: Question
    answers: tuple[tuple[str, str, str], ...]
    decision: str
    decided: int


@dataclass(frozen=True, slots=True)
class OwnerSummary:
    """Content of the owner's page.

    `shares` contains each possible answer with its count and proportion, `growth` the agreement after increasing
    numbers of judgements, and `more` is the number of disputed items that are not shown.
    """

    raters: tuple[RaterFacts, ...]
    agreement: Estimate
    raw: Estimate
    shares: tuple[tuple[str, int, float], ...]
    growth: tuple[tuple[int, Estimate], ...]
    disputed: tuple[Disputed, ...]
    more: int
    comments: tuple[tuple[str, Question, str], ...]
    skipped: tuple[tuple[str, Question, str], ...]
    """The rater, item and reason of each skip, latest first."""

    @property
    def drawn(self) -> bool:
        """True if agreement is known for two or more points in time, so that it can be plotted."""
        return sum(not np.isnan(estimate.value) for _, estimate in self.growth) > 1


def summarise(path: Path, task: RatingTask) -> OwnerSummary:
    """Return a summary of the answers in the database at `path`."""
    said, of, decisions = _read(path)
    disputed = _disputed(task, said, decisions)
    return OwnerSummary(
        tuple(_facts(task, name, number, [each for each in said if each.rater == name]) for name, number in of),
        alpha(task, said),
        raw_agreement(_counts(task, said), noun="items"),
        tuple(_shares(task, said)),
        tuple(growth(task, said)),
        tuple(disputed[:MOST]),
        max(0, len(disputed) - MOST),
        tuple((each.rater, task.items[each.item], each.comment) for each in reversed(said) if each.comment),
        tuple((each.rater, task.items[each.item], each.skipped) for each in reversed(said) if each.skipped),
    )


def code(store: Store, rater: Rater) -> str:
    """Return the completion code of a rater, which proves to the owner that the rater has finished."""
    return store.signed("done", rater.n, rater.token)[:8].upper()


def _reading(path: Path) -> closing[sqlite3.Connection]:
    """Open a read-only connection that does not block raters."""
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))


def _read(path: Path) -> tuple[list[KeptAnswer], list[tuple[str, int]], Mapping[int, list[tuple[object, str]]]]:
    decisions: dict[int, list[tuple[object, str]]] = {}
    with _reading(path) as database:
        said = [KeptAnswer(*row) for row in database.execute(_SAID)]
        of = list(database.execute(_OF))
        for item, value, comment in database.execute("SELECT item, value, comment FROM decisions ORDER BY n"):
            decisions.setdefault(item, []).append((value, comment or ""))
    return said, of, decisions


def _first(task: RatingTask, said: Sequence[KeptAnswer]) -> list[KeptAnswer]:
    """Return the first responses to regular items, including skips."""
    return [each for each in said if task.items[each.item].kind == "item" and not each.repeated]


def _counted(task: RatingTask, said: Sequence[KeptAnswer]) -> list[KeptAnswer]:
    """Return the first answers to regular items, without skips."""
    return [each for each in _first(task, said) if each.value is not None]


def _facts(task: RatingTask, name: str, of: int, said: Sequence[KeptAnswer]) -> RaterFacts:
    first = {each.item: each.value for each in _counted(task, said)}
    again = [(first[each.item], each.value) for each in said if each.repeated and each.item in first]
    both = [(a, b) for a, b in again if b is not None]
    apart = [abs(float(a) - float(b)) for a, b in both if a is not None and b is not None and task.kind == "scale"]
    watched = [each for each in said if task.items[each.item].kind == "attention"]
    times = [each.seconds for each in said if each.seconds is not None]
    return RaterFacts(
        name=name,
        done=len(said),
        of=of,
        skipped=sum(each.value is None for each in said),
        seconds=median(times) if times else float("nan"),
        repeats=len(both),
        same=sum(a == b for a, b in both),
        apart=float(np.mean(apart)) if apart else float("nan"),
        attention=len(watched),
        missed=sum(each.value != task.items[each.item].right for each in watched),
    )


def alpha(task: RatingTask, said: Sequence[KeptAnswer]) -> Estimate:
    """Return Krippendorff's α of the judgements, with the ordinal metric for a scale and the nominal for choices.

    The result is the same as from `penchant ratings agreement`.
    """
    domain = list(range(len(task.answers))) if task.kind == "choice" else list(task.answers)
    kind: Scale = "nominal" if task.kind == "choice" else "ordinal"
    return krippendorff_alpha(_counts(task, said), domain=domain, scale=kind, seed=0, resamples=RESAMPLES)


def _counts(task: RatingTask, said: Sequence[KeptAnswer]) -> Counts:
    rows: dict[int, Counts] = {}
    for each in sorted(_counted(task, said), key=lambda each: each.item):
        row = rows.setdefault(each.item, np.zeros(len(task.answers), dtype=np.int64))
        row[task.answers.index(each.value)] += 1
    return np.array(list(rows.values()), dtype=np.int64).reshape(-1, len(task.answers))


def _shares(task: RatingTask, said: Sequence[KeptAnswer]) -> Iterator[tuple[str, int, float]]:
    times = _counts(task, said).sum(axis=0)
    for answer, n in zip(task.answers, times.tolist(), strict=True):
        label = f"the {answer} sentence" if task.kind == "choice" else f"{answer:g}"
        yield label, n, n / max(1, int(times.sum()))


def growth(task: RatingTask, said: Sequence[KeptAnswer]) -> list[tuple[int, Estimate]]:
    """Return the agreement after each tenth of the judgements, with the number of judgements used."""
    counted = _counted(task, said)
    ends = sorted({len(counted) * step // STEPS for step in range(1, STEPS + 1)} - {0})
    return [(end, alpha(task, counted[:end])) for end in ends]


def growth_svg(path: Path, task: RatingTask) -> str:
    """Return an SVG figure of the agreement over time."""
    from penchant.report.lazy_altair import alt

    grown = growth(task, _read(path)[0])
    rows = [{"judgements": n, "alpha": e.value, "low": e.low, "high": e.high} for n, e in grown]
    known = [row for row in rows if row["alpha"] == row["alpha"]]
    base = alt.Chart(pl.DataFrame(known, schema=dict.fromkeys(("judgements", "alpha", "low", "high"), pl.Float64)))
    across = alt.X("judgements:Q", title="judgements", scale=alt.Scale(zero=True))
    scale = alt.Scale(domain=[min([0.0, *(row["low"] for row in known if row["low"] == row["low"])]), 1])
    chart = alt.layer(
        base.mark_area(opacity=0.25, color="#0072B2").encode(
            across, alt.Y("low:Q", title="α", scale=scale), alt.Y2("high:Q")
        ),
        base.mark_line(point=True, color="#0072B2").encode(across, alt.Y("alpha:Q", title="α", scale=scale)),
    ).properties(width=360, height=160, background="white")
    text = "Krippendorff's alpha after each tenth of the judgements, with its interval."
    return Figure("alpha", "Agreement as it grows", text, chart).svg()


def _disputed(
    task: RatingTask, said: Sequence[KeptAnswer], decisions: Mapping[int, Sequence[tuple[object, str]]]
) -> list[Disputed]:
    by_item: dict[int, list[KeptAnswer]] = {}
    for each in _first(task, said):
        by_item.setdefault(each.item, []).append(each)
    found = []
    for item, every in by_item.items():
        places = [task.answers.index(each.value) for each in every if each.value is not None]
        if not places or max(places) == min(places) or (task.kind == "scale" and max(places) - min(places) < 2):
            continue
        question = task.items[item]
        answers = tuple(
            (each.rater, _said(task, question, each), each.comment) for each in sorted(every, key=lambda e: e.rater)
        )
        decided = decisions.get(item, [])
        decision = told(task, question, decided[-1][0]) if decided else ""  # type: ignore[arg-type]
        spread = (max(places) - min(places), float(np.var(places)))
        found.append((spread, Disputed(item, question, answers, decision, len(decided))))
    return [each for _, each in sorted(found, key=lambda pair: (pair[0], -pair[1].item), reverse=True)]


def _said(task: RatingTask, question: Question, each: KeptAnswer) -> str:
    return f"skipped: {each.skipped}" if each.value is None else told(task, question, each.value)


# Tables ---------------------------------------------------------------------------------------------------------------

Cells = Mapping[str, object]


def _judgements(path: Path, task: RatingTask) -> list[Cells]:
    with _reading(path) as database:
        data = database.serialize()
    return [row.values for row in judgement_rows(data, path)]


def _decisions(path: Path, task: RatingTask) -> list[Cells]:
    return [
        {**task.items[item].key, task.value: str(decided[-1][0]), "comment": decided[-1][1]}
        for item, decided in sorted(_read(path)[2].items())
    ]


def _comments(path: Path, task: RatingTask) -> list[Cells]:
    return [
        {**task.items[each.item].key, "rater": each.rater, "skipped": each.skipped, "comment": visible(each.comment)}
        for each in _read(path)[0]
        if each.comment or each.skipped
    ]


EXPORTS: Mapping[str, Callable[[Path, RatingTask], list[Cells]]] = {
    "judgements.csv": _judgements,
    "decisions.csv": _decisions,
    "comments.csv": _comments,
}


def exported(name: str, path: Path, task: RatingTask) -> str:
    """Return the export called `name` as CSV; "" if it has no rows."""
    rows = EXPORTS[name](path, task)
    return for_spreadsheets(pl.DataFrame(rows, infer_schema_length=None, strict=False)).write_csv() if rows else ""
