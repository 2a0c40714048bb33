"""Estimates from pairs judged by people: agreement between raters, and between a model and raters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.instruments.minimal_pairs.fixed_group_estimates import MEAN, THESE, few, fixed, fixed_share
from penchant.instruments.minimal_pairs.human_judgements import JUDGED, RATERS, Kind
from penchant.instruments.minimal_pairs.pair_credits import (
    ALL,
    HALF,
    clusters,
    credits,
    deltas,
    mean_credit,
    paired,
    paired_over,
)
from penchant.instruments.minimal_pairs.settings import PairSettings
from penchant.records import Estimate
from penchant.stats.agreement import interval_alpha, krippendorff_alpha, raw_agreement
from penchant.stats.crossed_judgements import PEARSON, SPEARMAN, ceiling, correlation, left_out, majority
from penchant.stats.hypothesis_tests import placed_family, with_holm
from penchant.stats.rated_mean import mean_over_raters
from penchant.wording.phrases import Note

Array = NDArray[np.float64]
HUMAN_ACCURACY = "human accuracy (majority of raters)"
AGAINST_MAJORITY = "accuracy against the majority of raters"
JUDGED_ACCURACY = "accuracy on the judged pairs"
MINUS_PEOPLE = "accuracy minus human accuracy"
"""The accuracy of a model minus the accuracy of the raters on the same pairs."""
CEILING = "human ceiling (rater against the majority of the others)"
CORRELATIONS = {False: f"{PEARSON}, Δmodel and Δhuman", True: f"{SPEARMAN}, Δmodel and Δhuman"}
"""Names of the correlations within a paradigm; the key is true for rank correlation."""
EQUAL_LENGTH = "A=U"
"""Name of the split of pairs whose sentences have equal numbers of tokens."""
FEWEST_OF_A_MAJORITY = 2
"""Minimum median number of raters per pair for a majority to exist."""
FEWEST, FEWEST_APART, MOST_LOST = 10, 3, 0.05
"""Limits for a correlation: fewest pairs, fewest values other than the mode, largest share of undefined resamples.

Outside these limits, a correlation depends on single answers of single raters. The second limit applies to Δmodel and
to Δhuman.
"""
RAW = "raw agreement (two raters of the same pair)"
ALPHAS: dict[Kind, str] = {"choices": "Krippendorff's alpha (nominal)", "ratings": "Krippendorff's alpha (interval)"}


def kind_of(items: pl.DataFrame) -> Kind | None:
    """Return the kind of the judgements in the items, "choices" or "ratings"; None if there are none."""
    return next((kind for kind, column in JUDGED.items() if column in items.columns), None)


def judgements(items: pl.DataFrame) -> Array:
    """Return the judgements of the items, shape (raters, items), with NaN for missing judgements."""
    kind = kind_of(items)
    columns = items[RATERS].to_list(), items[JUDGED[kind or "choices"]].to_list()
    rows = {rater: row for row, rater in enumerate(sorted({rater for raters in columns[0] for rater in raters}))}
    table = np.full((len(rows), len(items)), np.nan)
    for place, (raters, values) in enumerate(zip(*columns, strict=True)):
        for rater, value in zip(raters, values, strict=True):
            table[rows[rater], place] = value
    return table


def mean_judgements(judged: Array) -> Array:
    """Return Δhuman of each item, the mean judgement over raters; a choice is +1 (good) or −1 (bad)."""
    means: Array = np.nanmean(judged, axis=0)
    return means


def lone(items: pl.DataFrame) -> bool:
    """Return whether the judged pairs have a median of fewer than two raters, so that there is no majority."""
    heard = items.filter(pl.col("human_n") > 0)["human_n"]
    return len(heard) > 0 and float(np.median(heard.to_numpy())) < FEWEST_OF_A_MAJORITY


def human_estimates(items: pl.DataFrame, probe: PairSettings) -> Iterator[Estimate]:
    """Yield all estimates from judged pairs, by data set and paradigm."""
    kind = kind_of(items)
    if kind is None:
        return
    # Sorted by id, so that resampling does not depend on the order of files.
    ordered = items.sort("file", "id", maintain_order=True)
    for name in items["dataset"].unique(maintain_order=True).to_list():
        part = ordered.filter(pl.col("dataset") == name)
        paradigms = items.filter(pl.col("dataset") == name)["group"].unique(maintain_order=True).to_list()
        several = paradigms if len(paradigms) > 1 else []
        groups = (("overall", ALL, part), *(("group", each, part.filter(group=each)) for each in several))
        found = (
            estimate
            for scope, group, inside in groups
            for estimate in _of_group(inside, scope, group, kind, probe, lengths=scope == "group" or not several)
        )
        for estimate in with_holm(found, _family):
            yield placed_family(replace(estimate, by={"dataset": name, **estimate.by}), name)


def _family(estimate: Estimate) -> str | None:
    adjusted = estimate.measure == MINUS_PEOPLE and estimate.by["scope"] == "group"
    return f"{estimate.measure}, paradigms, {estimate.by['normalise']}" if adjusted else None


def _of_group(
    inside: pl.DataFrame, scope: str, group: str, kind: Kind, probe: PairSettings, *, lengths: bool
) -> Iterator[Estimate]:
    """Yield the estimates for a group and, if `lengths` is true, for its pairs of equal length."""
    heard = inside.filter(pl.col("human_n") > 0)
    if not len(heard):
        return
    lost = len(inside) - len(heard)
    unheard = Note("minimal_pairs.nobody-judged", lost=lost, of=len(inside)) if lost else None
    here = _Judged.of(heard, kind, probe, unheard)
    parts = {(scope, group, ALL): here.estimates()}
    if lengths:
        parts[scope, group, EQUAL_LENGTH] = here.of_equal_length()
    if scope == "overall":
        parts[THESE, ALL, ALL] = here.as_they_are()
    for levels, estimates in parts.items():
        by = dict(zip(("scope", "group", "split"), levels, strict=True))
        yield from (replace(estimate, by={**by, **estimate.by}) for estimate in estimates)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The judged pairs of a group, with the majority votes and paradigms.

    For each pair, `votes` has the preference of most raters (1 good, 0 tie, −1 bad), `people` the corresponding credit,
    and `labels` the paradigm; `noun` is the plural noun for paradigms, and `lost` the note on unjudged pairs.
    """

    items: pl.DataFrame
    kind: Kind
    probe: PairSettings
    lost: Note | None
    judged: Array
    votes: Array
    people: Array
    labels: list[str]
    noun: str

    @classmethod
    def of(cls, items: pl.DataFrame, kind: Kind, probe: PairSettings, lost: Note | None) -> _Judged:
        judged = judgements(items)
        votes = majority(judged)
        return cls(items, kind, probe, lost, judged, votes, (votes + 1) / 2, *clusters(items))

    def estimates(self) -> Iterator[Estimate]:
        everything = np.ones(len(self.votes), dtype=bool)
        tied = _ties("minimal_pairs.tied-majorities", self.votes == 0)
        yield self._of("", self._share(self.people, everything), HUMAN_ACCURACY, tied)
        several = len(set(self.labels)) > 1
        grouped = {"clusters": self.labels if several else None, "noun": self.noun if several else "pairs"}
        yield self._of("", ceiling(self.judged, level=self.probe.level, **grouped), CEILING)  # type: ignore[arg-type]
        yield self._of("", self._alpha(self.judged), ALPHAS[self.kind])
        counts = _counts(self.judged)
        if self.kind == "choices" and np.any(counts.sum(axis=1) > 1):
            yield self._of("", raw_agreement(counts, level=self.probe.level, noun="pairs"), RAW)
        for how in self.probe.normalisations():
            credit, delta = credits(self.items, how), deltas(self.items, how)
            ties = _ties("minimal_pairs.ties-of-model", credit == HALF)
            yield self._of(how, self._share(credit, everything), JUDGED_ACCURACY, ties)
            apart = paired_over(credit, self.people, self.labels, self.noun, self.probe)
            yield self._of(how, apart, MINUS_PEOPLE, tied, _ties("minimal_pairs.ties-of-model", delta == 0))
            untied = self.votes != 0
            share = self._share((np.sign(delta) * self.votes + 1) / 2, untied, against=HALF)
            notes = (
                _ties("minimal_pairs.tied-left-out", ~untied),
                _ties("minimal_pairs.ties-of-model", delta[untied] == 0),
            )
            yield self._of(how, share, AGAINST_MAJORITY, *notes)
            for ranks, measure in CORRELATIONS.items():
                found = self._correlation(delta, self.judged, ranks=ranks, measure=measure)
                yield self._of(how, found, found.measure)

    def of_equal_length(self) -> Iterator[Estimate]:
        """Yield the correlations of model and raters over pairs of equal length, unless all pairs have equal length."""
        equal = self.items.filter(pl.col("difference") == 0)
        if len(equal) == len(self.items):
            return
        judged = judgements(equal)
        for how in self.probe.normalisations():
            for ranks, measure in CORRELATIONS.items():
                found = self._of(how, self._within(deltas(equal, how), judged, ranks=ranks), measure)
                yield replace(found, by={**found.by, "raters": str(len(judged))})

    def as_they_are(self) -> Iterator[Estimate]:
        """Yield the accuracies and the human ceiling for exactly the paradigms in the data, if they are few."""
        if not few(self.labels):
            return
        labels, noun, level, untied = self.labels, self.noun, self.probe.level, self.votes != 0
        kept = [label for label, inside in zip(labels, untied, strict=True) if inside]
        for estimate in fixed_share(self.people, labels, noun, level, HUMAN_ACCURACY):
            yield self._of("", estimate, estimate.measure)
        yield self._of("", ceiling(self.judged, level=level, noun="pairs"), fixed(CEILING, noun))
        for how in self.probe.normalisations():
            delta = deltas(self.items, how)
            credit = (np.sign(delta) * self.votes + 1) / 2
            for estimate in fixed_share(credit[untied], kept, noun, level, AGAINST_MAJORITY):
                yield self._of(how, estimate, estimate.measure)
            apart = paired(credits(self.items, how), self.people, self.probe)
            notes = _ties("minimal_pairs.tied-majorities", ~untied), _ties("minimal_pairs.ties-of-model", delta == 0)
            yield self._of(how, apart, fixed(MINUS_PEOPLE, noun), *notes)

    def _of(self, how: str, estimate: Estimate, measure: str, *notes: Note | None) -> Estimate:
        """Label an estimate with its measure, its score `how` and its number of raters; put `notes` before its own."""
        by = {"normalise": how, "raters": str(len(self.judged))}
        return replace(estimate, measure=measure, by=by).noted(*notes, self.lost, first=True)

    def _share(self, credit: Array, chosen: NDArray[np.bool_], *, against: float | None = None) -> Estimate:
        kept = [label for label, inside in zip(self.labels, chosen, strict=True) if inside]
        return mean_credit(credit[chosen], kept, self.noun, self.probe.level, against=against)

    def _alpha(self, judged: Array) -> Estimate:
        by_item = [column[~np.isnan(column)] for column in judged.T]
        settings = {"seed": self.probe.seed, "resamples": self.probe.resamples}
        if self.kind == "ratings":
            return interval_alpha(by_item, level=self.probe.level, **settings)
        return krippendorff_alpha(_counts(judged), domain=[-1, 1], scale="nominal", level=self.probe.level, **settings)

    def _correlation(self, delta: Array, judged: Array, *, ranks: bool, measure: str) -> Estimate:
        labels, noun = self.labels, self.noun
        if len(set(labels)) == 1:
            return replace(self._within(delta, judged, ranks=ranks), measure=measure)
        groups = np.array(labels)
        inside = {label: groups == label for label in dict.fromkeys(labels)}
        enough = [not _too_few(delta[chosen], judged[:, chosen]) for chosen in inside.values()]
        within = np.array([left_out(delta[chosen], judged[:, chosen], ranks=ranks) for chosen in inside.values()])
        known = ~np.isnan(within[:, 0]) & enough
        lost = int((~known).sum())
        whole, without = within[known, 0], within[known, 1:].T
        if not len(whole):
            none = Note("minimal_pairs.none-varies", lost=lost, of=len(within), noun=noun)
            return Estimate(MEAN.format(measure, noun), np.nan, 0, level=self.probe.level, notes=(none,))
        used = np.any([chosen for chosen, has in zip(inside.values(), known, strict=True) if has], axis=0)
        each = (~np.isnan(judged[:, used])).sum(axis=1)
        found = mean_over_raters(whole, without, level=self.probe.level, noun=noun, bounds=(-1, 1), judged=each)
        vary = Note("minimal_pairs.vary-too-little", lost=lost, of=len(within), noun=noun) if lost else None
        return replace(found, measure=MEAN.format(measure, noun), n=int(used.sum())).noted(vary)

    def _within(self, delta: Array, judged: Array, *, ranks: bool) -> Estimate:
        """Return the correlation of `delta` and judgements over the pairs of one paradigm, or NaN with a note.

        `delta` has the model's score differences. The correlation is Spearman's if `ranks`, otherwise Pearson's.
        """
        nothing = Estimate("", np.nan, len(delta), level=self.probe.level)
        if few := _too_few(delta, judged):
            return nothing.noted(few)
        settings = {"seed": self.probe.seed, "resamples": self.probe.resamples}
        return correlation(
            delta, judged, ranks=ranks, level=self.probe.level, noun="pairs", most_lost=MOST_LOST, **settings
        )


def _counts(judged: Array) -> NDArray[np.int64]:
    """Return the numbers of raters who chose the bad and the good sentence of each pair, shape (pairs, 2)."""
    counts: NDArray[np.int64] = np.stack([(judged < 0).sum(axis=0), (judged > 0).sum(axis=0)], axis=1).astype(np.int64)
    return counts


def _ties(code: str, tied: NDArray[np.bool_]) -> Note | None:
    ties = int(np.count_nonzero(tied))
    return Note(code, ties=ties) if ties else None


def _too_few(delta: Array, judged: Array) -> Note | None:
    """Return a note if there are too few pairs, or too few values other than the mode, for a correlation."""
    few = {"least": FEWEST} if len(delta) < FEWEST else {}
    apart = {"judged": _apart(mean_judgements(judged)), "scored": _apart(delta)}
    few |= {what: number for what, number in apart.items() if number < FEWEST_APART}
    return Note("minimal_pairs.not-estimated", pairs=len(delta), **few) if few else None


def _apart(values: Array) -> int:
    """Return the number of values that differ, beyond rounding, from the most common value."""
    _, times = np.unique(np.round(values, 9), return_counts=True)
    return len(values) - int(times.max(initial=0))
