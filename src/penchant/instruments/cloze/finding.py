"""The finding of cloze valence in words. Every number comes from a result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from penchant.instruments.cloze.compare import difference
from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES
from penchant.instruments.cloze.raters import SAMPLED
from penchant.records import Result
from penchant.report.finding import Shown, across, differences, measured, outside, sentences
from penchant.report.tables import models

_NUMBER = Shown("+.3f", "sentences")
LITTLE = 0.1
"""Where rated words hold less than this share of the probability, no lean is told."""


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """Towards which variety each model leans over all sentences; which leans more, over all and in which groups; and
    which suits the sentences of which groups better."""
    low, _, high = results[0].signature["scale"].partition(" < ")
    leaning = [
        text
        for model, result in zip(models(results), results, strict=True)
        if _rated(result)
        for text in _leaning(model, result.summary, low, high)
    ]
    if comparison is None or not all(map(_rated, results)):
        return sentences("; ".join(leaning))
    return sentences("; ".join(leaning), *_compared(comparison, results[0].items, high))


def _rated(result: Result) -> bool:
    """Whether any word that the model predicts is rated; else β is 0 without anything having been measured."""
    return any(row["value"] > 0 for row in measured(_whole(result.summary, MEASURES["rated_mass"])))


def _whole(frame: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    """The rows over all sentences, which are those of the only group where there is one."""
    rows = frame.filter(pl.col("measure") == measure)
    whole = rows.filter(pl.col("group") == EVERYTHING)
    return (whole if len(whole) else rows).to_dicts()


def _leaning(model: str, summary: pl.DataFrame, low: str, high: str) -> list[str]:
    """Where the model leans by these raters, and whether it does by others, who are a sample as sentences are; nothing
    is told of a lean where little of what it predicts is rated, since the rest counts as none."""
    texts = []
    for row in measured(_whole(summary, MEASURES["beta"]))[:1]:
        clear, side = outside(row), low if row["value"] < 0 else high
        leans = f"leans towards {side}" if clear else f"cannot be told to lean towards {low} or {high}"
        more = ""
        (mass, *_) = measured(_whole(summary, MEASURES["rated_mass"]))
        sampled = [r for r in _whole(summary, SAMPLED.format(MEASURES["beta"])) if not math.isnan(r["low"])]
        if clear and mass["value"] < LITTLE:
            leans = f"cannot be told to lean anywhere: the rated words hold {mass['value']:.0%} of the probability"
        elif clear and sampled and not outside(sampled[0]):
            leans = f"leans towards {side} by these raters"
            more = f"; with raters sampled, {_NUMBER.number(sampled[0], n=False)}: by others it need not"
        texts.append(f"{model} {leans} (mean β {_NUMBER.number(row)}{more})")
    return texts


def _compared(comparison: pl.DataFrame, items: pl.DataFrame, high: str) -> list[str]:
    """The differences of β, then those of δ. Where sentences call for opposite ends, leaning towards one of them suits
    some and not the others, and a mean δ over all would cancel: it is then told by group only, and of no group that
    itself holds both ends."""
    beta, delta = (difference(MEASURES[column]) for column in ("beta", "delta"))
    texts = [differences(_whole(comparison, beta), _NUMBER, f"leans more towards {high} than", what="mean β")]
    ends = dict(items.group_by("group", maintain_order=True).agg(pl.col("expected").sign().unique()).iter_rows())
    texts += _by_group(comparison, beta, "mean β", list(ends))
    if not _both_ends(items["expected"].sign().unique().to_list()):
        texts.append(differences(_whole(comparison, delta), _NUMBER, "suits the sentences better than", what="mean δ"))
    return texts + _by_group(comparison, delta, "mean δ", [group for group, of in ends.items() if not _both_ends(of)])


def _both_ends(signs: Sequence[float]) -> bool:
    return {-1.0, 1.0} <= set(signs)


def _by_group(comparison: pl.DataFrame, measure: str, what: str, groups: Sequence[str]) -> list[str]:
    """The groups in which two models differ; nothing where there are more than two models, or one group."""
    rows = comparison.filter((pl.col("measure") == measure) & (pl.col("group") != EVERYTHING))
    pairs = rows["comparison"].unique().to_list()
    if len(pairs) != 1 or rows["group"].n_unique() < 2:
        return []
    named = ((row["group"], row) for row in rows.iter_rows(named=True) if row["group"] in groups)
    return [across(named, _NUMBER, "groups", f"Difference of {what}, {pairs[0]}")]
