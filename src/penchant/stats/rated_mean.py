"""Mean of items judged by several raters, with both raters and items as random samples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.crossed_judgements import SPEARMAN
from penchant.stats.inputs import Array, as_values, check_lengths, check_level
from penchant.stats.intervals import in_strata, stratified_variances, stratum_codes, within_scale
from penchant.stats.weighted import effective_n
from penchant.wording.phrases import Method, Note, present

_FEW = {2: (87, 97), 3: (92, 97)}
"""Coverage (%) of 95 % intervals by number of raters, for dissimilar and for similar raters."""
FEWEST_SHARED = 10
"""The smallest number of units for a comparison of a rater with the others."""
_LEAST = 0.1
"""The minimum degrees of freedom, used if one rater made nearly all judgements."""
WANTED = 5
"""The smallest number of raters with a coverage of 94 to 97 % (simulated in the slow tests)."""


def worth(judged: ArrayLike) -> float:
    """Return Kish's effective number of raters, given the number of judgements of each rater; 0 without judgements."""
    weights = np.sort(np.asarray(judged, dtype=np.float64))
    return effective_n(weights) if weights.any() else 0.0


def with_others(own: ArrayLike, others: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return Spearman's ρ between a rater's ratings and the others' means, over units that the rater and others rated.

    The confidence interval is based on Fisher's z with the variance 1.06/(n − 3) of Fieller, Hartley & Pearson (1957,
    Biometrika 44:470). NaN for fewer than ten units, or if either side is constant.
    """
    check_level(level)
    x, y = (
        as_values(own, where="own"),
        np.round(as_values(others, where="others"), 12),
    )  # rounding restores ties of means
    check_lengths(x, y, where=SPEARMAN)
    n = len(x)
    if n < FEWEST_SHARED or np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = Note("ratings-equal") if n >= FEWEST_SHARED else Note("few-shared", least=FEWEST_SHARED)
        return Estimate(SPEARMAN, np.nan, n, level=level, notes=(reason,))
    rho = float(np.clip(scipy.stats.spearmanr(x, y).statistic, -1, 1))
    half = float(scipy.stats.norm.ppf((1 + level) / 2)) * (1.06 / (n - 3)) ** 0.5
    with np.errstate(divide="ignore"):  # at ρ = ±1 the interval is that point
        low, high = (float(np.tanh(np.arctanh(rho) + side)) for side in (-half, half))
    return Estimate(SPEARMAN, rho, n, low, high, level, Method("fisher-z-of-ranks", units=n))


def mean_over_raters(
    values: ArrayLike,
    without: ArrayLike,
    *,
    strata: Iterable[Hashable] | None = None,
    level: float = 0.95,
    noun: str = "sentences",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    judged: ArrayLike | None = None,
) -> Estimate:
    """Return the mean over items, with a t interval that covers the mean for other items and other raters.

    `values` contains one number per item, based on all raters. `without[r]` contains the same numbers without rater r,
    so that `without` has the shape (raters, items). If `strata`, one label per item, is given, the variance between
    items is estimated within strata; `strata` is ignored if a stratum has a single item. `bounds` are the limits of
    the scale, to which the interval is clipped. `judged` contains each rater's number of judgements (default: equal).

    The variance between raters is the jackknife variance over raters, the variance between items the variance of a
    stratified mean. The degrees of freedom of their sum are Satterthwaite's (1946, Biometrics Bulletin 2:110–114). The
    interaction of raters and items is included in both variances, so the interval is conservative. Raises DataError for
    NaN or arrays of incompatible shapes.
    """
    check_level(level)
    array = as_values(values)
    others = np.asarray(without, dtype=np.float64)
    if others.ndim != 2 or others.shape[1] != len(array) or not np.isfinite(others).all():
        raise DataError(
            f"expected finite numbers, shape (raters, {len(array)}), got shape {others.shape} or a non-finite number",
            where="raters left out",
        )
    items, raters = len(array), len(others)
    codes = stratum_codes(strata, items)
    if not items:
        return Estimate("mean", np.nan, 0, level=level, notes=(Note("no-items"),))
    value = float(np.sort(array).mean())
    if items < 2 or raters < 2:
        few = Note("one-rated", noun=noun) if items < 2 else Note("fewer-than-two-raters")
        return Estimate("mean", value, items, level=level, notes=(few,))
    alike = raters if judged is None else min(worth(judged), raters)
    parts = [*stratified_variances(in_strata(array, codes)), (_between_raters(others), max(alike - 1, _LEAST))]
    variance = sum(part for part, _ in parts)
    if not variance > (1e-12 * np.abs(array).max()) ** 2:
        return Estimate("mean", value, items, level=level, notes=(Note("neither-differ", noun=noun),))
    df = float(variance**2 / sum(part**2 / of for part, of in parts))
    half = float(scipy.stats.t.ppf((1 + level) / 2, df) * variance**0.5)
    worth_less = alike if f"{alike:.1f}" != f"{raters:.1f}" else None
    over = {"items": items, "noun": noun, "raters": raters, "worth": worth_less}
    method = Method("satterthwaite-raters", **over, df=df)
    low, high, ends = within_scale(value - half, value + half, bounds, float(np.ptp(array)))
    return Estimate("mean", value, items, low, high, level, method, notes=present(_rough(raters, alike), ends))


def _rough(raters: int, alike: float) -> Note | None:
    full = round(alike)
    if full >= WANTED:
        return None
    held = list(_FEW.get(max(full, min(_FEW)), _FEW[max(_FEW)]))
    if full >= raters:
        return Note("rough-raters", raters=raters, held=held, would_do=WANTED)
    worth_less = alike if f"{alike:.1f}" != f"{raters:.1f}" else None
    return Note("rough-unequal-raters", raters=raters, worth=worth_less, held=held, would_do=WANTED)


def _between_raters(without: Array) -> float:
    means = np.sort(np.sort(without, axis=1).mean(axis=1))
    return float((len(means) - 1) / len(means) * ((means - means.mean()) ** 2).sum())
