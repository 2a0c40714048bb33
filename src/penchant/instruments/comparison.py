"""The comparison of two results over the same items, which instruments share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.settings import Settings
from penchant.records import SIDES, Estimate, Result, summary_table
from penchant.stats.hypothesis_tests import with_holm
from penchant.wording.phrases import Note

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Comparison(Generic[S]):
    """The differences of two results over the same items.

    `items` are the columns that identify an item; `estimates` makes the differences from the items of the first and of
    the second, each named after its measure. Signatures may differ in the `free` keys, besides model and dtype.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[pl.DataFrame, pl.DataFrame, S], Iterable[Estimate]]
    free: Collection[str] = ()

    def __call__(self, a: Result, b: Result) -> pl.DataFrame:
        """Return the differences, a minus b, one row an estimate.

        Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
        """
        require_comparable(a, b, free={"model", "dtype", *self.free}, items=self.items)
        signature, models = difference_signature(a, b), models_of(a, b)
        found = self.estimates(a.items, b.items, self.settings.of(a.settings))
        return summary_table(
            (replace(each, measure=difference(each.measure), by={**models, **each.by}), signature) for each in found
        )


def models_of(a: Result, b: Result) -> dict[str, str]:
    """Return the models that are compared, as columns of a comparison name them."""
    return dict(zip(SIDES, (a.signature["model"], b.signature["model"]), strict=True))


SCORING = ("bos", "method", "normalise", "pen-alpha")
"""Signature keys that may differ between scores of the same sentences whose preferences are compared."""


@dataclass(frozen=True, slots=True)
class Scored(Generic[S]):
    """One of two results that are compared by one of its scores, called `how`."""

    items: pl.DataFrame
    how: str
    settings: S


@dataclass(frozen=True, slots=True)
class ScoredComparison(Generic[S]):
    """The differences of two results over the same items, by every score that both have.

    If they share no score, the first of each is compared. `estimates` makes the differences of one score, whose name
    goes into the column called `score`; its last argument is true if different methods scored the two, so that only
    numbers without a unit can be compared, as a note says. Holm's adjustment is within each `family`. Signatures may
    differ in `SCORING` and the `free` keys, besides model and dtype.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[Scored[S], Scored[S], bool], Iterable[Estimate]]
    family: Callable[[Estimate], str | None]
    score: str = "normalise"
    free: Collection[str] = ()

    def __call__(self, a: Result, b: Result) -> pl.DataFrame:
        """Return the differences, a minus b, one row an estimate.

        Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
        """
        require_comparable(a, b, free={"model", "dtype", *SCORING, *self.free}, items=self.items)
        settings = [self.settings.of(result.settings) for result in (a, b)]
        models = models_of(a, b)
        remark, unlike = scored_differently(a, b), a.signature["method"] != b.signature["method"]
        rows: list[Estimate] = []
        for first, second in shared_scores(a, b):
            sides = Scored(a.items, first, settings[0]), Scored(b.items, second, settings[1])
            how = first if first == second else f"{first} − {second}"
            for each in self.estimates(*sides, unlike or first != second):
                by = {**models, **each.by, self.score: how}
                rows.append(replace(each, by=by).noted(remark, first=True))
        adjusted = with_holm(rows, self.family)
        return summary_table((row, difference_signature(a, b, normalise=row.by[self.score])) for row in adjusted)


def shared_scores(a: Result, b: Result) -> list[tuple[str, str]]:
    """Return the scores that both results have; if they share none, the first of each."""
    first, second = (result.signature["normalise"].split(",") for result in (a, b))
    return [(how, how) for how in first if how in second] or [(first[0], second[0])]


def scored_differently(a: Result, b: Result) -> Note | None:
    """Return a note on models scored by different methods; None if there is nothing to note.

    Results of one model need no note, since their names have the methods, as in "bert (method:pll)".
    """
    first, second = (result.signature.get("method", "") for result in (a, b))
    if first == second or of_one_model(a.signature["model"], b.signature["model"]):
        return None
    return Note("scored-differently", first=first, second=second)


def of_one_model(first: str, second: str) -> bool:
    """Return whether two names are of one model, up to settings in brackets."""
    first, second = (re.sub(r" \([a-z][a-z-]*:.*", "", name) for name in (first, second))
    return first == second


def difference(measure: str) -> str:
    """Return the name of the difference of a measure."""
    return f"difference of {measure}"


def subtracted(a: pl.DataFrame, b: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the items of the first, with the second's values of a column subtracted from theirs."""
    return a.with_columns((a[column] - b[column]).alias(column))
