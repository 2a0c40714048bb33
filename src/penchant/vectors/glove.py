"""GloVe: word vectors whose dot products approximate log co-occurrence counts (Pennington, Socher and Manning 2014).

The loss is J = Σ f(X_ij) (w_i·w̃_j + b_i + b̃_j − log X_ij)² over the nonzero entries X_ij (eq. 8), with
f(x) = min(1, (x/x_max)^α) (eq. 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, MethodError, ModelError, missing_package
from penchant.vectors.token_file import TokenFile, Trained, read_tokens, refuse_below

_AT_ONCE = 1 << 20
"""Number of updates between progress reports."""
_LINE = 16
_BITS = 8
"""Binary logarithm of the number of heaps in `training_kernels.shuffle`."""
_PAIRS_AT_ONCE = 1 << 23
"""Number of token pairs kept in memory at once, at about 30 bytes per pair."""
_SHARES = 16
"""Number of parts of the co-occurrence table; merging copies one part at a time."""


@dataclass(frozen=True, slots=True)
class GloVe:
    """GloVe training with AdaGrad, as in the authors' program (`glove.c`).

    The defaults are taken from the program, except for the size (50 in the program), the window (15 in the program, 10
    in the paper) and min_count (1 in the program).

    The following details are not specified in the paper, or differ between versions of the program:

    - Vectors and biases are initialised to (u − ½)/(size + 1), with u uniform on [0, 1); the program counts the bias as
      a dimension.
    - Sums of squared gradients are initialised to 1. The gradient of J/2 is multiplied by the learning rate
      before it is squared and added to the sums. Later versions of the program omit the rate from the updates of biases
      and clip gradients at 100.
    - (i, j) and (j, i) are two entries. Each is visited once per epoch, on a single thread, in an order drawn for each
      epoch; the program shuffles once, and its threads update asynchronously.
    - The result is w_i + w̃_i. Parameters are in single precision and counts in double precision; the program uses
      double precision only.

    `seed` determines the initial values and the order of each epoch. The same seed gives bit-identical vectors on
    processors of the same type; other processors may round sums differently.
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
                raise MethodError(f"{name} must be above 0 and finite, got {value}")

    def train(self, tokens: str | Path, progress: Callable[[float], None] = lambda share: None) -> Trained:
        """Return vectors trained on a token file.

        `progress` is called with the fraction of all updates completed since the last call. `losses` has the mean of ½
        f(X)(w·w̃ + b + b̃ − log X)² over the updates of each epoch, evaluated before each update (the program's cost).
        Raises DataError if the file is invalid, MethodError if numba is missing, and ModelError if training diverges.
        """
        try:
            from penchant.vectors.training_kernels import descend, shuffle
        except ImportError as error:
            raise missing_package("numba", "vectors", error) from error
        corpus = read_tokens(tokens, self.min_count)
        pairs, counts = cooccurrences(corpus, self.window)
        values = self._values(counts)
        del counts
        order = _room(pairs)
        rng = np.random.default_rng(self.seed)
        rows = self._initial(len(corpus.words), rng)
        losses = []
        for epoch in range(1, self.epochs + 1):
            shuffle(pairs, order, rng.integers(1 << 64, dtype=np.uint64), _BITS)
            cost = 0.0
            for start in range(0, len(order), _AT_ONCE):
                part = order[start : start + _AT_ONCE]
                cost += descend(part, pairs, values, rows, self.size, np.float32(self.rate))
                progress(len(part) / len(order) / self.epochs)
            if not math.isfinite(cost):
                raise ModelError(f"training diverged in epoch {epoch}", hint=f"give a rate below {self.rate}")
            losses.append(cost / len(order))
        words, contexts = np.split(rows[:, : self.size], 2)
        return Trained.on(corpus, words + contexts, tuple(losses))

    def _values(self, counts: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return log X and f(X) for each count X, of shape (n, 2)."""
        values = np.empty((len(counts), 2), np.float32)
        for start in range(0, len(counts), _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            values[block, 0] = np.log(counts[block])
            values[block, 1] = np.minimum(1, (counts[block] / self.x_max) ** self.alpha)
        return values

    def _initial(self, words: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the initial parameters for `descend`, with a row for each word, then for each context.

        A row has the vector and the bias, then their sums of squared gradients, each padded to whole cache lines.
        """
        half = -(-(self.size + 1) // _LINE) * _LINE
        rows = np.zeros((2 * words, 2 * half), np.float32)
        rows[:, half:] = 1
        for row in rows:
            row[: self.size + 1] = (rng.random(self.size + 1) - 0.5) / (self.size + 1)
        return rows


def _room(pairs: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Allocate an array for the order of updates: two items per pair of distinct words, one per pair of equal words."""
    most = int(np.iinfo(np.uint32).max) // 2
    if len(pairs) > most:
        raise DataError(
            f"there are {len(pairs):,} word pairs, more than {most:,}", hint="increase min_count or decrease window"
        )
    return np.empty(2 * len(pairs) - np.count_nonzero(pairs[:, 0] == pairs[:, 1]), np.uint32)


# Co-occurrences ----------------------------------------------------------------------------------------------------


class Cooccurrences(NamedTuple):
    """Co-occurrence counts of words i ≤ j, sorted by i, then j: `counts[e]` (float64) belongs to `pairs[e]` (int32)."""

    pairs: NDArray[np.int32]
    counts: NDArray[np.float64]


class _Sums(NamedTuple):
    """Sums of co-occurrence weights, sorted by encoded word pair."""

    codes: NDArray[np.int64]
    sums: NDArray[np.float64]


def cooccurrences(corpus: TokenFile, window: int) -> Cooccurrences:
    """Return co-occurrence counts: the sum of 1/distance over all pairs of tokens of words i and j in a sentence.

    The tokens may be in either order and at most `window` tokens apart (Pennington et al. 2014, §4.2; `cooccur.c` in
    the published program); out-of-vocabulary tokens are not counted and do not add to distances. Memory use is bounded.
    Raises MethodError if numba is missing or the window is too wide.
    """
    shares: list[list[_Sums]] = []
    bounds = np.empty(0, np.int64)
    for codes, sums in _partial_sums(corpus, window):
        if not shares:
            bounds = codes[np.arange(1, _SHARES) * len(codes) // _SHARES]
            shares = [[] for _ in range(_SHARES)]
        ends = [0, *np.searchsorted(codes, bounds).tolist(), len(codes)]
        for share, start, end in zip(shares, ends[:-1], ends[1:], strict=True):
            share.append(_Sums(codes[start:end].copy(), sums[start:end].copy()))
            while len(share) > 1 and 2 * len(share[-1].codes) >= len(share[-2].codes):
                share.append(_merged(share.pop(), share.pop()))
    return _joined(shares, len(corpus.words))


def _partial_sums(corpus: TokenFile, window: int) -> Iterator[_Sums]:
    """Yield the sums of co-occurrence weights for successive segments of the corpus."""
    ids, size = corpus.ids, len(corpus.words)
    reach = min(window, int(corpus.lengths.max(initial=0)) - 1)
    bits = max(reach - 1, 0).bit_length()
    if size**2 << bits > 1 << 63:
        raise MethodError(
            f"window {window} is too wide for {size} words: the square of the number of words, times the window "
            "rounded up to a power of two, must not exceed 2^63",
            hint="give a smaller window or a higher min_count",
        )
    sentence = np.repeat(np.arange(len(corpus.lengths), dtype=np.int32), corpus.lengths)
    weights = 1 / np.arange(1, (1 << bits) + 1)
    stretch = max(_PAIRS_AT_ONCE // max(reach, 1), 1)
    for start in range(0, len(ids), stretch):
        parts = [np.empty(0, np.int64)]
        for distance in range(1, reach + 1):
            left = slice(start, min(start + stretch, len(ids) - distance))
            right = slice(start + distance, start + stretch + distance)
            together = sentence[left] == sentence[right]
            a, b = ids[left][together].astype(np.int64), ids[right][together].astype(np.int64)
            parts.append(((np.minimum(a, b) * size + np.maximum(a, b)) << bits) | (distance - 1))
        codes = np.concatenate(parts)
        del parts
        if len(codes):
            # With the distance in the code, a plain sort of numbers suffices.
            codes.sort()
            pair_weights = weights[codes & ((1 << bits) - 1)]
            codes >>= bits
            starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
            yield _Sums(codes[starts], np.add.reduceat(pair_weights, starts))


def _merged(a: _Sums, b: _Sums) -> _Sums:
    try:
        from penchant.vectors.training_kernels import merge
    except ImportError as error:
        raise missing_package("numba", "vectors", error) from error
    codes = np.empty(len(a.codes) + len(b.codes), np.int64)
    sums = np.empty(len(codes))
    length = merge(*a, *b, codes, sums)
    return _Sums(codes[:length], sums[:length])


def _joined(shares: list[list[_Sums]], size: int) -> Cooccurrences:
    """Merge the sums in each share of the word pairs, and concatenate the shares; `size` is the number of words.

    Each share is freed as soon as it is copied.
    """
    for share in shares:
        while len(share) > 1:
            share.append(_merged(share.pop(), share.pop()))
    length = sum(len(share[0].codes) for share in shares)
    pairs, counts = np.empty((length, 2), np.int32), np.empty(length)
    start = 0
    for share in shares:
        codes, sums = share.pop()
        span = slice(start, start + len(codes))
        pairs[span, 0], pairs[span, 1] = np.divmod(codes, size)
        counts[span] = np.where(
            pairs[span, 0] == pairs[span, 1], 2 * sums, sums
        )  # each token is in the context of the other
        start = span.stop
    return Cooccurrences(pairs, counts)
