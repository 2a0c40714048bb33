"""Requests for values that one forward pass over a token sequence provides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

TOP = np.dtype([("token", np.int32), ("logprob", np.float32)])

Kind: TypeAlias = tuple[str, int | tuple[int, ...]]
"""The requested quantity and its parameter: ("logprob", 0), ("attention", 0), ("topk", k) or ("vectors", layers)."""


EXPECTED = -1
"""Pseudo-token for the expected log-probability, Σ P(t) log P(t), which is the negative entropy."""
WORD_ENDS = -2
"""Pseudo-token for the set of tokens that end the preceding word (see `Tokenizer.words_end`)."""
WORD_GOES_ON = -3
"""Pseudo-token for the set of tokens that continue the preceding word, without special tokens."""

ROUNDING = 1e-3
"""Maximum amount by which a log-probability computed in float32 may exceed 0."""


@dataclass(frozen=True, slots=True)
class LogProbs:
    """Request for the natural log P of `tokens[i]` at position `at[i]` of the input `ids`, for each of n indices i.

    `ids` includes special tokens. A negative number in `tokens` stands for a set of tokens or an expected value (see
    `EXPECTED`, `WORD_ENDS`, `WORD_GOES_ON`); it is not allowed if `attention` is true. The answer is a float32 array of
    shape (n,). If `attention` is true, its shape is (2, n), and it also contains the attention received by position
    `at[i]`, averaged over layers, heads and queries. `weight` is the fraction of an item that this request answers, for
    the progress bar.
    """

    ids: tuple[int, ...]
    at: tuple[int, ...]
    tokens: tuple[int, ...]
    attention: bool = False
    weight: float = 1.0

    @property
    def kind(self) -> Kind:
        """The requested quantity and its parameter (see `Kind`)."""
        return ("attention" if self.attention else "logprob", 0)


@dataclass(frozen=True, slots=True)
class TopK:
    """Request for the `k` most probable tokens at each position in `at`, most probable first.

    The answer is an array of dtype `TOP` and shape (n, k) for n positions.
    """

    ids: tuple[int, ...]
    at: tuple[int, ...]
    k: int
    weight: float = 1.0

    @property
    def kind(self) -> Kind:
        """The requested quantity and its parameter (see `Kind`)."""
        return ("topk", self.k)

    @property
    def tokens(self) -> tuple[int, ...]:
        """A placeholder token for each position."""
        return (0,) * len(self.at)


@dataclass(frozen=True, slots=True)
class VectorRead:
    """Request for the hidden vectors of `layers` at each position in `at`.

    Layer 0 is the embeddings, −1 the last layer. The answer is a float32 array of shape (n, layers, d) for n positions.
    """

    ids: tuple[int, ...]
    at: tuple[int, ...]
    layers: tuple[int, ...] = (-1,)
    weight: float = 1.0

    @property
    def kind(self) -> Kind:
        """The requested quantity and its parameter (see `Kind`)."""
        return ("vectors", self.layers)

    @property
    def tokens(self) -> tuple[int, ...]:
        """A placeholder token for each position."""
        return (0,) * len(self.at)


Read: TypeAlias = LogProbs | TopK | VectorRead


def impossible(kind: Kind, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a Boolean mask of the requested values that an intact model cannot return.

    They are NaN, infinity, log-probabilities above 0 (apart from rounding) and negative attention. The values, all of
    one kind, are on the last axis of `values` if the kind is attention, else on the first axis.
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
