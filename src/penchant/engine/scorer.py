"""The public interface of the engine: scores, surprisal, fillers and vectors of texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from penchant.call_checks import asked, kind
from penchant.engine.chat_scores import ChatScorer
from penchant.engine.conditional_scores import PrefixScorer
from penchant.engine.fillers import GAP, Filler, GapFiller
from penchant.engine.masked_span_scores import SpanScore, SpanScorer
from penchant.engine.normalisations import PREFIXED, check_normalise, check_prefix, check_unigrams
from penchant.engine.scoring_methods import METHODS, method_for
from penchant.engine.sentence_scores import SentenceScore, numbered, scores_frame, valued
from penchant.engine.unigrams import read_unigrams
from penchant.engine.vectors import VectorReader
from penchant.engine.word_surprisal import WordScorer, listed_words, white_space_words, words_frame
from penchant.engine.word_tokens import Pooling
from penchant.errors import DataError, MethodError, ModelError, shortened
from penchant.models.last_loaded import loaded
from penchant.models.load import LanguageModel, Model
from penchant.models.score_table import Scores
from penchant.plurals import counted, for_one
from penchant.progress import bar
from penchant.tables.in_memory import refuse_file
from penchant.tables.in_memory import texts as listed_texts
from penchant.tables.missing_values import missing_cautions
from penchant.vectors.static_vectors import StaticVectors

if TYPE_CHECKING:
    import polars as pl


class Scorer(PrefixScorer, SpanScorer, WordScorer, GapFiller, VectorReader, ChatScorer):
    """Scorer of sentences, spans, words, gaps, hidden vectors and replies for one model."""


def language_model(model: object, *, probabilities: bool = True) -> LanguageModel:
    """Return a language model; load it if `model` is a name or path.

    Raises ModelError if the model cannot be loaded, or is a table of scores or a set of static word vectors.
    `probabilities` says whether the caller needs probabilities or contextual vectors; it affects only the message for
    word vectors.
    """
    if isinstance(model, str | Path):
        model = loaded(model)
    if isinstance(model, StaticVectors):
        if probabilities:
            raise ModelError("static word vectors provide no probabilities", hint="use a masked or causal model")
        raise ModelError(
            "embed() needs a language model, not static word vectors",
            where=model.name,
            hint="use a masked, causal or encoder model; the vector of a word can be looked up in the file itself",
        )
    if isinstance(model, Scores):
        message = "is a table of sentence scores, not a language model"
        raise ModelError(message, where=model.name, hint="use a language model")
    if not isinstance(model, LanguageModel):
        raise ModelError(f"{kind(model)} is not a model", where="model", hint="pass a model or the name of one")
    return model


def sentence_model(model: object) -> LanguageModel | Scores:
    """Return a model that scores whole sentences: a language model or a table of scores.

    Raises the errors of `language_model`.
    """
    return model if isinstance(model, Scores) else language_model(model)


@asked
def score(
    model: Model | str | Path,
    texts: str | Iterable[str],
    *,
    method: str | None = None,
    normalise: str = "none",
    unigrams: str | Path | None = None,
    prefixes: Iterable[str] | None = None,
    neutral: str = "",
    cache: str | Path | None = None,
    batch_tokens: int | None = None,
) -> pl.DataFrame:
    """Score sentences; return a table with the columns text, score, n_tokens and logprobs.

    `model` is a model or its name. `texts` is a sentence, a list of sentences, or a polars or pandas column. `method`
    is a method listed by `penchant list methods` (default: lp for causal models, pll for masked models). `normalise` is
    none, mean, pen, slln, slor or pmi. slor needs `unigrams`, a table written by `penchant corpus unigrams` for this
    model. If `prefixes` are given, one per text, each text is scored given its prefix, to which it is joined as
    written; pmi subtracts the score of the text after the `neutral` text, or after no text. logprobs are natural
    log-probabilities of tokens, null for tokens that are not scored. `cache` is the path of an answer cache, and
    `batch_tokens` the number of tokens in a batch. Raises MethodError for an unsuitable parameter, DataError for
    an unsuitable text, and ModelError if the model cannot be loaded or used.
    """
    model, text_list = language_model(model), listed_texts(texts)
    check_normalise(normalise, method_for(method, model), model)
    check_unigrams([normalise], unigrams is not None)
    check_prefix([normalise], prefixes is not None, neutral)
    counted = None if unigrams is None else read_unigrams(unigrams, model.tokenizer, model.name)
    before = None if prefixes is None else listed_texts(prefixes, "prefixes")
    for caution in missing_cautions(numbered(text_list), "texts"):
        _warn(caution)
    if before is not None and len(before) != len(text_list):
        message = f"{len(before)} prefixes for {len(text_list)} texts"
        raise DataError(message, where="prefixes", hint="give one prefix per text")
    with _scorer(model, cache, batch_tokens, len(text_list)) as scorer:
        if before is None:
            return scores_frame(valued(scorer.score(numbered(text_list), method), normalise, counted))
        joined = [(prefix, text, place) for prefix, (text, place) in zip(before, numbered(text_list), strict=True)]
        without = scorer.without(joined, method, neutral=neutral) if normalise in PREFIXED else None
        return scores_frame(valued(scorer.given(joined, method), normalise, counted, without))


@asked
def fill(model: Model | str | Path, text: str, k: int = 10, *, cache: str | Path | None = None) -> pl.DataFrame:
    """Return a table of the k most probable fillers of each `[MASK]` in a text.

    The columns are gap, rank, word, logprob, prob and is_piece. is_piece is true for a filler that is not a word, such
    as "##eth", which continues the word before the gap (see `Filler`). Probabilities are over the model's whole
    vocabulary.
    """
    import polars as pl

    model = language_model(model)
    refuse_file(text, "fill(), text")
    with _scorer(model, cache, None, 1) as scorer:
        rows = [
            (gap, rank, filler.word, filler.logprob, float(np.exp(filler.logprob)), filler.piece)
            for gap, best in enumerate(next(scorer.fill([(text, shortened(text))], k)), start=1)
            for rank, filler in enumerate(best, start=1)
        ]
    return pl.DataFrame(rows, ["gap", "rank", "word", "logprob", "prob", "is_piece"], orient="row")


@asked
def surprisal(
    model: Model | str | Path,
    texts: str | Iterable[str],
    *,
    words: Iterable[Sequence[str]] | None = None,
    ids: Iterable[str] | Iterable[int] | None = None,
    method: str | None = None,
    bits: bool = False,
    stride: int | None = None,
    cache: str | Path | None = None,
    batch_tokens: int | None = None,
) -> pl.DataFrame:
    """Return a table of the surprisal of every word in the texts.

    The columns are id (the text's id in `ids`, strings or whole numbers, or by default its number from 1), sentence
    (the number of the line in the text, from 1), index (of the word in its sentence, from 1), word, surprisal (in nats,
    or in bits if `bits`; null if undefined), n_tokens, entropy (of the model's prediction for the word's first token),
    offset (of the word's first character in the text, from 0), model, method and unit.

    Words are separated by white space and include adjacent punctuation, unless `words` lists the words of each text in
    order. For causal models whose tokens include the space before a word, surprisal is corrected at word boundaries
    (Pimentel & Meister 2024); otherwise it is summed over the tokens of a word. For masked models `method` is pll or
    pll-word-l2r, with a warning if it is not given. A text longer than the model's context is processed, with a
    warning, in windows that start `stride` tokens apart (default: half the context). Raises MethodError for an
    unsuitable parameter, DataError for an unsuitable text, and ModelError if the model cannot be loaded or used.
    """
    model, text_list = language_model(model), listed_texts(texts)
    names = list(range(1, len(text_list) + 1)) if ids is None else _ids(ids, len(text_list))
    listed = None if words is None else [list(of_text) for of_text in words]
    if listed is not None and len(listed) != len(text_list):
        message = f"{len(listed)} lists of words for {len(text_list)} texts"
        raise DataError(message, where="words", hint="give one list per text")
    places = [
        (text, white_space_words(text) if listed is None else listed_words(text, listed[i], place), place)
        for i, (text, place) in enumerate(numbered(text_list))
    ]
    for message in missing_cautions(numbered(text_list), "texts"):
        _warn(message)
    if model.kind == "masked" and method is None:
        message = f"{model.name} is a masked model: each token is masked, and the model also sees the words after it"
        _warn(f"{message} (set method='pll' or 'pll-word-l2r' to silence this warning)")
    with _scorer(model, cache, batch_tokens, len(text_list)) as scorer:
        scores, how = scorer.surprisals(places, method, stride), method_for(method, model).name
        frame = words_frame(zip(names, text_list, strict=True), scores, model=model.name, method=how, bits=bits)
        if model.tokenizer.chat_mark:
            _warn(f"first words are scored after {model.tokenizer.chat_mark}, the beginning token of a chat model")
        if scorer.windowed:
            read = f"{counted(scorer.windowed, 'texts')} longer than {model.name} takes"
            _warn(f"{read} {for_one(scorer.windowed, 'were')} read through windows, {scorer.step:,} tokens apart")
        return frame


@contextmanager
def _scorer(model: LanguageModel, cache: str | Path | None, batch_tokens: int | None, texts: int) -> Iterator[Scorer]:
    with bar(model.name, texts) as advance:
        scorer = Scorer(model, cache=cache, batch_tokens=batch_tokens, progress=advance)
        try:
            yield scorer
        finally:
            scorer.close()


def _ids(ids: Iterable[object], texts: int) -> list[str] | list[int]:
    """Return the ids as a list. Raises DataError unless they are unique strings or whole numbers, one per text."""
    listed = list(ids)
    if len(listed) != texts:
        raise DataError(
            f"{counted(len(listed), 'ids')} for {counted(texts, 'texts')}", where="ids", hint="give one id per text"
        )
    if len(set(listed)) < len(listed):
        twice = next(name for number, name in enumerate(listed) if name in listed[:number])
        raise DataError(f"{shortened(twice)} appears twice", where="ids", hint="give each text its own id")
    if all(isinstance(name, str) for name in listed):
        return [str(name) for name in listed]
    for number, name in enumerate(listed, 1):
        if isinstance(name, bool) or not isinstance(name, Integral):
            hint = "use strings or whole numbers"
            raise DataError(f"{shortened(name)} is not an id", where=f"id {number}", hint=hint)
    return [int(name) for name in cast(list[Integral], listed)]


def _warn(message: str) -> None:
    """Issue a warning attributed to the caller of the public function, which is wrapped by `asked`."""
    warnings.warn(message, stacklevel=4)


@asked
def embed(
    model: Model | str | Path,
    texts: str | Iterable[str],
    *,
    spans: Sequence[tuple[int, int]] | tuple[int, int] | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
) -> NDArray[np.float32]:
    """Return the contextual vectors (n, d) of the words or phrases at `spans`, one per text (default: the whole text).

    A span is (start, end), in characters counted from 0, excluding the end, as in `(2, 6)`. `layer` 0 is the
    embeddings, −1 the last layer. `pooling` is "mean" over the tokens of the span, or its "first" or "last" token.
    Raises DataError if a span lies outside its text or overlaps no token.
    """
    text_list, places = listed_texts(texts), None if spans is None else _spans(spans)
    return Scorer(language_model(model, probabilities=False)).embed(text_list, places, layer=layer, pooling=pooling)


def _spans(spans: object) -> list[tuple[int, int]]:
    several = isinstance(spans, Iterable) and not isinstance(spans, str) and not _is_span(spans)
    return [_span(span, number) for number, span in enumerate(cast(Iterable[object], spans) if several else [spans], 1)]


def _span(span: object, number: int) -> tuple[int, int]:
    if not _is_span(span):
        hint = "give the offsets of its start and end in characters, as in spans=[(2, 6)]"
        raise MethodError(f"{shortened(span)} is not a span", where=f"span {number}", hint=hint)
    start, end = cast(tuple[int, int], span)
    return int(start), int(end)


def _is_span(span: object) -> bool:
    return (
        isinstance(span, Sequence | np.ndarray)
        and len(span) == 2
        and all(isinstance(each, Integral) and not isinstance(each, bool) for each in span)
    )


__all__ = [
    "GAP",
    "METHODS",
    "Filler",
    "Scorer",
    "SentenceScore",
    "SpanScore",
    "embed",
    "fill",
    "language_model",
    "numbered",
    "score",
    "scores_frame",
    "sentence_model",
    "surprisal",
    "valued",
]
