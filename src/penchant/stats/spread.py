"""The interval of a standard deviation that holds where values are few, bounded or skewed."""

from __future__ import annotations

import numpy as np
import scipy

from penchant.stats.inputs import Array
from penchant.wording.phrases import Method

FEW = 5
"""A spread of fewer values than this has no interval: kurtosis cannot be told from them."""


def bonett(**over: object) -> Method:
    """Describe the interval, `over` so many units of a noun where that is said."""
    return Method("bonett-over" if over else "bonett", **over)


def spread_interval(
    values: Array, level: float, noise: float = 0.0, *, about: float | None = None
) -> tuple[float, float]:
    """The interval of the standard deviation of a population that `values` are drawn from; `about` what they spread,
    where that is not their mean, such as 0 for residuals of a line through the origin.

    It is an interval of log σ², whose variance depends on the kurtosis of the values (Bonett 2006, Comput. Stat. Data
    Anal. 50:775–782, with the trimmed mean as the centre). `noise`: the variance of log s that comes from measuring the
    values with error, added to it. NaN for fewer than five values or values that do not vary.
    """
    n, z = len(values), float(scipy.stats.norm.ppf((1 + level) / 2))
    if n < FEW or n <= z:
        return np.nan, np.nan
    squares = float(((values - (values.mean() if about is None else about)) ** 2).sum())
    if not squares > (1e-12 * np.abs(values).max()) ** 2:
        return np.nan, np.nan
    centre = scipy.stats.trim_mean(values, 1 / (2 * max(n - 4, 2) ** 0.5)) if about is None else about
    kurtosis = n * float(((values - centre) ** 4).sum()) / squares**2
    correction = n / (n - z)
    error = (max(0.0, correction**2 * (kurtosis - (n - 3) / n) / (n - 1)) + 4 * noise) ** 0.5
    middle = np.log(correction * squares / (n - 1))
    return float(np.exp((middle - z * error) / 2)), float(np.exp((middle + z * error) / 2))
