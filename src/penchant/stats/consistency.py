"""Consistency of scores: Cronbach's α and the decomposition of variance."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.records import Estimate
from penchant.stats.inputs import Array
from penchant.stats.weighted import effective_n, weighted_sd
from penchant.wording.phrases import Method, Note, present

ALPHA = "internal consistency (Cronbach's α)"
INTERACTION = "statement × template"
"""The name of the interaction between statements and templates."""
RESPONDENTS = 30
"""The smallest number of respondents for α, by convention (cf. Yurdugül 2008, Hacettepe J. Educ. 35:397–405)."""


def cronbach_alpha(scores: ArrayLike, *, level: float = 0.95, weights: Array | None = None) -> Estimate:
    """Return Cronbach's α, the internal consistency of items (columns) over respondents (rows).

    α = k/(k−1) · (1 − Σ item variances / variance of the sums), with Feldt's confidence interval (1965, Psychometrika
    30:357–370). Rows with a NaN are left out and counted in a note. α is NaN for fewer than `RESPONDENTS` rows. With
    `weights` of the rows the variances are weighted, and the interval is based on Kish's effective number of rows.
    """
    table = np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(table).any(axis=1)
    whole, counting = table[known], np.ones(int(known.sum())) if weights is None else weights[known]
    n, k = len(whole), table.shape[1]
    lost = len(table) - n
    left_out = Note("respondents-left-out", lost=lost) if lost else None
    total = weighted_sd(whole.sum(axis=1), counting) ** 2 if n > 1 else 0.0
    if k < 2 or n < RESPONDENTS or not total > 0:
        few = Note("alpha-few-respondents", least=RESPONDENTS)
        reason = Note("alpha-few-items") if k < 2 else few if n < RESPONDENTS else Note("alpha-sums-alike")
        return Estimate(ALPHA, np.nan, n, level=level, notes=present(reason, left_out))
    alpha = k / (k - 1) * (1 - sum(weighted_sd(item, counting) ** 2 for item in whole.T) / total)
    effective = n if weights is None else effective_n(counting)
    df = effective - 1, (effective - 1) * (k - 1)
    low = 1 - (1 - alpha) * scipy.stats.f.ppf((1 + level) / 2, *df)
    high = 1 - (1 - alpha) * scipy.stats.f.ppf((1 - level) / 2, *df)
    method = Method("feldt", items=k, respondents=n, worth=None if weights is None else effective)
    return Estimate(ALPHA, float(alpha), n, float(low), float(high), level, method, notes=present(left_out))


def variance_shares(table: Array) -> dict[str, Array]:
    """Return each source's share of the total sum of squares of a complete table (…, statements, templates, groups).

    The sources are the three factors, the interaction of statements and templates, and the rest. The table is balanced,
    so the shares add up to 1; they are NaN if the scores do not vary.
    """
    axes = {"statement": -3, "template": -2, "group": -1}
    mean = table.mean(axis=(-3, -2, -1), keepdims=True)
    total = ((table - mean) ** 2).sum(axis=(-3, -2, -1))
    shares: dict[str, Array] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, axis in axes.items():
            others = tuple(a for a in axes.values() if a != axis)
            gaps = table.mean(axis=others, keepdims=True) - mean
            weight = table.shape[others[0]] * table.shape[others[1]]
            shares[name] = weight * (gaps**2).sum(axis=(-3, -2, -1)) / total
        cells = table.mean(axis=-1, keepdims=True) - mean
        both = table.shape[-1] * (cells**2).sum(axis=(-3, -2, -1)) / total
        shares[INTERACTION] = both - shares["statement"] - shares["template"]
        shares["rest"] = 1 - both - shares["group"]
    return shares
