"""The finding of minimal pairs and of fair pairs in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.counting import counted, for_one
from penchant.instruments.minimal_pairs import human_prose
from penchant.instruments.minimal_pairs.compare import EQUAL
from penchant.instruments.minimal_pairs.estimates import ACCURACY, ALL, GAP, HALF, STEREOTYPE, UNEQUAL
from penchant.instruments.minimal_pairs.fair import FAIR, GAIN, ORIGINAL
from penchant.instruments.minimal_pairs.fixed import AS_THEY_ARE, capital, drawn, levels_of, these
from penchant.instruments.minimal_pairs.formats import DIRECTIONS
from penchant.instruments.minimal_pairs.sets import by_set
from penchant.instruments.minimal_pairs.stereotypes import of_stereotypes
from penchant.records import Result, Signature
from penchant.report.finding import MOST, NAMED, Shown, across, differences, listed, sentences, told
from penchant.report.tables import models

_SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
_STEREOTYPE = Shown(".1f", "pairs", "%", 1, 50, (0, 100))
_POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))

_ONE_OF = {"paradigms": "paradigm", "kinds of bias": "kind of bias"}


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Say how far accuracy moves with token length, how often each model prefers the acceptable sentence (of
    stereotypes the more stereotypical one), and between which models that differs; of the first score reported."""
    sets = by_set(results)
    names = list(sets)
    found = [text for name in names[:MOST] for text in _of(name, sets[name], comparison, several=len(names) > 1)]
    more = (
        f"{len(names) - MOST} more {for_one(len(names) - MOST, 'data sets')} "
        f"{for_one(len(names) - MOST, 'are')} in the tables"
        if len(names) > MOST
        else ""
    )
    return sentences(*found, more if found else "", *human_prose.finding(results))


def _of(name: str, results: Sequence[Result], comparison: pl.DataFrame | None, *, several: bool) -> Iterator[str]:
    stereotypes = of_stereotypes(results[0].summary, name)
    scope, measure = ("stereotype", STEREOTYPE) if stereotypes else ("overall", ACCURACY)
    rows = list(zip(models(results), (_row(result, name, scope, measure) for result in results), strict=True))
    preferred = "more stereotypical" if stereotypes else "acceptable"
    how = _STEREOTYPE if stereotypes else _SHARE
    fixed = [(model, _fixed(result, name, measure)) for model, result in _each(results)]
    place = f"{name}: the " if several else "The "
    start = f"{place}{preferred} sentence is more probable in this share of pairs"
    clear, gaps = _gaps(name, results, preferred, several=several)
    if clear:
        yield gaps
    yield from levels_of(start, rows, fixed, how, place=name if several else "")
    if comparison is not None:
        compared = comparison.filter(pl.col("dataset") == name)
        higher = f"prefers the {preferred} sentence more often than"
        for over, text in _differences(compared, higher):
            heads = [f"{name}: "] * several + [f"{over if several else capital(over)}, "] * bool(over)
            yield "".join([*heads, text])
        yield from _paradigms_apart(compared, f"{name}: " if several else "")
    if not clear:
        yield gaps
    yield from _by_paradigm(name, results, several=several)


def _gaps(name: str, results: Sequence[Result], preferred: str, *, several: bool) -> tuple[bool, str]:
    """Return whether accuracy is told to move with token length, and how far it lies from that of pairs of equal length
    where the preferred sentence has more tokens, and where it has fewer; empty where no pair is of unequal length."""
    gaps = []
    for model, result in _each(results):
        for split, longer in zip(UNEQUAL, ("longer", "shorter"), strict=True):
            row = _row(result, name, "overall", GAP, split)
            place = f"{preferred} sentence {longer}"
            gaps += [(place if len(results) == 1 else f"{model}, {place}", row)] if row else []
    what = f"{f'{name}: a' if several else 'A'}ccuracy minus that on pairs of equal token length"
    noun = "lengths" if len(results) == 1 else "models and lengths"
    return any(told(row) for _, row in gaps), across(gaps, _POINTS, noun, what)


def _unequal(result: Result, name: str) -> int:
    """How many pairs of a data set are of unequal length under the model of a result."""
    split = (pl.col("scope") == "overall") & (pl.col("measure") == ACCURACY) & pl.col("split").is_in(UNEQUAL)
    counts = result.summary.filter((pl.col("dataset") == name) & split & (pl.col("group") == ALL))
    first = counts.filter(pl.col("normalise") == counts["normalise"].first()) if len(counts) else counts
    return int(first["n"].sum())


def _by_paradigm(name: str, results: Sequence[Result], *, several: bool) -> Iterator[str]:
    """In which paradigms each model has an accuracy other than one half, where there are several; of stereotypes, in
    which kinds of bias it has a stereotype score other than 50."""
    kinds = of_stereotypes(results[0].summary, name)
    scope, measure = ("stereotype", STEREOTYPE) if kinds else ("paradigm", ACCURACY)
    chosen = (pl.col("dataset") == name) & (pl.col("scope") == scope) & (pl.col("measure") == measure)
    chosen &= ~pl.col("group").is_in([ALL, *DIRECTIONS]) if kinds else pl.col("split") == ALL
    said: dict[str, list[str]] = {}
    for model, result in list(_each(results))[:MOST]:
        rows = result.summary.filter(chosen)
        each = rows.filter(pl.col("normalise") == rows["normalise"].first()) if len(rows) else rows
        if len(each) > 1 and each["p"].is_not_nan().any():
            how, noun = (_STEREOTYPE, "kinds of bias") if kinds else (_SHARE, "paradigms")
            n = int(each["n"].sum())
            pairs = f" over all {n:,} pairs of any length" if _unequal(result, name) else ""
            below = "" if kinds else _below(each)
            said.setdefault(_in_places(each, how, noun, "" if kinds else pairs, "50%") + below, []).append(model)
    what = f"{name}: {measure}" if several else measure.capitalize()
    for text, alike in said.items():  # once for models of which the same is said
        yield f"{what} of {' and '.join(alike)}{text}" if text else ""


def _below(rows: pl.DataFrame) -> str:
    """The paradigms whose accuracy is told to be below one half, where a wrong order of columns looks the same."""
    below = [row["group"] for row in rows.iter_rows(named=True) if told(row, HALF) and row["value"] < HALF]
    wrong = "the unacceptable sentence is preferred, or the two stand in each other's column"
    return f"; below 50%, where {wrong}: {listed(below[:NAMED])}" if below else ""


def _paradigms_apart(comparison: pl.DataFrame, place: str) -> Iterator[str]:
    """In which paradigms two models differ, of the pairs that the overall difference is told of, where there are
    several; not in the two of stereotypes."""
    parts = [part for _, part in comparison.group_by("comparison", maintain_order=True)]
    for part in parts[:MOST]:
        headline = _headline(part)
        equal = headline["split"] == EQUAL
        same = (pl.col("split") == headline["split"]) & (pl.col("normalise") == headline["normalise"])
        first = part.filter(same & (pl.col("scope") == "paradigm"))
        every = part.filter((pl.col("scope") == "paradigm") & (pl.col("split") == ALL))
        if every["group"].n_unique() > 1 and len(first) and not of_stereotypes(part, headline["dataset"]):
            start = f"{place}difference" if place else "Difference"
            pairs = f", {counted(int(headline['n']), 'pairs')} of equal token length" if equal else ""
            how = replace(_POINTS, noun="pairs of equal token length") if equal else _POINTS
            what = f"{start} of accuracy, {headline['comparison']}{pairs}"
            none = [name for name in every["group"].unique(maintain_order=True) if name not in set(first["group"])]
            lacking = f"; no pair of {listed(none)} has equal token length" if 0 < len(none) <= NAMED else ""
            yield f"{_in_places(first, how, 'paradigms', what, '0')}{lacking}"


def _in_places(rows: pl.DataFrame, how: Shown, noun: str, what: str, apart: str) -> str:
    placed = ((row["group"], row) for row in rows.iter_rows(named=True))
    return across(placed, how, noun, what, apart=apart, more=f"in the table by {_ONE_OF[noun]}")


def _row(result: Result, name: str, scope: str, measure: str, split: str = ALL) -> dict[str, Any] | None:
    chosen = result.summary.filter(
        (pl.col("dataset") == name)
        & (pl.col("scope") == scope)
        & (pl.col("group") == ALL)
        & (pl.col("split") == split)
        & (pl.col("measure") == measure)
    )
    return chosen.row(0, named=True) if len(chosen) else None


def _fixed(result: Result, name: str, measure: str) -> dict[str, Any] | None:
    """The estimate of a data set with its paradigms as they are; None where they are one or many."""
    chosen = result.summary.filter(
        (pl.col("dataset") == name)
        & (pl.col("scope") == AS_THEY_ARE)
        & pl.col("measure").str.starts_with(f"{measure}, ")
    )
    return chosen.row(0, named=True) if len(chosen) else None


def _differences(comparison: pl.DataFrame, higher: str) -> Iterator[tuple[str, str]]:
    """Say what can be told of the differences between models on a data set, and of which paradigms if they are several:
    where these are few, first of these very ones; then of others like them.
    """
    rows: list[dict[str, Any]] = []
    fixed: list[dict[str, Any]] = []
    for _, part in comparison.group_by("comparison", maintain_order=True):
        row = _signed(_headline(part))
        rows.append(row)
        same = (pl.col("scope") == AS_THEY_ARE) & (pl.col("split") == row["split"])
        fixed += map(_signed, part.filter(same & (pl.col("normalise") == row["normalise"])).iter_rows(named=True))
    equal = all(row["split"] == EQUAL for row in rows)
    how = replace(_POINTS, noun="pairs of equal token length") if equal else _POINTS
    counted = replace(how, beside=_apart)
    for group, over, shown in ((fixed, these(fixed), counted), (rows, drawn(rows), how if fixed else counted)):
        if order := differences(group, shown, higher):
            yield over, order


def _signed(row: dict[str, Any]) -> dict[str, Any]:
    if Signature.parse(row["signature"]).get("acceptable") == "sent_less":  # accuracy then counts the other one
        return row | {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return row


def _apart(row: Mapping[str, Any]) -> str:
    """How many pairs one of two models alone gets right, the more first; an earlier version has not counted them."""
    counts = sorted((row.get("first_better") or 0, row.get("second_better") or 0), reverse=True)
    return f", {counts[0]} to {counts[1]} where they differ" if counts[0] else ""


def _headline(part: pl.DataFrame) -> dict[str, Any]:
    """The difference of two models to tell first: of the pairs of equal length under both, where others have unequal
    ones; else of all pairs. Of the first score."""
    first = part.filter(pl.col("normalise") == part["normalise"][0])
    overall = first.filter(pl.col("scope") == "overall")
    shown = overall if len(overall) else first  # of one paradigm
    whole, equal = (shown.filter(pl.col("split") == split) for split in (ALL, EQUAL))
    return (equal if len(equal) and 0 < equal["n"][0] < whole["n"][0] else whole).row(0, named=True)


def fair_finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """How the accuracy of each model changes from the original to the fair pairs, and what can be told of the models'
    order on each of the two sets."""
    gains = [(model, _row(result, f"{FAIR} − {ORIGINAL}", "overall", GAIN)) for model, result in _each(results)]
    start = "Accuracy on the fair pairs minus that on the original ones"
    texts = list(levels_of(start, gains, (), _POINTS, "0"))
    if comparison is not None:
        for name in (ORIGINAL, FAIR):
            rows = comparison.filter((pl.col("dataset") == name) & (pl.col("normalise") == comparison["normalise"][0]))
            every = rows.filter(pl.col("split") == ALL)
            for over, order in _differences(every, "is above"):
                texts.append(f"On the {name} pairs{f', {over}' if over else ''}, {order}")
    return sentences(*texts)


def _each(results: Sequence[Result]) -> Iterator[tuple[str, Result]]:
    return zip(models(results), results, strict=True)
