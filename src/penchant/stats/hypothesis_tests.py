"""Distribution-free tests: McNemar's test, tests of proportions, sign-flip test, and Holm's correction.

Tests of counts use the mid-p-value, which includes half of the probability of the observed count (Lancaster 1961, J.
Am. Stat. Assoc. 56:223–234). In small samples, mid-p tests are less conservative than exact tests (Fagerland, Lydersen
& Laake 2013, BMC Med. Res. Methodol. 13:91, on McNemar's test; Lydersen, Fagerland & Laake 2009, Stat. Med.
28:1159–1175, on Fisher's test).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.errors import DataError, MethodError
from penchant.records import Estimate
from penchant.stats.inputs import Array, Seed, as_credits, as_values, check_lengths, has_ties
from penchant.wording.phrases import Note

EXACT_UNITS = 16  # 2**15 sign patterns and their mirror images
_TOLERANCE = 1e-12
_CHUNK = 2_000_000  # signs held at once


def mcnemar(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided mid-p-value for equal accuracy of `a` and `b` on the same items (McNemar 1947).

    The test is a binomial test on the discordant items; the p-value is 1.0 if there are none, and NaN without items. If
    there are ties among the credits, it is a sign test on the differences between items. Raises DataError for unequal
    lengths.
    """
    first, second = as_credits(a, where="a"), as_credits(b, where="b")
    check_lengths(first, second, where="McNemar test")
    if not len(first):
        return np.nan
    wins, losses = int(np.count_nonzero(first > second)), int(np.count_nonzero(first < second))
    return _mid_p(scipy.stats.binom(wins + losses, 0.5), wins) if wins + losses else 1.0


def binomial(credits: ArrayLike, share: float) -> float:
    """Return the two-sided mid-p-value for the hypothesis that a credit of 1 has the probability `share`.

    NaN without items, or if there are ties, which a binomial count cannot represent.
    """
    array = as_credits(credits)
    if not len(array) or has_ties(array):
        return np.nan
    return _mid_p(scipy.stats.binom(len(array), share), int(array.sum()))


def fisher(first: ArrayLike, second: ArrayLike) -> float:
    """Return the two-sided mid-p-value for equal accuracy on two sets of items with credits 0 or 1.

    The test is conditional on the total number of right choices. NaN if a set has no items.
    """
    one, other = as_credits(first, where="first"), as_credits(second, where="second")
    if not (len(one) and len(other)):
        return np.nan
    right = int(one.sum() + other.sum())
    return _mid_p(scipy.stats.hypergeom(len(one) + len(other), right, len(one)), int(one.sum()))


def _mid_p(distribution: Any, observed: int) -> float:
    """Return the two-sided mid-p-value: the probability of less likely counts plus half of the equally likely ones."""
    low, high = distribution.support()
    probability = distribution.pmf(np.arange(low, high + 1))
    own = distribution.pmf(observed)
    equal = np.abs(probability - own) <= 1e-7 * own
    return float(min(1.0, probability[(probability < own) & ~equal].sum() + probability[equal].sum() / 2))


def sign_flip(differences: ArrayLike, *, seed: Seed, draws: int = 10_000) -> float:
    """Return the two-sided p-value for a mean difference of 0, based on random sign flips (Fisher 1935, §21).

    The test is exact for up to 16 nonzero differences; otherwise signs are sampled and p = (1 + extreme)/(1 + draws)
    (Phipson & Smyth 2010). p is 1.0 if all differences are 0, and NaN without items. Raises DataError for NaN, and
    MethodError if `draws` is not positive.
    """
    if draws < 1:
        raise MethodError(f"a randomisation test needs at least one draw, got {draws}")
    values = as_values(differences, where="differences")
    if not len(values):
        return np.nan
    slack = _TOLERANCE * float(np.abs(values).sum())
    # ±u and ±|u| have the same distribution, so the sizes alone determine it; sorted, they determine the draws too.
    sizes = np.sort(np.abs(values[np.abs(values) > slack]))
    bound = abs(float(np.sort(values).sum())) - slack
    if not len(sizes):
        return 1.0
    if len(sizes) <= EXACT_UNITS:
        return float(np.mean(np.abs(_all_flips(sizes)) >= bound))
    return (1 + _extreme_flips(sizes, bound, draws, np.random.default_rng(seed))) / (1 + draws)


def _all_flips(sizes: Array) -> Array:
    """Return Σ ± sizes for every pattern of signs with the first sign fixed at + (the other patterns mirror these)."""
    sums = sizes[:1]
    for size in sizes[1:]:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _extreme_flips(sizes: Array, bound: float, draws: int, rng: np.random.Generator) -> int:
    """Return the number of random sums Σ ± sizes, out of `draws`, that reach `bound` in absolute value."""
    kinds, counts = np.unique(sizes, return_counts=True)
    grouped = len(kinds) * 20 < len(sizes)  # one binomial draw costs about twenty single signs
    terms, extreme = kinds if grouped else sizes, 0
    rows = max(1, _CHUNK // len(terms))
    for start in range(0, draws, rows):
        shape = min(rows, draws - start), len(terms)
        if grouped:
            signs = (2 * rng.binomial(counts, 0.5, size=shape) - counts).astype(np.float64)
        else:
            signs = rng.integers(0, 2, size=shape, dtype=np.int8).astype(np.float64) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ terms) >= bound))
    return extreme


def held_against(estimate: Estimate, truth: float) -> Estimate:
    """Return the estimate, with a note if its two-sided test of the value `truth` contradicts its interval."""
    if np.isnan([estimate.p, estimate.low]).any():
        return estimate
    if (estimate.p < 1 - estimate.level) == (not estimate.low <= truth <= estimate.high):
        return estimate
    return estimate.noted(Note("test-against-interval"))


def holm(p: ArrayLike) -> Array:
    """Return adjusted p-values that control the family-wise error rate (Holm 1979, Scand. J. Stat. 6:65–70).

    They are in the order of `p`. NaN stays NaN and is not included in the number of tests. Raises DataError for a
    p-value outside [0, 1].
    """
    raw = np.asarray(p, dtype=np.float64)
    if raw.ndim != 1 or bool(np.any((raw < 0) | (raw > 1))):
        raise DataError("p-values must be a list of numbers between 0 and 1", where="Holm correction")
    adjusted = np.full(len(raw), np.nan)
    tested = np.flatnonzero(~np.isnan(raw))
    order = tested[np.argsort(raw[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * raw[order]))
    return adjusted


def with_holm(estimates: Iterable[Estimate], family: Callable[[Estimate], str | None]) -> list[Estimate]:
    """Return the estimates with p-values adjusted within each family.

    `family` returns the name of an estimate's family, or None to leave the estimate unchanged. Each test records the
    name of its family and the number of tests in it, excluding p-values of NaN.
    """
    adjusted = list(estimates)
    families: dict[str, list[int]] = {}
    for i, estimate in enumerate(adjusted):
        if (label := family(estimate)) is not None:
            families.setdefault(label, []).append(i)
    for name, members in families.items():
        corrected = holm([adjusted[i].p for i in members])
        tests = int(np.count_nonzero(~np.isnan(corrected)))
        for i, p in zip(members, corrected, strict=True):
            if (test := adjusted[i].test) is not None and not np.isnan(p):
                adjusted[i] = replace(adjusted[i], test=replace(test, adjusted=float(p), family=name, of=tests))
    return adjusted


def placed_family(estimate: Estimate, *places: str) -> Estimate:
    """Return the estimate with `places` (such as the data set) appended to the name of its test's family, if any."""
    if estimate.test is None or not estimate.test.family:
        return estimate
    return replace(estimate, test=replace(estimate.test, family=", ".join([estimate.test.family, *places])))
