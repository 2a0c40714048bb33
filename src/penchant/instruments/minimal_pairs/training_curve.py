"""Accuracy over the checkpoints of a training run, and the step at which a paradigm is acquired."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from penchant.errors import DataError
from penchant.instruments.base_probe import require_comparable
from penchant.instruments.minimal_pairs.estimates import ACCURACY
from penchant.instruments.minimal_pairs.pair_credits import ALL, HALF, credits, stereotyped
from penchant.instruments.minimal_pairs.settings import settings_of
from penchant.records import BaseResult, Estimate, Signature, Test, summary_table
from penchant.report.tables import DECIDES
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array, Codes, Counts, check_level, check_resamples
from penchant.stats.intervals import clustered_mean
from penchant.wording.phrases import Method, Note

ACQUIRED, BEFORE, AFTER = "step of acquisition", "accuracy before the change", "accuracy from the change on"
NO_STEP = "minimal_pairs.no-step"
_BLOCK = 2_000_000
"""Maximum number of random numbers in memory at once."""
_ROW = ("family", "step", "dataset", "group", "normalise")


def curve(family: str, checkpoints: Sequence[tuple[int, BaseResult]]) -> pl.DataFrame:
    """Return the accuracy on each paradigm at each step, and the step at which the paradigm is acquired.

    The accuracies come from the summaries of the checkpoints. A paradigm is acquired at the first checkpoint after the
    change point of its accuracy (`change_point`) if four conditions are met: the accuracy changes, by a test that
    accounts for the search for the change point and for the paradigms of the data set (Holm); it rises; the interval of
    the mean accuracy is not above one half before the change, but is after it; and no checkpoint after the change is at
    one half or below. Otherwise the step is NaN and a note names the violated condition; the mean accuracies before and
    after the change point are always returned. Another note marks a change at the last checkpoint. Data sets of
    stereotypes have no curve. `family` is the name of the run; `checkpoints` are results with their steps, in the order
    of the steps. Raises StudyError if the results differ in more than the model.
    """
    steps, results = [step for step, _ in checkpoints], [result for _, result in checkpoints]
    for other in results[1:]:
        require_comparable(results[0], other, free={"model"}, items=["dataset", "file", "id"])
    shown = [
        _of_paradigms(result).with_columns(family=pl.lit(family), step=pl.lit(step, pl.Int64))
        for step, result in checkpoints
    ]
    names = "\n".join(result.signature["model"] for result in results)
    digest = hashlib.sha256(names.encode()).hexdigest()[:6]
    signature = results[0].signature.with_(model=family, checkpoints=f"{len(results)}#{digest}")
    found = summary_table(_acquisitions(family, steps, results, signature))
    # The tests in the checkpoints' own summaries are not part of the curve.
    own = pl.concat(shown).with_columns(p=math.nan, p_holm=math.nan, tests=0, test_family=pl.lit(""))
    own = own.with_columns(test=pl.lit(""), test_method=pl.lit(""))
    rows = pl.concat([own.select(*_ROW, pl.exclude(*_ROW, "scope", "split")), found], how="diagonal_relaxed")
    return rows if len(own) else rows.clear()


def _of_paradigms(result: BaseResult) -> pl.DataFrame:
    """Return the accuracies by paradigm; for a data set with one paradigm, the overall accuracy."""
    accuracies = result.summary.filter(
        (pl.col("measure") == ACCURACY) & (pl.col("split") == ALL) & ~pl.col("dataset").is_in(stereotyped(result.items))
    )
    named = result.items.group_by("dataset").agg(pl.col("group").unique()).filter(pl.col("group").list.len() == 1)
    single = named.with_columns(pl.col("group").list.first())
    whole = accuracies.filter(scope="overall").drop("group")
    alone = whole.join(single, on="dataset", how="inner", maintain_order="left")
    return pl.concat([accuracies.filter(scope="group"), alone.select(accuracies.columns)])


def _acquisitions(
    family: str, steps: Sequence[int], results: Sequence[BaseResult], signature: Signature
) -> Iterator[tuple[Estimate, Signature]]:
    settings = settings_of(results[0])
    for name in results[0].items["dataset"].unique(maintain_order=True).to_list():
        if name in stereotyped(results[0].items):
            continue
        parts = [result.items.filter(pl.col("dataset") == name) for result in results]
        paradigms = parts[0]["group"]
        for how in settings.normalisations():
            table = np.stack([credits(part, how) for part in parts], axis=1)
            estimates: list[Estimate] = []
            accuracies: list[Array] = []
            for paradigm in paradigms.unique(maintain_order=True).to_list():
                chosen = table[(paradigms == paradigm).to_numpy()]
                change = change_point(
                    chosen, level=settings.level, resamples=settings.resamples, seed=settings.seed, noun="pairs"
                )
                accuracies.append(chosen.mean(0))
                by = {"family": family, "dataset": name, "group": paradigm, "normalise": how}
                estimates += [replace(each, by=by) for each in estimates_of(change, steps, len(chosen), settings.level)]
            adjusted = with_holm(estimates, _family(name, how))
            threes = zip(*[iter(adjusted)] * 3, strict=True)
            for (step, before, after), by_step in zip(threes, accuracies, strict=True):
                judged = _judged(step, before, after, by_step[steps.index(int(step.value)) :])
                for each in (judged, before, after):
                    yield each, signature.with_(normalise=how)


def _family(dataset: str, how: str) -> Callable[[Estimate], str | None]:
    return lambda each: f"{ACQUIRED}, paradigms, {dataset}, {how}" if each.measure == ACQUIRED else None


def estimates_of(change: CreditChange, steps: Sequence[int], pairs: int, level: float) -> Iterator[Estimate]:
    """Yield the step of the change, and the accuracies before and after it."""
    yield Estimate(
        ACQUIRED,
        steps[change.at],
        pairs,
        steps[change.low],
        steps[change.high],
        level,
        change.method,
        Test(change.p, change.test),
    )
    yield replace(change.before, measure=BEFORE, n=pairs)
    yield replace(change.after, measure=AFTER, n=pairs)


def _judged(step: Estimate, before: Estimate, after: Estimate, from_there: Array) -> Estimate:
    """Return the step of acquisition, or NaN with a note; `from_there` are the accuracies after the change."""
    at = {"step": step.value}
    if step.test is None or not step.test.adjusted <= DECIDES:
        reason = Note("minimal_pairs.no-change")
    elif after.value <= before.value:
        reason = Note("minimal_pairs.falls", **at)
    elif not after.low > HALF:
        reason = Note("minimal_pairs.not-above-half", **at)
    elif before.low > HALF:
        reason = Note("minimal_pairs.above-half-before", **at)
    elif from_there.min() <= HALF:
        reason = Note("minimal_pairs.does-not-stay", **at)
    else:
        return step.noted(Note("minimal_pairs.last-checkpoint") if len(from_there) == 1 else None)
    note = Note(NO_STEP, reason=reason)
    return replace(step, value=math.nan, low=math.nan, high=math.nan, method=None, notes=(note,))


# Change points --------------------------------------------------------------------------------------------------------
# Credits of one item at several steps are dependent, but items are independent: each is resampled with all its steps.


@dataclass(frozen=True, slots=True)
class CreditChange:
    """A change in mean credit between two steps.

    `at` is the index of the first step after the change, at least 1; `low` and `high` are confidence limits of `at`.
    `before` and `after` are the mean credits before and after the change; `p` is the p-value for the null hypothesis of
    no change at any step.
    """

    at: int
    low: int
    high: int
    before: Estimate
    after: Estimate
    p: float
    method: Method
    test: Method


def change_point(
    credits: ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0, noun: str = "items"
) -> CreditChange:
    """Return the change point of credits, an array of items × steps with values 0, ½ or 1.

    A step function with one step is fitted to the mean credits: the change point is the division of the steps with the
    largest binomial likelihood of the counts, or the first of several such divisions. The confidence interval comes
    from the percentile bootstrap over items, each with all its steps; its limits are steps. The test of equal means at
    all steps uses the largest |Σ items (mean(after) − mean(before))|·(k(K − k))^¾ over all divisions, with k of the K
    steps before the change: the weighted CUSUM with exponent ¼ (Csörgő & Horváth 1997). It is compared with the same
    statistic under random signs, item by item (Westfall & Young 1993), and thus accounts for the search and for the
    dependence between steps. Random signs assume symmetric gains; gains at a single first or last step near the ceiling
    are not symmetric, hence the weight. The test is two-sided. Raises DataError for fewer than two steps, no items,
    or credits other than 0, ½ or 1.
    """
    check_level(level)
    check_resamples(resamples)
    table = np.asarray(credits, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        raise DataError(f"expected the shape (items, steps) with at least one item and two steps, got {table.shape}")
    if not np.isin(table, (0.0, 0.5, 1.0)).all():
        raise DataError("credits must be 0, 0.5 or 1")
    patterns, counts = np.unique(table, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    items = len(table)
    (at,) = best_part((counts @ patterns)[None], items)
    drawn = np.concatenate(
        [
            best_part(rng.multinomial(items, counts / items, size) @ patterns, items)
            for size in _blocks(resamples, counts)
        ]
    )
    tail = (1 - level) / 2
    low = min(at, np.quantile(drawn, tail, method="lower"))
    high = max(at, np.quantile(drawn, 1 - tail, method="higher"))

    def mean(part: Array) -> Estimate:
        return clustered_mean(part.mean(1), range(items), level=level, noun=noun, proportion=True)

    return CreditChange(
        int(at),
        int(low),
        int(high),
        mean(table[:, :at]),
        mean(table[:, at:]),
        _flipped(patterns, counts, resamples, rng),
        Method("bootstrap-of-curves", noun=noun, resamples=resamples, seed=seed),
        Method("flipped-cusum", draws=resamples, two_sided=True),
    )


def best_part(sums: Array, items: int) -> Codes:
    """Return the number of steps before the change in each row of `sums`, the credit of `items` items at each step."""
    steps = sums.shape[1]
    before = np.cumsum(sums, axis=1)
    sizes = items * np.arange(1, steps)
    left, right = before[:, :-1], before[:, -1:] - before[:, :-1]
    fit = _likelihood(left, sizes) + _likelihood(right, items * steps - sizes)
    # Sums of halves are exact, but logarithms are not: divisions that differ only in the last bits are equally good.
    slack = 1e-9 * items * steps
    best: Codes = np.argmax(fit >= fit.max(axis=1, keepdims=True) - slack, axis=1) + 1
    return best


def _likelihood(right: Array, of: NDArray[np.intp]) -> Array:
    """Return the maximum binomial log-likelihood of `right` credits out of `of`, without its constant."""
    return np.asarray(xlogy(right, right / of) + xlogy(of - right, 1 - right / of), dtype=np.float64)


def _flipped(patterns: Array, counts: Counts, draws: int, rng: np.random.Generator) -> float:
    steps = patterns.shape[1]
    before = np.cumsum(patterns, axis=1)[:, :-1]
    sizes = np.arange(1, steps)
    gains = (patterns.sum(1, keepdims=True) - before) / (steps - sizes) - before / sizes
    units = gains * (sizes * (steps - sizes)) ** 0.75
    if not units.any():
        return 1.0
    bound = np.abs(counts @ units).max() - 1e-9
    extreme = 0
    for size in _blocks(draws, counts):
        signs = 2 * rng.binomial(counts, 0.5, (size, len(counts))) - counts
        extreme += int(np.count_nonzero(np.abs(signs @ units).max(1) >= bound))
    return (1 + extreme) / (1 + draws)


def _blocks(rows: int, counts: Counts) -> Iterator[int]:
    """Yield numbers of rows that add up to `rows`, each so small that rows as long as `counts` fit into memory."""
    most = max(1, _BLOCK // len(counts))
    for start in range(0, rows, most):
        yield min(most, rows - start)
