"""Declarative findings: the estimates that they state; their text is in `text.yaml` under `prose`, `finding`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from penchant.records import BaseResult
from penchant.report.finding import MOST, Shown, across, differences, levels, sentences
from penchant.views.rows import At, compared, sources
from penchant.wording.templates import Text


class FindingSpec(Protocol):
    """Declaration of a part of a finding."""

    def said(self, results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentences; a sentence may be empty."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Each model's number for a selection of rows, with the models that are not distinguishable from `apart`.

    The text uses the variable `each`.
    """

    name: str
    at: At
    shown: Shown
    apart: str = "0"

    def said(self, results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentence, which may be empty."""
        rows = [(source.model, line.row) for source in sources(results) for line in source.only(self.at)[:1]]
        each = levels(rows, self.shown, self.apart)
        yield text.get("prose", "finding", self.name, each=each) if each else ""


@dataclass(frozen=True, slots=True)
class ClearDifferences:
    """Clear differences between models.

    The text describes the first model if a difference is positive (`higher`), and names the quantity (`what`) if it is
    not part of `higher`.
    """

    name: str
    at: At
    shown: Shown

    def said(self, results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentence if models were compared."""
        if comparison is not None:
            own = text.below("prose", "finding", self.name)
            rows = [line.row for source in compared(comparison) for line in source.only(self.at)]
            yield differences(rows, self.shown, own.get("higher"), own.get("what"))


@dataclass(frozen=True, slots=True)
class Across:
    """Places (levels of a column) where an estimate clearly differs from `apart`, for the first `MOST` models.

    The text names the quantity (`what`, with the variable `model`), the places (`noun`) and where `more` can be found.
    """

    name: str
    at: At
    shown: Shown
    place: str
    apart: str = "0"

    def said(self, results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield a sentence for each of the first `MOST` models."""
        own = text.below("prose", "finding", self.name)
        for source in sources(results)[:MOST]:
            rows = [(str(line[self.place]), line.row) for line in source.only(self.at)]
            what = own.get("what", model=source.model)
            if rows:
                more = own.get("more") or "in the table"
                yield across(rows, self.shown, own.get("noun"), what, apart=self.apart, more=more)


@dataclass(frozen=True, slots=True)
class FindingPart:
    """A part of a finding that is composed by the instrument."""

    sentences: Callable[[Sequence[BaseResult], pl.DataFrame | None, Text], Iterator[str]]

    def said(self, results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text) -> Iterator[str]:
        """Yield the sentences composed by the instrument."""
        return self.sentences(results, comparison, text)


def finding(
    specs: Iterable[FindingSpec], results: Sequence[BaseResult], comparison: pl.DataFrame | None, text: Text
) -> list[str]:
    """Return the sentences of all declared parts."""
    return sentences(*(said for spec in specs for said in spec.said(results, comparison, text)))
