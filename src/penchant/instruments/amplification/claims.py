"""Claims about amplification: slope and correlation of model and text, compared with the control and between models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.estimates import BEYOND, CORRELATION, EXACT, SLOPE
from penchant.instruments.comparison import difference
from penchant.records import BaseResult
from penchant.report.significance import Shown, told
from penchant.report.verdicts import YES
from penchant.views.claims import MISSING, Claim, Rows, judged
from penchant.views.row_selection import At, Line, RowSource

_SLOPE = Shown(".2f", "words", null=1)
_GAP = Shown("+.2f", "words")
_R = Shown("+.2f", "words", ends=(-1, 1))
SLOPES, CORRELATIONS = 0.2, 0.1
"""The smallest effects of interest: on a slope, a fifth more or less than in the text; and on a correlation."""


def asked(results: Sequence[BaseResult]) -> list[str]:
    """Return the names of all contrasts except the control, in order of appearance."""
    controls = {name for result in results for name in result.items.filter("control")["contrast"]}
    names = dict.fromkeys(name for result in results for name in result.summary["contrast"])
    return [name for name in names if name not in controls]


def _contrasts(source: RowSource) -> tuple[str, ...]:
    return tuple(asked([source.result]) if source.result else source.frame["contrast"].unique(maintain_order=True))


def _of(measure: str) -> Rows:
    """Return a function that yields the estimates of `measure` over all words, one for each contrast."""

    def rows(found: Sequence[RowSource]) -> Iterator[Line]:
        for source in found:
            yield from source.only(At(measure=measure, kind=EVERYTHING, contrast=_contrasts(source)))

    return rows


def _contrast(line: Line) -> str:
    return str(line["contrast"]) if len(_contrasts(line.source)) > 1 else ""


def _mixed(slope: Line, results: Sequence[BaseResult]) -> str:
    """Return "mixed" if the slope differs from 1 but the slope that takes c as exact does not confirm this, else "".

    c is the association in the text. The second slope confirms the first if it differs from 1 in the same direction.
    """
    exact = slope.at(measure=EXACT)
    if exact is None or judged(slope.row, _SLOPE, SLOPES)[0] != YES:
        return ""
    return "" if told(exact.row, 1) and (exact["value"] > 1) == (slope["value"] > 1) else "mixed"


def _control(line: Line, results: Sequence[BaseResult]) -> str:
    return "" if line["contrast"] in asked(results) else MISSING


CLAIMS = (
    Claim("amplifies", _of(SLOPE), _SLOPE, SLOPES, place=_contrast, barred=_mixed),
    Claim("follows", _of(CORRELATION), _R, CORRELATIONS, place=_contrast, figure="slopes"),
    Claim("beyond", _of(BEYOND), _GAP, SLOPES, place=_contrast),
    Claim("more", _of(difference(SLOPE)), _GAP, SLOPES, compared=True, place=_contrast, barred=_control),
)
