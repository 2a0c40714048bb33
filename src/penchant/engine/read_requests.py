"""Reads: the quantities that one forward pass over one token sequence can answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

TOP = np.dtype([("token", np.int32), ("logprob", np.float32)])

Kind: TypeAlias = tuple[str, int | tuple[int, ...]]
"""The quantity computed and its parameter: ("logprob", 0), ("attention", 0), ("topk", k), ("vectors", layers)."""


EXPECTED = -1
"""In place of a token: the expected log-probability, Σ P(t) log P(t), which is the negative entropy."""
WORD_ENDS = -2
"""In place of a token: the set of tokens that start a new word or end the text, so the last word is complete."""
WORD_GOES_ON = -3
"""In place of a token: the set of tokens without a mark of a word's beginning, special ones left out."""

ROUNDING = 1e-3
"""The most that a log-probability computed in float32 may exceed 0."""


@dataclass(frozen=True, slots=True)
class LogProbs:
    """Natural log P of `tokens[i]`, read at position `at[i]` of the input `ids` (with special tokens): float32 (n,).

    A negative number stands for no single token (see `EXPECTED`, `WORD_ENDS`, `WORD_GOES_ON`); reads with attention do
    not allow it. With `attention`, the answer also has the attention that position `at[i]` receives, averaged over
    layers, heads and queries: (2, n). `weight` is the fraction of its item that this read answers; only the progress
    bar uses it.
    """

    ids: tuple[int, ...]
    at: tuple[int, ...]
    tokens: tuple[int, ...]
    attention: bool = False
    weight: float = 1.0

    @property
    def kind(self) -> Kind:
        """The kind of this read."""
        return ("attention" if self.attention else "logprob", 0)


@dataclass(frozen=True, slots=True)
class TopK:
    """The `k` most probable tokens at each position of `at`, best first: `TOP` (n, k)."""

    ids: tuple[int, ...]
    at: tuple[int, ...]
    k: int
    weight: float = 1.0

    @property
    def kind(self) -> Kind:
        """The kind of this read."""
        return ("topk", self.k)

    @property
    def tokens(self) -> tuple[int, ...]:
        """A placeholder token for each position."""
        return (0,) * len(self.at)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Hidden vectors at each position of `at`, of every layer in `layers` (0: embeddings, −1: last): (n, layers, d)."""

    ids: tuple[int, ...]
    at: tuple[int, ...]
    layers: tuple[int, ...] = (-1,)
    weight: float = 1.0

    @property
    def kind(self) -> Kind:
        """The kind of this read."""
        return ("vectors", self.layers)

    @property
    def tokens(self) -> tuple[int, ...]:
        """A placeholder token for each position."""
        return (0,) * len(self.at)


Read: TypeAlias = LogProbs | TopK | Vectors


def impossible(kind: Kind, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the answers to wants of one kind that no sound model gives.

    These are NaN, infinity, a log-probability above 0 (but for rounding) and attention below 0. The wants are on the
    first axis of `values`, for attention (2, n) on the last.
    """
    match kind[0]:
        case "attention":
            wrong = _no_logprob(values[0]) | ~(np.isfinite(values[1]) & (values[1] >= 0))
        case "topk":
            wrong = (_no_logprob(values["logprob"]) | (values["token"] < 0)).any(axis=-1)
        case "logprob":
            wrong = _no_logprob(values)
        case _:
            wrong = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    return np.asarray(wrong, dtype=bool)


def _no_logprob(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(~(np.isfinite(values) & (values <= ROUNDING)))
