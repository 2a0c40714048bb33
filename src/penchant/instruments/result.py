"""What a probe found with one model, able to show itself."""

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
    """How a result shows itself in a notebook. Its instrument knows, so this is given by what knows instruments."""

    def headline(self, result: Result) -> pl.DataFrame:
        """The rows that answer the question of its instrument."""

    def charts(self, result: Result) -> dict[str, Any]:
        """The charts of its section by name."""

    def html(self, result: Result) -> str:
        """Its section."""


@dataclass(frozen=True, repr=False)
class Result(records.Result):
    """What a probe found with one model.

    `items` holds one row a stimulus with its scores; `summary` one row an estimate, each with its signature;
    `cautions` what a reader must know before using a number; `settings` the parameters of its probe in JSON types.
    """

    _presentation: ClassVar[Callable[[], Presentation]]
    _in_memory: ClassVar[str] = (
        "a notebook shows a result; result.charts() has its charts, result.summary and result.items are its tables. A "
        "report is of a directory that penchant.run has written"
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
        """Read what `save` wrote. Raises StudyError when the directory does not hold a result."""
        return cls(*records.read_result(directory))

    @property
    def headline(self) -> pl.DataFrame:
        """The numbers that answer the question of the instrument: model, levels, measure, value, low, high and n."""
        return Result._presentation().headline(self)

    def charts(self) -> dict[str, Any]:
        """The charts of the report by name, each an Altair chart (`.save("x.svg")`).

        A notebook shows all of them as pictures, and one of them as Altair does, which fetches its scripts from the
        network unless `altair.renderers.enable("svg")` was called.
        """
        return Result._presentation().charts(self)

    def _repr_html_(self) -> str:
        """The section of the report, for notebooks: tables, charts and the first items; needs no script."""
        return Result._presentation().html(self)


def present_with(presentation: Callable[[], Presentation]) -> None:
    """Set how results show themselves; called when one is shown."""
    Result._presentation = presentation
