"""Numbers with agreeing nouns and verbs: "1 pair", "2 pairs"; "1 of 3 pairs has", "2 of 3 pairs have"."""

from __future__ import annotations

from collections.abc import Sequence

_IRREGULAR = {
    "stimuli": "stimulus",
    "strata": "stratum",
    "phenomena": "phenomenon",
    "data sets": "data set",
    "have": "has",
    "are": "is",
    "were": "was",
    "do": "does",
    "begin": "begins",
    "go": "goes",
    "hold": "holds",
    "lack": "lacks",
    "lie": "lies",
    "occur": "occurs",
    "pass": "passes",
    "tie": "ties",
    "ties": "tie",
    "vary": "varies",
    "they": "it",
    "their": "its",
    "them": "it",
}


def for_one(n: int, word: str) -> str:
    """Return the singular of a plural noun, verb or pronoun if n is 1, and the word unchanged otherwise."""
    if n != 1:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "sses")) else word.removesuffix("s")


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, such as "1 pair" or "2 pairs", given the plural noun."""
    return f"{n:,} {for_one(n, noun)}"


def of_all(n: int, whole: int, noun: str, verb: str = "") -> str:
    """Return a phrase such as "1 of 3 pairs has", given the plural noun and verb."""
    return f"{n:,} of {whole:,} {for_one(whole, noun)}" + (f" {for_one(n, verb)}" if verb else "")


def first_of(texts: Sequence[object], most: int, *, separator: str = ", ") -> str:
    """Return the first `most` texts and the number of others, joined: "a, b and 3 more", or "a; b; and 3 more"."""
    shown, rest = separator.join(map(str, texts[:most])), len(texts) - most
    return f"{shown}{' ' if separator == ', ' else separator}and {rest:,} more" if rest > 0 else shown
