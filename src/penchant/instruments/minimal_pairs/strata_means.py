"""Mean credits over strata and differences within strata, for fixed or sampled strata."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.inputs import (
    Array,
    Codes,
    as_credits,
    check_lengths,
    check_level,
    cluster_codes,
    group_sums,
    small_side,
)
from penchant.stats.intervals import clustered_ratio, independent_difference, on_scale, wilson
from penchant.wording.phrases import Method, Note, present

_STEPS = 100
_MOST = 37.0
"""Normal deviate whose p-value is close to the smallest positive floating-point number."""
_POOLED, _OVERLAPPING = "stratified accuracy difference", "accuracy difference of overlapping sets"
_FARTHEST = 7.9
"""Normal deviate beyond which confidence levels round to 1; p-values below 2.8e-15 are not computed."""


def fixed_strata_share(
    credits: ArrayLike,
    strata: Iterable[Hashable],
    *,
    against: float,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Return the mean credit of items in strata, weighted by numbers of items, with a confidence interval and a test.

    Items are sampled within strata; the result applies to exactly these strata, not to others. The confidence limits
    are the weighted means of the Wilson limits of the strata, at a common deviate z·√(Σ w²σ²)/Σ wσ, where σ is the
    half-width per deviate (Yan & Su 2010, Stat. Biopharm. Res. 2:329–335, with fixed weights). For one stratum, or
    strata of equal size and proportion, the interval is Wilson's. The test against the value `against` rejects if and
    only if the interval at the corresponding level excludes it. As in `accuracy`, ties make interval and test
    conservative. Raises DataError for a credit other than 0, ½ or 1.
    """
    check_level(level)
    array = as_credits(credits)
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate("mean", np.nan, 0, level=level, notes=(Note("no-items"),))
    sizes = np.bincount(codes).astype(np.float64)
    order = np.lexsort((sizes, group_sums(codes, array)))  # bit-identical results for every order of the strata
    sizes, shares = sizes[order], (group_sums(codes, array) / sizes)[order]
    value = float(array.sum() / len(array))
    low, high = _ends(shares, sizes, float(scipy.stats.norm.ppf((1 + level) / 2)), sizes / sizes.sum())
    method = Method("stratified-wilson", strata=len(sizes), noun=noun)
    estimate = Estimate("mean", value, len(array), min(low, value), max(high, value), level, method)
    return estimate.tested(_p(shares, sizes, value, against), Method("stratified-score-test", noun=noun))


def fixed_strata_difference(
    credits: ArrayLike,
    exposed: ArrayLike,
    strata: Iterable[Hashable],
    *,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Return the mean credit of exposed items minus the mean credit of other items, for exactly these strata.

    Strata have Mantel–Haenszel weights n₁n₀/n, which are 0 for strata without exposed or without other items. Each of
    the two means has the stratified Wilson interval of `fixed_strata_share` at these weights, and the limits of the
    difference are Newcombe's (Yan & Su 2010, Stat. Biopharm. Res. 2:329–335): d − √((p₁ − l₁)² + (u₀ − p₀)²) and d +
    √((u₁ − p₁)² + (p₀ − l₀)²). For one stratum, the interval is Newcombe's. The test against 0 rejects if and only if
    the interval at the corresponding level excludes 0. Raises DataError for a credit other than 0, ½ or 1.
    """
    check_level(level)
    array, side = as_credits(credits), np.asarray(exposed, dtype=bool)
    codes = cluster_codes(strata, len(array))
    sizes, sums, both = _sides(array, side, codes)
    if not both.any():
        return Estimate("difference", np.nan, 0, level=level, notes=(Note("no-stratum-with-both"),))
    sizes, sums = sizes[:, both], sums[:, both]
    order = np.lexsort((*sizes, *sums))  # bit-identical results for every order of the strata
    sizes, sums = sizes[:, order], sums[:, order]
    weights = sizes[0] * sizes[1] / sizes.sum(axis=0)
    weights = weights / weights.sum()
    arms = tuple(zip(sums / sizes, sizes, strict=True))
    value = float(weights @ (arms[0][0] - arms[1][0]))
    low, high = _difference_ends(arms, weights, value, float(scipy.stats.norm.ppf((1 + level) / 2)))
    method = Method("stratified-newcombe", strata=len(weights), noun=noun)
    side_of = 0 if value > 0 else 1

    def beyond(z: float) -> float:
        return _difference_ends(arms, weights, value, z)[side_of] * (1 if side_of == 0 else -1)

    p = 1.0 if abs(value) <= 1e-12 else _inverted(beyond)
    estimate = Estimate("difference", value, int(sizes.sum()), low, high, level, method)
    return estimate.tested(p, Method("inverted-interval", noun=noun)).noted(small_side(*sizes.sum(axis=1)))


def mantel_haenszel_difference(
    credit: ArrayLike,
    exposed: ArrayLike,
    strata: Iterable[Hashable],
    *,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Return the mean credit of exposed items minus that of other items, pooled over strata (Greenland & Robins 1985).

    `credit` (0, ½, 1), `exposed` (true, false) and `strata` (labels) have one entry per item. Strata without exposed or
    without other items are left out, counted in a note, and excluded from `n`. If one stratum is left, the interval and
    test are as in `independent_difference`. Several strata are treated as a sample: the interval and the test are
    cluster-robust t and concern the mean difference over such strata (the Cochran–Mantel–Haenszel test concerns exactly
    these strata, and can reject even if their differences vary in sign). Raises DataError for unequal lengths, credits
    other than 0, ½ or 1, or an exposure that is neither true nor false.
    """
    check_level(level)
    array, side = as_credits(credit), np.asarray(exposed)
    if side.ndim != 1 or not bool(np.all((side == 0) | (side == 1))):
        raise DataError("exposure must be one true or false value per item", where="exposed")
    side = side.astype(np.bool_)
    check_lengths(array, side, where="exposed")
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate(_POOLED, np.nan, 0, level=level, notes=(Note("no-items"),))
    sizes, sums, both = _sides(array, side, codes)
    kept, lost = both[codes], int(np.count_nonzero(~both))
    lacking = int(np.count_nonzero(~kept))
    left_out = Note("strata-lack-a-side", lost=lost, of=len(both), items=lacking, noun=noun) if lost else None
    if not both.any():
        return Estimate(_POOLED, np.nan, 0, level=level, notes=present(left_out))
    if np.count_nonzero(both) == 1:
        estimate = independent_difference(array[kept & side], array[kept & ~side], level=level)
        return replace(estimate, measure=_POOLED).noted(left_out)
    sizes = sizes[:, both]
    return _pooled(sizes, sums[:, both], level, noun).noted(small_side(*sizes.sum(axis=1))).noted(left_out)


def _pooled(sizes: Array, sums: Array, level: float, noun: str) -> Estimate:
    """Return the mean credit of exposed items minus that of other items, over strata treated as a sample.

    `sizes` and `sums` are arrays as returned by `_sides`, for strata with both exposed and other items.
    """
    weights = sizes[0] * sizes[1] / sizes.sum(axis=0)
    gaps = weights * (sums[0] / sizes[0] - sums[1] / sizes[1])
    estimate = Estimate(_POOLED, float(gaps.sum() / weights.sum()), int(sizes.sum()), level=level)
    if np.ptp(gaps / weights) <= 1e-12:
        return estimate.noted(Note("differences-alike", all=len(weights), noun=noun))
    estimate = clustered_ratio(estimate, gaps, weights, noun, against=0)
    return on_scale(replace(estimate, method=Method("mantel-haenszel", within=estimate.method)), -1, 1)


def _sides(credit: Array, side: NDArray[np.bool_], codes: Codes) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return numbers of items and sums of credit, both of shape (2, strata), and a mask of strata with both exposures.

    The first row is for exposed items, the second for other items.
    """
    sizes, sums = (
        np.stack([group_sums(codes, weight * chosen) for chosen in (side, ~side)])
        for weight in (np.ones(len(credit)), credit)
    )
    both: NDArray[np.bool_] = np.logical_and(*(sizes > 0))
    return sizes, sums, both


_Arm = tuple[Array, Array]
"""Proportions and sizes of the strata."""


def _difference_ends(arms: tuple[_Arm, ...], weights: Array, value: float, z: float) -> tuple[float, float]:
    """Return Newcombe's limits for the difference `value` of two weighted means of proportions, for a deviate z > 0."""
    (first, one), (second, other) = (
        (float(weights @ shares), _ends(shares, sizes, z, weights)) for shares, sizes in arms
    )
    low = value - float(np.hypot(first - one[0], other[1] - second))
    return max(-1.0, low), min(1.0, value + float(np.hypot(one[1] - first, second - other[0])))


def _ends(shares: Array, sizes: Array, z: float, weights: Array) -> tuple[float, float]:
    """Return confidence limits for a weighted mean of proportions, for weights that sum to 1 and a deviate z > 0."""
    common = z / len(sizes) ** 0.5
    for _ in range(_STEPS):
        _, half = _wilson(shares, sizes, common)
        before, common = common, z * float(np.sqrt((weights**2 * half**2).sum()) / (weights * half).sum())
        if abs(common - before) <= 1e-12 * z:
            break
    centre, half = _wilson(shares, sizes, common)
    return max(0.0, float(weights @ (centre - half))), min(1.0, float(weights @ (centre + half)))


def _wilson(shares: Array, sizes: Array, z: float) -> tuple[Array, Array]:
    """Return the centres and half-widths of the score intervals of proportions, for a deviate z."""
    shrink = 1 + z * z / sizes
    centre = (shares + z * z / (2 * sizes)) / shrink
    return centre, z / shrink * np.sqrt(shares * (1 - shares) / sizes + z * z / (4 * sizes**2))


def _p(shares: Array, sizes: Array, value: float, against: float) -> float:
    """Return the p-value of the mean `value` of proportions against `against`, by inverting its confidence interval."""
    if abs(value - against) <= 1e-12:
        return 1.0
    side = 0 if value > against else 1

    def beyond(z: float) -> float:
        return (_ends(shares, sizes, z, sizes / sizes.sum())[side] - against) * (1 if side == 0 else -1)

    return _inverted(beyond)


def _inverted(beyond: Callable[[float], float]) -> float:
    """Return the two-sided p-value of the deviate z at which `beyond` is 0; `beyond` is positive for smaller z."""
    if beyond(_MOST) > 0:
        return 0.0
    return float(2 * scipy.stats.norm.sf(scipy.optimize.brentq(beyond, 1e-9, _MOST, xtol=1e-12)))


# Sets that share items ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of a stratum: either the items in both sets, or those in only one of them.

    Its fields are the mean credit, the number of items, and the weight in the difference between the sets.
    """

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
    """Return the mean credit of one set of items minus the mean credit of another, within strata; the sets may overlap.

    `credit` (0, ½, 1), `in_first` and `in_second` (membership in the two sets) and `strata` (labels) have one entry per
    distinct item; `noun` is the plural noun for strata. The differences in the strata are weighted by n₁n₂/(n₁ + n₂),
    with n₁ and n₂ items in the two sets, so the result is not the difference between the two overall accuracies. Strata
    without items from one of the sets are left out and counted in a note.

    In a stratum, the items in the first set only, in both sets, and in the second set only are three independent
    samples, and the difference is a weighted sum of their means; if one set contains the other, the items that only the
    larger set has are compared with the common items. For one stratum, the interval combines the Wilson intervals of
    the samples (MOVER; Zou & Donner 2008, Stat. Med. 27:1693–1702), which for disjoint sets gives Newcombe's interval,
    and p is 1 − the highest level whose interval excludes 0. Several strata are treated as a sample: the interval and
    the test are cluster-robust t. Raises DataError for unequal lengths or credits other than 0, ½ or 1.
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
    left_out = Note("strata-lack-a-side", lost=lacking, of=count, items=lost, noun=noun) if lacking else None
    if not both:
        return Estimate(_OVERLAPPING, np.nan, 0, level=level, notes=(left_out or Note("no-items"),))
    weights = sizes[both].prod(axis=1) / sizes[both].sum(axis=1)
    weights = weights / weights.sum()
    parts = [_parts(y, first, second, codes == each) for each in both]
    gaps = np.array([sum(part.weight * part.mean for part in stratum) for stratum in parts])
    if not any(part.weight for stratum in parts for part in stratum):
        return Estimate(_OVERLAPPING, 0.0, n, level=level, notes=present(Note("same-sets"), left_out))
    few = small_side(*sizes[both].sum(axis=0))
    if len(both) == 1:
        return _given(n, parts[0], level).noted(few, left_out)
    return _sampled(Estimate(_OVERLAPPING, 0.0, n, level=level, notes=present(few, left_out)), gaps, weights, noun)


def _parts(y: Array, first: NDArray[np.bool_], second: NDArray[np.bool_], inside: NDArray[np.bool_]) -> list[_Part]:
    m, n = float((first & inside).sum()), float((second & inside).sum())
    parts = []
    for chosen, per_item in ((first & ~second, 1 / m), (first & second, 1 / m - 1 / n), (second & ~first, -1 / n)):
        part = y[chosen & inside]
        if len(part):
            parts.append(_Part(float(part.mean()), len(part), len(part) * per_item))
    return parts


def _given(n: int, parts: list[_Part], level: float) -> Estimate:
    """Return the estimate for a single stratum, whose `n` items are divided into `parts`."""
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
    # p is 1 − the level at which the interval begins to include 0.
    if abs(value) < 1e-12:
        p = 1.0
    else:
        z = _FARTHEST if distance(_FARTHEST) > 0 else scipy.optimize.brentq(distance, 0.0, _FARTHEST)
        p = float(2 * scipy.stats.norm.sf(z))
    estimate = Estimate(_OVERLAPPING, value, n, max(-1.0, low), min(1.0, high), level, Method("mover"))
    return estimate.tested(p, Method("inverted-mover"))


def _sampled(estimate: Estimate, gaps: Array, weights: Array, noun: str) -> Estimate:
    """Add the value and interval to an estimate, for strata treated as a sample.

    `gaps` are the differences within the strata, `weights` the weights of the strata.
    """
    if np.ptp(gaps) <= 1e-12:
        alike = Note("differences-alike", all=len(gaps), noun=noun)
        return replace(estimate, value=float(weights @ gaps)).noted(alike, first=True)
    found = clustered_ratio(estimate, weights * gaps, weights, noun, against=0)
    return on_scale(replace(found, method=Method("weighted-by-items", within=found.method, noun=noun)), -1, 1)
