"""What may be concluded where two models were compared and no difference was found: the same for every instrument."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from penchant.report.tables import Number, Row, Table
from penchant.stats.equivalence import equivalent, narrower

_OWN = {"comparison", "measure", "how", "test", "note", "signature"}
"""Text columns of a comparison that do not name a subset."""


def tables(comparison: pl.DataFrame) -> list[Table]:
    """A table of the comparisons that found no difference, or none: there may be none, and a comparison that an earlier
    version wrote does not say what could have been found."""
    if "detectable" not in comparison.columns:
        return []
    found_none = [row for row in comparison.iter_rows(named=True) if _found_none(row)]
    if not found_none:
        return []
    bounded = any(not math.isnan(row["bound"]) for row in found_none)
    subsets = [name for name, kind in comparison.schema.items() if kind == pl.String and name not in _OWN]
    columns = ("difference", "of", "where", "value", "would be found", *(("bound", "within it") if bounded else ()))
    rows = tuple(Row(_cells(row, subsets, bounded), row["signature"]) for row in found_none)
    level = found_none[0]["level"]
    note = (
        "Not to find a difference is not to show that there is none. A difference as large as under 'would be found' "
        f"is found four times of five with so many items, by one test at {_percent(1 - level)}."
    )
    if bounded:
        note += (
            f" Where the interval of level {_percent(narrower(level))} lies within the bound that the study names, the "
            f"models are equal within that bound (two one-sided tests at {_percent(1 - level)})."
        )
    return [Table("no-difference", "Where no difference was found", columns, rows, note, detail=not bounded)]


def _found_none(row: Mapping[str, Any]) -> bool:
    p = row["p"] if math.isnan(row["p_holm"]) else row["p_holm"]
    return bool(p >= 1 - row["level"] and not math.isnan(row["detectable"]))


def _cells(row: Mapping[str, Any], subsets: list[str], bounded: bool) -> tuple[str | Number, ...]:
    where = ", ".join(row[name] for name in subsets if row[name] not in ("", "all", None)) or "all"
    cells: list[str | Number] = [
        row["comparison"],
        row["measure"],
        where,
        Number(row["value"], row["low"], row["high"], int(row["n"]), "+.3g"),
        Number(row["detectable"], form=".3g"),
    ]
    if bounded:
        shown = equivalent(row["low_bound"], row["high_bound"], row["bound"])
        verdict = {None: "–", True: "yes", False: "not shown"}[shown]
        interval = Number(low=row["low_bound"], high=row["high_bound"], form="+.3g")
        cells += [f"±{row['bound']:g}", f"{verdict} {interval}"]
    return tuple(cells)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
