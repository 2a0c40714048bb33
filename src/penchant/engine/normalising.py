"""Normalisations: what is made of the log-probability of a sentence before it is compared with that of another.

With log p the score of a sentence under a method, |S| its tokens without special ones, and log u the sum of the
log-probabilities of its scored tokens as unigrams (see `penchant.engine.unigrams`):

    none  log p
    mean  log p / |S|
    pen   log p / ((5 + |S|) / (5 + 1))^0.8    Lau, Armendariz, Lappin, Purver & Shu 2020
    slln  log p / |S|^0.5                      SLLN-LP (Liu et al. 2026); mean is that with the exponent 1
    slor  (log p − log u) / |S|                Pauls & Klein 2012; Lau, Clark & Lappin 2017
    pmi   log p − log p₀                       with a neutral text: Holtzman, West, Shwartz, Choi & Zettlemoyer 2021

For pmi log p is that of a text given its prefix, and log p₀ that of the same tokens given a neutral text, or nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from penchant.engine.methods import Method
from penchant.errors import MethodError, one_of

USUAL = ("none", "mean", "pen")
"""The normalisations that are reported where none is chosen: those that need nothing but the score and its length."""
NORMALISATIONS = (*USUAL, "slln", "slor", "pmi")
CONSTANTS = {"pen": 0.8, "slln": 0.5}
"""The exponent α of the normalisations that have one; a signature says which."""
FREQUENCY = ("slor",)
"""The normalisations that need the frequencies of tokens."""
PREFIXED = ("pmi",)
"""The normalisations of texts that have a prefix."""
NO_UNIGRAMS = "name a table made by penchant corpus unigrams with this model"
"""What to do where frequencies are lacking."""
NO_PREFIX = "name the column of prefixes, or take another normalisation"
"""What to do where prefixes are lacking."""

Number = TypeVar("Number", float, NDArray[np.float64])


def normalise(
    score: Number,
    tokens: int | NDArray[np.integer],
    how: str,
    *,
    unigrams: Number | None = None,
    neutral: Number | None = None,
) -> Number:
    """Normalise a score, or an array of scores, of sentences of some `tokens`. `unigrams` are their log-probabilities
    as unigrams, `neutral` those of the same tokens without their prefix. Raises MethodError where slor or pmi lack
    them."""
    if how == "none":
        return score
    if how in FREQUENCY:
        if unigrams is None:
            raise MethodError(f"normalisation '{how}' needs the frequencies of tokens", hint=NO_UNIGRAMS)
        return cast(Number, (score - unigrams) / tokens)
    if how in PREFIXED:
        if neutral is None:
            raise MethodError(f"normalisation '{how}' is of texts with a prefix", hint=NO_PREFIX)
        return score - neutral
    length = {
        "mean": tokens,
        "pen": ((5 + tokens) / 6) ** CONSTANTS["pen"],
        "slln": tokens ** CONSTANTS["slln"],
    }[how]
    return cast(Number, score / length)


def check_normalise(how: str, method: Method) -> None:
    """Raise MethodError for an unknown normalisation or one that does not apply to the method."""
    if how not in NORMALISATIONS:
        raise MethodError(f"unknown normalisation '{how}'", hint=one_of(how, NORMALISATIONS))
    if how != "none" and method.normalised:
        raise MethodError(
            f"normalisation '{how}' does not apply to {method.name}, which is already independent of length",
            hint="use none",
        )


def check_unigrams(hows: Collection[str], named: bool) -> None:
    """Raise MethodError where frequencies of tokens are needed and none are `named`, or named and not needed."""
    needing = [how for how in hows if how in FREQUENCY]
    if needing and not named:
        raise MethodError(f"normalisation '{needing[0]}' needs the frequencies of tokens", hint=NO_UNIGRAMS)
    if named and hows and not needing:
        raise MethodError(f"unigrams are for the normalisation {' or '.join(FREQUENCY)}", hint="ask for it, too")


def check_prefix(hows: Collection[str], prefixed: bool, neutral: str) -> None:
    """Raise MethodError where texts must be `prefixed` and are not, or a `neutral` text is named and not needed."""
    needing = [how for how in hows if how in PREFIXED]
    if needing and not prefixed:
        raise MethodError(f"normalisation '{needing[0]}' is of texts with a prefix", hint=NO_PREFIX)
    if neutral and not needing:
        raise MethodError(f"a neutral text is for the normalisation {' or '.join(PREFIXED)}", hint="ask for it, too")


def constants(hows: Collection[str]) -> dict[str, object]:
    """The part of a signature about the exponents of some normalisations."""
    return {f"{how}-alpha": alpha for how, alpha in CONSTANTS.items() if how in hows}
