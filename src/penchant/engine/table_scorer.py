"""Scorer that reads the scores of whole texts from a table instead of computing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np

from penchant.engine.base_scorer import P
from penchant.engine.engine import EngineCounts
from penchant.engine.forward_requests import LogProbs
from penchant.engine.scorer import Scorer
from penchant.engine.scoring_methods import ScoringMethod
from penchant.engine.sentence_scores import SentenceScore
from penchant.errors import DataError
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores
from penchant.models.tokenizer import Encoding


class GivenScorer(Scorer):
    """Scorer for a table of scores: a text is encoded as one token, whose value is looked up."""

    def __init__(self, scores: Scores, progress: Callable[[float], None]) -> None:
        self.table = scores
        self.progress = progress
        self.model = cast(LanguageModel, scores)  # for its kind and name only
        self.found = EngineCounts()

    @property
    def counts(self) -> EngineCounts:
        """Counts of the texts that were looked up."""
        return self.found

    def encode(
        self, texts: Iterable[tuple[str, str]], *, gaps: bool = False, long: bool = False
    ) -> Iterator[tuple[str, str, Encoding]]:
        """Yield (text, location, encoding) for each (text, location). Raises DataError if texts have no score."""
        listed = list(texts)
        self.table.require(text for text, _ in listed)
        for text, where in listed:
            yield text, where, Encoding((self.table.index[text],), (0,), ((0, len(text)),), (0,))

    def encode_places(self, places: Iterable[P], *, gaps: bool = False) -> Iterator[tuple[P, Encoding]]:
        """Return an iterator over the tuples in `places`, each paired with the encoding of its text.

        The second item of a tuple is the span to score. Raises DataError if a span is not the whole text.
        """
        listed = list(places)
        for place in listed:
            if place[1] != (0, len(place[0])):
                message = "only a part of the text is to be scored, but a table has only scores of whole texts"
                raise DataError(message, where=place[-1], hint="use a language model, or remove the item")
        return super().encode_places(listed, gaps=gaps)

    def _scores(
        self, how: ScoringMethod, work: Iterable[tuple[str, int, Encoding, Iterable[LogProbs]]]
    ) -> Iterator[SentenceScore]:
        for text, _, _, _ in work:
            row = self.table.rows[text]
            self.found.reads += 1
            self.found.inputs += 1
            self.progress(1)
            tokens: tuple[str, ...] = tuple(row.tokens or ())
            values: list[Any] = [None] * len(tokens) if row.logprobs is None or not tokens else row.logprobs
            yield SentenceScore(text, row.score, row.n, tokens, np.array(values, np.float64), ())
