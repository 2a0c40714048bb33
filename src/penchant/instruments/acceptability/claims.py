"""Claims about acceptability: agreement with ratings, gain from corrected scores, and MORCELA's weight of frequency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penchant.instruments.acceptability.estimates import BETWEEN_SCORES, PARAMETERS, SENTENCES
from penchant.instruments.acceptability.settings import DIFFERENCE, PEARSON
from penchant.records import BaseResult
from penchant.report.significance import Shown
from penchant.views.claims import Claim
from penchant.views.row_selection import FIRST, At, Line, RowSource

_R = Shown("+.2f", SENTENCES, ends=(-1, 1))
_GAP = Shown("+.2f", SENTENCES, ends=(-2, 2))
_WEIGHT = Shown(".2f", SENTENCES, null=1)
AGREEMENT, BETTER, WEIGHT = 0.1, 0.05, 0.2
"""Smallest effects of interest: a small correlation (Cohen), half of it for a difference, a fifth of SLOR's weight."""


def _corrected(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield, for each model, the differences in correlation: each other score minus the first score."""
    for source in found:
        lines = source.only(At(measure=BETWEEN_SCORES))
        yield from (line for line in lines if line["score"].endswith(_first_score(lines[0])))


def _first_score(line: Line) -> str:
    return " − " + str(line["score"]).split(" − ")[1]


def _unbounded(line: Line, results: Sequence[BaseResult]) -> str:
    return "" if line["low"] == line["low"] else "unbounded"


CLAIMS = (
    Claim("agrees", At(measure=PEARSON, score=FIRST), _R, AGREEMENT),
    Claim(
        "corrected",
        _corrected,
        _GAP,
        BETTER,
        place=lambda line: line["score"].split(" − ")[0],
        alone=True,
        figure="correlations",
    ),
    Claim("frequency", At(measure=PARAMETERS[0]), _WEIGHT, WEIGHT, barred=_unbounded),
    Claim("more", At(measure=DIFFERENCE, score=FIRST), _GAP, BETTER, compared=True),
)
