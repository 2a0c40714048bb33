"""The difference of a mean over items from people's mean over the same items, where both are samples.

Items and people are crossed: everybody answers every item, and each item is rated once. The error of the difference has
three parts: items (their gaps vary), people (their means vary), and what all ratings share, such as a calibration. Each
is a variance with its own degrees of freedom, and t has the fewer of those of items and people, the cautious choice:
with Satterthwaite's, of 95 % intervals of calibrated ratings of 5 to 20 statements only 91 to 95 of 100 hold the truth.
What varies within people from item to item counts twice, which is little.
"""

from __future__ import annotations

import numpy as np
import scipy

from penchant.records import Estimate
from penchant.stats.inputs import Array, check_level


def crossed_difference(
    ratings: Array, answers: Array, *, shared: float, calibrated: int, level: float, bounds: tuple[float, float]
) -> Estimate:
    """Mean rating minus people's mean with a t interval and its test of 0.

    `ratings`: one an item, (items,); `answers`: (people, items), none missing; `shared`: the variance of the mean
    rating that comes from a calibration on `calibrated` units; `bounds`: the ends of the scale of differences.
    """
    check_level(level)
    people, n = answers.shape
    gaps = ratings - answers.mean(axis=0)
    estimate = Estimate("", float(np.sort(gaps).mean()), n, level=level)
    if n < 2 or people < 2:
        lone = "statement" if n < 2 else "respondent"
        return Estimate("", estimate.value, n, level=level, note=f"one {lone}: no interval over {lone}s, and no test")
    parts = np.array([gaps.var(ddof=1) / n, answers.mean(axis=1).var(ddof=1) / people, shared])
    error = float(np.sqrt(parts.sum()))
    if not error > 1e-12 * (bounds[1] - bounds[0]):
        return Estimate("", estimate.value, n, level=level, note="nothing varies: no interval and no test")
    df = min(n, people) - 1
    reach = float(scipy.stats.t.ppf((1 + level) / 2, df)) * error
    low, high = max(bounds[0], estimate.value - reach), min(bounds[1], estimate.value + reach)
    p = float(2 * scipy.stats.t.sf(abs(estimate.value) / error, df))
    how = (
        f"t interval ({df} df) of the errors of {n} statements, {people} respondents and the calibration on "
        f"{calibrated} neutral statements"
    )
    return Estimate("", estimate.value, n, low, high, level, how=how, p=p, test="t test of the same errors, two-sided")
