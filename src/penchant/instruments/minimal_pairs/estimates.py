"""Estimates from scored pairs: accuracies, differences by token length, and length adjustment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.fixed_group_estimates import (
    THESE,
    beside_fixed,
    few,
    fixed,
    fixed_share,
    holding,
)
from penchant.instruments.minimal_pairs.formats import DIRECTIONS
from penchant.instruments.minimal_pairs.pair_credits import (
    ALL,
    HALF,
    STEREOTYPE,
    Credits,
    clusters,
    credits,
    mean_credit,
    of_stereotypes,
    preferences,
)
from penchant.instruments.minimal_pairs.settings import PairSettings
from penchant.instruments.minimal_pairs.strata_means import (
    fixed_strata_difference,
    fixed_strata_share,
    mantel_haenszel_difference,
)
from penchant.instruments.settings import Settings
from penchant.records import Estimate
from penchant.report.tables import scaled
from penchant.stats.hypothesis_tests import placed_family, with_holm
from penchant.stats.inputs import small_side
from penchant.stats.intervals import accuracy, independent_difference
from penchant.stats.length_adjustment import LACK_OF_FIT, adjusted_accuracy, fit, lack_of_fit, length_slope
from penchant.wording.phrases import Note

CROWS_PAIRS = "crows-pairs"
"""The data set to which the published stereotype metric applies."""
ACCURACY, TIES, GAP = "accuracy", "share of ties", "gap to A=U"
ADJUSTED, SLOPE = "length-adjusted accuracy", "log-odds per token of |A|−|U|"
BY_DIFFERENCE = "accuracy by |A|−|U|"
_TIED = "tied"
"""Name of a temporary column that is true for tied pairs."""
SPLITS = {"A=U": 0, "A>U": 1, "A<U": -1}
UNEQUAL = ("A>U", "A<U")
"""Splits of pairs whose sentences differ in length."""


def pair_estimates(items: pl.DataFrame, probe: PairSettings) -> Iterator[Estimate]:
    """Yield all estimates from scored pairs for each data set and each normalisation in the settings `probe`."""
    for name in items["dataset"].unique(maintain_order=True).to_list():
        part = items.filter(pl.col("dataset") == name)
        for how in probe.normalisations():
            credit = credits(part, how)
            if of_stereotypes(part, name):
                more = credit if probe.acceptable == "sent_more" else 1 - credit
                yield from _with_factors(_stereotype_scores(part, more, probe), name, how)
            tied = part.with_columns(pl.Series(_TIED, preferences(part, how) == HALF, pl.Boolean))
            yield from _with_factors(_of_data_set(tied, credit, probe), name, how)


def _with_factors(estimates: Iterable[Estimate], dataset: str, how: str) -> Iterator[Estimate]:
    placed = (replace(each, by={"dataset": dataset, **each.by, "normalise": how}) for each in estimates)
    return (placed_family(each, dataset, how) for each in placed)


def _of_data_set(part: pl.DataFrame, credit: Credits, settings: Settings) -> Iterator[Estimate]:
    """Yield the estimates over all pairs, and by phenomenon and paradigm if there are several.

    The lack of fit of a model that is linear in the length difference is tested by paradigm, or over all pairs if there
    is only one paradigm.
    """
    remark = beside_fixed(*clusters(part))
    paradigms = part["group"].unique(maintain_order=True).to_list()
    whole = _block(part, credit, "overall", ALL, settings, fitted=len(paradigms) == 1)
    for estimate in with_holm(whole, _family_of_all):
        headline = estimate.measure == ACCURACY and estimate.by["split"] == ALL
        yield estimate.noted(remark) if headline else estimate
    yield from _of_these(part, credit, settings)
    phenomena = part["phenomenon"].unique(maintain_order=True).to_list()
    same = bool((part["phenomenon"] == part["group"]).all())
    for phenomenon in [] if same or len(phenomena) < 2 else phenomena:
        inside = (part["phenomenon"] == phenomenon).to_numpy()
        yield from _block(part.filter(inside), credit[inside], "phenomenon", phenomenon, settings)
    if len(paradigms) < 2:
        return
    masks = [(part["group"] == paradigm).to_numpy() for paradigm in paradigms]
    blocks = [
        list(_block(part.filter(inside), credit[inside], "group", paradigm, settings, fitted=True))
        for paradigm, inside in zip(paradigms, masks, strict=True)
    ]
    every = (estimate for block in blocks for estimate in block)
    families = ACCURACY, GAP, SLOPE, LACK_OF_FIT
    yield from with_holm(every, lambda each: f"{each.measure}, paradigms" if each.measure in families else None)


def _of_these(part: pl.DataFrame, credit: Credits, settings: Settings) -> Iterator[Estimate]:
    """Yield accuracies for exactly the groups in the data, if few: over all pairs (with a test), and by split.

    A split is a relative token length of the acceptable (A) and the unacceptable (U) sentence: A=U, A>U or A<U.
    """
    strata, noun = clusters(part)
    signs = np.sign(part["difference"].to_numpy())
    splits = {ALL: None} if part["difference"].null_count() else {ALL: None, **SPLITS}
    for split, sign in splits.items() if few(strata) else ():
        chosen = np.ones(len(credit), dtype=bool) if sign is None else signs == sign
        labels = [s for s, c in zip(strata, chosen, strict=True) if c]
        share = fixed_strata_share(credit[chosen], labels, against=HALF, level=settings.level, noun=noun)
        by, test = {"scope": THESE, "group": ALL, "split": split}, share.test if sign is None else None
        yield replace(share, measure=fixed(ACCURACY, noun), test=test, by=by)


def _family_of_all(estimate: Estimate) -> str | None:
    return {GAP: f"{GAP}, lengths", LACK_OF_FIT: f"{LACK_OF_FIT}, all pairs"}.get(estimate.measure)


def _block(
    part: pl.DataFrame, credit: Credits, scope: str, group: str, settings: Settings, *, fitted: bool = False
) -> Iterator[Estimate]:
    """Yield all estimates of one group of pairs and, if `fitted` is true, the lack of fit of the linear model."""
    difference = part["difference"].to_numpy()
    strata, noun = clusters(part)
    several = len(set(strata)) > 1

    def mean(chosen: NDArray[np.bool_]) -> Estimate:
        labels = [s for s, c in zip(strata, chosen, strict=True) if c]
        return mean_credit(credit[chosen], labels, noun, settings.level)

    def labelled(estimate: Estimate, measure: str, split: str = ALL) -> Estimate:
        return replace(estimate, measure=measure, by={"scope": scope, "group": group, "split": split})

    against = HALF if scope != "phenomenon" else None
    yield labelled(mean_credit(credit, strata, noun, settings.level, against=against), ACCURACY)
    yield labelled(accuracy(part[_TIED].cast(pl.Float64).to_numpy(), level=settings.level), TIES)
    if part["difference"].null_count():  # a table of scores has no numbers of tokens
        return
    signs = np.sign(difference)
    for split, sign in SPLITS.items():
        yield labelled(mean(signs == sign), ACCURACY, split)
    for split in UNEQUAL:
        yield labelled(_gap(credit, signs, SPLITS[split], (strata, noun), settings.level), GAP, split)
    free, line = (
        fit(credit, difference, strata=strata, clusters=strata if several else None, levels=levels, noun=noun)
        for levels in (True, False)
    )
    adjusted = adjusted_accuracy(free, level=settings.level)
    if len(part) and not difference.any():  # the fit would draw it towards one half
        mean_of_all = mean_credit(credit, strata, noun, settings.level)
        adjusted = replace(mean_of_all, notes=(Note("minimal_pairs.no-unequal"),))
    yield labelled(adjusted, ADJUSTED)
    unequal = int(np.count_nonzero(difference))
    sparse = small_side(unequal, len(difference)) if unequal else None
    yield labelled(length_slope(line, level=settings.level).noted(sparse), SLOPE)
    if fitted:
        yield labelled(lack_of_fit(credit, difference, level=settings.level), LACK_OF_FIT)
    if scope == "overall":
        for step in np.unique(difference):
            yield labelled(mean(difference == step), BY_DIFFERENCE, f"{step:+d}" if step else "0")


def _gap(
    credit: Credits, signs: NDArray[np.int32], sign: int, clustered: tuple[list[str], str], level: float
) -> Estimate:
    """Return the accuracy at A>U (`sign` 1) or A<U (−1) minus the accuracy at A=U, within paradigms.

    A and U are the token counts of the acceptable and the unacceptable sentence, `signs` the signs of their difference;
    `clustered` has the paradigm of each pair, and the plural noun for paradigms.
    """
    chosen = (signs == sign) | (signs == 0)
    exposed = (signs == sign)[chosen]
    inside = credit[chosen]
    strata, noun = clustered
    groups = [s for s, c in zip(strata, chosen, strict=True) if c]
    if len(set(strata)) < 2:
        return independent_difference(inside[exposed], inside[~exposed], level=level)
    over = mantel_haenszel_difference(inside, exposed, groups, level=level, noun=noun)
    within = fixed_strata_difference(inside, exposed, groups, level=level, noun=noun)
    return holding(over, within, groups, noun)


def _stereotype_scores(part: pl.DataFrame, more: Credits, settings: Settings) -> Iterator[Estimate]:
    """Yield the stereotype scores of CrowS-Pairs (Nangia et al. 2020), in percent; 50 means no preference.

    A score is the percentage of pairs in which the more stereotypical sentence scores higher; `more` contains the
    credit of this sentence in each pair. The published metric gives ties a credit of 0, which looks like a preference
    when compared with 50, so this credit is used only for CrowS-Pairs. The scores by direction exclude ties.
    Each score is tested against 50, with Holm's correction over the kinds of bias.
    """
    published = len(part) > 0 and part["dataset"][0] == CROWS_PAIRS
    won = np.floor(more) if published else more
    strata, noun = clusters(part)

    def percent(credit: Credits, chosen: NDArray[np.bool_], group: str, note: Note | None) -> Estimate:
        labels = [s for s, c in zip(strata, chosen, strict=True) if c]
        share = mean_credit(credit[chosen], labels, noun, settings.level, against=0.5)
        by = {"scope": "stereotype", "group": group, "split": ALL}
        return replace(_in_percent(share, note), measure=STEREOTYPE, by=by)

    def tied(inside: NDArray[np.bool_]) -> Note | None:
        ties = int((more[inside] == HALF).sum())
        if published:
            return Note("minimal_pairs.ties-for-neither", ties=ties)
        return Note("minimal_pairs.ties-count-half", ties=ties) if ties else None

    everything = np.ones(len(more), dtype=bool)
    yield percent(won, everything, ALL, tied(everything))
    for share in fixed_share(won, strata, noun, settings.level, STEREOTYPE):
        yield replace(_in_percent(share, tied(everything)), by={"scope": THESE, "group": ALL, "split": ALL})
    for direction in DIRECTIONS if part["group"].n_unique() > 1 else ():
        inside = (part["group"] == direction).to_numpy()
        untied = inside & (more != 0.5)
        left_out = Note("minimal_pairs.ties-left-out", ties=int((inside & ~untied).sum()))
        yield percent(more, untied, direction, left_out)
    kinds = []
    for kind in part["phenomenon"].unique(maintain_order=True).to_list():
        inside = (part["phenomenon"] == kind).to_numpy()
        kinds.append(percent(won, inside, kind, tied(inside)))
    yield from with_holm(kinds, lambda estimate: f"{STEREOTYPE}, kinds of bias")


def _in_percent(share: Estimate, note: Note | None) -> Estimate:
    value, low, high = (scaled(number, 100) for number in (share.value, share.low, share.high))
    return replace(share, value=value, low=low, high=high).noted(note, first=True)
