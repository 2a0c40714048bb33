"""The step at which repeated readings of the same items change: one change point, its interval and a test.

The readings are credits of the same items at several steps in order, so steps are not independent: whoever is right on
an item at one step mostly is at the next. Items are; so items are resampled and flipped, each with all its steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.inputs import Array, Codes, Counts, check_level, check_resamples
from penchant.stats.intervals import clustered_mean
from penchant.wording.phrases import Method

_BLOCK = 2_000_000
"""Random numbers held at once."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of level. `at` is the number of the first step after it, from 1 on; `low` and `high` bound it. `before`
    and `after` are the mean credits on its two sides; `p` is of no change at any step."""

    at: int
    low: int
    high: int
    before: Estimate
    after: Estimate
    p: float
    method: Method
    test: Method


def change_point(
    credits: ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0, noun: str = "items"
) -> Change:
    """The change point of credits, items × steps, each 0, ½ or 1.

    A function with one step is fitted to the mean credits: of all ways to part the steps in two, the one with the
    largest likelihood of the counts were they binomial; of equally good ones the first. The interval is that of the
    percentile bootstrap over items, each with all its steps, and ends at steps. The test asks whether all steps have
    the same mean: of all ways to part the steps, the largest |Σ items (mean(after) − mean(before))|·(k(K − k))^¾ with k
    of the K steps before, the weighted CUSUM of exponent ¼ (Csörgő & Horváth 1997), against the same with signs flipped
    at random, item by item (Westfall & Young 1993), so that it counts the search and the dependence between steps.
    Flips take gains to be symmetric; those of a single first or last step near the ceiling are not, hence the weight.
    Two-sided. Raises DataError for fewer than two steps, no items or other credits.
    """
    check_level(level)
    check_resamples(resamples)
    table = np.asarray(credits, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        raise DataError(f"expected items × steps, two steps or more, got an array of shape {table.shape}")
    if not np.isin(table, (0.0, 0.5, 1.0)).all():
        raise DataError("a credit is 0, 0.5 or 1")
    patterns, counts = np.unique(table, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    items = len(table)
    (at,) = best_part((counts @ patterns)[None], items)
    drawn = np.concatenate(
        [
            best_part(rng.multinomial(items, counts / items, size) @ patterns, items)
            for size in _blocks(resamples, counts)
        ]
    )
    tail = (1 - level) / 2
    low = min(at, np.quantile(drawn, tail, method="lower"))
    high = max(at, np.quantile(drawn, 1 - tail, method="higher"))

    def mean(part: Array) -> Estimate:
        return clustered_mean(part.mean(1), range(items), level=level, noun=noun, proportion=True)

    return Change(
        int(at),
        int(low),
        int(high),
        mean(table[:, :at]),
        mean(table[:, at:]),
        _flipped(patterns, counts, resamples, rng),
        Method("bootstrap-of-curves", noun=noun, resamples=resamples, seed=seed),
        Method("flipped-cusum", draws=resamples, two_sided=True),
    )


def best_part(sums: Array, items: int) -> Codes:
    """How many steps come before the change in each row of `sums` (sums of credits by step, of so many items): the
    first of those with the largest binomial likelihood."""
    steps = sums.shape[1]
    before = np.cumsum(sums, axis=1)
    sizes = items * np.arange(1, steps)
    left, right = before[:, :-1], before[:, -1:] - before[:, :-1]
    fit = _likelihood(left, sizes) + _likelihood(right, items * steps - sizes)
    # Sums in halves are exact, their logarithms are not: ways that differ in the last bits are equally good.
    slack = 1e-9 * items * steps
    best: Codes = np.argmax(fit >= fit.max(axis=1, keepdims=True) - slack, axis=1) + 1
    return best


def _likelihood(right: Array, of: NDArray[np.intp]) -> Array:
    """The largest logarithm of a binomial likelihood, without its constant."""
    return np.asarray(xlogy(right, right / of) + xlogy(of - right, 1 - right / of), dtype=np.float64)


def _flipped(patterns: Array, counts: Counts, draws: int, rng: np.random.Generator) -> float:
    """The p-value of the test: 1.0 where no item changes."""
    steps = patterns.shape[1]
    before = np.cumsum(patterns, axis=1)[:, :-1]
    sizes = np.arange(1, steps)
    gains = (patterns.sum(1, keepdims=True) - before) / (steps - sizes) - before / sizes
    units = gains * (sizes * (steps - sizes)) ** 0.75
    if not units.any():
        return 1.0
    bound = np.abs(counts @ units).max() - 1e-9
    extreme = 0
    for size in _blocks(draws, counts):
        signs = 2 * rng.binomial(counts, 0.5, (size, len(counts))) - counts
        extreme += int(np.count_nonzero(np.abs(signs @ units).max(1) >= bound))
    return (1 + extreme) / (1 + draws)


def _blocks(rows: int, counts: Counts) -> Iterator[int]:
    """Numbers of rows that sum to `rows`, each small enough to be held."""
    most = max(1, _BLOCK // len(counts))
    for start in range(0, rows, most):
        yield min(most, rows - start)
