"""Scores of a part of a text, given the rest of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from penchant.engine.methods import METHODS, mask_of, method_for
from penchant.engine.pieces import Span
from penchant.engine.reads import LogProbs
from penchant.engine.scores import SentenceScore, SentenceScorer, only
from penchant.engine.spans import beyond, touching
from penchant.errors import DataError, MethodError
from penchant.models.tokenizer import Encoding

Later = Literal["masked", "left out"]
"""What stands in the place of the pieces of a word that are still to be filled in."""


class PartScorer(SentenceScorer):
    """Scores parts of texts, with the tokens outside the part as context that is not scored."""

    def parts(self, texts: Iterable[tuple[str, Span, str]], method: str | None = None) -> Iterator[SentenceScore]:
        """Score the characters of a span in each (text, span, place), in order, streaming: with a causal method its
        tokens given all that precedes them, with a masked one given the whole text. `n` and `tokens` are the span's.

        Raises MethodError if the method does not fit the model, DataError where a span has no token, or shares its
        first token with the text before it.
        """
        how = method_for(method, self.model)
        listed = list(texts)
        encoded = self.encode((text, where) for text, _, where in listed)

        def work() -> Iterator[tuple[str, int, Encoding, Iterable[LogProbs]]]:
            for (_, span, _), (text, where, encoding) in zip(listed, encoded, strict=True):
                part = part_of(encoding, text, span, where)
                yield text[slice(*span)], len(part), part, how.reads(part, self.model, where)

        return self._scores(how, work())

    def filled(self, texts: Iterable[tuple[str, Span, str]], *, later: Later) -> Iterator[SentenceScore]:
        """Score the pieces of a word or phrase in each (text, span, place) from left to right: each at a mask, given
        the text around the span and the pieces before it. The pieces after it are `masked` too, or `left out` of the
        input. `score` is the sum of their log-probabilities.

        Raises MethodError for a model without a mask token, DataError where a span has no token.
        """
        self.gap_token()
        mask = mask_of(self.model)
        listed = list(texts)
        encoded = self.encode((text, where) for text, _, where in listed)

        def work() -> Iterator[tuple[str, int, Encoding, Iterable[LogProbs]]]:
            for (_, span, _), (text, where, encoding) in zip(listed, encoded, strict=True):
                part = only(encoding, touching(encoding, text, span, where))
                yield text[slice(*span)], len(part), part, _left_to_right(part, mask, later)

        return self._scores(METHODS["pll"], work())

    def started(self, texts: Iterable[tuple[str, str]]) -> Iterator[SentenceScore]:
        """Score each (text, place) as Nadeem et al. (2021) do with causal models: the first token after the beginning
        token, and every other one given those of the text before it, without the beginning token.

        Without a beginning token the first token is NaN. Raises MethodError for a model that is not causal.
        """
        if self.model.kind != "causal":
            raise MethodError(f"{self.model.name} is {self.model.kind}, and only causal models read from a beginning")
        work = ((text, len(e), e, _from_beginning(e, where)) for text, where, e in self.encode(texts))
        return self._scores(METHODS["lp"], work)


def part_of(encoding: Encoding, text: str, span: Span, where: str) -> Encoding:
    """The encoding of a text with the tokens of a span alone; the others are its context. Raises DataError where there
    is no token, or the first of them begins before the span."""
    return only(encoding, _inside(encoding, text, span, where))


def _inside(encoding: Encoding, text: str, span: Span, where: str) -> list[int]:
    """The numbers of the tokens of a span. Raises DataError where the first of them begins before it."""
    inside = touching(encoding, text, span, where)
    first = encoding.spans[inside[0]]
    if beyond(text, first, (span[0], len(text))):
        raise DataError(
            f"'{text[slice(*first)].strip()}' is one token of this tokenizer, and only a part of it is to be scored",
            where=where,
            hint="set the two apart by a space, or leave the item out",
        )
    return inside


def _left_to_right(part: Encoding, mask: int, later: Later) -> Iterator[LogProbs]:
    for number, position in enumerate(part.at):
        ids = list(part.ids)
        for other in part.at[number:]:
            ids[other] = mask
        dropped = set(part.at[number + 1 :]) if later == "left out" else set()
        kept = tuple(token for place, token in enumerate(ids) if place not in dropped)
        yield LogProbs(kept, (position,), (part.ids[position],), weight=1 / len(part))


def _from_beginning(encoding: Encoding, where: str) -> Iterator[LogProbs]:
    tokens = encoding.tokens
    if encoding.at[0]:
        yield LogProbs(encoding.ids[:1], (0,), tokens[:1], weight=0.0)
    if len(tokens) > 1:
        yield LogProbs(tokens[:-1], tuple(range(len(tokens) - 1)), tokens[1:])
    elif not encoding.at[0]:
        raise DataError(
            "a single token cannot be scored: the model has no beginning token", where=where, hint="remove the item"
        )
