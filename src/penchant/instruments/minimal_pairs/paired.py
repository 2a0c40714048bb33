"""The difference of two credits of the same pairs: of two models, or of a model and the people who judged them."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.instruments.minimal_pairs.estimates import HALF, Credits
from penchant.instruments.minimal_pairs.fixed import holding
from penchant.instruments.settings import Settings
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import held_against, mcnemar, sign_flip
from penchant.stats.intervals import clustered_mean, on_scale, paired_difference
from penchant.wording.phrases import Method


def paired(a: Credits, b: Credits, settings: Settings) -> Estimate:
    """Mean credit of `a` minus that of `b` within a group of pairs: Bonett–Price interval and McNemar's mid-p test, or
    where there are ties a paired t interval and a sign-flip test."""
    tied = bool(((a == HALF) | (b == HALF)).any())
    p = sign_flip(a - b, seed=settings.seed, draws=settings.resamples) if tied else mcnemar(a, b)
    estimate = paired_difference(a, b, level=settings.level)
    return held_against(estimate.tested(p, Method("sign-flip" if tied else "mcnemar")), 0)


def paired_over(a: Credits, b: Credits, strata: Sequence[str], noun: str, settings: Settings) -> Estimate:
    """The same over several clusters of pairs, which are a sample: cluster-robust t interval and test, of few clusters
    no narrower than over these as they are."""
    if len(set(strata)) < 2:
        return paired(a, b, settings)
    total = clustered_mean(a - b, strata, level=settings.level, noun=noun, against=0)
    return on_scale(holding(total, paired(a, b, settings), strata, noun), -1, 1)
