"""Estimates for exactly the groups in the data, which accompany estimates that treat the groups as a sample."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.strata_means import fixed_strata_share
from penchant.records import Estimate
from penchant.report.significance import Estimated
from penchant.views.row_selection import Line
from penchant.wording.phrases import Method, Note, read_method

FEW = 10
"""Number of groups below which there are also estimates for exactly these groups."""
THESE = "these groups"
"""Scope of estimates for exactly the groups in the data."""
MEAN = "mean {} over {}"
"""Template for the name of the mean of a measure over groups."""
TYPES = "bias types"
"""Plural noun for the groups of stereotype pairs."""
GROUPS = ("paradigms", TYPES)


def fixed(measure: str, noun: str) -> str:
    """Return the name of a measure for exactly the groups in the data; `noun` is the plural noun for the groups."""
    return f"{measure}, these {noun}"


def of_groups(measure: str) -> tuple[str, ...]:
    """Return the possible names of a measure for exactly the groups in the data."""
    return tuple(fixed(measure, noun) for noun in GROUPS)


def for_these_groups(line: Line) -> Line | None:
    """Return the row for exactly the groups in the data that corresponds to the row `line`; None if there is none."""
    return line.at(measure=of_groups(line["measure"]), scope=THESE)


def over_groups(measure: str) -> tuple[str, ...]:
    """Return the names of a measure within one group and of its mean over several groups."""
    return (measure, *(MEAN.format(measure, noun) for noun in GROUPS))


def is_fixed(measure: str) -> bool:
    """Return whether a measure applies to exactly the groups in the data."""
    return measure.endswith(tuple(f", these {noun}" for noun in GROUPS))


def few(labels: Collection[str]) -> bool:
    """Return whether there are several groups, but fewer than `FEW`."""
    return 1 < len(set(labels)) < FEW


def beside_fixed(labels: Collection[str], noun: str) -> Note | None:
    """Return a note that an estimate is for groups like those in the data, or None unless the data have few groups."""
    if not few(labels):
        return None
    return Note("minimal_pairs.of-others", noun=noun, have=len(set(labels)))


def fixed_share(
    credit: NDArray[np.float64], labels: Sequence[str], noun: str, level: float, measure: str, *, against: float = 0.5
) -> Iterator[Estimate]:
    """Yield one estimate, the mean credit for exactly the groups in `labels`, or nothing unless the groups are few.

    The mean is tested against `against`; the estimate is named by `measure` and `noun` (see `fixed`).
    """
    if few(labels):
        estimate = fixed_strata_share(credit, labels, against=against, level=level, noun=noun)
        yield replace(estimate, measure=fixed(measure, noun))


def holding(estimate: Estimate, within: Estimate, labels: Collection[str], noun: str) -> Estimate:
    """Return an estimate over sampled groups, made no more certain than `within`, the one for exactly these groups.

    If there are few groups, the interval is widened to include the interval of `within`, and p is raised to at least
    the p-value of `within`.
    """
    if not few(labels) or not (within.low < estimate.low or within.high > estimate.high or within.p > estimate.p):
        return estimate
    low, high, test = min(estimate.low, within.low), max(estimate.high, within.high), estimate.test
    if test is not None and within.p == within.p:
        test = replace(test, p=max(test.p, within.p))
    return replace(estimate, low=low, high=high, test=test).noted(Note("minimal_pairs.alike", noun=noun))


def sampled(row: Estimated) -> tuple[int, str] | None:
    """Return the number and plural noun of the groups that an estimate treats as a sample; None if there are none."""
    method = read_method(row["method"] or "")
    while method is not None and isinstance(inner := method.params.get("within"), Method):
        method = inner
    params = {} if method is None else method.params
    pairs = [[params.get(name), params.get("noun")] for name in ("clusters", "strata", "items", "units")]
    return next(((n, noun) for n, noun in [*pairs, *params.get("over", ())] if n and noun in GROUPS), None)
