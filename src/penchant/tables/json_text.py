"""What no JSON of a user's file may hold, and where it does: repeated keys, endless nesting, characters of no text."""

from __future__ import annotations

import re
from collections.abc import Callable

from penchant.reading import refused_character

DEEPEST = 100
"""The most levels of nesting in a document."""
_LONGEST_NUMBER = 1_000
_PARTS = re.compile(rf'"(?:[^"\\]|\\.)*+"|[\[{{]|[\]}}]|\d{{{_LONGEST_NUMBER},}}', re.DOTALL)
Pairs = list[tuple[str, object]]


class RepeatedKeyError(ValueError):
    """An object names a key twice; the message is that key."""


def without_repeats(normal: Callable[[str], str] = str) -> Callable[[Pairs], dict[str, object]]:
    """A hook for `json.loads`: objects with their keys in a normal form. It raises RepeatedKeyError."""

    def checked(pairs: Pairs) -> dict[str, object]:
        values = {normal(name): value for name, value in pairs}
        if len(values) < len(pairs):
            names = [normal(name) for name, _ in pairs]
            raise RepeatedKeyError(next(name for name in names if names.count(name) > 1))
        return values

    return checked


def excess(text: str) -> tuple[str, int]:
    """Return what is too much in JSON, nesting or a number, and where it is; ("", 0) for nothing."""
    depth = 0
    for part in _PARTS.finditer(text):
        mark = text[part.start()]
        depth += (mark in "[{") - (mark in "]}")
        if depth > DEEPEST:
            return f"it is nested more than {DEEPEST} levels deep", part.start()
        if mark.isdigit():
            return f"a number of {part.end() - part.start():,} digits is too long", part.start()
    return "", 0


def may_be_excessive(text: str) -> bool:
    """Whether `excess` may find anything: it is slow, and this is quick."""
    return text.count("[") + text.count("{") > DEEPEST


def unsound(value: object, key: tuple[str, ...] = ()) -> tuple[tuple[str, ...], str]:
    """The first key below which a text holds what no text can, and what that is; ((), "") for nothing."""
    if isinstance(value, str):
        return key, refused_character(value)
    inside: list[tuple[str, object]] = []
    if isinstance(value, dict):
        for name in value:
            if wrong := refused_character(name):
                return (*key, name.encode("utf-8", "backslashreplace").decode()), wrong
        inside = list(value.items())
    elif isinstance(value, list):
        inside = [(str(number), each) for number, each in enumerate(value)]
    for name, each in inside:
        place, wrong = unsound(each, (*key, name))
        if wrong:
            return place, wrong
    return (), ""
