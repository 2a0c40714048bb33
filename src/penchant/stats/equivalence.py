"""What "no difference" means: how large a difference could have been found, and whether a smaller one was shown.

Two one-sided tests at the level α show that a difference is smaller than a bound exactly where the interval of level
1 − 2α lies within ± the bound (Schuirmann 1987), whatever the interval is made of.
"""

from __future__ import annotations

import math

import scipy

POWER = 0.8
"""How often the smallest detectable difference would be found."""


def detectable(low: float, high: float, level: float, *, power: float = POWER) -> float:
    """The smallest difference that a two-sided test with such an interval would find with this power: that of a normal
    estimate, whose standard error the width of the interval tells. NaN without an interval."""
    quantile = float(scipy.special.ndtri((1 + level) / 2))
    return (high - low) / 2 * (1 + float(scipy.special.ndtri(power)) / quantile)


def narrower(level: float) -> float:
    """The level of the interval that decides two one-sided tests, each at the level of a two-sided one: .90 for .95."""
    return 2 * level - 1


def equivalent(low: float, high: float, bound: float) -> bool | None:
    """Whether an interval of the narrower level shows a difference smaller than `bound`; None without an interval."""
    return None if math.isnan(low) or math.isnan(high) else -bound < low and high < bound
