"""The mean credit over strata that are no sample: an interval and a test about these very strata, as they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.records import Estimate
from penchant.stats.inputs import Array, as_credits, check_level, cluster_codes, group_sums

_STEPS = 100
_MOST = 37.0
"""A normal deviate whose p-value is about the smallest number there is."""


def fixed_strata_share(
    credits: ArrayLike,
    strata: Iterable[Hashable],
    *,
    against: float,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Mean credit of items in strata, each with the weight of its items, with its interval and a test.

    Items are drawn within their stratum, and the strata are those there are: nothing is said of others. The ends are
    the weighted means of the ends of Wilson's intervals of the strata, at a common deviate z·√(Σ w²σ²)/Σ wσ, σ being
    the half-widths per deviate (Yan & Su 2010, Stat. Biopharm. Res. 2:329–335, with the weights given). One stratum, or
    strata of equal size and share, have Wilson's interval. The test of the number `against` rejects exactly where the
    interval of that level leaves the number out. As in `accuracy`, ties make both err on the wide side. Raises
    DataError for a credit other than 0, ½ or 1.
    """
    check_level(level)
    array = as_credits(credits)
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate("mean", np.nan, 0, level=level, note="no items")
    sizes = np.bincount(codes).astype(np.float64)
    order = np.lexsort((sizes, group_sums(codes, array)))  # the same bits in whatever order the strata come
    sizes, shares = sizes[order], (group_sums(codes, array) / sizes)[order]
    value = float(array.sum() / len(array))
    low, high = _ends(shares, sizes, float(scipy.stats.norm.ppf((1 + level) / 2)))
    how = f"stratified Wilson score over {len(sizes)} {noun} as they are"
    p = _p(shares, sizes, value, against)
    test = f"score test over {noun} as they are"
    return Estimate("mean", value, len(array), min(low, value), max(high, value), level, how=how, p=p, test=test)


def _ends(shares: Array, sizes: Array, z: float) -> tuple[float, float]:
    """The interval at a deviate z > 0."""
    weights = sizes / sizes.sum()
    common = z / len(sizes) ** 0.5
    for _ in range(_STEPS):
        _, half = _wilson(shares, sizes, common)
        before, common = common, z * float(np.sqrt((weights**2 * half**2).sum()) / (weights * half).sum())
        if abs(common - before) <= 1e-12 * z:
            break
    centre, half = _wilson(shares, sizes, common)
    return max(0.0, float(weights @ (centre - half))), min(1.0, float(weights @ (centre + half)))


def _wilson(shares: Array, sizes: Array, z: float) -> tuple[Array, Array]:
    """The centres and half-widths of the score intervals of some shares."""
    shrink = 1 + z * z / sizes
    centre = (shares + z * z / (2 * sizes)) / shrink
    return centre, z / shrink * np.sqrt(shares * (1 - shares) / sizes + z * z / (4 * sizes**2))


def _p(shares: Array, sizes: Array, value: float, against: float) -> float:
    """The level at which the interval's nearer end is the number `against`."""
    if abs(value - against) <= 1e-12:
        return 1.0
    side = 0 if value > against else 1

    def beyond(z: float) -> float:
        return (_ends(shares, sizes, z)[side] - against) * (1 if side == 0 else -1)

    if beyond(_MOST) > 0:
        return 0.0
    return float(2 * scipy.stats.norm.sf(scipy.optimize.brentq(beyond, 1e-9, _MOST, xtol=1e-12)))
