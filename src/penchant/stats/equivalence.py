"""Smallest detectable difference of a test, and equivalence within a bound (Schuirmann 1987)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

POWER = 0.8
"""The power at the smallest detectable difference."""
_POINTS = 300
"""The number of quantiles that approximate the distribution of a standard error."""


def detectable(low: float, high: float, level: float, *, alpha: float | None = None, df: float = math.inf) -> float:
    """Return the smallest difference that a two-sided test detects with a power of 0.8, given a confidence interval.

    The estimate has a t distribution with `df` degrees of freedom (default: normal), and its standard error is derived
    from the width of the interval between `low` and `high`, whose confidence level is `level`. The power refers to an
    independent new sample. `alpha` is the level of the test, 1 − `level` by default. NaN if a limit is NaN.
    """
    tail = (1 - level if alpha is None else alpha) / 2
    if math.isinf(df):
        reach = float(scipy.special.ndtri((1 + level) / 2))
        errors = float(scipy.special.ndtri(1 - tail)) + float(scipy.special.ndtri(POWER))
    else:
        reach = float(scipy.stats.t.ppf((1 + level) / 2, df))
        errors = _standard_errors(df, tail)
    return (high - low) / 2 / reach * errors


@lru_cache(maxsize=256)
def _standard_errors(df: float, tail: float) -> float:
    """Return the detectable difference in units of the estimated standard error.

    It is the solution x of P((z + x·s)/s' > t) = POWER, where z is normal, s² and s'² are χ²/df, and t is the quantile
    with upper tail probability `tail`.
    """
    of_error = np.sqrt(scipy.stats.chi2.ppf((np.arange(_POINTS) + 0.5) / _POINTS, df) / df)
    reached = float(scipy.stats.t.isf(tail, df)) * of_error

    def lacking(size: float) -> float:
        return POWER - float(scipy.special.ndtr(size * of_error[:, None] - reached).mean())

    most = 1.0
    while lacking(most) > 0:
        most *= 2
    return float(scipy.optimize.brentq(lacking, 0, most))


def narrower(level: float) -> float:
    """Return the confidence level whose interval corresponds to two one-sided tests (.90 for `level` .95)."""
    return 2 * level - 1


def equivalent(low: float, high: float, bound: float) -> bool | None:
    """Return whether the interval lies within ±`bound`; None if a limit is NaN."""
    return None if math.isnan(low) or math.isnan(high) else -bound < low and high < bound
