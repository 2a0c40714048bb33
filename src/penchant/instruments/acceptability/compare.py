"""Comparison of two models on the same judged sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from penchant.instruments.acceptability.estimates import DIFFERENCE, MORCELA, SENTENCES, folded, values_of
from penchant.instruments.acceptability.settings import AcceptabilitySettings
from penchant.instruments.base import difference_signature, require_comparable
from penchant.records import Estimate, Result, summary_table
from penchant.stats.correlations import correlation_difference
from penchant.stats.cross_validation import cross_validated
from penchant.stats.hypothesis_tests import with_holm

_FREE = {"model", "bos", "dtype", "method", "normalise", "pen-alpha", "slln-alpha", "unigrams", "folds"}


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Pearson's r with the judgements of a minus that of b, on the same sentences, by score; Holm's adjustment is over
    the scores of two models.

    Models may be scored by different methods, since correlations have no units. Raises StudyError for results that
    cannot be compared, naming what differs.
    """
    require_comparable(a, b, free=_FREE, items=["id", "sentence", "prefix", "rating"])
    first, second = (AcceptabilitySettings.of(result.settings) for result in (a, b))
    shared = [how for how in first.normalisations() if how in second.normalisations()]
    rows = with_holm(_differences(a, b, shared), lambda estimate: DIFFERENCE)
    return summary_table((row, difference_signature(a, b, normalise=row.by["score"])) for row in rows)


def _differences(a: Result, b: Result, hows: list[str]) -> Iterator[Estimate]:
    settings = [AcceptabilitySettings.of(result.settings) for result in (a, b)]
    pair = f"{a.signature['model']} − {b.signature['model']}"
    judged, first = a.items["rating"].to_numpy(), settings[0]
    for how in hows:
        by = {"comparison": pair, "score": how}
        if how == MORCELA:
            one, other = (folded(result.items, each) for result, each in zip((a, b), settings, strict=True))
            found = cross_validated(one, other=other, level=first.level, noun=SENTENCES)
        else:
            sides = [values_of(result.items, how, each)[0] for result, each in zip((a, b), settings, strict=True)]
            found = correlation_difference(
                judged, *sides, seed=first.seed, resamples=first.resamples, level=first.level, noun=SENTENCES
            )
        yield replace(found, measure=DIFFERENCE, by=by)
