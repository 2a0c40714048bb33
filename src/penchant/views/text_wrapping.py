"""Text widths in pixels, estimated for the font of figures, and wrapping or cutting of texts to a width."""

from __future__ import annotations

import re
import unicodedata

_EMS = {0.25: "ijlftI'|.,:;/! ", 0.36: 'r()[]-"', 0.5: "ckszvxyJ", 0.7: "ABCDEFGHKLNOPQRSTUVXYZw&", 0.95: "mMW@%←→…"}
_WIDTHS = {char: ems for ems, chars in _EMS.items() for char in chars}


def text_width(text: str, size: float) -> float:
    """Return the estimated width in pixels of a text whose font is `size` pixels high."""
    return size * sum(map(_ems, text))


def _ems(char: str) -> float:
    if unicodedata.combining(char) or unicodedata.category(char) == "Cf":
        return 0
    return _WIDTHS.get(char, 1.0 if unicodedata.east_asian_width(char) in "WF" else 0.57)


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Break a text into lines of at most `width` pixels: after spaces, and anywhere in words wider than a line."""
    lines = [""]
    for word in re.findall(r"\S*\s*", text):
        for part in [word] if text_width(word.rstrip(), size) <= width else word:
            if lines[-1] and text_width((lines[-1] + part).rstrip(), size) > width:
                lines.append("")
            lines[-1] += part
    return [line.strip() for line in lines]


def cut(text: str, width: float, size: float) -> str:
    """Return a text, or its beginning with an ellipsis if the text is wider than `width` pixels."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text}…"
