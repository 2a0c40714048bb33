"""The samples of one category combined in a random-effects model (Guo & Caliskan 2021)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
import scipy

from penchant.instruments.associations.contextual_effects import Contextual
from penchant.instruments.associations.control_category import CellWords
from penchant.instruments.associations.estimates import Filled, Stimuli, sided
from penchant.instruments.associations.sampled_effects import contrasts, largest_effect
from penchant.instruments.associations.sentence_sampling import Draw
from penchant.instruments.associations.settings import CEATSettings
from penchant.records import Estimate, Test
from penchant.stats.association import CombinedEffect, combine, effect_variance, further
from penchant.stats.hypothesis_tests import held_against
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note

COMBINED = "combined effect size"
PUBLISHED = "combined effect size, as published"
FIRST = "combined effect size of the first samples"
FURTHER = "effect size of a further sample"
TAU = "sd between samples (τ)"
I2 = "share of variance between samples (I²)"
BY_SAMPLE, RESAMPLED = "by_sample", "resampled"
"""Columns of the items from which two results are compared."""
_STEPS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)


@dataclass(frozen=True, slots=True)
class Combination:
    """The samples of one category in one layer, segment and sampling, and the results computed from them.

    `resampled` has the mean effect size of every resample of stimuli and samples. `whole` (the effect
    sizes of the samples) and `filled` (their cosines) are None if a list of stimuli is empty.
    """

    by: Mapping[str, str]
    stimuli: Stimuli
    n: int
    whole: Contextual | None = None
    filled: Filled | None = None
    drawn: Mapping[str, Draw] = field(default_factory=dict)
    resampled: Array = field(default_factory=lambda: np.empty(0))

    def estimates(self, settings: CEATSettings) -> Iterator[Estimate]:
        """Yield the estimates of the combined samples.

        These are the combined effect size with a test over stimuli and with the published test, the variance between
        samples, the effect size of a further sample, and the combined effect sizes of the first samples.
        """
        level, by = settings.level, self.by
        size = len(self.stimuli.x) + len(self.stimuli.y)
        whole, filled = self.whole, self.filled
        notes = self.stimuli.notes
        if whole is None or filled is None:
            notes = notes or (Note("associations.empty-list"),)
        elif np.isnan(whole.effects).any() or not (whole.variances > 0).all():
            notes = notes or (Note("associations.alike-in-a-sample"),)
        if notes or whole is None or filled is None:
            yield Estimate(COMBINED, math.nan, size, level=level, notes=notes, by=by)
            return
        combined = combine(whole.effects, whole.variances, alternative=settings.alternative)
        shift = combined.effect - float(whole.effects[: len(whole.cosines)].mean())
        low, high, method = filled.cell.interval(combined.effect, self.resampled, settings, shift=shift)
        p, test = filled.cell.test(settings, s=whole.s, studentised=True)
        notes = filled.cell.notes(combined.effect, low, settings)
        of = None if math.isnan(low) else Method("associations.samples", within=method, samples=len(whole.cosines))
        estimate = Estimate(COMBINED, combined.effect, size, low, high, level, of, Test(p, test), notes, by)
        yield held_against(estimate, 0) if settings.alternative == "two-sided" else estimate
        yield published(combined, settings, by)
        yield from self._spread(whole, filled, settings)
        for n in (*(step for step in _STEPS if step < self.n), self.n):
            part = combine(whole.effects[:n], whole.variances[:n], alternative=settings.alternative)
            yield published(part, settings, by, measure=FIRST)

    def placed(self, settings: CEATSettings) -> CellWords | None:
        """Return the combined effect size with its tables and word lists, or None if there is no effect size."""
        whole, filled = self.whole, self.filled
        if whole is None or filled is None or np.isnan(whole.effects).any() or not (whole.variances > 0).all():
            return None
        combined = combine(whole.effects, whole.variances, alternative=settings.alternative)
        return CellWords(filled.cell, self.stimuli.sets, combined.effect)

    def _spread(self, whole: Contextual, filled: Filled, settings: CEATSettings) -> Iterator[Estimate]:
        """Yield τ and I² of the variance between samples beyond that over stimuli, and the d of a further sample."""
        level, by, rows = settings.level, self.by, filled.cell.rows
        own = effect_variance(whole.effects, len(rows.side), largest_effect(rows, ddof=settings.ddof))
        if (own > 0).all():
            between = combine(whole.effects, own)
            none = Method("associations.none-dersimonian-laird")
            yield Estimate(TAU, between.tau, self.n, level=level, method=none, by=by)
            yield Estimate(I2, between.i2, self.n, level=level, method=none, by=by)
        else:
            notes = (Note("associations.largest-in-a-sample"),)
            yield from (Estimate(measure, math.nan, self.n, level=level, notes=notes, by=by) for measure in (TAU, I2))
        mean, low, high = further(whole.effects, level=level)
        yield Estimate(FURTHER, mean, self.n, low, high, level, Method("associations.prediction"), by=by)

    def items(self, settings: CEATSettings) -> Iterator[dict[str, Any]]:
        """Yield one row per stimulus: its association, number of different sentences, and columns for comparisons.

        The latter are a target's association in each of the samples that the interval resamples, and, in the first row,
        the effect sizes of all resamples.
        """
        assert self.filled is not None and self.whole is not None
        by_sample = contrasts(self.filled.cell.tables, self.filled.cell.columns).T.tolist()
        rows = zip_longest(self.filled.items(settings), self.whole.s.tolist(), by_sample)
        for i, (row, s, each) in enumerate(rows):
            yield {
                **row,
                # A target's is the mean over all samples, an attribute's that over the samples whose cosines are kept.
                "association": row["association"] if s is None else s,
                "sentences": min(self.n, self.drawn[row["word"]].usable),
                BY_SAMPLE: each,
                RESAMPLED: None if i else self.resampled.tolist(),
            }


def published(
    combined: CombinedEffect, settings: CEATSettings, by: Mapping[str, str], *, measure: str = PUBLISHED
) -> Estimate:
    """Return the combined effect size as published: its standard error treats samples as independent studies."""
    half = float(scipy.stats.norm.ppf((1 + settings.level) / 2)) * combined.se
    test = Test(combined.p, Method("associations.combined-over-error", **sided(settings.alternative)))
    notes = (Note("associations.these-stimuli"),)
    low, high = combined.effect - half, combined.effect + half
    method = Method("associations.normal-combination")
    return Estimate(measure, combined.effect, combined.n, low, high, settings.level, method, test, notes, by)
