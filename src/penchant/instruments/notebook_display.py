"""Display of a result in a notebook, as its instrument's section of the report."""

from __future__ import annotations

from typing import Any

import polars as pl

from penchant.instruments.registry import instrument, placed
from penchant.instruments.result import Result
from penchant.report import notebook
from penchant.report.sections import StudySection
from penchant.report.verdicts import table


class Sections:
    """Display of a result as its instrument's section of a report."""

    def headline(self, result: Result) -> pl.DataFrame:
        """Return the rows of the summary that answer the instrument's question."""
        signature = result.signature
        return instrument(signature["probe"]).headline.table(result.summary, signature["model"])

    def verdicts(self, result: Result) -> pl.DataFrame:
        """Return the verdicts on the claims about one model."""
        return table(instrument(result.signature["probe"]).section.answers([result], None))

    def charts(self, result: Result) -> dict[str, Any]:
        """Return the section's charts by name, each an Altair chart."""
        return notebook.Charts(_alone(result).figures())

    def html(self, result: Result) -> str:
        """Return the section as HTML: tables, charts and the first items."""
        return notebook.html(_alone(result))


def _alone(result: Result) -> StudySection:
    (section,) = placed({(result.signature["probe"], result.signature["model"]): result}, {})
    return section
