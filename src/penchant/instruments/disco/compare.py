"""Comparison of two models on the same templates and persons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.base import difference_signature, require_comparable
from penchant.instruments.disco.estimates import DIFFERENT, different_by_template
from penchant.instruments.disco.settings import DiscoSettings
from penchant.records import Result, summary_table
from penchant.stats.intervals import t_mean

DIFFERENCE = f"difference of {DIFFERENT}"


def compare(a: Result, b: Result) -> pl.DataFrame:
    """The mean number of fills that differ by gender of a minus that of b, template by template.

    Raises StudyError for results that cannot be compared, naming the part of the signature that differs.
    """
    require_comparable(a, b, free={"model", "dtype"}, items=["id", "sentence"])
    settings = DiscoSettings.of(a.settings)
    one, other = (different_by_template(result.items) for result in (a, b))
    mean = t_mean(
        np.array([one[template] - other[template] for template in sorted(one)]),
        level=settings.level,
        noun="templates",
        against=0,
    )
    by = {"comparison": f"{a.signature['model']} − {b.signature['model']}"}
    return summary_table([(replace(mean, measure=DIFFERENCE, by=by), difference_signature(a, b))])
