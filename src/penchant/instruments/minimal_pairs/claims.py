"""Claims about minimal pairs: preferred sentence, effect of length, and comparison of models with models or people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from penchant.instruments.minimal_pairs.compare import EQUAL
from penchant.instruments.minimal_pairs.estimates import ACCURACY, GAP, UNEQUAL
from penchant.instruments.minimal_pairs.fair_versus_original import GAIN
from penchant.instruments.minimal_pairs.fixed_group_estimates import THESE, for_these_groups, of_groups
from penchant.instruments.minimal_pairs.human_estimates import EQUAL_LENGTH, MINUS_PEOPLE
from penchant.instruments.minimal_pairs.pair_credits import ALL, STEREOTYPE, of_stereotypes
from penchant.instruments.minimal_pairs.settings import DIFFERENCE
from penchant.plurals import counted
from penchant.records import SIDES, BaseResult
from penchant.report.significance import Shown, measured, outside, told
from penchant.views.claims import Claim
from penchant.views.row_selection import FIRST, At, Line, RowSource
from penchant.wording.phrases import notes_of, read_method
from penchant.wording.templates import named

_SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
_STEREOTYPE = Shown(".1f", "pairs", "%", 1, 50, (0, 100))
_POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))
PREFERENCE, LENGTH, MODELS = 0.05, 0.05, 0.02
"""Smallest effects of interest on accuracy, for a preference, for token length and for a difference between models."""


def _overall(measure: str, wanted: Callable[[RowSource, str], bool], **levels: Any) -> Callable[..., Iterator[Line]]:
    """Return a function that yields one row of `measure`, over all pairs, for each data set that `wanted` accepts.

    If the data set has few groups, it is the row for exactly these groups, otherwise the row with the values `levels`
    in further columns.
    """

    def rows(found: Sequence[RowSource]) -> Iterator[Line]:
        for source in found:
            for name in source.frame["dataset"].unique(maintain_order=True) if len(source.frame) else ():
                if wanted(source, name):
                    at = At(measure=measure, dataset=name, scope=("overall", "stereotype"), normalise=FIRST, **levels)
                    these = At(measure=of_groups(measure), dataset=name, scope=THESE, normalise=FIRST)
                    yield from (source.only(these) or source.only(at))[:1]

    return rows


def _stereotypes(source: RowSource, name: str) -> bool:
    return bool(of_stereotypes(source.frame, name))


def _acceptability(source: RowSource, name: str) -> bool:
    return not _stereotypes(source, name)


def _gaps(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the gaps in accuracy between pairs of unequal and of equal length, under each normalisation.

    For a data set in which no paradigm has both kinds of pairs, yield one gap without a value.
    """
    nothing = dict.fromkeys(("value", "low", "high"), math.nan)
    for source in found:
        for name in source.frame["dataset"].unique(maintain_order=True) if len(source.frame) else ():
            unequal = {"dataset": name, "scope": "overall", "split": UNEQUAL}
            gaps = [line for line in source.only(At(measure=GAP, **unequal)) if measured([line.row])]
            lacking = [line for line in source.only(At(measure=ACCURACY, normalise=FIRST, **unequal)) if line["n"]][:1]
            yield from gaps or [replace(line, row={**line.row, **nothing, "split": ALL}) for line in lacking]


def _differences(found: Sequence[RowSource], *, equal: bool) -> Iterator[Line]:
    """Yield the difference in accuracy of every two models on each data set, for exactly its groups if they are few.

    If `equal` is true, only pairs of equal length under both models are compared, unless there are none.
    """
    for source in found:
        first: dict[tuple[str, ...], Line] = {}
        for line in source.only(At(measure=DIFFERENCE, scope="overall", split=ALL)):
            first.setdefault(tuple(line[name] for name in (*SIDES, "dataset")), line)
        for line in first.values():
            alike = line.at(split=EQUAL) if equal else None
            chosen = alike if alike is not None and 0 < alike["n"] < line["n"] else line
            yield for_these_groups(chosen) or chosen


def _place(line: Line) -> str:
    """Return the phrase that says which pairs a row is about: the data set (if several) and any split by length."""
    several = line.source.frame["dataset"].n_unique() > 1
    parts: Iterable[str] = [line["dataset"] if several else "", line["split"] if line["split"] != ALL else ""]
    return ", ".join(filter(None, parts))


def _gap_place(line: Line) -> str:
    """Return the phrase that says which pairs a gap is about, and under which normalisation unless it is the first."""
    others = line.source.frame["normalise"].unique(maintain_order=True)[1:]
    return _place(line) + (f" by {line['normalise']}" if line["normalise"] in others else "")


def _strata(line: Line, results: Sequence[BaseResult]) -> dict[str, Any]:
    """Return facts on how many paradigms have both equal-length and unequal-length pairs (`strata` is 0 if all do)."""
    for note in notes_of(line.row):
        if note.code == "strata-lack-a-side":
            lost, of = note.params["lost"], note.params["of"]
            return {"kept": of - lost, "strata": of, "noun": note.params["noun"]}
    return {"strata": 0}


def _at_equal_length(line: Line) -> str:
    """Return the accuracy at equal token lengths as text if it is at chance but that of all pairs is not, else ""."""
    equal = line.at(split=EQUAL_LENGTH)
    if equal is None or _SHARE.too_few(equal.row) or equal["n"] == line["n"]:
        return ""
    differs = told(line.row, _SHARE.null) and not outside(equal.row, _SHARE.null)
    return _SHARE.number(equal.row, n=False) if differs else ""


def _these(line: Line, results: Sequence[BaseResult] = ()) -> dict[str, Any]:
    """Return the fact `these`: "3 paradigms", say, if an estimate is for exactly the groups in the data; else ""."""
    method = read_method(line["method"] or "")
    noun = line["measure"].partition(", these ")[2]
    return {"these": counted(method.params["strata"], noun) if noun and method and "strata" in method.params else noun}


def _paradigms(line: Line, results: Sequence[BaseResult]) -> dict[str, Any]:
    """Return the paradigms clearly above and below chance, and the facts of `_these` and `_at_equal_length`."""
    at = At(measure=ACCURACY, dataset=line["dataset"], scope="group", split=ALL, normalise=line["normalise"])
    clear = [each for each in line.source.only(at) if told(each.row, _SHARE.null)]
    mixed, open_ = len({x["value"] > _SHARE.null for x in clear}) > 1, not told(line.row, _SHARE.null)
    also = {each["group"]: each.row for each in clear if mixed or open_}
    above, below = ([x["group"] for x in clear if (x["value"] > _SHARE.null) == side] for side in (True, False))
    apart = {"above": named(above, 2), "below": named(below, 2), "mixed": mixed, "open": open_}
    return {**_these(line), **apart, "also": also, "equal": _at_equal_length(line)}


CLAIMS = (
    Claim(
        "prefers",
        _overall(ACCURACY, _acceptability, group=ALL, split=ALL),
        _SHARE,
        PREFERENCE,
        place=_place,
        figure="accuracy",
        facts=_paradigms,
    ),
    Claim(
        "stereotypes",
        _overall(STEREOTYPE, _stereotypes, group=ALL, split=ALL),
        _STEREOTYPE,
        5,
        place=_place,
        figure="stereotypes",
        facts=_these,
    ),
    Claim("length", _gaps, _POINTS, LENGTH, place=_gap_place, alone=True, figure="length", facts=_strata),
    Claim("more", partial(_differences, equal=True), _POINTS, MODELS, compared=True, place=_place, facts=_these),
    Claim("people", _overall(MINUS_PEOPLE, _acceptability), _POINTS, PREFERENCE, place=_place, figure="human"),
)


def _gains(found: Sequence[RowSource]) -> Iterator[Line]:
    for source in found:
        yield from source.only(At(measure=GAIN, scope="overall", split=ALL))[:1]


FAIR_CLAIMS = (
    Claim("gain", _gains, _POINTS, PREFERENCE),
    Claim("more", partial(_differences, equal=False), _POINTS, MODELS, compared=True, place="dataset"),
)
