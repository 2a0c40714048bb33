"""Scored minimal pairs that are set by hand, as the probe has them, and the results that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

import penchant as pc
from penchant.records import BaseResult, Signature
from penchant.report.sections import Section
from penchant.report.verdicts import Verdict


def scored(
    rows: Sequence[tuple[str, float, float, int, int]], dataset: str = "d", phenomenon: str = "ph"
) -> pl.DataFrame:
    """Return items of pairs: paradigm, scores of the good and the bad sentence, and their tokens."""
    schema = ["group", "score_good", "score_bad", "n_tokens_good", "n_tokens_bad"]
    return pl.DataFrame(
        {"dataset": dataset, "file": "f", "id": [str(i) for i in range(len(rows))], "phenomenon": phenomenon}
    ).with_columns(
        pl.DataFrame(list(rows), schema=schema, orient="row"),
        difference=pl.Series([good - bad for *_, good, bad in rows], dtype=pl.Int64),
    )


def result(items: pl.DataFrame, model: str = "m", *, resamples: int = 1000, **more: str) -> pc.Result:
    """Return the result of some items; what is named beside are keys of the signature."""
    fields = {"data": "d#1", "normalise": "none,mean,pen", "method": "lp", "acceptable": "sent_more", **more}
    signature = Signature.of("minimal-pairs", model=model, level=0.95, resamples=resamples, seed=0, **fields)
    known = {name: value for name, value in fields.items() if name in ("method", "ties", "space", "acceptable")}
    chosen = {**known, "normalise": fields["normalise"].split(",")}
    probe = pc.MinimalPairs(data=["d"], resamples=resamples).model_copy(update=chosen)
    return probe.result(pc.Measured(items), signature)


def verdicts(
    section: Section, results: Sequence[BaseResult], comparison: pl.DataFrame | None = None
) -> dict[str, tuple[Verdict, ...]]:
    """Return the verdicts on each claim of a section."""
    return {answer.claim: answer.verdicts for answer in section.answers(results, comparison)}


def kinds(found: Sequence[Verdict]) -> list[tuple[str, str, str]]:
    """Return the kind, direction and place of each verdict."""
    return [(verdict.kind, verdict.direction, verdict.place) for verdict in found]


def numbers(verdict: Verdict) -> tuple[Any, Any, Any, Any]:
    """Return the value, the interval and n of the estimate that a verdict rests on."""
    assert verdict.row is not None
    value, low, high, n = (verdict.row[name] for name in ("value", "low", "high", "n"))
    return value, low, high, n
