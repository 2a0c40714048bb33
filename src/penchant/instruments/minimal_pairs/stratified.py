"""The difference between two kinds of item within strata, pooled, so that strata are not compared with each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penchant.errors import DataError
from penchant.records import Estimate
from penchant.stats.inputs import (
    Array,
    Codes,
    as_credits,
    check_lengths,
    check_level,
    cluster_codes,
    group_sums,
)
from penchant.stats.intervals import clustered_ratio, independent_difference, on_scale
from penchant.wording.phrases import Method, Note, present

MEASURE = "stratified accuracy difference"


@dataclass(frozen=True, slots=True)
class _Strata:
    """Per stratum: items and credit on the exposed side, items and credit in total."""

    exposed: Array
    exposed_credit: Array
    items: Array
    credit: Array

    @classmethod
    def of(cls, credit: Array, exposed: NDArray[np.bool_], codes: Codes) -> _Strata:
        items = np.bincount(codes).astype(np.float64)
        return cls(
            exposed=group_sums(codes, exposed),
            exposed_credit=group_sums(codes, credit * exposed),
            items=items,
            credit=group_sums(codes, credit),
        )

    @property
    def others(self) -> Array:
        return self.items - self.exposed

    @property
    def weights(self) -> Array:
        """Mantel–Haenszel weights n₁n₀/n."""
        return self.exposed * self.others / self.items

    @property
    def weighted_differences(self) -> Array:
        """Weight times (mean credit of the exposed − of the others), both sides present in every stratum."""
        gap = self.exposed_credit / self.exposed - (self.credit - self.exposed_credit) / self.others
        return self.weights * gap


def mantel_haenszel_difference(
    credit: ArrayLike,
    exposed: ArrayLike,
    strata: Iterable[Hashable],
    *,
    level: float = 0.95,
    noun: str = "strata",
) -> Estimate:
    """Mean credit of exposed items minus that of the others, pooled over strata (Greenland & Robins 1985).

    `credit` (0, ½, 1), `exposed` (true, false) and `strata` (labels): one entry per item. Strata without
    both kinds say nothing about the difference; they are left out, counted in `note`, and not part of `n`.
    With one stratum left, the interval and test are those of `independent_difference`. Several are a sample: interval
    and test are cluster-robust t over them, and ask whether the difference is 0 on average over such strata (the
    Cochran–Mantel–Haenszel test asks whether it is 0 in these, and rejects where strata differ in sign).
    Raises DataError for unequal lengths, credits not 0, ½ or 1, or an exposure that is not true or false.
    """
    check_level(level)
    array, side = as_credits(credit), _as_sides(exposed)
    check_lengths(array, side, where="exposed")
    codes = cluster_codes(strata, len(array), where="strata")
    if not len(array):
        return Estimate(MEASURE, np.nan, 0, level=level, notes=(Note("no-items"),))
    all_strata = _Strata.of(array, side, codes)
    informative = (all_strata.exposed > 0) & (all_strata.others > 0)
    kept = informative[codes]
    left_out = _left_out(informative, int(np.count_nonzero(~kept)))
    array, side, codes = array[kept], side[kept], np.unique(codes[kept], return_inverse=True)[1]
    groups = int(np.count_nonzero(informative))
    if not groups:
        return Estimate(MEASURE, np.nan, 0, level=level, notes=present(left_out))
    if groups == 1:
        estimate = independent_difference(array[side], array[~side], level=level)
        return replace(estimate, measure=MEASURE).noted(left_out)
    return _sampled_strata(_Strata.of(array, side, codes), level, noun).noted(left_out)


def _sampled_strata(strata: _Strata, level: float, noun: str) -> Estimate:
    gaps, weights, groups = strata.weighted_differences, strata.weights, len(strata.items)
    estimate = Estimate(MEASURE, float(gaps.sum() / weights.sum()), int(strata.items.sum()), level=level)
    if np.ptp(gaps / weights) <= 1e-12:
        return estimate.noted(Note("differences-alike", all=groups, noun=noun))
    estimate = clustered_ratio(estimate, gaps, weights, noun, against=0)
    return on_scale(replace(estimate, method=Method("mantel-haenszel", within=estimate.method)), -1, 1)


def _as_sides(exposed: ArrayLike) -> NDArray[np.bool_]:
    array = np.asarray(exposed)
    if array.ndim != 1 or not bool(np.all((array == 0) | (array == 1))):
        raise DataError("exposure is one true or false per item", where="exposed")
    return array.astype(np.bool_)


def _left_out(informative: NDArray[np.bool_], items: int) -> Note | None:
    strata = int(np.count_nonzero(~informative))
    return Note("strata-lack-a-side", lost=strata, of=len(informative), items=items) if strata else None
