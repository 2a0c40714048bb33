"""Agreement of raters: corrected for chance (Krippendorff's α) and raw, as a share."""

# The package `krippendorff` is not used: its GPL is incompatible with penchant's Apache licence.

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from penchant.errors import DataError, MethodError
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
"""The α from which Krippendorff (2019) draws tentative conclusions, and from which he relies on the data."""
ENOUGH = 100
"""The number of units from which percentile intervals of nominal and interval α reach their level (simulated)."""
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
    """Return Krippendorff's α (2019, Content Analysis, 4th ed., ch. 12), with a bootstrap interval.

    `counts[u, v]`: the number of raters who gave unit u the value `domain[v]`. `domain`: ascending numbers, of which
    the nominal and the ordinal scale use only the identity and the order. Units with fewer than two ratings carry no
    information on agreement; they are left out, counted in `note`, and not part of `n`. Interval: percentile bootstrap
    over the other units (Zapf et al. 2016, BMC Med. Res. Methodol. 16:93); resamples whose ratings are all equal have
    no α and are left out and counted in `note`. Raises DataError for counts that are not integers of 0 or more, one
    column per value, or a domain that does not ascend; MethodError for an unknown scale.
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
    """Return the share of pairs of raters of a unit that gave the same answer, averaged over units.

    This is P̄ of Fleiss (1971, Psychol. Bull. 76:378), with an interval over units. `counts[u, v]`: the number of
    raters who gave unit u the answer v. Units with fewer than two are left out and counted in `note`. Chance is not
    corrected for: if nearly all answers are the same, the share is high whatever raters do, and α, which corrects for
    chance, is low or undefined (Feinstein & Cicchetti 1990, J. Clin. Epidemiol. 43:543).
    """
    table = as_counts(counts, dimensions=2).astype(np.float64)
    pairable = table[table.sum(axis=1) > 1]
    raters = pairable.sum(axis=1)
    shares = (pairable * (pairable - 1)).sum(axis=1) / (raters * (raters - 1))
    estimate = clustered_mean(shares, range(len(shares)), noun=noun, proportion=True, level=level)
    lost = len(table) - len(pairable)
    return replace(estimate, measure="raw agreement").noted(_too_few_ratings(lost, len(table), noun))


def interval_alpha(units: Iterable[ArrayLike], *, seed: Seed, resamples: int = 1_000, level: float = 0.95) -> Estimate:
    """Return Krippendorff's α on the interval scale, from one array of values per unit, one value per rater.

    Squared differences of all pairs are computed from sums of squares, so that no table of values is needed; for a
    slider with a hundred points it would be large. Raises DataError for NaN.
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
    """Return the sum, the sum of squares, and the squared differences within a unit as they count in α."""
    total, squares = float(values.sum()), float((values**2).sum())
    return total, squares, float(len(values) * ((values - values.mean()) ** 2).sum() / (len(values) - 1))


def _interval_alphas(times_drawn: Counts, rows: Array) -> Array:
    """Return α of every resample of units, from their sums; NaN if all values are equal."""
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
    """Return α of the units with two ratings or more, with the percentile interval over them.

    `caution` is the note for few units.
    """
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
    """Return the note on units that fewer than two raters judged."""
    return Note("fewer-than-two-ratings", lost=lost, of=total, noun=noun) if lost else None


def _checked(counts: ArrayLike, domain: ArrayLike, scale: str) -> tuple[Counts, Array]:
    """Return the counts (units, values) and the domain as checked arrays. Raises DataError or MethodError."""
    if scale not in get_args(Scale):
        raise MethodError(f"there is no scale '{scale}'", hint=f"choose {', '.join(get_args(Scale))}")
    table, values = as_counts(counts, dimensions=2), as_values(domain, where="domain")
    if np.any(np.diff(values) <= 0):
        raise DataError("the values do not ascend", where="domain", hint="sort them, and the columns of the counts")
    if table.shape[1] != len(values):
        raise DataError(f"{table.shape[1]} columns for {len(values)} values of the domain", where="counts")
    return table, values


def _coincidences(units: Array) -> Array:
    """Return the coincidence matrix of every unit, (units, values, values)."""
    outer = units[:, :, None] * units[:, None, :] - units[:, :, None] * np.eye(units.shape[1], dtype=units.dtype)
    matrices: Array = outer / (units.sum(axis=1) - 1)[:, None, None]
    return matrices


def _alphas(coincidences: Array, domain: Array, scale: Scale) -> Array:
    """Return α of each coincidence matrix (resamples, values, values); NaN if all ratings are equal."""
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
