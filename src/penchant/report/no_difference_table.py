"""Table of model pairs without a clear difference, with the same layout for all instruments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from penchant.records import SIDES, Estimate, pair_of
from penchant.report.significance import deciding
from penchant.report.tables import Number, ReportRow, ReportTable
from penchant.stats.equivalence import equivalent, narrower

_OWN = {*SIDES, *Estimate("", math.nan, 0).row(), "signature"}
"""The columns of a comparison that do not identify a subset."""
_WHOLE = ("", "all", "overall", "these groups", "group", None)
"""Levels omitted from the column `where`, because they do not name a subset."""
NEVER = "none possible"
"""The text shown if the smallest detectable difference exceeds the largest possible difference."""


@dataclass(frozen=True, slots=True)
class DifferenceScale:
    """Scale of an instrument's differences between models.

    `largest` maps measures to their largest possible difference, and `told` is a hint about the unit of equivalence
    bounds. If `studentised`, intervals are based on a t-distribution with n − 1 degrees of freedom. For display,
    differences are multiplied by `factor`, formatted with `form` and expressed in `unit`.
    """

    largest: Mapping[str, float] = field(default_factory=dict)
    told: str = ""
    factor: float = 1
    unit: str = ""
    form: str = ".3g"
    studentised: bool = False

    def refusal(self, bound: float) -> str:
        """Return an error message if an equivalence bound is too large for any difference to exceed it, else ""."""
        measure, largest = min(self.largest.items(), key=lambda each: each[1], default=("", math.inf))
        if bound < largest:
            return ""
        return f"the bound {bound:g} is too large: no {measure} can exceed {largest:g} — {self.told}"

    def detectable(self, measure: str, size: float) -> str | Number:
        """Format the smallest detectable difference of a measure; return `NEVER` if no difference can be that large."""
        if size > self.largest.get(measure, math.inf):
            return NEVER
        return Number(self.factor * size, form=self.form)

    def number(self, value: float, low: float, high: float, n: int | None = None) -> Number:
        """Return a difference for display, with its interval and its number of items."""
        return Number(self.factor * value, self.factor * low, self.factor * high, n, f"+{self.form}")


def tables(comparison: pl.DataFrame, scale: DifferenceScale) -> list[ReportTable]:
    """Return a list with a table of the comparisons without a clear difference, or an empty list."""
    found_none = [
        row
        for row in comparison.iter_rows(named=True)
        if deciding(row) >= 1 - row["level"] and not math.isnan(row["detectable"])
    ]
    if not found_none:
        return []
    bounded = any(not math.isnan(row["bound"]) for row in found_none)
    subsets = [name for name, kind in comparison.schema.items() if kind == pl.String and name not in _OWN]
    columns = ("difference", "of", "where", "value", "detectable", *(("bound", "within it") if bounded else ()))
    rows = tuple(ReportRow(_cells(row, subsets, scale, bounded=bounded), row["signature"]) for row in found_none)
    level = found_none[0]["level"]
    note = (
        "A difference may exist even where none was found. Detectable: the smallest difference this study could "
        f"detect, in four of five repetitions. It is for one test at {_percent(1 - level)}, and with Holm's correction "
        f"over m tests for its first step, at {_percent(1 - level)}/m."
    )
    if any(NEVER in row.cells for row in rows):
        note += f" '{NEVER}': too few items to detect even the largest possible difference."
    if bounded:
        note += (
            f" Within it: the interval of level {_percent(narrower(level))} lies within the bound named in the study. "
            f"Then the models are equal up to that bound (two one-sided tests at {_percent(1 - level)})."
        )
    title = "Where no difference was found" + (f", {scale.unit}" if scale.unit else "")
    return [ReportTable("no-difference", title, columns, rows, note, detail=not bounded)]


def _cells(
    row: Mapping[str, Any], subsets: list[str], scale: DifferenceScale, *, bounded: bool
) -> tuple[str | Number, ...]:
    where = ", ".join(row[name] for name in subsets if row[name] not in _WHOLE) or "all"
    cells: list[str | Number] = [
        pair_of(row),
        row["measure"],
        where,
        scale.number(row["value"], row["low"], row["high"], int(row["n"])),
        scale.detectable(row["measure"], row["detectable"]),
    ]
    if bounded:
        shown = equivalent(row["low_bound"], row["high_bound"], row["bound"])
        verdict = {None: "–", True: "yes", False: "not shown"}[shown]
        interval = scale.number(math.nan, row["low_bound"], row["high_bound"])
        cells += [f"±{scale.factor * row['bound']:g}", f"{verdict} {interval}"]
    return tuple(cells)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
