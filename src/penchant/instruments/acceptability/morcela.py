"""MORCELA: the weights of frequency and length in acceptability judgements (Tjuatja, Neubig, Linzen & Hao 2025).

The score of a sentence of ℓ tokens is (log p − β·log u + γ)/ℓ, where log p is its log-probability under a model and log
u its unigram log-probability; SLOR has β = 1 and γ = 0. Judgements y are modelled as linear in the score,

    y = a + b·(log p − β·log u + γ)/ℓ + error = a + b·(log p/ℓ) − bβ·(log u/ℓ) + bγ·(1/ℓ) + error,

so that least squares gives β and γ as ratios of coefficients; no other β and γ give a higher correlation between the
score and y. Standard errors allow for unequal error variances (HC3: MacKinnon & White 1985, Journal of Econometrics
29:305–325). The interval of a ratio is Fieller's (1954, Journal of the Royal Statistical Society B 16:175–185): all
values that a t test does not reject.

Scores are computed out of fold, with β and γ fitted to the sentences of all other folds; the scores of all folds are
correlated with the judgements. The interval is a jackknife interval: all steps are repeated without each sentence in
turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.errors import MethodError
from penchant.records import Estimate
from penchant.stats.bootstrap import CHUNK
from penchant.stats.crossed_judgements import PEARSON, SPEARMAN, midranks, weighted_pearson
from penchant.stats.hypothesis_tests import held_against
from penchant.stats.inputs import Array, Codes, as_values, check_lengths, check_level
from penchant.wording.phrases import Method, Note, present

BETA, GAMMA = "β", "γ"
_WIDE = Note("wide")
"""Note added to every cross-validated correlation: its interval is conservative (docs/validity.md)."""
FEWEST = 12
"""Minimum number of sentences for a fit of β and γ."""
_NULL = {BETA: 1.0, GAMMA: 0.0}
"""Parameter values of SLOR."""
ENOUGH = 200
"""Number of sentences below which intervals are marked as rough (docs/validity.md)."""
_CLEAR = 5.0
"""Number of standard errors from 0 below which the coefficient of log p gets a note (docs/validity.md)."""
_SINGULAR = 1e-9
"""Minimum ratio of the smallest to the largest singular value of linearly independent predictors."""


@dataclass(frozen=True, slots=True)
class MorcelaFit:
    """Coefficients of 1, log p/ℓ, log u/ℓ and 1/ℓ with covariance, from n sentences; `reason` says why a fit failed."""

    coefficients: Array
    covariance: Array
    n: int
    reason: Note | None = None

    @property
    def beta(self) -> float:
        """The parameter β = −b₂/b₁; NaN if there is no fit."""
        return float(-self.coefficients[2] / self.coefficients[1])

    @property
    def gamma(self) -> float:
        """The parameter γ = b₃/b₁; NaN if there is no fit."""
        return float(self.coefficients[3] / self.coefficients[1])


def scores(logprobs: Array, unigrams: Array, lengths: Array, beta: float, gamma: float) -> Array:
    """Return the score (log p − β·log u + γ)/ℓ of each sentence."""
    made: Array = (logprobs - beta * unigrams + gamma) / lengths
    return made


def fit(logprobs: ArrayLike, unigrams: ArrayLike, lengths: ArrayLike, judged: ArrayLike) -> MorcelaFit:
    """Fit β and γ to the judgements of sentences. Raises DataError for NaN, or if the arrays differ in length."""
    names = "log-probabilities", "unigrams", "lengths", "judgements"
    sides = zip((logprobs, unigrams, lengths, judged), names, strict=True)
    p, u, n, y = (as_values(side, where=where) for side, where in sides)
    for side in (u, n, y):
        check_lengths(p, side, where="MORCELA")
    nothing = np.full(4, np.nan), np.full((4, 4), np.nan), len(y)
    if len(y) < FEWEST:
        return MorcelaFit(*nothing, Note("not-fitted-few", least=FEWEST))
    predictors = np.stack([np.ones(len(y)), p / n, u / n, 1 / n], axis=1)
    if reason := _alike(predictors, y):
        return MorcelaFit(*nothing, reason)
    inverse = np.linalg.pinv(predictors)
    coefficients = inverse @ y
    leverage = np.einsum("ij,ji->i", predictors, inverse)
    with np.errstate(divide="ignore", invalid="ignore"):
        residuals = (y - predictors @ coefficients) / (1 - leverage)
    covariance = (inverse * residuals**2) @ inverse.T
    if not np.isfinite(covariance).all():
        return MorcelaFit(*nothing, Note("not-fitted-one-decides"))
    return MorcelaFit(coefficients, covariance, len(y))


def _alike(predictors: Array, judged: Array) -> Note | None:
    """Return a note that states why the parameters cannot be fitted; None if they can."""
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


def parameter(fitted: MorcelaFit, which: str, *, level: float = 0.95) -> Estimate:
    """Return the parameter `which`, "β" or "γ", with its interval and a test against SLOR (β = 1, γ = 0).

    The interval is unbounded, and therefore NaN, if the judgements do not clearly depend on log p. Raises MethodError
    for any other name.
    """
    check_level(level)
    if which not in _NULL:
        raise MethodError(f"MORCELA has no parameter '{which}'", hint=f"use {BETA} or {GAMMA}")
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
    """Return Fieller's limits for `top`/`bottom` from their variances and covariance (`v_both`); NaN if unbounded."""
    a = bottom**2 - t**2 * v_bottom
    b = top * bottom - t**2 * v_both
    c = top**2 - t**2 * v_top
    if not a > 0:
        return np.nan, np.nan
    root = np.sqrt(max(b**2 - a * c, 0.0))
    return float((b - root) / a), float((b + root) / a)


# Scores out of fold -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folded:
    """Sentences with out-of-fold scores; if these cannot be computed, they are NaN and `reason` says why."""

    logprobs: Array
    unigrams: Array
    lengths: Array
    judged: Array
    folds: Codes
    scores: Array
    reason: Note | None

    @classmethod
    def of(
        cls,
        logprobs: ArrayLike,
        unigrams: ArrayLike,
        lengths: ArrayLike,
        judged: ArrayLike,
        folds: NDArray[np.integer],
    ) -> Folded:
        """Compute out-of-fold scores. Raises DataError for NaN, or if the arrays differ in length."""
        p, u, n, y = (as_values(side, where="MORCELA") for side in (logprobs, unigrams, lengths, judged))
        codes: Codes = np.unique(folds, return_inverse=True)[1].astype(np.intp)
        for side in (u, n, y, codes):
            check_lengths(p, side, where="MORCELA")
        made = np.full(len(y), np.nan)
        for fold in range(int(codes.max(initial=-1)) + 1):
            inside = codes == fold
            fitted = fit(p[~inside], u[~inside], n[~inside], y[~inside])
            if fitted.reason:
                return cls(p, u, n, y, codes, np.full(len(y), np.nan), fitted.reason)
            made[inside] = scores(p[inside], u[inside], n[inside], fitted.beta, fitted.gamma)
        return cls(p, u, n, y, codes, made, None)

    def left_out(self, start: int, stop: int) -> Array:
        """Return the scores recomputed without each of several sentences in turn, shape (stop − start, n).

        Row i leaves out sentence `start` + i, whose own score in this row is meaningless.
        """
        x = np.stack([np.ones(len(self.judged)), *(side / self.lengths for side in (self.logprobs, self.unigrams))])
        x = np.concatenate([x, 1 / self.lengths[None]]).T
        each = np.einsum("ni,nj->nij", x, x), x * self.judged[:, None]
        several = range(int(self.folds.max()) + 1)
        whole = [np.stack([side[self.folds != fold].sum(axis=0) for fold in several]) for side in each]
        beta, gamma = np.empty((2, stop - start, len(several)))
        for row, left in enumerate(range(start, stop)):
            others = (self.folds[left] != np.arange(len(several))).astype(np.float64)
            moments = whole[0] - others[:, None, None] * each[0][left]
            products = whole[1] - others[:, None] * each[1][left]
            b = np.linalg.solve(moments, products[..., None])[..., 0]
            beta[row], gamma[row] = -b[:, 2] / b[:, 1], b[:, 3] / b[:, 1]
        made: Array = (self.logprobs - beta[:, self.folds] * self.unigrams + gamma[:, self.folds]) / self.lengths
        return made


def cross_validated(
    folded: Folded,
    *,
    ranks: bool = False,
    other: ArrayLike | Folded | None = None,
    level: float = 0.95,
    noun: str = "sentences",
) -> Estimate:
    """Return Pearson's r, or with `ranks` Spearman's ρ, between judgements and out-of-fold scores.

    If `other` contains scores of the same sentences, which may also be out of fold, return the difference between the
    two correlations. The interval is a jackknife t interval, for a correlation on the scale of Fisher's z; the test
    against 0 uses the same t. The result is NaN if a fit failed, or if the scores or the judgements are all equal.
    Raises DataError if `other` has a different length.
    """
    check_level(level)
    name = SPEARMAN if ranks else PEARSON
    name = name if other is None else f"difference of {name}"
    n = len(folded.judged)
    bare = Estimate(name, np.nan, n, level=level)
    if folded.reason:
        return bare.noted(folded.reason)
    if isinstance(other, Folded) and other.reason:
        return bare.noted(other.reason)
    value, without = _with_and_without(folded, other, ranks=ranks)
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if not (np.isfinite(value) and error > 0):
        return bare.noted(Note("numbers-alike", measure=name, noun=noun))
    back = np.tanh if other is None else lambda end: np.clip(end, -2.0, 2.0)
    half = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * error
    p = float(2 * scipy.stats.t.sf(abs(value) / error, n - 1))
    low, high = (float(back(end)) for end in (value - half, value + half))
    method = Method("jackknife-t-z" if other is None else "jackknife-t", units=n, noun=noun, df=n - 1)
    found = replace(bare, value=float(back(value)), low=low, high=high, method=method, notes=(_WIDE,))
    return held_against(found.tested(p, Method("jackknife-t-test", noun=noun, two_sided=True)), 0)


def _with_and_without(folded: Folded, other: ArrayLike | Folded | None, *, ranks: bool) -> tuple[float, Array]:
    n = len(folded.judged)
    beside = other.scores if isinstance(other, Folded) else None if other is None else as_values(other, where="scores")
    if beside is not None:
        check_lengths(folded.judged, beside, where="MORCELA")

    def of(made: Array, against: Array | None, weights: Array) -> Array:
        value = _correlations(made, folded.judged, weights, ranks=ranks)
        if against is None:
            z: Array = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
            return z
        gap: Array = value - _correlations(against, folded.judged, weights, ranks=ranks)
        return gap

    whole = of(folded.scores[None], None if beside is None else beside[None], np.ones((1, n)))
    parts, step = [], max(1, CHUNK // n)
    for start in range(0, n, step):
        stop = min(start + step, n)
        weights = np.ones((stop - start, n))
        weights[np.arange(stop - start), np.arange(start, stop)] = 0
        against = other.left_out(start, stop) if isinstance(other, Folded) else beside
        against = None if against is None else np.broadcast_to(against, weights.shape)
        parts.append(of(folded.left_out(start, stop), against, weights))
    return float(whole[0]), np.concatenate(parts)


def _correlations(made: Array, judged: Array, weights: Array, *, ranks: bool) -> Array:
    y = np.broadcast_to(judged, made.shape)
    if ranks:
        return weighted_pearson(midranks(made, weights), midranks(y, weights), weights)
    return weighted_pearson(made, y, weights)
