"""The bootstrap: draw counts for resampled units, statistics of them, and named intervals.

Units are rows: items, the totals of clusters, or the two sides of pairs. A resample is a vector of counts, how often
each row is drawn, and a statistic is computed for many resamples at once. Sources: Efron & Tibshirani 1993; Davison &
Hinkley 1997.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.stats.inputs import Array, Codes, Counts, Seed, check_resamples
from penchant.wording.phrases import Method, Note

FEW_CLUSTERS = 10
"""The number of units below which an interval is called rough."""
FEWEST_BEYOND = 5
"""The number of resamples beyond a value below which their count is too imprecise for a p-value."""
CHUNK = 2_000_000
"""The number of array elements held at once while resampling (16 MB)."""

# Drawing ------------------------------------------------------------------------------------------------------------


def resample_counts(
    times: NDArray[np.integer],
    resamples: int,
    rng: np.random.Generator,
    *,
    strata: Codes | None = None,
    paired: bool = False,
) -> Counts:
    """Return how often each row is drawn, with replacement, in each resample: (resamples, rows).

    `times`: how many units each row stands for, (rows,). `strata`: the stratum of each row, 0, 1, …; each resample
    draws as many units from a stratum as it has. `paired`: the rows of the strata are paired by position and drawn
    together, so that all strata must have equally many.
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
    """Return a statistic of every resample of some units, (resamples, …).

    `units`: rows (n, k). `statistic` takes the counts of a block of b resamples, (b, rows), and the rows, and returns
    one value or array per resample, (b, …). `pooled`: equal rows are interchangeable, so only the distinct rows are
    drawn, each as often as it occurs; they are sorted, so that the order of units does not matter. Raises MethodError
    when `resamples` is not positive.
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
    """Return the percentile interval: the central share `level` of the resamples."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def expanded_percentile(draws: Array, n: int, level: float) -> tuple[float, float]:
    """Return the percentile interval widened for n resampled units (Hesterberg 2015, Am. Stat. 69:371–386).

    It is wider by the ratio of the t interval to the normal interval with the bootstrap's sd, which divides by n. NaN
    for one unit, or if a resample is NaN.
    """
    if n < 2 or np.isnan(draws).any():
        return np.nan, np.nan
    tail = scipy.stats.norm.cdf(-np.sqrt(n / (n - 1)) * scipy.stats.t.ppf((1 + level) / 2, n - 1))
    bounds = np.quantile(draws, [tail, 1 - tail])
    return float(bounds[0]), float(bounds[1])


def expanded_p(draws: Array, n: int, against: float = 0.0, *, least: float = 0.0) -> float:
    """Return the two-sided p-value for the value `against`; it is below 1 − level if `expanded_percentile` excludes it.

    The observed value counts as one of the draws (Phipson & Smyth 2010). Fewer than `FEWEST_BEYOND` draws beyond
    `against` cannot show how far away it is: with five units and 10,000 draws, a counted p is never below .029, however
    clear the difference. In this case the p of the t test with the draws' sd is used if it is smaller. `least`: the
    lower limit of that p, for units whose sd is unreliable. NaN for one unit, or if a resample is NaN.
    """
    if n < 2 or np.isnan(draws).any():
        return np.nan
    beyond = min(np.count_nonzero(draws >= against), np.count_nonzero(draws <= against))
    p = _by_t(float(scipy.stats.norm.ppf((1 + beyond) / (1 + len(draws)))), n)
    spread = float(np.std(draws))
    if beyond < FEWEST_BEYOND and spread > 0:
        p = min(p, max(least, _by_t(-abs(float(np.mean(draws)) - against) / spread, n)))
    return min(1.0, p)


def _by_t(deviate: float, n: int) -> float:
    """Return the two-sided p of a deviate of a mean's resamples over n units, whose sd divides by n."""
    return 2 * float(scipy.stats.t.cdf(np.sqrt((n - 1) / n) * deviate, n - 1))


def percentile_bootstrap(units: int, resamples: int, seed: Seed, noun: str = "clusters") -> Method:
    """Describe a percentile bootstrap interval."""
    return resampling("percentile-bootstrap", units, resamples, seed, noun)


def resampling(code: str, units: int, resamples: int, seed: Seed, noun: str, **params: object) -> Method:
    """Describe an interval by any method that resamples units."""
    return Method(code, **params, units=units, noun=noun, resamples=resamples, seed=seed_of(seed))


def seed_of(seed: Seed) -> int | str:
    """Return the seed for the description of a method, or a phrase for a caller's generator."""
    return "caller's generator" if isinstance(seed, np.random.Generator) else int(seed)


def few_clusters(clusters: int, noun: str = "clusters") -> Note | None:
    """Return the note on an interval from few units, or None."""
    return Note("few-clusters", have=clusters, noun=noun) if clusters < FEW_CLUSTERS else None
