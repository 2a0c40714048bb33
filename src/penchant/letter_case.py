"""Language-specific conversion between upper and lower case.

The rules are those of Unicode's SpecialCasing.txt for Turkish, Azerbaijani and Lithuanian, and of CLDR for the Dutch
digraph ij. A language is given as a BCP 47 tag; Python's own methods are used for all other languages.
"""

from __future__ import annotations

import regex

WITH_RULES = ("tr", "az", "lt", "nl")
"""The languages with language-specific rules."""
_DOTLESS = ("tr", "az")
_BELOW = r"[\p{M}--[\p{ccc=0}\p{ccc=230}]]*"
"""Combining marks that do not interact with a mark above the letter."""
_DOTTED_I = regex.compile(rf"I({_BELOW})\u0307", regex.V1)
_MORE_ABOVE = regex.compile(rf"[IJĮ](?={_BELOW}\p{{ccc=230}})", regex.V1)
_LITHUANIAN = {"Ì": "i̇̀", "Í": "i̇́", "Ĩ": "i̇̃"}
_IJ = regex.compile(r"ij|(?:i\u0301|í)j\u0301", regex.IGNORECASE)


def lowered(text: str, language: str = "und") -> str:
    """Return the text in lower case by the rules of a language."""
    tongue = _tongue(language)
    if tongue in _DOTLESS:
        text = _DOTTED_I.sub(r"i\1", text).replace("İ", "i").replace("I", "ı")
    elif tongue == "lt":
        text = _MORE_ABOVE.sub(lambda letter: f"{letter[0].lower()}\u0307", text)
        text = "".join(_LITHUANIAN.get(letter, letter) for letter in text)
    return text.lower()


def capitalised(text: str, language: str = "und") -> str:
    """Return the text with its first letter in title case, as at the beginning of a sentence: İlk, IJs."""
    tongue = _tongue(language)
    if tongue in _DOTLESS and text[:1] == "i":
        return f"İ{text[1:]}"
    if tongue == "nl" and (digraph := _IJ.match(text)):
        return text[: digraph.end()].upper() + text[digraph.end() :]
    if tongue == "lt" and text[:1] in ("i", "j", "į") and text[1:2] == "\u0307":
        return text[0].upper() + text[2:]
    return text[:1].title() + text[1:]


def folded(text: str, language: str = "und") -> str:
    """Return the text folded for case-insensitive comparison."""
    return (lowered(text, language) if has_rules(language) else text).casefold()


def has_rules(language: str) -> bool:
    """Return whether a language has its own case rules."""
    return _tongue(language) in WITH_RULES


def _tongue(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()
