"""How a number differs between the templates that it is measured in."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from penchant.records import Estimate
from penchant.stats.consistency import variance_shares
from penchant.stats.inputs import Array, Codes, joined
from penchant.stats.spread import FEW, HOW, spread_interval

SD = "sd over templates"
SHARE = "share of variance between templates"
"""Of the sum of squares of templates by what else they are crossed with, as for value statements."""
SAME = "nothing varies"
LONE = "one number a template: all of its variance lies between templates"
SINGLE = "each of the {} has one template, so that what templates and {} add cannot be told apart"
MANY = 60
"""An sd pooled over fewer units than this has an interval that is called rough (docs/validity.md)."""
ROUGH = f"the interval is rough: fewer than {MANY} {{}}"


def sd_over_templates(values: Array, *, level: float) -> Estimate:
    """The standard deviation of one number a template (ddof 1), with Bonett's interval; NaN for one template."""
    n = len(values)
    if n < 2:
        return Estimate(SD, math.nan, n, level=level, note="one template")
    low, high = spread_interval(np.sort(values), level)
    why = f"no interval: fewer than {FEW} templates" if n < FEW else "no interval: the templates do not differ"
    missing = math.isnan(low)
    how, note = ("", why) if missing else (HOW, "")
    return Estimate(SD, float(np.sort(values).std(ddof=1)), n, low, high, level, how=how, note=note)


def share_of_templates(table: Array, *, level: float) -> Estimate:
    """The share of the variance of a table (templates, units) that lies between the means of its templates. It
    describes these templates and has no interval; NaN where a cell is missing, nothing varies or there is one unit."""
    n = len(table)
    if n < 2 or not np.isfinite(table).all():
        note = "one template" if n < 2 else "a template lacks some of what others have"
        return Estimate(SHARE, math.nan, n, level=level, note=note)
    if table.shape[1] < 2:
        return Estimate(SHARE, math.nan, n, level=level, note=LONE)
    return _share(float(variance_shares(table.T[:, :, None])["template"]), n, level)


def _share(value: float, n: int, level: float) -> Estimate:
    if math.isnan(value):
        return Estimate(SHARE, math.nan, n, level=level, note=SAME)
    return Estimate(SHARE, value, n, level=level, how="no interval: it describes these templates")


def nested_templates(
    values: Array, template: Codes, unit: Codes, *, level: float, noun: str
) -> tuple[Estimate, Estimate]:
    """How far templates differ where every unit (an occupation, a family of sentences) has templates of its own:
    `values`, the `template` and the `unit` of every row; `noun` what units are, in the plural.

    The first estimate is the standard deviation of one mean a template about the mean of its unit, pooled over units
    (ddof 1 in each); its interval is that of a log sd whose error is the one between units, with Bonett's correction
    for few. The second is the share of the sum of squares of all rows that lies between the templates of a unit. With
    one unit the first is that of `sd_over_templates`. NaN where there is one template, or one in every unit.
    """
    names, first, code = np.unique(template, return_index=True, return_inverse=True)
    of = np.unique(unit[first], return_inverse=True)[1]
    n, free = len(names), np.bincount(of) - 1
    if not free.any():
        note = "no sentences" if not n else "one template" if n == 1 else SINGLE.format(noun, noun)
        none = Estimate(SD, math.nan, n, level=level, note=note)
        return none, replace(none, measure=SHARE)
    means, rows = _means(values, code), np.bincount(code)
    about = _means(np.repeat(means, rows), np.repeat(of, rows))[of]
    between = float(np.sort(rows * (means - about) ** 2).sum())
    total = float(np.sort((values - np.sort(values).mean()) ** 2).sum())
    share = _share(between / total if total > 0 else math.nan, n, level)
    if len(free) == 1 and len(values) == n:
        share = Estimate(SHARE, math.nan, n, level=level, note=LONE)
    if len(free) == 1:
        return sd_over_templates(means, level=level), share
    squares: Array = np.bincount(of, (means - _means(means, of)[of]) ** 2)[free > 0].astype(np.float64)
    return _pooled_sd(squares, free[free > 0].astype(np.intp), n, level=level, noun=noun), share


def _means(values: Array, code: Codes) -> Array:
    """The mean of the values of every code; sorted before they are added, so that their order does not matter."""
    order = np.lexsort((values, code))
    means: Array = np.bincount(code[order], values[order]) / np.bincount(code)
    return means


def _pooled_sd(squares: Array, free: Codes, n: int, *, level: float, noun: str) -> Estimate:
    """The root of the sum of squares of all units by that of their degrees of freedom, a ratio of two sums over units;
    its log has the error of such a ratio (Cochran 1977, Sampling Techniques, 3rd ed., eq. 6.9)."""
    units = len(squares)
    variance = float(np.sort(squares).sum()) / int(free.sum())
    estimate = Estimate(SD, math.sqrt(variance), n, level=level)
    error = math.sqrt(units / max(1, units - 1) * float(np.sort((squares - variance * free) ** 2).sum()))
    if units < FEW:
        return replace(estimate, note=f"no interval: fewer than {FEW} {noun} with several templates")
    if not variance > 0 or not error > 0:
        return replace(estimate, note="no interval: the templates do not differ")
    z, freedom = float(scipy.stats.norm.ppf((1 + level) / 2)), int(free.sum())
    if freedom <= z:
        return replace(estimate, note=f"no interval: {noun} are too few for this level")
    correction = freedom / (freedom - z)  # Bonett's, of few values: those seen are too alike
    reach = z * correction * error / (variance * freedom) / 2
    note = ROUGH.format(noun) if units < MANY else ""
    low, high = (estimate.value * correction**0.5 * math.exp(sign * reach) for sign in (-1, 1))
    how = f"interval of a log sd pooled over {units} {noun}"
    return replace(estimate, low=low, high=high, how=how, note=joined(estimate.note, note))
