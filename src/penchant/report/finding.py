"""The finding of a section in words: one or two sentences made from its estimates, cautious by rule.

A difference is only told where its interval leaves out 0 and its p-value, adjusted where it is one of a family, is at
most `ALPHA`; otherwise two things "cannot be told apart". Every number comes with its interval and n, and no sentence
names a cause. Instruments put their sentences together from the functions here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from penchant.counting import counted, for_one
from penchant.report.tables import DECIDES, is_few, shown

ALPHA = DECIDES
"""The largest p-value, adjusted over its family, at which a difference is told."""
MOST = 3
"""How many differences, models or data sets a finding names; of the others it says how many there are."""
NAMED = 5
"""How many places that are not clear a finding names; of more it says how many there are."""
_ROUGH = "would do"
"""Part of the note of an estimate whose interval misses its level: it says how many items would do."""
TOO_FEW = "cannot be estimated from so few"
"""What is said in place of a number whose interval leaves nothing out."""
_WHOLE = 0.005
"""The share of the scale that such an interval may leave out at either end."""
Estimated: TypeAlias = Mapping[str, Any]
"""A row of a summary, or of a comparison of two models."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How the numbers of a finding are written: in the format `form`, multiplied by `scale`, with `unit` after them;
    `noun` says what n counts, `null` is the number that means "no difference", `ends` are the least and the greatest
    number that there can be, `beside` says what is told after n."""

    form: str
    noun: str
    unit: str = ""
    scale: float = 1
    null: float = 0
    ends: tuple[float, float] = (-math.inf, math.inf)
    beside: Callable[[Estimated], str] = lambda row: ""

    def number(self, row: Estimated, *, n: bool = True) -> str:
        """An estimate with its interval, and with what it is over if `n`. One whose interval leaves nothing out is not
        told: the tables have it."""
        over = (f", n = {counted(int(row['n']), self.noun)}" if n else "") + self.beside(row)
        if is_few(row) or self._open(row):
            return f"{TOO_FEW}{over}"
        value, low, high = (self._plain(row[key]) for key in ("value", "low", "high"))
        interval = "without an interval" if math.isnan(row["low"]) else f"[{low}, {high}]"
        rough = ", a rough interval" if _ROUGH in (row.get("note") or "") else ""
        return f"{value}{self.unit} {interval}{rough}{over}"

    def _open(self, row: Estimated) -> bool:
        """Whether an interval goes from one end of what can be to the other."""
        low, high = self.ends
        slack = (high - low) * _WHOLE
        return math.isfinite(slack) and bool(row["low"] <= low + slack and row["high"] >= high - slack)

    def _plain(self, value: float) -> str:
        return shown(self.scale * value, self.form).replace("-", "−")


def measured(rows: Iterable[Estimated]) -> list[Estimated]:
    """The rows that have a number."""
    return [row for row in rows if row["value"] is not None and not math.isnan(row["value"])]


def outside(row: Estimated, null: float = 0) -> bool:
    """Whether the interval of an estimate leaves out `null`, and is not of too few items to say so."""
    low, high = row["low"], row["high"]
    return not (is_few(row) or math.isnan(low) or math.isnan(high) or low <= null <= high)


def told(row: Estimated, null: float = 0) -> bool:
    """Whether an estimate is told apart from `null`: by its interval and by its p-value, which it must have."""
    p = row["p"] if math.isnan(row["p_holm"]) else row["p_holm"]
    return outside(row, null) and bool(p <= ALPHA)


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence: "a", "a and b" or "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def levels(
    rows: Iterable[tuple[str, Estimated]], how: Shown, apart: str, *, tested: bool = False, most: int = MOST
) -> str:
    """The number of each model, and which cannot be told apart from `how.null`, called `apart`; by its interval, and
    also by its p-value if it is `tested`. Empty where nothing was measured."""
    known = [(name, row) for name, row in rows if measured([row])]
    if not known:
        return ""
    once = len(known) > 1 and len({row["n"] for _, row in known}) == 1
    parts = [f"{name} {how.number(row, n=not once)}" for name, row in known[:most]]
    each = [f"n = {counted(int(known[0][1]['n']), how.noun)} each"] if once else []
    unclear = [name for name, row in known if not (told if tested else outside)(row, how.null)]
    names = listed(unclear)
    if len(unclear) == len(known) > 1:
        names = "none of them"
    elif len(unclear) > most:
        names = f"{len(unclear)} of them"
    cannot = "can" if names == "none of them" else "cannot"
    last = [f"{names} {cannot} be told apart from {apart}"] if unclear else []
    return "; ".join([", ".join([*parts, *_others(len(known) - most, "in the table"), *each]), *last])


def differences(rows: Iterable[Estimated], how: Shown, higher: str, what: str = "") -> str:
    """What can be told of differences between models, the clearest and largest first, as one sentence: `higher` is what
    the first is where a difference is above 0, such as "is higher than"; `what` is the quantity, where `higher` does
    not say it. Empty where nothing was measured."""
    named = f"difference of {what} " if what else ""
    ranked = sorted(measured(rows), key=lambda row: (not told(row), -abs(row["value"])))
    parts = []
    for row in ranked[:MOST]:
        first, second = row["comparison"].split(" − ", 1)
        if not told(row):
            parts.append(f"{first} and {second} cannot be told apart: {named}{how.number(row)}")
        elif row["value"] > 0:
            parts.append(f"{first} {higher} {second}: {named}{how.number(row)}")
        else:
            parts.append(f"{second} {higher} {first}: {named}{how.number(_turned(row))}")
    rest = len(ranked) - MOST
    parts += _others(rest, f"{for_one(rest, 'pairs')} of models in the table")
    return f"{'; '.join(parts)}." if parts else ""


def across(
    rows: Iterable[tuple[str, Estimated]],
    how: Shown,
    noun: str,
    what: str,
    *,
    apart: str = "0",
    more: str = "in the table",
) -> str:
    """In which of several places (groups, values, categories: a `noun` in the plural) an estimate called `what` is told
    apart from `how.null`, called `apart`: the clear ones, largest first, how many more are in a table, and how many are
    not clear. Empty where nothing was measured."""
    known = [(place, row) for place, row in rows if measured([row])]
    if not known:
        return ""
    found = (pair for pair in known if told(pair[1], how.null))
    clear = sorted(found, key=lambda pair: -abs(pair[1]["value"] - how.null))
    if len(known) == 1:
        ((place, row),) = known
        return f"{what}, {place}: {how.number(row)}" + ("" if clear else f", which cannot be told apart from {apart}")
    alone = _alone(known, how)
    if not clear:
        named = f" ({listed([place for place, _ in known])})" if len(known) <= NAMED else ""
        return f"{what}: cannot be told apart from {apart} in any of {len(known)} {noun}{named}{alone}"
    most = NAMED if len(known) <= NAMED else MOST
    parts = [f"{place} {how.number(row)}" for place, row in clear[:most]]
    parts += _others(len(clear) - most, more)
    unclear = [place for place, row in known if not told(row, how.null)]
    others = f"the other {len(unclear)} of {len(known)} {noun}"
    named = f" ({listed(unclear)})" if len(unclear) <= NAMED else ""
    said = f"; in {others}{named} it cannot be told apart from {apart}" if unclear else ""
    return f"{what}, by {noun}: {', '.join(parts)}{said}{alone}"


def _alone(known: Sequence[tuple[str, Estimated]], how: Shown) -> str:
    """The places that are told apart one by one, but not once p is corrected for all of them."""
    found = [pair for pair in known if outside(pair[1], how.null) and pair[1]["p"] <= ALPHA < pair[1]["p_holm"]]
    ranked = sorted(found, key=lambda pair: -abs(pair[1]["value"] - how.null))
    parts = [f"{place} {how.number(row, n=False)}" for place, row in ranked[:MOST]]
    parts += _others(len(ranked) - MOST, "in the table")
    return f"; without Holm's correction it can in {', '.join(parts)}" if parts else ""


def sentences(*texts: str) -> list[str]:
    """The texts that are not empty, each with a capital letter only where it had one, and a full stop."""
    return [text if text.endswith(".") else f"{text}." for text in texts if text]


def _turned(row: Estimated) -> dict[str, Any]:
    """The same difference the other way round."""
    return {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}


def _others(number: int, where: str) -> list[str]:
    return [f"{number} more {where}"] if number > 0 else []
