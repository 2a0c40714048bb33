"""Comparison of two models on the same sentences of Winogender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.wino.gender_estimates import (
    MEAN,
    OCCUPATIONS,
    PEARSON,
    SLOPE,
    STEP,
    by_occupation,
    family,
    mean,
    paired,
    preferences,
    women,
)
from penchant.instruments.wino.scoring import FREE
from penchant.instruments.wino.settings import WinogenderSettings
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.correlations import correlation_difference, slope
from penchant.stats.hypothesis_tests import with_holm
from penchant.wording.phrases import Note, present

MEAN_DIFFERENCE, SLOPE_DIFFERENCE, PEARSON_DIFFERENCE = (
    f"difference of {measure}" for measure in (MEAN, SLOPE, PEARSON)
)


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Means, slopes and correlations of a minus those of b, from the differences of their scores sentence by sentence,
    over all sentences and their parts.

    Models may be scored by different methods: then only correlations, which have no units, are compared. Holm's
    families are the parts other than all sentences, of each measure and statistic. Raises StudyError for results that
    cannot be compared, naming the part of the signature that differs.
    """
    require_comparable(a, b, free=FREE, items=["id", "female", "male", "neutral"])
    first, second = (WinogenderSettings.of(result.settings) for result in (a, b))
    pair = f"{a.signature['model']} − {b.signature['model']}"
    rows: list[tuple[Estimate, Signature]] = []
    for how in (how for how in first.normalisations() if how in second.normalisations()):
        found = (
            replace(each, by={"comparison": pair, **each.by, "normalise": how})
            for each in _differences(a, b, how, first)
        )
        signature = difference_signature(a, b, normalise=how)
        rows += [(each, signature) for each in with_holm(found, family)]
    return summary_table(rows)


def _differences(a: Result, b: Result, how: str, probe: WinogenderSettings) -> Iterator[Estimate]:
    methods = [result.signature["method"] for result in (a, b)]
    differ = methods[0] != methods[1]
    remark = Note("wino.scored-differently", first=methods[0], second=methods[1]) if differ else None
    settings = {"seed": probe.seed, "resamples": probe.resamples}
    each = [preferences(result.items, how) for result in (a, b)]
    gap, *sides = (by_occupation(a.items, values) for values in (each[0] - each[1], *each))
    for part, frame in gap.items():
        if not remark:
            yield replace(
                mean(frame["mean"].to_numpy(), probe), measure=MEAN_DIFFERENCE, by={"part": part, "share": ""}
            )
        for share in probe.shares:
            known = women(a.items, share)
            x, y, lost = paired(frame, known)
            notes = present(remark, Note("wino.no-such-share", lost=lost) if lost else None)
            by = {"part": part, "share": share}
            if not remark:
                found = slope(x / STEP, y, level=probe.level, noun=OCCUPATIONS, **settings)
                yield replace(found, measure=SLOPE_DIFFERENCE, by=by).noted(*notes, first=True)
            first, second = (paired(side[part], known)[1] for side in sides)
            found = correlation_difference(x, first, second, level=probe.level, noun=OCCUPATIONS, **settings)
            yield replace(found, measure=PEARSON_DIFFERENCE, by=by).noted(*notes, first=True)
