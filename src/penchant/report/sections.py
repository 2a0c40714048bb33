"""Content of a report in every format: a section for each instrument."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from penchant.records import BaseResult
from penchant.report import method_text, no_difference_text
from penchant.report.figures import Figure, unchecked
from penchant.report.item_browser import ItemTable
from penchant.report.no_difference_text import DifferenceScale
from penchant.report.references import Reference
from penchant.report.tables import ReportTable, untold


@dataclass(frozen=True, slots=True)
class Curves:
    """Presentation of an instrument's curves over the checkpoints of a training run.

    The functions take a curve with the columns `family`, `step` (null in a row about several steps) and `signature`.
    They return sentences, tables, figures, and paragraphs on its methods and on the conclusions that it allows.
    """

    finding: Callable[[pl.DataFrame], list[str]]
    tables: Callable[[pl.DataFrame], list[ReportTable]]
    figures: Callable[[pl.DataFrame], list[Figure]]
    methods: Callable[[pl.DataFrame], list[str]]
    limits: Callable[[pl.DataFrame], list[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """Presentation of an instrument's results for several models.

    `tables` returns the headline table first; `compared` returns tables of differences between models; `items` is None
    if other sections show the items. `methods` returns paragraphs that cite works as `[@key]` (see
    `penchant.report.references`); `limits` returns paragraphs on what the numbers can and cannot mean.
    """

    title: str
    question: str
    tables: Callable[[Sequence[BaseResult]], list[ReportTable]]
    compared: Callable[[pl.DataFrame], list[ReportTable]]
    figures: Callable[[Sequence[BaseResult]], list[Figure]]
    items: Callable[[Sequence[BaseResult]], ItemTable] | None
    methods: Callable[[Sequence[BaseResult]], list[str]]
    limits: Callable[[Sequence[BaseResult]], list[str]]
    finding: Callable[[Sequence[BaseResult], pl.DataFrame | None], list[str]] = lambda results, comparison: []
    """Function that returns the finding, most important first, given estimates and differences."""
    curves: Curves | None = None
    """The presentation of curves, or None if the instrument has none."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """The meanings of the section's table columns, in addition to the common columns."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A section across several instruments, shown first if a study has results from more than one instrument.

    `place` is the section's name in files and links.
    """

    place: str
    section: Section


@dataclass(frozen=True, slots=True)
class StudySection:
    """A section within a study.

    `place` is the probe's directory, `comparison` contains the differences between models, and `references` are the
    works that the text may cite.
    """

    place: str
    title: str
    section: Section
    results: Sequence[BaseResult]
    comparison: pl.DataFrame | None
    references: Mapping[str, Reference]
    remark: str = ""
    """Text placed before the note of every table."""
    scale: DifferenceScale = field(default_factory=DifferenceScale)
    """The scale of the differences between models."""
    curve: pl.DataFrame | None = None
    """The estimates over the steps of a training run, or None."""

    def tables(self) -> list[ReportTable]:
        """Return all tables; tables of differences are last."""
        return [*self.estimates(), *self.compared()]

    def finding(self) -> list[str]:
        """Return the finding in sentences; for a training run with a curve, it is based on the last checkpoint."""
        comparison = None if self.comparison is None else untold(self.comparison)
        return [*self._over_steps("finding"), *self.section.finding(_untold(self._finished()), comparison)]

    def estimates(self) -> list[ReportTable]:
        """Return the tables of estimates; tables over the steps of a training run are first."""
        return self._remarked([*self._over_steps("tables"), *self.section.tables(_untold(self.results))])

    def figures(self) -> list[Figure]:
        """Return the figures; figures over the steps of a training run are first."""
        with unchecked():
            return [*self._over_steps("figures"), *self.section.figures(self.results)]

    def limits(self) -> list[str]:
        """Return paragraphs on what the numbers can and cannot show."""
        return [*self._over_steps("limits"), *self.section.limits(self.results)]

    def _over_steps(self, part: str) -> list[Any]:
        """Return the content for the given field of `Curves`; empty if there is no curve."""
        shown = self.section.curves
        return [] if shown is None or self.curve is None else list(getattr(shown, part)(self.curve))

    def _finished(self) -> Sequence[BaseResult]:
        """Return the results without those of earlier checkpoints of a training run with a curve."""
        if self.curve is None:
            return self.results
        steps = self.curve.drop_nulls("step")
        last = steps.filter(pl.col("step") == pl.col("step").max().over("family"))
        earlier = set(steps["signature"]) - set(last["signature"])
        return [result for result in self.results if earlier.isdisjoint(result.summary["signature"])]

    def _remarked(self, tables: list[ReportTable]) -> list[ReportTable]:
        if not self.remark:
            return tables
        return [replace(table, note=f"{self.remark} {table.note}".strip()) for table in tables]

    def methods(self) -> list[str]:
        """Return paragraphs, with citations, on what was measured and on how intervals and tests were computed."""
        paragraphs = self.section.methods(self.results)
        if self.section.items is not None:  # an overview leaves that to its sections
            paragraphs += [
                *self._over_steps("methods"),
                *method_text.methods(self.results, self.comparison, self.references),
            ]
        return paragraphs

    def compared(self) -> list[ReportTable]:
        """Return the tables of differences between models."""
        if self.comparison is None:
            return []
        comparison = untold(self.comparison)
        return self._remarked([*self.section.compared(comparison), *no_difference_text.tables(comparison, self.scale)])


def _untold(results: Sequence[BaseResult]) -> list[BaseResult]:
    return [replace(result, summary=untold(result.summary)) for result in results]


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """Work done by a probe with a model: inputs evaluated, inputs answered from the cache, and seconds."""

    name: str
    forward: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Record of the run that produced a result directory, as text.

    `unfinished` describes what is missing from an interrupted study, `edited` contains the names of the files changed
    since the run, `models` maps each model's name to a line about it, and `asked` is the text of the study file.
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
    """Content of a report: sections, the runs that produced their results (one per directory), and notes.

    `made_of` is a hash of the results; it is empty if they come from several directories.
    """

    sections: Sequence[StudySection]
    runs: Sequence[RunFacts] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
    made_of: str = ""
