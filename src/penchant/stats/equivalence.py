"""The smallest detectable difference of a test, and equivalence within a bound (Schuirmann 1987)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

POWER = 0.8
"""The probability with which the smallest detectable difference is detected."""
_POINTS = 300
"""The number of quantiles that represent the distribution of a standard error."""


def detectable(low: float, high: float, level: float, *, alpha: float | None = None, df: float = math.inf) -> float:
    """Return the smallest difference that a two-sided test with such an interval detects in four cases of five.

    The estimate has a t distribution of `df` degrees of freedom (default: normal), with the standard error implied by
    the width of the interval. The power is that of two independent samples. `alpha`: the level of the test, 1 − `level`
    by default. NaN without an interval.
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
    """Return the detectable difference in estimated standard errors.

    It is x with P((z + x·s)/s' > t) = POWER, where z is normal, s² and s'² are χ²/df, and t is the quantile that leaves
    `tail` above it.
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
    """Return the level of the interval for two one-sided tests, each at the level of a two-sided one: .90 for .95."""
    return 2 * level - 1


def equivalent(low: float, high: float, bound: float) -> bool | None:
    """Return whether an interval of the narrower level shows a difference below `bound`; None without an interval."""
    return None if math.isnan(low) or math.isnan(high) else -bound < low and high < bound
