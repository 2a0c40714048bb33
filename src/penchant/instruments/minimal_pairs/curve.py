"""Accuracy over the checkpoints of one training, and the step at which a paradigm is acquired."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from penchant.instruments.base import require_comparable
from penchant.instruments.minimal_pairs.change_point import Change, change_point
from penchant.instruments.minimal_pairs.credits import ALL, HALF, credits, stereotyped
from penchant.instruments.minimal_pairs.estimates import ACCURACY
from penchant.instruments.minimal_pairs.settings import settings_of
from penchant.records import Estimate, Result, Signature, Test, summary_table
from penchant.report.tables import DECIDES
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array
from penchant.wording.phrases import Note

ACQUIRED, BEFORE, AFTER = "step of acquisition", "accuracy before the change", "accuracy from the change on"
NO_STEP = "minimal_pairs.no-step"
_ROW = ("family", "step", "dataset", "group", "normalise")


def curve(family: str, checkpoints: Sequence[tuple[int, Result]]) -> pl.DataFrame:
    """The accuracy of every paradigm at every step, as in the summaries of the checkpoints, and where it changes.

    A paradigm is acquired at the first checkpoint after the change point of its accuracy (`change_point`) if accuracy
    changes at all, by a test that counts the search for the point and the paradigms of the data set (Holm), if it
    rises, if the interval of the accuracy before does not lie above one half and that of the accuracy from there on
    does, and if no checkpoint from there on is at one half or below. Else the step is NaN and the note says which of
    these does not hold; the accuracies on both sides are those of the change point all the same. A note also says where
    the last checkpoint alone comes after the change. Stereotypes, of which none is acceptable, have no curve.
    `checkpoints` are in the order of their steps. Raises StudyError where they were not asked the same.
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
    # What a checkpoint is held against in its own summary is no matter of the curve.
    own = pl.concat(shown).with_columns(p=math.nan, p_holm=math.nan, tests=0, test_family=pl.lit(""))
    own = own.with_columns(test=pl.lit(""), test_method=pl.lit(""))
    rows = pl.concat([own.select(*_ROW, pl.exclude(*_ROW, "scope", "split")), found], how="diagonal_relaxed")
    return rows if len(own) else rows.clear()


def _of_paradigms(result: Result) -> pl.DataFrame:
    """The accuracies by paradigm, of a data set with one that of all its pairs."""
    accuracies = result.summary.filter(
        (pl.col("measure") == ACCURACY) & (pl.col("split") == ALL) & ~pl.col("dataset").is_in(stereotyped(result.items))
    )
    named = result.items.group_by("dataset").agg(pl.col("paradigm").unique()).filter(pl.col("paradigm").list.len() == 1)
    single = named.with_columns(pl.col("paradigm").list.first())
    alone = (
        accuracies.filter(scope="overall")
        .join(single, on="dataset", how="inner", maintain_order="left")
        .with_columns(pl.col("paradigm").alias("group"))
    )
    return pl.concat([accuracies.filter(scope="paradigm"), alone.select(accuracies.columns)])


def _acquisitions(
    family: str, steps: Sequence[int], results: Sequence[Result], signature: Signature
) -> Iterator[tuple[Estimate, Signature]]:
    settings = settings_of(results[0])
    for name in results[0].items["dataset"].unique(maintain_order=True).to_list():
        if name in stereotyped(results[0].items):
            continue
        parts = [result.items.filter(pl.col("dataset") == name) for result in results]
        paradigms = parts[0]["paradigm"]
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
    """The family of the steps of acquisition of a data set, for Holm's adjustment."""
    return lambda each: f"{ACQUIRED}, paradigms, {dataset}, {how}" if each.measure == ACQUIRED else None


def estimates_of(change: Change, steps: Sequence[int], pairs: int, level: float) -> Iterator[Estimate]:
    """The step after the change, and the accuracies on its two sides."""
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
    """The step where a paradigm is acquired, or that it is not, and why. `from_there` has the accuracies of the
    checkpoints after the change."""
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
