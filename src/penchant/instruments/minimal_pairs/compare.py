"""Comparison of two models on the same minimal pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.base_probe import difference_signature, require_comparable
from penchant.instruments.comparison import SCORING, models_of, scored_differently, shared_scores
from penchant.instruments.minimal_pairs.fixed_group_estimates import THESE, beside_fixed, few, fixed
from penchant.instruments.minimal_pairs.pair_credits import ALL, Credits, clusters, credits, deltas, paired, paired_over
from penchant.instruments.minimal_pairs.settings import DIFFERENCE, settings_of
from penchant.instruments.settings import Settings
from penchant.records import BaseResult, Estimate, Signature, summary_table
from penchant.stats.hypothesis_tests import placed_family, with_holm

Mask = NDArray[np.bool_]
EQUAL = "A=U under both"
"""Name of the split of pairs whose sentences have equal numbers of tokens under both tokenizers."""
COUNTED = ("first_better", "second_better", "scores_differ")
"""Columns that count pairs."""


def compare(a: BaseResult, b: BaseResult) -> pl.DataFrame:
    """Return the difference in accuracy a − b on the same pairs, overall and by paradigm.

    If token lengths differ, there are also differences for the pairs of equal length under both tokenizers. For one
    paradigm, the interval is Bonett and Price's and the test is McNemar's mid-p (with ties, a paired t interval and a
    sign-flip test), with Holm's correction over paradigms. For several, interval and test are cluster-robust t over
    paradigms (bias types for stereotypes); if there are fewer than ten, rows with the scope "these groups"
    are for exactly the paradigms in the data.
    `first_better` and `second_better` count the pairs that only a or only b gets right, `scores_differ` the pairs with
    different scores. A note is added if the scoring methods differ. Raises StudyError if the results cannot be
    compared, naming the signature keys that differ.
    """
    require_comparable(
        a,
        b,
        free={"model", "dtype", *SCORING, "slln-alpha", "unigrams", "neutral"},
        items=["dataset", "file", "id"],
    )
    rows: list[tuple[Estimate, Signature]] = []
    counts: list[tuple[int, int, int]] = []
    remark = scored_differently(a, b)
    settings = settings_of(a)
    models = models_of(a, b)
    for name in a.items["dataset"].unique(maintain_order=True).to_list():
        inside = (a.items["dataset"] == name).to_numpy()
        items_a, items_b = a.items.filter(inside), b.items.filter(inside)
        for first, second in shared_scores(a, b):
            how = first if first == second else f"{first} − {second}"
            signature = difference_signature(a, b, normalise=how)
            equal = ((items_a["difference"] == 0) & (items_b["difference"] == 0)).to_numpy()
            credit = credits(items_a, first), credits(items_b, second)
            unlike = (deltas(items_a, first) != deltas(items_b, second)) | _rescored(items_a, items_b)
            for estimate in _compared(items_a, *credit, equal, settings):
                by = {**models, "dataset": name, **estimate.by, "normalise": how}
                placed = replace(estimate, by=by).noted(remark)
                rows.append((placed_family(placed, name, how), signature))
                chosen = _chosen(items_a, equal, estimate.by)
                better = credit[0] > credit[1], credit[0] < credit[1]
                counts.append((_count(better[0], chosen), _count(better[1], chosen), _count(unlike, chosen)))
    columns = pl.DataFrame(counts, schema=dict.fromkeys(COUNTED, pl.Int64), orient="row")
    return summary_table(rows).with_columns(columns)


def _rescored(a: pl.DataFrame, b: pl.DataFrame) -> Mask:
    unlike: Mask = ((a["score_good"] != b["score_good"]) | (a["score_bad"] != b["score_bad"])).to_numpy()
    return unlike


def _chosen(items: pl.DataFrame, equal: Mask, by: Mapping[str, str]) -> Mask:
    chosen = equal if by["split"] == EQUAL else np.ones(len(items), dtype=bool)
    return chosen if by["scope"] != "group" else chosen & (items["group"] == by["group"]).to_numpy()


def _count(pairs: Mask, chosen: Mask) -> int:
    return int((pairs & chosen).sum())


def _compared(items: pl.DataFrame, a: Credits, b: Credits, equal: Mask, settings: Settings) -> Iterator[Estimate]:
    strata, noun = clusters(items)
    splits = {ALL: np.ones(len(a), dtype=bool), **({} if equal.all() else {EQUAL: equal})}
    paradigms = items["group"].unique(maintain_order=True).to_list()
    if len(paradigms) > 1 or len(set(strata)) > 1:
        for split, chosen in ((ALL, splits[ALL]), (EQUAL, equal)):
            groups = [s for s, c in zip(strata, chosen, strict=True) if c]
            estimate = paired_over(a[chosen], b[chosen], groups, noun, settings)
            by = {"scope": "overall", "group": ALL, "split": split}
            yield replace(estimate, measure=DIFFERENCE, by=by).noted(beside_fixed(groups, noun))
            if few(groups):
                by = {"scope": THESE, "group": ALL, "split": split}
                yield replace(paired(a[chosen], b[chosen], settings), measure=fixed(DIFFERENCE, noun), by=by)
    groups_of = {("group", each): (items["group"] == each).to_numpy() for each in paradigms}
    if len(paradigms) == 1:
        groups_of = {} if len(set(strata)) > 1 else {("overall", ALL): splits[ALL]}
    each = [
        replace(
            paired(a[chosen], b[chosen], settings),
            measure=DIFFERENCE,
            by={"scope": scope, "group": group, "split": split},
        )
        for split, of_split in splits.items()
        for (scope, group), inside in groups_of.items()
        if (chosen := inside & of_split).any()
    ]
    yield from with_holm(each, lambda estimate: f"{DIFFERENCE}, paradigms, pairs {estimate.by['split']}")
