"""How often words stand near each other, counted in bounded memory.

X_ij adds 1/distance for every token of word i and every token of word j no more than a window away in the same
sentence, on either side (Pennington et al. 2014, §4.2; `cooccur.c` of the published program). Tokens outside the
vocabulary are taken out first, so they neither count nor add to a distance; so does the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penchant.errors import MethodError
from penchant.models.token_file import Corpus, missing

_AT_ONCE = 1 << 23
"""Pairs of tokens held at once; about 30 bytes each."""
_SHARES = 16
"""Into how many parts the table is cut, so that no more than a part is there twice when tables are merged."""


class Cooccurrences(NamedTuple):
    """X for i ≤ j, by rising i and j; it is symmetric. `counts[e]` (float64) is X of the words `pairs[e]` (int32)."""

    pairs: NDArray[np.int32]
    counts: NDArray[np.float64]


class _Table(NamedTuple):
    """Sums by code, codes rising."""

    codes: NDArray[np.int64]
    sums: NDArray[np.float64]


def cooccurrences(corpus: Corpus, window: int) -> Cooccurrences:
    """Count the co-occurrences in a corpus. Raises MethodError where numba is missing or the window is too wide."""
    shares: list[list[_Table]] = []
    bounds = np.empty(0, np.int64)
    for codes, sums in _tables(corpus, window):
        if not shares:
            bounds = codes[np.arange(1, _SHARES) * len(codes) // _SHARES]
            shares = [[] for _ in range(_SHARES)]
        ends = [0, *np.searchsorted(codes, bounds).tolist(), len(codes)]
        for share, start, end in zip(shares, ends[:-1], ends[1:], strict=True):
            share.append(_Table(codes[start:end].copy(), sums[start:end].copy()))
            while len(share) > 1 and 2 * len(share[-1].codes) >= len(share[-2].codes):
                share.append(_merged(share.pop(), share.pop()))
    return _joined(shares, len(corpus.words))


def _tables(corpus: Corpus, window: int) -> Iterator[_Table]:
    """A table for each stretch of the corpus, whose pairs have their left token there."""
    ids, size = corpus.ids, len(corpus.words)
    reach = min(window, int(corpus.lengths.max(initial=0)) - 1)
    bits = max(reach - 1, 0).bit_length()
    if size**2 << bits > 1 << 63:
        raise MethodError(f"window {window} is too wide for {size} words", hint="give a narrower one")
    sentence = np.repeat(np.arange(len(corpus.lengths), dtype=np.int32), corpus.lengths)
    weights = 1 / np.arange(1, (1 << bits) + 1)
    stretch = max(_AT_ONCE // max(reach, 1), 1)
    for start in range(0, len(ids), stretch):
        found = [np.empty(0, np.int64)]
        for distance in range(1, reach + 1):
            left = slice(start, min(start + stretch, len(ids) - distance))
            right = slice(start + distance, start + stretch + distance)
            together = sentence[left] == sentence[right]
            a, b = ids[left][together].astype(np.int64), ids[right][together].astype(np.int64)
            found.append(((np.minimum(a, b) * size + np.maximum(a, b)) << bits) | (distance - 1))
        codes = np.concatenate(found)
        del found
        if len(codes):
            # The distance is in the code, so that a plain sort, which is far faster than one of pairs, is enough.
            codes.sort()
            each = weights[codes & ((1 << bits) - 1)]
            codes >>= bits
            starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
            yield _Table(codes[starts], np.add.reduceat(each, starts))


def _merged(a: _Table, b: _Table) -> _Table:
    try:
        from penchant.models.kernels import merge
    except ImportError as error:
        raise missing("numba", error) from error
    codes = np.empty(len(a.codes) + len(b.codes), np.int64)
    sums = np.empty(len(codes))
    length = merge(*a, *b, codes, sums)
    return _Table(codes[:length], sums[:length])


def _joined(shares: list[list[_Table]], size: int) -> Cooccurrences:
    """The shares one after the other, each freed as soon as it is in place."""
    for share in shares:
        while len(share) > 1:
            share.append(_merged(share.pop(), share.pop()))
    length = sum(len(share[0].codes) for share in shares)
    pairs, counts = np.empty((length, 2), np.int32), np.empty(length)
    at = 0
    for share in shares:
        codes, sums = share.pop()
        own = slice(at, at + len(codes))
        pairs[own, 0], pairs[own, 1] = np.divmod(codes, size)
        counts[own] = np.where(pairs[own, 0] == pairs[own, 1], 2 * sums, sums)  # each stands near the other
        at = own.stop
    return Cooccurrences(pairs, counts)
