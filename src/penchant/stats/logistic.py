"""Accuracy adjusted for the token-length difference of the pair, by bias-reduced logistic regression.

Firth's penalty (Firth 1993, Biometrika 80:27–38) keeps every estimate finite, even when the difference
separates right from wrong choices perfectly (Heinze & Schemper 2002, Stat. Med. 21:2409–2419).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit

from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters
from penchant.stats.inputs import (
    Array,
    Codes,
    as_credits,
    as_values,
    check_lengths,
    check_level,
    cluster_codes,
    group_sums,
    has_ties,
)

_TOLERANCE = 1e-9  # of the last step, relative to coefficients above 1
_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class Fit:
    """logit P(credit) = intercept + slope · difference, over `n` items.

    Intervals use a t distribution with `df` degrees of freedom (infinite: normal); `errors` names the kind of
    standard errors. A coefficient that cannot be computed is NaN and `note` says why.
    """

    n: int
    intercept: float = np.nan
    intercept_se: float = np.nan
    slope: float = np.nan
    slope_se: float = np.nan
    df: float = np.inf
    errors: str = ""
    note: str = ""

    def quantile(self, level: float) -> float:
        """The half-width of an interval, in standard errors."""
        return float(stats.t.ppf((1 + level) / 2, self.df))


def adjusted_accuracy(regression: Fit, *, level: float = 0.95) -> Estimate:
    """The accuracy that a logistic fit predicts at difference 0, with a Wald interval on the logit scale."""
    check_level(level)
    measure, how = "length-adjusted accuracy", _how(regression)
    if np.isnan(regression.intercept):
        return Estimate(measure, np.nan, regression.n, level=level, note=regression.note)
    reach = regression.quantile(level) * regression.intercept_se
    low, value, high = (float(expit(regression.intercept + step)) for step in (-reach, 0.0, reach))
    return Estimate(measure, value, regression.n, low, high, level, how=how, note=regression.note)


def length_slope(regression: Fit, *, level: float = 0.95) -> Estimate:
    """Change of the log-odds of a right choice per token of difference, with a Wald interval and test."""
    check_level(level)
    if np.isnan(regression.slope):
        note = regression.note or "all differences are 0: no slope"
        return Estimate("length slope", np.nan, regression.n, level=level, note=note)
    reach = regression.quantile(level) * regression.slope_se
    p = float(2 * stats.t.sf(abs(regression.slope) / regression.slope_se, regression.df))
    low, high = regression.slope - reach, regression.slope + reach
    test = "Wald z" if np.isinf(regression.df) else f"Wald t, {regression.df:g} df"
    return Estimate(
        "length slope",
        regression.slope,
        regression.n,
        low,
        high,
        level,
        how=_how(regression),
        p=p,
        test=test,
        note=regression.note,
    )


def fit(
    credits: ArrayLike,
    difference: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    iterations: int = 100,
) -> Fit:
    """Firth's bias-reduced logistic regression of `credits` (0, ½, 1) on `difference`.

    Standard errors: model-based, from the penalised information, as in logistf; with ties but no clusters
    from the sandwich over items, as a tie varies less than the model assumes; with G ≥ 2 clusters from the
    sandwich over clusters, t with G−1 degrees of freedom, never below the model-based ones (see `_errors`).
    When all differences are 0, only the intercept is fitted: log((k + ½)/(n − k + ½)) for k right of n. When
    the difference separates right from wrong, the Wald interval of the slope is rough.
    Raises DataError for unequal lengths, NaN, or credits other than 0, ½ or 1.
    """
    y, x = as_credits(credits), as_values(difference, where="difference")
    check_lengths(y, x, where="difference")
    codes = None if clusters is None else cluster_codes(clusters, len(y))
    if not len(y):
        return Fit(0, note="no items")
    if not np.ptp(x) and x[0]:
        return Fit(len(y), note=f"all differences are {x[0]:g}: nothing says what happens at 0")
    design, back = _coordinates(x)
    beta = _solve(y, design, iterations)
    if beta is None:
        return Fit(len(y), note=f"the logistic fit did not converge in {iterations} steps")
    errors, df, kind, note = _errors(y, design, beta, back, codes)
    if not x.min() <= 0 <= x.max():
        reach = f"extrapolated: the differences run from {x.min():g} to {x.max():g}"
        note = f"{reach}; {note}" if note else reach
    # NaN stands in for the slope when there is none.
    (intercept, slope), (intercept_se, slope_se) = (
        (*numbers.tolist(), np.nan)[:2] for numbers in (back @ beta, errors)
    )
    return Fit(len(y), intercept, intercept_se, slope, slope_se, df, kind, note)


def _coordinates(x: Array) -> tuple[Array, Array]:
    """The design matrix for the solver, and the matrix that maps its coefficients back to those of x.

    x is centred and scaled, under which the penalised estimate is equivariant; without spread it is left out.
    """
    spread, centre = float(np.ptp(x)), float(x.mean())
    if not spread:
        return np.ones((len(x), 1)), np.eye(1)
    design = np.column_stack([np.ones(len(x)), (x - centre) / spread])
    return design, np.array([[1.0, -centre / spread], [0.0, 1 / spread]])


def _how(fitted: Fit) -> str:
    return f"Firth logistic regression, Wald on the logit scale, {fitted.errors}"


def _information(design: Array, weights: Array) -> Array:
    return design.T @ (design * weights[:, None])


def _state(y: Array, design: Array, beta: Array) -> tuple[float, Array, Array, Array]:
    """Penalised log-likelihood, probabilities, weights π(1−π), leverages h (Heinze & Schemper 2002, §2)."""
    logit = design @ beta
    likelihood = float((y * logit - np.logaddexp(0.0, logit)).sum())
    share = expit(logit)
    weights = share * expit(-logit)
    information = _information(design, weights)
    sign, logdet = np.linalg.slogdet(information)
    if not sign > 0:  # out of float range: worse than any start
        return -np.inf, share, weights, weights
    leverage = weights * np.einsum("ij,ji->i", design, np.linalg.solve(information, design.T))
    return likelihood + 0.5 * float(logdet), share, weights, leverage


def _curvature(design: Array, share: Array, weights: Array, leverage: Array) -> Array:
    """Minus the derivative of Firth's score, or the penalised information where that is not positive definite.

    The penalised information, weights (1 + h)π(1−π), is the derivative with h held fixed; used alone, it takes
    hundreds of steps when single items have nearly all the leverage. The rest is the derivative of h.
    """
    held = _information(design, (1 + leverage) * weights)
    skew = 1 - 2 * share
    reach = design @ np.linalg.inv(_information(design, weights))
    third = np.einsum("i,ia,ib,ic->abc", weights * skew, design, design, design)
    moves = (leverage * skew)[:, None] * design
    moves -= weights[:, None] * np.einsum("ia,ib,abc->ic", reach, reach, third)
    full = held - 0.5 * (design * skew[:, None]).T @ moves
    return full if np.linalg.eigvalsh(full)[0] > 0 else held


def _solve(y: Array, design: Array, iterations: int) -> Array | None:
    """The root of Firth's score Σ x(y − π + h(½ − π)) by Newton's method, or None without convergence."""
    beta = np.zeros(design.shape[1])
    likelihood, share, weights, leverage = _state(y, design, beta)
    for _ in range(iterations):
        score = design.T @ (y - share + leverage * (0.5 - share))
        step = np.linalg.solve(_curvature(design, share, weights, leverage), score)
        if np.all(np.abs(step) < _TOLERANCE * np.maximum(1, np.abs(beta))):
            return beta
        for _ in range(_HALVINGS):
            reached, share, weights, leverage = _state(y, design, beta + step)
            if reached >= likelihood - 1e-12 * abs(likelihood):  # not lower, up to rounding
                break
            step /= 2
        if not np.isfinite(reached):
            return None
        beta, likelihood = beta + step, reached
    return None


def _errors(y: Array, design: Array, beta: Array, back: Array, codes: Codes | None) -> tuple[Array, float, str, str]:
    """Standard errors on the original scale, their degrees of freedom, their kind, and a caution.

    The sandwich (Liang & Zeger 1986) collapses with few clusters, and under separation, where every residual is
    near 0; so the larger of it and the model-based error is used (Angrist & Pischke 2009, §8.1).
    """
    _, share, weights, leverage = _state(y, design, beta)
    model = np.sqrt(np.diag(back @ np.linalg.inv(_information(design, (1 + leverage) * weights)) @ back.T))
    bread = back @ np.linalg.inv(_information(design, weights))
    scores = design * (y - share)[:, None]
    groups = 0 if codes is None else int(codes.max()) + 1
    if codes is not None and groups > 1:
        sums = np.column_stack([group_sums(codes, column) for column in scores.T])
        robust = np.sqrt(((sums @ bread.T) ** 2).sum(axis=0) * groups / (groups - 1))
        kind = f"cluster-robust standard errors over {groups} clusters, not below model-based"
        return np.maximum(robust, model), groups - 1.0, kind, few_clusters(groups)
    note = "one cluster: the interval takes its items as independent" if groups == 1 else ""
    robust = np.sqrt(((scores @ bread.T) ** 2).sum(axis=0))
    if has_ties(y) and bool(np.all(robust > 1e-6 * model)):
        return robust, np.inf, "sandwich standard errors (ties present)", note
    return model, np.inf, "model-based standard errors", note
