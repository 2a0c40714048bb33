"""Claims about measures of bias in word vectors: one on each kind of bias, and one on the model with more bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penchant.instruments.comparison import difference
from penchant.instruments.vector_bias.estimates import NAMES
from penchant.instruments.vector_bias.measures import AGAINST, UNION
from penchant.records import BaseResult
from penchant.report.significance import Shown
from penchant.views.claims import Claim
from penchant.views.row_selection import At, Line, RowSource, but
from penchant.wording.phrases import notes_of

_DISTANCE = Shown("+.2f", "words")
_DIVERGENCE = Shown(".2f", "words", " nats")
_DIFFERENCE = Shown("+.2f", "words", " nats")
_CORRELATION = Shown("+.2f", "attributes", null=1, ends=(-1, 1))
CLOSER = 0.05
"""The smallest difference of distances of interest: 5 % of the length of unit vectors, less for longer vectors."""
UNEQUAL = 0.02
"""The smallest divergence of interest: one half of the targets has P(B) 1.5 times as large as the other half."""
REORDERED = 0.1
"""The smallest distance of interest between a rank correlation and 1, as usual for correlations."""


def _nearer(found: Sequence[RowSource]) -> Iterator[Line]:
    """Yield the estimates of RND for A and for B, or those of RIPA if RND was not computed."""
    for source in found:
        rnd, ripa = (source.only(At(measure=NAMES[name], attributes=but(UNION))) for name in ("rnd", "ripa"))
        yield from rnd or ripa


def _of(measure: str) -> At:
    return At(measure=measure, attributes=but(UNION))


def _query(line: Line) -> str:
    """Return the phrase for the category, preceded by the set of attributes unless the measure compares two sets."""
    label = f" ({line['label']})" if line["label"] not in ("", line["category"]) else ""
    attributes = "" if line["attributes"] == AGAINST else f"{line['attributes']} of "
    return f"{attributes}{line['category']}{label}"


def _guesses(line: Line, results: Sequence[BaseResult]) -> str:
    """Return "guesses" if the classifier labels at most half of the held-out attributes correctly, else ""."""
    held_out = [note.params for note in notes_of(line.row) if note.code == "vector_bias.held-out"]
    return "guesses" if any(params["right"] <= params["of"] / 2 for params in held_out if params["of"]) else ""


CLAIMS = (
    Claim("nearer", _nearer, _DISTANCE, CLOSER, place=_query),
    Claim("rated", _of(NAMES["rnsb"]), _DIVERGENCE, UNEQUAL, place=_query, barred=_guesses, figure="measures"),
    Claim("order", _of(NAMES["ect"]), _CORRELATION, REORDERED, place=_query, figure="measures"),
    Claim("more", _of(difference(NAMES["rnsb"])), _DIFFERENCE, UNEQUAL, compared=True, place=_query),
)
