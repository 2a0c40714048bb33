"""The differences between two models on the same pairs of WinoBias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from penchant.instruments.comparison import Scored, ScoredComparison
from penchant.instruments.wino.bias_estimates import (
    ADJUSTED_DIFFERENCE,
    MALE_DIFFERENCE,
    PRO_DIFFERENCE,
    Mask,
    adjusted,
    credits,
    family,
    log_odds,
    male_credits,
    over_occupations,
    types,
)
from penchant.instruments.wino.scoring import ALL
from penchant.instruments.wino.settings import WinoBiasSettings
from penchant.records import Estimate


def differences(a: Scored[WinoBiasSettings], b: Scored[WinoBiasSettings], unlike: bool) -> Iterator[Estimate]:
    """Yield the shares and the gender-adjusted preference of a minus those of b, pair by pair, over all pairs and by
    type. The preference is in units of the score: scores of different methods have none of it."""
    items, (one, other) = a.items, (credits(side.items, side.how) for side in (a, b))
    gaps = {
        PRO_DIFFERENCE: one - other,
        MALE_DIFFERENCE: male_credits(items, a.how) - male_credits(b.items, b.how),
    }
    odds = log_odds(items, a.how) - log_odds(b.items, b.how)
    everything: tuple[str, str, Mask] = ("overall", ALL, np.ones(len(items), dtype=bool))
    for scope, group, chosen in (everything, *(("type", kind, inside) for kind, inside in types(items))):
        part, by = items.filter(chosen), {"scope": scope, "group": group}
        for measure, gap in gaps.items():
            yield replace(over_occupations(part, gap[chosen], a.settings, against=0), measure=measure, by=by)
        if not unlike:
            yield replace(adjusted(part, odds[chosen], a.settings), measure=ADJUSTED_DIFFERENCE, by=by)


compare = ScoredComparison(WinoBiasSettings, ["id", "pro", "anti"], differences, family)
