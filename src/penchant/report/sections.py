"""Content of a report, independent of its format, with a section for each instrument."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from penchant.records import BaseResult
from penchant.report import method_text, no_difference_table
from penchant.report.figures import Figure, unchecked
from penchant.report.item_browser import ItemTable
from penchant.report.no_difference_table import DifferenceScale
from penchant.report.references import Reference
from penchant.report.tables import ReportTable, untold
from penchant.report.verdicts import NOT_MEASURED, Answer

_INTERVAL = re.compile(r"\[(?=[+−]?\d)")
"""The beginning of an interval in a sentence."""
MOST_FINDINGS = 3
"""The maximum number of sentences in the finding of a figure."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Functions that present an instrument's results over the checkpoints of a training run.

    Each takes a data frame with the columns `family`, `step` (null for rows that cover several steps) and `signature`.
    `methods` returns paragraphs on how the numbers were obtained, and `limits` on how they may be interpreted.
    """

    sentences: Callable[[pl.DataFrame], list[str]]
    tables: Callable[[pl.DataFrame], list[ReportTable]]
    figures: Callable[[pl.DataFrame], list[Figure]]
    methods: Callable[[pl.DataFrame], list[str]]
    limits: Callable[[pl.DataFrame], list[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """Functions that present an instrument's results for several models.

    `tables` returns tables of estimates, the main table first, and `compared` returns tables of differences between
    models. `items` is None if other sections show the items. `methods` returns paragraphs that cite works as `[@key]`
    (see `penchant.report.references`), and `limits` returns paragraphs on how the numbers may be interpreted.
    """

    title: str
    question: str
    tables: Callable[[Sequence[BaseResult]], list[ReportTable]]
    compared: Callable[[pl.DataFrame], list[ReportTable]]
    figures: Callable[[Sequence[BaseResult]], list[Figure]]
    items: Callable[[Sequence[BaseResult]], ItemTable] | None
    methods: Callable[[Sequence[BaseResult]], list[str]]
    limits: Callable[[Sequence[BaseResult]], list[str]]
    answers: Callable[[Sequence[BaseResult], pl.DataFrame | None], list[Answer]] = lambda results, comparison: []
    """Function that returns the answers to the instrument's claims, given estimates and differences."""
    curves: Curves | None = None
    """The presentation of training curves, or None if the instrument has none."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """Meanings of table columns specific to this section."""
    of_tables: bool = False
    """True if the tables are the main content of the section, and are shown by default."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A section that covers several instruments, shown first if a study uses more than one.

    `place` is the section's name in files and links.
    """

    place: str
    section: Section


@dataclass(frozen=True)
class StudySection:
    """A section of a study's report.

    `place` is the name of the probe's directory, `comparison` contains the differences between models, and `references`
    are the works that the text may cite.
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
    """Estimates for the checkpoints of a training run, or None."""

    def tables(self) -> list[ReportTable]:
        """Return all tables, with tables of differences last."""
        return [*self.estimates(), *self.compared()]

    def answers(self) -> list[Answer]:
        """Return the answers to the questions of the section's instrument.

        If there is a training curve, these answers are about the last checkpoint and follow an answer about the curve.
        The first interval is labelled with its confidence level, as in "[95% CI 0.1, 0.3]".
        """
        answers = [*self._training(), *self._own_answers]
        for number, answer in enumerate(answers):
            for place, sentence in enumerate(answer.sentences):
                if (said := self._with_named_interval(sentence)) != sentence:
                    sentences = [*answer.sentences[:place], said, *answer.sentences[place + 1 :]]
                    answers[number] = replace(answer, sentences=sentences)
                    return answers
        return answers

    def _with_named_interval(self, text: str) -> str:
        if not _INTERVAL.search(text):
            return text
        return _INTERVAL.sub(f"[{float(self.results[0].signature['level']):.0%} CI ", text, count=1)

    def _training(self) -> list[Answer]:
        curves = self._over_steps("sentences")
        return [Answer("training", "", curves, ())] if curves else []

    @cached_property
    def _own_answers(self) -> list[Answer]:
        comparison = None if self.comparison is None else untold(self.comparison)
        return self.section.answers(_untold(self._finished()), comparison)

    def estimates(self) -> list[ReportTable]:
        """Return the tables of estimates, with tables of training curves first."""
        return self._remarked([*self._over_steps("tables"), *self.section.tables(_untold(self.results))])

    def figures(self) -> list[Figure]:
        """Return the figures with their findings, and with figures of training curves first."""
        return [*self._figures]

    @cached_property
    def _figures(self) -> list[Figure]:
        with unchecked():
            training, own = self._over_steps("figures"), self.section.figures(self.results)
        found = [*_with_findings(training, self._training()), *_with_findings(own, self._own_answers)]
        return [replace(figure, finding=self._with_named_interval(figure.finding)) for figure in found]

    def limits(self) -> list[str]:
        """Return paragraphs on how the results may and may not be interpreted."""
        return [*self._over_steps("limits"), *self.section.limits(self.results)]

    def _over_steps(self, part: str) -> list[Any]:
        shown = self.section.curves
        return [] if shown is None or self.curve is None else list(getattr(shown, part)(self.curve))

    def _finished(self) -> Sequence[BaseResult]:
        """Return the results, without earlier checkpoints if there is a training curve."""
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
        if self.section.items is not None:  # an overview leaves the other paragraphs to its sections
            paragraphs += [
                *self._over_steps("methods"),
                *method_text.methods(self.results, self.comparison, self.references, self._answered()),
            ]
        return paragraphs

    def _answered(self) -> set[str]:
        """Return the names of the measures whose estimates the answers are based on."""
        verdicts = (verdict for answer in self._own_answers for verdict in answer.verdicts)
        return {each.row["measure"] for each in verdicts if each.row and each.kind != NOT_MEASURED}

    def compared(self) -> list[ReportTable]:
        """Return the tables of differences between models."""
        if self.comparison is None:
            return []
        comparison = untold(self.comparison)
        return self._remarked([*self.section.compared(comparison), *no_difference_table.tables(comparison, self.scale)])


def _with_findings(figures: Sequence[Figure], answers: Sequence[Answer]) -> Iterator[Figure]:
    """Yield the figures, each with its finding set to the first sentences of the answers that it shows."""
    names = [re.sub(r"-\d+$", "", figure.name) for figure in figures]  # a figure may have a number for each data set
    for figure, name in zip(figures, names, strict=True):
        shown = [
            answer
            for position, answer in enumerate(answers)
            if name in (answer.figure.split() or (names[:1] if position == 0 else []))
        ]
        sentences = [sentence for answer in shown for sentence in answer.about(figure.part)]
        yield replace(figure, finding=" ".join(sentences[:MOST_FINDINGS]))


def _untold(results: Sequence[BaseResult]) -> list[BaseResult]:
    return [replace(result, summary=untold(result.summary)) for result in results]


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """Work done by a probe with a model: inputs evaluated, inputs found in the cache, and seconds."""

    name: str
    forward: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Record of the run that produced a result directory, as text.

    `unfinished` describes the missing parts of an interrupted study, `edited` lists the files changed since the run,
    `models` maps model names to descriptions, `facts` are other facts as (name, value), and `asked` is the text of the
    study file.
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

    def models(self) -> dict[str, str]:
        """Return the descriptions of the models that have results, by name."""
        shown = dict.fromkeys(result.signature["model"] for part in self.sections for result in part.results)
        lines = {name: line for run in reversed(self.runs) for name, line in run.models.items()}
        return {name: lines[name] for name in shown if name in lines}
