"""Checks of the inputs of statistics: values, credits, counts, clusters, levels.

Credits are per-item scores: 1 for the right choice, 0 for the wrong one, ½ for a tie.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError, MethodError
from penchant.plurals import of_all

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Counts = NDArray[np.int64]
Seed = int | np.random.Generator


def as_values(values: ArrayLike, *, where: str = "values") -> Array:
    """Return a one-dimensional float64 array of finite numbers. Raises DataError for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"expected one number per item, got an array of shape {array.shape}", where=where)
    lost = int(np.count_nonzero(~np.isfinite(array)))
    if lost:
        raise DataError(
            f"{of_all(lost, len(array), 'numbers', 'are')} NaN or infinite",
            where=where,
            hint="leave those items out and report how many they are",
        )
    return array


def as_credits(credits: ArrayLike, *, where: str = "credits") -> Array:
    """Return an array as `as_values` does, with every entry 0, ½ or 1. Raises DataError for anything else."""
    array = as_values(credits, where=where)
    invalid = array[~np.isin(array, (0.0, 0.5, 1.0))]
    if len(invalid):
        raise DataError(f"a credit is 0, 0.5 or 1, got {invalid[0]:g}", where=where)
    return array


def as_counts(counts: ArrayLike, *, where: str = "counts", dimensions: int = 1) -> Counts:
    """Return an array of integers of 0 or more with that many dimensions. Raises DataError for anything else."""
    array = np.asarray(counts)
    if array.ndim != dimensions:
        raise DataError(f"expected {dimensions} dimensions, got an array of shape {array.shape}", where=where)
    if not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"counts are integers, got numbers of type {array.dtype}", where=where)
    if array.size and array.min() < 0:
        raise DataError(f"a count is 0 or more, got {array.min()}", where=where)
    return array.astype(np.int64)


def check_lengths(first: NDArray[np.generic], second: NDArray[np.generic], *, where: str) -> None:
    """Raise DataError unless both arrays have one entry per item."""
    if len(first) != len(second):
        raise DataError(f"{len(first)} items on one side and {len(second)} on the other", where=where)


def check_level(level: float) -> None:
    """Raise MethodError unless `level` is a probability strictly between 0 and 1."""
    if not 0 < level < 1:
        raise MethodError(f"a confidence level lies between 0 and 1, got {level:g}", hint="write 0.95 for 95 %")


def check_resamples(resamples: int) -> None:
    """Raise MethodError when `resamples` is not positive."""
    if resamples < 1:
        raise MethodError(f"a bootstrap needs at least one resample, got {resamples}")


def cluster_codes(labels: Iterable[Hashable], items: int, *, where: str = "clusters") -> Codes:
    """Return cluster labels of any hashable kind as integers 0, 1, … in order of appearance, one per item.

    Raises DataError unless there is one label per item and none is missing (NaN).
    """
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    seen: dict[Hashable, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in plain), dtype=np.intp)
    if len(codes) != items:
        raise DataError(f"{len(codes)} labels for {items} items", where=where)
    if any(isinstance(label, float) and np.isnan(label) for label in seen):
        raise DataError("a label is NaN", where=where, hint="give every item a label")
    return codes


def group_sums(codes: Codes, values: NDArray[np.generic]) -> Array:
    """Return the sum of `values` within each cluster of `cluster_codes`."""
    return np.bincount(codes, weights=values).astype(np.float64)


def has_ties(*credits: Array) -> bool:
    """Return whether any credit is ½."""
    return any(bool(np.any(array == 0.5)) for array in credits)
