"""Differences between two models on the same clusters of StereoSet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from penchant.instruments.comparison import ComparedSide, ScoredComparison
from penchant.instruments.settings import Settings
from penchant.instruments.stereoset.estimates import (
    ALL,
    BIAS_TYPE,
    NOUN,
    OVER_CLUSTERS,
    OVER_TERMS,
    OVERALL,
    Credits,
    credits,
    groups_of,
    parts_of,
    type_family,
)
from penchant.instruments.stereoset.settings import LMS_GAP, SS_GAP, StereoSetSettings
from penchant.records import Estimate
from penchant.stats.intervals import clustered_mean, on_scale, t_mean


def differences(
    a: ComparedSide[StereoSetSettings], b: ComparedSide[StereoSetSettings], unlike: bool
) -> Iterator[Estimate]:
    """Yield the differences a − b in SS and LMS on the same clusters, in percentage points, overall and by bias type.

    There are two means: over terms with a t interval and test, and over clusters with a t interval and test that are
    cluster-robust over terms. Percentages are compared even if the scoring differs (`unlike`).
    """
    theirs = dict(parts_of(b.items))
    for part, items in parts_of(a.items):
        one, other = credits(items, a.how, a.settings.ties), credits(theirs[part], b.how, b.settings.ties)
        everything = np.ones(len(items), dtype=bool)
        groups = [(OVERALL, ALL, everything), *((BIAS_TYPE, *group) for group in groups_of(items, BIAS_TYPE))]
        for scope, group, chosen in groups:
            for each in _of_group(one.only(chosen), other.only(chosen), scope, group, a.settings):
                yield replace(each, by={"part": part, **each.by})


def family(estimate: Estimate) -> str | None:
    """Return the family of tests of a difference, for Holm's correction; None for overall differences."""
    by = estimate.by
    return None if by["scope"] == OVERALL else f"{type_family(estimate)}, {by['part']}, {by['normalise']}"


def _of_group(a: Credits, b: Credits, scope: str, group: str, settings: Settings) -> Iterator[Estimate]:
    for measure, gains in ((SS_GAP, 100 * (a.ss - b.ss)), (LMS_GAP, 100 * (a.lms - b.lms))):
        by_term = [float(gains[a.terms == term].mean()) for term in np.unique(a.terms)]
        over_terms = t_mean(by_term, level=settings.level, noun=NOUN, bounds=(-100, 100), against=0)
        over_clusters = clustered_mean(gains, a.terms.tolist(), level=settings.level, noun=NOUN, against=0)
        for mean, estimate in ((OVER_TERMS, over_terms), (OVER_CLUSTERS, on_scale(over_clusters, -100, 100))):
            yield replace(estimate, measure=measure, by={"scope": scope, "group": group, "mean": mean})


compare = ScoredComparison(StereoSetSettings, ["part", "id"], differences, family)
