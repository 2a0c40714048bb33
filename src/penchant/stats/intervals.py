"""Interval estimates of shares, means and differences.

Credits are per-item scores: 1 for the right choice, 0 for the wrong one, ½ for a tie.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters, resampling_name
from penchant.stats.hypothesis_tests import fisher, held_against
from penchant.stats.inputs import (
    Array,
    Seed,
    as_credits,
    as_values,
    check_lengths,
    check_level,
    check_resamples,
    cluster_codes,
    group_sums,
    has_ties,
    joined,
)
from penchant.stats.studentised import skew_caution, studentised

UNEQUAL, FEW_UNEQUAL = 0.8, 15
"""Up to so many clusters, a smaller effective share of them costs the interval some of its level (docs/validity.md)."""
OUTWEIGHED = 1.2
"""An effective number of clusters below this means that one outweighs all others."""

# Shares -----------------------------------------------------------------------------------------------------


def wilson(mean: float, items: int, level: float) -> tuple[float, float]:
    """Score interval of a share `mean` over `items` ≥ 1 (Wilson 1927)."""
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    shrink = 1 + z * z / items
    centre = (mean + z * z / (2 * items)) / shrink
    half = z / shrink * np.sqrt(mean * (1 - mean) / items + z * z / (4 * items * items))
    # At 0 and 1 one bound equals the share exactly; min and max undo the rounding there.
    return max(0.0, min(mean, float(centre - half))), min(1.0, max(mean, float(centre + half)))


def accuracy(credits: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean credit with its Wilson score interval (Wilson 1927).

    With ties the interval errs on the wide side: a credit of ½ varies less than the coin flip it stands for.
    Raises DataError for a credit other than 0, ½ or 1.
    """
    check_level(level)
    array = as_credits(credits)
    if not len(array):
        return Estimate("accuracy", np.nan, 0, level=level, note="no items")
    mean = float(array.mean())
    low, high = wilson(mean, len(array), level)
    return Estimate("accuracy", mean, len(array), low, high, level, how="Wilson score")


def on_scale(estimate: Estimate, lowest: float, highest: float) -> Estimate:
    """An estimate whose interval, if it has one, ends where the scale does."""
    low, high = np.clip([estimate.low, estimate.high], lowest, highest).tolist()  # NaN stays
    return replace(estimate, low=low, high=high)


# Clusters ---------------------------------------------------------------------------------------------------


def clustered_mean(
    values: ArrayLike,
    clusters: Iterable[Hashable],
    *,
    level: float = 0.95,
    noun: str = "clusters",
    proportion: bool = False,
    against: float | None = None,
) -> Estimate:
    """Mean over items that come in clusters, with a cluster-robust t interval and a test.

    `values` and `clusters`: one number and one label per item. For a paired comparison of two models, give the
    differences. The standard error is that of the jackknife over clusters, and the distribution t with one degree of
    freedom less than there are clusters; clusters of equal size give the t interval of their means. `proportion`: the
    values lie in 0 to 1, and the interval is made on the logit scale; where all clusters have the same share it is
    Wilson's over items, and the note says so. `against`: test the mean against this number, on the same scale.
    Sources: MacKinnon, Nielsen & Webb 2023, J. Econometrics 232:272–299. Raises DataError for NaN or unequal lengths.
    """
    check_level(level)
    array = as_values(values)
    codes = cluster_codes(clusters, len(array))
    if not len(array):
        return Estimate("mean", np.nan, 0, level=level, note="no items")
    # Items are summed in sorted order, so that their order does not change a bit of the result.
    order = np.lexsort((array, codes))
    sums, sizes = group_sums(codes[order], array[order]), np.bincount(codes).astype(np.float64)
    estimate = Estimate("mean", float(np.sort(array).mean()), len(array), level=level)
    if len(sizes) == 1:
        return replace(estimate, note=f"one of the {noun}: there is no spread between them to make an interval from")
    if np.ptp(sums / sizes) <= 1e-12 * np.abs(array).max():
        note = f"all {len(sizes)} {noun} have the same mean: "
        if not proportion:
            return replace(estimate, note=f"{note}they give no interval and no test")
        low, high = wilson(estimate.value, len(array), level)
        return replace(estimate, low=low, high=high, how="Wilson score", note=f"{note}items are taken as independent")
    return clustered_ratio(estimate, sums, sizes, noun, logit=proportion, against=against)


def clustered_ratio(
    estimate: Estimate, totals: Array, weights: Array, noun: str, *, logit: bool = False, against: float | None = None
) -> Estimate:
    """Σ totals / Σ weights of two clusters or more, which do not all have the same ratio, with its cluster-robust t
    interval and, where there is a number to test it `against`, its test.

    The clusters in any order give the same bits. The jackknife's error, linearised: a cluster left out moves the ratio
    by its residual/(Σ weights)/(1 − its share of the weights).
    """
    groups, whole = len(totals), float(np.sort(weights).sum())
    value = float(np.sort(totals).sum()) / whole
    moves = (totals - value * weights) / whole / (1 - weights / whole)
    error = float(np.sqrt((groups - 1) / groups * np.sort(moves**2).sum()))
    reach = float(scipy.stats.t.ppf((1 + estimate.level) / 2, groups - 1))
    centre, scale = (float(scipy.special.logit(value)), value * (1 - value)) if logit else (value, 1.0)
    ends = np.array([centre - reach * error / scale, centre + reach * error / scale])
    low, high = scipy.special.expit(ends) if logit else ends
    how = f"cluster-robust t (jackknife) over {groups} {noun}, {groups - 1} df{', logit scale' if logit else ''}"
    note = joined(estimate.note, _unequal(weights / whole, noun))
    estimate = replace(estimate, value=value, low=float(low), high=float(high), how=how, note=note)
    if against is None:
        return estimate
    t = (centre - (float(scipy.special.logit(against)) if logit else against)) / (error / scale)
    return replace(estimate, p=float(2 * scipy.stats.t.sf(abs(t), groups - 1)), test=f"cluster-robust t over {noun}")


def _unequal(shares: Array, noun: str) -> str:
    """The caution for a few clusters of which some weigh much more than others; empty for others.

    The error's share that is expected from each cluster is p²/(1 − p) of its share p of the weights; the effective
    number of clusters is (Σ share)²/Σ share².
    """
    parts = np.sort(shares**2 / (1 - shares))
    groups, effective = len(shares), float(parts.sum() ** 2 / (parts**2).sum())
    if groups > FEW_UNEQUAL or effective >= UNEQUAL * groups:
        return ""
    held, rejected = ("93", "7") if effective >= OUTWEIGHED else ("90 to 94", "6 to 10")
    return (
        f"the {groups} {noun} are so unequal in size that their mean is as uncertain as that of {effective:.1f} equal "
        f"ones would be (the effective number, which need not be whole): of such 95 % intervals some {held} in 100 "
        f"hold the truth, and {rejected} of 100 tests reject what is true"
    )


# Means ------------------------------------------------------------------------------------------------------


def bootstrap_mean(
    values: ArrayLike,
    *,
    strata: Iterable[Hashable] | None = None,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    noun: str = "sentences",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    against: float | None = None,
) -> Estimate:
    """Mean over independent items with an interval that allows for skew values, and a test of the same distribution.

    Each end of the interval is the wider of the t and the bootstrap-t interval; see `studentised`. `strata`: one label
    per item; items are then resampled within their stratum, as in a design that fixes the size of each (Davison &
    Hinkley 1997, §3.2). A stratum of one item has no spread to resample; if there is one, the strata are ignored.
    `noun`: what the items are, for `how` and `note`. `bounds`: the scale, beyond which no mean can be; the interval
    ends there. `against`: test the mean against this number; p is below 1 − `level` exactly where the interval leaves
    the number out. For items that come in groups see `clustered_mean`. Raises DataError for NaN.
    """
    check_level(level)
    check_resamples(resamples)
    array = as_values(values)
    codes = np.zeros(len(array), dtype=np.intp) if strata is None else cluster_codes(strata, len(array), where="strata")
    items = len(array)
    if not items:
        return Estimate("mean", np.nan, 0, level=level, note="no items")
    value = float(np.sort(array).mean())
    if items == 1:
        note = "one item: there is no spread between items to make an interval from"
        return Estimate("mean", value, items, level=level, note=note)
    if np.bincount(codes).min() < 2:
        codes = np.zeros_like(codes)
    parts = [array[codes == code] for code in range(codes.max() + 1)]
    if all(np.ptp(part) <= 1e-12 * np.abs(array).max() for part in parts):
        each = f"all {items} {noun} have" if len(parts) == 1 else f"within each of {len(parts)} groups all {noun} have"
        note = f"{each} the same value: resampling them gives no interval and no test"
        return Estimate("mean", value, items, level=level, note=note)
    distribution = studentised(parts, seed=seed, resamples=resamples)
    estimate = Estimate("mean", value, items, level=level)
    if against is not None:
        estimate = replace(estimate, p=distribution.p(against), test=f"larger p of t and bootstrap-t over {noun}")
    low, high, note = within_scale(*distribution.interval(level), bounds, float(np.ptp(array)))
    if np.isnan(low):
        return replace(estimate, note=note or f"no interval: {resamples} resamples are too few for its level")
    within = f"{noun} within {len(parts)} groups" if len(parts) > 1 else noun
    method = f"wider of t ({distribution.df:.4g} df) and bootstrap-t"
    how = resampling_name(method, items, resamples, seed, within)
    note = joined(few_clusters(items, noun), skew_caution(parts, noun), note)
    return replace(estimate, low=low, high=high, how=how, note=note)


def within_scale(low: float, high: float, bounds: tuple[float, float], spread: float) -> tuple[float, float, str]:
    """An interval cut at the ends of the scale, with a note; NaN where it has no end."""
    if low < bounds[0] or high > bounds[1]:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    if np.isinf([low, high]).any():
        return np.nan, np.nan, "no interval: too many resamples have no spread"
    # What is 0 but for rounding is 0, never −1e-17 or −0.0.
    low, high = (0.0 if abs(bound) <= 1e-12 * spread else bound for bound in (low, high))
    ends = low in bounds or high in bounds
    return low, high, "the interval ends at the end of the scale" if ends else ""


# Differences ------------------------------------------------------------------------------------------------


def paired_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean credit of `a` minus that of `b`, for the same items under two models, with an interval.

    Without ties: adjusted Wald interval on the discordant counts, one added to each (Bonett & Price 2012,
    J. Educ. Behav. Stat. 37:479–488), cut at ±1. With ties: t interval on the differences. `how` says which.
    For a p-value see `mcnemar` and `sign_flip`.
    Raises DataError for unequal lengths or credits other than 0, ½ or 1.
    """
    check_level(level)
    first, second = as_credits(a, where="a"), as_credits(b, where="b")
    check_lengths(first, second, where="paired difference")
    if not len(first):
        return Estimate("accuracy difference", np.nan, 0, level=level, note="no items")
    gain = first - second
    interval = _t_interval if has_ties(first, second) else _bonett_price
    low, high, how, note = interval(gain, level)
    mean = float(gain.mean())
    return Estimate("accuracy difference", mean, len(gain), low, high, level, how=how, note=note)


def _bonett_price(gain: Array, level: float) -> tuple[float, float, str, str]:
    items = len(gain) + 2
    up, down = (np.count_nonzero(gain > 0) + 1) / items, (np.count_nonzero(gain < 0) + 1) / items
    centre = up - down
    half = float(scipy.stats.norm.ppf((1 + level) / 2) * np.sqrt((up + down - centre**2) / items))
    return max(-1.0, centre - half), min(1.0, centre + half), "Bonett-Price adjusted Wald", ""


def _t_interval(gain: Array, level: float) -> tuple[float, float, str, str]:
    if len(gain) < 2 or not np.ptp(gain):
        return np.nan, np.nan, "", "all differences are equal: their spread gives no interval"
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    half = float(scipy.stats.t.ppf((1 + level) / 2, len(gain) - 1) * error)
    mean = float(gain.mean())
    return max(-1.0, mean - half), min(1.0, mean + half), "t interval on the differences (ties present)", ""


def independent_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean credit of `a` minus that of `b`, for two disjoint sets of items, with an interval and a test.

    Interval: hybrid of two Wilson intervals (Newcombe 1998, Stat. Med. 17:873–890, method 10). p: Fisher's
    mid-p test, or Welch's t test when there are ties. Raises DataError for credits other than 0, ½ or 1.
    """
    check_level(level)
    first, second = as_credits(a, where="a"), as_credits(b, where="b")
    items = len(first) + len(second)
    if not (len(first) and len(second)):
        note = "one side has no items" if items else "no items"
        return Estimate("accuracy difference", np.nan, items, level=level, note=note)
    x, y = float(first.mean()), float(second.mean())
    (low_x, high_x), (low_y, high_y) = wilson(x, len(first), level), wilson(y, len(second), level)
    low = x - y - float(np.hypot(x - low_x, high_y - y))
    high = x - y + float(np.hypot(high_x - x, y - low_y))
    p, test, note = _welch(first, second) if has_ties(first, second) else _fisher(first, second)
    low, high, how = max(-1.0, low), min(1.0, high), "Newcombe hybrid score"
    estimate = Estimate("accuracy difference", x - y, items, low, high, level, how=how, p=p, test=test, note=note)
    return held_against(estimate, 0)


def _fisher(first: Array, second: Array) -> tuple[float, str, str]:
    return fisher(first, second), "Fisher mid-p", ""


def _welch(first: Array, second: Array) -> tuple[float, str, str]:
    m, n = len(first), len(second)
    if min(m, n) < 2:
        return np.nan, "", "no test: a side has only one item"
    if not (np.ptp(first) or np.ptp(second)):
        return np.nan, "", "no test: the credits do not vary within either side"
    # From the moments, which does not warn when one side does not vary.
    sd_first, sd_second = float(first.std(ddof=1)), float(second.std(ddof=1))
    test = scipy.stats.ttest_ind_from_stats(first.mean(), sd_first, m, second.mean(), sd_second, n, equal_var=False)
    return float(test.pvalue), "Welch t", ""
