"""Normalisations of a sentence's log-probability, for example for its length."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from penchant.engine.scoring_methods import ScoringMethod
from penchant.errors import MethodError, one_of
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores

USUAL = ("none", "mean", "pen")
"""The default normalisations, which need only a sentence's score and length."""
NORMALISATIONS = (*USUAL, "slln", "slor", "pmi")
CONSTANTS = {"pen": 0.8, "slln": 0.5}
"""Exponents α of normalisations, as recorded in signatures."""
FREQUENCY = ("slor",)
"""The normalisations that need token frequencies."""
PREFIXED = ("pmi",)
"""The normalisations that need texts with a prefix."""

Number = TypeVar("Number", float, NDArray[np.float64])


def normalise(
    score: Number,
    tokens: int | NDArray[np.integer],
    how: str,
    *,
    unigrams: Number | None = None,
    neutral: Number | None = None,
) -> Number:
    """Return the value of a score log p, or of each score in an array, under the normalisation `how`.

    `tokens` is |S|, the number of tokens without special tokens. `unigrams` are the unigram log-probabilities log u of
    the scored tokens, needed by slor. `neutral` are the scores log p₀ of the same tokens after a neutral text, or after
    no text, needed by pmi. Raises MethodError if a needed argument is missing.

        none  log p
        mean  log p / |S|
        pen   log p / ((5 + |S|) / (5 + 1))^0.8    Lau, Armendariz, Lappin, Purver & Shu 2020
        slln  log p / |S|^0.5                      SLLN-LP (Liu et al. 2026)
        slor  (log p − log u) / |S|                Pauls & Klein 2012; Lau, Clark & Lappin 2017
        pmi   log p − log p₀                       Holtzman, West, Shwartz, Choi & Zettlemoyer 2021
    """
    if how == "none":
        return score
    if how in FREQUENCY:
        if unigrams is None:
            raise _no_unigrams(how)
        return cast(Number, (score - unigrams) / tokens)
    if how in PREFIXED:
        if neutral is None:
            raise _no_prefix(how)
        return score - neutral
    length = {
        "mean": tokens,
        "pen": ((5 + tokens) / 6) ** CONSTANTS["pen"],
        "slln": tokens ** CONSTANTS["slln"],
    }[how]
    return cast(Number, score / length)


def usual(model: LanguageModel | Scores | None) -> tuple[str, ...]:
    """Return a model's default normalisations: only "none" for a table of scores without numbers of tokens."""
    return USUAL if not isinstance(model, Scores) or model.counted else ("none",)


def check_normalise(how: str, method: ScoringMethod, model: LanguageModel | Scores) -> None:
    """Raise MethodError if a normalisation is unknown or does not apply to a scoring method or to a model."""
    if how not in NORMALISATIONS:
        raise MethodError(f"unknown normalisation '{how}'", hint=one_of(how, NORMALISATIONS))
    if how != "none" and method.normalised:
        raise MethodError(
            f"normalisation '{how}' does not apply to {method.name}, which is already independent of length",
            hint="use the normalisation none",
        )
    if isinstance(model, Scores) and how in (*FREQUENCY, *PREFIXED):
        message = f"normalisation '{how}' needs the model itself, but {model.name} is a table of scores"
        raise MethodError(message, hint="use none, mean, pen or slln")
    if isinstance(model, Scores) and how != "none" and not model.counted:
        message = f"normalisation '{how}' needs numbers of tokens, but {model.path} has no column n_tokens"
        raise MethodError(message, hint="add the column, or use the normalisation none")


def check_unigrams(hows: Collection[str], named: bool) -> None:
    """Raise MethodError if unigrams are needed but not given (`named` is false), or given but not needed for `hows`."""
    needing = [how for how in hows if how in FREQUENCY]
    if needing and not named:
        raise _no_unigrams(needing[0])
    if named and hows and not needing:
        message = f"unigrams are used only by the normalisation {' or '.join(FREQUENCY)}"
        raise MethodError(message, hint="add that normalisation, or omit the unigrams")


def check_prefix(hows: Collection[str], prefixed: bool, neutral: str) -> None:
    """Raise MethodError if prefixes are needed but texts have none, or `neutral` is given but not needed for `hows`."""
    needing = [how for how in hows if how in PREFIXED]
    if needing and not prefixed:
        raise _no_prefix(needing[0])
    if neutral and not needing:
        message = f"a neutral text is used only by the normalisation {' or '.join(PREFIXED)}"
        raise MethodError(message, hint="add that normalisation, or omit the neutral text")


def _no_unigrams(how: str) -> MethodError:
    hint = "give a table written by penchant corpus unigrams for this model"
    return MethodError(f"normalisation '{how}' needs token frequencies", hint=hint)


def _no_prefix(how: str) -> MethodError:
    hint = "give the column of prefixes, or choose another normalisation"
    return MethodError(f"normalisation '{how}' needs texts with a prefix", hint=hint)


def constants(hows: Collection[str]) -> dict[str, object]:
    """Return the exponents of the given normalisations as signature fields."""
    return {f"{how}-alpha": alpha for how, alpha in CONSTANTS.items() if how in hows}
