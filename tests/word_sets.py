"""Made-up words around the means of their sets, on which effect sizes are simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CLEAR, FAINT = 0.5, 0.2
"""How far attributes lie from what all words have in common, to either side."""


def sets_of_words(rng: np.random.Generator, sizes: Sequence[int], apart: Sequence[float]) -> list[Array]:
    """Unit vectors around the means of four sets: what all have in common, and what tells X from Y and A from B."""
    found = []
    for size, own in zip(sizes, apart, strict=True):
        mean = np.concatenate([[0.6, own], np.zeros(48)])
        vectors = mean + rng.normal(0, 1 / math.sqrt(50), (size, 50))
        found.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return found
