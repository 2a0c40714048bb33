"""Sentences with named slots, such as "{target} is {attribute}.", and where their words stand once they are filled."""

from __future__ import annotations

import re
from collections.abc import Mapping

Span = tuple[int, int]
"""The first character, counted from 0, and the one behind the last."""


def filled(
    slot: re.Pattern[str], text: str, words: Mapping[str, str], *, capital: bool = False
) -> tuple[str, dict[str, Span]]:
    """The text with its slots filled, and the span of every word by the name of its slot. `slot` matches a slot, with
    the name as its one group; with `capital`, a word that comes first begins with a capital."""
    spans: dict[str, Span] = {}
    whole = ""
    for number, part in enumerate(slot.split(text)):  # odd parts are names of slots
        added = words[part] if number % 2 else part
        if number % 2:
            if capital and not whole.strip():
                added = added[:1].upper() + added[1:]
            spans[part] = (len(whole), len(whole) + len(added))
        whole += added
    return whole, spans
