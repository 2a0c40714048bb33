"""The finding of minimal pairs and of fair pairs in words. Every number comes from a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.counting import for_one
from penchant.instruments.minimal_pairs import human_section
from penchant.instruments.minimal_pairs.compare import EQUAL
from penchant.instruments.minimal_pairs.estimates import ACCURACY, ADJUSTED, ALL, DIRECTIONS, STEREOTYPE, UNEQUAL
from penchant.instruments.minimal_pairs.fair import FAIR, GAIN, ORIGINAL
from penchant.records import Result, Signature
from penchant.report.finding import MOST, Shown, across, differences, levels, measured, sentences
from penchant.report.tables import models

_SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
_STEREOTYPE = Shown(".1f", "pairs", "%", 1, 50, (0, 100))
_POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))

_ONE_OF = {"paradigms": "paradigm", "kinds of bias": "kind of bias"}


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """How often each model prefers the acceptable sentence (in CrowS-Pairs the more stereotypical one), and between
    which models that differs; of the first score reported."""
    names = results[0].summary["dataset"].unique(maintain_order=True).to_list()
    found = [text for name in names[:MOST] for text in _of(name, results, comparison, several=len(names) > 1)]
    more = (
        f"{len(names) - MOST} more {for_one(len(names) - MOST, 'data sets')} "
        f"{for_one(len(names) - MOST, 'are')} in the tables"
        if len(names) > MOST
        else ""
    )
    return sentences(*found, more if found else "", *human_section.finding(results))


def _of(name: str, results: Sequence[Result], comparison: pl.DataFrame | None, *, several: bool) -> Iterator[str]:
    stereotypes = name == "crows-pairs"
    scope, measure = ("stereotype", STEREOTYPE) if stereotypes else ("overall", ACCURACY)
    rows = list(zip(models(results), (_row(result, name, scope, measure) for result in results), strict=True))
    preferred = "more stereotypical" if stereotypes else "acceptable"
    how = _STEREOTYPE if stereotypes else _SHARE
    each = levels(((model, row) for model, row in rows if row), how, "50%", tested=stereotypes)
    if each:
        place = f"{name}: the " if several else "The "
        yield f"{place}{preferred} sentence is more probable in this share of pairs: {each}"
    if comparison is not None:
        compared = comparison.filter(pl.col("dataset") == name)
        yield (f"{name}: " if several and len(compared) else "") + _differences(compared, preferred)
        yield from _paradigms_apart(compared, f"{name}: " if several else "")
    yield _adjusted(name, results, several=several)
    yield from _by_paradigm(name, results, several=several)


def _adjusted(name: str, results: Sequence[Result], *, several: bool) -> str:
    """The shares with token length taken out, where there are pairs of unequal length."""
    told = []
    for model, result in zip(models(results), results, strict=True):
        split = (pl.col("scope") == "overall") & (pl.col("measure") == ACCURACY) & pl.col("split").is_in(UNEQUAL)
        counts = result.summary.filter((pl.col("dataset") == name) & split & (pl.col("group") == ALL))
        first = counts.filter(pl.col("normalise") == counts["normalise"].first()) if len(counts) else counts
        unequal = int(first["n"].sum())
        row = _row(result, name, "overall", ADJUSTED) if unequal else None
        if row is not None and measured([row]):
            told.append(f"{model} {_SHARE.number(row)}, {unequal} of them of unequal length")
    place = f"{name}, with" if several else "With"
    return f"{place} token length taken out of it: {'; '.join(told)}" if told else ""


def _by_paradigm(name: str, results: Sequence[Result], *, several: bool) -> Iterator[str]:
    """In which paradigms each model has an accuracy other than one half, where there are several; in CrowS-Pairs, in
    which kinds of bias it has a stereotype score other than 50."""
    kinds = name == "crows-pairs"
    scope, measure = ("stereotype", STEREOTYPE) if kinds else ("paradigm", ACCURACY)
    chosen = (pl.col("dataset") == name) & (pl.col("scope") == scope) & (pl.col("measure") == measure)
    chosen &= ~pl.col("group").is_in([ALL, *DIRECTIONS]) if kinds else pl.col("split") == ALL
    for model, result in list(_each(results))[:MOST]:
        rows = result.summary.filter(chosen)
        each = rows.filter(pl.col("normalise") == rows["normalise"].first()) if len(rows) else rows
        if len(each) > 1 and each["p"].is_not_nan().any():
            what = f"{name}: {measure} of {model}" if several else f"{measure.capitalize()} of {model}"
            how, noun = (_STEREOTYPE, "kinds of bias") if kinds else (_SHARE, "paradigms")
            yield _in_places(each, how, noun, what, "50%")


def _paradigms_apart(comparison: pl.DataFrame, place: str) -> Iterator[str]:
    """In which paradigms two models differ, of all pairs, where there are several; not in the two of CrowS-Pairs."""
    every = comparison.filter((pl.col("scope") == "paradigm") & (pl.col("split") == ALL))
    parts = [part for _, part in every.group_by("comparison", maintain_order=True)]
    for part in parts[:MOST]:
        first = part.filter(pl.col("normalise") == part["normalise"][0])
        if len(first) > 1 and first["dataset"][0] != "crows-pairs":
            what = f"{place}difference" if place else "Difference"
            yield _in_places(first, _POINTS, "paradigms", f"{what} of accuracy, {first['comparison'][0]}", "0")


def _in_places(rows: pl.DataFrame, how: Shown, noun: str, what: str, apart: str) -> str:
    placed = ((row["group"], row) for row in rows.iter_rows(named=True))
    return across(placed, how, noun, what, apart=apart, more=f"in the table by {_ONE_OF[noun]}")


def _row(result: Result, name: str, scope: str, measure: str) -> dict[str, Any] | None:
    chosen = result.summary.filter(
        (pl.col("dataset") == name)
        & (pl.col("scope") == scope)
        & (pl.col("group") == ALL)
        & (pl.col("split") == ALL)
        & (pl.col("measure") == measure)
    )
    return chosen.row(0, named=True) if len(chosen) else None


def _differences(comparison: pl.DataFrame, preferred: str) -> str:
    rows = []
    for _, part in comparison.group_by("comparison", maintain_order=True):
        row = _headline(part)
        if Signature.parse(row["signature"]).get("acceptable") == "sent_less":  # accuracy then counts the other one
            row |= {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
        rows.append(row)
    equal = all(row["split"] == EQUAL for row in rows)
    how = replace(_POINTS, noun="pairs of equal token length") if equal else _POINTS
    return differences(rows, how, f"prefers the {preferred} sentence more often than")


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
    known = levels(((model, row) for model, row in gains if row), _POINTS, "0", tested=True)
    texts = [f"Accuracy on the fair pairs minus that on the original ones: {known}" if known else ""]
    if comparison is not None:
        for name in (ORIGINAL, FAIR):
            rows = comparison.filter((pl.col("dataset") == name) & (pl.col("normalise") == comparison["normalise"][0]))
            overall = rows.filter((pl.col("scope") == "overall") & (pl.col("split") == ALL))
            single = rows.filter((pl.col("scope") == "paradigm") & (pl.col("split") == ALL))
            shown = overall if len(overall) else single
            order = differences(shown.iter_rows(named=True), _POINTS, "is above")
            texts.append(f"On the {name} pairs {order}" if order else "")
    return sentences(*texts)


def _each(results: Sequence[Result]) -> Iterator[tuple[str, Result]]:
    return zip(models(results), results, strict=True)
