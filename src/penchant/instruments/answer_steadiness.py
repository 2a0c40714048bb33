"""Estimates of how steady a chat model's answers are, and of how well its replies agree with its probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.elicitation import HEDGED, OPTION, REFUSED, UNREAD
from penchant.records import Estimate
from penchant.stats.intervals import accuracy, clustered_mean, t_mean
from penchant.wording.phrases import Note

Array = NDArray[np.float64]
OVER_ORDERS = "spread over orders of the options"
"""The mean over items of the standard deviation of the expected answer over orders, on the scale of the answers."""
TURNED = "items whose likeliest option changes with the order"
OVER_REPLIES = "spread over replies"
MISMATCH = "items whose usual reply is not the likeliest option"
SHARES = {
    OPTION: "replies that choose an option",
    REFUSED: "replies that refuse",
    HEDGED: "replies that hedge",
    UNREAD: "replies that could not be read",
}
"""Measure names of the shares of replies, keyed by the reading of a reply."""
STEADINESS = (OVER_ORDERS, TURNED, OVER_REPLIES, MISMATCH, *SHARES.values())


def steadiness(items: pl.DataFrame, scale: Array | None, level: float, noun: str) -> Iterator[Estimate]:
    """Yield estimates of how steady the answers to `items` are; `scale` has one value per option.

    If `scale` is None, the spread over orders is the standard deviation of an option's probability over orders,
    averaged over options, and the spread over replies is not estimated.

    `items` has the columns order_probabilities, probabilities (the lists in both may be empty), readings and chosen
    (see `elicitation_columns`). Items are independent; replies are clustered by item. `noun` is the items' plural noun.
    """
    tables = [np.array(each) for each in items["order_probabilities"].to_list() if each]
    widest = 1.0 if scale is None else float(np.ptp(scale))
    if not tables:
        unknown = Note("no-probabilities")
        yield Estimate(OVER_ORDERS, np.nan, len(items), level=level, notes=(unknown,))
    else:
        spreads = [float((table if scale is None else table @ scale).std(0, ddof=1).mean()) for table in tables]
        yield replace(t_mean(spreads, level=level, noun=noun, bounds=(0.0, widest)), measure=OVER_ORDERS)
        turned = [float(len({int(row.argmax()) for row in table}) > 1) for table in tables]
        yield replace(accuracy(turned, level=level), measure=TURNED)
    readings = items["readings"].to_list()
    if not any(readings):
        return
    codes = np.concatenate([np.array(each) for each in readings])
    places = [number for number, each in enumerate(readings) for _ in each]
    for code, measure in SHARES.items():
        own = (codes == code).astype(np.float64)
        yield replace(clustered_mean(own, places, level=level, noun=noun, proportion=True), measure=measure)
    chosen = [[option for option in each if option is not None] for each in items["chosen"].to_list()]
    several = [] if scale is None else [float(scale[each].std(ddof=1)) for each in chosen if len(each) > 1]
    if several:
        yield replace(t_mean(several, level=level, noun=noun, bounds=(0.0, widest)), measure=OVER_REPLIES)
    if not tables:
        return
    likeliest = [int(np.argmax(each)) for each in items["probabilities"].to_list()]
    differ = [_differs(own, each) for own, each in zip(likeliest, chosen, strict=True) if each]
    found = replace(accuracy(differ, level=level), measure=MISMATCH)
    lost = len(chosen) - len(differ)
    yield found.noted(Note("items-without-option", lost=lost, of=len(chosen), noun=noun) if lost else None)


def _differs(likeliest: int, chosen: Sequence[int]) -> float:
    """Return 0 if replies choose the likeliest option most often, ½ if it ties with other options, 1 otherwise."""
    counts = Counter(chosen)
    most = max(counts.values())
    usual = [option for option, count in counts.items() if count == most]
    return 1.0 if likeliest not in usual else 0.0 if len(usual) == 1 else 0.5


MANY = 0.1
"""Share of items or replies above which a caution is raised."""


def steadiness_cautions(rows: Sequence[Estimate], noun: str) -> Iterator[Note]:
    """Yield cautions if the likeliest option often changes with the order or differs from the usual reply.

    Another caution is raised if replies often choose no option. `rows` are the estimates from `steadiness`, `noun` is
    the plural noun for the items.
    """
    for measure, code in ((TURNED, "order-decides"), (MISMATCH, "replies-differ")):
        shares = [row.value for row in rows if row.measure == measure]
        if shares and max(shares) > MANY:
            yield Note(code, share=max(shares), cells=len(shares), noun=noun)
    lost = [1 - row.value for row in rows if row.measure == SHARES[OPTION]]
    if lost and max(lost) > MANY:
        yield Note("replies-without-option", share=max(lost), cells=len(lost))
