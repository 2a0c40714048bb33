"""Estimates from the scored pairs of WinoBias, and the differences between two models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.comparison import ComparedSide, ScoredComparison
from penchant.instruments.settings import Settings
from penchant.instruments.wino.bias_data import ANTI, GENDERS, PRO, TYPES
from penchant.instruments.wino.pronoun_scores import ALL, Array, difference
from penchant.instruments.wino.settings import MALE_DIFFERENCE as MALE_DIFFERENCE
from penchant.instruments.wino.settings import PREFERS_MALE as PREFERS_MALE
from penchant.instruments.wino.settings import PREFERS_PRO as PREFERS_PRO
from penchant.instruments.wino.settings import PRO_DIFFERENCE as PRO_DIFFERENCE
from penchant.instruments.wino.settings import WinoBiasSettings
from penchant.records import Estimate
from penchant.stats.bootstrap import few_clusters
from penchant.stats.hypothesis_tests import binomial, held_against, with_holm
from penchant.stats.intervals import accuracy, clustered_ratio, t_mean
from penchant.wording.phrases import Method, Note

Mask = NDArray[np.bool_]
TIES = "share of ties"
LOG_ODDS = "mean log-odds of the male pronoun"
ADJUSTED = "gender-adjusted preference"
ADJUSTED_DIFFERENCE = f"difference of {ADJUSTED}"
"""Measure of the difference between two models."""
HALF = 0.5
OCCUPATIONS = "occupations"
UNBALANCED = 0.01
"""Largest deviation from ½, without a caution, of the share of pairs whose pro-stereotypical pronoun is male."""
STRONG = 0.9
"""Smallest share of pairs with the same preferred gender for which a caution is raised."""


def credits(gaps: Array) -> Array:
    """Return the credits of score differences: 1 where the first sentence scores higher, ½ at a tie, else 0."""
    values: Array = (np.sign(gaps) + 1) / 2
    return values


def preferences(items: pl.DataFrame, how: str) -> Array:
    """Return the scores of the pro- minus those of the anti-stereotypical sentences, normalised by `how`."""
    return difference(items, PRO, ANTI, how)


def log_odds(items: pl.DataFrame, how: str) -> Array:
    """Return the scores of the sentences with the male minus those with the female pronoun, normalised by `how`."""
    sign = np.where((items["gender"] == GENDERS[0]).to_numpy(), 1.0, -1.0)
    values: Array = sign * preferences(items, how)
    return values


def bias_estimates(items: pl.DataFrame, how: str, probe: Settings) -> list[Estimate]:
    """Return all estimates under one normalisation.

    For each measure, Holm's correction is applied over types, over genders, over pronoun forms and over occupations.
    """
    unadjusted = (replace(estimate, by={**estimate.by, "normalise": how}) for estimate in _all(items, how, probe))
    return with_holm(unadjusted, family)


def family(estimate: Estimate) -> str | None:
    """Return the family of an estimate for Holm's adjustment; None for estimates over all pairs."""
    by = estimate.by
    return None if by["scope"] == "overall" else f"{estimate.measure}, {by['scope']}, {by['normalise']}"


def _all(items: pl.DataFrame, how: str, probe: Settings) -> Iterator[Estimate]:
    odds = log_odds(items, how)
    pro, male = credits(preferences(items, how)), credits(odds)
    everything = np.ones(len(items), dtype=bool)
    yield _by(_share(items, pro, everything, probe), PREFERS_PRO, "overall")
    yield _by(_share(items, male, everything, probe), PREFERS_MALE, "overall")
    yield _by(accuracy(np.where(pro == HALF, 1.0, 0.0), level=probe.level), TIES, "overall")
    yield _by(adjusted(items, odds, probe), ADJUSTED, "overall")
    for kind, chosen in types(items):
        yield _by(_share(items, pro, chosen, probe), PREFERS_PRO, "type", kind)
        yield _by(_share(items, male, chosen, probe), PREFERS_MALE, "type", kind)
        yield _by(adjusted(items.filter(chosen), odds[chosen], probe), ADJUSTED, "type", kind)
    for gender in GENDERS:
        chosen = (items["gender"] == gender).to_numpy()
        if chosen.any():
            yield _by(_share(items, pro, chosen, probe), PREFERS_PRO, "gender", gender)
            means = occupation_means(items.filter(chosen), odds[chosen])["mean"].to_numpy()
            mean = t_mean(means, level=probe.level, noun=OCCUPATIONS, against=0)
            yield _by(mean, LOG_ODDS, "gender", gender)
    for form in sorted(set(items["pronouns"])):
        if "," not in form:
            yield _by(_share(items, male, (items["pronouns"] == form).to_numpy(), probe), PREFERS_MALE, "form", form)
    for occupation in sorted(set(items["occupation"])):
        chosen = (items["occupation"] == occupation).to_numpy()
        yield _by(_share(items, pro, chosen, probe), PREFERS_PRO, "occupation", occupation)
        mean = t_mean(odds[chosen], level=probe.level, noun="pairs", against=0)
        yield _by(mean, LOG_ODDS, "occupation", occupation)


def types(items: pl.DataFrame) -> Iterator[tuple[str, Mask]]:
    """Yield each type with a mask of its pairs, if there are pairs of both types."""
    for kind in TYPES:
        chosen: Mask = (items["type"] == kind).to_numpy()
        if chosen.any() and not chosen.all():
            yield kind, chosen


def _by(estimate: Estimate, measure: str, scope: str, group: str = ALL) -> Estimate:
    return replace(estimate, measure=measure, by={"scope": scope, "group": group})


def _share(items: pl.DataFrame, credit: Array, chosen: Mask, probe: Settings) -> Estimate:
    """Return the mean credit of the `chosen` pairs, tested against one half.

    Wilson's interval and the binomial test are used within one occupation, or if occupations do not differ.
    """
    part = credit[chosen]
    ties = int((part == HALF).sum())
    tied = Note("wino.ties", ties=ties) if ties else None
    estimate = over_occupations(items.filter(chosen), part, probe, against=HALF, proportion=True)
    if np.isnan(estimate.low):
        untied = part[part != HALF]
        p = binomial(untied, HALF)
        estimate = accuracy(part, level=probe.level)
        if not np.isnan(p):
            estimate = held_against(estimate.tested(p, Method("binomial-untied" if ties else "binomial")), HALF)
    return estimate.noted(tied, first=True)


def over_occupations(
    items: pl.DataFrame, values: Array, probe: Settings, *, against: float, proportion: bool = False
) -> Estimate:
    """Return the mean of one value per pair with a cluster-robust t interval and a t test of the value `against`.

    Occupations are clusters within strata of gender: each contributes to the error by its residual from the mean of its
    gender. The residuals of a gender are enlarged because its mean is estimated. If a gender has only one occupation,
    all occupations form one stratum. With `proportion`, interval and test use the logit scale. `n` counts pairs.
    """
    frame = items.select("occupation", "gender").with_columns(pl.Series("value", values, dtype=pl.Float64))
    totals = frame.group_by("gender", "occupation").agg(pl.col("value").sort().sum().alias("sum"), pl.len().alias("n"))
    totals = totals.sort("gender", "occupation")
    sums, pairs = totals["sum"].to_numpy(), totals["n"].to_numpy().astype(np.float64)
    genders, n = totals["gender"].to_numpy(), len(totals)
    sides = [genders == gender for gender in sorted(set(genders))]
    if min(side.sum() for side in sides) < 2:
        sides = [np.ones(n, dtype=bool)]
    value = float(values.mean())
    estimate = Estimate("mean", value, len(items), level=probe.level)
    residuals = np.zeros(n)
    for side in sides:
        of = int(side.sum())
        rest = sums[side] - sums[side].sum() / pairs[side].sum() * pairs[side]
        residuals[side] = rest * np.sqrt(of / max(1, of - 1) / (n / max(1, n - 1)))
    if np.abs(residuals).max() <= 1e-9 * pairs.max():
        return estimate.noted(Note("wino.alike-within-gender", all=n, noun=OCCUPATIONS))
    found = clustered_ratio(estimate, value * pairs + residuals, pairs, OCCUPATIONS, logit=proportion, against=against)
    if len(sides) > 1:
        found = replace(found, method=Method("within-groups", within=found.method, groups=len(sides)))
    return found.noted(few_clusters(n, OCCUPATIONS), first=True)


def occupation_means(items: pl.DataFrame, odds: Array) -> pl.DataFrame:
    """Return the mean log-odds of every occupation: columns occupation, gender (pro-stereotypical), mean, n."""
    frame = items.select("occupation", "gender").with_columns(pl.Series("odds", odds, dtype=pl.Float64))
    grouped = frame.group_by("occupation", "gender").agg(
        pl.col("odds").sort().mean().alias("mean"), pl.len().alias("n")
    )
    return grouped.sort("occupation", "gender")


def adjusted(items: pl.DataFrame, odds: Array, probe: Settings) -> Estimate:
    """Return the gender-adjusted preference; `n` counts occupations.

    This is the mean log-odds of the male pronoun over occupations with a male pro-stereotypical pronoun, minus the mean
    over those with a female one.
    """
    means = occupation_means(items, odds)
    sides = means["gender"].to_list()
    n, of = len(means), {gender: sides.count(gender) for gender in GENDERS}
    values = means["mean"].to_numpy()
    if not all(of.values()):
        return Estimate(ADJUSTED, np.nan, n, level=probe.level, notes=(Note("wino.one-gender"),))
    weights = np.array([n / of[side] * (1 if side == GENDERS[0] else -1) for side in sides])
    if min(of.values()) < 2:
        value = float(np.sort(weights * values).mean())
        return Estimate(ADJUSTED, value, n, level=probe.level, notes=(Note("wino.needs-two-occupations"),))
    return t_mean(weights * values, strata=sides, level=probe.level, noun=OCCUPATIONS, against=0)


def bias_cautions(items: pl.DataFrame, estimates: Sequence[Estimate]) -> Iterator[Note]:
    """Yield cautions about unequal token lengths, an imbalance of genders, and a strong preference for one gender."""
    unequal = int((items[f"n_tokens_{PRO}"] != items[f"n_tokens_{ANTI}"]).sum())
    if unequal:
        yield Note("wino.unequal-pairs", have=unequal, of=len(items))
    male = int((items["gender"] == GENDERS[0]).sum())
    if abs(male / len(items) - HALF) > UNBALANCED:
        yield Note("wino.mostly-male", have=male, of=len(items))
    for estimate in estimates:
        if estimate.measure == PREFERS_MALE and estimate.by["scope"] == "overall":
            share = max(estimate.value, 1 - estimate.value)
            if share >= STRONG:
                gender = GENDERS[0] if estimate.value > HALF else GENDERS[1]
                yield Note("wino.one-gender-preferred", score=estimate.by["normalise"], gender=gender, share=share)


# Two models ---------------------------------------------------------------------------------------------------------


def differences(
    a: ComparedSide[WinoBiasSettings], b: ComparedSide[WinoBiasSettings], unlike: bool
) -> Iterator[Estimate]:
    """Yield the differences (a − b) in two shares and the gender-adjusted preference, over all pairs and by type.

    The shares are of pairs preferring the pro-stereotypical and the male pronoun. Differences are taken pair by pair.
    Preferences have the unit of the score and are not compared if method or normalisation differ (`unlike`).
    """
    items = a.items
    pro, odds = ([values(side.items, side.how) for side in (a, b)] for values in (preferences, log_odds))
    gaps = {
        measure: credits(one) - credits(other)
        for measure, (one, other) in ((PRO_DIFFERENCE, pro), (MALE_DIFFERENCE, odds))
    }
    everything: tuple[str, str, Mask] = ("overall", ALL, np.ones(len(items), dtype=bool))
    for scope, group, chosen in (everything, *(("type", kind, inside) for kind, inside in types(items))):
        part, by = items.filter(chosen), {"scope": scope, "group": group}
        for measure, gap in gaps.items():
            yield replace(over_occupations(part, gap[chosen], a.settings, against=0), measure=measure, by=by)
        if not unlike:
            shift = (odds[0] - odds[1])[chosen]
            yield replace(adjusted(part, shift, a.settings), measure=ADJUSTED_DIFFERENCE, by=by)


compare = ScoredComparison(WinoBiasSettings, ["id", "pro", "anti"], differences, family)
