"""The difference in accuracy between two sets of items that may share some of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.records import Estimate
from penchant.stats.inputs import Array, as_credits, check_lengths, check_level, cluster_codes
from penchant.stats.intervals import clustered_ratio, on_scale, wilson
from penchant.wording.phrases import Method, Note, present

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
    noun: str = "strata",
) -> Estimate:
    """Mean credit of one set of items minus that of another, within strata, for sets that may overlap.

    `credit` (0, ½, 1), whether the item is in the first and in the second set, and `strata` (labels): one entry per
    distinct item. The differences of strata are weighted by n₁n₂/(n₁ + n₂) for n₁ and n₂ items in the two sets, so that
    the value is not the difference of the two accuracies over all strata; strata without both sets are left out and
    counted in `note`. `noun`: what the strata are.

    In a stratum the items of the first set only, of both, and of the second only are three independent samples, and the
    difference is a weighted sum of their means; a set inside the other weighs its own items against the rest. Of one
    stratum the interval combines the Wilson intervals of its parts (MOVER; Zou & Donner 2008, Stat. Med. 27:1693–1702),
    which for disjoint sets is Newcombe's, and p is 1 − the highest level whose interval holds 0. Several are a sample:
    interval and test are cluster-robust t over them.
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
    lacking = count - len(both)
    left_out = Note("strata-lack-a-side", lost=lacking, of=count, items=lost) if lacking else None
    if not both:
        return Estimate(MEASURE, np.nan, 0, level=level, notes=(left_out or Note("no-items"),))
    weights = sizes[both].prod(axis=1) / sizes[both].sum(axis=1)
    weights = weights / weights.sum()
    parts = [_parts(y, first, second, codes == each) for each in both]
    gaps = np.array([sum(part.weight * part.mean for part in stratum) for stratum in parts])
    if not any(part.weight for stratum in parts for part in stratum):
        return Estimate(MEASURE, 0.0, n, level=level, notes=present(Note("same-sets"), left_out))
    if len(both) == 1:
        return _given(n, parts[0], level).noted(left_out)
    return _sampled(Estimate(MEASURE, 0.0, n, level=level, notes=present(left_out)), gaps, weights, noun)


def _parts(y: Array, first: NDArray[np.bool_], second: NDArray[np.bool_], inside: NDArray[np.bool_]) -> list[_Part]:
    m, n = float((first & inside).sum()), float((second & inside).sum())
    parts = []
    for chosen, per_item in ((first & ~second, 1 / m), (first & second, 1 / m - 1 / n), (second & ~first, -1 / n)):
        part = y[chosen & inside]
        if len(part):
            parts.append(_Part(float(part.mean()), len(part), len(part) * per_item))
    return parts


def _given(n: int, parts: list[_Part], level: float) -> Estimate:
    """The estimate within one stratum."""
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
        low, high = bounds(1 - 2 * float(scipy.stats.norm.sf(z)))
        return low if value > 0 else -high

    low, high = bounds(level)
    # Wide enough, every interval holds 0; p is where it begins to.
    if abs(value) < 1e-12:
        p = 1.0
    else:
        z = _FARTHEST if distance(_FARTHEST) > 0 else scipy.optimize.brentq(distance, 0.0, _FARTHEST)
        p = float(2 * scipy.stats.norm.sf(z))
    estimate = Estimate(MEASURE, value, n, max(-1.0, low), min(1.0, high), level, Method("mover"))
    return estimate.tested(p, Method("inverted-mover"))


def _sampled(estimate: Estimate, gaps: Array, weights: Array, noun: str) -> Estimate:
    """The estimate for strata that are a sample."""
    if np.ptp(gaps) <= 1e-12:
        alike = Note("differences-alike", all=len(gaps), noun=noun)
        return replace(estimate, value=float(weights @ gaps)).noted(alike, first=True)
    found = clustered_ratio(estimate, weights * gaps, weights, noun, against=0)
    return on_scale(replace(found, method=Method("weighted-by-items", within=found.method, noun=noun)), -1, 1)
