"""Comparison of two models by their effect sizes on the same stimuli."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from penchant.instruments.associations.combination import COMBINED
from penchant.instruments.associations.estimates import EFFECT, Cell, mover
from penchant.instruments.associations.logprob_estimates import contexts
from penchant.instruments.associations.probe import Association
from penchant.instruments.associations.weat import WEAT
from penchant.instruments.base import difference_signature, require_comparable
from penchant.records import Estimate, Result, summary_table
from penchant.stats.bootstrap import expanded_percentile
from penchant.stats.sampled_effects import Sides

DIFFERENCE = "difference of effect sizes"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Effect sizes of a minus those of b, by category.

    The same stimuli are resampled in both; CEAT's intervals are combined as if independent. Raises StudyError for
    results that cannot be compared, naming what differs."""
    free = {"model", "dtype", "case"}
    keys = ["id", "sentence"] if a.signature["probe"] == "logprob-bias" else ["id"]
    require_comparable(a, b, free=free, items=keys)
    settings = WEAT.of(a.signature)
    pair = f"{a.signature['model']} − {b.signature['model']}"
    differences = _from_summaries(a, b, settings) if a.signature["probe"] == "ceat" else _resampled(a, b, settings)
    signature = difference_signature(a, b)
    return summary_table((replace(row, by={"comparison": pair, **row.by}), signature) for row in differences)


def _from_summaries(a: Result, b: Result, settings: Association[Any]) -> Iterator[Estimate]:
    """Differences computed from the summaries, because the two models' samples hold different sentences."""
    keys = ["category", "label", "layer", "context", "sampling", "samples"]
    both = _rows(a, COMBINED).join(_rows(b, COMBINED), on=keys, suffix="_b", maintain_order="left")
    for row in both.iter_rows(named=True):
        first = Estimate(COMBINED, row["value"], row["n"], row["low"], row["high"])
        second = Estimate(COMBINED, row["value_b"], row["n_b"], row["low_b"], row["high_b"])
        low, high = mover(first, second)
        gap = first.value - second.value
        note = row["note"] or row["note_b"]
        how = "" if math.isnan(low) else "from both intervals, as if independent (MOVER)"
        by = {key: row[key] for key in keys}
        yield Estimate(DIFFERENCE, gap, row["n"], low, high, settings.level, how, note=note, by=by)


def _rows(result: Result, measure: str) -> pl.DataFrame:
    return result.summary.filter(pl.col("measure") == measure)


def _resampled(a: Result, b: Result, settings: Association[Any]) -> Iterator[Estimate]:
    ours, theirs = dict(_cells(a)), dict(_cells(b))
    noted = {key: (a_row, b_row) for key, a_row, b_row in _noted(a, b)}
    for key, (value_a, value_b) in noted.items():
        by = dict(zip(("category", "label", "layer", "context"), key, strict=True))
        gap = value_a["value"] - value_b["value"]
        note = value_a["note"] or value_b["note"]
        if math.isnan(gap) or key not in ours or key not in theirs:
            yield Estimate(DIFFERENCE, math.nan, value_a["n"], level=settings.level, note=note, by=by)
            continue
        # The same seed draws the same stimuli in both.
        draws = ours[key].draws(settings) - theirs[key].draws(settings)
        # Quantiles of the draws would count the shrinkage of d with fewer stimuli twice (see `effect_interval`).
        below, above = expanded_percentile(draws[~np.isnan(draws)], ours[key].smallest, settings.level)
        low, high = 2 * gap - above, 2 * gap - below
        how = f"expanded basic bootstrap over stimuli, {settings.resamples} resamples, seed {settings.seed}"
        note = "no interval: a set has one stimulus" if math.isnan(low) else note
        yield Estimate(
            DIFFERENCE, gap, value_a["n"], low, high, settings.level, "" if math.isnan(low) else how, note=note, by=by
        )


def _noted(a: Result, b: Result) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any], Mapping[str, Any]]]:
    keys = ["category", "label", "layer", "context"]
    ours, theirs = ({tuple(r[k] for k in keys): r for r in _rows(x, EFFECT).iter_rows(named=True)} for x in (a, b))
    for key, row in ours.items():
        if key in theirs:
            yield key, row, theirs[key]


def _cells(result: Result) -> Iterator[tuple[tuple[str, ...], Cell]]:
    """The table of every category, layer and context, rebuilt from the items."""
    if result.signature["probe"] == "logprob-bias":
        for _, items in result.items.group_by("category", maintain_order=True):
            for cells, _ in contexts(items):
                by = cells["corrected"].by
                yield (by["category"], by["label"], by["layer"], by["context"]), cells["corrected"]
        return
    keys = ["category", "label", "layer", "context"]
    apart = result.signature.get("unit") == "sentence" or result.signature["probe"] == "weat"
    for key, items in result.items.group_by(keys, maintain_order=True):
        table = np.array(items.filter(pl.col("cosines").is_not_null())["cosines"].to_list())
        sets = [items.filter(pl.col("side") == side) for side in "XYAB"]
        names = [list(range(len(s))) if apart else s["word"].to_list() for s in sets]
        cell = Cell({}, table[None], Sides.of(names[0], names[1]), Sides.of(names[2], names[3]))
        yield tuple(str(part) for part in key), cell
