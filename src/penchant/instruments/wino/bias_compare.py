"""Comparison of two models on the same pairs of WinoBias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.settings import Settings
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
from penchant.instruments.wino.scoring import ALL, FREE
from penchant.instruments.wino.settings import WinoBiasSettings
from penchant.records import Estimate, Result, Signature, summary_table
from penchant.stats.hypothesis_tests import with_holm
from penchant.wording.phrases import Note


def compare(a: Result, b: Result) -> pl.DataFrame:
    """Shares and gender-adjusted preference of a minus those of b, pair by pair, over all pairs and by type.

    Models may be scored by different methods, since which pronoun is preferred can be compared; the gender-adjusted
    preference, which is in units of the score, then cannot, and is left out. Holm's families are the types, of each
    measure. Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
    """
    require_comparable(a, b, free=FREE, items=["id", "pro", "anti"])
    first, second = (WinoBiasSettings.of(result.settings) for result in (a, b))
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


def _differences(a: Result, b: Result, how: str, probe: Settings) -> Iterator[Estimate]:
    items = a.items
    methods = [result.signature["method"] for result in (a, b)]
    differ = methods[0] != methods[1]
    remark = Note("wino.scored-differently", first=methods[0], second=methods[1]) if differ else None
    gaps = {
        PRO_DIFFERENCE: credits(a.items, how) - credits(b.items, how),
        MALE_DIFFERENCE: male_credits(a.items, how) - male_credits(b.items, how),
    }
    odds = log_odds(a.items, how) - log_odds(b.items, how)
    everything: tuple[str, str, Mask] = ("overall", ALL, np.ones(len(items), dtype=bool))
    for scope, group, chosen in (everything, *(("type", kind, inside) for kind, inside in types(items))):
        part = items.filter(chosen)
        for measure, gap in gaps.items():
            yield _by(over_occupations(part, gap[chosen], probe, against=0), measure, scope, group, remark)
        if not remark:
            yield _by(adjusted(part, odds[chosen], probe), ADJUSTED_DIFFERENCE, scope, group, None)


def _by(estimate: Estimate, measure: str, scope: str, group: str, remark: Note | None) -> Estimate:
    by = {"scope": scope, "group": group}
    return replace(estimate, measure=measure, by=by).noted(remark, first=True)
