"""Canonically equivalent spellings of a text, of which the tokenizer's best known is read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from penchant.models.load import LanguageModel
from penchant.models.tokenizer import Encoding, Tokenizer
from penchant.unicode_spellings import Alignment, spellings

_WORDS = re.compile(r"(\s+)")


class EquivalentTokenizer(Tokenizer):
    """A tokenizer that reads a text in the canonically equivalent spelling of which it knows most.

    The spelling as written is preferred. Spans refer to the text as written; `respelt` maps texts to the spellings that
    were read instead.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.__dict__.update(tokenizer.__dict__)
        self.respelt: dict[str, str] = {}

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Tokenize texts, each by itself. Raises DataError for a text that no tokenizer accepts."""
        return [
            encoding if text.isascii() else self._best(text, encoding)
            for text, encoding in zip(texts, super().encode(texts), strict=True)
        ]

    def _best(self, text: str, encoding: Encoding) -> Encoding:
        if not self._lost(text, encoding):
            return encoding
        spelled, best = self._least_lost([text, *spellings(text)])
        if self._lost(spelled, best):
            words = (self._least_lost([word, *spellings(word)])[0] for word in _WORDS.split(text))
            spelled, best = self._least_lost([spelled, "".join(words)])
        if best.ids == encoding.ids:
            return encoding
        self.respelt[text] = spelled
        place = Alignment(spelled, text)
        return replace(best, spans=tuple(place.span(*span) for span in best.spans))

    def _least_lost(self, spelled: Sequence[str]) -> tuple[str, Encoding]:
        """Return the spelling of which the model misses least, the first of several."""
        return min(zip(spelled, super().encode(spelled), strict=True), key=lambda pair: self._lost(*pair))

    def _lost(self, text: str, encoding: Encoding) -> int:
        """Count the parts of a text that the model does not see: unknown tokens, and letters and marks in no token."""
        seen = {place for start, end in encoding.spans for place in range(start, end)}
        dropped = (c for place, c in enumerate(text) if place not in seen and not c.isspace())
        return encoding.tokens.count(self.unknown_id) + sum(unicodedata.category(c)[0] != "C" for c in dropped)


def with_equivalents(model: LanguageModel) -> LanguageModel:
    """Return a model that reads texts with an `EquivalentTokenizer`."""
    tokenizer: object = model.tokenizer
    if not isinstance(tokenizer, Tokenizer):  # a placeholder: the GGUF file is not loaded yet
        return model
    return replace(model, tokenizer=EquivalentTokenizer(tokenizer))


def respelt_words(model: LanguageModel, words: Sequence[str]) -> list[str]:
    """Return the words that a model reads in another spelling."""
    tokenizer = model.tokenizer
    if not isinstance(tokenizer, EquivalentTokenizer):
        return []
    tokenizer.encode(words)
    return [word for word in words if word in tokenizer.respelt]
