"""Count co-occurrences of words, in bounded memory.

X_ij sums 1/distance over all pairs of a token of word i and a token of word j in the same sentence, on either side and
at most a window apart (Pennington et al. 2014, §4.2; `cooccur.c` of the published program). As in that program, tokens
outside the vocabulary are removed first, so they neither count nor add to a distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.errors import MethodError, missing_package
from penchant.vectors.token_file import Corpus

_AT_ONCE = 1 << 23
"""Pairs of tokens held in memory at once, at about 30 bytes each."""
_SHARES = 16
"""The number of parts of the table; merging copies only one part at a time."""


class Cooccurrences(NamedTuple):
    """X for i ≤ j, by rising i and j; it is symmetric. `counts[e]` (float64) is X of the words `pairs[e]` (int32)."""

    pairs: NDArray[np.int32]
    counts: NDArray[np.float64]


class _Sums(NamedTuple):
    """Sums by code, sorted by code."""

    codes: NDArray[np.int64]
    sums: NDArray[np.float64]


def cooccurrences(corpus: Corpus, window: int) -> Cooccurrences:
    """Count the co-occurrences in a corpus. Raises MethodError if numba is missing or the window is too wide."""
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


def _partial_sums(corpus: Corpus, window: int) -> Iterator[_Sums]:
    """Yield the sums for each stretch of the corpus, over the pairs whose left token is there."""
    ids, size = corpus.ids, len(corpus.words)
    reach = min(window, int(corpus.lengths.max(initial=0)) - 1)
    bits = max(reach - 1, 0).bit_length()
    if size**2 << bits > 1 << 63:
        raise MethodError(f"window {window} is too wide for {size} words", hint="give a narrower one")
    sentence = np.repeat(np.arange(len(corpus.lengths), dtype=np.int32), corpus.lengths)
    weights = 1 / np.arange(1, (1 << bits) + 1)
    stretch = max(_AT_ONCE // max(reach, 1), 1)
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
            # With the distance in the code, a plain sort suffices, which is far faster than sorting pairs.
            codes.sort()
            pair_weights = weights[codes & ((1 << bits) - 1)]
            codes >>= bits
            starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
            yield _Sums(codes[starts], np.add.reduceat(pair_weights, starts))


def _merged(a: _Sums, b: _Sums) -> _Sums:
    try:
        from penchant.vectors.kernels import merge
    except ImportError as error:
        raise missing_package("numba", "vectors", error) from error
    codes = np.empty(len(a.codes) + len(b.codes), np.int64)
    sums = np.empty(len(codes))
    length = merge(*a, *b, codes, sums)
    return _Sums(codes[:length], sums[:length])


def _joined(shares: list[list[_Sums]], size: int) -> Cooccurrences:
    """Concatenate the shares, freeing each as soon as it is copied."""
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
        )  # each token of the pair is near the other
        start = span.stop
    return Cooccurrences(pairs, counts)
