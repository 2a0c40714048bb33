"""Comparison of two models by their effect sizes on the same stimuli."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.associations.estimates import EFFECT, Cell, bootstrap, stimulus_names, together
from penchant.instruments.associations.logprob_estimates import EVERY, contexts
from penchant.instruments.associations.random_effects import BY_SAMPLE, COMBINED, RESAMPLED
from penchant.instruments.associations.sampled_effects import Sides, contrasts, effects
from penchant.instruments.associations.settings import AssociationSettings, settings_of
from penchant.instruments.base_probe import difference_signature, require_comparable
from penchant.instruments.comparison import models_of
from penchant.records import BaseResult, Estimate, Test, summary_table
from penchant.stats.association import Permutation
from penchant.stats.bootstrap import expanded_percentile
from penchant.stats.hypothesis_tests import held_against, with_holm
from penchant.stats.inputs import Array, Seed
from penchant.wording.phrases import Method, Note, notes_of, present, read_notes

_TOLERANCE = 1e-9
_ELEMENTS = 2_000_000
"""Largest number of array elements in memory at once."""


def exchange_test(
    first: Array, second: Array, rows: Sides, *, exact: int, draws: int = 10_000, seed: Seed = 0
) -> Permutation:
    """Test two models for equal effect sizes by a two-sided exchange test.

    `first` and `second`, shape (K, R), have the association s of every row in K samples. The associations, scaled to
    mean 0 and sd 1 in each model and sample, are exchanged between the models, stimulus by stimulus (Fisher 1935, §21);
    effect sizes are averaged over samples. n stimuli allow 2ⁿ⁻¹ patterns of exchange. Up to `exact`, all are
    enumerated, including the observed one; beyond that, `draws` are drawn, and p = (1 + extreme)/(1 + draws). A pattern
    in which nothing varies counts as extreme. p is NaN if s does not vary in some sample.
    """
    a, b = _standardised(first), _standardised(second)
    units = int(rows.unit.max()) + 1
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Permutation(math.nan, 0, True, 0)
    total = 2 ** (units - 1)
    enumerated = total <= exact
    step = max(1, _ELEMENTS // a.size)
    blocks = _all_patterns(units, step) if enumerated else _drawn_patterns(units, draws, step, seed)
    bound = abs(float(_gaps(a, b, np.zeros((1, len(rows.unit))), rows)[0]))
    extreme = ties = 0
    for patterns in blocks:
        sizes = np.abs(_gaps(a, b, patterns[:, rows.unit], rows))
        extreme += int((~(sizes < bound - _TOLERANCE)).sum())
        ties += int((np.abs(sizes - bound) <= _TOLERANCE).sum())
    if enumerated:
        return Permutation(extreme / total, total, True, ties)
    return Permutation((1 + extreme) / (1 + draws), draws, False, ties)


def _standardised(s: Array) -> Array:
    centred = s - s.mean(axis=1, keepdims=True)
    sd = centred.std(axis=1, keepdims=True)
    scaled: Array = centred / np.where(sd > _TOLERANCE * np.abs(s).max(initial=0), sd, np.nan)
    return scaled


def _gaps(a: Array, b: Array, exchanged: Array, rows: Sides) -> Array:
    """Return the difference in d between two models, averaged over samples, for every pattern of exchange, shape (B,).

    `a` and `b` (K, R) have the models' associations; rows with 1 in `exchanged` (B, R) are exchanged. d is in
    units of its largest possible value.
    """
    n = a.shape[1]
    first = rows.side == 0
    share = np.where(first, 1 / first.sum(), -1 / (~first).sum())
    gap = exchanged @ ((b - a) * share).T
    mean = exchanged @ (b - a).T / n
    squares = exchanged @ (b**2 - a**2).T / n
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (a @ share + gap) / _sd((a**2).mean(axis=1) + squares, mean)
        other = (b @ share - gap) / _sd((b**2).mean(axis=1) - squares, mean)
        differences: Array = (one - other).mean(axis=1)
    return differences


def _sd(squares: Array, mean: Array) -> Array:
    variance = squares - mean**2
    sd: Array = np.sqrt(np.where(variance > _TOLERANCE, variance, np.nan))
    return sd


def _all_patterns(units: int, step: int) -> Iterator[NDArray[np.float64]]:
    patterns = product((0.0, 1.0), repeat=units - 1)
    while block := list(islice(patterns, step)):
        yield np.column_stack([np.zeros(len(block)), np.array(block).reshape(len(block), units - 1)])


def _drawn_patterns(units: int, draws: int, step: int, seed: Seed) -> Iterator[NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    for start in range(0, draws, step):
        yield rng.integers(0, 2, size=(min(step, draws - start), units)).astype(np.float64)


DIFFERENCE = "difference of effect sizes"
Key = tuple[str, ...]
_CELL = ("category", "label", "layer", "context")


def compare(a: BaseResult, b: BaseResult) -> pl.DataFrame:
    """Return the differences in effect size (a − b) by category.

    Stimuli and samples of sentences are resampled jointly; the test exchanges the models within stimuli. Holm's
    adjustment is over all differences between the results; those of the log-probability bias score over all contexts
    together are adjusted separately. Raises StudyError for results that cannot be compared, naming what differs.
    """
    free = {"model", "dtype", "case"}
    keys = ["id", "sentence"] if a.signature["probe"] == "logprob-bias" else ["id"]
    require_comparable(a, b, free=free, items=keys)
    settings = settings_of(a)
    models = models_of(a, b)
    signature = difference_signature(a, b)
    # Samples and their number are settings of one measurement, of which a table shows one.
    sampled = a.signature["probe"] == "ceat"
    apart, whole = (("sampling", "samples"), "") if sampled else ((), EVERY)
    family = with_holm(_differences(a, b, settings), together(DIFFERENCE, apart, whole=whole))
    return summary_table((replace(row, by={**models, **row.by}), signature) for row in family)


FEW = 12
"""Number of stimuli in the smallest list below which a difference gets a note (docs/validity.md)."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One model's association s of every row in K tables, shape (K, R), and its bootstrap effect sizes.

    `smallest` is the number of stimuli in the smallest set.
    """

    rows: Sides
    s: Array
    draws: Array
    smallest: int


def _differences(a: BaseResult, b: BaseResult, settings: AssociationSettings) -> Iterator[Estimate]:
    sampled = a.signature["probe"] == "ceat"
    keys = [*_CELL, *(["sampling", "samples"] if sampled else [])]
    both = _headline(a, sampled).join(_headline(b, sampled), on=keys, suffix="_b", maintain_order="left")
    read = _samples if sampled else _tables
    ours, theirs = dict(read(a, keys, settings)), dict(read(b, keys, settings))
    for row in both.iter_rows(named=True):
        key = tuple(row[name] for name in keys)
        by, notes = dict(zip(keys, key, strict=True)), notes_of(row) or read_notes(row["notes_b"])
        gap = row["value"] - row["value_b"]
        if math.isnan(gap) or key not in ours or key not in theirs:
            yield Estimate(DIFFERENCE, math.nan, row["n"], level=settings.level, notes=notes, by=by)
            continue
        estimate = _difference(gap, ours[key], theirs[key], settings)
        yield replace(estimate, n=row["n"], by=by)  # the notes on either d are shown with that d


def _headline(result: BaseResult, sampled: bool) -> pl.DataFrame:
    return result.summary.filter(pl.col("measure") == (COMBINED if sampled else EFFECT))


def _difference(gap: float, one: _Measured, other: _Measured, settings: AssociationSettings) -> Estimate:
    """Return the difference `gap` with its interval and test.

    `gap` may be a difference of weighted means over samples; interval and test weight all samples equally.
    """
    # The same seed draws the same stimuli and samples in both.
    draws = one.draws - other.draws
    kept = draws[~np.isnan(draws)]
    mean = float(
        (effects(one.s, one.rows, ddof=settings.ddof) - effects(other.s, other.rows, ddof=settings.ddof)).mean()
    )
    # Quantiles of the draws would count the shrinkage of d with fewer stimuli twice (see `effect_interval`).
    below, above = expanded_percentile(kept, one.smallest, settings.level)
    low, high = gap + mean - above, gap + mean - below
    what = "stimuli and samples" if len(one.s) > 1 else "stimuli"
    method = bootstrap("associations.bootstrap-of-both", what, one.smallest, len(draws) - len(kept), settings)
    permutation = exchange_test(
        one.s, other.s, one.rows, exact=settings.exact, draws=settings.draws, seed=settings.seed
    )
    code = "associations.exchange-exact" if permutation.exact else "associations.exchange-random"
    test = Test(permutation.p, Method(code, patterns=permutation.partitions, two_sided=True))
    none = math.isnan(low)
    few = Note("associations.few-stimuli", have=one.smallest) if one.smallest < FEW else None
    notes = present(Note("associations.one-stimulus") if none else few)
    of = None if none else method
    return held_against(Estimate(DIFFERENCE, gap, 0, low, high, settings.level, of, test, notes), 0)


def _samples(result: BaseResult, keys: list[str], settings: AssociationSettings) -> Iterator[tuple[Key, _Measured]]:
    for key, items in result.items.group_by(keys, maintain_order=True):
        words = [items.filter(pl.col("side") == side)["word"].to_list() for side in "XYAB"]
        s = np.array(items[BY_SAMPLE].drop_nulls().to_list(), dtype=np.float64).T
        draws = items[RESAMPLED].drop_nulls()[0].to_numpy().astype(np.float64)
        yield tuple(map(str, key)), _Measured(Sides.of(*words[:2]), s, draws, min(len(set(part)) for part in words))


def _tables(result: BaseResult, keys: list[str], settings: AssociationSettings) -> Iterator[tuple[Key, _Measured]]:
    for key, cell in _cells(result, keys):
        s = contrasts(cell.tables, cell.columns)
        yield key, _Measured(cell.rows, s, cell.draws(settings), cell.smallest)


def _cells(result: BaseResult, keys: list[str]) -> Iterator[tuple[Key, Cell]]:
    if result.signature["probe"] == "logprob-bias":
        for _, items in result.items.group_by("category", maintain_order=True):
            for cells, _ in contexts(items):
                cell = cells["corrected"]
                yield tuple(cell.by[name] for name in keys), cell
        return
    unit = "sentence" if result.signature["probe"] == "weat" else result.signature["unit"]
    for key, items in result.items.group_by(keys, maintain_order=True):
        table = np.array(items.filter(pl.col("cosines").is_not_null())["cosines"].to_list())
        sets = [items.filter(pl.col("side") == side) for side in "XYAB"]
        names = [stimulus_names(part.select("word", "text").iter_rows(), unit) for part in sets]
        yield tuple(map(str, key)), Cell({}, table[None], Sides.of(*names[:2]), Sides.of(*names[2:]))
