"""Choice among the canonically equivalent spellings of a text: the one best covered by the tokenizer's vocabulary."""

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
    """A tokenizer that encodes each text in the canonically equivalent spelling best covered by its vocabulary.

    In a tie, the original spelling is used. Spans refer to the original text; `respelt` maps texts to the spellings
    used instead.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.__dict__.update(tokenizer.__dict__)
        self.respelt: dict[str, str] = {}

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Tokenize each text in its best-covered spelling. Raises DataError if a text has a forbidden character."""
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
        return min(zip(spelled, super().encode(spelled), strict=True), key=lambda pair: self._lost(*pair))

    def _lost(self, text: str, encoding: Encoding) -> int:
        """Return the number of unknown tokens plus the number of visible characters that are not part of any token."""
        seen = {place for start, end in encoding.spans for place in range(start, end)}
        dropped = (c for place, c in enumerate(text) if place not in seen and not c.isspace())
        return encoding.tokens.count(self.unknown_id) + sum(unicodedata.category(c)[0] != "C" for c in dropped)


def with_equivalents(model: LanguageModel) -> LanguageModel:
    """Return the model with its tokenizer replaced by an `EquivalentTokenizer`."""
    tokenizer: object = model.tokenizer
    if not isinstance(tokenizer, Tokenizer):  # a placeholder: the GGUF file is not loaded yet
        return model
    return replace(model, tokenizer=EquivalentTokenizer(tokenizer))


def respelt_words(model: LanguageModel, words: Sequence[str]) -> list[str]:
    """Return the words that the model's tokenizer encodes in another spelling."""
    tokenizer = model.tokenizer
    if not isinstance(tokenizer, EquivalentTokenizer):
        return []
    tokenizer.encode(words)
    return [word for word in words if word in tokenizer.respelt]
