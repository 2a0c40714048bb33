"""Estimates from scored sentences and their mean ratings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant.engine.normalisations import FREQUENCY, PREFIXED, normalise
from penchant.instruments.acceptability.morcela import BETA, GAMMA, Folded, MorcelaFit, cross_validated, fit, parameter
from penchant.instruments.acceptability.settings import PEARSON, AcceptabilitySettings
from penchant.records import Estimate
from penchant.stats.agreement import interval_alpha
from penchant.stats.correlations import correlation, correlation_difference
from penchant.stats.hypothesis_tests import with_holm
from penchant.stats.inputs import Array, Codes
from penchant.wording.phrases import Note
from penchant.wording.templates import Text

_WORDS = Text.of(Path(__file__).parent).below("cautions")
MORCELA = "morcela"
"""Name of the score whose parameters are fitted to the judgements."""
SPEARMAN = "Spearman's ρ with judgements"
CORRELATIONS = {PEARSON: False, SPEARMAN: True}
"""Names of the correlations; the value is true for rank correlation."""
BETWEEN_SCORES = f"difference between scores of {PEARSON}"
ALPHA = "Krippendorff's alpha (interval)"
SENTENCES = "sentences"
PARAMETERS = (BETA, GAMMA)
FEW_RATERS = 3


def folded(items: pl.DataFrame, settings: AcceptabilitySettings) -> Folded:
    """Return the sentences with their out-of-fold MORCELA scores."""
    score, unigrams, tokens, judged = (items[name].to_numpy() for name in ("score", "unigrams", "n_tokens", "rating"))
    return Folded.of(score, unigrams, tokens, judged, folds_of(items, settings))


def values_of(items: pl.DataFrame, how: str, settings: AcceptabilitySettings) -> tuple[Array, Note | None]:
    """Return the score called `how` of each sentence, and a note if it cannot be computed."""
    if how == MORCELA:
        made = folded(items, settings)
        return made.scores, made.reason
    unigrams = items["unigrams"].to_numpy() if how in FREQUENCY else None
    neutral = items["neutral"].to_numpy() if how in PREFIXED else None
    score, tokens = items["score"].to_numpy(), items["n_tokens"].to_numpy()
    return normalise(score, tokens, how, unigrams=unigrams, neutral=neutral), None


def folds_of(items: pl.DataFrame, settings: AcceptabilitySettings) -> Codes:
    """Return the fold of each sentence, from a hash of the seed and the text; fold sizes differ by at most one."""
    keys = [
        hashlib.sha256(f"{settings.seed}\0{prefix}\0{sentence}".encode()).digest()
        for prefix, sentence in items.select("prefix", "sentence").iter_rows()
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    folds = np.empty(len(keys), dtype=np.intp)
    folds[order] = np.arange(len(keys)) % settings.folds
    return folds


def fitted(items: pl.DataFrame) -> MorcelaFit:
    """Return the fit of β and γ to all sentences."""
    return fit(*(items[name].cast(pl.Float64).to_numpy() for name in ("score", "unigrams", "n_tokens", "rating")))


def estimates_of(items: pl.DataFrame, settings: AcceptabilitySettings) -> Iterator[Estimate]:
    """Yield correlations of scores with judgements, their differences, MORCELA's parameters, and rater agreement."""
    judged = items["rating"].to_numpy()
    hows = settings.normalisations()
    plain = {how: values_of(items, how, settings)[0] for how in hows if how != MORCELA}
    drawn: dict[str, Any] = {"seed": settings.seed, "resamples": settings.resamples}
    named: dict[str, Any] = {"level": settings.level, "noun": SENTENCES}
    fitted_out = folded(items, settings) if MORCELA in hows else None
    for how in hows:
        for measure, ranks in CORRELATIONS.items():
            if how == MORCELA and fitted_out is not None:
                estimate = cross_validated(fitted_out, ranks=ranks, **named)
                out_of_fold = None if fitted_out.reason else Note("acceptability.out-of-fold", folds=settings.folds)
                estimate = estimate.noted(out_of_fold, first=True)
            else:
                estimate = correlation(plain[how], judged, ranks=ranks, **drawn, **named)
            yield replace(estimate, measure=measure, by={"score": how})
    if fitted_out is not None:
        whole = fitted(items)
        yield from (replace(parameter(whole, each, level=settings.level), by={"score": MORCELA}) for each in PARAMETERS)
    gaps = []
    for b, a in combinations(plain, 2):
        found = correlation_difference(judged, plain[a], plain[b], **drawn, **named)
        gaps.append(replace(found, measure=BETWEEN_SCORES, by={"score": f"{a} − {b}"}))
    if fitted_out is not None:
        for b, scores in plain.items():
            found = cross_validated(fitted_out, other=scores, **named)
            gaps.append(replace(found, measure=BETWEEN_SCORES, by={"score": f"{MORCELA} − {b}"}))
    yield from with_holm(gaps, lambda estimate: BETWEEN_SCORES)
    if items["ratings"].list.len().max() != 1:
        units = [np.array(each, dtype=np.float64) for each in items["ratings"].to_list()]
        yield replace(interval_alpha(units, level=settings.level, **drawn), measure=ALPHA, by={"score": ""})


def cautions_of(items: pl.DataFrame, estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yield cautions about unseen tokens, few raters, and uninterpretable MORCELA parameters."""
    if "unseen" in items.columns and (unseen := int(items["unseen"].sum())):
        yield _WORDS.get("unseen", n=unseen, of=int(items["n_tokens"].sum()))
    each = items["ratings"].list.len()
    if (few := int((each < FEW_RATERS).sum())) and each.max() != 1:
        yield _WORDS.get("few-ratings", n=few, of=len(items), least=FEW_RATERS)
    if any(estimate.measure == BETA for estimate in estimates) and not (whole := fitted(items)).reason:
        if whole.coefficients[1] <= 0:
            yield _WORDS.get("no-meaning")
        if (lengths := items["n_tokens"].n_unique()) < 3:
            yield _WORDS.get("few-lengths", n=lengths)
