"""Made-up words around the means of their sets, on which effect sizes are simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CLEAR, FAINT = 0.5, 0.2
"""The distance of attributes from the common part of all words, to either side."""
PLACES = {"d = 0": 0.0, "0.5": 0.0366, "1.0": 0.0817, "1.5": 0.16}
"""The distance of X and Y from it, for these d of very many words."""


def places(attributes: str, apart: float) -> tuple[float, float, float, float]:
    """Return the places of the four sets, with attributes "clear" or "faint"."""
    of = CLEAR if attributes == "clear" else FAINT
    return apart, -apart, of, -of


def raw_words(rng: np.random.Generator, sizes: Sequence[int], apart: Sequence[float]) -> list[Array]:
    """Vectors around the means of four sets: what all have in common, and what tells X from Y and A from B."""
    means = [np.concatenate([[0.6, own], np.zeros(48)]) for own in apart]
    return [mean + rng.normal(0, 1 / math.sqrt(50), (size, 50)) for size, mean in zip(sizes, means, strict=True)]


def sets_of_words(rng: np.random.Generator, sizes: Sequence[int], apart: Sequence[float]) -> list[Array]:
    """The same as unit vectors."""
    return [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in raw_words(rng, sizes, apart)]


def effect(sets: Sequence[Array]) -> float:
    """The effect size of very many words with the mean attributes of very many."""
    x, y, a, b = sets
    s, t = (own @ (a.mean(axis=0) - b.mean(axis=0)) for own in (x, y))
    return float((s.mean() - t.mean()) / np.concatenate([s, t]).std())
