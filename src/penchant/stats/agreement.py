"""Agreement between raters: chance-corrected (Krippendorff's α) and raw (the proportion of agreeing pairs)."""

# The package `krippendorff` is not used: its GPL is incompatible with penchant's Apache licence.

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from penchant.errors import DataError, MethodError, one_of
from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters, percentile, percentile_bootstrap, resampled
from penchant.stats.inputs import (
    Array,
    Counts,
    Seed,
    as_counts,
    as_values,
    check_level,
    check_resamples,
)
from penchant.stats.intervals import clustered_mean
from penchant.wording.phrases import Note

Scale = Literal["ordinal", "interval", "nominal"]
TENTATIVE, RELIABLE = 0.667, 0.8
"""The smallest α for tentative conclusions, and for reliable data, recommended by Krippendorff (2019)."""
ENOUGH = 100
"""The smallest number of units at which percentile intervals for nominal or interval α cover as often as stated."""
_ROUGH = Note("rough-alpha", would_do=ENOUGH)


def krippendorff_alpha(
    counts: ArrayLike,
    *,
    domain: ArrayLike,
    scale: Scale = "ordinal",
    seed: Seed,
    resamples: int = 1_000,
    level: float = 0.95,
) -> Estimate:
    """Return Krippendorff's α (2019, Content Analysis, 4th ed., ch. 12) with a bootstrap confidence interval.

    `counts[u, v]` is the number of raters who gave unit u the value `domain[v]`. `domain` contains the values in
    ascending order; the nominal scale uses only their identity, the ordinal scale only their order. Units with fewer
    than two ratings carry no information on agreement; they are left out, counted in a note, and not included in `n`.
    The interval is the percentile bootstrap over the remaining units (Zapf et al. 2016, BMC Med. Res. Methodol. 16:93);
    α is undefined for resamples whose ratings are all equal, which are left out and counted in a note. Raises DataError
    if the counts are not non-negative integers with one column per value, or if the domain does not ascend; MethodError
    for an unknown scale.
    """
    check_level(level)
    check_resamples(resamples)
    table, values = _checked(counts, domain, scale)

    def alphas(times_drawn: Counts, rows: Array) -> Array:
        return _alphas(np.tensordot(times_drawn.astype(np.float64), _coincidences(rows), axes=1), values, scale)

    pairable = table[table.sum(axis=1) > 1].astype(np.float64)
    estimate = Estimate(f"Krippendorff's alpha ({scale})", np.nan, len(pairable), level=level)
    caution = _ROUGH if scale == "nominal" else None
    return _with_interval(estimate, alphas, pairable, len(table), seed=seed, resamples=resamples, caution=caution)


def raw_agreement(counts: ArrayLike, *, level: float = 0.95, noun: str = "units") -> Estimate:
    """Return the proportion of pairs of raters who gave a unit the same answer, averaged over units.

    This is P̄ of Fleiss (1971, Psychol. Bull. 76:378), with a confidence interval over units. `counts[u, v]` is the
    number of raters who gave unit u the answer v. Units with fewer than two ratings are left out and counted in a note.
    The proportion is not corrected for chance; unlike α, it is high whenever nearly all answers are the same (Feinstein
    & Cicchetti 1990, J. Clin. Epidemiol. 43:543).
    """
    table = as_counts(counts, dimensions=2).astype(np.float64)
    pairable = table[table.sum(axis=1) > 1]
    raters = pairable.sum(axis=1)
    shares = (pairable * (pairable - 1)).sum(axis=1) / (raters * (raters - 1))
    estimate = clustered_mean(shares, range(len(shares)), noun=noun, proportion=True, level=level)
    lost = len(table) - len(pairable)
    return replace(estimate, measure="raw agreement").noted(_too_few_ratings(lost, len(table), noun))


def interval_alpha(units: Iterable[ArrayLike], *, seed: Seed, resamples: int = 1_000, level: float = 0.95) -> Estimate:
    """Return Krippendorff's α on the interval scale, given one array of ratings per unit.

    Each array has one value per rater. The computation uses sums of squares instead of a table of counts, which would
    be large for a slider with a hundred points. Raises DataError for NaN.
    """
    check_level(level)
    check_resamples(resamples)
    arrays = [as_values(unit, where="units") for unit in units]
    middle = float(np.mean(np.sort(np.concatenate(arrays)))) if arrays and sum(map(len, arrays)) else 0.0
    rows = [(len(unit), *_sums(np.sort(unit) - middle)) for unit in arrays if len(unit) > 1]
    pairable = np.array(rows, dtype=np.float64).reshape(-1, 4)
    estimate = Estimate("Krippendorff's alpha (interval)", np.nan, len(pairable), level=level)
    return _with_interval(
        estimate, _interval_alphas, pairable, len(arrays), seed=seed, resamples=resamples, caution=_ROUGH
    )


def _sums(values: Array) -> tuple[float, float, float]:
    """Return the sum of a unit's n ratings, the sum of their squares, and D/(n − 1).

    D is the sum of the squared differences between the two ratings of each pair.
    """
    total, squares = float(values.sum()), float((values**2).sum())
    return total, squares, float(len(values) * ((values - values.mean()) ** 2).sum() / (len(values) - 1))


def _interval_alphas(times_drawn: Counts, rows: Array) -> Array:
    n, total, squares, within = (times_drawn.astype(np.float64) @ rows).T
    with np.errstate(divide="ignore", invalid="ignore"):
        between = squares - total**2 / n
        alphas: Array = 1 - (n - 1) * within / (n * between)
    return np.where(between > 1e-12 * squares, alphas, np.nan)


def _with_interval(
    estimate: Estimate,
    alphas: Callable[[Counts, Array], Array],
    pairable: Array,
    units_given: int,
    *,
    seed: Seed,
    resamples: int,
    caution: Note | None = None,
) -> Estimate:
    units, lost = estimate.n, units_given - estimate.n
    if not units:
        return estimate.noted(Note("no-unit-with-two-ratings", of=lost) if lost else Note("no-units"))
    left_out = _too_few_ratings(lost, units_given, "units")
    kinds, times = np.unique(pairable, axis=0, return_counts=True)
    value = float(alphas(times[None], kinds)[0])
    if np.isnan(value):
        return estimate.noted(Note("alpha-undefined"), left_out)
    estimate = replace(estimate, value=value)
    draws = resampled(alphas, pairable, seed=seed, resamples=resamples)
    defined = draws[~np.isnan(draws)]
    missing = resamples - len(defined)
    undefined = Note("resamples-without-alpha", lost=missing, of=resamples) if missing else None
    if not len(defined) or np.ptp(defined) <= 1e-12:
        return estimate.noted(Note("alpha-does-not-vary"), undefined, left_out)
    low, high = percentile(defined, estimate.level)
    method = percentile_bootstrap(units, resamples, seed, noun="units")
    few = few_clusters(units, noun="units") or caution if units < ENOUGH else None
    return replace(estimate, low=low, high=high, method=method).noted(few, undefined, left_out)


def _too_few_ratings(lost: int, total: int, noun: str) -> Note | None:
    return Note("fewer-than-two-ratings", lost=lost, of=total, noun=noun) if lost else None


def _checked(counts: ArrayLike, domain: ArrayLike, scale: str) -> tuple[Counts, Array]:
    if scale not in get_args(Scale):
        raise MethodError(f"unknown scale '{scale}'", hint=one_of(scale, get_args(Scale)))
    table, values = as_counts(counts, dimensions=2), as_values(domain, where="domain")
    if np.any(np.diff(values) <= 0):
        raise DataError(
            "values are not in ascending order", where="domain", hint="sort them and the columns of the counts"
        )
    if table.shape[1] != len(values):
        raise DataError(
            f"got {table.shape[1]} columns for {len(values)} values of the domain, expected one column per value",
            where="counts",
        )
    return table, values


def _coincidences(units: Array) -> Array:
    """Return the coincidence matrices (units, values, values), given the counts of ratings (units, values)."""
    outer = units[:, :, None] * units[:, None, :] - units[:, :, None] * np.eye(units.shape[1], dtype=units.dtype)
    matrices: Array = outer / (units.sum(axis=1) - 1)[:, None, None]
    return matrices


def _alphas(coincidences: Array, domain: Array, scale: Scale) -> Array:
    """Return α for each coincidence matrix (resamples, values, values); NaN if all ratings are equal."""
    totals = coincidences.sum(axis=2)
    if scale == "nominal":
        squares = np.broadcast_to(1.0 - np.eye(len(domain)), coincidences.shape)
    elif scale == "interval":
        squares = np.broadcast_to((domain[:, None] - domain[None, :]) ** 2, coincidences.shape)
    else:  # the number of values between c and k, counting half of each end
        middles = np.cumsum(totals, axis=1) - totals / 2
        squares = (middles[:, :, None] - middles[:, None, :]) ** 2
    n = totals.sum(axis=1)
    observed = (coincidences * squares).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * squares).sum(axis=(1, 2)) / (n - 1)
    alphas: Array = np.full(len(n), np.nan)
    several = np.count_nonzero(totals > 0, axis=1) > 1
    alphas[several] = 1 - observed[several] / expected[several]
    return alphas
