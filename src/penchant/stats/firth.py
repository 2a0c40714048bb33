"""Bias-reduced logistic regression of rows with multiplicities.

Firth's penalty (Firth 1993, Biometrika 80:27–38) keeps every estimate finite, even if a term separates right from wrong
choices perfectly (Heinze & Schemper 2002, Stat. Med. 21:2409–2419).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from penchant.stats.inputs import Array

_TOLERANCE = 1e-9  # for the last step, relative to coefficients above 1
_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a logistic regression: outcomes `y` from 0 to 1, `design` (rows, terms) of full rank, counts `times`.

    Each row represents `times` items.
    """

    y: Array
    design: Array
    times: Array

    def information(self, weights: Array) -> Array:
        """Return Σ weight · x xᵀ over all items, (terms, terms), given the weight of one item of each row."""
        information: Array = self.design.T @ (self.design * (self.times * weights)[:, None])
        return information


@dataclass(frozen=True, slots=True)
class State:
    """Penalised log-likelihood of a regression at given coefficients, with diagnostics for each row.

    The diagnostics are the probability π (`share`), the weight π(1−π) and the leverage h of one item (Heinze & Schemper
    2002, §2).
    """

    likelihood: float
    share: Array
    weights: Array
    leverage: Array


def state(rows: Rows, beta: Array) -> State:
    """Compute the penalised log-likelihood and its diagnostics at the coefficients `beta`."""
    logit = rows.design @ beta
    likelihood = float((rows.times * (rows.y * logit - np.logaddexp(0.0, logit))).sum())
    share = scipy.special.expit(logit)
    weights = share * scipy.special.expit(-logit)
    information = rows.information(weights)
    sign, logdet = np.linalg.slogdet(information)
    if not sign > 0:  # out of float range: worse than any start
        return State(-np.inf, share, weights, weights)
    leverage = weights * np.einsum("ij,ji->i", rows.design, np.linalg.solve(information, rows.design.T))
    return State(likelihood + 0.5 * float(logdet), share, weights, leverage)


def solve(rows: Rows, iterations: int) -> Array | None:
    """Return the root of Firth's score Σ x(y − π + h(½ − π)), found by Newton's method; None without convergence."""
    beta = np.zeros(rows.design.shape[1])
    at = state(rows, beta)
    for _ in range(iterations):
        score = rows.design.T @ (rows.times * (rows.y - at.share + at.leverage * (0.5 - at.share)))
        step = np.linalg.solve(_curvature(rows, at), score)
        if np.all(np.abs(step) < _TOLERANCE * np.maximum(1, np.abs(beta))):
            return beta
        for _ in range(_HALVINGS):
            reached = state(rows, beta + step)
            if reached.likelihood >= at.likelihood - 1e-12 * abs(at.likelihood):  # not lower, up to rounding
                break
            step /= 2
        if not np.isfinite(reached.likelihood):
            return None
        beta, at = beta + step, reached
    return None


def _curvature(rows: Rows, at: State) -> Array:
    """Return the negative Jacobian of Firth's score, or the penalised information if it is not positive definite.

    The penalised information, with weights (1 + h)π(1−π), is the Jacobian with h held fixed, and converges slowly if
    single items have nearly all the leverage. The remaining term is the derivative of h.
    """
    held = rows.information((1 + at.leverage) * at.weights)
    skew = 1 - 2 * at.share
    products = rows.design @ np.linalg.inv(rows.information(at.weights)) @ rows.design.T
    moves = (at.leverage * skew)[:, None] * rows.design
    moves -= at.weights[:, None] * (products**2 @ ((rows.times * at.weights * skew)[:, None] * rows.design))
    full = held - 0.5 * (rows.design * (rows.times * skew)[:, None]).T @ moves
    # Symmetric but for rounding, as the second derivative of the penalised likelihood.
    return full if np.linalg.eigvalsh(full)[0] > 0 else held
