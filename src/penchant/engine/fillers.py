"""The most probable fillers of gaps in texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penchant.engine.base_scorer import Asker
from penchant.engine.forward_requests import TopK
from penchant.errors import DataError, MethodError
from penchant.models.load import LanguageModel

GAP = "[MASK]"
"""The marker of a gap in a user's text, for all models."""


@dataclass(frozen=True, slots=True)
class Filler:
    """A token that fills a gap: its text and its natural log-probability over the whole vocabulary.

    `piece` is true if the token is not a word: if it continues the word before the gap ("##eth"), or is a special
    token, a part of a character, or invisible.
    """

    word: str
    logprob: float
    piece: bool = False


class GapFiller(Asker):
    """Scorer for the most probable fillers of gaps."""

    def fill(self, texts: Iterable[tuple[str, str]], k: int = 10) -> Iterator[list[list[Filler]]]:
        """Yield, for each (text, location), the k most probable fillers of each gap in the text, most probable first.

        Raises MethodError if the model has no mask token, DataError if a text has no gap.
        """
        if k < 1:
            raise MethodError(f"k is {k}, but must be at least 1", hint="give the number of fillers to return")
        mask = self.gap_token()
        encoded = list(self.encode(((text.replace(GAP, mask), where) for text, where in texts), gaps=True))
        reads = []
        for _, where, encoding in encoded:
            gaps = tuple(at for at in encoding.at if encoding.ids[at] == self.model.tokenizer.mask_id)
            if not gaps:
                raise DataError("the text has no gap", where=where, hint=f"put {GAP} in place of a word")
            reads.append(TopK(encoding.ids, gaps, k))
        return (
            [
                [_filler(self.model, *entry, joins=joins) for entry in gap.tolist()]
                for gap, joins in zip(answer, _joining(text, mask), strict=True)
            ]
            for (text, _, _), answer in zip(encoded, self.engine.answer(reads), strict=True)
        )


def _joining(text: str, mask: str) -> list[bool]:
    """Return, for each gap (`mask`) in a text, whether a token without a word-start mark would continue a word there.

    It would not continue a word at the start of the text or directly after a character such as a quotation mark.
    """
    parts = text.split(mask)[:-1]
    return [
        bool(i or part.strip()) and (not part or part[-1].isspace() or _wordlike(part[-1]))
        for i, part in enumerate(parts)
    ]


def _wordlike(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def _filler(model: LanguageModel, token: int, logprob: float, *, joins: bool) -> Filler:
    tokenizer = model.tokenizer
    entry = tokenizer.strings([token])[0]
    if entry.startswith("##") or token in tokenizer.hf.all_special_ids:
        return Filler(entry, logprob, piece=True)
    text = tokenizer.decode([token]).strip()
    if "\N{REPLACEMENT CHARACTER}" in text or not any(map(str.isprintable, text)):
        return Filler(text or entry, logprob, piece=True)
    unmarked = tokenizer.word_mark is not None and not entry.startswith(tokenizer.word_mark)
    return Filler(text, logprob, piece=joins and unmarked and any(map(_wordlike, text)))
