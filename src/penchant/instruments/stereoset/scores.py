"""ICAT, which joins SS and LMS in one number, with its interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.settings import Settings
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_percentile, few_clusters, resampled, resampling
from penchant.wording.phrases import Method, Note

Array = NDArray[np.float64]
OVER_TERMS, OVER_CLUSTERS = "over terms", "over clusters"
"""What a mean is over: as published, target terms count alike; or clusters do."""


def ideal(ss: Array | float, lms: Array | float) -> Array:
    """ICAT of SS and LMS, all in percent: LMS · min(SS, 100 − SS)/50 (Nadeem et al. 2021)."""
    result: Array = np.asarray(lms * np.minimum(ss, 100 - np.asarray(ss)) / 50, dtype=np.float64)
    return result


def term_units(ss: Array, lms: Array, terms: NDArray[np.str_], mean: str) -> Array:
    """One row a target term, (terms, 3), whose column sums divided by that of the last are SS and LMS from 0 to 1: the
    sums over a term's clusters and their number, or the means and 1."""
    rows = np.array([(ss[terms == t].sum(), lms[terms == t].sum(), (terms == t).sum()) for t in np.unique(terms)])
    return rows / rows[:, 2:] if mean == OVER_TERMS else rows


def _statistic(sums: Array) -> Array:
    return ideal(100 * sums[..., 0] / sums[..., 2], 100 * sums[..., 1] / sums[..., 2])


def icat(ss: Estimate, lms: Estimate, units: Array, n: int, noun: str, settings: Settings) -> Estimate:
    """ICAT with an interval from resampled units, rows of `term_units` that `noun` calls; `n` is what it is over.

    ICAT has its peak at SS = 50, where it is LMS, and resamples that scatter around the peak all lie below it: their
    percentiles held the truth in three of four simulations. So the upper end is that of LMS where the interval of SS
    holds 50 (docs/validity.md).
    """
    value = float(_statistic(np.sort(units, axis=0).sum(axis=0)))
    estimate = Estimate("ICAT", value, n, level=settings.level)
    if len(units) < 2:
        return estimate.noted(Note("one-of-clusters", noun=noun))
    draws = resampled(
        lambda counts, rows: _statistic(counts @ rows), units, seed=settings.seed, resamples=settings.resamples
    )
    if np.ptp(draws) <= 1e-9:
        return estimate.noted(Note("stereoset.scores-alike", all=len(units), noun=noun))
    low, high = expanded_percentile(draws, len(units), settings.level)
    method = resampling("expanded-bootstrap", len(units), settings.resamples, settings.seed, noun)
    if ss.low <= 50 <= ss.high and not np.isnan(lms.high):
        high, method = max(high, lms.high), Method("stereoset.icat", within=method)
    return replace(estimate, low=low, high=high, method=method).noted(few_clusters(len(units), noun))
