"""Comparison of two models on the same judged sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from penchant.instruments.acceptability.estimates import DIFFERENCE, SENTENCES, values_of
from penchant.instruments.acceptability.probe import Acceptability
from penchant.instruments.base import difference_signature, require_comparable
from penchant.records import Estimate, Result, summary_table
from penchant.stats.correlations import correlation_difference
from penchant.stats.hypothesis_tests import with_holm

_FREE = {"model", "bos", "dtype", "method", "normalise", "pen-alpha", "slln-alpha", "unigrams", "folds"}


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Pearson's r with the judgements of a minus that of b, on the same sentences, by score; Holm's adjustment is over
    the scores of two models.

    Models may be scored by different methods, since correlations have no units. Raises StudyError for results that
    cannot be compared, naming what differs.
    """
    require_comparable(a, b, free=_FREE, items=["id", "sentence", "prefix", "rating"])
    first, second = (Acceptability.of(result.signature) for result in (a, b))
    shared = [how for how in first.normalisations() if how in second.normalisations()]
    rows = with_holm(_differences(a, b, shared), lambda estimate: DIFFERENCE)
    return summary_table((row, difference_signature(a, b, normalise=row.by["score"])) for row in rows)


def _differences(a: Result, b: Result, hows: list[str]) -> Iterator[Estimate]:
    settings = [Acceptability.of(result.signature) for result in (a, b)]
    pair = f"{a.signature['model']} − {b.signature['model']}"
    judged = a.items["rating"].to_numpy()
    for how in hows:
        sides = [values_of(result.items, how, each) for result, each in zip((a, b), settings, strict=True)]
        by = {"comparison": pair, "score": how}
        if reason := sides[0][1] or sides[1][1]:
            note = f"not fitted: {reason}"
            yield Estimate(DIFFERENCE, float("nan"), len(judged), level=settings[0].level, note=note, by=by)
            continue
        found = correlation_difference(
            judged,
            sides[0][0],
            sides[1][0],
            seed=settings[0].seed,
            resamples=settings[0].resamples,
            level=settings[0].level,
            noun=SENTENCES,
        )
        yield replace(found, measure=DIFFERENCE, by=by)
