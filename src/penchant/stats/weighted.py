"""Statistics of respondents with survey weights, and the effective number of respondents.

Weights are sampling weights, proportional to the number of people that a respondent represents. Variances are
linearised and assume sampling with replacement (Kish 1965, Survey Sampling; Särndal, Swensson & Wretman 1992, Model
Assisted Survey Sampling, §5.7); clusters and strata of a design are not taken into account. With equal weights all
means, variances and standard errors equal the unweighted ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from penchant.stats.bootstrap import CHUNK, resample_counts
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method


def effective_n(weights: Array) -> float:
    """Return Kish's effective sample size, (Σw)²/Σw²: n if all weights are equal, NaN without weights."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else np.nan


def weighted_mean(values: Array, weights: Array) -> float:
    """Return the weighted mean Σwx/Σw; NaN without values."""
    return float((weights * values).sum() / weights.sum()) if len(values) else np.nan


def mean_variance(values: Array, weights: Array) -> float:
    """Return the variance of the weighted mean x̄, n/(n − 1) · Σw²(x − x̄)²/(Σw)²; NaN for fewer than two values."""
    n = len(values)
    if n < 2:
        return np.nan
    squares = (weights * (values - weighted_mean(values, weights))) ** 2
    return float(n / (n - 1) * squares.sum() / weights.sum() ** 2)


def weighted_sd(values: Array, weights: Array) -> float:
    """Return the weighted standard deviation √(Σw(x − x̄)²/(Σw − Σw²/Σw)); NaN for fewer than two values.

    Its square is an unbiased estimate of σ² if the weights are uninformative.
    """
    if len(values) < 2:
        return np.nan
    squares = float((weights * (values - weighted_mean(values, weights)) ** 2).sum())
    return float((squares / (weights.sum() - (weights**2).sum() / weights.sum())) ** 0.5)


def sd_interval(values: Array, weights: Array, level: float) -> tuple[float, float]:
    """Return the confidence limits for a weighted standard deviation.

    They are derived from the t interval (`effective_n` − 1 df) for log s², with the standard error of the weighted mean
    of (x − x̄)². NaN for an effective number of values below five, or for constant values.
    """
    n, effective = len(values), effective_n(weights)
    sd = weighted_sd(values, weights)
    if n < 5 or effective < 5 or not sd > 1e-12 * float(np.abs(values).max()):
        return np.nan, np.nan
    squares = (values - weighted_mean(values, weights)) ** 2
    error = mean_variance(squares, weights) ** 0.5 / weighted_mean(squares, weights)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, effective - 1)) * error / 2
    return float(sd * np.exp(-reach)), float(sd * np.exp(reach))


def linearised(weights: Array) -> Method:
    """Return the description of the interval for a weighted standard deviation."""
    return Method("weighted-log-sd", units=len(weights), noun="respondents", worth=effective_n(weights))


def weighted_quantile(values: Array, weights: Array, share: float) -> float:
    """Return the smallest value such that at least `share` of the weight lies at or below it; NaN without values."""
    if not len(values):
        return np.nan
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(below, share - 1e-12)), len(values) - 1)])


def weighted_shares(answers: Array, weights: Array, at: float) -> tuple[float, float]:
    """Return the weighted proportions of answers below and above the threshold `at`; NaN answers are ignored."""
    known = ~np.isnan(answers)
    total = weights[known].sum()
    if not total > 0 or np.isnan(at):
        return np.nan, np.nan
    sides = (answers < at, answers > at)
    below, above = (float(weights[known & side].sum() / total) for side in sides)
    return below, above


def drawn_weights(weights: Array, *, resamples: int, rng: np.random.Generator) -> Iterator[tuple[slice, Array]]:
    """Draw respondents with replacement, and yield slices of b resamples with the n respondents' weights, shape (b, n).

    A respondent's weight in a resample is the survey weight times the number of draws.
    """
    n = len(weights)
    step = max(1, CHUNK // max(1, n))
    for start in range(0, resamples, step):
        block = slice(start, min(start + step, resamples))
        counts = resample_counts(np.ones(n, dtype=np.int64), block.stop - start, rng)
        yield block, counts * weights


def drawn_totals(
    table: Array, weights: Array, *, resamples: int, rng: np.random.Generator
) -> list[tuple[Array, Array]]:
    """Return each item's v distinct answers and their total weights in each resample, shape (resamples, v).

    Items are the columns of `table`, with NaN for missing answers. All answers of a respondent are drawn together.
    """
    items = [np.unique(column[~np.isnan(column)]) for column in table.T]
    hits: list[NDArray[np.float64]] = [
        (column[:, None] == values).astype(np.float64) for column, values in zip(table.T, items, strict=True)
    ]
    totals = [np.zeros((resamples, len(values))) for values in items]
    for block, drawn in drawn_weights(weights, resamples=resamples, rng=rng):
        for total, hit in zip(totals, hits, strict=True):
            total[block] = drawn @ hit
    return list(zip(items, totals, strict=True))
