"""Estimates about the paradigms that there are, beside those that take them as a sample of others.

An interval over four paradigms says what other paradigms like them would give, which four can hardly tell. Where there
are so few, the same number is also given for these paradigms as they are, over the pairs within them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.records import Estimate
from penchant.report.finding import Estimated, Shown, levels
from penchant.stats.fixed_strata import fixed_strata_share
from penchant.wording.phrases import Method, Note, read_method

FEW = 10
"""So many paradigms are enough to speak of others like them alone."""
AS_THEY_ARE = "as they are"
"""The scope of estimates about the paradigms that there are."""
_GROUPS = ("paradigms", "bias types")


def fixed(measure: str, noun: str) -> str:
    """The name of a measure where the paradigms are no sample; `noun` is what they are called."""
    return f"{measure}, {noun} {AS_THEY_ARE}"


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
    """An estimate about other groups like a few, made no more certain than that about these few themselves, `within`:
    what others would give adds to what is not known, and groups that are alike by chance do not show how much."""
    if not few(labels) or not (within.low < estimate.low or within.high > estimate.high or within.p > estimate.p):
        return estimate
    low, high, test = min(estimate.low, within.low), max(estimate.high, within.high), estimate.test
    if test is not None and within.p == within.p:
        test = replace(test, p=max(test.p, within.p))
    return replace(estimate, low=low, high=high, test=test).noted(Note("minimal_pairs.alike", noun=noun))


# In words ------------------------------------------------------------------------------------------------------------


def drawn(rows: Iterable[Estimated]) -> str:
    """Name the groups that some estimates take for a sample of others; empty where there are none."""
    number, noun = next(filter(None, map(sampled, rows)), (0, ""))
    return f"for {noun} like these {number}" if noun else ""


def sampled(row: Estimated) -> tuple[int, str] | None:
    """The number of groups that an estimate takes for a sample, and what they are called; None where it does not."""
    method = read_method(row["method"] or "")
    while method is not None and isinstance(inner := method.params.get("within"), Method):
        method = inner
    params = {} if method is None else method.params
    pairs = [[params.get(name), params.get("noun")] for name in ("clusters", "strata", "items", "units")]
    return next(((n, noun) for n, noun in [*pairs, *params.get("over", ())] if n and noun in _GROUPS), None)


def these(rows: Sequence[Estimated]) -> str:
    """The same of estimates about the groups that there are."""
    return f"for these {_noun(rows[0])}" if rows else ""


def _noun(row: Estimated) -> str:
    return str(row["measure"]).rpartition(", ")[2].removesuffix(f" {AS_THEY_ARE}")


def levels_of(
    start: str,
    rows: Iterable[tuple[str, Estimated | None]],
    fixed: Iterable[tuple[str, Estimated | None]],
    how: Shown,
    apart: str = "50%",
    *,
    place: str = "",
) -> Iterator[str]:
    """The number of each model in one or two sentences: where groups are few, first of these very groups; then of
    others like them. `start` says what the number is, `place` of which data set, if of several."""
    known, few = ([(model, row) for model, row in each if row is not None] for each in (rows, fixed))
    for group, over in ((few, these([row for _, row in few])), (known, drawn(row for _, row in known))):
        if each := levels(group, how, apart):
            yield f"{', '.join(filter(None, [start, over])) if start else capital(over)}: {each}"
            start = place


def capital(text: str) -> str:
    """A text with a capital letter at its head."""
    return f"{text[:1].upper()}{text[1:]}"
