"""Significance of estimates, and their text with interval, p-value and n.

A difference is stated only if its interval excludes the null value and its p-value, adjusted over its family of tests,
is at most `ALPHA`; the function `told` decides this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penchant.plurals import counted
from penchant.report.tables import DECIDES, P, is_few, shown
from penchant.wording.phrases import notes_of
from penchant.wording.templates import listed as listed

ALPHA = DECIDES
"""The significance level for adjusted p-values."""
TOO_FEW = "too few to say"
"""The text shown instead of an estimate that has too few items or an interval that covers the whole scale."""
_WHOLE = 0.005
"""Tolerance, as a fraction of the scale, for deciding that an interval covers the whole scale."""
Estimated: TypeAlias = Mapping[str, Any]
"""A row of a summary, or of a comparison between two models."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Format of the numbers in a sentence.

    Numbers are multiplied by `scale`, formatted with `form` and followed by `unit`. `noun` is the plural noun for the
    items counted by n, `null` the value under the null hypothesis, and `ends` the smallest and largest possible values.
    """

    form: str
    noun: str
    unit: str = ""
    scale: float = 1
    null: float = 0
    ends: tuple[float, float] = (-math.inf, math.inf)

    def number(self, row: Estimated, *, n: bool = True, rough: bool = True) -> str:
        """Format an estimate with its interval, and with its p-value if interval and test disagree.

        The number of items is included if `n`, and approximate intervals are marked if `rough`. `TOO_FEW` replaces an
        estimate for which `too_few` is true.
        """
        over = f", {self.count(row)}" if n else ""
        if self.too_few(row):
            return f"{TOO_FEW}{over}"
        value, low, high = (self._plain(row[key]) for key in ("value", "low", "high"))
        interval = "without an interval" if math.isnan(row["low"]) else f"[{low}, {high}]"
        marked = " (approximate)" if rough and is_rough(row) else ""
        p = f", but {tested(row)}" if at_odds(row, self.null) else ""
        return f"{value}{self.unit} {interval}{marked}{p}{over}"

    def count(self, row: Estimated) -> str:
        """Return n with its noun, such as "n = 20 pairs", as text."""
        return f"n = {counted(int(row['n']), self.noun)}"

    def amount(self, size: float) -> str:
        """Return the size of an effect as text, such as "5 points"."""
        unit = " points" if self.unit == "%" else self.unit
        return f"{shown(self.scale * size, '.4g')}{unit}"

    def too_few(self, row: Estimated) -> bool:
        """Return whether the estimate has too few items, or an interval that covers all possible values."""
        low, high = self.ends
        slack = (high - low) * _WHOLE
        whole = math.isfinite(slack) and bool(row["low"] <= low + slack and row["high"] >= high - slack)
        return whole or is_few(row)

    def _plain(self, value: float) -> str:
        return shown(self.scale * value, self.form).replace("-", "−")


def is_rough(row: Estimated) -> bool:
    """Return whether an interval is approximate because it is based on few units, such as groups or raters."""
    return any("would_do" in note.params for note in notes_of(row))


def measured(rows: Iterable[Estimated]) -> list[Estimated]:
    """Return the rows whose value is a number."""
    return [row for row in rows if row["value"] is not None and not math.isnan(row["value"])]


def outside(row: Estimated, null: float = 0) -> bool:
    """Return whether an estimate has enough items and an interval that excludes `null`."""
    low, high = row["low"], row["high"]
    return not (is_few(row) or math.isnan(low) or math.isnan(high) or low <= null <= high)


def deciding(row: Estimated) -> float:
    """Return the p-value of an estimate, adjusted for multiple tests if it belongs to a family of tests."""
    return float(row["p"] if math.isnan(row["p_holm"]) else row["p_holm"])


def told(row: Estimated, null: float = 0) -> bool:
    """Return whether an estimate differs from `null` according to both its interval and its p-value."""
    return outside(row, null) and deciding(row) <= ALPHA


def tested(row: Estimated) -> str:
    """Return the p-value from `deciding` as text, with the number of tests in its family if there are several."""
    tests = row.get("tests", 1)
    return f"p = {P(deciding(row))}{f' over {tests} tests' if tests > 1 else ''}"


def at_odds(row: Estimated, null: float = 0) -> bool:
    """Return whether the interval and the test of an estimate disagree about `null`."""
    known = not math.isnan(deciding(row) + row["low"] + row["high"])
    return known and outside(row, null) != (deciding(row) <= ALPHA)


def sentences(*texts: str) -> list[str]:
    """Return the non-empty texts, each with a full stop."""
    return [text if text.endswith(".") else f"{text}." for text in texts if text]
