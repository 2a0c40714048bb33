"""The difference of two means over words that are crossed with templates, and the variance of its error.

Every template is filled with every word of both groups; templates and words are samples of those that could be asked
about. The variance is that of the components of a table of two random factors (Searle, Casella & McCulloch 1992, ch.
4): templates, words of the first group, words of the second, and what is left, which is part of the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from penchant.errors import DataError
from penchant.stats.inputs import Array


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference of means, with the `variance` of its error and the degrees of freedom `df` of that (Satterthwaite
    1946); NaN where there is one template, or one word in a group, as their spread is then unknown."""

    value: float
    variance: float
    df: float


def contrast(first: ArrayLike, second: ArrayLike) -> Contrast:
    """The mean of `first` minus that of `second`: scores (templates, words) over the same templates.

    Raises DataError for NaN, for arrays of another shape, and for unequal numbers of templates.
    """
    one, other = (np.asarray(part, dtype=np.float64) for part in (first, second))
    if one.ndim != 2 or other.ndim != 2 or not one.size or not other.size or len(one) != len(other):
        raise DataError(f"expected scores by template and word, got {one.shape} and {other.shape}", where="contrast")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise DataError("a score is NaN or infinite", where="contrast")
    gaps = np.sort(_means(one, 1) - _means(other, 1))
    value = float(gaps.mean())
    if len(gaps) < 2 or one.shape[1] < 2 or other.shape[1] < 2:
        return Contrast(value, np.nan, np.nan)
    parts = [(float(gaps.var(ddof=1)) / len(gaps), len(gaps) - 1)]
    parts += [(_between(side) / side.shape[1], side.shape[1] - 1) for side in (one, other)]
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / df for part, df in parts)
    return Contrast(value, variance, variance**2 / spread if spread > 0 else np.inf)


def _means(scores: Array, axis: int) -> Array:
    """Means along an axis, summed in sorted order, so that the order of words or templates does not change a bit."""
    means: Array = np.sort(scores, axis=axis).mean(axis=axis)
    return means


def _between(scores: Array) -> float:
    """The variance between words of one group, freed of that within words; not below 0."""
    templates = len(scores)
    words = _means(scores, 0)
    middle = float(np.sort(words).mean())
    rest = scores - words - _means(scores, 1)[:, None] + middle
    error = float(np.sort((rest**2).ravel()).sum()) / ((templates - 1) * (len(words) - 1))
    return max(0.0, float(np.sort(words).var(ddof=1)) - error / templates)
