"""The smallest difference that a test could have detected, and equivalence within a bound (Schuirmann 1987)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

POWER = 0.8
"""How often the smallest detectable difference would be found."""
_POINTS = 300
"""Quantiles that stand for the distribution of a standard error."""


def detectable(low: float, high: float, level: float, *, alpha: float | None = None, df: float = math.inf) -> float:
    """The smallest difference that a two-sided test with such an interval would find in four cases of five: that of an
    estimate with a t distribution of `df` degrees of freedom (normal by default), whose standard error the width of the
    interval tells. The power is that of two samples, drawn independently.

    `alpha`: the level of the test, 1 − `level` by default. NaN without an interval.
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
    """Return how many estimated standard errors a difference must be large: x with P((z + x·s)/s' > t) = POWER, where z
    is normal, s² and s'² are χ²/df, and t is the quantile that leaves `tail` above it."""
    of_error = np.sqrt(scipy.stats.chi2.ppf((np.arange(_POINTS) + 0.5) / _POINTS, df) / df)
    reached = float(scipy.stats.t.isf(tail, df)) * of_error

    def lacking(size: float) -> float:
        return POWER - float(scipy.special.ndtr(size * of_error[:, None] - reached).mean())

    most = 1.0
    while lacking(most) > 0:
        most *= 2
    return float(scipy.optimize.brentq(lacking, 0, most))


def narrower(level: float) -> float:
    """The level of the interval that decides two one-sided tests, each at the level of a two-sided one: .90 for .95."""
    return 2 * level - 1


def equivalent(low: float, high: float, bound: float) -> bool | None:
    """Whether an interval of the narrower level shows a difference smaller than `bound`; None without an interval."""
    return None if math.isnan(low) or math.isnan(high) else -bound < low and high < bound
