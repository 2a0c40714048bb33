"""Smallest effects that a planned study of a given size could detect."""

from __future__ import annotations

import math

import numpy as np
import scipy

from penchant.stats.equivalence import POWER

_ALPHA = 0.05


def detectable_share(n: int) -> float:
    """Return the smallest probability of success above one half that an exact two-sided sign test of n items detects.

    The level is .05, the power .8. NaN if no probability could be detected.
    """
    fewest = int(scipy.stats.binom.isf(_ALPHA / 2, n, 0.5)) + 1
    if fewest > n:
        return math.nan
    return float(scipy.optimize.brentq(lambda share: scipy.stats.binom.sf(fewest - 1, n, share) - POWER, 0.5, 1))


def detectable_mean(n: int, spread: float) -> float:
    """Return the smallest distance of a mean from its null value that a two-sided t test of n items detects.

    `spread` is the standard deviation between items. The level is .05, the power .8. NaN for fewer than three items.
    """
    if n < 3:
        return math.nan
    reached = float(scipy.stats.t.isf(_ALPHA / 2, n - 1))

    def lacking(errors: float) -> float:
        upper, lower = scipy.stats.nct.sf(reached, n - 1, errors), scipy.stats.nct.cdf(-reached, n - 1, errors)
        return POWER - float(upper + np.nan_to_num(lower))  # SciPy gives NaN for some probabilities near 0

    most = 4.0
    while lacking(most) > 0:
        most *= 2
    return spread / math.sqrt(n) * float(scipy.optimize.brentq(lacking, 0, most))


def detectable_effect_size(n: int) -> float:
    """Return the smallest effect size d of WEAT that its permutation test detects with n targets in two equal lists.

    The test is treated as a t test of two samples, whose mean difference is divided by the standard deviation over all
    targets, so that d is below 2. The level is .05, the power .8. NaN if no permutation could reach the level.
    """
    if 2 / math.comb(n, n // 2) >= _ALPHA:
        return math.nan
    noncentrality = detectable_mean(n - 1, math.sqrt(n - 1))  # n − 2 degrees of freedom
    within = 2 * noncentrality / math.sqrt(n)
    return 2 * within / math.hypot(2, within)
