"""Scores of a part of a text, given the rest of the text, a prefix or another context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from penchant.engine.forward_requests import LogProbs
from penchant.engine.masked_span_scores import beyond, touching
from penchant.engine.scoring_methods import METHODS, mask_of, method_for, single_token
from penchant.engine.sentence_scores import SentenceScore, SentenceScorer, only
from penchant.engine.word_tokens import Place, Span, too_long
from penchant.errors import DataError, MethodError
from penchant.models.tokenizer import Encoding
from penchant.plurals import for_one, of_all

Prefixed = tuple[str, str, str]
"""A prefix, the text after it, and their location for error messages."""
Later = Literal["masked", "left out"]
"""Treatment of the tokens of a span after the scored token: replaced by masks, or removed."""


class PrefixScorer(SentenceScorer):
    """Scorer for parts of texts; tokens outside the part are context and are not scored."""

    def parts(self, texts: Iterable[tuple[str, Span, str]], method: str | None = None) -> Iterator[SentenceScore]:
        """Yield the score of the span's tokens for each (text, span, location), in order.

        A causal method scores each token given all tokens before it, a masked method given the rest of the text. `n`
        and `tokens` of a score refer to the span. Raises MethodError if the method does not fit the model, DataError if
        a span has no token, or shares its first token with the text before it.
        """
        how = method_for(method, self.model)
        parts = ((place, _part(encoding, *place)) for place, encoding in self.encode_places(texts))
        work = (
            (text[slice(*span)], len(part), part, how.reads(part, self.model, where))
            for (text, span, where), part in parts
        )
        return self._scores(how, work)

    def words(
        self, texts: Iterable[tuple[str, Sequence[Span], str]], method: str | None = None
    ) -> Iterator[SentenceScore]:
        """Yield the summed score of the tokens of several spans for each (text, spans, location), in order.

        Tokens are scored as in `parts`. `n` and `tokens` of a score refer to the spans. Raises the errors of `parts`.
        """
        how = method_for(method, self.model)
        parts = (
            (place, only(encoding, [i for span in place[1] for i in _inside(encoding, place[0], span, place[2])]))
            for place, encoding in self.encode_places(texts)
        )
        work = ((text, len(part), part, how.reads(part, self.model, where)) for (text, _, where), part in parts)
        return self._scores(how, work)

    def filled(self, texts: Iterable[tuple[str, Span, str]], *, later: Later) -> Iterator[SentenceScore]:
        """Yield the score of the span's tokens for each (text, span, location), each token predicted at a mask.

        A token is scored given the text around the span and the span's tokens before it. The span's tokens after it are
        also masked if `later` is "masked", or removed if it is "left out". The score is the sum of the tokens'
        log-probabilities. Raises MethodError if the model has no mask token, DataError if a span has no token.
        """
        self.gap_token()
        mask = mask_of(self.model)
        parts = ((place, only(encoding, touching(encoding, *place))) for place, encoding in self.encode_places(texts))
        work = (
            (text[slice(*span)], len(part), part, _left_to_right(part, mask, later)) for (text, span, _), part in parts
        )
        return self._scores(METHODS["pll"], work)

    def started(self, texts: Iterable[tuple[str, str]]) -> Iterator[SentenceScore]:
        """Yield the score of each (text, location) as defined by Nadeem et al. (2021) for causal models.

        The first token is scored given the beginning token; every other token is scored given the text's tokens before
        it, without the beginning token. If the model has no beginning token, the first token's value is NaN. Raises
        MethodError if the model is not causal.
        """
        if self.model.kind != "causal":
            raise MethodError(f"{self.model.name} is {self.model.kind}, but this score needs a causal model")
        work = ((text, len(e), e, _from_beginning(e, where)) for text, where, e in self.encode(texts))
        return self._scores(METHODS["lp"], work)

    def given(self, texts: Iterable[Prefixed], method: str | None = None) -> Iterator[SentenceScore]:
        """Yield the score of the text given its prefix for each (prefix, text, location), in order.

        A causal method scores each token of the text given all tokens before it, a masked method given the prefix and
        the rest of the text. If the prefix is "", the text is scored on its own. Prefix and text are joined as written
        and tokenized together; white space between them belongs to the text. Raises MethodError if the method does not
        fit the model, DataError if prefix and text share a token.
        """
        return self.parts(_joined(texts), method)

    def check_prefixed(self, texts: Iterable[Prefixed]) -> int:
        """Check each (prefix, text, location) without a forward pass; return the number of texts.

        Raises DataError if a text cannot be scored.
        """
        return len([_part(encoding, *place) for place, encoding in self.encode_places(_joined(texts))])

    def without(
        self, texts: Iterable[Prefixed], method: str | None = None, *, neutral: str = ""
    ) -> Iterator[SentenceScore]:
        """Return the scores of the tokens that `given` scores, with each prefix replaced by `neutral`.

        If `neutral` is "", prefixes are removed. Each distinct input is run once. Raises the errors of `given`, and
        MethodError if `neutral` is "" and the model assigns no probability to the first token of a text.
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
                f"{self.model.name} has no beginning token, so the first token of a text has no probability",
                hint="give a neutral text",
            )
        work = ((text, len(part), part, how.reads(part, self.model, where)) for part, (text, where) in distinct.items())
        scores = dict(zip(distinct, self._scores(how, work), strict=True))
        return (scores[part] for part in of)

    def _tokens(self, neutral: str) -> tuple[int, ...]:
        if not neutral:
            return ()
        ((_, _, encoding),) = self.encode([(neutral, "the neutral text")])
        return encoding.tokens


def _joined(texts: Iterable[Prefixed]) -> Iterator[Place]:
    return ((prefix + text, (len(prefix), len(prefix) + len(text)), where) for prefix, text, where in texts)


def _part(encoding: Encoding, text: str, span: Span, where: str) -> Encoding:
    """Return a text's encoding restricted to the tokens of a span; all other tokens become context.

    Raises the errors of `_inside`.
    """
    return only(encoding, _inside(encoding, text, span, where))


def _inside(encoding: Encoding, text: str, span: Span, where: str) -> list[int]:
    """Return the indices of the tokens of a span.

    Raises DataError if the span has no token, or if its first token begins before the span.
    """
    inside = touching(encoding, text, span, where)
    first = encoding.spans[inside[0]]
    if beyond(text, first, (span[0], len(text))):
        raise DataError(
            f"the text to score begins inside the token '{text[slice(*first)].strip()}'",
            where=where,
            hint="put a space before the text to score, or remove the item",
        )
    return inside


def _left_to_right(part: Encoding, mask: int, later: Later) -> Iterator[LogProbs]:
    for number, position in enumerate(part.at):
        ids = list(part.ids)
        for other in part.at[number:]:
            ids[other] = mask
        dropped = set(part.at[number + 1 :]) if later == "left out" else set()
        remaining = tuple(token for place, token in enumerate(ids) if place not in dropped)
        yield LogProbs(remaining, (position,), (part.ids[position],), weight=1 / len(part))


def _from_beginning(encoding: Encoding, where: str) -> Iterator[LogProbs]:
    tokens = encoding.tokens
    if encoding.at[0]:
        yield LogProbs(encoding.ids[:1], (0,), tokens[:1], weight=0.0)
    if len(tokens) > 1:
        yield LogProbs(tokens[:-1], tuple(range(len(tokens) - 1)), tokens[1:])
    elif not encoding.at[0]:
        raise single_token(where)


def after(part: Encoding, whole: Encoding, before: Sequence[int]) -> Encoding:
    """Return the encoding of `part`, the final part of a text, with the text's tokens before it replaced by `before`.

    `whole` is the encoding of the whole text, whose special tokens at both ends are kept.
    """
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
    """Yield one caution if any prefix is not separated from its text by white space, else nothing.

    Pairs of a prefix and a text that contain no white space at all are ignored. `noun` is the plural noun for texts.
    """
    with_prefix = [(prefix, text) for prefix, text, _ in texts if prefix]
    touch = sum(
        not (prefix[-1].isspace() or text[:1].isspace()) and any(sign.isspace() for sign in prefix + text)
        for prefix, text in with_prefix
    )
    if touch:
        yield (
            f"{of_all(touch, len(with_prefix), noun, 'have')} no white space after {for_one(touch, 'their')} prefix: "
            "prefix and text are joined as written"
        )
