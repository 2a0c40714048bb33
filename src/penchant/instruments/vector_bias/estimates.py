"""Every measure of a category with its interval over words and its test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from penchant.counting import first_of
from penchant.instruments.vector_bias.cells import Cell
from penchant.instruments.vector_bias.exchange import exchanged
from penchant.instruments.vector_bias.measures import (
    AGAINST,
    FIRST,
    SECOND,
    UNION,
    Counts,
    Measure,
    learning,
    relations,
    values,
)
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.records import Estimate, Test
from penchant.stats.bootstrap import expanded_percentile
from penchant.stats.hypothesis_tests import held_against
from penchant.stats.inputs import Array
from penchant.wording.phrases import Method, Note

NAMES: dict[Measure, str] = {"rnd": "RND", "rnsb": "RNSB", "mac": "MAC", "ect": "ECT", "ripa": "RIPA"}
"""What estimates of the measures are called."""
FEW = 8
"""Fewer words than this in a list give a rough interval: a convention of this package, from docs/validity.md."""
FEWEST_RANKED = 3
"""Fewer attributes than this have no rank correlation worth the name."""


def attributes_of(measure: Measure) -> tuple[str, ...]:
    """The attributes that a measure is computed for."""
    return (AGAINST,) if measure == "rnsb" else (FIRST, SECOND, UNION)


def resamples_of(measure: Measure, settings: VectorBiasSettings) -> int:
    """How many resamples a measure has."""
    return settings.refits if measure == "rnsb" else settings.resamples


def family(estimate: Estimate) -> str:
    """The family of an estimate for Holm's adjustment: its measure, in the union of both sets of attributes apart."""
    return f"{estimate.measure}{f', {UNION}' if estimate.by['attributes'] == UNION else ''}"


def estimates(cell: Cell, settings: VectorBiasSettings) -> Iterator[Estimate]:
    """Every measure that is asked for, for every set of attributes."""
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


def observed(cell: Cell, measure: Measure, settings: VectorBiasSettings) -> dict[str, float]:
    """A measure of the words as they are, by the attributes that it is of."""
    of_words = values(cell.vectors, Counts.once(cell.vectors), measure, settings.distance)
    few = {name: measure == "ect" and words_of(cell, measure, name) < FEWEST_RANKED for name in of_words}
    return {name: math.nan if few[name] else float(value[0]) for name, value in of_words.items()}


def words_of(cell: Cell, measure: Measure, attributes: str) -> int:
    """The number of words that an estimate is over: targets and attributes; the attributes alone for ECT, whose
    interval takes the targets as they are."""
    x, y, a, b = map(len, cell.names)
    chosen = {FIRST: a, SECOND: b}.get(attributes, a + b)
    return chosen if measure == "ect" else x + y + chosen


def smallest(cell: Cell, measure: Measure, attributes: str) -> int:
    """The number of words in the smallest list that is resampled."""
    x, y, a, b = map(len, cell.names)
    drawn = {FIRST: [a], SECOND: [b]}.get(attributes, [a, b])
    return sum(drawn) if measure == "ect" else min(x, y, *drawn)


def _estimate(
    cell: Cell, measure: Measure, name: str, value: float, draws: Array, test: Test | None, settings: VectorBiasSettings
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
    """The bounds of a value from its draws: expanded percentiles. NaN where all draws are alike.

    RNSB is a divergence, which noise makes larger, and resampling adds noise to what a sample has. Percentiles leave
    the truth out above, the basic bootstrap of the square root, which takes that off, below; each end is the wider of
    the two."""
    if n < 2 or not len(draws) or np.ptp(draws) == 0:
        return math.nan, math.nan
    if measure != "rnsb":
        return expanded_percentile(draws, n, level)
    below, above = expanded_percentile(np.sqrt(draws), n, level)
    basic = [max(2 * math.sqrt(value) - bound, 0.0) for bound in (above, below)]
    return min(below, basic[0]) ** 2, max(above, basic[1]) ** 2


def named(measure: Measure, n: int, resamples: int, lost: int, seed: int, *, both: bool = False) -> Method:
    """How an interval was made; of a difference, if it is of `both` models."""
    refitted = "vector_bias.bootstrap-of-refits" if both else "vector_bias.wider-bootstrap"
    code = {"ect": "vector_bias.bootstrap-of-rho", "rnsb": refitted}.get(measure, "vector_bias.bootstrap")
    params = {"both": both or None, "smallest": n, "resamples": resamples, "lost": lost or None, "seed": seed}
    return Method(code, **params)


def few(n: int) -> Note | None:
    """The note on few words; None for enough."""
    return Note("vector_bias.few-words", have=n, would_do=FEW) if 2 <= n < FEW else None


def without_interval(n: int) -> Note:
    """Why draws of n words have no interval."""
    return Note("vector_bias.one-word" if n < 2 else "vector_bias.resamples-agree")


def _why_none(cell: Cell, measure: Measure, name: str) -> Note:
    if measure == "ect" and words_of(cell, measure, name) < FEWEST_RANKED:
        return Note("vector_bias.few-attributes", least=FEWEST_RANKED)
    return Note("vector_bias.no-direction")


def _of_measure(cell: Cell, measure: Measure) -> Iterator[Note]:
    """What must be known of a measure in this category."""
    if measure == "ripa":
        same = int((~relations(cell.vectors).any(axis=-1)).sum())
        if same:
            yield Note("vector_bias.same-vector", same=same)
    if measure == "rnsb" and cell.vectors.trained is not None:
        right, of = held_out(cell)
        yield Note("vector_bias.held-out", right=right, of=of)


def held_out(cell: Cell) -> tuple[int, int]:
    """How many of the attributes that the classifier did not learn from it tells right, and how many there are."""
    vectors = cell.vectors
    chosen, labels, _ = learning(vectors)
    others = np.setdiff1d(np.arange(len(vectors.attributes)), chosen)
    if not len(others):
        return 0, 0
    space = learning(replace(vectors, x=vectors.attributes[others], y=vectors.attributes[:0]))[2]
    found = space.probabilities(labels[None], np.ones((1, len(chosen))))[0] > 0.5
    return int((found == (others >= len(vectors.a))).sum()), len(others)


def told_lost(cells: Sequence[Cell], model: str) -> Iterable[str]:
    """Cautions about words without a vector, each once, and about categories without numbers."""
    words = list(dict.fromkeys(word for cell in cells for part in cell.lost.values() for word in part))
    if words:
        shown = first_of(words, 20)
        yield f"{len(words)} stimuli are not in the vocabulary of {model}, or have no direction there: {shown}"
    lacking = [cell.id for cell in cells if cell.notes]
    if lacking:
        yield f"no numbers for {', '.join(lacking)}: too many stimuli are missing (each estimate says which)"
