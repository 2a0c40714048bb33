"""Association of targets X, Y with attributes A, B: effect size, permutation test, and meta-analysis of samples.

s(w) = mean cos(w, a) − mean cos(w, b); d = (mean s(x) − mean s(y))/sd of s over X ∪ Y (Caliskan, Bryson & Narayanan
2017, Science 356:183–186). Effect sizes from many samples of contextual vectors are combined in a random-effects model
(Guo & Caliskan 2021; DerSimonian & Laird 1986, Control. Clin. Trials 7:177–188).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError, MethodError, one_of
from penchant.stats.inputs import Array, Seed, as_values, check_level

Alternative = Literal["two-sided", "upper"]
EXACT = 200_000
"""The largest number of partitions that a permutation test enumerates."""
_TOLERANCE = 1e-12
_BLOCK = 20_000
_FAR = 1e300
"""The absolute value of t if neither group varies."""


def unit(vectors: ArrayLike) -> Array:
    """Return vectors (n, d) scaled to unit length, in float64; raise DataError if a vector is zero or not finite."""
    array = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(array, axis=-1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        bad = int(np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)).all(axis=-1))[0])
        raise DataError(f"vector {bad} is zero or not finite", where="association")
    scaled: Array = array / lengths
    return scaled


def associations(words: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return s for each word, shape (n,): its mean cosine with A minus its mean cosine with B."""
    directions = unit(words)
    s: Array = directions @ (unit(a).mean(axis=0) - unit(b).mean(axis=0))
    return s


def effect_size(x: ArrayLike, y: ArrayLike, *, ddof: int = 1) -> float:
    """Return the effect size d of the associations s(x) and s(y); NaN if s does not vary over X ∪ Y.

    `ddof` is 1 for the sample standard deviation, or 0 for the population standard deviation used by WEFE.
    """
    first, second = as_values(x, where="X"), as_values(y, where="Y")
    both = np.concatenate([first, second])
    if len(both) <= ddof or not len(first) or not len(second):
        return math.nan
    sd = float(both.std(ddof=ddof))
    slack = _TOLERANCE * max(1.0, float(np.abs(both).max()))
    return float((first.mean() - second.mean()) / sd) if sd > slack else math.nan


@dataclass(frozen=True, slots=True)
class Permutation:
    """Result of a permutation test: the p-value and the number of partitions examined.

    `exact` is true if all partitions were examined. `ties` is the number of partitions with the same statistic as the
    observed partition; they count as extreme.
    """

    p: float
    partitions: int
    exact: bool
    ties: int


def permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    exact: int = EXACT,
    draws: int = 10_000,
    seed: Seed = 0,
    studentised: bool = False,
) -> Permutation:
    """Test Σ s(x) − Σ s(y) against its distribution over partitions of X ∪ Y into sets of the same sizes.

    If there are at most `exact` partitions, all are enumerated, the observed one included. Otherwise `draws` partitions
    are drawn, and p = (1 + extreme)/(1 + draws), independent of the order of X and Y. The `upper` alternative counts
    partitions whose sum is at least as large as the observed sum; the two-sided alternative counts partitions whose sum
    is at least as far from the mean over all partitions. With `studentised` the statistic is Welch's t, which keeps the
    significance level even if the smaller set varies more (Janssen 1997; Chung & Romano 2013); each set then needs two
    values. Raises MethodError for an unknown alternative.
    """
    _check(alternative)
    first, second = as_values(x, where="X"), as_values(y, where="Y")
    n, m = len(first), len(second)
    if not n or not m:
        return Permutation(math.nan, 0, True, 0)
    both = np.sort(np.concatenate([first, second]))  # the draws do not depend on the order of stimuli
    centre = both.mean()
    both = both - centre  # then Σx − Σy = 2Σx, whose mean over partitions is 0
    slack = _TOLERANCE * max(1.0, float(np.abs(both).sum()))
    total = math.comb(n + m, n)
    enumerated = total <= exact
    # The sum of n values is minus that of the m others, so only the smaller part is needed.
    sign, part = (1, n) if n <= m else (-1, m)
    moments = np.column_stack([both, both**2])
    statistic = _welch(moments, part) if studentised and n != m and part > 1 else _first
    smaller = np.sort(min(first, second, key=len) - centre)
    observed = sign * float(statistic(np.array([[smaller.sum(), (smaller**2).sum()]]))[0])
    blocks = _all_sums(moments, part) if enumerated else _drawn_sums(moments, part, draws, seed)
    extreme = ties = 0
    for of_parts in blocks:
        sums = sign * statistic(of_parts)
        size, bound = (np.abs(sums), abs(observed)) if alternative == "two-sided" else (sums, observed)
        extreme += int((size >= bound - slack).sum())
        ties += int((np.abs(size - bound) <= slack).sum())
    if enumerated:
        return Permutation(extreme / total, total, True, ties)
    return Permutation((1 + extreme) / (1 + draws), draws, False, ties)


def normal_test(x: ArrayLike, y: ArrayLike, *, alternative: Alternative = "two-sided") -> float:
    """Return the normal approximation to the p-value of `permutation_test`; NaN if the values do not vary.

    The approximation uses the exact mean and variance over all partitions: the sum of n out of n + m values has nm/(n +
    m) times the variance of the values.
    """
    _check(alternative)
    first, second = as_values(x, where="X"), as_values(y, where="Y")
    n, m = len(first), len(second)
    if not n or not m:
        return math.nan
    both = np.concatenate([first, second])
    sd = float((n * m / (n + m) * both.var(ddof=1)) ** 0.5)
    if sd <= _TOLERANCE * max(1.0, float(np.abs(both).max())):
        return math.nan
    return _tail(float((first - both.mean()).sum()) / sd, alternative)


def _tail(z: float, alternative: Alternative) -> float:
    return float(2 * scipy.stats.norm.sf(abs(z)) if alternative == "two-sided" else scipy.stats.norm.sf(z))


def _check(alternative: str) -> None:
    if alternative not in ("two-sided", "upper"):
        raise MethodError(f"unknown alternative '{alternative}'", hint=one_of(alternative, ("two-sided", "upper")))


def _first(sums: Array) -> Array:
    return sums[:, 0]


def _welch(moments: Array, n: int) -> Callable[[Array], Array]:
    """Return a function that computes Welch's t for n values against the others; the mean of all values must be 0.

    The function takes an array of shape (…, 2), the sum of the n values and the sum of their squares. `moments`
    contains all values and their squares.
    """
    m, squares = len(moments) - n, float(moments[:, 1].sum())

    def t(sums: Array) -> Array:
        total, own = sums[:, 0], sums[:, 1]
        variance = (own - total**2 / n) / (n - 1) / n + (squares - own - total**2 / m) / (m - 1) / m
        gap = total * (1 / n + 1 / m)
        flat = variance <= _TOLERANCE * squares
        return np.where(flat, np.sign(gap) * _FAR, gap / np.sqrt(np.where(flat, 1.0, variance)))

    return t


def _all_sums(values: Array, n: int) -> Iterator[Array]:
    """Yield the sums over every choice of n rows of `values`, in blocks."""
    choices = combinations(range(len(values)), n)
    while block := list(islice(choices, _BLOCK)):
        yield values[np.array(block)].sum(axis=1)


def _drawn_sums(values: Array, n: int, draws: int, seed: Seed) -> Iterator[Array]:
    """Yield the sums over `draws` random choices of n rows of `values`, in blocks."""
    rng = np.random.default_rng(seed)
    for start in range(0, draws, _BLOCK):
        rows = min(_BLOCK, draws - start)
        chosen: NDArray[np.intp] = rng.random((rows, len(values))).argpartition(n - 1, axis=1)[:, :n]
        yield values[chosen].sum(axis=1)


@dataclass(frozen=True, slots=True)
class CombinedEffect:
    """Summary of effect sizes under a random-effects model.

    If samples are added, `p` decreases even if they repeat each other, because samples from one corpus are not
    independent studies. `tau` is the standard deviation between samples in excess of their own variances, and `i2` is
    the share of τ² in the total variance; `tau` and `i2` are meaningful only if the variances are in units of squared
    effect sizes.
    """

    effect: float
    se: float
    p: float
    q: float
    tau: float
    i2: float
    n: int


def combine(effects: ArrayLike, variances: ArrayLike, *, alternative: Alternative = "two-sided") -> CombinedEffect:
    """Combine effect sizes with known variances by DerSimonian and Laird's method.

    W = 1/V; Q = ΣW·ES² − (ΣW·ES)²/ΣW; c = ΣW − ΣW²/ΣW; τ² = max(0, (Q − (N − 1))/c); v = 1/(V + τ²); effect = Σv·ES/Σv;
    se = 1/√Σv. Raises DataError for unequal lengths or for variances that are not positive.
    """
    _check(alternative)
    es, v = as_values(effects, where="effect sizes"), as_values(variances, where="variances")
    if len(es) != len(v):
        raise DataError(
            f"expected one variance per effect size, got {len(es)} effect sizes and {len(v)} variances",
            where="combination",
        )
    if (v <= 0).any():
        raise DataError("a variance is not positive", where="combination")
    n = len(es)
    if not n:
        nan = math.nan
        return CombinedEffect(nan, nan, nan, nan, nan, nan, 0)
    w = 1 / v
    centre = float((w * es).sum() / w.sum())
    q = float((w * (es - centre) ** 2).sum())  # equals ΣW·ES² − (ΣW·ES)²/ΣW, without cancellation
    c = float(w.sum() - (w**2).sum() / w.sum())
    tau2 = max(0.0, (q - (n - 1)) / c) if n > 1 else 0.0
    weight = 1 / (v + tau2)
    effect, se = float((weight * es).sum() / weight.sum()), float(weight.sum() ** -0.5)
    p = _tail(effect / se, alternative)
    i2 = max(0.0, (q - (n - 1)) / q) if n > 1 and q > 0 else 0.0  # with one sample, q is rounding
    return CombinedEffect(effect, se, p, q, tau2**0.5, i2, n)


def further(effects: ArrayLike, *, level: float = 0.95) -> tuple[float, float, float]:
    """Return the mean effect size and the prediction limits for one further sample (NaN for fewer than two effects).

    The limits are mean ± t·S·√(1 + 1/N) with N − 1 degrees of freedom, where S is the total standard deviation between
    samples, including their own variances.
    """
    check_level(level)
    es = as_values(effects, where="effect sizes")
    n = len(es)
    if n < 2:
        return (float(es[0]) if n else math.nan), math.nan, math.nan
    half = float(scipy.stats.t.ppf((1 + level) / 2, n - 1) * es.std(ddof=1) * (1 + 1 / n) ** 0.5)
    return float(es.mean()), float(es.mean()) - half, float(es.mean()) + half


def effect_variance(effects: ArrayLike, n: int, largest: float) -> Array:
    """Return the sampling variance of effect sizes d for n stimuli each, in units of d²; 0 at the `largest` possible d.

    d is `largest` times a point-biserial correlation r, and r = δ/√(δ² + 4), where δ is the effect size standardised by
    the standard deviation within sets. The variance of δ is 4/n + δ²/2n (Hedges & Olkin 1985, §5), so the variance of r
    is (1 − r²)²(1 − r²/2)/n. The approximation assumes sets of about the same size.
    """
    r2 = np.minimum(1.0, (np.asarray(effects, dtype=np.float64) / largest) ** 2)
    variances: Array = largest**2 * (1 - r2) ** 2 * (1 - r2 / 2) / n
    return variances
