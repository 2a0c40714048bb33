"""The mean of what several people judged: they, too, are a sample, not only the items they judged."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.inputs import Array, Codes, as_values, check_level, cluster_codes, joined
from penchant.stats.intervals import within_scale

_FEW = {2: "87 to 97", 3: "92 to 97"}
"""Of 100 intervals of level 95 %, how many hold the truth: from raters who differ much, and from raters alike."""
WANTED = 5
"""From this many raters, 94 to 97 do (simulated in the slow tests)."""


def mean_over_raters(
    values: ArrayLike,
    without: ArrayLike,
    *,
    strata: Iterable[Hashable] | None = None,
    level: float = 0.95,
    noun: str = "sentences",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """Mean over items, with a t interval for other items and other raters.

    `values`: one number per item, from all raters. `without[r]`: the same numbers, (raters, items), from all raters but
    r. `strata`: one label per item, within which items vary; ignored if a stratum has one item. `bounds`: the scale,
    beyond which no mean can be; the interval ends there.

    The variance between raters is that of the jackknife over raters, the variance between items that of a stratified
    mean; the degrees of freedom of their sum are Satterthwaite's (1946, Biometrics Bulletin 2:110–114). Resampling both
    (Owen 2007, Ann. Appl. Stat. 1:386–411) has no distribution to take percentiles from with two or three raters: of
    two, it draws three different pairs. The interaction of raters and items is counted in both variances, so that the
    interval errs on the wide side. Raises DataError for NaN or arrays that do not fit.
    """
    check_level(level)
    array = as_values(values)
    others = np.asarray(without, dtype=np.float64)
    if others.ndim != 2 or others.shape[1] != len(array) or not np.isfinite(others).all():
        raise DataError(f"expected a finite number per rater and item, got {others.shape}", where="raters left out")
    items, raters = len(array), len(others)
    codes = np.zeros(items, dtype=np.intp) if strata is None else cluster_codes(strata, items, where="strata")
    if not items:
        return Estimate("mean", np.nan, 0, level=level, note="no items")
    value = float(np.sort(array).mean())
    if items < 2 or raters < 2:
        few = f"one of the {noun}" if items < 2 else "fewer than two raters"
        return Estimate("mean", value, items, level=level, note=f"no interval with raters' uncertainty: {few}")
    if np.bincount(codes).min() < 2:
        codes = np.zeros_like(codes)
    parts = [*_between_items(array, codes), (_between_raters(others), raters - 1)]
    variance = sum(part for part, _ in parts)
    if not variance > (1e-12 * np.abs(array).max()) ** 2:
        note = f"no interval: neither {noun} nor raters differ"
        return Estimate("mean", value, items, level=level, note=note)
    df = float(variance**2 / sum(part**2 / of for part, of in parts))
    half = float(scipy.stats.t.ppf((1 + level) / 2, df) * variance**0.5)
    how = f"Satterthwaite t interval over {items} {noun} and {raters} raters (jackknife), {df:.1f} df"
    low, high, ends = within_scale(value - half, value + half, bounds, float(np.ptp(array)))
    return Estimate("mean", value, items, low, high, level, how=how, note=joined(_rough(raters), ends))


def _rough(raters: int) -> str:
    """The caution for few raters; empty when there are enough."""
    if raters >= WANTED:
        return ""
    held = _FEW.get(raters, _FEW[3])
    return f"the interval is rough: with {raters} raters {held} of 100 hold the truth; {WANTED} would do"


def _between_items(values: Array, codes: Codes) -> list[tuple[float, int]]:
    """The variance of a stratified mean: the share of each stratum, with its degrees of freedom."""
    strata = [np.sort(values[codes == code]) for code in range(codes.max() + 1)]
    # Sorted, so that the order of strata does not change a bit of the sum.
    return sorted((len(part) * float(part.var(ddof=1)) / len(values) ** 2, len(part) - 1) for part in strata)


def _between_raters(without: Array) -> float:
    """The jackknife's variance of the mean over raters."""
    means = np.sort(np.sort(without, axis=1).mean(axis=1))
    return float((len(means) - 1) / len(means) * ((means - means.mean()) ** 2).sum())
