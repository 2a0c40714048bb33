"""Sentences with named slots, such as "{target} is {attribute}.", and the places of the words that fill them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penchant.letter_case import capitalised

Span = tuple[int, int]
"""The first character, counted from 0, and the one behind the last."""


def filled(
    slot: re.Pattern[str], text: str, words: Mapping[str, str], *, capital: str | None = None
) -> tuple[str, dict[str, Span]]:
    """Return the text with its slots filled, and the span of every word by the name of its slot.

    `slot` matches a slot, with the name as its one group; with `capital`, a language, a word that comes first begins
    with its capital.
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
