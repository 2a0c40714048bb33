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
from penchant.stats.weighted import effective_n, mean_variance
from penchant.wording.phrases import Method, Note


def crossed_difference(
    ratings: Array,
    answers: Array,
    *,
    shared: float,
    calibrated: int,
    level: float,
    scale: tuple[float, float],
    weights: Array | None = None,
) -> Estimate:
    """Mean rating minus people's mean with a t interval and its test of 0.

    `ratings`: one an item, (items,); `answers`: (people, items), none missing; `shared`: the variance of the mean
    rating that comes from a calibration on `calibrated` units; `scale`: the ends of the scale of ratings and answers.
    No mean rating lies beyond them, so that the interval ends where they lie from people's mean; from its own interval,
    that is (t, over items and people), because people's mean is an estimate too: cut at the ends' distance from the
    estimate itself, intervals of ratings near an end hold the truth in 52 to 97 of 100 cases for 95. `weights` of
    people, (people,), None where everybody counts once; they then count as Kish's effective number of people.
    """
    check_level(level)
    people, n = answers.shape
    counting = np.ones(people) if weights is None else weights
    means = _item_means(answers, weights)
    gaps = ratings - means
    estimate = Estimate("", float(np.sort(gaps).mean()), n, level=level)
    if n < 2 or people < 2:
        return estimate.noted(Note("one-of-crossed", noun="statements" if n < 2 else "respondents"))
    parts = np.array([gaps.var(ddof=1) / n, mean_variance(answers.mean(axis=1), counting), shared])
    error = float(np.sqrt(parts.sum()))
    if not error > 1e-12 * (scale[1] - scale[0]):
        return estimate.noted(Note("nothing-varies-no-test"))
    df = min(n, people) - 1 if weights is None else max(1, min(n, int(effective_n(weights))) - 1)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, df)) * error
    least, most = _possible(answers, counting, means, scale, df, level)
    low, high = max(least, estimate.value - reach), min(most, estimate.value + reach)
    ends = low == least or high == most
    p = float(2 * scipy.stats.t.sf(abs(estimate.value) / error, df))
    noun = "respondents" if weights is None else "weighted respondents"
    method = Method("t-crossed", df=df, statements=n, people=people, noun=noun, neutral=calibrated)
    found = Estimate("", estimate.value, n, low, high, level, method)
    return found.tested(p, Method("t-test-same-errors", two_sided=True)).noted(Note("ends-of-survey") if ends else None)


def _item_means(answers: Array, weights: Array | None) -> Array:
    """People's mean answer to each item."""
    means: Array = answers.mean(axis=0) if weights is None else weights @ answers / weights.sum()
    return means


def _possible(
    answers: Array, weights: Array, means: Array, scale: tuple[float, float], df: int, level: float
) -> tuple[float, float]:
    """The least and the largest difference of a mean on the scale from people's mean, wherever that lies in its
    interval."""
    error = np.sqrt(mean_variance(answers.mean(axis=1), weights) + means.var(ddof=1) / len(means))
    half = float(scipy.stats.t.ppf((1 + level) / 2, df) * error)
    mean = float(np.sort(means).mean())
    low, high = max(scale[0], mean - half), min(scale[1], mean + half)
    return scale[0] - high, scale[1] - low
