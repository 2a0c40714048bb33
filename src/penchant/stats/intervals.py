"""Interval estimates of proportions, means and differences; credits are 1 (right), 0 (wrong) or ½ (a tie)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters
from penchant.stats.hypothesis_tests import fisher, held_against
from penchant.stats.inputs import (
    Array,
    Codes,
    as_credits,
    as_values,
    check_lengths,
    check_level,
    cluster_codes,
    group_sums,
    has_ties,
    small_side,
)
from penchant.wording.phrases import Method, Note, present

UNEQUAL, FEW_UNEQUAL = 0.8, 15
"""Intervals over up to `FEW_UNEQUAL` clusters undercover if less than this fraction is effective (docs/validity.md)."""
OUTWEIGHED = 1.2
"""The effective number of clusters below which one cluster outweighs all the others."""
EQUAL, FEW_OTHERS = 0.7, 15
"""In sparse data, at least the fraction `EQUAL` of values are equal, and fewer than `FEW_OTHERS` differ from them."""
HELD = {
    1.2: {10: 0.885, 20: 0.921, 40: 0.940},
    2.0: {10: 0.656, 20: 0.882, 40: 0.912, 60: 0.929, 120: 0.938},
    3.2: {10: 0.510, 20: 0.644, 40: 0.878, 60: 0.896, 120: 0.926, 240: 0.943},
    4.7: {10: 0.842, 20: 0.737, 40: 0.688, 60: 0.736, 120: 0.899, 240: 0.922, 480: 0.932},
}
"""Coverage of 95 % t intervals in unfavourable cases, by minimum skewness and number of items.

In simulations, a fraction .2, .1, .05 or .02 of items is 1 (skewness 1.5, 2.5, 3.8, 5.7), the rest normal about 0 with
sd .05.
"""
HELD_ENOUGH, _FEWEST = 0.93, 10

# Shares -----------------------------------------------------------------------------------------------------


def wilson(mean: float, items: int, level: float) -> tuple[float, float]:
    """Return the score confidence limits for a proportion `mean` over `items` ≥ 1 (Wilson 1927)."""
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    shrink = 1 + z * z / items
    centre = (mean + z * z / (2 * items)) / shrink
    half = z / shrink * np.sqrt(mean * (1 - mean) / items + z * z / (4 * items * items))
    # At 0 and 1 one bound equals the share exactly; min and max undo the rounding there.
    return max(0.0, min(mean, float(centre - half))), min(1.0, max(mean, float(centre + half)))


def accuracy(credits: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean credit with Wilson's score interval (Wilson 1927).

    With ties the interval is conservative: a credit of ½ varies less than the coin flip that it represents. Raises
    DataError for a credit other than 0, ½ or 1.
    """
    check_level(level)
    array = as_credits(credits)
    if not len(array):
        return Estimate("accuracy", np.nan, 0, level=level, notes=(Note("no-items"),))
    mean = float(array.mean())
    low, high = wilson(mean, len(array), level)
    return Estimate("accuracy", mean, len(array), low, high, level, Method("wilson"))


def on_scale(estimate: Estimate, lowest: float, highest: float) -> Estimate:
    """Return the estimate with its interval, if any, clipped to the range from `lowest` to `highest`."""
    low, high = np.clip([estimate.low, estimate.high], lowest, highest).tolist()  # NaN stays
    return replace(estimate, low=low, high=high)


def exponential(estimate: Estimate) -> Estimate:
    """Convert an estimate of a log ratio and its interval to the ratio; a test against 0 becomes a test against 1."""
    value, low, high = np.exp([estimate.value, estimate.low, estimate.high]).tolist()
    method = estimate.method and estimate.method.with_(scale="log")
    return replace(estimate, value=value, low=low, high=high, method=method)


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
    """Return the mean over clustered items, with a cluster-robust t interval and, if `against` is given, a t test.

    `values` and `clusters` have one number and one label per item. For a paired comparison of two models, pass the
    differences. The standard error is the jackknife standard error over clusters, and the degrees of freedom are the
    number of clusters minus 1; for clusters of equal size the interval is the t interval of their means. With
    `proportion`, the values lie between 0 and 1 and the interval is computed on the logit scale; if all clusters have
    the same proportion, it is Wilson's interval over items, with a note. `against` is the mean under the null
    hypothesis, a proportion if `proportion` is set; the test uses the scale of the interval. Source: MacKinnon, Nielsen
    & Webb 2023, J. Econometrics 232:272–299. Raises DataError for NaN or unequal lengths.
    """
    check_level(level)
    array = as_values(values)
    codes = cluster_codes(clusters, len(array))
    if not len(array):
        return Estimate("mean", np.nan, 0, level=level, notes=(Note("no-items"),))
    # Items are summed in sorted order, so that the result does not depend on their order, to the last bit.
    order = np.lexsort((array, codes))
    sums, sizes = group_sums(codes[order], array[order]), np.bincount(codes).astype(np.float64)
    estimate = Estimate("mean", float(np.sort(array).mean()), len(array), level=level)
    if len(sizes) == 1:
        return replace(estimate, notes=(Note("one-of-clusters", noun=noun),))
    if np.ptp(sums / sizes) <= 1e-12 * np.abs(array).max():
        same = {"all": len(sizes), "noun": noun}
        if not proportion:
            return estimate.noted(Note("clusters-alike", **same))
        low, high = wilson(estimate.value, len(array), level)
        return replace(estimate, low=low, high=high, method=Method("wilson")).noted(
            Note("clusters-alike-wilson", **same)
        )
    return clustered_ratio(estimate, sums, sizes, noun, logit=proportion, against=against)


def clustered_ratio(
    estimate: Estimate, totals: Array, weights: Array, noun: str, *, logit: bool = False, against: float | None = None
) -> Estimate:
    """Return `estimate` with the value Σ totals / Σ weights over clusters and a cluster-robust t interval.

    There must be at least two clusters with unequal ratios. If `against`, a ratio, is given, the value is also tested
    against it. With `logit`, the value and `against` are proportions, and interval and test use the logit scale. The
    result does not depend on the order of clusters, to the last bit. The standard error is the linearised jackknife:
    leaving a cluster out changes the ratio by the cluster's residual/(Σ weights)/(1 − its share of the weights).
    """
    groups, whole = len(totals), float(np.sort(weights).sum())
    value = float(np.sort(totals).sum()) / whole
    moves = (totals - value * weights) / whole / (1 - weights / whole)
    error = float(np.sqrt((groups - 1) / groups * np.sort(moves**2).sum()))
    reach = float(scipy.stats.t.ppf((1 + estimate.level) / 2, groups - 1))
    centre, scale = (float(scipy.special.logit(value)), value * (1 - value)) if logit else (value, 1.0)
    ends = np.array([centre - reach * error / scale, centre + reach * error / scale])
    low, high = scipy.special.expit(ends) if logit else ends
    method = Method("cluster-t", clusters=groups, noun=noun, df=groups - 1, scale="logit" if logit else None)
    estimate = replace(estimate, value=value, low=float(low), high=float(high), method=method)
    estimate = estimate.noted(_unequal(weights / whole, noun))
    if against is None:
        return estimate
    t = (centre - (float(scipy.special.logit(against)) if logit else against)) / (error / scale)
    return estimate.tested(2 * scipy.stats.t.sf(abs(t), groups - 1), Method("cluster-t-test", noun=noun))


def _unequal(shares: Array, noun: str) -> Note | None:
    """Return a note if there are few clusters and their weights are very unequal, or None.

    A cluster whose share of the weights is p is expected to contribute p²/(1 − p) to the error variance. With these
    contributions c, the effective number of clusters is (Σ c)²/Σ c².
    """
    parts = np.sort(shares**2 / (1 - shares))
    groups, effective = len(shares), float(parts.sum() ** 2 / (parts**2).sum())
    if groups > FEW_UNEQUAL or effective >= UNEQUAL * groups:
        return None
    code = "unequal-clusters" if effective >= OUTWEIGHED else "one-cluster-outweighs"
    return Note(code, have=groups, noun=noun, effective=effective)


# Means ------------------------------------------------------------------------------------------------------


def t_mean(
    values: ArrayLike,
    *,
    strata: Iterable[Hashable] | None = None,
    level: float = 0.95,
    noun: str = "sentences",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    against: float | None = None,
) -> Estimate:
    """Return the mean over independent items with a t interval and a t test.

    `strata` contains one label per item, for a design with fixed stratum sizes; the standard error is then the standard
    error of a stratified mean, √Σ(n_g/n)²·s_g²/n_g, with Satterthwaite's degrees of freedom (1946, Biometrics Bulletin
    2:110–114). The strata are ignored if a stratum has a single item, whose spread is unknown. `noun` is the plural
    noun for the items. `bounds` are the limits of the scale, to which the interval is clipped. With `against`, the mean
    is tested against this number; p is below 1 − `level` exactly if the interval excludes the number. A note warns if
    the values are so skewed, or so many of them are equal, that the coverage is too low. For clustered items see
    `clustered_mean`. Raises DataError for NaN.
    """
    check_level(level)
    array = as_values(values)
    codes = stratum_codes(strata, len(array))
    items = len(array)
    if not items:
        return Estimate("mean", np.nan, 0, level=level, notes=(Note("no-items"),))
    bare = Estimate("mean", float(np.sort(array).mean()), items, level=level)
    if items == 1:
        return bare.noted(Note("one-item"))
    parts = in_strata(array, codes)
    groups = len(parts) if len(parts) > 1 else None
    if all(np.ptp(part) <= 1e-12 * np.abs(array).max() for part in parts):
        return bare.noted(Note("values-alike-within" if groups else "values-alike", all=groups or items, noun=noun))
    errors = stratified_variances(parts)
    variance = sum(own for own, _ in errors)
    df = variance**2 / sum(own**2 / of for own, of in errors)
    half = float(scipy.stats.t.ppf((1 + level) / 2, df)) * variance**0.5
    low, high, ends = within_scale(bare.value - half, bare.value + half, bounds, float(np.ptp(array)))
    sparse = _sparse(array, noun, level)
    notes = present(*((sparse,) if sparse else (few_clusters(items, noun), _skew(parts, noun))), ends)
    method = Method("t-within" if groups else "t", items=items, noun=noun, groups=groups, df=df)
    estimate = replace(bare, low=low, high=high, method=method, notes=notes)
    if against is None:
        return estimate
    t = abs(bare.value - against) / variance**0.5
    return estimate.tested(2 * scipy.stats.t.sf(t, df), Method("t-test", noun=noun))


def stratum_codes(strata: Iterable[Hashable] | None, items: int) -> Codes:
    """Return the stratum code of each item; all 0 if `strata` is None."""
    return np.zeros(items, dtype=np.intp) if strata is None else cluster_codes(strata, items, where="strata")


def in_strata(values: Array, codes: Codes) -> list[Array]:
    """Return the sorted values of each stratum, or of all strata together if a stratum has a single value."""
    codes = codes if np.bincount(codes).min() > 1 else np.zeros_like(codes)
    return [np.sort(values[codes == code]) for code in range(codes.max() + 1)]


def stratified_variances(parts: list[Array]) -> list[tuple[float, float]]:
    """Return each stratum's contribution to the variance of a stratified mean, with its degrees of freedom.

    The contributions are sorted, so that their sum does not depend on the order of strata, to the last bit.
    """
    items = sum(map(len, parts))
    return sorted((len(part) * float(part.var(ddof=1)) / items**2, len(part) - 1) for part in parts)


def _skew(parts: list[Array], noun: str) -> Note | None:
    centred = np.concatenate([part - part.mean() for part in parts])
    items, skewness = len(centred), abs(float(np.mean(centred**3)) / float(np.mean(centred**2)) ** 1.5)
    measured = next((row for least, row in reversed(HELD.items()) if skewness >= least), {})
    held = next((share for n, share in reversed(measured.items()) if n <= max(items, _FEWEST)), HELD_ENOUGH)
    if held >= HELD_ENOUGH:
        return None
    enough = next(n for n, share in measured.items() if share >= HELD_ENOUGH and n > items)
    return Note("skew", held=held, have=items, noun=noun, would_do=enough)


def _sparse(values: Array, noun: str, level: float) -> Note | None:
    n, scale = len(values), float(np.abs(values).max())
    distinct, counts = np.unique(np.round(values / scale, 12), return_counts=True)
    most = int(counts.max())
    if n - most >= FEW_OTHERS or most < EQUAL * n:
        return None
    low, high = wilson(1 - most / n, n, level)
    same, share = scale * float(distinct[counts.argmax()]) + 0.0, 1 - most / n
    others = {"share": share, "low": low, "high": high}
    return Note("sparse", most=most, of=n, noun=noun, value=same, **others, would_do=FEW_OTHERS)


def within_scale(
    low: float, high: float, bounds: tuple[float, float], spread: float
) -> tuple[float, float, Note | None]:
    """Return the limits of an interval clipped to `bounds`, with a note if a limit is at a bound.

    Limits that are 0 up to rounding relative to `spread` become 0.
    """
    low, high = max(low, bounds[0]), min(high, bounds[1])
    # Bounds that are 0 but for rounding become 0, not −1e-17 or −0.0.
    low, high = (0.0 if abs(bound) <= 1e-12 * spread else bound for bound in (low, high))
    ends = low in bounds or high in bounds
    return low, high, Note("ends") if ends else None


# Differences ------------------------------------------------------------------------------------------------


def paired_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean credit of `a` minus the mean credit of `b`, for two models on the same items, with an interval.

    Without ties, the interval is the adjusted Wald interval on the discordant counts, with one added to each (Bonett &
    Price 2012, J. Educ. Behav. Stat. 37:479–488), clipped to ±1. With ties, it is the t interval of the differences.
    Raises DataError for unequal lengths or credits other than 0, ½ or 1.
    """
    check_level(level)
    first, second = as_credits(a, where="a"), as_credits(b, where="b")
    check_lengths(first, second, where="paired difference")
    if not len(first):
        return Estimate("accuracy difference", np.nan, 0, level=level, notes=(Note("no-items"),))
    gain = first - second
    interval = _t_interval if has_ties(first, second) else _bonett_price
    estimate = Estimate("accuracy difference", float(gain.mean()), len(gain), level=level)
    return interval(estimate, gain)


def _bonett_price(estimate: Estimate, gain: Array) -> Estimate:
    items = len(gain) + 2
    up, down = (np.count_nonzero(gain > 0) + 1) / items, (np.count_nonzero(gain < 0) + 1) / items
    centre = up - down
    half = float(scipy.stats.norm.ppf((1 + estimate.level) / 2) * np.sqrt((up + down - centre**2) / items))
    low, high = max(-1.0, centre - half), min(1.0, centre + half)
    return replace(estimate, low=low, high=high, method=Method("bonett-price"))


def _t_interval(estimate: Estimate, gain: Array) -> Estimate:
    if len(gain) < 2 or not np.ptp(gain):
        return estimate.noted(Note("differences-equal"))
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    half = float(scipy.stats.t.ppf((1 + estimate.level) / 2, len(gain) - 1) * error)
    low, high = max(-1.0, estimate.value - half), min(1.0, estimate.value + half)
    return replace(estimate, low=low, high=high, method=Method("t-differences"))


def independent_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean credit of `a` minus the mean credit of `b`, for disjoint items, with an interval and a test.

    The interval is Newcombe's hybrid of two Wilson intervals (1998, Stat. Med. 17:873–890, method 10). The test is
    Fisher's mid-p test, or Welch's t test if there are ties. Raises DataError for credits other than 0, ½ or 1.
    """
    check_level(level)
    first, second = as_credits(a, where="a"), as_credits(b, where="b")
    items = len(first) + len(second)
    if not (len(first) and len(second)):
        note = Note("empty-side" if items else "no-items")
        return Estimate("accuracy difference", np.nan, items, level=level, notes=(note,))
    x, y = float(first.mean()), float(second.mean())
    (low_x, high_x), (low_y, high_y) = wilson(x, len(first), level), wilson(y, len(second), level)
    low = x - y - float(np.hypot(x - low_x, high_y - y))
    high = x - y + float(np.hypot(high_x - x, y - low_y))
    low, high, method = max(-1.0, low), min(1.0, high), Method("newcombe")
    estimate = Estimate("accuracy difference", x - y, items, low, high, level, method).noted(
        small_side(len(first), len(second))
    )
    if has_ties(first, second):
        return held_against(_welch(estimate, first, second), 0)
    return held_against(estimate.tested(fisher(first, second), Method("fisher")), 0)


def _welch(estimate: Estimate, first: Array, second: Array) -> Estimate:
    m, n = len(first), len(second)
    if min(m, n) < 2:
        return estimate.noted(Note("no-test-one-item"))
    if not (np.ptp(first) or np.ptp(second)):
        return estimate.noted(Note("no-test-alike"))
    # Unlike ttest_ind, this does not warn when one side does not vary.
    sd_first, sd_second = float(first.std(ddof=1)), float(second.std(ddof=1))
    test = scipy.stats.ttest_ind_from_stats(first.mean(), sd_first, m, second.mean(), sd_second, n, equal_var=False)
    return estimate.tested(float(test.pvalue), Method("welch"))
