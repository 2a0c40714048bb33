"""The content of a report: a section for every instrument, which every form of a report renders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from penchant.records import Result
from penchant.report import method_text, no_difference_text
from penchant.report.figures import Figure, unchecked
from penchant.report.item_browser import ItemTable
from penchant.report.no_difference_text import Scale
from penchant.report.references import Reference
from penchant.report.tables import Table, untold


@dataclass(frozen=True, slots=True)
class Curves:
    """The presentation of an instrument's curves over the checkpoints of one training.

    The functions take a curve, with the columns `family`, `step` (null in a row about several) and `signature`, and
    return sentences, tables, figures, and paragraphs on its making and on what it can and cannot mean.
    """

    finding: Callable[[pl.DataFrame], list[str]]
    tables: Callable[[pl.DataFrame], list[Table]]
    figures: Callable[[pl.DataFrame], list[Figure]]
    methods: Callable[[pl.DataFrame], list[str]]
    limits: Callable[[pl.DataFrame], list[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """The presentation of an instrument's results for several models.

    `tables` has the headline table first; `compared` makes the tables of differences between models; `items` is None if
    other sections show the items. `methods` are paragraphs that cite works as `[@key]` (see
    `penchant.report.references`); `limits` say what the numbers can and cannot mean.
    """

    title: str
    question: str
    tables: Callable[[Sequence[Result]], list[Table]]
    compared: Callable[[pl.DataFrame], list[Table]]
    figures: Callable[[Sequence[Result]], list[Figure]]
    items: Callable[[Sequence[Result]], ItemTable] | None
    methods: Callable[[Sequence[Result]], list[str]]
    limits: Callable[[Sequence[Result]], list[str]]
    finding: Callable[[Sequence[Result], pl.DataFrame | None], list[str]] = lambda results, comparison: []
    """The finding from estimates and differences, the most important first; see `penchant.report.finding`."""
    curves: Curves | None = None
    """The presentation of curves, of an instrument that has them."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """The meanings of the columns of its tables, in addition to those that all have."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A section across several instruments, shown before theirs if a study has results of more than one.

    `place` is its name in files and links.
    """

    place: str
    section: Section


@dataclass(frozen=True, slots=True)
class Placed:
    """A section within a study.

    `place` is the probe directory, `comparison` has the differences between models, and `references` are the works that
    the text may cite.
    """

    place: str
    title: str
    section: Section
    results: Sequence[Result]
    comparison: pl.DataFrame | None
    references: Mapping[str, Reference]
    remark: str = ""
    """The beginning of the note of every table."""
    scale: Scale = field(default_factory=Scale)
    """The scale of the differences between models."""
    curve: pl.DataFrame | None = None
    """The estimates over the steps of a training, if there are any."""

    def tables(self) -> list[Table]:
        """Return all tables, those of differences last."""
        return [*self.estimates(), *self.compared()]

    def finding(self) -> list[str]:
        """Return the finding in sentences; of a training with a curve, for its last checkpoint."""
        comparison = None if self.comparison is None else untold(self.comparison)
        return [*self._over_steps("finding"), *self.section.finding(_untold(self._finished()), comparison)]

    def estimates(self) -> list[Table]:
        """Return the tables of estimates, those over the steps of a training first."""
        return self._remarked([*self._over_steps("tables"), *self.section.tables(_untold(self.results))])

    def figures(self) -> list[Figure]:
        """Return the charts."""
        with unchecked():
            return [*self._over_steps("figures"), *self.section.figures(self.results)]

    def limits(self) -> list[str]:
        """Return paragraphs on what the numbers can and cannot show."""
        return [*self._over_steps("limits"), *self.section.limits(self.results)]

    def _over_steps(self, part: str) -> list[Any]:
        """Return a part of the presentation of curves; empty if there are none."""
        shown = self.section.curves
        return [] if shown is None or self.curve is None else list(getattr(shown, part)(self.curve))

    def _finished(self) -> Sequence[Result]:
        """Return the results; of a training with a curve, only that of the last checkpoint."""
        if self.curve is None:
            return self.results
        steps = self.curve.drop_nulls("step")
        last = steps.filter(pl.col("step") == pl.col("step").max().over("family"))
        earlier = set(steps["signature"]) - set(last["signature"])
        return [result for result in self.results if earlier.isdisjoint(result.summary["signature"])]

    def _remarked(self, tables: list[Table]) -> list[Table]:
        if not self.remark:
            return tables
        return [replace(table, note=f"{self.remark} {table.note}".strip()) for table in tables]

    def methods(self) -> list[str]:
        """Return paragraphs, with citations, on what was measured, and on how intervals and tests were made."""
        paragraphs = self.section.methods(self.results)
        if self.section.items is not None:  # an overview leaves that to its sections
            paragraphs += [
                *self._over_steps("methods"),
                *method_text.methods(self.results, self.comparison, self.references),
            ]
        return paragraphs

    def compared(self) -> list[Table]:
        """Return the tables of differences between models."""
        if self.comparison is None:
            return []
        comparison = untold(self.comparison)
        return self._remarked([*self.section.compared(comparison), *no_difference_text.tables(comparison, self.scale)])


def _untold(results: Sequence[Result]) -> list[Result]:
    return [replace(result, summary=untold(result.summary)) for result in results]


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """The work of one probe with one model: inputs run, inputs answered from the cache, and seconds."""

    name: str
    forward: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The record of the run behind a result directory, as text.

    `unfinished` says what is missing from an interrupted study, `edited` names the files changed since, `models` has a
    line about each model, by name, and `asked` is the study file.
    """

    title: str
    question: str
    unfinished: str
    edited: Sequence[str]
    models: Mapping[str, str]
    facts: Sequence[tuple[str, str]]
    units: Sequence[UnitFacts]
    asked: str


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a report: sections, the runs behind their results (one per directory), and notes.

    `made_of` is a hash of the results; it is empty if they are from several directories.
    """

    sections: Sequence[Placed]
    runs: Sequence[RunFacts] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
    made_of: str = ""
