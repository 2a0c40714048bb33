"""Estimates of every measure by category, with tests and intervals over words, and differences between two models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.comparison import difference
from penchant.instruments.vector_bias.cells import CategoryVectors, shared_cells
from penchant.instruments.vector_bias.exchange import exchanged
from penchant.instruments.vector_bias.measures import (
    AGAINST,
    FIRST,
    SECOND,
    UNION,
    DrawCounts,
    Measure,
    learning,
    relations,
    values,
)
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.plurals import first_of
from penchant.records import Estimate, Test
from penchant.stats.bootstrap import expanded_p, expanded_percentile
from penchant.stats.hypothesis_tests import held_against, with_holm
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note

NAMES: dict[Measure, str] = {"rnd": "RND", "rnsb": "RNSB", "mac": "MAC", "ect": "ECT", "ripa": "RIPA"}
"""The names of the measures in estimates."""
FEW = 8
"""Number of words in a list below which an interval is approximate: a convention of this package (docs/validity.md)."""
_SHOWN = 20
"""Number of words that a caution lists."""
FEWEST_RANKED = 3
"""Fewest attributes for which a rank correlation is reported."""


def attributes_of(measure: Measure) -> tuple[str, ...]:
    """Return the sets of attributes that a measure is computed for."""
    return (AGAINST,) if measure == "rnsb" else (FIRST, SECOND, UNION)


def resamples_of(measure: Measure, settings: VectorBiasSettings) -> int:
    """Return the number of resamples of a measure."""
    return settings.refits if measure == "rnsb" else settings.resamples


def family(estimate: Estimate) -> str:
    """Return the family of an estimate for Holm's adjustment: its measure, separately for the union of A and B."""
    return f"{estimate.measure}{f', {UNION}' if estimate.by['attributes'] == UNION else ''}"


def estimates(cell: CategoryVectors, settings: VectorBiasSettings) -> Iterator[Estimate]:
    """Yield every chosen measure for every set of attributes."""
    for measure in settings.measures:
        if cell.notes:
            for name in attributes_of(measure):
                by = {"category": cell.id, "label": cell.label, "attributes": name}
                n = words_of(cell, measure, name)
                yield Estimate(NAMES[measure], math.nan, n, level=settings.level, notes=cell.notes, by=by)
            continue
        found = observed(cell, measure, settings)
        draws = cell.draws(measure, settings, resamples_of(measure, settings))
        tests = exchanged(
            cell.vectors,
            found,
            measure,
            settings.distance,
            draws=settings.resamples,
            refits=settings.refits,
            seed=settings.seed,
        )
        for name, value in found.items():
            yield _estimate(cell, measure, name, value, draws[name], tests[name], settings)


def observed(cell: CategoryVectors, measure: Measure, settings: VectorBiasSettings) -> dict[str, float]:
    """Return the observed value of a measure, by set of attributes."""
    of_words = values(cell.vectors, DrawCounts.once(cell.vectors), measure, settings.distance)
    few = {name: measure == "ect" and words_of(cell, measure, name) < FEWEST_RANKED for name in of_words}
    return {name: math.nan if few[name] else float(value[0]) for name, value in of_words.items()}


def words_of(cell: CategoryVectors, measure: Measure, attributes: str) -> int:
    """Return the number of words that an estimate covers: targets and attributes; for ECT the attributes alone."""
    x, y, a, b = map(len, cell.names)
    chosen = {FIRST: a, SECOND: b}.get(attributes, a + b)
    return chosen if measure == "ect" else x + y + chosen


def smallest(cell: CategoryVectors, measure: Measure, attributes: str) -> int:
    """Return the number of words in the smallest resampled list; for ECT, the number of attributes."""
    x, y, a, b = map(len, cell.names)
    drawn = {FIRST: [a], SECOND: [b]}.get(attributes, [a, b])
    return sum(drawn) if measure == "ect" else min(x, y, *drawn)


def _estimate(
    cell: CategoryVectors,
    measure: Measure,
    name: str,
    value: float,
    draws: Array,
    test: Test | None,
    settings: VectorBiasSettings,
) -> Estimate:
    by = {"category": cell.id, "label": cell.label, "attributes": name}
    estimate = Estimate(NAMES[measure], value, words_of(cell, measure, name), level=settings.level, by=by)
    if math.isnan(value):
        return estimate.noted(_why_none(cell, measure, name))
    n = smallest(cell, measure, name)
    kept = draws[~np.isnan(draws)]
    low, high = interval(value, kept, n, settings.level, measure)
    none = math.isnan(low)
    method = None if none else named(measure, n, len(draws), len(draws) - len(kept), settings.seed)
    estimate = replace(estimate, low=low, high=high, method=method, test=test)
    estimate = estimate.noted(without_interval(n) if none else None, few(n), *_of_measure(cell, measure))
    return held_against(estimate, 0) if measure in ("rnd", "ripa") else estimate


def interval(value: float, draws: Array, n: int, level: float, measure: Measure) -> tuple[float, float]:
    """Return the expanded percentile interval of a value from bootstrap draws of n words.

    RNSB is a divergence, which sampling noise makes larger. Its interval therefore covers both the percentile interval
    and the basic bootstrap interval of the square root. NaN if n is below 2, or if the draws are none or all equal.
    """
    if n < 2 or not len(draws) or np.ptp(draws) == 0:
        return math.nan, math.nan
    if measure != "rnsb":
        return expanded_percentile(draws, n, level)
    below, above = expanded_percentile(np.sqrt(draws), n, level)
    basic = [max(2 * math.sqrt(value) - bound, 0.0) for bound in (above, below)]
    return min(below, basic[0]) ** 2, max(above, basic[1]) ** 2


def named(measure: Measure, n: int, resamples: int, lost: int, seed: int, *, both: bool = False) -> Method:
    """Return the method of an interval; `both` is true for a difference between two models.

    `n` is the number of words in the smallest list, and `lost` the number of resamples without a value.
    """
    refitted = "vector_bias.bootstrap-of-refits" if both else "vector_bias.wider-bootstrap"
    code = {"ect": "vector_bias.bootstrap-of-rho", "rnsb": refitted}.get(measure, "vector_bias.bootstrap")
    params = {"both": both or None, "smallest": n, "resamples": resamples, "lost": lost or None, "seed": seed}
    return Method(code, **params)


def few(n: int) -> Note | None:
    """Return a note if the words are few but at least two, else None."""
    return Note("vector_bias.few-words", have=n, would_do=FEW) if 2 <= n < FEW else None


def without_interval(n: int) -> Note:
    """Return the reason that bootstrap draws of n words give no interval."""
    return Note("vector_bias.one-word" if n < 2 else "vector_bias.resamples-agree")


def _why_none(cell: CategoryVectors, measure: Measure, name: str) -> Note:
    if measure == "ect" and words_of(cell, measure, name) < FEWEST_RANKED:
        return Note("vector_bias.few-attributes", least=FEWEST_RANKED)
    return Note("vector_bias.no-direction")


def _of_measure(cell: CategoryVectors, measure: Measure) -> Iterator[Note]:
    if measure == "ripa":
        same = int((~relations(cell.vectors).any(axis=-1)).sum())
        if same:
            yield Note("vector_bias.same-vector", same=same)
    if measure == "rnsb" and cell.vectors.trained is not None:
        right, of = held_out(cell)
        yield Note("vector_bias.held-out", right=right, of=of)


def held_out(cell: CategoryVectors) -> tuple[int, int]:
    """Return how many held-out attributes the classifier labels correctly, and how many are held out."""
    vectors = cell.vectors
    chosen, labels, _ = learning(vectors)
    others = np.setdiff1d(np.arange(len(vectors.attributes)), chosen)
    if not len(others):
        return 0, 0
    space = learning(replace(vectors, x=vectors.attributes[others], y=vectors.attributes[:0]))[2]
    found = space.probabilities(labels[None], np.ones((1, len(chosen))))[0] > 0.5
    return int((found == (others >= len(vectors.a))).sum()), len(others)


def lost_words(cells: Sequence[CategoryVectors], model: str) -> Iterator[Note]:
    """Yield cautions about words without a vector, each once, and about categories without numbers."""
    words = list(dict.fromkeys(word for cell in cells for part in cell.lost.values() for word in part))
    if words:
        yield Note("vector_bias.lost-words", lost=len(words), model=model, words=first_of(words, _SHOWN))
    lacking = [cell.id for cell in cells if cell.notes]
    if lacking:
        yield Note("vector_bias.no-numbers", categories=lacking)


# Two models ---------------------------------------------------------------------------------------------------------


def differences(a: pl.DataFrame, b: pl.DataFrame, settings: VectorBiasSettings) -> list[Estimate]:
    """Return the differences in every measure (a − b) by category and attributes, over the words that both models have.

    The same words are resampled in both models, and the test uses these draws. Holm's adjustment is over all
    differences of a measure, with the union of both sets of attributes as a separate family.
    """
    return with_holm(_differences(a, b, settings), lambda estimate: difference(family(estimate)))


def _differences(a: pl.DataFrame, b: pl.DataFrame, settings: VectorBiasSettings) -> Iterator[Estimate]:
    for one, other in shared_cells([a, b], settings):
        for measure in settings.measures:
            for name in attributes_of(measure):
                n = words_of(one, measure, name)
                by = {"category": one.id, "label": one.label, "attributes": name}
                empty = Estimate(NAMES[measure], math.nan, n, level=settings.level, notes=one.notes, by=by)
                yield empty if one.notes else _difference(empty, (one, other), measure, settings)


def _difference(
    empty: Estimate, both: tuple[CategoryVectors, CategoryVectors], measure: Measure, settings: VectorBiasSettings
) -> Estimate:
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
    return difference_from(empty.noted(shared, few(n)), gap, draws[0] - draws[1], n, measure, settings)


def difference_from(
    empty: Estimate, gap: float, draws: Array, n: int, measure: Measure, settings: VectorBiasSettings
) -> Estimate:
    """Return `empty` with the difference `gap`, and interval and test from `draws`, the gaps in joint resamples."""
    kept = draws[~np.isnan(draws)]
    if n < 2 or not len(kept) or np.ptp(kept) == 0:
        return replace(empty, value=gap).noted(without_interval(n))
    low, high = expanded_percentile(kept, n, settings.level)
    method = named(measure, n, len(draws), len(draws) - len(kept), settings.seed, both=True)
    over = "attributes" if measure == "ect" else "words"
    test = Method("vector_bias.bootstrap-test", noun=over, two_sided=True)
    return replace(empty, value=gap, low=low, high=high, method=method).tested(expanded_p(kept, n), test)
