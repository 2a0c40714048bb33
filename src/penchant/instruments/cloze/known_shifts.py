"""Check of β (valence) and δ (how well β suits a sentence) on sentences with known values of both.

The sentences are made of words that the model itself predicts. Ratings are assigned to some of the words predicted in
their gaps, and changed in known ways. The expected values follow from the probabilities of a plain forward pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import polars as pl

from penchant.errors import ModelError
from penchant.instruments.cloze.data import GAP
from penchant.instruments.cloze.five_point_scale import POINTS
from penchant.instruments.cloze.probe import Cloze
from penchant.instruments.cloze.settings import MEASURES
from penchant.instruments.session import require_masked
from penchant.models.load import LanguageModel
from penchant.models.reference_gap_predictions import WordProbability, plain_words

TOLERANCE = 1e-6
"""Largest difference between expected and found β or δ."""
ASSIGNED = (1.0, -1.0, 0.5, -0.5, 0.0, 0.0)
"""Ratings assigned in turn to the rated words of a sentence; each sentence starts at a different rating."""
_MOVED = (2, 3, 4)
"""Indices of the assigned ratings that the shifts by ±½ change."""
SENTENCES, K = 6, 40
"""Number of sentences, and k of the instrument; the rated words are among the first half of the k words."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of the assigned ratings, or of all expected points.

    `rating` returns the new rating for an index in `ASSIGNED`; `expected` is the new expected point of all sentences,
    or None if their expected points, which differ, are kept.
    """

    name: str
    rating: Callable[[int], float] = lambda place: ASSIGNED[place]
    expected: float | None = None


def _moved(by: float) -> Callable[[int], float]:
    return lambda place: ASSIGNED[place] + (by if place in _MOVED else 0.0)


SHIFTS = (
    Shift("none"),
    Shift("sign of all ratings", lambda place: -ASSIGNED[place]),
    Shift("half of the ratings by +½", _moved(0.5)),
    Shift("half of the ratings by −½", _moved(-0.5)),
    Shift("all ratings to 1", lambda place: 1.0),
    Shift("expected point to −1", expected=-1.0),
    Shift("expected point to 0", expected=0.0),
    Shift("expected point to 1", expected=1.0),
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its gap, its rated words, and its number, which determines its ratings and its expected point."""

    text: str
    words: Sequence[WordProbability]
    number: int

    def rating(self, shift: Shift, place: int) -> float:
        return shift.rating((place + self.number) % len(ASSIGNED))

    def expected(self, shift: Shift) -> float:
        return POINTS[self.number % len(POINTS)] if shift.expected is None else shift.expected

    def values(self, shift: Shift) -> tuple[float, float, float]:
        """Return β, δ and the rated share after a shift, computed from their definitions."""
        beta = math.fsum(word.p * self.rating(shift, place) for place, word in enumerate(self.words))
        return beta, 1 - abs(self.expected(shift) - beta) / 2, math.fsum(word.p for word in self.words)


def check_shifts(model: LanguageModel) -> pl.DataFrame:
    """Return one row per shift: mean β and δ, expected and found, and the largest difference in any sentence or mean.

    The verdict is "pass" if no β, δ or rated share, in a sentence or on average, differs from the expected value by
    more than `TOLERANCE`. Raises MethodError unless the model is masked, and ModelError if it predicts too few whole
    words.
    """
    require_masked(Cloze.name, model)
    sentences = list(islice(_sentences(model), SENTENCES))
    if not sentences:
        raise ModelError("predicts too few whole words: tests need two around a gap and two in it", where=model.name)
    data = {
        "scale": {"low": "low", "high": "high"},
        "sentences": [
            (f"{number}-{each.number}", each.text, each.expected(shift), shift.name)
            for number, shift in enumerate(SHIFTS)
            for each in sentences
        ],
        "ratings": [
            (f"{number}-{each.number}", word.word, "assigned", each.rating(shift, place))
            for number, shift in enumerate(SHIFTS)
            for each in sentences
            for place, word in enumerate(each.words)
        ],
    }
    found = Cloze(data, k=K, draws=1).run(model, progress=False)
    return pl.DataFrame([_row(model, shift, sentences, found.items, found.summary) for shift in SHIFTS])


def _row(
    model: LanguageModel, shift: Shift, sentences: Sequence[_Sentence], items: pl.DataFrame, summary: pl.DataFrame
) -> dict[str, str | float]:
    """Return the row that `check_shifts` reports for a shift."""
    expected = [each.values(shift) for each in sentences]
    measured = items.filter(group=shift.name).select(*MEASURES).rows()
    means = [math.fsum(column) / len(column) for column in zip(*expected, strict=True)]
    found = [summary.filter(group=shift.name, measure=name)["value"].item() for name in MEASURES.values()]
    rows = zip([*expected, means], [*measured, found], strict=True)
    worst = max(abs(one - other) for first, second in rows for one, other in zip(first, second, strict=True))
    return {
        "model": model.name,
        "shift": shift.name,
        "β expected": means[0],
        "β found": found[0],
        "δ expected": means[1],
        "δ found": found[1],
        "largest difference": worst,
        "verdict": "pass" if worst <= TOLERANCE else "fail",
    }


def _sentences(model: LanguageModel) -> Iterator[_Sentence]:
    """Yield sentences of two words around a gap, with at least two rated words."""
    first = [each.word for each in plain_words(model, "", "", most=20 * SENTENCES)]
    for number, (one, other) in enumerate(pairwise(first)):
        words = plain_words(model, f"{one} ", f" {other}", most=K // 2)[: len(ASSIGNED)]
        if len(words) > 1:
            yield _Sentence(f"{one} {GAP} {other}", words, number)
