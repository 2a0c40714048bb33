"""What WinoBias and Winogender share: how sentences that differ in a pronoun are scored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.counting import counted
from penchant.engine.methods import METHODS, method_for
from penchant.engine.normalising import USUAL, check_normalise, constants, normalise
from penchant.engine.scorer import language_model
from penchant.instruments.base import Model, beginning
from penchant.instruments.fields import written
from penchant.instruments.itemised import ItemProbe
from penchant.instruments.unknown import signed_unknown
from penchant.instruments.wino.settings import PronounSettings
from penchant.records import Estimate, Item, Result, Signature
from penchant.views.items import Tokens
from penchant.wording.templates import Text

D = TypeVar("D")
Array = NDArray[np.float64]
ALL = "all"
"""The group that stands for everything."""


class PronounProbe(PronounSettings, ItemProbe[D, Item], Generic[D]):
    """The base of both probes: the method and normalisations of scores, and what is done with unknown text."""

    pairs: ClassVar[bool] = False
    """Whether sentences are compared two at a time, which methods such as pll-shared need."""

    def settle(self, model: Model) -> Self:
        """The probe with method and normalisations decided. Raises MethodError where they do not fit the model."""
        method = method_for(self.method, language_model(model), pair=self.pairs)
        for how in self.normalisations() or ["none"]:
            check_normalise(how, method)
        return self.model_copy(update={"method": method.name, "normalise": self.normalisations() or ["none"]})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """The constant of `pen`."""
        return {"pen-alpha"}

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """The signature with the normalisation of the estimate."""
        return signature.with_(normalise=estimate.by["normalise"])

    def how(self, lm: Model) -> dict[str, object]:
        """The part of a signature about scoring."""
        lm = language_model(lm)
        return {
            "method": self.method,
            "normalise": written(self, "normalise"),
            **constants(self.normalisations()),
            "bos": beginning(lm),
            "dtype": lm.numbers,
            **signed_unknown(self.on_unknown),
        }


def normalised(items: pl.DataFrame, role: str, how: str) -> Array:
    """The scores of the sentences of one role under a normalisation."""
    scores: Array = normalise(items[f"score_{role}"].to_numpy(), items[f"tokens_{role}"].to_numpy(), how)
    return scores


def difference(items: pl.DataFrame, first: str, second: str, how: str) -> Array:
    """Score of the sentences of one role minus that of another."""
    gap: Array = normalised(items, first, how) - normalised(items, second, how)
    return gap


def strips(*roles: str) -> tuple[Tokens, ...]:
    """Return the tokens of the sentences of every item, with their score and number."""
    return tuple(Tokens(role, f"pieces_{role}", role, f"logprobs_{role}", partial(_said, role)) for role in roles)


def _said(role: str, items: pl.DataFrame) -> list[str]:
    rows = items.select(f"score_{role}", f"tokens_{role}").iter_rows()
    return [f"{score:.3f}, {counted(n, 'tokens')}" for score, n in rows]


def scoring_facts(results: Sequence[Result]) -> dict[str, Any]:
    """Return what the methods of all texts say of scores."""
    ways = dict.fromkeys(result.signature["method"] for result in results)
    hows = dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))
    text = Text.of(Path(__file__).parent)
    known = {"ways": [METHODS[name] for name in ways], "hows": [how for how in USUAL if how in hows]}
    return {"scored": text.get("scored", **known)}
