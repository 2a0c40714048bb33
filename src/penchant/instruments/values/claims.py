"""Claims about value statements: leanings, mirrored negations, and differences from people and between models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penchant.instruments.values.cautions import WEAK
from penchant.instruments.values.data import EVERYTHING, HIGH, LOW, MIDDLE
from penchant.instruments.values.estimates import MEAN, MIRROR_CORRELATION
from penchant.instruments.values.group_distance import NEARER
from penchant.instruments.values.representativeness import FROM_SURVEY
from penchant.instruments.values.result_facts import is_synthetic
from penchant.instruments.values.tables import group_pairs
from penchant.records import BaseResult
from penchant.report.significance import Shown, measured, told
from penchant.report.verdicts import YES
from penchant.views.claims import Claim, judged
from penchant.views.row_selection import FIRST, At, Line, RowSource, but

_WIDTH = HIGH - LOW
_RATING = Shown(".2f", "statements", null=MIDDLE, ends=(LOW, HIGH))
_GAP = Shown("+.2f", "statements", " points", ends=(-_WIDTH, _WIDTH))
_DISTANCE = replace(_GAP, form=".2f")
_CORRELATION = Shown("+.2f", "statements", ends=(-1, 1))
RATINGS = 0.2
"""The smallest difference of ratings of interest: Cohen's small effect where people's answers have an sd of 1 point."""
DISTANCES = 0.1
"""The smallest difference of distances of interest: half of `RATINGS`, as the groups' distance limits it."""
CORRELATIONS = 0.1
"""The smallest correlation of interest: Cohen's small effect."""
_BY_VALUE: Mapping[str, Any] = {"variant": FIRST, "dimension": but(EVERYTHING)}


def _place(line: Line) -> str:
    """Return the phrase for a verdict's topic: a value or groups of people, and the speaker if there are several."""
    groups = {row["group"] for row in line.source.only(At(measure=line["measure"]))}
    what = line["item"] or (line["dimension"] if line["dimension"] != EVERYTHING else "")
    group = f"{line['group']} speaker" if len(groups) > 1 else ""
    return f"{what} ({group})" if what and group else what or group


def _nearer(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the differences between a model's distances from two groups of people, over all statements.

    A clear difference gets a positive sign, and its item says which group of people the model is nearer to.
    """
    for source in found:
        lines = source.only(At(measure=NEARER, variant=FIRST))
        overall = [line for line in lines if line["dimension"] == EVERYTHING]
        for line in overall or lines:
            row = line.row
            if judged(row, _DISTANCE, DISTANCES)[0] == YES:
                far, near = group_pairs(source)[row["item"]]
                if row["value"] < 0:
                    far, near = near, far
                    row = {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}
                row = {**row, "item": f"{near} than to {far}"}
            yield replace(line, row=row)


def _unmirrored(line: Line, results: Sequence[BaseResult]) -> str:
    """Return "unmirrored" if negations do not mirror the ratings, which then decide nothing, else ""."""
    check = line.at(measure=MIRROR_CORRELATION, dimension=EVERYTHING, item="")
    return "unmirrored" if check is not None and check["value"] < WEAK and measured([line.row]) else ""


def _of_people(line: Line, results: Sequence[BaseResult]) -> str:
    assert line.source.result is not None
    return "synthetic" if is_synthetic(line.source.result) and measured([line.row]) else _unmirrored(line, results)


def _weak(line: Line, results: Sequence[BaseResult]) -> str:
    return "weak" if told(line.row) and 0 < line["value"] < WEAK else ""


CLAIMS = (
    Claim("agrees", At(measure=MEAN, **_BY_VALUE), _RATING, RATINGS, place=_place, barred=_unmirrored),
    Claim(
        "mirrored",
        At(measure=MIRROR_CORRELATION, variant=FIRST),
        *(_CORRELATION, CORRELATIONS),
        place=_place,
        barred=_weak,
    ),
    Claim("survey", At(measure=FROM_SURVEY, **_BY_VALUE), _GAP, RATINGS, place=_place, barred=_of_people),
    Claim("nearer", _nearer, _DISTANCE, DISTANCES, place=_place, figure="people", barred=_of_people),
    Claim("more", At(**_BY_VALUE), _GAP, RATINGS, compared=True, place=_place),
)
