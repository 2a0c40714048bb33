"""Tables for a terminal. Rendering only: every number comes from a summary."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from penchant.probes.pair_summary import SPLITS
from penchant.records import Result


def aligned(frame: pl.DataFrame) -> str:
    """A frame as plain aligned columns, numbers to the right, every row and column shown."""
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    rows = [list(frame.columns), *([_cell(value) for value in row] for row in frame.iter_rows())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(frame.columns))]
    lines = []
    for row in rows:
        cells = (c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric, strict=True))
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def pair_table(results: Sequence[Result]) -> str:
    """Accuracy in percent for each model: data sets and paradigms by normalisation; all pairs with their interval,
    each token-length split, and the length-adjusted accuracy."""
    return "\n\n".join(f"{result.signature['model']}\n{_one_model(result.summary)}" for result in results)


def comparison_table(comparison: pl.DataFrame) -> str:
    """Difference of accuracy in percentage points between every two models: overall, and the paradigms that differ."""
    rows = []
    for row in comparison.iter_rows(named=True):
        overall = row["scope"] == "overall"
        if overall or row["p_holm"] < 1 - row["level"]:
            rows.append(
                {
                    "difference of accuracy": row["comparison"],
                    "in": f"{row['dataset']}: all" if overall else f"  {row['group']}",
                    "score": row["normalise"],
                    "items": row["n"],
                    "points": _with_interval(f"{100 * row['value']:+.1f}", row),
                    "p": p_value(row["p"]),
                    "p (Holm)": "" if overall else p_value(row["p_holm"]),
                }
            )
    if not rows:
        return "difference of accuracy: no paradigm differs after Holm's correction"
    return aligned(pl.DataFrame(rows))


def _one_model(summary: pl.DataFrame) -> str:
    wanted = summary.filter(
        pl.col("scope").is_in(["overall", "paradigm"])
        & pl.col("measure").is_in(["accuracy", "length-adjusted accuracy"])
    )
    rows: dict[tuple[str, ...], dict[str, str | int]] = {}
    for row in wanted.iter_rows(named=True):
        group = f"{row['dataset']}: all" if row["scope"] == "overall" else f"  {row['group']}"
        cells = rows.setdefault(
            (row["dataset"], row["scope"], row["group"], row["normalise"]),
            {
                "accuracy, %": group,
                "score": row["normalise"],
            },
        )
        percent = "–" if math.isnan(row["value"]) else f"{100 * row['value']:.1f}"
        if row["measure"] != "accuracy":
            cells["length-adjusted"] = _with_interval(percent, row)
        elif row["split"] == "all":
            cells["pairs"] = str(row["n"])
            cells["all"] = _with_interval(percent, row)
        else:
            cells[row["split"]] = f"{percent} ({row['n']})" if row["n"] else "–"
    columns = ["accuracy, %", "score", "pairs", "all", *SPLITS, "length-adjusted"]
    table = pl.DataFrame([{c: cells.get(c, "") for c in columns} for cells in rows.values()])
    return aligned(table)


def p_value(p: float) -> str:
    """A p-value to two digits; one too small for a float is not nought."""
    if math.isnan(p):
        return "–"
    return f"{p:.2g}" if p > 0 else "< 1e-300"


def _with_interval(percent: str, row: dict[str, float]) -> str:
    if math.isnan(row["low"]):
        return percent
    return f"{percent} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
