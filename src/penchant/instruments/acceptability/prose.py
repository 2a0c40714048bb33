"""Prose on acceptability: the finding, how it was measured, and what it cannot show."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penchant.instruments.acceptability.estimates import BETWEEN_SCORES, MORCELA, PARAMETERS, PEARSON, SENTENCES
from penchant.records import Result
from penchant.report.finding import Shown, differences, levels, sentences, told
from penchant.report.items import every_item
from penchant.report.tables import literal, models

_SHOWN = Shown("+.2f", SENTENCES)
_METHODS = {
    "lp": "the sum of the log-probabilities of its tokens, each given those before it",
    "pll": "its pseudo-log-likelihood: every token masked in turn, the log-probabilities of the hidden tokens summed "
    "[@salazar2020]",
    "pll-word-l2r": "its pseudo-log-likelihood with the later pieces of a token's word masked too [@kauf2023]",
    "aul": "the mean log-probability of its tokens, none of them masked [@kaneko2022]",
    "aula": "the mean log-probability of its tokens, none of them masked, weighted by the attention they receive "
    "[@kaneko2022]",
}
_SCORES = {
    "none": "the score as it is",
    "mean": "divided by the number of tokens",
    "pen": "divided by ((5 + tokens)/6)^α, α = 0.8 [@lau2020]",
    "slln": "divided by tokens^α, α = 0.5 [@liu2026]",
    "slor": "less the log-probability of the tokens as unigrams, divided by the number of tokens "
    "[@pauls2012; @lau2017]",
    "pmi": "less that of the same tokens without the prefix (pointwise mutual information) [@holtzman2021]",
    MORCELA: "(log p − β·log u + γ)/tokens, where u is the probability of the tokens as unigrams [@tjuatja2025]",
}


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """The correlation of the best score that needs the least, MORCELA's gain over SLOR, and differences of models."""
    named = list(zip(models(results), results, strict=True))
    how = MORCELA if any(MORCELA in result.signature["normalise"].split(",") for result in results) else ""
    texts = []
    for each in dict.fromkeys((results[0].signature["normalise"].split(",")[0], how)):
        rows = [
            (model, row)
            for model, result in named
            for row in result.summary.filter(measure=PEARSON, score=each).iter_rows(named=True)
        ]
        if each and (said := levels(rows, _SHOWN, "0")):
            texts.append(f"Pearson's r of `{each}` with judgements: {said}")
    for model, result in named:
        texts.append(_gain(model, result))
        texts.append(_beta(model, result))
    if comparison is not None:
        last = str(comparison["score"][-1])
        gaps = comparison.filter(score=last).iter_rows(named=True)
        texts.append(differences(gaps, _SHOWN, "goes with judgements more closely than", f"Pearson's r of `{last}`"))
    return sentences(*texts)


def _gain(model: str, result: Result) -> str:
    """What MORCELA gains over SLOR."""
    rows = result.summary.filter(measure=BETWEEN_SCORES, score=f"{MORCELA} − slor").to_dicts()
    if not rows:
        return ""
    (row,) = rows
    number = _SHOWN.number(row)
    if not told(row):
        return f"{model}: MORCELA and SLOR cannot be told apart: difference of r {number}"
    return f"{model}: {'MORCELA' if row['value'] > 0 else 'SLOR'} goes with judgements more closely: {number}"


def _beta(model: str, result: Result) -> str:
    """Whether frequency counts as SLOR has it."""
    rows = result.summary.filter(measure=PARAMETERS[0]).to_dicts()
    if not rows or rows[0]["value"] != rows[0]["value"] or rows[0]["low"] != rows[0]["low"]:
        return ""
    (row,) = rows
    number = Shown(".2f", SENTENCES, null=1).number(row)
    if not told(row, 1):
        return f"{model}: MORCELA's β {number}, which cannot be told apart from SLOR's 1"
    return f"{model}: MORCELA's β {number}: frequency counts {'less' if row['value'] < 1 else 'more'} than SLOR has it"


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    first = results[0]
    names = dict.fromkeys(result.signature["method"] for result in results)
    hows = dict.fromkeys(how for result in results for how in result.signature["normalise"].split(","))
    ways = "; or ".join(f"`{name}`, {_METHODS[name]}" for name in names)
    made = "; ".join(f"`{how}`, {_SCORES[how]}" for how in hows)
    items = every_item(results)
    ratings = items["ratings"].list.len()
    raters = items["raters"].explode().n_unique()
    told = f"{ratings.sum():,} ratings by {raters:,} raters" if ratings.max() != 1 else "one rating each"
    texts = [
        f"Data: {literal(first.signature['data'])}: {len(items):,} sentences, {told}. What was judged of a "
        f"sentence is the mean of its ratings. The score of a sentence is {ways}. It is held against the judgements "
        f"as {made}. Special tokens are context and never scored.{_prefixed(results)}"
    ]
    if "unigrams" in items.columns:
        tables = "; ".join(f"{literal(r.signature['model'])}: {literal(r.signature['unigrams'])}" for r in results)
        texts.append(
            "Unigrams were counted in a text with the tokenizer of each model; one is added to every count, so that "
            f"tokens that never occur have a probability, too. The tables: {tables}."
        )
    if MORCELA in hows:
        texts.append(
            "β and γ are those with which the score goes with the judgements most closely, by least squares of the "
            "judgement on log p/n, log u/n and 1/n, n being the number of tokens. They are shown as fitted to all "
            "sentences. The scores that are correlated are made without the sentence itself: sentences are divided "
            f"into {first.signature['folds']} parts, and those of each are scored with β and γ of the others. The "
            "intervals of these correlations are those of everything done anew without each sentence."
        )
    return texts


def _prefixed(results: Sequence[Result]) -> str:
    if not any((result.items["prefix"] != "").any() for result in results):
        return ""
    return " A sentence with a prefix is scored given it: the prefix is read, and not scored."


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    texts = [
        "A correlation is one with these judgements: ratings of few raters are noisy, and weaken it. The intervals are "
        "for other sentences of the kind, and these raters.",
        "Sentences that share most of their words, such as those of a minimal pair, are not independent; intervals "
        "over them are then too narrow, and MORCELA is tested on sentences much like those it was fitted to.",
        "People's ratings go with plausibility and with how easily a sentence is read, too. That a score goes with "
        "them does not say that a model knows the grammar.",
    ]
    if any(MORCELA in result.signature["normalise"].split(",") for result in results):
        texts.append(
            "β and γ belong to a model, its tokenizer, the text of the unigrams, and the scale of ratings' "
            "relation to it; they compare between models only with the same text and the same sentences. MORCELA has "
            "seen judgements of the same kind, which the other scores have not."
        )
    return texts
