"""Comparison of two models on the same clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.settings import Settings
from penchant.instruments.stereoset.estimates import (
    ALL,
    BIAS_TYPE,
    LMS_GAP,
    NOUN,
    OVERALL,
    SS_GAP,
    Credits,
    credits,
    groups_of,
    parts_of,
    type_family,
)
from penchant.instruments.stereoset.scores import OVER_CLUSTERS, OVER_TERMS
from penchant.instruments.stereoset.settings import StereoSetSettings
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.hypothesis_tests import placed_family, with_holm
from penchant.stats.intervals import clustered_mean, on_scale, t_mean
from penchant.wording.phrases import Note


def compare(a: Result, b: Result) -> pl.DataFrame:
    """SS and LMS of a minus those of b on the same clusters, in percentage points, overall and by bias type, as means
    over target terms and over clusters.

    Over terms: the difference of every term, a t interval and a t test. Over
    clusters: the differences of every cluster, cluster-robust t over terms. Holm's adjustment over bias types. ICAT is
    not compared: its peak lies where neither stereotype nor anti-stereotype is preferred, so a difference of it has two
    causes. Models may be scored by different methods, because preferences are compared, not scores; the note says so.
    Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
    """
    free = {"model", "bos", "dtype", "method", "normalise", "pen-alpha"}
    require_comparable(a, b, free=free, items=["part", "id"])
    one, other = StereoSetSettings.of(a.settings), StereoSetSettings.of(b.settings)
    remark = _methods(a, b)
    comparison = f"{a.signature['model']} − {b.signature['model']}"
    rows: list[tuple[Estimate, Signature]] = []
    mine, theirs = dict(parts_of(a.items)), dict(parts_of(b.items))
    for part in mine:
        for first, second in _shared(one.normalisations(), other.normalisations()):
            how = first if first == second else f"{first} − {second}"
            signature = difference_signature(a, b, normalise=how)
            scored = credits(mine[part], first, one.ties), credits(theirs[part], second, other.ties)
            for estimate in _of_part(mine[part], *scored, one):
                by = {"comparison": comparison, "part": part, **estimate.by, "normalise": how}
                ordered = {key: by[key] for key in ("comparison", "part", "scope", "group", "normalise", "mean")}
                placed = replace(estimate, by=ordered).noted(remark)
                rows.append((placed_family(placed, part, how), signature))
    return summary_table(rows)


def _shared(a: list[str], b: list[str]) -> list[tuple[str, str]]:
    """The normalisations that are compared: those of both; where they share none, the first of each."""
    both = [(how, how) for how in a if how in b]
    return both or [(a[0], b[0])]


def _methods(a: Result, b: Result) -> Note | None:
    """The note on models scored by different methods; None for others."""
    first, second = (result.signature["method"] for result in (a, b))
    return None if first == second else Note("stereoset.scored-differently", first=first, second=second)


def _of_part(items: pl.DataFrame, a: Credits, b: Credits, settings: Settings) -> Iterator[Estimate]:
    yield from _of_group(a, b, OVERALL, ALL, settings)
    by_type = [
        estimate
        for name, chosen in groups_of(items, BIAS_TYPE)
        for estimate in _of_group(a.only(chosen), b.only(chosen), BIAS_TYPE, name, settings)
    ]
    yield from with_holm(by_type, type_family)


def _of_group(a: Credits, b: Credits, scope: str, group: str, settings: Settings) -> Iterator[Estimate]:
    for measure, gains in ((SS_GAP, 100 * (a.ss - b.ss)), (LMS_GAP, 100 * (a.lms - b.lms))):
        by_term = [float(gains[a.terms == term].mean()) for term in np.unique(a.terms)]
        over_terms = t_mean(
            by_term,
            level=settings.level,
            noun=NOUN,
            bounds=(-100, 100),
            against=0,
        )
        over_clusters = clustered_mean(gains, a.terms.tolist(), level=settings.level, noun=NOUN, against=0)
        for mean, estimate in ((OVER_TERMS, over_terms), (OVER_CLUSTERS, on_scale(over_clusters, -100, 100))):
            yield replace(estimate, measure=measure, by={"scope": scope, "group": group, "mean": mean})
