"""The difference between two kinds of item within strata, pooled, so that strata are not compared with each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.bootstrap import bootstrap_name, few_clusters, percentile, resampled_ratio
from penchant.stats.inputs import (
    Array,
    Codes,
    Seed,
    as_credits,
    check_lengths,
    check_level,
    cluster_codes,
    group_sums,
    joined,
)
from penchant.stats.intervals import independent_difference

MEASURE = "stratified accuracy difference"


@dataclass(frozen=True, slots=True)
class _Strata:
    """Per stratum: items and credit on the exposed side, items and credit in total, Σ(credit − mean)²."""

    exposed: Array
    exposed_credit: Array
    items: Array
    credit: Array
    squares: Array

    @classmethod
    def of(cls, credit: Array, exposed: NDArray[np.bool_], codes: Codes) -> _Strata:
        items = np.bincount(codes).astype(np.float64)
        total = group_sums(codes, credit)
        return cls(
            exposed=group_sums(codes, exposed),
            exposed_credit=group_sums(codes, credit * exposed),
            items=items,
            credit=total,
            squares=group_sums(codes, (credit - (total / items)[codes]) ** 2),
        )

    @property
    def others(self) -> Array:
        return self.items - self.exposed

    @property
    def weights(self) -> Array:
        """Mantel–Haenszel weights n₁n₀/n."""
        return self.exposed * self.others / self.items

    @property
    def weighted_differences(self) -> Array:
        """Weight times (mean credit of the exposed − of the others), both sides present in every stratum."""
        gap = self.exposed_credit / self.exposed - (self.credit - self.exposed_credit) / self.others
        return self.weights * gap

    def chi_square_p(self) -> float:
        """p-value of the score test for no relation of exposure and credit within strata; NaN when no credit varies.

        Σ(observed − expected exposed credit), squared, over its variance under random exposure within strata,
        n₁n₀/(n(n−1))·Σ(y−ȳ)². For credits 0 and 1 that is n₁n₀m₁m₀/(n²(n−1)), the Cochran–Mantel–Haenszel
        statistic without continuity correction (Mantel & Haenszel 1959; Agresti 2013, §6.4.2).
        """
        surplus = self.exposed_credit - self.exposed * self.credit / self.items
        variance = float((self.weights / (self.items - 1) * self.squares).sum())
        return float(stats.chi2.sf(surplus.sum() ** 2 / variance, 1)) if variance > 0 else np.nan


def mantel_haenszel_difference(
    credit: ArrayLike,
    exposed: ArrayLike,
    strata: Iterable[Hashable],
    *,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    fewest: int = 2,
) -> Estimate:
    """Mean credit of exposed items minus that of the others, pooled over strata (Greenland & Robins 1985).

    `credit` (0, ½, 1), `exposed` (true, false) and `strata` (labels): one entry per item. Strata without
    both kinds say nothing about the difference; they are left out, counted in `note`, and not part of `n`.
    With one stratum left, the interval and test are those of `independent_difference`; with several, the
    interval is a percentile bootstrap over strata and p is that of the Cochran–Mantel–Haenszel test. Fewer
    strata than `fewest` are taken as fixed: the interval is then a normal one with Greenland and Robins'
    variance of items within strata, Σw²(s₁²/n₁ + s₀²/n₀)/(Σw)².
    Raises DataError for unequal lengths, credits not 0, ½ or 1, or an exposure that is not true or false.
    """
    check_level(level)
    array, side = as_credits(credit), _as_sides(exposed)
    check_lengths(array, side, where="exposed")
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate(MEASURE, np.nan, 0, level=level, note="no items")
    all_strata = _Strata.of(array, side, codes)
    informative = (all_strata.exposed > 0) & (all_strata.others > 0)
    kept = informative[codes]
    left_out = _left_out(informative, int(np.count_nonzero(~kept)))
    array, side, codes = array[kept], side[kept], np.unique(codes[kept], return_inverse=True)[1]
    groups = int(np.count_nonzero(informative))
    if not groups:
        return Estimate(MEASURE, np.nan, 0, level=level, note=left_out)
    if groups == 1:
        estimate = independent_difference(array[side], array[~side], level=level)
        return replace(estimate, measure=MEASURE, note=joined(estimate.note, left_out))
    if groups < fewest:
        estimate = _fixed_strata(_Strata.of(array, side, codes), array, side, codes, level)
    else:
        estimate = _resampled_strata(_Strata.of(array, side, codes), seed, resamples, level)
    return replace(estimate, note=joined(estimate.note, left_out))


def _fixed_strata(strata: _Strata, credit: Array, side: NDArray[np.bool_], codes: Codes, level: float) -> Estimate:
    """The estimate for fixed strata: its interval reflects only the spread of items within them."""
    variance = np.zeros(len(strata.items))
    for inside, n in ((side, strata.exposed), (~side, strata.others)):
        values, stratum = credit[inside], codes[inside]
        mean = np.bincount(stratum, values, len(n)) / n
        variance += np.bincount(stratum, (values - mean[stratum]) ** 2, len(n)) / n**2
    weights = strata.weights
    value, items = float(strata.weighted_differences.sum() / weights.sum()), int(strata.items.sum())
    half = float(stats.norm.ppf((1 + level) / 2) * np.sqrt((weights**2 * variance).sum()) / weights.sum())
    p = strata.chi_square_p()
    test = "" if np.isnan(p) else "Cochran-Mantel-Haenszel chi-square, no continuity correction"
    note = f"{len(strata.items)} strata, taken as given"
    if not half:
        note = joined(note, "no spread within them to make an interval from")
        return Estimate(MEASURE, value, items, level=level, p=p, test=test, note=note)
    low, high = max(-1.0, value - half), min(1.0, value + half)
    return Estimate(MEASURE, value, items, low, high, level, how="Greenland-Robins", p=p, test=test, note=note)


def _resampled_strata(strata: _Strata, seed: Seed, resamples: int, level: float) -> Estimate:
    """The estimate for strata that are a sample: its interval is a percentile bootstrap over them."""
    gaps, weights, groups = strata.weighted_differences, strata.weights, len(strata.items)
    value, items = float(gaps.sum() / weights.sum()), int(strata.items.sum())
    p = strata.chi_square_p()
    test = "" if np.isnan(p) else "Cochran-Mantel-Haenszel chi-square, no continuity correction"
    untested = "no test: no stratum's credits vary" if np.isnan(p) else ""
    if np.ptp(gaps / weights) <= 1e-12:
        note = f"all {groups} strata have the same difference: resampling them gives no interval"
        return Estimate(MEASURE, value, items, level=level, p=p, test=test, note=joined(note, untested))
    low, high = percentile(resampled_ratio(gaps, weights, seed=seed, resamples=resamples), level)
    how = bootstrap_name(groups, resamples, seed, noun="strata")
    note = joined(few_clusters(groups, noun="strata"), untested)
    return Estimate(MEASURE, value, items, low, high, level, how=how, p=p, test=test, note=note)


def _as_sides(exposed: ArrayLike) -> NDArray[np.bool_]:
    array = np.asarray(exposed)
    if array.ndim != 1 or not bool(np.all((array == 0) | (array == 1))):
        raise DataError("exposure is one true or false per item", where="exposed")
    return array.astype(np.bool_)


def _left_out(informative: NDArray[np.bool_], items: int) -> str:
    strata = int(np.count_nonzero(~informative))
    lack = f"{strata} of {len(informative)} strata lack a side ({items} items left out)"
    return lack if strata else ""
