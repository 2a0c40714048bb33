"""Scores of a part of a text given the rest of it, such as a prefix, and of the same tokens given something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from penchant.engine.reads import LogProbs
from penchant.engine.scoring_methods import METHODS, mask_of, method_for, single_token
from penchant.engine.sentence_scores import SentenceScore, SentenceScorer, only
from penchant.engine.span_scores import beyond, touching
from penchant.engine.token_spans import Place, Span, too_long
from penchant.errors import DataError, MethodError
from penchant.models.tokenizer import Encoding
from penchant.plurals import for_one, of_all

Prefixed = tuple[str, str, str]
"""A prefix, the text after it, and the place that errors name."""
Later = Literal["masked", "left out"]
"""The mark in the place of the pieces of a word that are still to be filled in."""


class PrefixScorer(SentenceScorer):
    """Scores parts of texts, with the tokens outside the part as context that is not scored."""

    def parts(self, texts: Iterable[tuple[str, Span, str]], method: str | None = None) -> Iterator[SentenceScore]:
        """Score the characters of a span in each (text, span, place), in order, streaming: with a causal method its
        tokens given all that precedes them, with a masked one given the whole text. `n` and `tokens` are the span's.

        Raises MethodError if the method does not fit the model, DataError where a span has no token, or shares its
        first token with the text before it.
        """
        how = method_for(method, self.model)
        parts = ((place, _part(encoding, *place)) for place, encoding in self.encode_places(texts))
        work = (
            (text[slice(*span)], len(part), part, how.reads(part, self.model, where))
            for (text, span, where), part in parts
        )
        return self._scores(how, work)

    def filled(self, texts: Iterable[tuple[str, Span, str]], *, later: Later) -> Iterator[SentenceScore]:
        """Score the pieces of a word or phrase in each (text, span, place) from left to right: each at a mask, given
        the text around the span and the pieces before it. The pieces after it are `masked` too, or `left out` of the
        input. `score` is the sum of their log-probabilities.

        Raises MethodError for a model without a mask token, DataError where a span has no token.
        """
        self.gap_token()
        mask = mask_of(self.model)
        parts = ((place, only(encoding, touching(encoding, *place))) for place, encoding in self.encode_places(texts))
        work = (
            (text[slice(*span)], len(part), part, _left_to_right(part, mask, later)) for (text, span, _), part in parts
        )
        return self._scores(METHODS["pll"], work)

    def started(self, texts: Iterable[tuple[str, str]]) -> Iterator[SentenceScore]:
        """Score each (text, place) as Nadeem et al. (2021) do with causal models: the first token after the beginning
        token, and every other one given those of the text before it, without the beginning token.

        Without a beginning token the first token is NaN. Raises MethodError for a model that is not causal.
        """
        if self.model.kind != "causal":
            raise MethodError(f"{self.model.name} is {self.model.kind}, and only causal models read from a beginning")
        work = ((text, len(e), e, _from_beginning(e, where)) for text, where, e in self.encode(texts))
        return self._scores(METHODS["lp"], work)

    def given(self, texts: Iterable[Prefixed], method: str | None = None) -> Iterator[SentenceScore]:
        """Score the text of each (prefix, text, place) given its prefix, in order: with a causal method its tokens
        given all before them, with a masked one given prefix and text. A text without a prefix ("") is scored whole.

        Prefix and text are joined as they are written and tokenized together. White space at the border belongs to the
        text.

        Raises MethodError if the method does not fit the model, DataError where prefix and text share a token.
        """
        return self.parts(_joined(texts), method)

    def check_prefixed(self, texts: Iterable[Prefixed]) -> int:
        """Check each (prefix, text, place) before the first forward pass; return their number. Raises DataError at one
        that cannot be scored."""
        return len([_part(encoding, *place) for place, encoding in self.encode_places(_joined(texts))])

    def without(
        self, texts: Iterable[Prefixed], method: str | None = None, *, neutral: str = ""
    ) -> Iterator[SentenceScore]:
        """Score the tokens that each text has after its prefix given a `neutral` text instead, or nothing; each
        distinct input is read once.

        Raises MethodError and DataError as `given`, and MethodError for a model that gives the first token of a text no
        probability, where there is no neutral text.
        """
        how = method_for(method, self.model)
        before = self._tokens(neutral)
        distinct: dict[Encoding, tuple[str, str]] = {}
        of: list[Encoding] = []
        for (whole, span, where), encoding in self.encode_places(_joined(texts)):
            part = after(_part(encoding, whole, span, where), encoding, before)
            if len(part.ids) > self.model.max_tokens:
                raise too_long(self.model, part, where)
            distinct.setdefault(part, (whole[slice(*span)], where))
            of.append(part)
        if self.model.kind == "causal" and any(not part.at[0] for part in distinct):
            raise MethodError(
                f"{self.model.name} has no beginning token, so that the first token of a text has no probability",
                hint="name a neutral text",
            )
        work = ((text, len(part), part, how.reads(part, self.model, where)) for part, (text, where) in distinct.items())
        scores = dict(zip(distinct, self._scores(how, work), strict=True))
        return (scores[part] for part in of)

    def _tokens(self, neutral: str) -> tuple[int, ...]:
        """Return the tokens of a neutral text. Raises DataError for one that cannot be read."""
        if not neutral:
            return ()
        ((_, _, encoding),) = self.encode([(neutral, "the neutral text")])
        return encoding.tokens


def _joined(texts: Iterable[Prefixed]) -> Iterator[Place]:
    """Join prefixes and texts; the span is that of the text."""
    return ((prefix + text, (len(prefix), len(prefix) + len(text)), where) for prefix, text, where in texts)


def _part(encoding: Encoding, text: str, span: Span, where: str) -> Encoding:
    """Return the encoding of a text with the tokens of a span alone; the others are its context. Raises DataError where
    there is no token, or the first of them begins before the span."""
    inside = touching(encoding, text, span, where)
    first = encoding.spans[inside[0]]
    if beyond(text, first, (span[0], len(text))):
        raise DataError(
            f"'{text[slice(*first)].strip()}' is one token of this tokenizer, and only a part of it is to be scored",
            where=where,
            hint="set the two apart by a space, or leave the item out",
        )
    return only(encoding, inside)


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
        raise single_token(where)


def after(part: Encoding, whole: Encoding, before: Sequence[int]) -> Encoding:
    """Return the tokens of a part, the last of a text, after some others instead of those that stand before it; special
    tokens around the text stay."""
    lead, tail = whole.ids[: whole.at[0]], whole.ids[whole.at[-1] + 1 :]
    start = len(lead) + len(before)
    first = next((word for word in part.words if word is not None), 0)
    return Encoding(
        (*lead, *before, *part.tokens, *tail),
        tuple(range(start, start + len(part))),
        tuple((0, 0) for _ in part.spans),
        tuple(None if word is None else word - first for word in part.words),
    )


def touching_cautions(texts: Sequence[Prefixed], noun: str) -> Iterator[str]:
    """Yield what must be said of prefixes that no white space parts from their text, where there is white space in the
    text."""
    with_prefix = [(prefix, text) for prefix, text, _ in texts if prefix]
    touch = sum(
        not (prefix[-1].isspace() or text[:1].isspace()) and any(sign.isspace() for sign in prefix + text)
        for prefix, text in with_prefix
    )
    if touch:
        yield (
            f"{of_all(touch, len(with_prefix), noun, 'have')} no white space after {for_one(touch, 'their')} prefix: "
            "both are joined as they are written"
        )
