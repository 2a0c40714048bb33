"""Judgements of the same items by several raters, with both items and raters as random samples.

Judgements are an array (raters, items), with NaN for missing judgements; every item has at least one judgement.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from penchant.errors import DataError
from penchant.plurals import of_all
from penchant.records import Estimate
from penchant.stats.bootstrap import CHUNK, percentile, resampling
from penchant.stats.inputs import (
    Array,
    Codes,
    Seed,
    as_values,
    check_lengths,
    check_level,
    check_resamples,
    cluster_codes,
)
from penchant.wording.phrases import Method, Note, present

PEARSON, SPEARMAN = "Pearson's r", "Spearman's ρ"
FEWEST = 3
"""The smallest number of items for a correlation, and of raters per item for a ceiling."""
FEW_RATERS = 5
FEW_ITEMS = 30
"""The smallest numbers of raters (`FEW_RATERS`) and of items for an interval without a caution."""
WIDE = Note("wide-of-100")
_SAME = 1e-12
"""The relative difference below which numbers are considered equal."""


def as_judgements(judged: ArrayLike) -> Array:
    """Return the judgements as an array with the raters sorted by their judgements.

    Raters without any judgement are dropped. Raises DataError for an array that is not two-dimensional, an item without
    a judgement, or an infinite judgement.
    """
    array = np.asarray(judged, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"expected an array of shape (raters, items), got shape {array.shape}", where="judgements")
    if np.isinf(array).any():
        raise DataError("expected finite numbers, or NaN if missing, got an infinite one", where="judgements")
    array = array[~np.isnan(array).all(axis=1)]
    alone = int(np.isnan(array).all(axis=0).sum()) if len(array) else array.shape[1]
    if alone:
        raise DataError(f"{of_all(alone, array.shape[1], 'items', 'have')} no judgement", where="judgements")
    return array[sorted(range(len(array)), key=lambda rater: tuple(np.nan_to_num(array[rater], nan=-np.inf)))]


# Correlation --------------------------------------------------------------------------------------------------------


def correlation(
    scores: ArrayLike,
    judged: ArrayLike,
    *,
    ranks: bool,
    seed: Seed,
    resamples: int = 10_000,
    level: float = 0.95,
    noun: str = "items",
    most_lost: float = 1.0,
) -> Estimate:
    """Return Pearson's r or, with `ranks`, Spearman's ρ between the scores of items and their mean judgements.

    The interval is a percentile bootstrap that draws items and raters, both with replacement and independently of each
    other (the pigeonhole bootstrap of Owen 2007, Ann. Appl. Stat. 1:386–411). It is shifted on the scale of Fisher's z
    so that its median is the observed value, because a resample contains fewer distinct raters than the data. It covers
    the correlation for a new sample of the same number of raters. Resamples without a correlation are left out and
    counted in a note; if their share exceeds `most_lost`, the estimate is NaN. Raises DataError for NaN scores or
    arrays of incompatible shapes.
    """
    check_level(level)
    check_resamples(resamples)
    table, values = as_judgements(judged), as_values(scores, where="scores")
    check_lengths(values, table[0] if len(table) else values[:0], where="scores and judgements")
    raters, n = table.shape
    name = SPEARMAN if ranks else PEARSON
    if n < FEWEST:
        return Estimate(name, np.nan, n, level=level, notes=(Note("correlation-needs", least=FEWEST, noun=noun),))
    value = float(_correlations(values, table, np.ones((1, raters)), np.ones((1, n)), ranks=ranks)[0])
    if np.isnan(value):
        side = "scores" if _alike(values[None])[0] else "mean judgements"
        return Estimate(name, np.nan, n, level=level, notes=(Note("no-correlation", what=side, noun=noun),))
    if raters < 2:
        return Estimate(name, value, n, level=level, notes=(Note("one-rater"),))
    draws = _draws(values, table, ranks=ranks, seed=seed, resamples=resamples)
    defined = draws[~np.isnan(draws)]
    lost = len(draws) - len(defined)
    undefined = Note("resamples-without-correlation", lost=lost, of=resamples) if lost else None
    if lost > most_lost * resamples:
        return Estimate(name, np.nan, n, level=level, notes=(Note("too-many-undefined", lost=lost, of=resamples),))
    if abs(value) > 1 - _SAME or not len(defined):
        reason = Note("nothing-departs-from-a-line" if len(defined) else "no-resample-has-a-correlation")
        return Estimate(name, value, n, level=level, notes=present(reason, undefined))
    ends = np.tanh(np.array(percentile(_fisher(defined), level)) - np.median(_fisher(defined)) + _fisher(value))
    method = resampling("recentred-bootstrap", n, resamples, seed, noun, of=name, raters=raters)
    notes = present(_few(raters, n, noun), undefined)
    return Estimate(name, value, n, float(ends[0]), float(ends[1]), level, method, notes=notes)


def _draws(scores: Array, judged: Array, *, ranks: bool, seed: Seed, resamples: int) -> Array:
    rng = np.random.default_rng(seed)
    step = max(1, CHUNK // len(scores))
    parts = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        raters, items = (rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64) for n in judged.shape)
        parts.append(_correlations(scores, judged, raters, items, ranks=ranks))
    return np.concatenate(parts)


def _fisher(r: Array | float) -> Array:
    z: Array = np.arctanh(np.clip(r, _SAME - 1, 1 - _SAME))
    return z


def left_out(scores: ArrayLike, judged: ArrayLike, *, ranks: bool) -> Array:
    """Return the correlation with all raters, followed by the correlations without each rater, shape (1 + raters,).

    All are NaN if the correlation with all raters is NaN. If a rater has no judgements, or the correlation is undefined
    without the rater, the value is the correlation with all raters.
    """
    values, table = as_values(scores, where="scores"), np.asarray(judged, dtype=np.float64)
    raters, n = table.shape
    if n < FEWEST:
        return np.full(1 + raters, np.nan)
    included = np.concatenate([np.ones((1, raters)), 1 - np.eye(raters)])
    correlations = _correlations(values, table, included, np.ones((1 + raters, n)), ranks=ranks)
    return np.where(np.isnan(correlations), correlations[0], correlations)


def _few(raters: int, items: int, noun: str) -> Note:
    few = [[raters, "raters"]] * (raters < FEW_RATERS) + [[items, noun]] * (items < FEW_ITEMS)
    return Note("rough-of-raters-and-items", few=few, would_do=[FEW_RATERS, FEW_ITEMS]) if few else WIDE


def _correlations(scores: Array, judged: Array, raters: Array, items: Array, *, ranks: bool) -> Array:
    """Return the correlation for each resample, given how often each rater (b, raters) and item (b, items) is drawn.

    NaN if the scores or the mean judgements are equal for all items that are drawn and have a judgement.
    """
    heard = raters @ (~np.isnan(judged)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means = (raters @ np.nan_to_num(judged)) / heard
    weights = np.where(heard > 0, items, 0.0)
    means, repeated = np.nan_to_num(means), np.broadcast_to(scores, means.shape)
    if not ranks:
        return weighted_pearson(repeated, means, weights)
    scale = float(np.abs(means).max()) or 1.0
    # Rounding restores ties of means.
    x, y = midranks(repeated, weights), midranks(np.round(means / scale, 12), weights)
    return weighted_pearson(x, y, weights)


def weighted_pearson(x: Array, y: Array, weights: Array) -> Array:
    """Return the weighted Pearson correlation of each row of x and y; x, y and `weights` have the shape (b, n).

    NaN if x or y is constant over the entries of a row with positive weight.
    """
    total = weights.sum(axis=1, keepdims=True)
    result = np.full(len(x), np.nan)
    some = total[:, 0] > 0
    x, y, weights, total = x[some], y[some], weights[some], total[some]
    centred = [side - (weights * side).sum(axis=1, keepdims=True) / total for side in (x, y)]
    squares = [(weights * side**2).sum(axis=1) for side in centred]
    varied = ~(_alike(x, weights) | _alike(y, weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (weights * centred[0] * centred[1]).sum(axis=1) / np.sqrt(squares[0] * squares[1])
    result[some] = np.where(varied, np.clip(r, -1.0, 1.0), np.nan)
    return result


def _alike(values: Array, weights: Array | None = None) -> Codes:
    """Return a mask of the rows whose values with positive weight are all equal, up to rounding."""
    drawn = np.ones(values.shape, dtype=bool) if weights is None else weights > 0
    highest, lowest = (
        edge(np.where(drawn, values, fill), axis=1) for edge, fill in ((np.max, -np.inf), (np.min, np.inf))
    )
    same: Codes = highest - lowest <= _SAME * np.maximum(np.abs(highest), np.abs(lowest))
    return same


def midranks(values: Array, weights: Array) -> Array:
    """Return the ranks within each row, with each value counted as often as its weight; tied ranks are averaged."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered, times = (np.take_along_axis(array, order, axis=1) for array in (values, weights))
    after = np.cumsum(times, axis=1)
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    last = np.ones(ordered.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    begin = np.maximum.accumulate(np.where(new, after - times, -np.inf), axis=1)
    end = np.minimum.accumulate(np.where(last, after, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (begin + end) / 2, axis=1)
    return ranks


# Ceiling ------------------------------------------------------------------------------------------------------------


def majority(judged: Array) -> Array:
    """Return the sign that most raters give to each item, shape (items,): 1, −1, or 0 for a tie."""
    signs: Array = np.sign(np.nansum(np.sign(judged), axis=0))
    return signs


def ceiling(
    judged: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    level: float = 0.95,
    noun: str = "items",
) -> Estimate:
    """Return the mean agreement of a rater with the majority of the other raters, as a proportion.

    Each rater's agreement is computed over the items with three or more judgements on which the other raters do not
    tie; it is then averaged over raters. A judgement of 0 is scored one half. `n` is the number of items used.

    The confidence interval is a t interval on the logit scale. The variance between items is the jackknife variance
    over items, or over `clusters` of items, whose plural noun is `noun`; the variance between raters is the jackknife
    variance over raters, with majorities recomputed without the rater. The degrees of freedom of their sum are
    Satterthwaite's (1946, Biometrics Bulletin 2:110–114). The interval is conservative, since the interaction of raters
    and items is included twice. NaN if no item has three raters.
    """
    check_level(level)
    table = as_judgements(judged)
    measured = int((~np.isnan(table)).sum(axis=0).max(initial=0)) >= FEWEST
    credit = _against_others(table, FEWEST - 1)
    n = int((~np.isnan(credit)).any(axis=0).sum())
    if not n:
        note = Note("no-ceiling-ties") if measured else Note("no-ceiling-few-raters", least=FEWEST)
        return Estimate("ceiling", np.nan, 0, level=level, notes=(note,))
    value = _mean_of_raters(credit)
    codes = np.arange(table.shape[1]) if clusters is None else cluster_codes(clusters, table.shape[1])
    parts = _between_items(credit, codes), _between_raters(table)
    variance = sum(part for part, _ in parts)
    if value in (0.0, 1.0) or not variance > 0 or not all(df for _, df in parts):
        note = Note("no-interval-raters-alike" if parts[0][1] else "no-interval-over-one", noun=noun)
        return Estimate("ceiling", value, n, level=level, notes=(note,))
    df = variance**2 / sum(part**2 / of for part, of in parts)
    half = float(scipy.stats.t.ppf((1 + level) / 2, df)) * variance**0.5 / (value * (1 - value))
    low, high = scipy.special.expit(scipy.special.logit(value) + np.array([-half, half]))
    over = [[parts[0][1] + 1, noun], [len(table), "raters"]]
    rough = Note("rough-of-raters", have=len(table), would_do=FEW_RATERS) if len(table) < FEW_RATERS else WIDE
    method = Method("satterthwaite", over=over, df=df, scale="logit")
    return Estimate("ceiling", value, n, float(low), float(high), level, method, notes=(rough,))


def _against_others(judged: Array, others: int) -> Array:
    """Return the credit of each rater for each item, judged against the majority of the other raters.

    NaN if the rater did not judge the item, fewer than `others` other raters did, or the other raters tie.
    """
    signs = np.sign(judged)
    judged_here = ~np.isnan(signs)
    rest = np.sign(np.nansum(signs, axis=0) - np.nan_to_num(signs))
    enough = judged_here & (judged_here.sum(axis=0) > others)
    return np.where(enough & (rest != 0), (signs * rest + 1) / 2, np.nan)


def _mean_of_raters(credit: Array, without: Array | None = None) -> float:
    """Return the mean over raters of each rater's mean credit.

    `without` contains, for each rater, the sum and the number of credits to leave out.
    """
    given = ~np.isnan(credit)
    sums, numbers = np.nansum(credit, axis=1), given.sum(axis=1).astype(np.float64)
    if without is not None:
        sums, numbers = sums - without[0], numbers - without[1]
    kept = numbers > 0
    return float(np.sort(sums[kept] / numbers[kept]).mean()) if kept.any() else np.nan


def _between_items(credit: Array, codes: Codes) -> tuple[float, int]:
    """Return the jackknife variance of the mean credit over clusters of items, and its degrees of freedom."""
    used = np.unique(codes[(~np.isnan(credit)).any(axis=0)])
    values = []
    for code in used:
        part = credit[:, codes == code]
        values.append(_mean_of_raters(credit, np.array([np.nansum(part, axis=1), (~np.isnan(part)).sum(axis=1)])))
    return _jackknife(np.array(values))


def _between_raters(judged: Array) -> tuple[float, int]:
    """Return the jackknife variance of the mean credit over raters, and its degrees of freedom."""
    left = (np.delete(judged, rater, axis=0) for rater in range(len(judged)))
    return _jackknife(np.array([_mean_of_raters(_against_others(part, FEWEST - 2)) for part in left]))


def _jackknife(values: Array) -> tuple[float, int]:
    known = np.sort(values[~np.isnan(values)])
    if len(known) < 2:
        return 0.0, 0
    return (len(known) - 1) / len(known) * float(((known - known.mean()) ** 2).sum()), len(known) - 1
