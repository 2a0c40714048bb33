"""Confidence interval for a standard deviation, valid for few, bounded or skewed values."""

from __future__ import annotations

import numpy as np
import scipy

from penchant.stats.inputs import Array
from penchant.wording.phrases import Method

FEW = 5
"""The smallest number of values for an interval; fewer values do not determine the kurtosis."""


def bonett(**over: object) -> Method:
    """Return the description of Bonett's interval; `over` contains the number and noun of units, if any."""
    return Method("bonett-over" if over else "bonett", **over)


def spread_interval(
    values: Array, level: float, noise: float = 0.0, *, about: float | None = None
) -> tuple[float, float]:
    """Return the confidence limits for the standard deviation of the population from which `values` are drawn.

    They are derived from limits for log σ², whose variance depends on the kurtosis of the values (Bonett 2006, Comput.
    Stat. Data Anal. 50:775–782, with the trimmed mean as the centre). `about` is the centre of the spread if it is not
    the mean, such as 0 for residuals of a line through the origin. `noise` is the variance of log s due to measurement
    error, which widens the interval. NaN for fewer than five values or constant values.
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
