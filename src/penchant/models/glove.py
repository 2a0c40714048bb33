"""GloVe: vectors whose products give the logarithm of how often words stand near each other.

Pennington, Socher and Manning 2014. Minimised is J = Σ f(X_ij) (w_i·w̃_j + b_i + b̃_j − log X_ij)² over the entries X_ij
that are not 0 (eq. 8), with f(x) = min(1, (x/x_max)^α) (eq. 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, MethodError, ModelError
from penchant.models.cooccurrence import cooccurrences
from penchant.models.token_file import Trained, missing, read_tokens, refuse_below

_AT_ONCE = 1 << 20
"""Visits between two reports of progress; under a second."""
_LINE = 16
_BITS = 8
"""The heaps of `kernels.shuffle`, as a power of two."""


@dataclass(frozen=True, slots=True)
class GloVe:
    """Training with AdaGrad as in the program its authors published (`glove.c`), whose defaults these are but for the
    size (there 50), the window (there 15, in the paper 10) and min_count (there 1).

    What the paper leaves open, or one of the program's versions does differently:

    - Vectors and biases begin at (u − ½)/(size + 1), u uniform on [0, 1); the program counts the bias as a dimension.
    - Sums of squared gradients begin at 1. The gradient is that of J/2 times the rate, also where it is added to the
      sums. Later versions of the program leave the rate out of the steps of biases and clip gradients at 100.
    - (i, j) and (j, i) are two entries. Each is visited once an epoch, on a single thread, in an order drawn afresh for
      every epoch; the program shuffles once and lets threads overtake each other.
    - The result is w_i + w̃_i. Parameters are single precision, counts double; the program has double throughout.

    `seed` settles beginnings and orders. The same seed gives the same vectors, bit by bit, on one kind of processor;
    another may round sums otherwise.
    """

    size: int = 100
    window: int = 10
    min_count: int = 5
    epochs: int = 25
    x_max: float = 100.0
    alpha: float = 0.75
    rate: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_below(1, size=self.size, window=self.window, min_count=self.min_count, epochs=self.epochs)
        refuse_below(0, alpha=self.alpha, seed=self.seed)
        for name, value in (("x_max", self.x_max), ("rate", self.rate)):
            if not 0 < value < math.inf:
                raise MethodError(f"{name} is {value}", hint="it must be above 0")

    def train(self, tokens: str | Path, progress: Callable[[float], None] = lambda share: None) -> Trained:
        """Vectors of the words of a token file. `progress` is given the share of all visits that each call adds.

        `losses` has the mean of ½ f(X)(w·w̃ + b + b̃ − log X)² over an epoch's visits, each before its step; the
        program calls it cost. Raises DataError for a file that cannot be used, MethodError where numba is
        missing, ModelError where training diverges.
        """
        try:
            from penchant.models.kernels import descend, shuffle
        except ImportError as error:
            raise missing("numba", error) from error
        corpus = read_tokens(tokens, self.min_count)
        pairs, counts = cooccurrences(corpus, self.window)
        values = self._values(counts)
        del counts
        order = _room(pairs)
        rng = np.random.default_rng(self.seed)
        rows = self._beginning(len(corpus.words), rng)
        losses = []
        for epoch in range(1, self.epochs + 1):
            shuffle(pairs, order, rng.integers(1 << 64, dtype=np.uint64), _BITS)
            cost = 0.0
            for start in range(0, len(order), _AT_ONCE):
                part = order[start : start + _AT_ONCE]
                cost += descend(part, pairs, values, rows, self.size, np.float32(self.rate))
                progress(len(part) / len(order) / self.epochs)
            if not math.isfinite(cost):
                raise ModelError(f"training diverged in epoch {epoch}", hint=f"lower the rate, now {self.rate}")
            losses.append(cost / len(order))
        words, contexts = np.split(rows[:, : self.size], 2)
        return Trained.on(corpus, words + contexts, tuple(losses))

    def _values(self, counts: NDArray[np.float64]) -> NDArray[np.float32]:
        """(log X, f(X)) of every entry."""
        values = np.empty((len(counts), 2), np.float32)
        for start in range(0, len(counts), _AT_ONCE):
            own = slice(start, start + _AT_ONCE)
            values[own, 0] = np.log(counts[own])
            values[own, 1] = np.minimum(1, (counts[own] / self.x_max) ** self.alpha)
        return values

    def _beginning(self, words: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Parameters as `kernels.descend` wants them: of words, then of contexts; row by row, vector then bias, then
        the sums of squares, both padded to whole lines of the processor's cache."""
        half = -(-(self.size + 1) // _LINE) * _LINE
        rows = np.zeros((2 * words, 2 * half), np.float32)
        rows[:, half:] = 1
        for row in rows:
            row[: self.size + 1] = (rng.random(self.size + 1) - 0.5) / (self.size + 1)
        return rows


def _room(pairs: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Room for an order of all visits: two to a pair of words, one to a word with itself."""
    if 2 * len(pairs) > np.iinfo(np.uint32).max:
        raise DataError(f"{len(pairs)} pairs of words are too many", hint="raise min_count or narrow the window")
    return np.empty(2 * len(pairs) - np.count_nonzero(pairs[:, 0] == pairs[:, 1]), np.uint32)
