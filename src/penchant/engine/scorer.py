"""The engine's face: sentences in, scores, fillers and vectors out. Probes and users come through here."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from penchant.engine.backends import Backend, LocalBackend
from penchant.engine.cache import Cache
from penchant.engine.engine import Counts, Engine
from penchant.engine.methods import (
    METHODS,
    Method,
    check_normalise,
    mask_of,
    masked_reads,
    method_for,
    normalise,
    shared_tokens,
    token_values,
)
from penchant.engine.pieces import (
    Place,
    Pooling,
    SentencePooling,
    Span,
    check_pooling,
    check_sentence_pooling,
    encoded_words,
    refusal,
    resolved_layers,
    sentence_positions,
    too_long,
)
from penchant.engine.plan import merge
from penchant.engine.reads import LogProbs, Read, TopK, Vectors
from penchant.errors import DataError, MethodError, ModelError
from penchant.models.load import LanguageModel
from penchant.models.tokens import Encoding

if TYPE_CHECKING:
    import polars as pl

GAP = "[MASK]"


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """The score of one sentence, not normalised, and what it is made of.

    `n` is |S|, the tokens of the sentence without special ones. `tokens` are those the method looks at (all of
    them, save for `pll-shared`) and `token_logprobs` their values: natural logs, NaN where a token is not scored.
    """

    text: str
    score: float
    n: int
    tokens: tuple[str, ...]
    token_logprobs: NDArray[np.float64]

    def normalised(self, how: str) -> float:
        """The score under a normalisation of `penchant list methods`."""
        return normalise(self.score, self.n, how)


@dataclass(frozen=True, slots=True)
class SpanScore(SentenceScore):
    """The score of the pieces of one span. `reaches`: one of them holds characters outside of the span too, other than
    white space, such as the beginning of a suffix."""

    reaches: bool


@dataclass(frozen=True, slots=True)
class Filler:
    """A token that fills a gap: as text, its natural log-probability over the whole vocabulary, and whether it is a
    `piece`: no word of its own, but the continuation of the one before the gap ("##eth"), a special token, part of a
    character, or nothing that can be seen."""

    word: str
    logprob: float
    piece: bool = False


class Scorer:
    """One model behind one engine. `batch_tokens` changes speed and memory only."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        cache: str | Path | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[float], None] | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.model = model
        self._cache = Cache(cache, model.fingerprint, model.dtype) if cache is not None else None
        self._engine = Engine(
            backend or LocalBackend(model.network), cache=self._cache, budget=batch_tokens, progress=progress
        )

    @property
    def counts(self) -> Counts:
        """What was asked so far and what it took."""
        return self._engine.counts

    def close(self) -> None:
        """Close the cache."""
        if self._cache:
            self._cache.close()

    def score(self, texts: Iterable[tuple[str, str]], method: str | None = None) -> Iterator[SentenceScore]:
        """Score (text, place) one by one, in order, streaming. Places name texts in errors ("data.tsv, line 7").

        Raises MethodError if the method does not fit the model, DataError at a sentence that cannot be scored.
        """
        how = method_for(method, self.model)
        work = ((text, len(e), e, how.reads(e, self.model, where)) for text, where, e in self._encode(texts))
        return self._scores(how, work)

    def validated(self, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
        """The same texts, raising DataError at the first that cannot be scored; no forward pass."""
        return (text for text, _, _ in self._encode(texts))

    def score_pairs(
        self, pairs: Iterable[tuple[str, str, str]], method: str | None = None
    ) -> Iterator[tuple[SentenceScore, SentenceScore]]:
        """Score pairs (first, second, place), in order, streaming."""
        how = method_for(method, self.model, pair=True)
        encoded = self._encode((text, where) for a, b, where in pairs for text in (a, b))
        scores = self._scores(how, self._pair_reads(how, encoded))
        return zip(scores, scores, strict=True)

    def _pair_reads(
        self, how: Method, encoded: Iterator[tuple[str, str, Encoding]]
    ) -> Iterator[tuple[str, int, Encoding, Iterable[LogProbs]]]:
        for (text_a, where, a), (text_b, _, b) in zip(encoded, encoded, strict=True):
            if how.pair:
                shared_a, shared_b = shared_tokens(a, b)
                if not shared_a:
                    raise DataError("the two sentences share no token", where=where, hint="use method pll")
                yield text_a, len(a), _only(a, shared_a), masked_reads(a, self.model, shared_a)
                yield text_b, len(b), _only(b, shared_b), masked_reads(b, self.model, shared_b)
            else:
                yield text_a, len(a), a, how.reads(a, self.model, where)
                yield text_b, len(b), b, how.reads(b, self.model, where)

    def _encode(self, texts: Iterable[tuple[str, str]], *, gaps: bool = False) -> Iterator[tuple[str, str, Encoding]]:
        stream = iter(texts)
        while part := list(islice(stream, 256)):
            distinct = list(dict.fromkeys(text for text, _ in part))
            encodings = dict(zip(distinct, self.model.tokenizer.encode(distinct), strict=True))
            for text, where in part:
                encoding = encodings[text]
                self.model.tokenizer.require_sound(text, encoding, where, gaps=gaps)
                if len(encoding.ids) > self.model.max_tokens:
                    raise too_long(self.model, encoding, where)
                yield text, where, encoding

    def _scores(
        self, how: Method, work: Iterable[tuple[str, int, Encoding, Iterable[LogProbs]]]
    ) -> Iterator[SentenceScore]:
        waiting: deque[tuple[str, int, Encoding, int]] = deque()

        def reads() -> Iterator[Read]:
            for text, n, encoding, needed in work:
                own = list(needed)
                waiting.append((text, n, encoding, len(own)))
                yield from own

        answers = self._engine.answer(reads())
        for first in answers:
            text, n, encoding, count = waiting.popleft()
            values = token_values([first, *islice(answers, count - 1)], len(encoding))
            strings = tuple(self.model.tokenizer.strings(encoding.tokens))
            yield SentenceScore(text, how.total(values), n, strings, values)

    def spans(self, texts: Iterable[tuple[str, Span, str]]) -> Iterator[SentenceScore]:
        """For each (text, span, place) the log-probability of the tokens of a span of characters, all of them masked at
        once, summed. `n` and `tokens` are those of the span.

        Raises MethodError for a model that has no mask, DataError where tokens reach over the end of a span.
        """
        return self._masked(((text, span, (), where) for text, span, where in texts), one=False, strict=True)

    def masked(
        self,
        places: Iterable[tuple[str, Span, tuple[Span, ...], str]],
        *,
        pieces: Literal["all", "first"] = "all",
    ) -> Iterator[SpanScore]:
        """For each (text, span, hidden spans, place) the log-probability of the pieces of the span, all of them masked
        at once, summed; the pieces of the hidden spans are masked too, and never read (Kurita et al. 2019).

        Pieces are the tokens that overlap a span, so one may hold a part of a suffix as well (see `SpanScore`). With
        `pieces="first"`, as in older code, one mask stands for each span and is read for the first piece of the span;
        the others are NaN. Any order of places costs the same: a call runs each distinct input once.

        Raises MethodError for a model that has no mask, DataError where a span has no token or shares one with a
        hidden span.
        """
        if pieces not in ("all", "first"):
            raise MethodError(f"unknown pieces '{pieces}'", hint="use all or first")
        return self._masked(places, one=pieces == "first", strict=False)

    def _masked(
        self,
        places: Iterable[tuple[str, Span, tuple[Span, ...], str]],
        *,
        one: bool,
        strict: bool,
    ) -> Iterator[SpanScore]:
        self._gap_token()
        mask = mask_of(self.model)
        given = list(places)
        encoded = self._encode((text, where) for text, _, _, where in given)
        asked: list[tuple[str, tuple[int, ...], bool]] = []

        def reads() -> Iterator[LogProbs]:
            for (_, span, hidden, _), (text, where, encoding) in zip(given, encoded, strict=True):
                inside = (_covering if strict else _touching)(encoding, text, span, where)
                groups = [inside, *(_apart(encoding, text, inside, span, other, where) for other in hidden)]
                reaches = any(_beyond(text, encoding.spans[i], span) for i in inside)
                asked.append((text, tuple(encoding.ids[encoding.at[i]] for i in inside), reaches))
                yield _masked_read(encoding, groups, mask, one=one)

        for answer, (text, tokens, reaches) in zip(self._answer_once(reads()), asked, strict=True):
            values = np.full(len(tokens), np.nan)
            values[: len(answer)] = answer
            strings = tuple(self.model.tokenizer.strings(tokens))
            yield SpanScore(text, float(values[: len(answer)].sum()), len(tokens), strings, values, reaches)

    def _answer_once(self, reads: Iterable[LogProbs]) -> Iterator[NDArray[np.generic]]:
        """The answers in order. The engine joins the reads of one input within a window; these come back all over a
        table of templates and words, so they are joined before it sees them. Memory holds every distinct input."""
        merged = merge(reads)
        self.counts.reads += len(merged.owner) - len(merged.inputs)
        distinct = (
            LogProbs(s.ids, tuple(at for at, _ in s.wants), tuple(token for _, token in s.wants), weight=s.weight)
            for s in merged.inputs
        )
        for source, answer in zip(merged.inputs, self._engine.answer(distinct), strict=True):
            source.answer = answer
        return merged.restore()

    def fill(self, texts: Iterable[tuple[str, str]], k: int = 10) -> Iterator[list[list[Filler]]]:
        """For each (text, place) the k most probable fillers of each of its gaps, best first.

        Raises MethodError for a model that has no gaps, DataError for a text without one.
        """
        if k < 1:
            raise MethodError(f"k is {k}", hint="ask for at least one filler")
        mask = self._gap_token()
        encoded = list(self._encode(((text.replace(GAP, mask), where) for text, where in texts), gaps=True))
        reads = []
        for _, where, encoding in encoded:
            gaps = tuple(at for at in encoding.at if encoding.ids[at] == self.model.tokenizer.mask_id)
            if not gaps:
                raise DataError("the text has no gap", where=where, hint=f"put {GAP} where the word goes")
            reads.append(TopK(encoding.ids, gaps, k))
        return (
            [
                [_filler(self.model, *top, joins=joins) for top in gap.tolist()]
                for gap, joins in zip(answer, _joining(text, mask), strict=True)
            ]
            for (text, _, _), answer in zip(encoded, self._engine.answer(reads), strict=True)
        )

    def _gap_token(self) -> str:
        method_for(None, self.model)
        if self.model.kind != "masked" or self.model.tokenizer.mask_id is None:
            raise MethodError(
                f"{self.model.name} is {self.model.kind} and cannot fill a gap inside a sentence",
                hint="use a masked model, or score full sentences with lp",
            )
        return str(self.model.tokenizer.hf.mask_token)

    def embed(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]] | None = None,
        *,
        layer: int = -1,
        pooling: Pooling = "mean",
    ) -> NDArray[np.float32]:
        """Vectors (n, d) of the tokens that overlap each text's span of characters (default: the whole text).

        Raises DataError when a span touches no token.
        """
        check_pooling(pooling)
        layers = resolved_layers(self.model, (layer,))
        if spans is None:
            spans = [(0, len(text)) for text in texts]
        if len(spans) != len(texts):
            raise MethodError(f"{len(texts)} texts and {len(spans)} spans", hint="give one span a text")
        reads = []
        for (text, where, encoding), (start, end) in zip(self._encode(numbered(texts)), spans, strict=True):
            inside = [encoding.at[i] for i in encoding.overlapping(text, start, end)]
            if not inside:
                raise DataError(f"no token of '{text}' lies in characters {start}–{end}", where=where)
            chosen = {"mean": inside, "first": inside[:1], "last": inside[-1:]}[pooling]
            reads.append(Vectors(encoding.ids, tuple(chosen), layers))
        pooled = [vectors[0] for vectors in self._pooled(reads)]
        return np.stack(pooled) if pooled else np.empty((0, self.model.network.width), np.float32)

    def sentence_vectors(
        self,
        texts: Iterable[tuple[str, str]],
        *,
        layers: tuple[int, ...] = (-1,),
        pooling: SentencePooling = "mean",
    ) -> Iterator[NDArray[np.float32]]:
        """For each (text, place) its vectors (layers, d), in order, streaming.

        `mean` is over the text's own tokens and `mean-special` over all of the input; `cls` is the first position of
        the input and `last` the text's last token. Layer 0 is the embeddings, −1 the last; all come from one pass.

        Raises MethodError for a layer or pooling the model does not have, DataError at a text it cannot read.
        """
        layers = resolved_layers(self.model, layers)
        check_sentence_pooling(self.model, pooling)
        return self._pooled(
            Vectors(encoding.ids, sentence_positions(encoding, pooling), layers)
            for _, _, encoding in self._encode(texts)
        )

    def word_vectors(
        self,
        places: Iterable[Place],
        *,
        layers: tuple[int, ...] = (-1,),
        pieces: Pooling = "mean",
    ) -> Iterator[NDArray[np.float32]]:
        """For each (text, span, place) the vectors (layers, d) of the word in that span of characters, pooled over the
        token pieces that overlap it; in order, streaming. Words of one text that follow closely share a pass.

        Raises MethodError for an unknown layer or pooling, DataError at a word that cannot be read (see `usable`).
        """
        layers = resolved_layers(self.model, layers)
        check_pooling(pieces)

        def reads() -> Iterator[Read]:
            for word in encoded_words(self.model, places):
                if word.reason:
                    raise refusal(self.model, word)
                yield Vectors(word.encoding.ids, word.positions(pieces), layers)

        return self._pooled(reads())

    def usable(self, places: Iterable[Place]) -> list[str]:
        """For each place "" if `word_vectors` can read it, else why not: "too long", "special token in the text", "no
        token" or "unknown to the tokenizer". No forward pass. An unknown sign elsewhere in the text is no hindrance.
        """
        return [word.reason for word in encoded_words(self.model, places)]

    def _pooled(self, reads: Iterable[Read]) -> Iterator[NDArray[np.float32]]:
        """The mean (layers, d) over the positions of each read."""
        return (answer.mean(axis=0) for answer in self._engine.answer(reads))


def _touching(encoding: Encoding, text: str, span: Span, where: str) -> list[int]:
    """The tokens that overlap a span, by number. Raises DataError if there is none."""
    start, end = span
    touched = encoding.overlapping(text, start, end)
    if not touched:
        raise DataError(f"no token of '{text}' lies in characters {start}–{end}", where=where)
    # With what stands between them: a piece that is only the space between two words is part of the span.
    return list(range(touched[0], touched[-1] + 1))


def _covering(encoding: Encoding, text: str, span: Span, where: str) -> list[int]:
    """The tokens of a span, by number. Raises DataError unless they cover it and nothing else but white space."""
    start, end = span
    inside = _touching(encoding, text, span, where)
    reach = (encoding.spans[inside[0]][0], encoding.spans[inside[-1]][1])
    if text[reach[0] : reach[1]].strip() != text[start:end].strip():
        raise DataError(
            f"'{text[start:end]}' is no whole number of tokens here, but part of '{text[reach[0] : reach[1]].strip()}'",
            where=where,
            hint="set it apart by spaces, or choose another word",
        )
    return inside


def _apart(encoding: Encoding, text: str, inside: list[int], span: Span, hidden: Span, where: str) -> list[int]:
    """The tokens of a hidden span, by number. Raises DataError if one of them is `inside` the span that is read."""
    tokens = _touching(encoding, text, hidden, where)
    shared = [text[slice(*encoding.spans[i])].strip() for i in tokens if i in inside]
    if shared:
        raise DataError(
            f"'{text[slice(*span)]}' and '{text[slice(*hidden)]}' share the token '{shared[0]}'",
            where=where,
            hint="set them apart by spaces or words",
        )
    return tokens


def _beyond(text: str, token: Span, span: Span) -> bool:
    """Whether a token holds characters outside of the span that are not white space."""
    before, after = text[token[0] : min(token[1], span[0])], text[max(token[0], span[1]) : token[1]]
    return bool(before.strip() or after.strip())


def _masked_read(encoding: Encoding, groups: list[list[int]], mask: int, *, one: bool) -> LogProbs:
    """All tokens of all groups masked, only those of the first group read. `one`: a single mask for each group, and
    so a shorter input."""
    at, ids = encoding.at, encoding.ids
    masked = {at[i] for group in groups for i in group}
    gone = {at[i] for group in groups for i in group[1:]} if one else set()
    read = [at[i] for i in groups[0] if at[i] not in gone]
    return LogProbs(
        tuple(mask if position in masked else token for position, token in enumerate(ids) if position not in gone),
        tuple(position - sum(other < position for other in gone) for position in read),
        tuple(ids[position] for position in read),
    )


def _only(encoding: Encoding, chosen: list[int]) -> Encoding:
    return Encoding(
        encoding.ids,
        tuple(encoding.at[i] for i in chosen),
        tuple(encoding.spans[i] for i in chosen),
        tuple(encoding.words[i] for i in chosen),
    )


def language_model(model: object) -> LanguageModel:
    """The model as a LanguageModel. Raises ModelError for word vectors, which score nothing."""
    if not isinstance(model, LanguageModel):
        raise ModelError("static word vectors give no probabilities", hint="use a masked or causal model")
    return model


def score(
    model: LanguageModel,
    texts: Sequence[str],
    *,
    method: str | None = None,
    normalise: str = "none",
    cache: str | Path | None = None,
    batch_tokens: int | None = None,
) -> pl.DataFrame:
    """Sentence scores as a table: text, score, tokens (their number), token_logprobs (natural log, null: not scored).

    `method` is one of `penchant list methods` (default lp for causal, pll for masked models), `normalise` none,
    mean or pen. Raises MethodError, ModelError or DataError.
    """

    model = language_model(model)
    check_normalise(normalise, method_for(method, model))
    scorer = Scorer(model, cache=cache, batch_tokens=batch_tokens)
    try:
        return scores_frame(scorer.score(numbered(texts), method), normalise)
    finally:
        scorer.close()


def numbered(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Texts with the place errors will name: "text 1", "text 2" …"""
    return ((text, f"text {i}") for i, text in enumerate(texts, start=1))


def scores_frame(scores: Iterable[SentenceScore], how: str) -> pl.DataFrame:
    """Scores as a table, built block by block so that memory holds columns, not objects."""
    import polars as pl

    schema: Any = {
        "text": pl.String,
        "score": pl.Float64,
        "tokens": pl.Int64,
        "token_logprobs": pl.List(pl.Float64),
    }
    stream = iter(scores)
    blocks = [pl.DataFrame(schema=schema)]
    while part := list(islice(stream, 8192)):
        values = [[None if v != v else v for v in s.token_logprobs.tolist()] for s in part]
        rows = {
            "text": [s.text for s in part],
            "score": [s.normalised(how) for s in part],
            "tokens": [s.n for s in part],
            "token_logprobs": values,
        }
        blocks.append(pl.DataFrame(rows, schema=schema))
    return pl.concat(blocks)


def fill(model: LanguageModel, text: str, k: int = 10, *, cache: str | Path | None = None) -> pl.DataFrame:
    """The k most probable fillers of each `[MASK]` of a text: gap, rank, word, logprob, prob, piece.

    `piece` marks a filler that is no word, such as "##eth", which continues the one before it (see `Filler`).
    Probabilities are over the model's whole vocabulary.
    """
    import polars as pl

    model = language_model(model)
    scorer = Scorer(model, cache=cache)
    rows = []
    for gap, best in enumerate(next(scorer.fill([(text, f"'{text}'")], k)), start=1):
        for rank, filler in enumerate(best, start=1):
            rows.append(
                {
                    "gap": gap,
                    "rank": rank,
                    "word": filler.word,
                    "logprob": filler.logprob,
                    "prob": np.exp(filler.logprob),
                    "piece": filler.piece,
                }
            )
    scorer.close()
    return pl.DataFrame(rows)


def _joining(text: str, mask: str) -> list[bool]:
    """For each gap whether a token that starts no word of its own continues one there: not at the start of the text,
    nor right after a sign such as a quotation mark."""
    parts = text.split(mask)[:-1]
    return [
        bool(i or part.strip()) and (not part or part[-1].isspace() or _wordlike(part[-1]))
        for i, part in enumerate(parts)
    ]


def _wordlike(character: str) -> bool:
    """Whether it is a letter, a digit or a mark on one, such as a vowel sign."""
    return unicodedata.category(character)[0] in "LMN"


def _filler(model: LanguageModel, token: int, logprob: float, *, joins: bool) -> Filler:
    """A vocabulary entry as text, and whether it is a piece; `joins`: one without a mark of its own would be."""
    tokenizer = model.tokenizer
    entry = tokenizer.strings([token])[0]
    if entry.startswith("##") or token in tokenizer.hf.all_special_ids:
        return Filler(entry, logprob, piece=True)
    text = tokenizer.decode([token]).strip()
    if "\N{REPLACEMENT CHARACTER}" in text or not any(map(str.isprintable, text)):
        return Filler(text or entry, logprob, piece=True)
    unmarked = tokenizer.word_mark is not None and not entry.startswith(tokenizer.word_mark)
    return Filler(text, logprob, piece=joins and unmarked and any(map(_wordlike, text)))


def embed(
    model: LanguageModel,
    texts: Sequence[str],
    *,
    spans: Sequence[tuple[int, int]] | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
) -> NDArray[np.float32]:
    """Contextual vectors (n, d) of the characters in each text's span (default: the whole text), pooled over their
    tokens. `layer` 0 is the embeddings, −1 the last. Raises DataError when a span touches no token."""
    return Scorer(language_model(model)).embed(texts, spans, layer=layer, pooling=pooling)


__all__ = ["GAP", "METHODS", "Counts", "Filler", "Scorer", "SentenceScore", "SpanScore", "embed", "fill", "score"]
