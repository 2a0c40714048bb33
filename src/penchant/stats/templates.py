"""Spread of a statistic over the templates in which it is measured."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from penchant.records import Estimate
from penchant.stats.consistency import variance_shares
from penchant.stats.inputs import Array, Codes
from penchant.stats.sd_interval import FEW, bonett, spread_interval
from penchant.wording.phrases import Method, Note

SD = "sd over templates"
SHARE = "share of variance between templates"
"""The name of the ratio of the sum of squares between templates to the total sum of squares."""
LONE = Note("one-number-a-template")
MANY = 60
"""The smallest number of units for the interval of a pooled sd without a caution (docs/validity.md)."""


def sd_over_templates(values: Array, *, level: float) -> Estimate:
    """Return the sample standard deviation of one value per template, with Bonett's interval; NaN for one template."""
    n = len(values)
    if n < 2:
        return Estimate(SD, math.nan, n, level=level, notes=(Note("one-template"),))
    low, high = spread_interval(np.sort(values), level)
    estimate = Estimate(SD, float(np.sort(values).std(ddof=1)), n, low, high, level)
    if math.isnan(low):
        return estimate.noted(Note("few-templates", least=FEW) if n < FEW else Note("templates-alike"))
    return replace(estimate, method=bonett())


def share_of_templates(table: Array, *, level: float) -> Estimate:
    """Return the proportion of variance in a table (templates, units) that lies between the means of templates.

    It describes these templates only and has no interval. NaN if cells are missing, if the values do not vary, or for
    fewer than two templates or units.
    """
    n = len(table)
    if n < 2 or not np.isfinite(table).all():
        note = Note("one-template" if n < 2 else "template-lacks-some")
        return Estimate(SHARE, math.nan, n, level=level, notes=(note,))
    if table.shape[1] < 2:
        return Estimate(SHARE, math.nan, n, level=level, notes=(LONE,))
    return _share(float(variance_shares(table.T[:, :, None])["template"]), n, level)


def _share(value: float, n: int, level: float) -> Estimate:
    if math.isnan(value):
        return Estimate(SHARE, math.nan, n, level=level, notes=(Note("nothing-varies"),))
    return Estimate(SHARE, value, n, level=level, method=Method("none-these-templates"))


def nested_templates(
    values: Array, template: Codes, unit: Codes, *, level: float, noun: str
) -> tuple[Estimate, Estimate]:
    """Return the standard deviation and the share of variance for templates nested in units, such as occupations.

    `values`, `template` and `unit` have one entry per row; `noun` is the plural noun for the units. The first estimate
    is the standard deviation of template means about the mean of their unit, pooled over units (ddof 1 within each).
    Its interval is derived from the log standard deviation, with a standard error based on the variation between units
    and Bonett's correction for few values. The second estimate is the proportion of the total sum of squares that lies
    between templates within units. With one unit the first estimate equals `sd_over_templates`. NaN for one template,
    or if every unit has one template.
    """
    names, first, code = np.unique(template, return_index=True, return_inverse=True)
    of = np.unique(unit[first], return_inverse=True)[1]
    n, free = len(names), np.bincount(of) - 1
    if not free.any():
        note = Note("no-sentences") if not n else Note("one-template") if n == 1 else Note("template-each", noun=noun)
        none = Estimate(SD, math.nan, n, level=level, notes=(note,))
        return none, replace(none, measure=SHARE)
    means, rows = _means(values, code), np.bincount(code)
    about = _means(np.repeat(means, rows), np.repeat(of, rows))[of]
    between = float(np.sort(rows * (means - about) ** 2).sum())
    total = float(np.sort((values - np.sort(values).mean()) ** 2).sum())
    share = _share(between / total if total > 0 else math.nan, n, level)
    if len(free) == 1 and len(values) == n:
        share = Estimate(SHARE, math.nan, n, level=level, notes=(LONE,))
    if len(free) == 1:
        return sd_over_templates(means, level=level), share
    squares: Array = np.bincount(of, (means - _means(means, of)[of]) ** 2)[free > 0].astype(np.float64)
    return _pooled_sd(squares, free[free > 0].astype(np.intp), n, level=level, noun=noun), share


def _means(values: Array, code: Codes) -> Array:
    """Return the mean of the values with each code, summed in sorted order, so that their order has no effect."""
    order = np.lexsort((values, code))
    means: Array = np.bincount(code[order], values[order]) / np.bincount(code)
    return means


def _pooled_sd(squares: Array, free: Codes, n: int, *, level: float, noun: str) -> Estimate:
    """Return the pooled standard deviation: the root of the sum of squares over the sum of degrees of freedom.

    `squares` and `free` contain the sum of squares and the degrees of freedom of each unit. The standard error of the
    log is based on the variance of a ratio of sums over units (Cochran 1977, Sampling Techniques, 3rd ed., eq. 6.9).
    """
    units = len(squares)
    variance = float(np.sort(squares).sum()) / int(free.sum())
    estimate = Estimate(SD, math.sqrt(variance), n, level=level)
    error = math.sqrt(units / max(1, units - 1) * float(np.sort((squares - variance * free) ** 2).sum()))
    if units < FEW:
        return estimate.noted(Note("few-with-templates", least=FEW, noun=noun))
    if not variance > 0 or not error > 0:
        return estimate.noted(Note("templates-alike"))
    z, freedom = float(scipy.stats.norm.ppf((1 + level) / 2)), int(free.sum())
    if freedom <= z:
        return estimate.noted(Note("too-few-for-level", noun=noun))
    correction = freedom / (freedom - z)  # Bonett's: few values understate the spread
    reach = z * correction * error / (variance * freedom) / 2
    rough = Note("rough-pooled-sd", least=MANY, noun=noun) if units < MANY else None
    low, high = (estimate.value * correction**0.5 * math.exp(sign * reach) for sign in (-1, 1))
    method = Method("log-sd-pooled", units=units, noun=noun)
    return replace(estimate, low=low, high=high, method=method).noted(rough)
