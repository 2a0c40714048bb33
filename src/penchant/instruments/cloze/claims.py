"""Claims about cloze valence: the variety towards which a model leans, and the differences between two models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penchant.instruments.cloze.estimates import EVERYTHING, MEASURES, SHOWN
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.significance import told
from penchant.views.claims import MISSING, Claim
from penchant.views.row_selection import At, Line, RowSource

BETA, _, SHARE = MEASURES.values()
LITTLE = 0.1
"""Share of the probability covered by rated words below which no lean is reported."""
MARGIN = 0.05
"""The smallest lean of interest: a twentieth of the way from the middle to an end of the scale."""


def _by_group(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the mean valence β by group, or over all sentences if there are no groups."""
    for source in found:
        lines = source.only(At(measure=BETA))
        groups = [line for line in lines if line["group"] != EVERYTHING]
        yield from groups or lines


def _group_of(line: Line) -> str:
    return "" if line["group"] == EVERYTHING else str(line["group"])


def _overall(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the difference in mean β over all sentences, or over the only group if there is just one."""
    for source in found:
        yield from (
            line for line in source.only(At(measure=difference(BETA))) if line.at(group=EVERYTHING) in (None, line)
        )


def _unrated(line: Line, results: Sequence[BaseResult]) -> str:
    share = line.at(measure=SHARE)
    value = 0.0 if share is None else share["value"]
    return MISSING if not value > 0 else "little" if value < LITTLE and told(line.row) else ""


CLAIMS = (
    Claim("leans", _by_group, SHOWN, MARGIN, place=_group_of, alone=True, barred=_unrated),
    Claim("more", _overall, SHOWN, MARGIN, compared=True, figure="beta"),
)
