"""MORCELA: how much frequency and length matter for judgements of sentences (Tjuatja, Neubig, Linzen & Hao 2025).

The score of a sentence of ℓ tokens is (log p − β·log u + γ)/ℓ, with log p its log-probability under a model and log u
that of its tokens as unigrams; SLOR is that with β = 1 and γ = 0. Judgements y are taken for a line in the score,

    y = a + b·(log p − β·log u + γ)/ℓ + error = a + b·(log p/ℓ) − bβ·(log u/ℓ) + bγ·(1/ℓ) + error,

so that least squares gives β and γ as ratios of coefficients; no other β and γ make the score correlate more closely
with y. The variance of errors need not be the same for all sentences (HC3: MacKinnon & White 1985, Journal of
Econometrics 29:305–325). The interval of a ratio is Fieller's (1954, Journal of the Royal Statistical Society B
16:175–185): all values that a t test does not reject.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.errors import MethodError
from penchant.records import Estimate
from penchant.stats.inputs import Array, as_values, check_lengths, check_level
from penchant.wording.phrases import Method, Note, present

BETA, GAMMA = "β", "γ"
FEWEST = 12
"""The fewest sentences that β and γ are fitted to."""
_NULL = {BETA: 1.0, GAMMA: 0.0}
"""What SLOR has."""
ENOUGH = 200
"""Intervals from fewer sentences are called rough (docs/validity.md)."""
_CLEAR = 5.0
"""So many errors from 0 the coefficient of log p is clear (docs/validity.md)."""
_SINGULAR = 1e-9
"""The smallest singular value, as a share of the largest, of predictors that differ."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients of 1, log p/ℓ, log u/ℓ and 1/ℓ, with their covariance, from n sentences. `reason`: why there are
    none."""

    coefficients: Array
    covariance: Array
    n: int
    reason: Note | None = None

    @property
    def beta(self) -> float:
        """−b₂/b₁; NaN where nothing was fitted."""
        return float(-self.coefficients[2] / self.coefficients[1])

    @property
    def gamma(self) -> float:
        """b₃/b₁; NaN where nothing was fitted."""
        return float(self.coefficients[3] / self.coefficients[1])


def scores(logprobs: Array, unigrams: Array, lengths: Array, beta: float, gamma: float) -> Array:
    """(log p − β·log u + γ)/ℓ of each sentence."""
    made: Array = (logprobs - beta * unigrams + gamma) / lengths
    return made


def fit(logprobs: ArrayLike, unigrams: ArrayLike, lengths: ArrayLike, judged: ArrayLike) -> Fit:
    """Fit β and γ to what was judged of each sentence. Raises DataError for NaN or unequal lengths."""
    names = "log-probabilities", "unigrams", "lengths", "judgements"
    sides = zip((logprobs, unigrams, lengths, judged), names, strict=True)
    p, u, n, y = (as_values(side, where=where) for side, where in sides)
    for side in (u, n, y):
        check_lengths(p, side, where="MORCELA")
    nothing = np.full(4, np.nan), np.full((4, 4), np.nan), len(y)
    if len(y) < FEWEST:
        return Fit(*nothing, Note("not-fitted-few", least=FEWEST))
    predictors = np.stack([np.ones(len(y)), p / n, u / n, 1 / n], axis=1)
    if reason := _alike(predictors, y):
        return Fit(*nothing, reason)
    inverse = np.linalg.pinv(predictors)
    coefficients = inverse @ y
    leverage = np.einsum("ij,ji->i", predictors, inverse)
    with np.errstate(divide="ignore", invalid="ignore"):
        residuals = (y - predictors @ coefficients) / (1 - leverage)
    covariance = (inverse * residuals**2) @ inverse.T
    if not np.isfinite(covariance).all():
        return Fit(*nothing, Note("not-fitted-one-decides"))
    return Fit(coefficients, covariance, len(y))


def _alike(predictors: Array, judged: Array) -> Note | None:
    """Why nothing can be fitted; None where it can."""
    if np.ptp(judged) <= _SINGULAR * np.abs(judged).max():
        return Note("not-fitted-judged-alike")
    if np.ptp(predictors[:, 3]) <= _SINGULAR:
        return Note("not-fitted-one-length")
    spread = predictors.std(axis=0)
    spread[0] = 1.0
    if not spread.all():
        return Note("not-fitted-one-probability")
    shapes = (predictors - np.array([0.0, *predictors[:, 1:].mean(axis=0)])) / spread
    values = np.linalg.svd(shapes, compute_uv=False)
    return Note("not-fitted-together") if values[-1] <= _SINGULAR * values[0] else None


def parameter(fitted: Fit, which: str, *, level: float = 0.95) -> Estimate:
    """β or γ with its interval, and the test that it is that of SLOR (β = 1, γ = 0). Raises MethodError for another.

    The interval has no end where the judgements do not tell that they depend on log p at all; it is then left out.
    """
    check_level(level)
    if which not in _NULL:
        raise MethodError(f"MORCELA has no parameter '{which}'", hint=f"{BETA} or {GAMMA}")
    if fitted.reason:
        return Estimate(which, np.nan, fitted.n, level=level, notes=(fitted.reason,))
    at, sign = (2, -1.0) if which == BETA else (3, 1.0)
    df = fitted.n - 4
    top, bottom = sign * fitted.coefficients[at], fitted.coefficients[1]
    v_top, v_bottom = fitted.covariance[at, at], fitted.covariance[1, 1]
    v_both = sign * fitted.covariance[at, 1]
    against = _NULL[which]
    error = v_top - 2 * against * v_both + against**2 * v_bottom
    p = float(2 * scipy.stats.t.sf(abs(top - against * bottom) / np.sqrt(error), df)) if error > 0 else np.nan
    test = Method("t-test-of-slor", of=which, against=against, df=df)
    low, high = _fieller(top, bottom, v_top, v_bottom, v_both, float(scipy.stats.t.ppf((1 + level) / 2, df)))
    value = float(top / bottom)
    if np.isnan(low):
        return Estimate(which, value, fitted.n, level=level, notes=(Note("no-end"),)).tested(p, test)
    few = Note("rough-ratio", would_do=ENOUGH) if fitted.n < ENOUGH else None
    notes = present(few, Note("hardly-depend") if bottom**2 < _CLEAR**2 * v_bottom else None)
    estimate = Estimate(which, value, fitted.n, low, high, level, Method("fieller", df=df), notes=notes)
    return estimate.tested(p, test)


def _fieller(top: float, bottom: float, v_top: float, v_bottom: float, v_both: float, t: float) -> tuple[float, float]:
    """The values r for which top − r·bottom is within t errors of 0; NaN where they have no end."""
    a = bottom**2 - t**2 * v_bottom
    b = top * bottom - t**2 * v_both
    c = top**2 - t**2 * v_top
    if not a > 0:
        return np.nan, np.nan
    root = np.sqrt(max(b**2 - a * c, 0.0))
    return float((b - root) / a), float((b + root) / a)
