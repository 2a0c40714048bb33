"""Selection of rows of summaries and comparisons by the levels of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import polars as pl

from penchant.records import SIDES, BaseResult, Estimate, pair_of
from penchant.report.tables import models

OWN = frozenset({*Estimate("", 0, 0).row(), "signature", *SIDES} - {"measure"})
"""The columns that do not identify an estimate."""


FIRST = object()
"""Marker for the level of the first matching row, such as the primary score."""


class At:
    """A filter of rows by levels, such as `At(measure=GAP, template="all")`.

    A tuple matches any of its levels, a function is a predicate, and `FIRST` matches the level of the first row
    selected by the other conditions. Rows that lack one of the columns do not match.
    """

    def __init__(self, **levels: object) -> None:
        self.levels = {name: wanted for name, wanted in levels.items() if wanted is not FIRST}
        self.firsts = [name for name in levels if name not in self.levels]

    def __call__(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row matches the conditions other than `FIRST`."""
        return all(name in row and _is(row[name], wanted) for name, wanted in self.levels.items())


def but(level: object) -> Callable[[object], bool]:
    """Return a predicate that is true for every level except `level`."""
    return lambda found: found != level


def _is(level: object, wanted: object) -> bool:
    if callable(wanted):
        return bool(wanted(level))
    return level in wanted if isinstance(wanted, tuple) else level == wanted


@dataclass(frozen=True, eq=False)
class Line:
    """A row of a `RowSource`."""

    row: Mapping[str, Any]
    source: RowSource

    def __getitem__(self, name: str) -> Any:
        return self.row[name]

    @property
    def model(self) -> str:
        """Name of the model, or of the two models compared."""
        return self.source.model or pair_of(self.row)

    def at(self, **levels: object) -> Line | None:
        """Return the row of the same source that differs from this row only in the given levels, or None.

        A tuple lists alternative levels in order of preference.
        """
        own = {name: self.row[name] for name in self.source.names}
        options = [each if isinstance(each, tuple) else (each,) for each in levels.values()]
        tried = (dict(zip(levels, each, strict=True)) for each in product(*options))
        return next((line for each in tried if (line := self.source.find(own | each, self.row))), None)


@dataclass(frozen=True, eq=False)
class RowSource:
    """The rows of a model's summary, or of a comparison if `model` is empty."""

    model: str
    frame: pl.DataFrame
    result: BaseResult | None = field(default=None, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns whose levels identify rows."""
        return tuple(name for name, kind in self.frame.schema.items() if kind == pl.String and name not in OWN)

    @cached_property
    def lines(self) -> list[Line]:
        """All rows, in the order of the frame."""
        return [Line(row, self) for row in self.frame.iter_rows(named=True)]

    @cached_property
    def _by_measure(self) -> dict[object, list[Line]]:
        parts: dict[object, list[Line]] = {}
        for line in self.lines:
            parts.setdefault(line.row.get("measure"), []).append(line)
        return parts

    @cached_property
    def _by_levels(self) -> dict[tuple[object, ...], Line]:
        return {self._key(line.row): line for line in self.lines}

    def _key(self, levels: Mapping[str, Any], row: Mapping[str, Any] | None = None) -> tuple[object, ...]:
        return (*((row or levels).get(side) for side in SIDES), *(levels[name] for name in self.names))

    def find(self, levels: Mapping[str, Any], row: Mapping[str, Any]) -> Line | None:
        """Return the row with the given levels that compares the same models as `row`, or None."""
        return self._by_levels.get(self._key(levels, row))

    def only(self, at: At) -> list[Line]:
        """Return the rows that match `at`, in the order of the frame."""
        measure = at.levels.get("measure")
        lines = self._by_measure.get(measure, []) if isinstance(measure, str) else self.lines
        matching = [line for line in lines if at(line.row)]
        return [line for line in matching if all(line[name] == matching[0][name] for name in at.firsts)]


def sources(results: Sequence[BaseResult]) -> list[RowSource]:
    """Return a `RowSource` for the summary of each result."""
    return [RowSource(model, result.summary, result) for model, result in zip(models(results), results, strict=True)]


def parted(results: Sequence[BaseResult], column: str) -> Iterator[tuple[str, list[BaseResult]]]:
    """Yield each level of a column, such as a data set, with the results restricted to that level."""
    inside = {level for result in results for level in result.items[column]}
    for level in dict.fromkeys(level for result in results for level in result.summary[column]):
        if level in inside:
            yield level, [_alone(result, column, level) for result in results]


def _alone(result: BaseResult, column: str, level: str) -> BaseResult:
    items, summary = (frame.filter(pl.col(column) == level) for frame in (result.items, result.summary))
    return replace(result, items=items, summary=summary)


def compared(comparison: pl.DataFrame) -> list[RowSource]:
    """Return a list with one `RowSource` for a comparison."""
    return [RowSource("", comparison)]


def together(found: Iterable[RowSource], at: At) -> Iterator[Line]:
    """Yield the matching rows of all sources, placing rows with the same levels but different models together."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    for source in found:
        for line in source.only(at):
            key = (*(line.row.get(side) for side in SIDES), *(line.row[name] for name in source.names))
            groups.setdefault(key, []).append(line)
    for lines in groups.values():
        yield from lines
