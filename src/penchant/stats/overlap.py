"""The difference in accuracy between two sets of items that may share some of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters
from penchant.stats.inputs import Array, as_credits, check_lengths, check_level, cluster_codes, joined
from penchant.stats.intervals import wilson

MEASURE = "accuracy difference of overlapping sets"
_FARTHEST = 7.9
"""Normal quantile beyond which no level can be told from 1: smaller p-values than 2.8e-15 are not computed."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Items of one stratum that are in one set only or in both: their mean credit, and its weight in the difference."""

    mean: float
    items: int
    weight: float


def overlapping_difference(
    credit: ArrayLike,
    in_first: ArrayLike,
    in_second: ArrayLike,
    strata: Iterable[Hashable],
    *,
    level: float = 0.95,
    fewest: int = 2,
) -> Estimate:
    """Mean credit of one set of items minus that of another, within strata, for sets that may overlap.

    `credit` (0, ½, 1), whether the item is in the first and in the second set, and `strata` (labels): one entry per
    distinct item. The differences of strata are weighted by n₁n₂/(n₁ + n₂) for n₁ and n₂ items in the two sets; strata
    without both sets are left out and counted in `note`.

    In a stratum the items of the first set only, of both, and of the second only are three independent samples, and the
    difference is a weighted sum of their means; a set inside the other weighs its own items against the rest. Strata
    fewer than `fewest` are taken as given: the interval combines the Wilson intervals of all parts (MOVER; Zou &
    Donner 2008, Stat. Med. 27:1693–1702), which for disjoint sets in one stratum is Newcombe's. More are a sample: the
    interval is a t interval over the strata's differences. p is 1 − the highest level whose interval holds 0, so that
    test and interval agree.
    Raises DataError for unequal lengths or credits not 0, ½ or 1.
    """
    check_level(level)
    y = as_credits(credit)
    first, second = np.asarray(in_first, dtype=bool), np.asarray(in_second, dtype=bool)
    for side, where in ((first, "in_first"), (second, "in_second")):
        check_lengths(y, side, where=where)
    codes = cluster_codes(strata, len(y), where="strata")
    used = first | second
    count = int(codes.max()) + 1 if len(y) else 0
    sizes = np.array([[int((side & (codes == each)).sum()) for side in (first, second)] for each in range(count)])
    both = [each for each in range(count) if sizes[each].min() > 0]
    kept = used & np.isin(codes, both)
    n, lost = int(kept.sum()), int((used & ~kept).sum())
    left_out = f"{count - len(both)} of {count} strata lack a side ({lost} items left out)" if len(both) < count else ""
    if not both:
        return Estimate(MEASURE, np.nan, 0, level=level, note=left_out or "no items")
    weights = sizes[both].prod(axis=1) / sizes[both].sum(axis=1)
    weights = weights / weights.sum()
    parts = [_parts(y, first, second, codes == each) for each in both]
    gaps = np.array([sum(part.weight * part.mean for part in stratum) for stratum in parts])
    if not any(part.weight for stratum in parts for part in stratum):
        return Estimate(MEASURE, 0.0, n, level=level, note=joined("the two sets are the same items", left_out))
    if len(both) < fewest:
        given = [replace(p, weight=w * p.weight) for w, each in zip(weights, parts, strict=True) for p in each]
        note = f"{len(both)} strata, taken as given" if len(both) > 1 else ""
        return _given(n, given, level, joined(note, left_out))
    return _sampled(n, gaps, weights, level, left_out)


def _parts(y: Array, first: NDArray[np.bool_], second: NDArray[np.bool_], inside: NDArray[np.bool_]) -> list[_Part]:
    m, n = float((first & inside).sum()), float((second & inside).sum())
    parts = []
    for chosen, per_item in ((first & ~second, 1 / m), (first & second, 1 / m - 1 / n), (second & ~first, -1 / n)):
        part = y[chosen & inside]
        if len(part):
            parts.append(_Part(float(part.mean()), len(part), len(part) * per_item))
    return parts


def _given(n: int, parts: list[_Part], level: float, note: str) -> Estimate:
    """The estimate for fixed strata."""
    value = float(sum(part.weight * part.mean for part in parts))

    def bounds(confidence: float) -> tuple[float, float]:
        below = above = 0.0
        for part in parts:
            low, high = wilson(part.mean, part.items, confidence)
            down, up = part.weight * (part.mean - low), part.weight * (high - part.mean)
            if part.weight < 0:
                down, up = -up, -down
            below, above = below + down**2, above + up**2
        return value - float(np.sqrt(below)), value + float(np.sqrt(above))

    def distance(z: float) -> float:
        low, high = bounds(1 - 2 * float(stats.norm.sf(z)))
        return low if value > 0 else -high

    low, high = bounds(level)
    # Wide enough, every interval holds 0; p is where it begins to.
    if abs(value) < 1e-12:
        p = 1.0
    else:
        z = _FARTHEST if distance(_FARTHEST) > 0 else optimize.brentq(distance, 0.0, _FARTHEST)
        p = float(2 * stats.norm.sf(z))
    how = "MOVER of Wilson scores"
    low, high = max(-1.0, low), min(1.0, high)
    return Estimate(MEASURE, value, n, low, high, level, how=how, p=p, test="inverted MOVER interval", note=note)


def _sampled(n: int, gaps: Array, weights: Array, level: float, note: str) -> Estimate:
    """The estimate for strata that are a sample."""
    value, groups = float(weights @ gaps), len(gaps)
    error = float(np.sqrt(groups / (groups - 1) * (weights**2 * (gaps - value) ** 2).sum()))
    if error <= 1e-12:
        alike = f"all {groups} strata have the same difference: their spread gives no interval"
        return Estimate(MEASURE, value, n, level=level, note=joined(alike, note))
    half = float(stats.t.ppf((1 + level) / 2, groups - 1)) * error
    p = float(2 * stats.t.sf(abs(value) / error, groups - 1))
    low, high = max(-1.0, value - half), min(1.0, value + half)
    how, test = f"t interval over {groups} strata", f"t test over {groups} strata"
    return Estimate(
        MEASURE, value, n, low, high, level, how=how, p=p, test=test, note=joined(few_clusters(groups, "strata"), note)
    )
