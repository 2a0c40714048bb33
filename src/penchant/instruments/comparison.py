"""The comparison of two results, which is the same for every instrument that compares the same items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.settings import Settings
from penchant.records import Estimate, Result, summary_table

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Comparison(Generic[S]):
    """The differences of two results over the same items.

    `items` are the columns that identify one; `estimates` makes the differences of the items of the first and of the
    second, each named by the measure that it is of. `free` are keys of signatures that may differ, besides model and
    dtype.
    """

    settings: type[S]
    items: Sequence[str]
    estimates: Callable[[pl.DataFrame, pl.DataFrame, S], Iterable[Estimate]]
    free: Sequence[str] = ()

    def __call__(self, a: Result, b: Result) -> pl.DataFrame:
        """Return the differences, a minus b, one row an estimate. Raises StudyError for results that cannot be
        compared, naming the part of the signature that differs."""
        require_comparable(a, b, free={"model", "dtype", *self.free}, items=self.items)
        pair = f"{a.signature['model']} − {b.signature['model']}"
        signature = difference_signature(a, b)
        found = self.estimates(a.items, b.items, self.settings.of(a.settings))
        return summary_table(
            (replace(each, measure=difference(each.measure), by={"comparison": pair, **each.by}), signature)
            for each in found
        )


def difference(measure: str) -> str:
    """Return the measure of a difference."""
    return f"difference of {measure}"


def subtracted(a: pl.DataFrame, b: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the items of the first, whose column is theirs minus the second's."""
    return a.with_columns((a[column] - b[column]).alias(column))
