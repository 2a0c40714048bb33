"""The result of a probe for one model, with its display in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import polars as pl

from penchant import records
from penchant.call_checks import asked, unknown_attribute
from penchant.plurals import counted


class Presentation(Protocol):
    """Protocol for the display of results in a notebook, implemented by a module that imports the instruments."""

    def headline(self, result: Result) -> pl.DataFrame:
        """Return the rows of the summary that answer the instrument's question."""

    def verdicts(self, result: Result) -> pl.DataFrame:
        """Return the verdicts on the instrument's claims."""

    def charts(self, result: Result) -> dict[str, Any]:
        """Return the charts of the result's section by name."""

    def html(self, result: Result) -> str:
        """Return the result's section as HTML."""


@dataclass(frozen=True, repr=False)
class Result(records.BaseResult):
    """The result of a probe for one model.

    `items` has one row per stimulus, with its scores; `summary` has one row per estimate, each with its signature;
    `cautions` are warnings to read before using an estimate; `settings` are the parameters of the probe in JSON types;
    `left_out` are notes on the data that were not used.
    """

    _presentation: ClassVar[Callable[[], Presentation]]
    _in_memory: ClassVar[str] = (
        "a notebook displays a result; result.charts() returns its charts, result.summary and result.items are its "
        "tables. A report needs a directory written by penchant.run"
    )

    def __repr__(self) -> str:
        items, estimates = counted(len(self.items), "items"), counted(len(self.summary), "estimates")
        cautions = f", {len(self.cautions)} to be read first in .cautions" if self.cautions else ""
        head = f"{self.signature['probe']} with {self.signature['model']}: {items}, {estimates}{cautions}"
        return f"<{head}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, "a result")

    @classmethod
    @asked
    def load(cls, directory: str | Path) -> Result:
        """Read a result written by `save`. Raises StudyError if the directory does not contain a result."""
        return cls(*records.read_result(directory))

    @property
    def headline(self) -> pl.DataFrame:
        """The estimates that answer the instrument's question, with model, levels, measure, value, low, high and n."""
        return Result._presentation().headline(self)

    @property
    def verdicts(self) -> pl.DataFrame:
        """The verdicts on the claims about this model, each with its estimate and a sentence."""
        return Result._presentation().verdicts(self)

    def charts(self) -> dict[str, Any]:
        """Return the charts of the report by name, each an Altair chart (`.save("x.svg")`).

        A notebook shows the whole mapping as images. It shows a single chart with Altair, which loads its scripts from
        the network unless `altair.renderers.enable("svg")` was called.
        """
        return Result._presentation().charts(self)

    def _repr_html_(self) -> str:
        """Return the section of the report for notebooks: tables, charts and the first items, without scripts."""
        return Result._presentation().html(self)


def present_with(presentation: Callable[[], Presentation]) -> None:
    """Set the function that returns the presentation of results; it is called whenever a result is shown."""
    Result._presentation = presentation
