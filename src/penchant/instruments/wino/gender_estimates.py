"""Estimates from the scored sentences of Winogender, over occupations, and the differences between two models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from penchant.instruments.comparison import ComparedSide, ScoredComparison
from penchant.instruments.settings import Settings
from penchant.instruments.wino.gender_data import ROLES, SOMEONE
from penchant.instruments.wino.pronoun_scores import ALL, Array, difference, normalised
from penchant.instruments.wino.settings import WinogenderSettings
from penchant.records import Estimate
from penchant.stats.correlations import correlation, correlation_difference, slope
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.intervals import t_mean
from penchant.stats.templates import nested_templates
from penchant.wording.phrases import Note

MEAN = "mean score(she) − score(he)"
ONE = "score(she) − score(he) of one occupation"
PEARSON, SPEARMAN = "Pearson's r with the share of women", "Spearman's ρ with the share of women"
SLOPE = "slope on the share of women, per 10 points"
TOPS = {role: f"share with the {role} pronoun most probable" for role in ROLES}
OCCUPATION, PARTICIPANT = "refers to the occupation", "refers to the participant"
EFFECT = "occupation − participant"
"""The effect for pronouns that refer to the occupation, minus that for pronouns that do not (the control)."""
NAMED, SOMEBODY = "participant named", "participant is someone"
MEAN_DIFFERENCE, SLOPE_DIFFERENCE, PEARSON_DIFFERENCE = (
    f"difference of {measure}" for measure in (MEAN, SLOPE, PEARSON)
)
"""Measures of the difference between two models."""
OCCUPATIONS = "occupations"
STEP = 10
"""Percentage points of women per unit of a slope."""
_PARTS = {
    ALL: None,
    OCCUPATION: ("refers", "occupation"),
    PARTICIPANT: ("refers", "participant"),
    NAMED: ("kind", "participant"),
    SOMEBODY: ("kind", SOMEONE),
}
"""Subsets of the sentences, each selected by a column and its value; None selects all."""
PARTS = (*_PARTS, EFFECT)


def preferences(items: pl.DataFrame, how: str) -> Array:
    """Return score(she) − score(he) of every item under a normalisation."""
    return difference(items, "female", "male", how)


def by_occupation(items: pl.DataFrame, values: Array) -> dict[str, pl.DataFrame]:
    """Return, for each subset of the sentences, a table of the mean value by occupation (occupation, mean, n).

    The table for `EFFECT` has the mean for pronouns that refer to the occupation minus the mean for the others.
    """
    frame = items.select("occupation", "refers", "kind").with_columns(pl.Series("value", values, dtype=pl.Float64))
    means = {}
    for part, chosen in _PARTS.items():
        inside = frame if chosen is None else frame.filter(pl.col(chosen[0]) == chosen[1])
        grouped = inside.group_by("occupation").agg(pl.col("value").sort().mean().alias("mean"), pl.len().alias("n"))
        means[part] = grouped.sort("occupation")
    both = means[OCCUPATION].join(means[PARTICIPANT], on="occupation", how="inner", suffix="_other").sort("occupation")
    gap = pl.col("mean") - pl.col("mean_other")
    means[EFFECT] = both.select("occupation", gap.alias("mean"), (pl.col("n") + pl.col("n_other")).alias("n"))
    return means


def women(items: pl.DataFrame, share: str) -> dict[str, float]:
    """Return the known percentages of women by occupation, from the statistic `share`."""
    known = items.select("occupation", f"women_{share}").unique().drop_nulls()
    return dict(known.iter_rows())


def gender_estimates(items: pl.DataFrame, how: str, shares: Sequence[str], probe: Settings) -> list[Estimate]:
    """Return all estimates under one normalisation.

    Holm's correction is applied over the subsets of the sentences, for each measure and statistic; estimates over all
    sentences are not corrected.
    """
    unadjusted = (
        replace(estimate, by={**estimate.by, "normalise": how}) for estimate in _all(items, how, shares, probe)
    )
    return with_holm(unadjusted, family)


def family(estimate: Estimate) -> str | None:
    """Return the family of an estimate for Holm's adjustment; None for estimates over all sentences."""
    by = estimate.by
    if by["part"] == ALL:
        return None
    return ", ".join(filter(None, [estimate.measure, "parts", by["share"], by["normalise"]]))


def _all(items: pl.DataFrame, how: str, shares: Sequence[str], probe: Settings) -> Iterator[Estimate]:
    means = by_occupation(items, preferences(items, how))
    for part, frame in means.items():
        yield _by(mean(frame["mean"].to_numpy(), probe), MEAN, part)
        for share in shares:
            for measure, estimate in against_share(frame, women(items, share), probe):
                yield _by(estimate, measure, part, share=share)
    for part, chosen in _PARTS.items():
        for estimate in over_templates(items, preferences(items, how), chosen, probe):
            yield _by(estimate, estimate.measure, part)
    for role, credit in tops(items, how).items():
        frame = by_occupation(items, credit)[ALL]
        found = t_mean(frame["mean"].to_numpy(), level=probe.level, noun=OCCUPATIONS, bounds=(0, 1))
        yield _by(found, TOPS[role], ALL)
    for part in (ALL, OCCUPATION, PARTICIPANT):
        for occupation, value, n in means[part].iter_rows():
            note = Note("wino.no-sample", have=n)
            yield _by(Estimate(ONE, value, n, level=probe.level, notes=(note,)), ONE, part, occupation=occupation)


def over_templates(
    items: pl.DataFrame, values: Array, chosen: tuple[str, str] | None, probe: Settings
) -> tuple[Estimate, Estimate]:
    """Return the sd of `values` over the templates of an occupation, and the templates' share of the variance.

    `values` has one value per item. `chosen` selects items by a column and its value; None selects all.
    """
    frame = items.select("occupation", *dict.fromkeys([chosen[0]] if chosen else []))
    frame = frame.with_columns(
        pl.Series("value", values, dtype=pl.Float64), pl.Series("template", templates(items), dtype=pl.String)
    )
    part = frame if chosen is None else frame.filter(pl.col(chosen[0]) == chosen[1])
    of = part.select(
        pl.col("occupation").rank("dense").alias("unit"),
        pl.struct("occupation", "template").rank("dense").alias("template"),
    )
    return nested_templates(
        part["value"].to_numpy(),
        of["template"].to_numpy().astype(np.intp),
        of["unit"].to_numpy().astype(np.intp),
        level=probe.level,
        noun=OCCUPATIONS,
    )


def templates(items: pl.DataFrame) -> list[str]:
    """Return the female sentence of every item with "…" in place of the participant.

    A sentence about a named participant and the same sentence about "someone" thus share a template.
    """
    return [
        re.sub(rf"\b(?:(?:the|an?) )?(?:{re.escape(participant)}|{SOMEONE})\b", "…", text, flags=re.IGNORECASE)
        for participant, text in items.select("participant", "female").iter_rows()
    ]


def _by(estimate: Estimate, measure: str, part: str, *, occupation: str = ALL, share: str = "") -> Estimate:
    return replace(estimate, measure=measure, by={"part": part, "occupation": occupation, "share": share})


def mean(values: Array, probe: Settings) -> Estimate:
    """Return the mean over occupations, tested against 0."""
    return t_mean(values, level=probe.level, noun=OCCUPATIONS, against=0)


def against_share(frame: pl.DataFrame, known: dict[str, float], probe: Settings) -> Iterator[tuple[str, Estimate]]:
    """Yield each measure with its estimate: correlations of means with shares of women, and the slope on the shares.

    `frame` has the means and `known` the shares, in percent, by occupation; occupations without a share are left out.
    The slope is per 10 percentage points.
    """
    x, y, without = paired(frame, known)
    how = _resampling(probe)
    found = {
        PEARSON: correlation(x, y, ranks=False, **how),
        SPEARMAN: correlation(x, y, ranks=True, **how),
        SLOPE: slope(x / STEP, y, **how),
    }
    for measure, estimate in found.items():
        yield measure, estimate.noted(without, first=True)


def _resampling(probe: Settings) -> dict[str, Any]:
    return {"level": probe.level, "noun": OCCUPATIONS, "seed": probe.seed, "resamples": probe.resamples}


def paired(frame: pl.DataFrame, known: dict[str, float]) -> tuple[Array, Array, Note | None]:
    """Return the shares of women and the means of occupations with a known share, and a note on the others, if any."""
    rows = [(known[name], value) for name, value, _ in frame.iter_rows() if name in known]
    x, y = (np.array(side, dtype=np.float64) for side in (zip(*rows, strict=True) if rows else ((), ())))
    lost = len(frame) - len(rows)
    return x, y, Note("wino.no-such-share", lost=lost) if lost else None


def tops(items: pl.DataFrame, how: str) -> dict[str, Array]:
    """Return a credit per role and item: 1 if the role's sentence scores highest, 1/k if k sentences tie, else 0."""
    scores = np.stack([normalised(items, role, how) for role in ROLES])
    best = scores == scores.max(axis=0)
    return {role: row / best.sum(axis=0) for role, row in zip(ROLES, best, strict=True)}


def gender_cautions(items: pl.DataFrame) -> Iterator[Note]:
    """Yield cautions about sentences of unequal lengths in tokens, and about ties."""
    unequal = int((items["n_tokens_female"] != items["n_tokens_male"]).sum())
    if unequal:
        yield Note("wino.unequal-items", have=unequal, of=len(items))
    ties = int((items["score_female"] == items["score_male"]).sum())
    if ties:
        yield Note("wino.tied-items", have=ties, of=len(items))


# Two models ---------------------------------------------------------------------------------------------------------


def differences(
    a: ComparedSide[WinogenderSettings], b: ComparedSide[WinogenderSettings], unlike: bool
) -> Iterator[Estimate]:
    """Yield the differences (a − b) in means, slopes and correlations, over all sentences and over subsets of them.

    Means and slopes come from differences of scores sentence by sentence. If method or normalisation
    differ (`unlike`), only correlations, which have no unit, are compared.
    """
    probe = a.settings
    each = [preferences(side.items, side.how) for side in (a, b)]
    gap, *sides = (by_occupation(a.items, values) for values in (each[0] - each[1], *each))
    for part, frame in gap.items():
        if not unlike:
            found = mean(frame["mean"].to_numpy(), probe)
            yield replace(found, measure=MEAN_DIFFERENCE, by={"part": part, "share": ""})
        for share in probe.shares:
            known = women(a.items, share)
            x, y, note = paired(frame, known)
            by = {"part": part, "share": share}
            if not unlike:
                found = slope(x / STEP, y, **_resampling(probe))
                yield replace(found, measure=SLOPE_DIFFERENCE, by=by).noted(note, first=True)
            first, second = (paired(side[part], known)[1] for side in sides)
            found = correlation_difference(x, first, second, **_resampling(probe))
            yield replace(found, measure=PEARSON_DIFFERENCE, by=by).noted(note, first=True)


compare = ScoredComparison(WinogenderSettings, ["id", "female", "male", "neutral"], differences, family)
