"""The differences between two models on the same sentences of Winogender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penchant.instruments.comparison import Scored, ScoredComparison
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
from penchant.instruments.wino.settings import WinogenderSettings
from penchant.records import Estimate
from penchant.stats.correlations import correlation_difference, slope
from penchant.wording.phrases import Note

MEAN_DIFFERENCE, SLOPE_DIFFERENCE, PEARSON_DIFFERENCE = (
    f"difference of {measure}" for measure in (MEAN, SLOPE, PEARSON)
)


def differences(a: Scored[WinogenderSettings], b: Scored[WinogenderSettings], unlike: bool) -> Iterator[Estimate]:
    """Yield means, slopes and correlations of a minus those of b, from the differences of their scores sentence by
    sentence, over all sentences and their parts; of scores of different methods only correlations, which have no
    units."""
    probe = a.settings
    settings = {"seed": probe.seed, "resamples": probe.resamples}
    each = [preferences(side.items, side.how) for side in (a, b)]
    gap, *sides = (by_occupation(a.items, values) for values in (each[0] - each[1], *each))
    for part, frame in gap.items():
        if not unlike:
            found = mean(frame["mean"].to_numpy(), probe)
            yield replace(found, measure=MEAN_DIFFERENCE, by={"part": part, "share": ""})
        for share in probe.shares:
            known = women(a.items, share)
            x, y, lost = paired(frame, known)
            note = Note("wino.no-such-share", lost=lost) if lost else None
            by = {"part": part, "share": share}
            if not unlike:
                found = slope(x / STEP, y, level=probe.level, noun=OCCUPATIONS, **settings)
                yield replace(found, measure=SLOPE_DIFFERENCE, by=by).noted(note, first=True)
            first, second = (paired(side[part], known)[1] for side in sides)
            found = correlation_difference(x, first, second, level=probe.level, noun=OCCUPATIONS, **settings)
            yield replace(found, measure=PEARSON_DIFFERENCE, by=by).noted(note, first=True)


compare = ScoredComparison(WinogenderSettings, ["id", "female", "male", "neutral"], differences, family)
