"""Comparison of two models on the same minimal pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.base import Probe, difference_signature, require_comparable
from penchant.instruments.minimal_pairs.estimates import ALL, DIFFERENCE, Credits, clusters, credits
from penchant.instruments.minimal_pairs.probe import MinimalPairs
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.hypothesis_tests import held_against, mcnemar, sign_flip, with_holm
from penchant.stats.intervals import clustered_mean, paired_difference

EQUAL = "A=U under both"
"""Pairs whose two sentences have as many tokens under both models' tokenizers."""


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Accuracy of a minus accuracy of b on the same pairs, overall and by paradigm.

    By paradigm: Bonett–Price interval and McNemar's mid-p test (paired t interval and sign-flip test where there are
    ties), with Holm's adjustment over paradigms. Overall, for all pairs and for those with equal token lengths under
    both tokenizers: cluster-robust t interval and test over paradigms (bias types in CrowS-Pairs). Models may
    be scored by different methods (a causal one by lp, a masked one by pll), because accuracies are compared, not
    scores. Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
    """
    require_comparable(
        a, b, free={"model", "bos", "dtype", "method", "normalise", "pen-alpha"}, items=["dataset", "file", "id"]
    )
    rows: list[tuple[Estimate, Signature]] = []
    settings = MinimalPairs.of(a.signature)
    pair = f"{a.signature['model']} − {b.signature['model']}"
    for name in a.items["dataset"].unique(maintain_order=True).to_list():
        inside = (a.items["dataset"] == name).to_numpy()
        items_a, items_b = a.items.filter(inside), b.items.filter(inside)
        shared = [h for h in settings.normalisations() if h in MinimalPairs.of(b.signature).normalisations()]
        for how in shared:
            signature = difference_signature(a, b, normalise=how)
            equal = ((items_a["difference"] == 0) & (items_b["difference"] == 0)).to_numpy()
            for estimate in _compared(items_a, credits(items_a, how), credits(items_b, how), equal, settings):
                by = {"comparison": pair, "dataset": name, **estimate.by, "normalise": how}
                rows.append((replace(estimate, by=by), signature))
    return summary_table(rows)


def _compared(
    items: pl.DataFrame, a: Credits, b: Credits, equal: NDArray[np.bool_], settings: Probe
) -> Iterator[Estimate]:
    strata, noun = clusters(items)
    paradigms = items["paradigm"].unique(maintain_order=True).to_list()
    each = [
        _paired(a[inside], b[inside], paradigm, settings)
        for paradigm in paradigms
        for inside in [(items["paradigm"] == paradigm).to_numpy()]
    ]
    if len(set(strata)) > 1:
        for split, chosen in ((ALL, np.ones(len(a), dtype=bool)), (EQUAL, equal)):
            groups = [s for s, c in zip(strata, chosen, strict=True) if c]
            yield replace(
                _overall(a[chosen], b[chosen], groups, noun, settings),
                measure=DIFFERENCE,
                by={"scope": "overall", "group": ALL, "split": split},
            )
    yield from with_holm(each, lambda estimate: DIFFERENCE)


def _overall(a: Credits, b: Credits, strata: list[str], noun: str, settings: Probe) -> Estimate:
    """The difference over several clusters of pairs, which are a sample."""
    if len(set(strata)) < 2:
        return _paired(a, b, "", settings)
    total = clustered_mean(a - b, strata, level=settings.level, noun=noun, against=0)
    return replace(total, low=max(-1.0, total.low), high=min(1.0, total.high))


def _paired(a: Credits, b: Credits, paradigm: str, settings: Probe) -> Estimate:
    """The difference within one paradigm."""
    tied = bool(((a == 0.5) | (b == 0.5)).any())
    p = sign_flip(a - b, seed=settings.seed, draws=settings.resamples) if tied else mcnemar(a, b)
    estimate = replace(
        paired_difference(a, b, level=settings.level),
        measure=DIFFERENCE,
        p=p,
        test="sign-flip" if tied else "McNemar mid-p",
        by={"scope": "paradigm", "group": paradigm, "split": ALL},
    )
    return held_against(estimate, 0)
