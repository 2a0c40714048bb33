"""What of a sentence stands in the place of a context's blank."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher

BLANK = "BLANK"
_IGNORED = ("P", "Z", "C")
"""The categories of characters at the ends of words that are no part of them: punctuation and white space."""


@dataclass(frozen=True, slots=True)
class Fill:
    """The fill of a blank: its characters in the sentence, None where there are none. `exact`: the sentence is the
    context with the blank filled."""

    span: tuple[int, int] | None
    exact: bool


def single(context: str) -> bool:
    """Whether a context has one blank only."""
    return context.count(BLANK) == 1


def fill_of(context: str, sentence: str) -> Fill:
    """The fill of a context's (last) blank in a sentence.

    Where the sentence is the context with one blank filled, it is what stands there. Translations often differ
    elsewhere too. Words are then compared without case and punctuation: the fill is what stands between the words of
    the context that the sentence has on both sides of the blank; where nothing does, because the order differs, it is
    the words that the context lacks, if they stand together.
    """
    before, after = context.rsplit(BLANK, 1)
    within = len(sentence) - len(after)
    if single(context) and sentence.startswith(before) and sentence.endswith(after) and within > len(before):
        span = _bare(sentence, len(before), within)
        if span:
            return Fill(span, True)
    return Fill(_aligned(context, sentence), False)


def _aligned(context: str, sentence: str) -> tuple[int, int] | None:
    known, words = _words(context), _words(sentence)
    keys = [context[start:end].casefold() for start, end in known]
    blank = max((i for i, (start, end) in enumerate(known) if BLANK in context[start:end]), default=None)
    own = [sentence[start:end].casefold() for start, end in words]
    blocks = [b for b in SequenceMatcher(None, keys, own, autojunk=False).get_matching_blocks() if b.size]
    if blank is None or not words:
        return None
    first = max((block.b + block.size for block in blocks if block.a < blank), default=0)
    last = min((block.b for block in blocks if block.a > blank), default=len(words))
    if first >= last:
        shared = {i for block in blocks for i in range(block.b, block.b + block.size)}
        lacking = [i for i in range(len(words)) if i not in shared]
        if not lacking or lacking[-1] - lacking[0] + 1 > len(lacking):
            return None
        first, last = lacking[0], lacking[-1] + 1
    return words[first][0], words[last - 1][1]


def _words(text: str) -> list[tuple[int, int]]:
    """The spans of what stands between white space, without punctuation at its ends; what is only that is no word."""
    spans, start = [], 0
    for part in text.split():
        begin = text.index(part, start)
        start = begin + len(part)
        if bare := _bare(text, begin, start):
            spans.append(bare)
    return spans


def _bare(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without punctuation and white space at its ends; None where nothing is left."""
    while start < end and unicodedata.category(text[start])[0] in _IGNORED:
        start += 1
    while start < end and unicodedata.category(text[end - 1])[0] in _IGNORED:
        end -= 1
    return (start, end) if start < end else None
