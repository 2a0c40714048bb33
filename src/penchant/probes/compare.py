"""Two models held against each other, whatever the instrument."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from penchant.errors import StudyError
from penchant.probes import association_compare, cloze_summary, pair_summary, values_summary
from penchant.records import Result

_BY_PROBE: Mapping[str, Callable[[Result, Result], pl.DataFrame]] = {
    "minimal-pairs": pair_summary.compare,
    "fair-pairs": pair_summary.compare,
    "cloze": cloze_summary.compare,
    "values": values_summary.compare,
    **dict.fromkeys(("weat", "seat", "ceat", "logprob-bias"), association_compare.compare),
}


def compare(a: Result, b: Result) -> pl.DataFrame:
    """What a finds minus what b finds on the same items, with intervals and tests; one row an estimate.

    See `compare` in `penchant.probes.pair_summary`, `cloze_summary`, `values_summary` and `association_compare`.
    Raises StudyError when the two are not comparable, naming the part of the signature that differs.
    """
    probe = a.signature["probe"]
    if probe != b.signature["probe"]:
        raise StudyError(f"these results cannot be compared: one is {probe}, the other {b.signature['probe']}")
    return _BY_PROBE[probe](a, b)
