"""Combining marks over letters as commands of LaTeX: pdflatex knows neither the marks nor most letters with them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

IN_TEXT: Mapping[str, str] = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0323": r"\d",
    "\u0327": r"\c",
    "\u0328": r"\k",
    "\u0331": r"\b",
}
"""The accents of LaTeX in text."""
IN_MATHS: Mapping[str, str] = {
    "\u0302": r"\hat",
    "\u0303": r"\tilde",
    "\u0304": r"\bar",
    "\u0307": r"\dot",
    "\u0308": r"\ddot",
}
"""The accents of LaTeX over symbols."""
_LETTERS = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
ACCENTED = f"[{_LETTERS}][{''.join(IN_TEXT)}]+"
"""A Latin letter with marks, in composed text."""
_SYMBOL = re.compile(f"[A-Za-z][{''.join(IN_MATHS)}]")


def composed(text: str) -> str:
    """The text with one character for every Latin letter with marks that pdflatex knows: none beyond U+017F."""
    return re.sub("[A-Za-z][\u0300-\u036f]+", lambda match: _known(match[0]), text)


def _known(letters: str) -> str:
    found = unicodedata.normalize("NFC", letters)
    return found if found[0] <= "\u017f" else letters


def accented(letters: str, *, alone: bool) -> str:
    """A letter with its marks, such as x\u0304: a symbol with an accent where it stands `alone`, else a letter."""
    if alone and _SYMBOL.fullmatch(letters):
        return f"${IN_MATHS[letters[1]]}{{{letters[0]}}}$"
    tex = letters[0]
    for mark in letters[1:]:
        tex = f"{IN_TEXT[mark]}{{{tex}}}"
    return tex


def over_symbol(symbol: str, mark: str) -> str:
    """A symbol in maths, such as $\\sigma$, with a mark over it."""
    return f"${IN_MATHS[mark]}{{{symbol.strip('$')}}}$"
