"""Interval estimates of shares, means and differences, and the checks of their input.

Credits are per-item scores: 1 for the right choice, 0 for the wrong one, ½ for a tie.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from penchant.errors import DataError, MethodError
from penchant.records import Estimate

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Counts = NDArray[np.int64]
Seed = int | np.random.Generator

FEW_CLUSTERS = 10
_CHUNK = 2_000_000  # array elements held at once while resampling (16 MB)


# Input ------------------------------------------------------------------------------------------------------


def as_values(values: ArrayLike, *, where: str = "values") -> Array:
    """A one-dimensional float64 array of finite numbers. Raises DataError for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"expected one number per item, got an array of shape {array.shape}", where=where)
    lost = int(np.count_nonzero(~np.isfinite(array)))
    if lost:
        raise DataError(
            f"{lost} of {len(array)} numbers are NaN or infinite",
            where=where,
            hint="leave those items out and report how many they are",
        )
    return array


def as_credits(credits: ArrayLike, *, where: str = "credits") -> Array:
    """As `as_values`, every entry 0, ½ or 1. Raises DataError for anything else."""
    array = as_values(credits, where=where)
    odd = array[~np.isin(array, (0.0, 0.5, 1.0))]
    if len(odd):
        raise DataError(f"a credit is 0, 0.5 or 1, got {odd[0]:g}", where=where)
    return array


def as_counts(counts: ArrayLike, *, where: str = "counts", dimensions: int = 1) -> Counts:
    """An array of integers, none negative, of that many dimensions. Raises DataError for anything else."""
    array = np.asarray(counts)
    if array.ndim != dimensions:
        raise DataError(f"expected {dimensions} dimensions, got an array of shape {array.shape}", where=where)
    if not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"counts are integers, got numbers of type {array.dtype}", where=where)
    if array.size and array.min() < 0:
        raise DataError(f"a count is 0 or more, got {array.min()}", where=where)
    return array.astype(np.int64)


def check_lengths(first: NDArray[np.generic], second: NDArray[np.generic], *, where: str) -> None:
    """Raise DataError unless both arrays have one entry per item."""
    if len(first) != len(second):
        raise DataError(f"{len(first)} items on one side and {len(second)} on the other", where=where)


def check_level(level: float) -> None:
    """Raise MethodError unless `level` is a probability strictly between 0 and 1."""
    if not 0 < level < 1:
        raise MethodError(f"a confidence level lies between 0 and 1, got {level:g}", hint="write 0.95 for 95 %")


def check_resamples(resamples: int) -> None:
    """Raise MethodError when `resamples` is not positive."""
    if resamples < 1:
        raise MethodError(f"a bootstrap needs at least one resample, got {resamples}")


def cluster_codes(labels: Iterable[Hashable], items: int, *, where: str = "clusters") -> Codes:
    """Cluster labels of any hashable kind as integers 0, 1, … in order of appearance, one per item.

    Raises DataError when there is not one label per item, or when a label is missing (NaN).
    """
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    seen: dict[Hashable, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in plain), dtype=np.intp)
    if len(codes) != items:
        raise DataError(f"{len(codes)} labels for {items} items", where=where)
    if any(isinstance(label, float) and np.isnan(label) for label in seen):
        raise DataError("a label is NaN", where=where, hint="give every item a label")
    return codes


def group_sums(codes: Codes, values: NDArray[np.generic]) -> Array:
    """The sum of `values` within each cluster of `cluster_codes`."""
    return np.bincount(codes, weights=values).astype(np.float64)


def has_ties(*credits: Array) -> bool:
    """Whether any credit is ½."""
    return any(bool(np.any(array == 0.5)) for array in credits)


# Shares -----------------------------------------------------------------------------------------------------


def wilson(mean: float, items: int, level: float) -> tuple[float, float]:
    """Score interval of a share (Wilson 1927); `items` ≥ 1."""
    z = float(stats.norm.ppf((1 + level) / 2))
    shrink = 1 + z * z / items
    centre = (mean + z * z / (2 * items)) / shrink
    half = z / shrink * np.sqrt(mean * (1 - mean) / items + z * z / (4 * items * items))
    # At 0 and 1 the bound equals the share exactly; min and max undo the rounding there.
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


# Clusters ---------------------------------------------------------------------------------------------------


def few_clusters(clusters: int, noun: str = "clusters") -> str:
    """The caution that belongs to an interval from few clusters; empty when there are enough."""
    return f"the interval is rough: only {clusters} {noun}" if clusters < FEW_CLUSTERS else ""


def bootstrap_ratio(totals: Array, weights: Array, *, seed: Seed, resamples: int, level: float) -> tuple[float, float]:
    """Percentile bootstrap interval of Σ totals / Σ weights, resampling the entries.

    Entries that are equal are interchangeable, so it is enough to draw how often each kind occurs: one
    multinomial draw a resample. The kinds are sorted, hence the entries' order does not matter.
    Source: Efron & Tibshirani 1993, ch. 13. Raises MethodError when `resamples` is not positive.
    """
    check_resamples(resamples)
    kinds, counts = np.unique(np.column_stack([totals, weights]), axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // len(kinds))
    ratios = np.empty(resamples)
    for start in range(0, resamples, rows):
        part = ratios[start : start + rows]
        sums = rng.multinomial(len(totals), counts / len(totals), size=len(part)) @ kinds
        part[:] = sums[:, 0] / sums[:, 1]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_name(
    clusters: int, resamples: int, seed: Seed, noun: str = "clusters", *, kind: str = "percentile"
) -> str:
    """How a bootstrap interval was made, for `Estimate.how`."""
    source = "caller's generator" if isinstance(seed, np.random.Generator) else f"seed {seed}"
    return f"{kind} bootstrap over {clusters} {noun}, {resamples} resamples, {source}"


def clustered_mean(
    values: ArrayLike,
    clusters: Iterable[Hashable],
    *,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """Mean over items, its interval from a percentile bootstrap that resamples whole clusters.

    `values` and `clusters`: one number and one label per item. For a paired comparison of two models, give
    the differences. Sources: Efron & Tibshirani 1993, ch. 13; Davison & Hinkley 1997, §3.8.
    Raises DataError for NaN or unequal lengths.
    """
    check_level(level)
    array = as_values(values)
    codes = cluster_codes(clusters, len(array))
    if not len(array):
        return Estimate("mean", np.nan, 0, level=level, note="no items")
    # Items are added up in sorted order, so that the same items in another order give the same bits.
    order = np.lexsort((array, codes))
    sums, sizes = group_sums(codes[order], array[order]), np.bincount(codes).astype(np.float64)
    value = float(np.sort(array).mean())
    groups = len(sizes)
    if groups == 1:
        note = "one cluster: there is no spread between clusters to make an interval from"
        return Estimate("mean", value, len(array), level=level, note=note)
    if np.ptp(sums / sizes) <= 1e-12 * np.abs(array).max():
        note = f"all {groups} clusters have the same mean: resampling them gives no interval"
        return Estimate("mean", value, len(array), level=level, note=note)
    low, high = bootstrap_ratio(sums, sizes, seed=seed, resamples=resamples, level=level)
    how = bootstrap_name(groups, resamples, seed)
    return Estimate("mean", value, len(array), low, high, level, how=how, note=few_clusters(groups))


# Means ------------------------------------------------------------------------------------------------------


def bootstrap_mean(
    values: ArrayLike,
    *,
    strata: Iterable[Hashable] | None = None,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    noun: str = "sentences",
) -> Estimate:
    """Mean over independent items with its BCa bootstrap interval (Efron 1987, J. Am. Stat. Assoc. 82:171–185).

    `strata`: one label an item; items are then resampled within their stratum, as befits a design that fixes how many
    there are of each (Davison & Hinkley 1997, §3.2). A stratum of one item has no spread to resample; with any, the
    strata are not kept apart. `noun`: what the items are, for `how` and `note`. For items that come in groups see
    `clustered_mean`. The jackknife in BCa takes time quadratic in the items: seconds for twenty thousand. Raises
    DataError for NaN.
    """
    check_level(level)
    check_resamples(resamples)
    array = as_values(values)
    codes = np.zeros(len(array), dtype=np.intp) if strata is None else cluster_codes(strata, len(array), where="strata")
    items = len(array)
    if not items:
        return Estimate("mean", np.nan, 0, level=level, note="no items")
    value, spread = float(np.sort(array).mean()), float(np.ptp(array))
    if items == 1:
        note = "one item: there is no spread between items to make an interval from"
        return Estimate("mean", value, items, level=level, note=note)
    if np.bincount(codes).min() < 2:
        codes = np.zeros_like(codes)
    # Sorted, so that the same items in another order give the same bits.
    parts = sorted((np.sort(array[codes == code]) for code in range(codes.max() + 1)), key=lambda part: part.tolist())
    if all(np.ptp(part) <= 1e-12 * np.abs(array).max() for part in parts):
        each = f"all {items} {noun} have" if len(parts) == 1 else f"within each of {len(parts)} groups all {noun} have"
        note = f"{each} the same value: resampling them gives no interval"
        return Estimate("mean", value, items, level=level, note=note)
    low, high = _bca([(part - value) / spread for part in parts], seed, resamples, level)
    if not low <= high:
        note = f"no interval: {resamples} resamples are too few or too one-sided for BCa"
        return Estimate("mean", value, items, level=level, note=note)
    within = f"{noun} within {len(parts)} groups" if len(parts) > 1 else noun
    how = bootstrap_name(items, resamples, seed, within, kind="BCa")
    note = few_clusters(items, noun)
    return Estimate("mean", value, items, value + spread * low, value + spread * high, level, how=how, note=note)


def _bca(parts: list[Array], seed: Seed, resamples: int, level: float) -> tuple[float, float]:
    """BCa interval of the mean over all parts, each resampled by itself, of numbers with mean 0 and range 1; NaN where
    it cannot be computed.

    BCa counts the resamples below, at and above the mean, so that a mean equal but for rounding has to be equal.
    """
    items = sum(map(len, parts))
    shares = [len(part) / items for part in parts]

    def mean(*samples: Array, axis: int) -> Array:
        weighed = (share * sample.mean(axis=axis) for share, sample in zip(shares, samples, strict=True))
        return np.asarray(np.round(sum(weighed), 9))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # when all resamples lie on one side of the mean; the interval is NaN then
        found = stats.bootstrap(
            parts,
            mean,
            n_resamples=resamples,
            batch=max(1, _CHUNK // items),
            vectorized=True,
            paired=False,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return float(found.low), float(found.high)


# Differences ------------------------------------------------------------------------------------------------


def paired_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean credit of `a` minus that of `b`, the same items under two models, with an interval.

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
    half = float(stats.norm.ppf((1 + level) / 2) * np.sqrt((up + down - centre**2) / items))
    return max(-1.0, centre - half), min(1.0, centre + half), "Bonett-Price adjusted Wald", ""


def _t_interval(gain: Array, level: float) -> tuple[float, float, str, str]:
    if len(gain) < 2 or not np.ptp(gain):
        return np.nan, np.nan, "", "all differences are equal: their spread gives no interval"
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    half = float(stats.t.ppf((1 + level) / 2, len(gain) - 1) * error)
    mean = float(gain.mean())
    return max(-1.0, mean - half), min(1.0, mean + half), "t interval on the differences (ties present)", ""


def independent_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean credit of `a` minus that of `b`, two disjoint sets of items, with an interval and a test.

    Interval: hybrid of two Wilson intervals (Newcombe 1998, Stat. Med. 17:873–890, method 10). p: Fisher's
    exact test, or Welch's t test when there are ties. Raises DataError for credits other than 0, ½ or 1.
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
    return Estimate(
        "accuracy difference",
        x - y,
        items,
        max(-1.0, low),
        min(1.0, high),
        level,
        how="Newcombe hybrid score",
        p=p,
        test=test,
        note=note,
    )


def _fisher(first: Array, second: Array) -> tuple[float, str, str]:
    table = np.array([[int(side.sum()), len(side) - int(side.sum())] for side in (first, second)])
    return min(1.0, float(stats.fisher_exact(table).pvalue)), "Fisher exact", ""


def _welch(first: Array, second: Array) -> tuple[float, str, str]:
    m, n = len(first), len(second)
    if min(m, n) < 2:
        return np.nan, "", "no test: a side has only one item"
    if not (np.ptp(first) or np.ptp(second)):
        return np.nan, "", "no test: the credits do not vary within either side"
    # From the moments, which is silent when one side does not vary.
    spread, other = float(first.std(ddof=1)), float(second.std(ddof=1))
    found = stats.ttest_ind_from_stats(first.mean(), spread, m, second.mean(), other, n, equal_var=False)
    return float(found.pvalue), "Welch t", ""
