"""Classes and functions with which instruments compare two results on the same items."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import polars as pl

from penchant.instruments.base_probe import difference_signature, require_comparable
from penchant.instruments.settings import Settings
from penchant.records import SIDES, BaseResult, Estimate, summary_table
from penchant.stats.hypothesis_tests import with_holm
from penchant.wording.phrases import Note

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Comparison(Generic[S]):
    """Comparison of two results on the same items.

    `items` are the columns that identify an item; columns that a result lacks are ignored. `estimates` computes the
    differences from the items of both results and the settings of the first; each difference is named after its
    measure. The signatures may differ in model, dtype and the `free` keys.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[pl.DataFrame, pl.DataFrame, S], Iterable[Estimate]]
    free: Collection[str] = ()

    def __call__(self, a: BaseResult, b: BaseResult) -> pl.DataFrame:
        """Return the differences a − b, one row per estimate.

        Raises StudyError if the results cannot be compared, naming the signature keys that differ.
        """
        items = [name for name in self.items if name in a.items.columns]
        require_comparable(a, b, free={"model", "dtype", *self.free}, items=items)
        signature, models = difference_signature(a, b), models_of(a, b)
        found = self.estimates(a.items, b.items, self.settings.of(a.settings))
        return summary_table(
            (replace(each, measure=difference(each.measure), by={**models, **each.by}), signature) for each in found
        )


def models_of(a: BaseResult, b: BaseResult) -> dict[str, str]:
    """Return the names of the two compared models, keyed by their columns `first` and `second` in the comparison."""
    return dict(zip(SIDES, (a.signature["model"], b.signature["model"]), strict=True))


SCORING = ("bos", "method", "normalise", "pen-alpha")
"""Signature keys of the scoring, which may differ between results whose preferences are compared."""


@dataclass(frozen=True, slots=True)
class ComparedSide(Generic[S]):
    """One side of a comparison: the items of a result, the name of the compared score (`how`) and the settings."""

    items: pl.DataFrame
    how: str
    settings: S


@dataclass(frozen=True, slots=True)
class ScoredComparison(Generic[S]):
    """Comparison of two results on the same items, in every score that both results have.

    If there is no such score, the first score of each is compared. `estimates` computes the differences in one
    score, whose name goes into the column named by `score`; the last argument of `estimates` is true if two different
    scores or methods are compared, in which case only unitless measures are comparable. Holm's correction is applied
    within the families that `family` returns. The signatures may differ in model, dtype, `SCORING` and the `free` keys.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[ComparedSide[S], ComparedSide[S], bool], Iterable[Estimate]]
    family: Callable[[Estimate], str | None]
    score: str = "normalise"
    free: Collection[str] = ()

    def __call__(self, a: BaseResult, b: BaseResult) -> pl.DataFrame:
        """Return the differences a − b, one row per estimate.

        Raises StudyError if the results cannot be compared, naming the signature keys that differ.
        """
        require_comparable(a, b, free={"model", "dtype", *SCORING, *self.free}, items=self.items)
        settings = [self.settings.of(result.settings) for result in (a, b)]
        models = models_of(a, b)
        remark, unlike = scored_differently(a, b), a.signature["method"] != b.signature["method"]
        rows: list[Estimate] = []
        for first, second in shared_scores(a, b):
            sides = ComparedSide(a.items, first, settings[0]), ComparedSide(b.items, second, settings[1])
            how = first if first == second else f"{first} − {second}"
            for each in self.estimates(*sides, unlike or first != second):
                by = {**models, **each.by, self.score: how}
                rows.append(replace(each, by=by).noted(remark, first=True))
        adjusted = with_holm(rows, self.family)
        return summary_table((row, difference_signature(a, b, normalise=row.by[self.score])) for row in adjusted)


def shared_scores(a: BaseResult, b: BaseResult) -> list[tuple[str, str]]:
    """Return the pairs of scores to compare: each score that both results have, or else the first of each result."""
    first, second = (result.signature["normalise"].split(",") for result in (a, b))
    return [(how, how) for how in first if how in second] or [(first[0], second[0])]


def scored_differently(a: BaseResult, b: BaseResult) -> Note | None:
    """Return a note if two models were scored by different methods; None otherwise.

    Results of the same model need no note, since their names include the method, as in "bert (method:pll)".
    """
    first, second = (result.signature.get("method", "") for result in (a, b))
    if first == second or of_one_model(a.signature["model"], b.signature["model"]):
        return None
    return Note("scored-differently", first=first, second=second)


def of_one_model(first: str, second: str) -> bool:
    """Return whether two names refer to the same model, ignoring settings in brackets."""
    first, second = (re.sub(r" \([a-z][a-z-]*:.*", "", name) for name in (first, second))
    return first == second


def difference(measure: str) -> str:
    """Return the name that a measure has in a comparison, where its value is a difference."""
    return f"difference of {measure}"


def subtracted(a: pl.DataFrame, b: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the items of `a`, with the values of `column` in `b` subtracted from those in `a`."""
    return a.with_columns((a[column] - b[column]).alias(column))
