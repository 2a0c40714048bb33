"""Differences between two models on the same judged sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penchant.instruments.acceptability.estimates import MORCELA, SENTENCES, folded, values_of
from penchant.instruments.acceptability.morcela import cross_validated
from penchant.instruments.acceptability.settings import DIFFERENCE, AcceptabilitySettings
from penchant.instruments.comparison import ComparedSide, ScoredComparison
from penchant.records import Estimate
from penchant.stats.correlations import correlation_difference


def differences(
    a: ComparedSide[AcceptabilitySettings], b: ComparedSide[AcceptabilitySettings], unlike: bool
) -> Iterator[Estimate]:
    """Yield the difference a − b in Pearson's correlation between scores and judgements of the same sentences.

    `unlike`, which says that a and b are scored differently, has no effect.
    """
    first = a.settings
    if a.how == b.how == MORCELA:
        one, other = (folded(side.items, side.settings) for side in (a, b))
        found = cross_validated(one, other=other, level=first.level, noun=SENTENCES)
    else:
        sides = [values_of(side.items, side.how, side.settings)[0] for side in (a, b)]
        judged, resampling = a.items["rating"].to_numpy(), {"seed": first.seed, "resamples": first.resamples}
        found = correlation_difference(judged, *sides, **resampling, level=first.level, noun=SENTENCES)
    yield replace(found, measure=DIFFERENCE)


compare = ScoredComparison(
    AcceptabilitySettings,
    ["id", "sentence", "prefix", "rating"],
    differences,
    family=lambda estimate: DIFFERENCE,
    score="score",
    free=("slln-alpha", "unigrams", "folds"),
)
