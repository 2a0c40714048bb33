"""Correlation and regression slope of paired numbers, one pair per unit, with the units as a random sample.

Interval: expanded percentile bootstrap over units (Hesterberg 2015). Test: permutation of the second numbers among the
units, under the null hypothesis that the two numbers are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.records import Estimate
from penchant.stats.bootstrap import CHUNK, expanded_p, expanded_percentile, resampled, resampling, seed_of
from penchant.stats.crossed_judgements import PEARSON, SPEARMAN, midranks, weighted_pearson
from penchant.stats.hypothesis_tests import held_against
from penchant.stats.inputs import Array, Counts, Seed, as_values, check_lengths, check_level, check_resamples
from penchant.wording.phrases import Method, Note, present

SLOPE = "slope"
DIFFERENCE = f"difference of {PEARSON}"
FEWEST = 5
"""The smallest number of units for a correlation or a slope."""
ENOUGH = 30
"""The smallest number of units for an interval without a caution (docs/validity.md)."""
_SAME = 1e-12
"""The relative difference below which numbers are considered equal."""


def correlation(
    x: ArrayLike,
    y: ArrayLike,
    *,
    ranks: bool,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    noun: str = "units",
) -> Estimate:
    """Return Pearson's r of x and y or, with `ranks`, Spearman's ρ, with a confidence interval and a test.

    x and y have one number per unit. Tied ranks are averaged. NaN for fewer than five units, or if x or y is constant.
    Raises DataError for NaN or unequal lengths.
    """
    statistic = _spearman if ranks else _pearson
    return _estimate(SPEARMAN if ranks else PEARSON, statistic, x, y, ranks, seed, resamples, level, noun)


def slope(
    x: ArrayLike,
    y: ArrayLike,
    *,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    noun: str = "units",
) -> Estimate:
    """Return the least-squares slope of y on x, with a confidence interval and the permutation test of `correlation`.

    NaN for fewer than five units, or if x or y is constant. Raises DataError for NaN or unequal lengths.
    """
    return _estimate(SLOPE, _slopes, x, y, False, seed, resamples, level, noun)


def correlation_difference(
    x: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    noun: str = "units",
) -> Estimate:
    """Return Pearson's r of x and `first` minus Pearson's r of x and `second`, with a confidence interval and a test.

    Both correlations are computed from the same resampled units. The test uses the same bootstrap as the interval: p is
    below 1 − `level` if the interval excludes 0. NaN for fewer than five units, or if an array is constant. Raises
    DataError for NaN or unequal lengths.
    """
    check_level(level)
    check_resamples(resamples)
    sides = [as_values(side, where=where) for side, where in ((x, "x"), (first, "first"), (second, "second"))]
    for side in sides[1:]:
        check_lengths(sides[0], side, where=DIFFERENCE)
    n = len(sides[0])
    reason = _none(DIFFERENCE, sides, noun)
    if reason:
        return Estimate(DIFFERENCE, np.nan, n, level=level, notes=(reason,))
    units = np.stack(sides, axis=1)
    units = units[np.lexsort(units.T)]  # so that results do not depend on the order of units
    value = float(_differences(np.ones((1, n), dtype=np.int64), units)[0])
    draws = resampled(_differences, units, seed=seed, resamples=resamples)
    known = draws[~np.isnan(draws)]
    if np.ptp(known) <= _SAME:
        return Estimate(DIFFERENCE, value, n, level=level, notes=(Note("resamples-alike"),))
    low, high = expanded_percentile(known, n, level)
    method = resampling("expanded-bootstrap-of-the", n, resamples, seed, noun, of=DIFFERENCE)
    estimate = Estimate(DIFFERENCE, value, n, low, high, level, method, notes=present(_rough(n, noun)))
    return estimate.tested(expanded_p(known, n), Method("expanded-bootstrap-test", noun=noun))


def _estimate(
    measure: str,
    statistic: Callable[[Counts, Array], Array],
    x: ArrayLike,
    y: ArrayLike,
    ranks: bool,
    seed: Seed,
    resamples: int,
    level: float,
    noun: str,
) -> Estimate:
    check_level(level)
    check_resamples(resamples)
    first, second = as_values(x, where="x"), as_values(y, where="y")
    check_lengths(first, second, where=measure)
    n = len(first)
    reason = _none(measure, (first, second), noun)
    if reason:
        return Estimate(measure, np.nan, n, level=level, notes=(reason,))
    units = np.stack([first, second], axis=1)
    units = units[np.lexsort((second, first))]  # so that results do not depend on the order of units
    value = float(statistic(np.ones((1, n), dtype=np.int64), units)[0])
    p = _permutation_p(units, ranks=ranks, seed=seed, draws=resamples)
    test = Method("permutation", units=n, noun=noun, draws=resamples, seed=seed_of(seed), two_sided=True)
    estimate = Estimate(measure, value, n, level=level).tested(p, test)
    draws = resampled(statistic, units, seed=seed, resamples=resamples)
    known = draws[~np.isnan(draws)]
    lost = len(draws) - len(known)
    undefined = Note("resamples-without", lost=lost, of=resamples, measure=measure) if lost else None
    if np.ptp(known) <= _SAME * np.abs(known).max():
        return estimate.noted(Note("nothing-departs-from-a-line"), undefined)
    low, high = expanded_percentile(known, n, level)
    method = resampling("expanded-bootstrap-of", n, resamples, seed, noun, of=measure)
    return held_against(replace(estimate, low=low, high=high, method=method).noted(_rough(n, noun), undefined), 0)


def _none(measure: str, sides: Sequence[Array], noun: str) -> Note | None:
    if len(sides[0]) < FEWEST:
        return Note("needs-more", measure=measure, least=FEWEST, noun=noun)
    alike = any(np.ptp(side) <= _SAME * np.abs(side).max() for side in sides)
    return Note("numbers-alike", measure=measure, noun=noun) if alike else None


def _rough(n: int, noun: str) -> Note | None:
    return Note("rough-correlation", noun=noun, would_do=ENOUGH) if n < ENOUGH else None


def _differences(counts: Counts, units: Array) -> Array:
    return _pearson(counts, units[:, [0, 1]]) - _pearson(counts, units[:, [0, 2]])


def _pearson(counts: Counts, units: Array) -> Array:
    x, y = (np.broadcast_to(side, counts.shape) for side in units.T)
    return weighted_pearson(x, y, counts.astype(np.float64))


def _spearman(counts: Counts, units: Array) -> Array:
    weights = counts.astype(np.float64)
    x, y = (midranks(np.broadcast_to(side, counts.shape), weights) for side in units.T)
    return weighted_pearson(x, y, weights)


def _slopes(counts: Counts, units: Array) -> Array:
    """Return the slope for each resample; NaN if all drawn units have the same x."""
    weights = counts.astype(np.float64)
    n = weights.sum(axis=1)
    x, y = (units - units.mean(axis=0)).T
    moments = weights @ np.stack([x, y, x * x, x * y], axis=1)
    sum_x, sum_y, squares, products = (moment / n for moment in moments.T)
    variance = squares - sum_x**2
    flat = variance <= _SAME * float((x * x).max())
    return np.where(flat, np.nan, (products - sum_x * sum_y) / np.where(flat, 1.0, variance))


def _permutation_p(units: Array, *, ranks: bool, seed: Seed, draws: int) -> float:
    """Return the two-sided permutation p-value, (1 + extreme)/(1 + draws) (Phipson & Smyth 2010).

    A permutation is extreme if |Σ x·y| of the centred numbers is at least the observed value.
    """
    x, y = (scipy.stats.rankdata(side) if ranks else side for side in units.T)
    x, y = x - x.mean(), y - y.mean()
    bound = abs(float(x @ y)) - _SAME * float(np.abs(x) @ np.abs(y))
    rng = np.random.default_rng(seed)
    extreme, step = 0, max(1, CHUNK // len(x))
    for start in range(0, draws, step):
        shuffled = rng.permuted(np.broadcast_to(y, (min(step, draws - start), len(y))), axis=1)
        extreme += int(np.count_nonzero(np.abs(shuffled @ x) >= bound))
    return (1 + extreme) / (1 + draws)
