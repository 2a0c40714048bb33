"""Contextual vectors of words and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from penchant.engine.base_scorer import Asker
from penchant.engine.forward_requests import Read, VectorRead
from penchant.engine.sentence_scores import numbered
from penchant.engine.word_tokens import (
    Place,
    Pooling,
    SentencePooling,
    WordSpan,
    check_pooling,
    check_sentence_pooling,
    encoded_words,
    no_token,
    refusal,
    resolved_layers,
    sentence_positions,
)
from penchant.errors import DataError, MethodError
from penchant.plurals import counted


class VectorReader(Asker):
    """Scorer that returns hidden vectors of words, spans and sentences."""

    def embed(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]] | None = None,
        *,
        layer: int = -1,
        pooling: Pooling = "mean",
    ) -> NDArray[np.float32]:
        """Return the pooled vectors (n, d) of the tokens that overlap a span in each text (default: the whole text).

        Raises DataError if a span lies outside its text or overlaps no token, MethodError if the layer or pooling is
        unknown or the number of spans differs from the number of texts.
        """
        check_pooling(pooling)
        layers = resolved_layers(self.model, (layer,))
        if spans is None:
            spans = [(0, len(text)) for text in texts]
        if len(spans) != len(texts):
            raise MethodError(
                f"{counted(len(spans), 'spans')} for {counted(len(texts), 'texts')}", hint="give one span per text"
            )
        reads = []
        for (text, where, encoding), (start, end) in zip(self.encode(numbered(texts)), spans, strict=True):
            if not 0 <= start < end <= len(text):
                raise DataError(f"characters {start} to {end} are not a span of '{text}'", where=where)
            word = WordSpan(text, (start, end), where, encoding, tuple(encoding.overlapping(text, start, end)), "")
            if not word.pieces:
                raise no_token(text, word.span, where)
            reads.append(VectorRead(encoding.ids, word.positions(pooling), layers))
        pooled = [vectors[0] for vectors in self._pooled(reads)]
        return np.stack(pooled) if pooled else np.empty((0, self.model.network.width), np.float32)

    def sentence_vectors(
        self,
        texts: Iterable[tuple[str, str]],
        *,
        layers: tuple[int, ...] = (-1,),
        pooling: SentencePooling = "mean",
    ) -> Iterator[NDArray[np.float32]]:
        """Return an iterator over the pooled vectors (layers, d) of each (text, location), in order.

        Pooling `mean` is the mean over the text's own tokens, `mean-special` the mean over the whole input, `cls` the
        vector at the first position of the input, and `last` the vector of the text's last token. Layer 0 is the
        embeddings, −1 the last layer. Raises MethodError for an unknown layer or an unsuitable pooling, DataError for
        an unsuitable text.
        """
        layers = resolved_layers(self.model, layers)
        check_sentence_pooling(self.model, pooling)
        return self._pooled(
            VectorRead(encoding.ids, sentence_positions(encoding, pooling), layers)
            for _, _, encoding in self.encode(texts)
        )

    def word_vectors(
        self,
        places: Iterable[Place],
        *,
        layers: tuple[int, ...] = (-1,),
        pieces: Pooling = "mean",
    ) -> Iterator[NDArray[np.float32]]:
        """Return an iterator over the vectors (layers, d) of the word in each (text, span, location), in order.

        Vectors are pooled over the tokens that overlap the span, with the pooling `pieces`. Consecutive places
        in the same text share a forward pass. Raises MethodError for an unknown layer or pooling, DataError for an
        unsuitable word (see `usable`).
        """
        layers = resolved_layers(self.model, layers)
        check_pooling(pieces)

        def reads() -> Iterator[Read]:
            for word in encoded_words(self.model, places):
                if word.reason:
                    raise refusal(self.model, word)
                yield VectorRead(word.encoding.ids, word.positions(pieces), layers)

        return self._pooled(reads())

    def usable(self, places: Iterable[Place]) -> list[str]:
        """Return, for each (text, span, location), the reason why `word_vectors` rejects the word, or "".

        The reasons are "too long", "special token in the text", "no token" and "unknown to the tokenizer". Unknown
        characters elsewhere in the text are allowed.
        """
        return [word.reason for word in encoded_words(self.model, places)]

    def _pooled(self, reads: Iterable[Read]) -> Iterator[NDArray[np.float32]]:
        return (answer.mean(axis=0) for answer in self.engine.answer(reads))
