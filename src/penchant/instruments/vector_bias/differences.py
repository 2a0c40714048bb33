"""Two models on the same words: differences of every measure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.comparison import difference as kind
from penchant.instruments.vector_bias.cells import Cell, shared_cells
from penchant.instruments.vector_bias.estimates import (
    NAMES,
    attributes_of,
    family,
    few,
    named,
    observed,
    resamples_of,
    smallest,
    without_interval,
    words_of,
)
from penchant.instruments.vector_bias.measures import Measure
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.records import Estimate
from penchant.stats.bootstrap import expanded_p, expanded_percentile
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: VectorBiasSettings) -> list[Estimate]:
    """Every measure of a minus that of b, by category and attributes, over the words that both have.

    The same words are resampled in both, and the test is by those draws; Holm's adjustment is over all differences of a
    measure, those of the union of both sets of attributes apart."""
    return with_holm(_differences(a, b, settings), lambda estimate: kind(family(estimate)))


def _differences(a: pl.DataFrame, b: pl.DataFrame, settings: VectorBiasSettings) -> Iterator[Estimate]:
    for one, other in shared_cells([a, b], settings):
        for measure in settings.measures:
            for name in attributes_of(measure):
                n = words_of(one, measure, name)
                by = {"category": one.id, "label": one.label, "attributes": name}
                empty = Estimate(NAMES[measure], math.nan, n, level=settings.level, notes=one.notes, by=by)
                yield empty if one.notes else _difference(empty, (one, other), measure, settings)


def _difference(empty: Estimate, both: tuple[Cell, Cell], measure: Measure, settings: VectorBiasSettings) -> Estimate:
    name = empty.by["attributes"]
    values = [observed(cell, measure, settings)[name] for cell in both]
    gap = values[0] - values[1]
    if math.isnan(gap):
        return empty.noted(Note("vector_bias.one-model-without"))
    resamples = resamples_of(measure, settings)
    draws = [cell.draws(measure, settings, resamples)[name] for cell in both]
    n = smallest(both[0], measure, name)
    lost = sum(map(len, both[0].lost.values()))
    shared = Note("vector_bias.shared-words", lost=lost) if lost else None
    return difference(empty.noted(shared, few(n)), gap, draws[0] - draws[1], n, measure, settings)


def difference(
    empty: Estimate, gap: float, draws: Array, n: int, measure: Measure, settings: VectorBiasSettings
) -> Estimate:
    """A difference with its interval and test, from the differences of the same resamples in both models."""
    kept = draws[~np.isnan(draws)]
    if n < 2 or not len(kept) or np.ptp(kept) == 0:
        return replace(empty, value=gap).noted(without_interval(n))
    low, high = expanded_percentile(kept, n, settings.level)
    method = named(measure, n, len(draws), len(draws) - len(kept), settings.seed, both=True)
    over = "attributes" if measure == "ect" else "words"
    test = Method("vector_bias.bootstrap-test", noun=over, two_sided=True)
    return replace(empty, value=gap, low=low, high=high, method=method).tested(expanded_p(kept, n), test)
