"""The table of the line in |A|−|U| by paradigm: its slope, and whether it fits. Rendering only."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penchant.instruments.minimal_pairs.estimates import REJECTED, SLOPE
from penchant.records import Result
from penchant.report.tables import Number, P, Row, Table, estimate
from penchant.stats.logistic import LACK_OF_FIT
from penchant.wording.phrases import read_method


def line_fits(results: Sequence[Result]) -> list[Table]:
    """Log-odds per token and the test of the line's fit, for every paradigm with enough differences to test it."""
    rows = []
    untested = 0
    keys = ["dataset", "group", "normalise"]
    for result in results:
        fits = result.summary.filter(pl.col("measure") == LACK_OF_FIT)
        slopes = {
            tuple(row[key] for key in keys): row
            for row in result.summary.filter(pl.col("measure") == SLOPE)
            .join(fits, on=["scope", *keys], how="semi", maintain_order="left")
            .iter_rows(named=True)
        }
        for row in fits.iter_rows(named=True):
            if (test := read_method(row["test_method"])) is None:
                untested += 1
                continue
            key = tuple(row[each] for each in keys)
            df = int(test.params["df"])
            cells = (estimate(slopes[key], "+.2f"), Number(row["value"], form=".1f"), df, P(row["p"]), P(row["p_holm"]))
            rows.append(Row((*key, result.signature["model"], row["n"], *cells), row["signature"]))
    if not rows:
        return []
    note = (
        "χ², df and p are of the fit, not of the slope: Pearson's χ² of a line in |A|−|U| against a free level for "
        "each, a small p meaning that there is no such line. Holm over the paradigms of a data set, "
        f"model and score; at {REJECTED:g} or less the log-odds per token stand for a curve: read accuracy by |A|−|U| "
        f"instead. Not tested, for want of a third level: {untested}."
    )
    columns = (
        "data",
        "paradigm",
        "score",
        "model",
        "pairs",
        "log-odds per token",
        "χ², fit",
        "df, fit",
        "p, fit",
        "p, fit (Holm)",
    )
    title = "Log-odds per token by paradigm, and the fit of the line"
    return [Table("line-fit", title, columns, tuple(rows), note, detail=True)]
