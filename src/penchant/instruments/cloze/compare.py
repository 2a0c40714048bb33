"""Comparison of two models on the same cloze sentences."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.cloze.estimates import (
    MEASURES,
    MOVED,
    SCALES,
    Moves,
    family,
    groups,
    mean,
    other_name,
    otherwise,
)
from penchant.instruments.cloze.raters import Raters
from penchant.instruments.cloze.settings import ClozeSettings
from penchant.records import Estimate, Result, summary_table
from penchant.stats.hypothesis_tests import with_holm


def difference(measure: str) -> str:
    """The measure name of the difference of a measure between two models."""
    return f"difference of {measure}"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Mean β and δ of a minus those of b on the same sentences, by group and overall.

    With t intervals and t tests over sentences, Holm's adjustment over the groups,
    intervals for other raters, the sensitivity of the difference to moved ratings, and the difference of β with the
    other choice of `renormalise`. Raises StudyError for results
    that cannot be compared, naming what differs.
    """
    require_comparable(a, b, free={"model", "bos", "dtype"}, items=["id", "text", "expected"])
    settings = ClozeSettings.of(a.settings)
    pair = f"{a.signature['model']} − {b.signature['model']}"
    signature = difference_signature(a, b)
    moved, raters = Moves.of([a.items, b.items], settings), Raters([a.items, b.items], settings)
    rows: list[Estimate] = []
    for column in ("beta", "delta"):
        width = SCALES[column][1] - SCALES[column][0]
        gained = []
        for group, inside in groups(a.items):
            gains = (a.items[column] - b.items[column]).filter(pl.Series(inside))
            gain = mean(gains, a.items["group"].filter(pl.Series(inside)), settings, (-width, width), against=0)
            measure = difference(MEASURES[column])
            by = {"comparison": pair, "group": group}
            gained.append(replace(gain, measure=measure, by=by))
            rows.append(replace(raters.estimate(column, measure, inside, (-width, width), gain), by=by))
            moves = moved.estimate(column, inside, settings)
            rows.append(replace(moves, measure=MOVED.format(measure), by=by))
            if column == "beta":
                gains = (otherwise(a.items, settings) - otherwise(b.items, settings)).filter(pl.Series(inside))
                other = mean(gains, a.items["group"].filter(pl.Series(inside)), settings, (-width, width), against=0)
                rows.append(replace(other, measure=other_name(settings).format(measure), by=by))
        rows += gained
    return summary_table((row, signature) for row in with_holm(rows, family))
