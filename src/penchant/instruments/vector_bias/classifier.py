"""The classifier of RNSB: logistic regression with a quadratic penalty, fitted for many weightings of its rows at once.

It minimises ½(|w|² + b²) + Σᵢ cᵢ log(1 + exp(−yᵢ(w·xᵢ + b))), the objective of liblinear and so of scikit-learn's
solver of that name with C = 1: the intercept b is the weight of one more feature, 1, and is penalised like the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penchant.errors import MethodError
from penchant.stats.inputs import Array

_STEPS = 100
_TOLERANCE = 1e-9
"""The largest entry of the gradient at which a fit has ended."""
_ELEMENTS = 4_000_000
"""Array elements held at once."""


@dataclass(frozen=True, slots=True)
class Space:
    """Rows to learn from and rows to classify, in as many coordinates as the former need: the weights of a penalised
    fit are a combination of the rows it learned from, so that no other direction matters."""

    learned: Array
    classified: Array

    @classmethod
    def of(cls, learned: Array, classified: Array) -> Space:
        """From vectors (n, d) and (m, d), each with the constant 1 as one more coordinate."""
        rows, others = (np.column_stack([part, np.ones(len(part))]) for part in (learned, classified))
        u, size, axes = np.linalg.svd(rows, full_matrices=False)
        return cls(u * size, others @ axes.T)

    def probabilities(self, labels: Array, counts: Array) -> Array:
        """P(second class) of every classified row, (R, m), after fits to rows with `labels` 0 or 1 that count `counts`
        times: (R, n) both. Raises MethodError for a fit that does not end."""
        step = max(1, _ELEMENTS // (self.learned.shape[1] * sum(self.learned.shape)))
        parts = [
            _sigmoid(_fit(self.learned, labels[i : i + step], counts[i : i + step]) @ self.classified.T)
            for i in range(0, len(labels), step)
        ]
        return np.concatenate(parts)


def _sigmoid(values: Array) -> Array:
    probabilities: Array = 0.5 * (1 + np.tanh(values / 2))  # without overflow
    return probabilities


def _fit(rows: Array, labels: Array, counts: Array) -> Array:
    """Weights (R, k) by Newton's method, each step halved until the objective falls enough."""
    weights = np.zeros((len(labels), rows.shape[1]))
    loss = _loss(rows, labels, counts, weights)
    for _ in range(_STEPS):
        p = _sigmoid(weights @ rows.T)
        gradient = weights + (counts * (p - labels)) @ rows
        if np.abs(gradient).max() < _TOLERANCE:
            return weights
        spread = counts * p * (1 - p)
        curvature = np.matmul(rows.T * spread[:, None, :], rows) + np.eye(rows.shape[1])
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        falls = (gradient * step).sum(axis=1)
        size = np.ones(len(weights))
        for _ in range(_STEPS):
            tried = weights - size[:, None] * step
            new = _loss(rows, labels, counts, tried)
            much = new > loss - 1e-4 * size * falls + 1e-12 * np.abs(loss)
            if not much.any():
                break
            size[much] /= 2
        weights, loss = tried, new
    raise MethodError("the classifier of RNSB does not converge", hint="are the vectors finite and not huge?")


def _loss(rows: Array, labels: Array, counts: Array, weights: Array) -> Array:
    margin = (2 * labels - 1) * (weights @ rows.T)
    loss: Array = (weights**2).sum(axis=1) / 2 + (counts * np.logaddexp(0, -margin)).sum(axis=1)
    return loss
