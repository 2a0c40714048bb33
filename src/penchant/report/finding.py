"""Findings in words: one or two cautious sentences per section, composed from its estimates.

A difference is stated only if its interval excludes the null value and its p-value, adjusted over its family of tests,
is at most `ALPHA`; the function `told` decides this. Every number is given with its interval and n, and with its
p-value if interval and test disagree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penchant.plurals import counted, for_one
from penchant.records import SIDES, pair_of
from penchant.report.tables import DECIDES, P, is_few, shown
from penchant.wording.phrases import notes_of
from penchant.wording.templates import listed as listed

ALPHA = DECIDES
"""The largest adjusted p-value for which a difference is stated."""
MOST = 3
"""The maximum number of differences, models or data sets named in a finding; the others are only counted."""
NAMED = 5
"""The maximum number of unclear places named in a finding; if there are more, they are only counted."""
TOO_FEW = "too few to say"
"""The text instead of a number whose interval covers the whole scale."""
_WHOLE = 0.005
"""The fraction of the scale at either end that an interval may exclude and still cover the whole scale."""
Estimated: TypeAlias = Mapping[str, Any]
"""A row of a summary, or of a comparison between two models."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Format of the numbers in a finding.

    Numbers are multiplied by `scale`, formatted as `form` and followed by `unit`. `noun` is the plural noun for the
    things counted by n, `null` the number that means "no difference", and `ends` are the smallest and the largest
    possible number. `beside` returns a text that follows n.
    """

    form: str
    noun: str
    unit: str = ""
    scale: float = 1
    null: float = 0
    ends: tuple[float, float] = (-math.inf, math.inf)
    beside: Callable[[Estimated], str] = lambda row: ""

    def number(self, row: Estimated, *, n: bool = True) -> str:
        """Return an estimate with its interval, its p-value if the two disagree, and n; of too few items only n."""
        over = (f", {self.count(row)}" if n else "") + self.beside(row)
        if self.too_few(row):
            return f"{TOO_FEW}{over}"
        value, low, high = (self._plain(row[key]) for key in ("value", "low", "high"))
        interval = "without an interval" if math.isnan(row["low"]) else f"[{low}, {high}]"
        rough = " (approximate)" if any("would_do" in note.params for note in notes_of(row)) else ""
        p = f", {tested(row)}" if _at_odds(row, self.null) else ""
        return f"{value}{self.unit} {interval}{rough}{p}{over}"

    def count(self, row: Estimated) -> str:
        """Return n with its noun."""
        return f"n = {counted(int(row['n']), self.noun)}"

    def too_few(self, row: Estimated) -> bool:
        """Return whether the estimate has too few items, or an interval that covers all possible numbers."""
        low, high = self.ends
        slack = (high - low) * _WHOLE
        whole = math.isfinite(slack) and bool(row["low"] <= low + slack and row["high"] >= high - slack)
        return whole or is_few(row)

    def _plain(self, value: float) -> str:
        return shown(self.scale * value, self.form).replace("-", "−")


def measured(rows: Iterable[Estimated]) -> list[Estimated]:
    """Return the rows whose value is a number."""
    return [row for row in rows if row["value"] is not None and not math.isnan(row["value"])]


def outside(row: Estimated, null: float = 0) -> bool:
    """Return whether an estimate has enough items and an interval that excludes `null`."""
    low, high = row["low"], row["high"]
    return not (is_few(row) or math.isnan(low) or math.isnan(high) or low <= null <= high)


def deciding(row: Estimated) -> float:
    """Return the p-value adjusted over the estimate's family, or the unadjusted p-value without a family."""
    return float(row["p"] if math.isnan(row["p_holm"]) else row["p_holm"])


def told(row: Estimated, null: float = 0) -> bool:
    """Return whether an estimate differs from `null` by both its interval and its p-value."""
    return outside(row, null) and deciding(row) <= ALPHA


def tested(row: Estimated) -> str:
    """Return the p-value of `deciding` as text, with the number of tests in its family if there are several."""
    tests = row.get("tests", 1)
    return f"p = {P(deciding(row))}{f' over {tests} tests' if tests > 1 else ''}"


def unclear(places: Iterable[tuple[str, Estimated]], null: float = 0) -> list[str]:
    """Return the places whose estimates do not differ from `null`, with the p-value if the interval excludes it."""
    return [
        f"{place} ({tested(row)})" if _at_odds(row, null) and outside(row, null) else place
        for place, row in places
        if not told(row, null)
    ]


def _at_odds(row: Estimated, null: float) -> bool:
    """Return whether the interval and the test of an estimate disagree on `null`."""
    known = not math.isnan(deciding(row) + row["low"] + row["high"])
    return known and outside(row, null) != (deciding(row) <= ALPHA)


def levels(rows: Iterable[tuple[str, Estimated]], how: Shown, apart: str, *, most: int = MOST) -> str:
    """Return a sentence with each model's number and the models that do not differ from `how.null`, called `apart`.

    Models whose estimates have an interval but no test are not compared with the null. The sentence is empty if nothing
    was measured.
    """
    known = [(name, row) for name, row in rows if measured([row])]
    if not known:
        return ""
    once = len(known) > 1 and len({row["n"] for _, row in known}) == 1
    parts = [f"{name} {how.number(row, n=not once)}" for name, row in known[:most]]
    each = [f"{how.count(known[0][1])} each"] if once else []
    open_ = [name for name, row in known if not told(row, how.null) and not _untested(row)]
    names = f" for {listed(open_) if len(open_) <= most else f'{len(open_)} of them'}"
    if len(open_) == len(known):
        names = ["", " for either", " for any of them"][min(len(known), 3) - 1]
    last = [f"No clear difference from {apart}{names}"] if open_ else []
    return ". ".join([", ".join([*parts, *_others(len(known) - most, "in the table"), *each]), *last])


def _untested(row: Estimated) -> bool:
    """Return whether an estimate has an interval but no test."""
    return math.isnan(deciding(row)) and not math.isnan(row["low"])


def differences(rows: Iterable[Estimated], how: Shown, higher: str, what: str = "") -> str:
    """Return a sentence on the differences between models, stated differences first and then by size.

    `higher` describes the first model if the difference is positive, such as "is higher than"; `what` is the quantity,
    if it is not part of `higher`. Every number is the first model's minus the second's. The sentence is empty if
    nothing was measured.
    """
    named = f"difference of {what}, " if what else ""
    ranked = sorted(measured(rows), key=lambda row: (not told(row), -abs(row["value"])))
    parts = []
    for row in ranked[:MOST]:
        first, second = (row[side] for side in SIDES)
        if how.too_few(row):
            parts.append(f"{first} and {second}: {TOO_FEW} ({named}{how.count(row)}{how.beside(row)})")
            continue
        said = f"{first} and {second} show no clear difference"
        if told(row):
            said = f"{first} {higher} {second}" if row["value"] > 0 else f"{second} {higher} {first}"
        parts.append(f"{said} ({named}{pair_of(row)} {how.number(row)})")
    rest = len(ranked) - MOST
    parts += _others(rest, f"{for_one(rest, 'pairs')} of models in the table")
    return f"{'. '.join(parts)}." if parts else ""


def across(
    rows: Iterable[tuple[str, Estimated]],
    how: Shown,
    noun: str,
    what: str,
    *,
    apart: str = "0",
    more: str = "in the table",
) -> str:
    """Return a sentence on the places where an estimate differs from `how.null`, the largest difference first.

    `noun` is the plural noun for the places, `what` the name of the estimate and `apart` the name of the null value;
    places without a clear difference are counted. The sentence is empty if nothing was measured.
    """
    known = [(place, row) for place, row in rows if measured([row])]
    if not known:
        return ""
    found = (pair for pair in known if told(pair[1], how.null))
    clear = sorted(found, key=lambda pair: -abs(pair[1]["value"] - how.null))
    if len(known) == 1:
        ((place, row),) = known
        number = how.number(row)
        settled = clear or how.too_few(row)
        return f"{what}, {place}: {number if settled else f'no clear difference from {apart} ({number})'}"
    open_ = unclear(known, how.null)
    if not clear:
        named = f" ({listed(open_)})" if len(known) <= NAMED else ""
        return f"{what}: no clear difference from {apart} in any of {len(known)} {noun}{named}"
    most = NAMED if len(known) <= NAMED else MOST
    parts = [f"{place} {how.number(row)}" for place, row in clear[:most]]
    parts += _others(len(clear) - most, more)
    named = f": {listed(open_)}" if len(open_) <= NAMED else ""
    said = f". No clear difference from {apart} in {len(open_)} of {len(known)} {noun}{named}" if open_ else ""
    return f"{what}, by {noun}: {', '.join(parts)}{said}"


def sentences(*texts: str) -> list[str]:
    """Return the non-empty texts, each with a full stop."""
    return [text if text.endswith(".") else f"{text}." for text in texts if text]


def _others(number: int, where: str) -> list[str]:
    return [f"{number} more {where}"] if number > 0 else []
