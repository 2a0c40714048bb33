"""Estimates about the paradigms that there are, beside those that take them as a sample of others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.strata_means import fixed_strata_share
from penchant.records import Estimate
from penchant.report.finding import Estimated
from penchant.wording.phrases import Method, Note, read_method

FEW = 10
"""So many paradigms are enough to speak of others like them alone."""
AS_THEY_ARE = "as they are"
"""The scope of estimates about the paradigms that there are."""
MEAN = "mean {} over {}"
"""What the mean of a measure over groups is called."""
TYPES = "bias types"
"""The groups of stereotypes."""
GROUPS = ("paradigms", TYPES)


def fixed(measure: str, noun: str) -> str:
    """The name of a measure where the paradigms are no sample; `noun` is what they are called."""
    return f"{measure}, {noun} {AS_THEY_ARE}"


def of_groups(measure: str) -> tuple[str, ...]:
    """Return the names that a measure may have where the groups are no sample."""
    return tuple(fixed(measure, noun) for noun in GROUPS)


def over_groups(measure: str) -> tuple[str, ...]:
    """Return the names of a measure within one group, and of its mean over several."""
    return (measure, *(MEAN.format(measure, noun) for noun in GROUPS))


def is_fixed(measure: str) -> bool:
    """Whether a measure is about the paradigms that there are."""
    return measure.endswith(f" {AS_THEY_ARE}")


def few(labels: Collection[str]) -> bool:
    """Whether pairs come in several groups, too few to speak of other groups alone."""
    return 1 < len(set(labels)) < FEW


def beside_fixed(labels: Collection[str], noun: str) -> Note | None:
    """The note on a number that is about other groups than the few there are; None where they are one or many."""
    if not few(labels):
        return None
    return Note("minimal_pairs.of-others", noun=noun, have=len(set(labels)))


def fixed_share(
    credit: NDArray[np.float64], labels: Sequence[str], noun: str, level: float, measure: str, *, against: float = 0.5
) -> Iterator[Estimate]:
    """Mean credit of pairs whose groups are taken as they are, with a test; nothing where groups are one or many."""
    if few(labels):
        estimate = fixed_strata_share(credit, labels, against=against, level=level, noun=noun)
        yield replace(estimate, measure=fixed(measure, noun))


def holding(estimate: Estimate, within: Estimate, labels: Collection[str], noun: str) -> Estimate:
    """An estimate about other groups like a few, made no more certain than that about these few, `within`."""
    if not few(labels) or not (within.low < estimate.low or within.high > estimate.high or within.p > estimate.p):
        return estimate
    low, high, test = min(estimate.low, within.low), max(estimate.high, within.high), estimate.test
    if test is not None and within.p == within.p:
        test = replace(test, p=max(test.p, within.p))
    return replace(estimate, low=low, high=high, test=test).noted(Note("minimal_pairs.alike", noun=noun))


def sampled(row: Estimated) -> tuple[int, str] | None:
    """The number of groups that an estimate takes for a sample, and what they are called; None where it does not."""
    method = read_method(row["method"] or "")
    while method is not None and isinstance(inner := method.params.get("within"), Method):
        method = inner
    params = {} if method is None else method.params
    pairs = [[params.get(name), params.get("noun")] for name in ("clusters", "strata", "items", "units")]
    return next(((n, noun) for n, noun in [*pairs, *params.get("over", ())] if n and noun in GROUPS), None)
