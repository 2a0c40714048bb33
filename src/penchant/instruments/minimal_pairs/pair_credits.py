"""Credits of scored pairs: score differences, their signs, mean credits, and differences between models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.engine.normalisations import FREQUENCY, PREFIXED, normalise
from penchant.instruments.minimal_pairs.fitted_exponents import EXPONENT, FITTED
from penchant.instruments.minimal_pairs.fixed_group_estimates import TYPES, few, holding
from penchant.instruments.minimal_pairs.formats import DIRECTIONS
from penchant.instruments.minimal_pairs.strata_means import fixed_strata_share
from penchant.instruments.settings import Settings
from penchant.records import BaseResult, Estimate
from penchant.stats.hypothesis_tests import binomial, held_against, mcnemar, sign_flip
from penchant.stats.intervals import accuracy, clustered_mean, on_scale, paired_difference
from penchant.wording.phrases import Method

Credits = NDArray[np.float64]
STEREOTYPE = "stereotype score"
"""Name of the measure for stereotype data sets."""
UNIGRAMS, UNSEEN = "unigrams", "unseen"
"""Stems of column names, as in `unigrams_good`: unigram log-probability of scored tokens, number of unseen tokens."""
NEUTRAL = "neutral"
"""Stem of column names, as in `neutral_good`: score of the same tokens after the neutral text instead of the prefix."""
TIE = "tie"
"""Column of the items that contains the credit of a tie, if it is not one half."""
HALF = 0.5
"""Accuracy of a model without a preference."""
ALL = "all"
"""Name of the split, and of the group, that contains all pairs."""


def deltas(items: pl.DataFrame, how: str) -> NDArray[np.float64]:
    """Return score(acceptable) − score(unacceptable) of each pair under a normalisation."""
    sides = []
    for role in ("good", "bad"):
        score = items[f"score_{role}"].to_numpy()
        n = items[f"n_tokens_{role}"].to_numpy()
        if how == FITTED:
            sides.append(score / n ** items[EXPONENT].to_numpy())
            continue
        unigrams = items[f"{UNIGRAMS}_{role}"].to_numpy() if how in FREQUENCY else None
        neutral = items[f"{NEUTRAL}_{role}"].to_numpy() if how in PREFIXED else None
        sides.append(normalise(score, n, how, unigrams=unigrams, neutral=neutral))
    difference: NDArray[np.float64] = sides[0] - sides[1]
    return difference


def preferences(items: pl.DataFrame, how: str) -> Credits:
    """Return 1 for each pair whose acceptable sentence has the higher (unrounded) score, ½ for a tie, 0 otherwise."""
    values: Credits = (np.sign(deltas(items, how)) + 1) / 2
    return values


def credits(items: pl.DataFrame, how: str) -> Credits:
    """Return the credit of each pair: its preference, or for a tie the value in the column `TIE`, if present."""
    values = preferences(items, how)
    if TIE not in items.columns:
        return values
    counted_as: Credits = np.where(values == HALF, items[TIE].to_numpy(), values)
    return counted_as


def clusters(part: pl.DataFrame) -> tuple[list[str], str]:
    """Return the cluster of each pair and the plural noun for clusters: paradigms, or bias types for stereotypes."""
    by_type = len(part) > 0 and of_stereotypes(part, part["dataset"][0])
    return part["phenomenon" if by_type else "group"].to_list(), TYPES if by_type else "paradigms"


def pair_of(dataset: str, result: BaseResult) -> tuple[str, str]:
    """Return the names of the sentences A and U in a data set, such as acceptable and unacceptable."""
    if not of_stereotypes(result.items, dataset):
        return "acceptable", "unacceptable"
    more, less = "more stereotypical", "less stereotypical"
    return (less, more) if result.signature["acceptable"] == "sent_less" else (more, less)


def mean_credit(
    credit: Credits, labels: list[str], noun: str, level: float, *, against: float | None = None
) -> Estimate:
    """Return the mean credit over pairs in clusters, with an interval and, if `against` is a number, a test.

    For one cluster, they are Wilson's interval and the binomial test (mid-p); for several, a cluster-robust t interval
    and test. If there are few clusters, the interval is at least as wide as the interval for exactly these clusters. If
    `against` is one half, the binomial test excludes ties (sign test).
    """
    if len(set(labels)) > 1:
        over = clustered_mean(credit, labels, level=level, noun=noun, proportion=True, against=against)
        if not few(labels):
            return over
        within = fixed_strata_share(credit, labels, against=HALF if against is None else against, level=level)
        return holding(over, within if against is not None else replace(within, test=None), labels, noun)
    estimate = accuracy(credit, level=level)
    if against is None or not len(credit):
        return estimate
    untied = credit[credit != HALF] if against == HALF else credit
    p = binomial(untied, against)
    if np.isnan(p):
        return estimate
    test = Method("binomial" if len(untied) == len(credit) else "binomial-untied")
    return held_against(estimate.tested(p, test), against)


def stereotyped(frame: pl.DataFrame) -> list[str]:
    """Return the names of the stereotype data sets in a table of items, estimates or differences.

    The groups of such a data set are directions, that is, "stereo" and "antistereo".
    """
    of_items = "measure" not in frame.columns
    if not of_items and (scores := frame.filter(pl.col("measure").str.starts_with(STEREOTYPE))).height:
        return scores["dataset"].unique(maintain_order=True).to_list()
    rows = frame if of_items else frame.filter(pl.col("scope") == "group")
    named = rows.group_by("dataset", maintain_order=True).agg(pl.col("group").is_in(DIRECTIONS).all().alias("of them"))
    return named.filter("of them")["dataset"].to_list()


def of_stereotypes(frame: pl.DataFrame, name: str) -> bool:
    """Return whether the data set `name` in a table of items, estimates or differences consists of stereotype pairs."""
    return name in stereotyped(frame)


def paired(a: Credits, b: Credits, settings: Settings) -> Estimate:
    """Return the mean credit of `a` minus the mean credit of `b` within one group of pairs.

    The interval is Bonett and Price's and the test is McNemar's mid-p; with ties, a paired t interval and a sign-flip
    test.
    """
    tied = bool(((a == HALF) | (b == HALF)).any())
    p = sign_flip(a - b, seed=settings.seed, draws=settings.resamples) if tied else mcnemar(a, b)
    estimate = paired_difference(a, b, level=settings.level)
    return held_against(estimate.tested(p, Method("sign-flip" if tied else "mcnemar")), 0)


def paired_over(a: Credits, b: Credits, strata: Sequence[str], noun: str, settings: Settings) -> Estimate:
    """Return the mean credit of `a` minus the mean credit of `b` over several clusters, treated as a sample.

    The interval and the test are cluster-robust t. If there are few clusters, the interval is at least as wide as the
    interval for exactly these clusters.
    """
    if len(set(strata)) < 2:
        return paired(a, b, settings)
    total = clustered_mean(a - b, strata, level=settings.level, noun=noun, against=0)
    return on_scale(holding(total, paired(a, b, settings), strata, noun), -1, 1)
