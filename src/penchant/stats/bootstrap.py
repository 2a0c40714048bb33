"""Bootstrap: resampling of units, statistics of the resamples, and confidence intervals.

Units are rows: items, cluster totals, or the two sides of pairs. A resample is a vector of counts, the number of times
that each row is drawn, and a statistic is computed for many resamples at once. Sources: Efron & Tibshirani 1993;
Davison & Hinkley 1997.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.stats.inputs import Array, Codes, Counts, Seed, check_resamples
from penchant.wording.phrases import Method, Note

FEW_CLUSTERS = 10
"""The smallest number of units for an interval without a caution."""
FEWEST_BEYOND = 5
"""The smallest number of resamples beyond a value for which their count alone determines the p-value."""
CHUNK = 2_000_000
"""The largest number of array elements in memory at a time while resampling (16 MB)."""

# Drawing ------------------------------------------------------------------------------------------------------------


def resample_counts(
    times: NDArray[np.integer],
    resamples: int,
    rng: np.random.Generator,
    *,
    strata: Codes | None = None,
    paired: bool = False,
) -> Counts:
    """Draw resamples with replacement and return how often each row is drawn, shape (resamples, rows).

    `times` is the number of units that each row represents, (rows,). `strata` contains the stratum of each row, 0, 1,
    …; each resample draws as many units from a stratum as the stratum has. With `paired`, the rows of the strata are
    paired by position and drawn together, so all strata must have the same number of rows.
    """
    counts = np.zeros((resamples, len(times)), dtype=np.int64)
    codes = np.zeros(len(times), dtype=np.intp) if strata is None else strata
    stratum_counts: Counts | None = None
    for stratum in np.unique(codes):
        rows = np.flatnonzero(codes == stratum)
        if stratum_counts is None or not paired:
            n = int(times[rows].sum())
            stratum_counts = rng.multinomial(n, times[rows] / n, size=resamples)
        counts[:, rows] = stratum_counts
    return counts


def resampled(
    statistic: Callable[[Counts, Array], Array], units: Array, *, seed: Seed, resamples: int, pooled: bool = True
) -> Array:
    """Return a statistic for each resample of `units`, shape (resamples, …).

    `units` are rows (n, k). `statistic` takes the counts of a block of b resamples, shape (b, rows), and the rows, and
    returns one value or array per resample, shape (b, …). With `pooled`, equal rows are merged into one row that
    represents several units, and the rows are sorted, so that the order of units does not matter. Raises MethodError if
    `resamples` is not positive.
    """
    check_resamples(resamples)
    rows, times = np.unique(units, axis=0, return_counts=True) if pooled else (units, np.ones(len(units), dtype=int))
    rng = np.random.default_rng(seed)
    step = max(1, CHUNK // len(rows))
    parts = []
    for start in range(0, resamples, step):
        parts.append(statistic(resample_counts(times, min(step, resamples - start), rng), rows))
    return np.concatenate(parts)


# Intervals ----------------------------------------------------------------------------------------------------------


def percentile(draws: Array, level: float) -> tuple[float, float]:
    """Return the limits of the percentile interval, which contains the central `level` of the draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def expanded_percentile(draws: Array, n: int, level: float) -> tuple[float, float]:
    """Return the limits of the expanded percentile interval for n units (Hesterberg 2015, Am. Stat. 69:371–386).

    It is wider than the percentile interval, by the ratio of the t interval to a normal interval whose standard
    deviation has the divisor n. NaN for one unit, or if a draw is NaN.
    """
    if n < 2 or np.isnan(draws).any():
        return np.nan, np.nan
    tail = scipy.stats.norm.cdf(-np.sqrt(n / (n - 1)) * scipy.stats.t.ppf((1 + level) / 2, n - 1))
    bounds = np.quantile(draws, [tail, 1 - tail])
    return float(bounds[0]), float(bounds[1])


def expanded_p(draws: Array, n: int, against: float = 0.0, *, least: float = 0.0) -> float:
    """Return the two-sided p-value for `against`, which is below 1 − level if `expanded_percentile` excludes `against`.

    The observed value is added to the draws (Phipson & Smyth 2010). If fewer than `FEWEST_BEYOND` draws lie beyond
    `against`, they are too few for a small p-value; the p-value of the t test with the standard deviation of the draws
    is then used if it is smaller. `least` is the lower limit of the t test's p-value, for units whose standard
    deviation is unreliable. NaN for one unit, or if a draw is NaN.
    """
    if n < 2 or np.isnan(draws).any():
        return np.nan
    beyond = min(np.count_nonzero(draws >= against), np.count_nonzero(draws <= against))
    p = _by_t(float(scipy.stats.norm.ppf((1 + beyond) / (1 + len(draws)))), n)
    spread = float(np.std(draws)) if np.isfinite(draws).all() else 0.0
    if beyond < FEWEST_BEYOND and spread > 0:
        p = min(p, max(least, _by_t(-abs(float(np.mean(draws)) - against) / spread, n)))
    return min(1.0, p)


def _by_t(deviate: float, n: int) -> float:
    """Return the two-sided t-test p-value for a negative deviation, in bootstrap standard errors (divisor n)."""
    return 2 * float(scipy.stats.t.cdf(np.sqrt((n - 1) / n) * deviate, n - 1))


def percentile_bootstrap(units: int, resamples: int, seed: Seed, noun: str = "clusters") -> Method:
    """Return the description of a percentile bootstrap interval."""
    return resampling("percentile-bootstrap", units, resamples, seed, noun)


def resampling(code: str, units: int, resamples: int, seed: Seed, noun: str, **params: object) -> Method:
    """Return the description of a resampling interval, given the code of its method."""
    return Method(code, **params, units=units, noun=noun, resamples=resamples, seed=seed_of(seed))


def seed_of(seed: Seed) -> int | str:
    """Return the seed for a method's description, or "caller's generator" for a generator."""
    return "caller's generator" if isinstance(seed, np.random.Generator) else int(seed)


def few_clusters(clusters: int, noun: str = "clusters") -> Note | None:
    """Return a note if there are fewer than `FEW_CLUSTERS` clusters, called `noun`; else None."""
    return Note("few-clusters", have=clusters, noun=noun) if clusters < FEW_CLUSTERS else None
