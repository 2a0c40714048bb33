"""Prose on fair and original minimal pairs."""

from __future__ import annotations

from collections.abc import Sequence

from penchant.instruments.minimal_pairs import prose as pairs
from penchant.instruments.minimal_pairs.fair_section import sets
from penchant.records import Result


def methods(results: Sequence[Result]) -> list[str]:
    """What was done and how, with citations."""
    return [
        "Two sets of minimal pairs were scored, an original one and a fair one, in which both sentences of every "
        "pair have the same number of tokens under the tokenizers the set was made for [@ueda2024]. Their accuracies "
        "are compared within paradigms, because the two need not have them in the same shares. Pairs that both sets "
        "have are found by their two sentences and count once: the difference then rests on the pairs that they do not "
        "share and on how many those are.",
        *pairs.methods(sets(results)),
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    return [
        "A difference between the two sets is due to token length only as far as the sets are alike otherwise: pairs "
        "generated anew have other words, and pairs kept because they are equal are a selection.",
        *pairs.limits(sets(results)),
    ]
