"""Agreement of raters beyond chance: Krippendorff's α.

Written out here because the package `krippendorff` is under the GPL, which a library under the Apache licence cannot
ask of its users; the tests compare with it, and all resamples at once are faster.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from penchant.errors import DataError, MethodError
from penchant.records import Estimate
from penchant.stats.intervals import (
    Array,
    Seed,
    as_counts,
    as_values,
    bootstrap_name,
    check_level,
    check_resamples,
    few_clusters,
)

Scale = Literal["ordinal", "interval", "nominal"]


def krippendorff_alpha(
    counts: ArrayLike,
    *,
    domain: ArrayLike,
    scale: Scale = "ordinal",
    seed: Seed,
    resamples: int = 1_000,
    level: float = 0.95,
) -> Estimate:
    """Krippendorff's α (Krippendorff 2019, Content Analysis, 4th ed., ch. 12), with a bootstrap interval.

    `counts[u, v]`: how many raters gave unit u the value `domain[v]`. `domain`: ascending numbers; the nominal
    and the ordinal scale take no more from them than that they differ and how they are ordered. Units with
    fewer than two ratings say nothing about agreement; they are left out, counted in `note`, and not part of
    `n`. Interval: percentile bootstrap over the other units (Zapf et al. 2016, BMC Med. Res. Methodol. 16:93);
    resamples without an α, all their ratings being equal, are left out and counted in `note`.
    Raises DataError for counts that are not integers of 0 or more, one column per value, or a domain that does
    not ascend; MethodError for an unknown scale.
    """
    check_level(level)
    check_resamples(resamples)
    if scale not in get_args(Scale):
        raise MethodError(f"there is no scale '{scale}'", hint=f"choose {', '.join(get_args(Scale))}")
    table, values = as_counts(counts, dimensions=2), _as_domain(domain)
    if table.shape[1] != len(values):
        raise DataError(f"{table.shape[1]} columns for {len(values)} values of the domain", where="counts")
    measure = f"Krippendorff's alpha ({scale})"
    pairable = table[table.sum(axis=1) > 1]
    units, lost = len(pairable), len(table) - len(pairable)
    if not units:
        note = f"none of {lost} units has two ratings" if lost else "no units"
        return Estimate(measure, np.nan, 0, level=level, note=note)
    left_out = f"{lost} of {len(table)} units have fewer than two ratings: left out" if lost else ""
    # Units that are equal are interchangeable, so it is enough to draw how often each kind occurs. The kinds are
    # sorted, hence the units' order does not matter.
    kinds, times = np.unique(pairable, axis=0, return_counts=True)
    outer = kinds[:, :, None] * kinds[:, None, :] - kinds[:, :, None] * np.eye(len(values), dtype=kinds.dtype)
    coincidences = outer / (kinds.sum(axis=1) - 1)[:, None, None]
    value = float(_alphas(np.tensordot(times, coincidences, axes=1)[None], values, scale)[0])
    if np.isnan(value):
        note = "all ratings are equal: chance alone would agree, and alpha is undefined"
        return Estimate(measure, np.nan, units, level=level, note=_joined(note, left_out))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(units, times / units, size=resamples)
    alphas = _alphas(np.tensordot(drawn, coincidences, axes=1), values, scale)
    defined = alphas[~np.isnan(alphas)]
    none = resamples - len(defined)
    undefined = f"{none} of {resamples} resamples have equal ratings only, and no alpha: left out" if none else ""
    if not len(defined) or np.ptp(defined) <= 1e-12:
        note = "alpha does not vary between resamples of the units: no interval"
        return Estimate(measure, value, units, level=level, note=_joined(note, undefined, left_out))
    low, high = (float(bound) for bound in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
    how = bootstrap_name(units, resamples, seed, noun="units")
    note = _joined(few_clusters(units, noun="units"), undefined, left_out)
    return Estimate(measure, value, units, low, high, level, how=how, note=note)


def _as_domain(domain: ArrayLike) -> Array:
    values = as_values(domain, where="domain")
    if np.any(np.diff(values) <= 0):
        raise DataError("the values do not ascend", where="domain", hint="sort them, and the columns of the counts")
    return values


def _alphas(coincidences: Array, domain: Array, scale: Scale) -> Array:
    """α of each matrix of coincidences (resamples, values, values); NaN where all ratings are equal."""
    totals = coincidences.sum(axis=2)
    if scale == "nominal":
        squares = np.broadcast_to(1.0 - np.eye(len(domain)), coincidences.shape)
    elif scale == "interval":
        squares = np.broadcast_to((domain[:, None] - domain[None, :]) ** 2, coincidences.shape)
    else:  # values between c and k, half of each end counted
        middles = np.cumsum(totals, axis=1) - totals / 2
        squares = (middles[:, :, None] - middles[:, None, :]) ** 2
    n = totals.sum(axis=1)
    observed = (coincidences * squares).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * squares).sum(axis=(1, 2)) / (n - 1)
    alphas: Array = np.full(len(n), np.nan)
    several = np.count_nonzero(totals > 0, axis=1) > 1
    alphas[several] = 1 - observed[several] / expected[several]
    return alphas


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
