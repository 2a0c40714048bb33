"""What WinoBias and Winogender share: how sentences that differ in a pronoun are scored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.engine.methods import METHODS, Method, method_for
from penchant.engine.normalising import USUAL, check_normalise, constants, normalise
from penchant.engine.scorer import SentenceScore, language_model
from penchant.instruments.base import Model, Probe, beginning
from penchant.instruments.fields import written
from penchant.instruments.unknown import known_texts, signed_unknown
from penchant.instruments.wino.settings import PronounSettings
from penchant.models.load import LanguageModel
from penchant.records import Estimate, Signature
from penchant.report.items import Strip
from penchant.report.pieces import readable

Array = NDArray[np.float64]
ALL = "all"
"""The group that stands for everything."""
FREE = frozenset({"model", "bos", "dtype", "method", "normalise", "pen-alpha"})
"""The parts of a signature in which two results that are compared may differ."""


class PronounProbe(PronounSettings, Probe):
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

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

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


def score_columns(role: str, scores: Sequence[SentenceScore]) -> dict[str, pl.Series]:
    """The columns of a table of items about the sentences of one role: text, tokens, score, and the log-probability of
    every token."""
    return {
        role: pl.Series([s.text for s in scores], dtype=pl.String),
        f"tokens_{role}": pl.Series([s.n for s in scores], dtype=pl.Int32),
        f"score_{role}": pl.Series([s.score for s in scores], dtype=pl.Float64),
        f"pieces_{role}": pl.Series([list(s.tokens) for s in scores], dtype=pl.List(pl.String)),
        f"logprobs_{role}": pl.Series(
            [[None if v != v else v for v in s.token_logprobs.tolist()] for s in scores], dtype=pl.List(pl.Float32)
        ),
    }


def normalised(items: pl.DataFrame, role: str, how: str) -> Array:
    """The scores of the sentences of one role under a normalisation."""
    scores: Array = normalise(items[f"score_{role}"].to_numpy(), items[f"tokens_{role}"].to_numpy(), how)
    return scores


def difference(items: pl.DataFrame, first: str, second: str, how: str) -> Array:
    """Score of the sentences of one role minus that of another."""
    gap: Array = normalised(items, first, how) - normalised(items, second, how)
    return gap


def strip(model: str, title: str, items: pl.DataFrame, role: str) -> Strip:
    """The tokens of one sentence of every item."""
    rows = items.select(f"score_{role}", f"tokens_{role}").iter_rows()
    notes = pl.Series([f"{score:.3f}, {n} token{'' if n == 1 else 's'}" for score, n in rows], dtype=pl.String)
    return Strip(model, title, readable(items[f"pieces_{role}"], items[role]), items[f"logprobs_{role}"], notes)


def described(method: Method) -> str:
    """A method with its citation, for the report."""
    cited = {
        "pll": " [@salazar2020]",
        "pll-word-l2r": " [@kauf2023]",
        "pll-shared": " [@nangia2020]",
        "aul": " [@kaneko2022]",
        "aula": " [@kaneko2022]",
    }
    return f"`{method.name}`, {method.summary}{cited.get(method.name, '')}"


def scored_by(signatures: Sequence[Signature]) -> str:
    """How the sentences of some results were scored, in words."""
    names = dict.fromkeys(signature["method"] for signature in signatures)
    hows = dict.fromkeys(how for signature in signatures for how in signature["normalise"].split(","))
    told = {
        "none": "as it is",
        "mean": "divided by the number of tokens",
        "pen": "divided by ((5 + tokens)/6)^α, α = 0.8 [@lau2020]",
    }
    ways = "; or ".join(described(METHODS[name]) for name in names)
    normalisations = "; ".join(f"`{how}`, {told[how]}" for how in USUAL if how in hows)
    return (
        f"The score of a sentence is {ways}; natural logarithms, reported as {normalisations}. Special tokens are "
        "context and never scored."
    )
