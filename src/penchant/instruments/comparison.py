"""The comparison of two results, which is the same for every instrument that compares the same items."""

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

    `items` are the columns that identify one; `estimates` makes the differences of the items of the first and of the
    second, each named by the measure that it is of. Signatures may differ in the keys that are `free`, besides model
    and dtype.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[pl.DataFrame, pl.DataFrame, S], Iterable[Estimate]]
    free: Collection[str] = ()

    def __call__(self, a: Result, b: Result) -> pl.DataFrame:
        """Return the differences, a minus b, one row an estimate. Raises StudyError for results that cannot be
        compared, naming the part of the signature that differs."""
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
"""What may differ between scores of the same sentences whose preferences are compared."""


@dataclass(frozen=True, slots=True)
class Scored(Generic[S]):
    """One of two results that are compared by one of its scores, called `how`."""

    items: pl.DataFrame
    how: str
    settings: S


@dataclass(frozen=True, slots=True)
class ScoredComparison(Generic[S]):
    """The differences of two results over the same items, by every score that both have; where they share none, by the
    first of each.

    `estimates` makes those of one score, which is their level in the column `score`; it is told whether the two are
    `unlike`, scored by different methods, so that only what has no unit compares, which a note says. Holm's adjustment
    is within each `family`. Signatures may differ in `SCORING` and the keys that are `free`, besides model and dtype.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[Scored[S], Scored[S], bool], Iterable[Estimate]]
    family: Callable[[Estimate], str | None]
    score: str = "normalise"
    free: Collection[str] = ()

    def __call__(self, a: Result, b: Result) -> pl.DataFrame:
        """Return the differences, a minus b, one row an estimate. Raises StudyError for results that cannot be
        compared, naming the part of the signature that differs."""
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
    """Return the scores that two results have both; where they share none, the first of each."""
    first, second = (result.signature["normalise"].split(",") for result in (a, b))
    return [(how, how) for how in first if how in second] or [(first[0], second[0])]


def scored_differently(a: Result, b: Result) -> Note | None:
    """Return the note on models scored by different methods; None for others, and for one model, whose name has them,
    such as "bert (method:pll)"."""
    first, second = (result.signature.get("method", "") for result in (a, b))
    if first == second or of_one_model(a.signature["model"], b.signature["model"]):
        return None
    return Note("scored-differently", first=first, second=second)


def of_one_model(first: str, second: str) -> bool:
    """Return whether two names are of one model, told apart by settings in brackets."""
    first, second = (re.sub(r" \([a-z][a-z-]*:.*", "", name) for name in (first, second))
    return first == second


def difference(measure: str) -> str:
    """Return the measure of a difference."""
    return f"difference of {measure}"


def subtracted(a: pl.DataFrame, b: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the items of the first, whose column is theirs minus the second's."""
    return a.with_columns((a[column] - b[column]).alias(column))
