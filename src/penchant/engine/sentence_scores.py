"""Scores of sentences and of sentence pairs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penchant.engine.base_scorer import Asker
from penchant.engine.forward_requests import LogProbs, Read
from penchant.engine.normalisations import FREQUENCY, normalise
from penchant.engine.scoring_methods import ScoringMethod, method_for, shared_tokens, token_values
from penchant.engine.unigrams import Unigrams
from penchant.errors import DataError
from penchant.models.tokenizer import Encoding

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """The score of one sentence before normalisation, with the values of its tokens.

    `n` is |S|, the number of tokens without special tokens, or None if a table of scores lacks it. `tokens` are the
    tokens that the method uses (only the shared tokens for `pll-shared`, otherwise all), `ids` their token ids, and
    `token_logprobs` their natural log-probabilities, NaN for tokens that are not scored.
    """

    text: str
    score: float
    n: int | None
    tokens: tuple[str, ...]
    token_logprobs: NDArray[np.float64]
    ids: tuple[int, ...]

    @property
    def scored(self) -> list[int]:
        """The ids of the scored tokens."""
        return [token for token, value in zip(self.ids, self.token_logprobs, strict=True) if value == value]

    def as_unigrams(self, unigrams: Unigrams) -> float:
        """Return the summed unigram log-probability of the scored tokens."""
        return math.fsum(unigrams.logprobs(self.scored))

    def normalised(self, how: str, unigrams: Unigrams | None = None, neutral: float | None = None) -> float:
        """Return the score under the normalisation `how` (see `penchant.engine.normalisations.normalise`)."""
        known = None if unigrams is None or how not in FREQUENCY else self.as_unigrams(unigrams)
        return normalise(self.score, self.n or 0, how, unigrams=known, neutral=neutral)


class SentenceScorer(Asker):
    """Scorer for sentences and sentence pairs."""

    def score(self, texts: Iterable[tuple[str, str]], method: str | None = None) -> Iterator[SentenceScore]:
        """Yield the score of each (text, location), in order.

        Error messages include the location, such as "data.tsv, line 7". Raises MethodError if the method does not fit
        the model, DataError if a sentence cannot be scored.
        """
        how = method_for(method, self.model)
        work = ((text, len(e), e, how.reads(e, self.model, where)) for text, where, e in self.encode(texts))
        return self._scores(how, work)

    def score_pairs(
        self, pairs: Iterable[tuple[str, str, str]], method: str | None = None
    ) -> Iterator[tuple[SentenceScore, SentenceScore]]:
        """Return an iterator over the two scores of each (first, second, location), in order.

        Raises the errors of `score`, and DataError if a method compares shared tokens and a pair has none.
        """
        how = method_for(method, self.model, pair=True)
        encoded = self.encode((text, where) for a, b, where in pairs for text in (a, b))
        scores = self._scores(how, self._pair_reads(how, encoded))
        return zip(scores, scores, strict=True)

    def _pair_reads(
        self, how: ScoringMethod, encoded: Iterator[tuple[str, str, Encoding]]
    ) -> Iterator[tuple[str, int, Encoding, Iterable[LogProbs]]]:
        for (text_a, where, a), (text_b, _, b) in zip(encoded, encoded, strict=True):
            chosen_a, chosen_b = a, b
            if how.pair:
                shared_a, shared_b = shared_tokens(a, b)
                if not shared_a:
                    raise DataError("the two sentences have no token in common", where=where, hint="use the method pll")
                chosen_a, chosen_b = only(a, shared_a), only(b, shared_b)
            yield text_a, len(a), chosen_a, how.reads(chosen_a, self.model, where)
            yield text_b, len(b), chosen_b, how.reads(chosen_b, self.model, where)

    def _scores(
        self, how: ScoringMethod, work: Iterable[tuple[str, int, Encoding, Iterable[LogProbs]]]
    ) -> Iterator[SentenceScore]:
        waiting: deque[tuple[str, int, Encoding, int]] = deque()

        def reads() -> Iterator[Read]:
            for text, n, encoding, needed in work:
                sentence_reads = list(needed)
                waiting.append((text, n, encoding, len(sentence_reads)))
                yield from sentence_reads

        answers = self.engine.answer(reads())
        for first in answers:
            text, n, encoding, count = waiting.popleft()
            values = token_values([first, *islice(answers, count - 1)], len(encoding))
            strings = tuple(self.model.tokenizer.strings(encoding.tokens))
            yield SentenceScore(text, how.total(values), n, strings, values, encoding.tokens)


def only(encoding: Encoding, chosen: list[int]) -> Encoding:
    """Return an encoding restricted to the tokens with the chosen indices; all other tokens become context."""
    return Encoding(
        encoding.ids,
        tuple(encoding.at[i] for i in chosen),
        tuple(encoding.spans[i] for i in chosen),
        tuple(encoding.words[i] for i in chosen),
    )


def numbered(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return an iterator over texts and their locations for error messages, such as "text 1"."""
    return ((text, f"text {i}") for i, text in enumerate(texts, start=1))


Valued = tuple[SentenceScore, float]
"""A sentence score and its normalised value."""


def valued(
    scores: Iterable[SentenceScore],
    how: str,
    unigrams: Unigrams | None = None,
    neutral: Iterable[SentenceScore] | None = None,
) -> Iterator[Valued]:
    """Return an iterator over the scores and their values under the normalisation `how`.

    `neutral` are the scores of the same tokens without their prefixes, in the order of `scores`. Raises MethodError if
    the normalisation needs unigrams or neutral scores that are not given.
    """
    if neutral is None:
        return ((score, score.normalised(how, unigrams)) for score in scores)
    return ((a, a.normalised(how, unigrams, b.score)) for a, b in zip(scores, neutral, strict=True))


def scores_frame(scores: Iterable[Valued]) -> pl.DataFrame:
    """Return a table of scores with the columns text, score, n_tokens and logprobs.

    The scores are consumed in blocks to limit memory use.
    """
    import polars as pl

    schema: Any = {
        "text": pl.String,
        "score": pl.Float64,
        "n_tokens": pl.Int64,
        "logprobs": pl.List(pl.Float64),
    }
    stream = iter(scores)
    blocks = [pl.DataFrame(schema=schema)]
    while part := list(islice(stream, 8192)):
        values = [[None if v != v else v for v in s.token_logprobs.tolist()] for s, _ in part]
        rows = {
            "text": [s.text for s, _ in part],
            "score": [value for _, value in part],
            "n_tokens": [s.n for s, _ in part],
            "logprobs": values,
        }
        blocks.append(pl.DataFrame(rows, schema=schema))
    return pl.concat(blocks)
