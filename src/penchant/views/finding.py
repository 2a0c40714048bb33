"""Declared findings: the estimates that they state; their words are in `text.yaml` under `prose`, `finding`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from penchant.records import Result
from penchant.report.finding import MOST, Shown, across, differences, levels, sentences
from penchant.views.rows import At, compared, sources
from penchant.wording.templates import Text


class FindingSpec(Protocol):
    """A declared part of a finding."""

    def said(self, results: Sequence[Result], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentences, some of which may be empty."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The number of each model at some levels, and those not distinguishable from `apart`.

    The text has {{ each }}.
    """

    name: str
    at: At
    shown: Shown
    apart: str = "0"

    def said(self, results: Sequence[Result], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentence."""
        rows = [(source.model, line.row) for source in sources(results) for line in source.only(self.at)[:1]]
        each = levels(rows, self.shown, self.apart)
        yield text.get("prose", "finding", self.name, each=each) if each else ""


@dataclass(frozen=True, slots=True)
class Differences:
    """The clear differences between models.

    The text describes the first model if a difference is above 0 (`higher`), and the quantity (`what`) if `higher` does
    not.
    """

    name: str
    at: At
    shown: Shown

    def said(self, results: Sequence[Result], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentence, if models were compared."""
        if comparison is not None:
            own = text.below("prose", "finding", self.name)
            rows = [line.row for source in compared(comparison) for line in source.only(self.at)]
            yield differences(rows, self.shown, own.get("higher"), own.get("what"))


@dataclass(frozen=True, slots=True)
class Across:
    """The places (levels of a column) in which an estimate differs clearly from `apart`, for the first models.

    The text has the quantity (`what`, with {{ model }}), the name of the places (`noun`) and where to find `more`.
    """

    name: str
    at: At
    shown: Shown
    place: str
    apart: str = "0"

    def said(self, results: Sequence[Result], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield a sentence for each of the first models."""
        own = text.below("prose", "finding", self.name)
        for source in sources(results)[:MOST]:
            rows = [(str(line[self.place]), line.row) for line in source.only(self.at)]
            what = own.get("what", model=source.model)
            if rows:
                more = own.get("more") or "in the table"
                yield across(rows, self.shown, own.get("noun"), what, apart=self.apart, more=more)


@dataclass(frozen=True, slots=True)
class Said:
    """A part of a finding that an instrument composes itself."""

    sentences: Callable[[Sequence[Result], pl.DataFrame | None, Text], Iterator[str]]

    def said(self, results: Sequence[Result], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentences."""
        return self.sentences(results, comparison, text)


def finding(
    specs: Iterable[FindingSpec], results: Sequence[Result], comparison: pl.DataFrame | None, text: Text
) -> list[str]:
    """Return the sentences of a finding."""
    return sentences(*(said for spec in specs for said in spec.said(results, comparison, text)))
