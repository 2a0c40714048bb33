"""Scores of character spans whose tokens are all masked at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from penchant.engine.base_scorer import Asker
from penchant.engine.batch_plan import merge
from penchant.engine.forward_requests import LogProbs
from penchant.engine.scoring_methods import mask_of
from penchant.engine.sentence_scores import SentenceScore
from penchant.engine.word_tokens import Span, no_token
from penchant.errors import DataError, MethodError, one_of
from penchant.models.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class SpanScore(SentenceScore):
    """The score of the tokens that overlap one span.

    `reaches` is true if a token also covers characters outside the span other than white space, such as the beginning
    of a suffix.
    """

    reaches: bool


class SpanScorer(Asker):
    """Scorer for masked words and phrases within a sentence."""

    def spans(self, texts: Iterable[tuple[str, Span, str]]) -> Iterator[SentenceScore]:
        """Yield the score of each (text, span, location) as `masked` does, without hidden spans.

        Raises the errors of `masked`, and DataError if a token extends beyond the span.
        """
        return self._masked(((text, span, (), where) for text, span, where in texts), one=False, strict=True)

    def masked(
        self,
        places: Iterable[tuple[str, Span, tuple[Span, ...], str]],
        *,
        pieces: Literal["all", "first"] = "all",
        gaps: bool = False,
    ) -> Iterator[SpanScore]:
        """Yield, for each (text, span, hidden spans, location), the summed log-probability of the span's masked tokens.

        All tokens of the span are masked at once. The tokens of the hidden spans are also masked, but not scored
        (Kurita et al. 2019). All tokens that overlap the span are scored, even if they include part of a suffix (see
        `SpanScore`). With `pieces="first"`, each span is replaced by one mask, at which the span's first token is
        scored; the values of its other tokens are NaN. `gaps` allows mask tokens in a text, which are kept. Each
        distinct input is run once per call.

        Raises MethodError if the model has no mask token, DataError if a span has no token or shares a token with a
        hidden span.
        """
        if pieces not in ("all", "first"):
            raise MethodError(f"unknown value '{pieces}' for pieces", hint=one_of(pieces, ("all", "first")))
        return self._masked(places, one=pieces == "first", strict=False, gaps=gaps)

    def _masked(
        self,
        places: Iterable[tuple[str, Span, tuple[Span, ...], str]],
        *,
        one: bool,
        strict: bool,
        gaps: bool = False,
    ) -> Iterator[SpanScore]:
        self.gap_token()
        mask = mask_of(self.model)
        encoded = self.encode_places(places, gaps=gaps)
        pending: list[tuple[str, tuple[int, ...], bool]] = []

        def reads() -> Iterator[LogProbs]:
            for (text, span, hidden, where), encoding in encoded:
                inside = (_covering if strict else touching)(encoding, text, span, where)
                groups = [inside, *(_apart(encoding, text, inside, span, other, where) for other in hidden)]
                reaches = any(beyond(text, encoding.spans[i], span) for i in inside)
                pending.append((text, tuple(encoding.ids[encoding.at[i]] for i in inside), reaches))
                yield _masked_read(encoding, groups, mask, one=one)

        for answer, (text, tokens, reaches) in zip(self._answer_once(reads()), pending, strict=True):
            values = np.full(len(tokens), np.nan)
            values[: len(answer)] = answer
            strings = tuple(self.model.tokenizer.strings(tokens))
            yield SpanScore(text, float(values[: len(answer)].sum()), len(tokens), strings, values, tokens, reaches)

    def _answer_once(self, reads: Iterable[LogProbs]) -> Iterator[NDArray[np.generic]]:
        """Return an iterator over the answers to the requests, in order, running each distinct input only once.

        All distinct inputs are kept in memory.
        """
        merged = merge(reads)
        self.counts.reads += len(merged.owner) - len(merged.inputs)
        distinct = (
            LogProbs(s.ids, tuple(at for at, _ in s.wants), tuple(token for _, token in s.wants), weight=s.weight)
            for s in merged.inputs
        )
        for source, answer in zip(merged.inputs, self.engine.answer(distinct), strict=True):
            source.answer = answer
        return merged.restore()


def touching(encoding: Encoding, text: str, span: Span, where: str) -> list[int]:
    """Return the indices of the tokens that overlap a span. Raises DataError if there are none."""
    touched = encoding.overlapping(text, *span)
    if not touched:
        raise no_token(text, span, where)
    # Include the tokens in between: a token of white space between two words is part of the span.
    return list(range(touched[0], touched[-1] + 1))


def _covering(encoding: Encoding, text: str, span: Span, where: str) -> list[int]:
    """Return the indices of a span's tokens. Raises DataError if they do not match the span, apart from white space."""
    start, end = span
    inside = touching(encoding, text, span, where)
    reach = (encoding.spans[inside[0]][0], encoding.spans[inside[-1]][1])
    if text[reach[0] : reach[1]].strip() != text[start:end].strip():
        raise DataError(
            f"'{text[start:end]}' does not match whole tokens: it is part of '{text[reach[0] : reach[1]].strip()}'",
            where=where,
            hint="put spaces around it, or choose another word",
        )
    return inside


def _apart(encoding: Encoding, text: str, inside: list[int], span: Span, hidden: Span, where: str) -> list[int]:
    """Return the indices of the tokens of `hidden`. Raises DataError if one is among `inside`, the tokens of `span`."""
    tokens = touching(encoding, text, hidden, where)
    shared = [text[slice(*encoding.spans[i])].strip() for i in tokens if i in inside]
    if shared:
        raise DataError(
            f"'{text[slice(*span)]}' and '{text[slice(*hidden)]}' share the token '{shared[0]}'",
            where=where,
            hint="separate them with a space or a word",
        )
    return tokens


def beyond(text: str, token: Span, span: Span) -> bool:
    """Return whether a token covers characters outside the span other than white space."""
    before, after = text[token[0] : min(token[1], span[0])], text[max(token[0], span[1]) : token[1]]
    return bool(before.strip() or after.strip())


def _masked_read(encoding: Encoding, groups: list[list[int]], mask: int, *, one: bool) -> LogProbs:
    """Return the request for the first group's tokens, with the tokens of all groups masked.

    If `one` is true, each group is replaced by a single mask, which shortens the input.
    """
    at, ids = encoding.at, encoding.ids
    masked = {at[i] for group in groups for i in group}
    dropped = {at[i] for group in groups for i in group[1:]} if one else set()
    read = [at[i] for i in groups[0] if at[i] not in dropped]
    return LogProbs(
        tuple(mask if position in masked else token for position, token in enumerate(ids) if position not in dropped),
        tuple(position - sum(other < position for other in dropped) for position in read),
        tuple(ids[position] for position in read),
    )
