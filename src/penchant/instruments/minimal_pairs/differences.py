"""The tables of differences between models on minimal pairs. Rendering only: every number comes from a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from penchant.instruments.comparison import of_one_model
from penchant.instruments.minimal_pairs.compare import COUNTED, EQUAL
from penchant.instruments.minimal_pairs.estimates import TYPES
from penchant.instruments.minimal_pairs.fixed import AS_THEY_ARE, sampled
from penchant.records import Signature
from penchant.report.made import tested
from penchant.report.tables import P, Row, Table, estimate

MANY = 10
"""Number of paradigms above which their table is a detail."""
_EQUAL_PAIRS = (
    "A=U under both: only pairs whose sentences have as many tokens under both tokenizers (A=U: under the one that a "
    "model compared with itself has)."
)

_OVER = (
    " Other paradigms (in CrowS-Pairs bias types): those there are, taken as a sample. These: as they are, over the "
    "pairs within them; only where there are fewer than ten."
)


def compared(comparison: pl.DataFrame) -> list[Table]:
    """Difference of accuracy in percentage points between every two models: overall, then every paradigm."""
    overall = comparison.filter(pl.col("scope").is_in(["overall", AS_THEY_ARE]))
    each = comparison.filter(pl.col("scope") == "paradigm")
    fixed = AS_THEY_ARE in overall["scope"]
    counted = _counted(comparison)
    many = each["group"].n_unique() > MANY
    start, end = ("difference", "data"), ("lengths", "score", "pairs", "points", *counted.values(), "p")
    title = "Difference of accuracy between models{}, percentage points"
    note = f"{tested(overall)} Uncorrected for the number of models and scores. {_EQUAL_PAIRS}{_counts(counted)}"
    heads = (*start, *(("over",) if fixed else ()), *end)
    rows = tuple(_rows(overall, counted, fixed=fixed))
    whole = Table("differences", title.format(""), heads, rows, note + (_OVER if fixed else ""))
    note = (
        f"{tested(each)} Holm's correction over the paradigms of one data set, score and pair of models, of all pairs "
        f"and of those of equal length apart. {_EQUAL_PAIRS}{_counts(counted)}"
    )
    columns = (*start, "paradigm", *end, "p (Holm)")
    rows = tuple(_rows(each, counted, by_paradigm=True))
    by_paradigm = Table("differences-by-paradigm", title.format(" by paradigm"), columns, rows, note, detail=many)
    return [table for table in (whole, by_paradigm) if table.rows]


def _rows(
    part: pl.DataFrame, counted: Mapping[str, str], *, by_paradigm: bool = False, fixed: bool = False
) -> Iterator[Row]:
    for row in part.iter_rows(named=True):
        cells = (
            row["comparison"],
            row["dataset"],
            *((row["group"],) if by_paradigm else ()),
            *((_over(row),) if fixed else ()),
            _lengths(row),
            row["normalise"],
            row["n"],
            estimate(row, "+.1f", scale=100),
            *(row[name] for name in counted),
            P(row["p"]),
            *((P(row["p_holm"]),) if by_paradigm else ()),
        )
        yield Row(cells, row["signature"])


def _over(row: Mapping[str, Any]) -> str:
    """Which groups a difference says something of."""
    _, noun = sampled(row) or (0, TYPES if TYPES in row["measure"] else "paradigms")
    return f"{'these' if row['scope'] == AS_THEY_ARE else 'other'} {noun}"


def _counted(comparison: pl.DataFrame) -> dict[str, str]:
    """The columns of counts that are shown, with their heads: an earlier version has none, and that the scores of two
    models differ goes without saying."""
    heads = dict(zip(COUNTED, ("first better", "second better", "scores differ"), strict=True))
    alike = all(_of_one_model(text) for text in comparison["signature"].unique())
    return {k: v for k, v in heads.items() if k in comparison.columns and (alike or k != COUNTED[-1])}


def _counts(counted: Mapping[str, str]) -> str:
    """What the counts are, for the note of a table."""
    better = " First better, second better: pairs that only the first or only the second gets right (McNemar's b and c)"
    differ = "; scores differ: pairs that the two score differently at all" if COUNTED[-1] in counted else ""
    return f"{better}{differ}." if counted else ""


def _lengths(row: Mapping[str, Any]) -> str:
    """The pairs that a difference is about, by their lengths."""
    return "A=U" if row["split"] == EQUAL and _of_one_model(row["signature"]) else row["split"]


def _of_one_model(signature: str) -> bool:
    """Whether a difference is between two results of one model."""
    first, _, second = Signature.parse(signature)["model"].partition(" − ")
    return of_one_model(first, second)
