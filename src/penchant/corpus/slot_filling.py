"""Sentences with named slots, such as "{target} is {attribute}.", and the spans of the words that fill them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penchant.letter_case import capitalised

Span = tuple[int, int]
"""Character offsets (start, end) of a span; the end is exclusive."""


def filled(
    slot: re.Pattern[str], text: str, words: Mapping[str, str], *, capital: str | None = None
) -> tuple[str, dict[str, Span]]:
    """Return the text with its slots filled, and the span of each word, keyed by the name of its slot.

    `slot` matches a slot and has one group, the slot's name. If `capital` is given, a word at the beginning of the text
    is capitalised by the rules of that language.
    """
    spans: dict[str, Span] = {}
    whole = ""
    for number, part in enumerate(slot.split(text)):  # odd parts are names of slots
        added = words[part] if number % 2 else part
        if number % 2:
            if capital is not None and not whole.strip():
                added = capitalised(added, capital)
            spans[part] = (len(whole), len(whole) + len(added))
        whole += added
    return whole, spans
