"""Mean credits over strata and differences within strata, for exactly these strata or taking them as a sample."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.inputs import Array, Codes, as_credits, check_lengths, check_level, cluster_codes, group_sums
from penchant.stats.intervals import clustered_ratio, independent_difference, on_scale, wilson
from penchant.wording.phrases import Method, Note, present

_STEPS = 100
_MOST = 37.0
"""A normal deviate whose p-value is about the smallest representable number."""
_POOLED, _OVERLAPPING = "stratified accuracy difference", "accuracy difference of overlapping sets"
_FARTHEST = 7.9
"""Normal deviate beyond which levels round to 1: p-values below 2.8e-15 are not computed."""


def fixed_strata_share(
    credits: ArrayLike,
    strata: Iterable[Hashable],
    *,
    against: float,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Return the mean credit of items in strata, each weighted by its number of items, with an interval and a test.

    Items are sampled within strata; the result holds for exactly these strata, not for others. The ends are the
    weighted means of the ends of Wilson's intervals of the strata, at a common deviate z·√(Σ w²σ²)/Σ wσ, σ being the
    half-widths per deviate (Yan & Su 2010, Stat. Biopharm. Res. 2:329–335, with the weights given). One stratum, or
    strata of equal size and share, have Wilson's interval. The test of the number `against` rejects exactly when the
    interval of that level excludes it. As in `accuracy`, ties make both conservative. Raises DataError for a credit
    other than 0, ½ or 1.
    """
    check_level(level)
    array = as_credits(credits)
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate("mean", np.nan, 0, level=level, notes=(Note("no-items"),))
    sizes = np.bincount(codes).astype(np.float64)
    order = np.lexsort((sizes, group_sums(codes, array)))  # the same bits in whatever order the strata come
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
    """Return the mean credit of exposed items minus that of the others, for exactly these strata.

    Strata have Mantel–Haenszel weights n₁n₀/n; those without both kinds have none. Each side has the stratified Wilson
    interval of `fixed_strata_share` at these weights, and the ends of the difference are Newcombe's (Yan & Su 2010,
    Stat. Biopharm. Res. 2:329–335): d − √((p₁ − l₁)² + (u₀ − p₀)²) and d + √((u₁ − p₁)² + (p₀ − l₀)²). One stratum has
    Newcombe's interval. The test of 0 rejects exactly when the interval of that level excludes 0. Raises DataError for
    a credit other than 0, ½ or 1.
    """
    check_level(level)
    array, side = as_credits(credits), np.asarray(exposed, dtype=bool)
    codes = cluster_codes(strata, len(array))
    sizes, sums, both = _sides(array, side, codes)
    if not both.any():
        return Estimate("difference", np.nan, 0, level=level, notes=(Note("no-stratum-with-both"),))
    sizes, sums = sizes[:, both], sums[:, both]
    order = np.lexsort((*sizes, *sums))  # the same bits in whatever order the strata come
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
    return estimate.tested(p, Method("inverted-interval", noun=noun))


def mantel_haenszel_difference(
    credit: ArrayLike,
    exposed: ArrayLike,
    strata: Iterable[Hashable],
    *,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Return the mean credit of exposed items minus that of the others, pooled over strata (Greenland & Robins 1985).

    `credit` (0, ½, 1), `exposed` (true, false) and `strata` (labels) have one entry per item. Strata without both kinds
    are left out, counted in a note, and not part of `n`. With one stratum left, the interval and test are those of
    `independent_difference`. Several are a sample: interval and test are cluster-robust t over them, about the average
    difference over such strata (the Cochran–Mantel–Haenszel test is about exactly these strata, and rejects where they
    differ in sign). Raises DataError for unequal lengths, credits not 0, ½ or 1, or an exposure that is not true or
    false.
    """
    check_level(level)
    array, side = as_credits(credit), np.asarray(exposed)
    if side.ndim != 1 or not bool(np.all((side == 0) | (side == 1))):
        raise DataError("exposure is one true or false per item", where="exposed")
    side = side.astype(np.bool_)
    check_lengths(array, side, where="exposed")
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate(_POOLED, np.nan, 0, level=level, notes=(Note("no-items"),))
    sizes, sums, both = _sides(array, side, codes)
    kept, lost = both[codes], int(np.count_nonzero(~both))
    lacking = int(np.count_nonzero(~kept))
    left_out = Note("strata-lack-a-side", lost=lost, of=len(both), items=lacking) if lost else None
    if not both.any():
        return Estimate(_POOLED, np.nan, 0, level=level, notes=present(left_out))
    if np.count_nonzero(both) == 1:
        estimate = independent_difference(array[kept & side], array[kept & ~side], level=level)
        return replace(estimate, measure=_POOLED).noted(left_out)
    return _pooled(sizes[:, both], sums[:, both], level, noun).noted(left_out)


def _pooled(sizes: Array, sums: Array, level: float, noun: str) -> Estimate:
    """Return the difference over strata that are a sample, each with items of both kinds."""
    weights = sizes[0] * sizes[1] / sizes.sum(axis=0)
    gaps = weights * (sums[0] / sizes[0] - sums[1] / sizes[1])
    estimate = Estimate(_POOLED, float(gaps.sum() / weights.sum()), int(sizes.sum()), level=level)
    if np.ptp(gaps / weights) <= 1e-12:
        return estimate.noted(Note("differences-alike", all=len(weights), noun=noun))
    estimate = clustered_ratio(estimate, gaps, weights, noun, against=0)
    return on_scale(replace(estimate, method=Method("mantel-haenszel", within=estimate.method)), -1, 1)


def _sides(credit: Array, side: NDArray[np.bool_], codes: Codes) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return the numbers of items and sums of credits by side, (2, strata), and which strata have both sides."""
    sizes, sums = (
        np.stack([group_sums(codes, weight * chosen) for chosen in (side, ~side)])
        for weight in (np.ones(len(credit)), credit)
    )
    both: NDArray[np.bool_] = np.logical_and(*(sizes > 0))
    return sizes, sums, both


_Arm = tuple[Array, Array]
"""The shares of the strata, and their sizes."""


def _difference_ends(arms: tuple[_Arm, ...], weights: Array, value: float, z: float) -> tuple[float, float]:
    """Return Newcombe's ends of the difference of two weighted shares at a deviate z > 0."""
    (first, one), (second, other) = (
        (float(weights @ shares), _ends(shares, sizes, z, weights)) for shares, sizes in arms
    )
    low = value - float(np.hypot(first - one[0], other[1] - second))
    return max(-1.0, low), min(1.0, value + float(np.hypot(one[1] - first, second - other[0])))


def _ends(shares: Array, sizes: Array, z: float, weights: Array) -> tuple[float, float]:
    """Return the interval of a mean of shares with weights that sum to 1, at a deviate z > 0."""
    common = z / len(sizes) ** 0.5
    for _ in range(_STEPS):
        _, half = _wilson(shares, sizes, common)
        before, common = common, z * float(np.sqrt((weights**2 * half**2).sum()) / (weights * half).sum())
        if abs(common - before) <= 1e-12 * z:
            break
    centre, half = _wilson(shares, sizes, common)
    return max(0.0, float(weights @ (centre - half))), min(1.0, float(weights @ (centre + half)))


def _wilson(shares: Array, sizes: Array, z: float) -> tuple[Array, Array]:
    """Return the centres and half-widths of the score intervals of some shares."""
    shrink = 1 + z * z / sizes
    centre = (shares + z * z / (2 * sizes)) / shrink
    return centre, z / shrink * np.sqrt(shares * (1 - shares) / sizes + z * z / (4 * sizes**2))


def _p(shares: Array, sizes: Array, value: float, against: float) -> float:
    """Return the p-value of the number `against`, where the interval's nearer end reaches it."""
    if abs(value - against) <= 1e-12:
        return 1.0
    side = 0 if value > against else 1

    def beyond(z: float) -> float:
        return (_ends(shares, sizes, z, sizes / sizes.sum())[side] - against) * (1 if side == 0 else -1)

    return _inverted(beyond)


def _inverted(beyond: Callable[[float], float]) -> float:
    """Return the two-sided p-value of the deviate z where `beyond`, positive below it, is 0."""
    if beyond(_MOST) > 0:
        return 0.0
    return float(2 * scipy.stats.norm.sf(scipy.optimize.brentq(beyond, 1e-9, _MOST, xtol=1e-12)))


# Sets that share items ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """The items of one stratum in one set only, or in both: their mean credit, and its weight in the difference."""

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
    """Return the mean credit of one set of items minus that of another, within strata, for sets that may overlap.

    `credit` (0, ½, 1), `in_first` and `in_second` (membership of the two sets) and `strata` (labels) have one entry per
    distinct item; `noun` is the word for strata. The differences of strata are weighted by n₁n₂/(n₁ + n₂) for n₁ and n₂
    items in the two sets, so the value is not the difference of the two accuracies over all strata. Strata without both
    sets are left out and counted in a note.

    In a stratum, the items of the first set only, of both, and of the second only are three independent samples, and
    the difference is a weighted sum of their means; a set inside the other weighs its own items against the rest. For
    one stratum the interval combines the Wilson intervals of its parts (MOVER; Zou & Donner 2008, Stat. Med.
    27:1693–1702), which for disjoint sets is Newcombe's, and p is 1 − the highest level whose interval excludes 0.
    Several are a sample: interval and test are cluster-robust t over them. Raises DataError for unequal lengths or
    credits not 0, ½ or 1.
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
        return Estimate(_OVERLAPPING, np.nan, 0, level=level, notes=(left_out or Note("no-items"),))
    weights = sizes[both].prod(axis=1) / sizes[both].sum(axis=1)
    weights = weights / weights.sum()
    parts = [_parts(y, first, second, codes == each) for each in both]
    gaps = np.array([sum(part.weight * part.mean for part in stratum) for stratum in parts])
    if not any(part.weight for stratum in parts for part in stratum):
        return Estimate(_OVERLAPPING, 0.0, n, level=level, notes=present(Note("same-sets"), left_out))
    if len(both) == 1:
        return _given(n, parts[0], level).noted(left_out)
    return _sampled(Estimate(_OVERLAPPING, 0.0, n, level=level, notes=present(left_out)), gaps, weights, noun)


def _parts(y: Array, first: NDArray[np.bool_], second: NDArray[np.bool_], inside: NDArray[np.bool_]) -> list[_Part]:
    m, n = float((first & inside).sum()), float((second & inside).sum())
    parts = []
    for chosen, per_item in ((first & ~second, 1 / m), (first & second, 1 / m - 1 / n), (second & ~first, -1 / n)):
        part = y[chosen & inside]
        if len(part):
            parts.append(_Part(float(part.mean()), len(part), len(part) * per_item))
    return parts


def _given(n: int, parts: list[_Part], level: float) -> Estimate:
    """Return the estimate within one stratum."""
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
    """Return the estimate for strata that are a sample."""
    if np.ptp(gaps) <= 1e-12:
        alike = Note("differences-alike", all=len(gaps), noun=noun)
        return replace(estimate, value=float(weights @ gaps)).noted(alike, first=True)
    found = clustered_ratio(estimate, weights * gaps, weights, noun, against=0)
    return on_scale(replace(found, method=Method("weighted-by-items", within=found.method, noun=noun)), -1, 1)
