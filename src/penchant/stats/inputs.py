"""Validation of inputs: values, credits, counts, clusters and levels.

Credits are the scores of items: 1 for the right choice, 0 for the wrong choice, ½ for a tie.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError, MethodError
from penchant.plurals import of_all
from penchant.wording.phrases import Note

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Counts = NDArray[np.int64]
Seed = int | np.random.Generator
FEWEST = 5
"""The minimum number of items for displaying an estimate with an interval and for reporting a difference."""
SMALL_SIDE = "few-on-a-side"
"""The code of the note on a difference with fewer than `FEWEST` items on one of its sides."""


def small_side(first: float, second: float) -> Note | None:
    """Return a note if a side of a difference has fewer than `FEWEST` items, given the numbers of items; else None."""
    n = int(min(first, second))
    return Note(SMALL_SIDE, n=n) if n < FEWEST else None


def as_values(values: ArrayLike, *, where: str = "values") -> Array:
    """Return `values` as a float64 array; raise DataError unless it is one-dimensional and finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"expected one number per item, got an array of shape {array.shape}", where=where)
    lost = int(np.count_nonzero(~np.isfinite(array)))
    if lost:
        raise DataError(
            f"{of_all(lost, len(array), 'numbers', 'are')} NaN or infinite",
            where=where,
            hint="remove these items and report how many there were",
        )
    return array


def as_credits(credits: ArrayLike, *, where: str = "credits") -> Array:
    """Return `credits` as a float64 array; raise DataError unless it is one-dimensional with entries 0, ½ and 1."""
    array = as_values(credits, where=where)
    invalid = array[~np.isin(array, (0.0, 0.5, 1.0))]
    if len(invalid):
        raise DataError(f"a credit must be 0, 0.5 or 1, got {invalid[0]:g}", where=where)
    return array


def as_counts(counts: ArrayLike, *, where: str = "counts", dimensions: int = 1) -> Counts:
    """Return `counts` as an int64 array; raise DataError unless it has `dimensions` axes and non-negative integers."""
    array = np.asarray(counts)
    if array.ndim != dimensions:
        raise DataError(f"expected {dimensions} dimensions, got an array of shape {array.shape}", where=where)
    if not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"counts must be integers, got type {array.dtype}", where=where)
    if array.size and array.min() < 0:
        raise DataError(f"a count must be 0 or more, got {array.min()}", where=where)
    return array.astype(np.int64)


def check_lengths(first: NDArray[np.generic], second: NDArray[np.generic], *, where: str) -> None:
    """Raise DataError if the two arrays differ in length."""
    if len(first) != len(second):
        raise DataError(f"arrays differ in length: {len(first)} and {len(second)} items", where=where)


def check_level(level: float) -> None:
    """Raise MethodError unless `level` is a probability strictly between 0 and 1."""
    if not 0 < level < 1:
        raise MethodError(f"a confidence level must be between 0 and 1, got {level:g}", hint="write 0.95 for 95 %")


def check_resamples(resamples: int) -> None:
    """Raise MethodError if `resamples` is not positive."""
    if resamples < 1:
        raise MethodError(f"a bootstrap needs at least one resample, got {resamples}")


def cluster_codes(labels: Iterable[Hashable], items: int, *, where: str = "clusters") -> Codes:
    """Return an integer code for each item's cluster label: 0, 1, … in order of first appearance.

    Labels may be of any hashable type. Raises DataError unless there is one label per item and no label is NaN.
    """
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    seen: dict[Hashable, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in plain), dtype=np.intp)
    if len(codes) != items:
        raise DataError(f"got {len(codes)} labels for {items} items, expected one label per item", where=where)
    if any(isinstance(label, float) and np.isnan(label) for label in seen):
        raise DataError("a label is NaN", where=where, hint="give every item a label")
    return codes


def group_sums(codes: Codes, values: NDArray[np.generic]) -> Array:
    """Return the sum of `values` within each cluster, given the clusters' `codes`."""
    return np.bincount(codes, weights=values).astype(np.float64)


def has_ties(*credits: Array) -> bool:
    """Return whether any credit is ½."""
    return any(bool(np.any(array == 0.5)) for array in credits)
