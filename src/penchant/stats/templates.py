"""How a number differs between the templates that it is measured in."""

from __future__ import annotations

import math

import numpy as np

from penchant.records import Estimate
from penchant.stats.consistency import variance_shares
from penchant.stats.inputs import Array
from penchant.stats.spread import FEW, HOW, spread_interval

SD = "sd over templates"
SHARE = "share of variance between templates"
"""Of the sum of squares of templates by what else they are crossed with, as for value statements."""


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
    describes these templates and has no interval; NaN where a cell is missing or nothing varies."""
    n = len(table)
    if n < 2 or not np.isfinite(table).all():
        note = "one template" if n < 2 else "a template lacks some of what others have"
        return Estimate(SHARE, math.nan, n, level=level, note=note)
    share = float(variance_shares(table.T[:, :, None])["template"])
    how = "" if math.isnan(share) else "no interval: it describes these templates"
    return Estimate(SHARE, share, n, level=level, how=how, note="nothing varies" if math.isnan(share) else "")
