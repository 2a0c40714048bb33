"""English pronouns of the third person, and sentences that differ only in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

FORMS = (
    ("he", "she"),
    ("him", "her"),
    ("his", "her"),
    ("his", "hers"),
    ("himself", "herself"),
)
"""The male and the female pronoun of each form."""
MALE = frozenset(male for male, _ in FORMS)
FEMALE = frozenset(female for _, female in FORMS)
_PART = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Difference:
    """The spans of characters (start, end) in which two sentences differ, and their pronouns in lower case."""

    first: tuple[tuple[int, int], ...]
    second: tuple[tuple[int, int], ...]
    pronouns: tuple[tuple[str, str], ...]

    @property
    def gender(self) -> str:
        """The gender of the pronouns in the first sentence."""
        return "male" if self.pronouns[0][0] in MALE else "female"

    def named(self) -> str:
        """Return the pairs of pronouns as one string, masculine first, such as "he/she" or "he/she, his/her"."""
        ordered = (pair if self.gender == "male" else pair[::-1] for pair in self.pronouns)
        return ", ".join("/".join(pair) for pair in ordered)


def difference(first: str, second: str) -> Difference | str:
    """Return the difference of two sentences, or the reason that they are not a pair.

    A pair differs only in pronouns, each of the same form in both, male in one sentence and female in the other.
    """
    parts = [list(_PART.finditer(text)) for text in (first, second)]
    if len(parts[0]) != len(parts[1]):
        return "they differ in more than pronouns"
    apart = [(a, b) for a, b in zip(*parts, strict=True) if a.group() != b.group()]
    if not apart:
        return "they are the same sentence"
    pronouns = [(a.group().lower(), b.group().lower()) for a, b in apart]
    if not all({a, b} <= MALE | FEMALE for a, b in pronouns):
        return "they differ in more than pronouns"
    male_first = pronouns[0][0] in MALE
    ordered = pronouns if male_first else [(b, a) for a, b in pronouns]
    if not all(a in MALE and b in FEMALE for a, b in ordered):
        return "their pronouns are not all male in one sentence and all female in the other"
    unlike = next((pair for pair in ordered if pair not in FORMS), None)
    if unlike is not None:
        return f"their pronouns '{unlike[0]}' and '{unlike[1]}' are of different forms"
    first_spans, second_spans = (tuple(match.span() for match in side) for side in zip(*apart, strict=True))
    return Difference(first_spans, second_spans, tuple(pronouns))
