"""What people judged of the pairs in words: the finding, how it was made, and what it can show. Every number comes from
a result. All are empty where nobody judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from penchant.instruments.minimal_pairs.fixed import AS_THEY_ARE, capital, is_fixed, levels_of, these
from penchant.instruments.minimal_pairs.human_estimates import (
    AGAINST_MAJORITY,
    ALPHAS,
    CEILING,
    MINUS_PEOPLE,
    RAW,
    kind_of,
    lone,
)
from penchant.instruments.minimal_pairs.human_section import DELTA, judged, rows_about
from penchant.instruments.minimal_pairs.sets import by_set
from penchant.records import Result
from penchant.report.finding import MOST, Shown, measured, sentences
from penchant.report.tables import models

_POINTS = Shown("+.1f", "pairs", " points", 100, 0, (-1, 1))
_SHARE = Shown(".1f", "pairs", "%", 100, 0.5)
_ALPHA = Shown("+.2f", "pairs")


def finding(results: Sequence[Result]) -> list[str]:
    """How often each model prefers what most raters prefer, and the raters' own ceiling; of the first score."""
    results = judged(results)
    texts: list[str] = []
    sets = by_set(results)
    names = list(sets)
    for name in names[:MOST]:
        having = sets[name]
        own = [(model, _overall(result, name)) for model, result in zip(models(having), having, strict=True)]
        known = [(model, rows[AGAINST_MAJORITY]) for model, rows in own if AGAINST_MAJORITY in rows]
        if not known or not measured([row for _, row in known]):
            continue
        several = len(names) > 1
        fixed = [(model, _first(rows, f"{AGAINST_MAJORITY}, ")) for model, rows in own]
        who = _who(having[0], name, own[0][1])
        start = f"{f'{name}: the' if several else 'The'} sentence that {who[0]} is more probable"
        texts += levels_of(start, known, fixed, _SHARE, place=name if several else "")
        texts += _minus_people(own, f"{name}: the" if several else "The", name if several else "", who[1])
        agreement = _agreement(own[0][1])
        texts.append(f"{name}: {agreement}" if several and agreement else agreement)
        ceiling = _first(own[0][1], f"{CEILING}, ") or own[0][1].get(CEILING)
        if ceiling and measured([ceiling]):
            over = these([ceiling]) if is_fixed(ceiling["measure"]) else ""
            agrees = f"a rater agrees with the majority of the others in {_SHARE.number(ceiling)}"
            texts.append(capital(f"{over}, {agrees}" if over else agrees))
    return sentences(*texts)


def _who(result: Result, name: str, own: Mapping[str, Any]) -> tuple[str, str]:
    """Who prefers a sentence, and who does so, with the verb: most of several raters, or the one that pairs have."""
    if not lone(result.items.filter(pl.col("dataset") == name)):
        raters = int(own[AGAINST_MAJORITY]["raters"])
        return f"most of {raters} raters prefer", "most raters do"
    if int(own[AGAINST_MAJORITY]["raters"]) == 1:
        return "the rater (one) prefers", "the rater does"
    return "one rater prefers (most pairs have one)", "one rater does"


def _agreement(own: Mapping[str, Any]) -> str:
    """How many raters there are and how far they agree: α, and of choices how often two choose the same sentence."""
    alpha = _first(own, "Krippendorff")
    if alpha is None or not measured([alpha]):
        return ""
    told = f"{int(alpha['raters'])} raters agree with Krippendorff's α {_ALPHA.number(alpha)}"
    raw = own.get(RAW)
    same = f"; two raters of a pair choose the same sentence in {_SHARE.number(raw)}" if raw and measured([raw]) else ""
    return f"{told}{same}"


def _minus_people(own: Sequence[tuple[str, Mapping[str, Any]]], start: str, place: str, who: str) -> Iterator[str]:
    """How much more or less often each model prefers the acceptable sentence than people do, `who` in words."""
    rows = [(model, rows[MINUS_PEOPLE]) for model, rows in own if MINUS_PEOPLE in rows]
    fixed = [(model, _first(rows, f"{MINUS_PEOPLE}, ")) for model, rows in own]
    told = f"{start} share of pairs in which the model prefers the acceptable sentence, minus that in which {who}"
    yield from levels_of(told, rows, fixed, _POINTS, "0", place=place)


def _overall(result: Result, name: str) -> dict[str, dict[str, Any]]:
    """The estimates of a data set about judgements, by measure; of models by the first score."""
    found: dict[str, dict[str, Any]] = {}
    for scope in ("overall", AS_THEY_ARE):
        for row in rows_about(result.summary, scope).filter(pl.col("dataset") == name).iter_rows(named=True):
            found.setdefault(row["measure"], row)
    return found


def _first(rows: Mapping[str, dict[str, Any]], start: str) -> dict[str, Any] | None:
    return next((row for measure, row in rows.items() if measure.startswith(start)), None)


def methods(results: Sequence[Result]) -> list[str]:
    """How people's judgements were used."""
    results = judged(results)
    if not results:
        return []
    kind = kind_of(results[0].items) or "choices"
    asked = (
        "chose the better sentence of each pair"
        if kind == "choices"
        else "rated both sentences of each pair; who rates the acceptable one higher prefers it"
    )
    return [
        f"Raters {asked}. Human accuracy is the share of pairs of which most raters prefer the acceptable sentence, a "
        "tied majority counting one half; it is taken from the share of the same pairs in which the model does. A "
        "model is held against the majority where that is not tied. Its ceiling is each rater against the majority of "
        "the other raters, over pairs that three or more judged, averaged over raters. Δhuman is "
        f"{DELTA[kind]}; Δmodel is the difference of the scores. They are correlated within each paradigm, and over "
        "several the mean of those correlations is given. Raters are a sample, as the pairs are: both are drawn, each "
        "independently of the other [@owen2007]. The truth of a correlation is what as many other raters would give. "
        f"Agreement is {ALPHAS[kind]} over {'choices' if kind == 'choices' else 'differences of ratings'} "
        f"[@krippendorff2019]{_RAW_TOLD if kind == 'choices' else ''}. Pairs that nobody judged are left out and "
        "counted.",
    ]


_RAW_TOLD = f"; {RAW} is the share of such raters who chose the same sentence, averaged over pairs"


def limits(results: Sequence[Result]) -> list[str]:
    """What the judgements can and cannot show."""
    if not judged(results):
        return []
    return [
        "Raters are compared with each other under one rater less than the model is: the ceiling is an orientation, "
        "not a bound, and a model may exceed it. Where nearly all raters choose the same sentence, correlations and "
        "Krippendorff's alpha have little to go by, and are low although people agree."
    ]
