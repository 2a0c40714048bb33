"""Means and contrasts that an instrument declares as its measures, and their estimation from items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.errors import MethodError, one_of
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import binomial, held_against, mcnemar, with_holm
from penchant.stats.inputs import Array, cluster_codes, small_side
from penchant.stats.intervals import accuracy, clustered_mean, on_scale, paired_difference, t_mean
from penchant.wording.phrases import Method, Note

ALL = "all"
"""Name used in place of a level for estimates over all items."""


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean over all items, and over the items at each level of the column `by`.

    `of` is a column of the items, or a pair of sentences, whose value is the score of the first minus the score of the
    second. If `share` is true, the measure is the proportion of items with a value above 0; a tie contributes one half.
    Items with the same value in the column `clusters` are one sampling unit. Means are tested against 0, proportions
    against one half. `margin` is the smallest effect of interest in the unit of the measure; None means 0.05 for
    proportions (0.02 for differences between models) and 0.1 otherwise, which suits log-probabilities (a change of the
    odds by a tenth). If `tested` is false, only differences between models are tested, as for an accuracy, which has no
    natural null value. Items without a value of `of` are left out. `ends` are the ends of the scale of `of`, which
    bound the intervals; if they are 0 and 1, intervals over clusters are computed on the logit scale.
    """

    name: str
    of: str | tuple[str, str]
    by: str = ""
    clusters: str = ""
    share: bool = False
    margin: float | None = None
    tested: bool = True
    ends: tuple[float, float] | None = None

    def estimate(self, mine: Array, theirs: Array | None, items: pl.DataFrame, level: float, noun: str) -> Estimate:
        """Return the mean of the values `mine`, or of the differences `mine` − `theirs` between two models."""
        against = None if not self.tested and theirs is None else 0.5 if self.share and theirs is None else 0.0
        values = mine if theirs is None else mine - theirs
        low, high = self.ends or (-np.inf, np.inf)
        bounds = (low, high) if theirs is None else (low - high, high - low)
        if self.clusters:
            found = clustered_mean(
                values,
                _levels(items, self.clusters).tolist(),
                level=level,
                noun=plural(self.clusters),
                proportion=(self.share or self.ends == (0, 1)) and theirs is None,
                against=against,
            )
            return found if self.ends is None else on_scale(found, *bounds)
        if not self.share:
            return t_mean(values, level=level, noun=noun, bounds=bounds, against=against)
        if theirs is not None:
            gap = paired_difference(mine, theirs, level=level)
            return held_against(gap.tested(mcnemar(mine, theirs), Method("mcnemar")), 0)
        if against is None:
            return accuracy(mine, level=level)
        untied = mine[mine != against]
        test = Method("binomial" if len(untied) == len(mine) else "binomial-untied")
        return held_against(accuracy(mine, level=level).tested(binomial(untied, against), test), against)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Difference between the means of a measure at two `levels` of the column `between`, first minus second.

    `of`, `by`, `share`, `clusters` and `margin` are as in `Mean`; if `clusters` is set, every cluster has the same
    weight. Contrasts are tested against 0.
    """

    name: str
    of: str | tuple[str, str]
    between: str
    levels: tuple[str, str]
    clusters: str = ""
    share: bool = False
    by: str = ""
    margin: float | None = None

    def estimate(self, mine: Array, theirs: Array | None, items: pl.DataFrame, level: float, noun: str) -> Estimate:
        """Return the contrast of the values `mine`, or of the differences `mine` − `theirs` between two models.

        The contrast is Welch's difference between two means, computed as a mean over two strata.
        """
        own, side = mine if theirs is None else mine - theirs, _levels(items, self.between)
        units = [self._units(own[side == name], items.filter(side == name)) for name in self.levels]
        n = sum(map(len, units))
        scaled = [sign * n / len(own) * own for sign, own in zip((1, -1), units, strict=True) if len(own)]
        strata = [name for name, own in zip(self.levels, units, strict=True) for _ in own]
        if len(scaled) < 2:
            return Estimate(self.name, np.nan, n, level=level, notes=(Note("empty-side"),))
        noun = plural(self.clusters) if self.clusters else noun
        found = t_mean(np.concatenate(scaled), strata=strata, level=level, noun=noun, against=0)
        return found.noted(small_side(*map(len, units)))

    def _units(self, values: Array, items: pl.DataFrame) -> Array:
        if not self.clusters or not len(values):
            return values
        codes = cluster_codes(_levels(items, self.clusters).tolist(), len(values))
        means: Array = np.bincount(codes, values) / np.bincount(codes)
        return means


Measure = Mean | Contrast


def plural(column: str) -> str:
    """Return the plural of a column's name, as a noun for the units in the column."""
    return f"{column}s"


def _levels(items: pl.DataFrame, column: str) -> NDArray[np.str_]:
    return items[column].cast(pl.String).to_numpy().astype(np.str_)


def values(items: pl.DataFrame, measure: Measure) -> Array:
    """Return the value of a measure for each item."""
    if isinstance(measure.of, str):
        found: Array = items[measure.of].cast(pl.Float64).fill_null(np.nan).to_numpy()
    else:
        first, second = measure.of
        found = (items[f"score_{first}"] - items[f"score_{second}"]).to_numpy()
    return (np.sign(found) + 1) / 2 if measure.share else found


def require_columns(measures: Sequence[Measure], items: pl.DataFrame, where: str, *, levels: bool) -> None:
    """Raise MethodError if the items lack a column that a measure uses, or if a measure's margin is not above 0.

    If `levels` is true, a missing level of a contrast is also an error. `where` locates the measures in the message.
    """
    for measure in measures:
        if measure.margin is not None and not measure.margin > 0:
            raise MethodError(f"the margin of measure '{measure.name}' is not above 0", where=where)
        of = [measure.of] if isinstance(measure.of, str) else [f"score_{role}" for role in measure.of]
        between, sides = (measure.between, measure.levels) if isinstance(measure, Contrast) else ("", ())
        for column in filter(None, (*of, measure.by, measure.clusters, between)):
            if column not in items.columns:
                message = f"measure '{measure.name}' uses the column '{column}', which the items do not have"
                raise MethodError(message, where=where, hint=one_of(column, items.columns))
        there = items[between].cast(pl.String).unique().sort().to_list() if between and levels else sides
        for name in sides:
            if name not in there:
                message = f"measure '{measure.name}' contrasts '{name}', which does not occur in the column '{between}'"
                raise MethodError(message, where=where, hint=one_of(name, there))


def estimates(
    measures: Sequence[Measure], items: pl.DataFrame, level: float, noun: str, *, other: pl.DataFrame | None = None
) -> list[Estimate]:
    """Return the estimates of all measures, each over all items and for every value of its column `by`.

    `level` is the confidence level, `noun` the plural noun for the items. If `other` contains another model's results
    on the same items, the estimates are differences from that model. Holm's correction is applied over values of `by`.
    """
    keys = list(dict.fromkeys(measure.by for measure in measures if measure.by))
    found: list[Estimate] = []
    for measure in measures:
        mine, theirs = values(items, measure), None if other is None else values(other, measure)
        valued = ~np.isnan(mine) if theirs is None else ~np.isnan(mine) & ~np.isnan(theirs)
        parts = {ALL: np.ones(len(items), dtype=np.bool_)}
        if measure.by:
            column, levels = _levels(items, measure.by), items[measure.by].unique(maintain_order=True)
            ordered = levels.sort() if levels.dtype.is_numeric() else levels
            parts = {name: column == name for name in ordered.cast(pl.String)} | parts
        for name, inside in parts.items():
            chosen = inside & valued
            there = None if theirs is None else theirs[chosen]
            made = measure.estimate(mine[chosen], there, items.filter(chosen), level, noun)
            by = {key: name if key == measure.by else ALL for key in keys}
            found.append(replace(made, measure=measure.name, by=by))
    return with_holm(found, lambda one: None if {*one.by.values()} <= {ALL} else one.measure)
