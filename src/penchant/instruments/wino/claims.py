"""Claims about WinoBias and Winogender: stereotypes, preferences for one gender, and differences between models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penchant.instruments.wino.bias_estimates import ADJUSTED, PREFERS_MALE, PREFERS_PRO, PRO_DIFFERENCE, STRONG
from penchant.instruments.wino.gender_estimates import EFFECT, MEAN, OCCUPATION, PEARSON, PEARSON_DIFFERENCE
from penchant.instruments.wino.pronoun_scores import ALL
from penchant.records import SIDES, BaseResult
from penchant.report.significance import Shown
from penchant.views.claims import Claim
from penchant.views.row_selection import FIRST, At, Line, sources

_SHARE = Shown(".1f", "pairs", "%", 100, 0.5, (0, 1))
_POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))
_LOG_ODDS = Shown("+.2f", "occupations", " log-odds")
_R = Shown("+.2f", "occupations", ends=(-1, 1))
SHARE, MODELS, CORRELATION = 0.05, 0.02, 0.1
"""Smallest effects of interest: for a share of pairs, for a difference between two shares, and for a correlation."""
ODDS = {"none": 0.2, "pen": 0.1, "mean": 0.02}
"""Smallest log-odds of interest by normalisation.

0.2 favours one pronoun by a fifth (e^0.2 = 1.22); the others are 0.2 normalised by the length of about ten tokens.
"""
_WHOLE: dict[str, Any] = {"scope": "overall", "normalise": FIRST}


def _of(measure: str, **levels: object) -> At:
    return At(measure=measure, normalise=FIRST, **levels)


def _odds(line: Line) -> float:
    return ODDS[line["normalise"]]


def _one_gender(line: Line, results: Sequence[BaseResult]) -> str:
    """Return "one_gender" if a model that `line` is about prefers one gender in nearly all pairs, else ""."""
    models = {line[side] for side in SIDES} if SIDES[0] in line.row else {line.model}
    at = At(measure=PREFERS_MALE, **_WHOLE)
    shares = (row["value"] for source in sources(results) if source.model in models for row in source.only(at))
    return "one_gender" if any(max(share, 1 - share) >= STRONG for share in shares) else ""


BIAS_CLAIMS = (
    Claim("stereotype", At(measure=PREFERS_PRO, **_WHOLE), _SHARE, SHARE, barred=_one_gender),
    Claim("adjusted", At(measure=ADJUSTED, **_WHOLE), _LOG_ODDS, _odds),
    Claim("gender", At(measure=PREFERS_MALE, **_WHOLE), _SHARE, SHARE),
    Claim("more", At(measure=PRO_DIFFERENCE, **_WHOLE), _POINTS, MODELS, compared=True, barred=_one_gender),
)
GENDER_CLAIMS = (
    Claim("women", _of(PEARSON, part=OCCUPATION, share=FIRST), _R, CORRELATION),
    Claim("reference", _of(PEARSON, part=EFFECT, share=FIRST), _R, CORRELATION),
    Claim("gender", _of(MEAN, part=ALL), _LOG_ODDS, _odds),
    Claim("more", _of(PEARSON_DIFFERENCE, part=OCCUPATION, share=FIRST), _R, CORRELATION, compared=True),
)
