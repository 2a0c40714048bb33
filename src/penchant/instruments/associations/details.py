"""Detail tables of association tests. Rendering only: every number comes from a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from penchant.instruments.associations.combination import FIRST, FURTHER, I2, PUBLISHED, TAU
from penchant.instruments.associations.control import BEYOND
from penchant.instruments.associations.estimates import BY_SENTENCE, SIDES
from penchant.instruments.associations.frames import (
    FACTORS,
    by_category,
    context_name,
    families,
    only,
    probe,
    several,
    stacked,
    where,
    with_factors,
)
from penchant.instruments.associations.logprob_estimates import ASSOCIATION, OF_TEMPLATE, SCORES, difference
from penchant.records import Result
from penchant.report.tables import Number, P, Row, Table, estimate, models
from penchant.stats.association import effect_size
from penchant.stats.templates import SD, SHARE

FEW = 3
"""Number of most influential stimuli listed for each category and model."""
_SHOWN = 4
"""Number of words of a set that are listed."""

Grouped = dict[tuple[str, ...], dict[str, dict[str, Any]]]


def details(results: Sequence[Result]) -> list[Table]:
    """The tables of an instrument besides its effect sizes."""
    makers = {
        "weat": (_influence,),
        "seat": (_by_sentence, _influence),
        "ceat": (_published, _first_samples, _influence),
        "logprob-bias": (_scores, _attributes),
    }[probe(results)]
    return [replace(table(results), detail=True) for table in makers]


def over_templates(results: Sequence[Result]) -> list[Table]:
    """How far effect sizes differ between the templates of a structure, where it has several."""
    whole = stacked(results, SD, SHARE, OF_TEMPLATE)
    if not len(whole):
        return []
    keys, heads = _heads(whole, "logprob-bias")
    rows = []
    for key, part in whole.group_by(keys, maintain_order=True):
        named = {row["measure"]: row for row in part.iter_rows(named=True)}
        each = part.filter(pl.col("measure") == OF_TEMPLATE).sort("value", nulls_last=True)
        ends = [
            f"{row['value']:.2f} '{row['stimulus']}'" for row in (each.row(0, named=True), each.row(-1, named=True))
        ]
        spread, share = estimate(named[SD]), estimate(named[SHARE], ".0f", scale=100)
        rows.append(Row((*map(str, key), len(each), spread, share, *ends), named[SD]["signature"]))
    note = (
        "d in every template by itself: its standard deviation over templates, the share of the variance of the "
        "associations of attributes that lies between templates, and the templates of the least and the largest d. An "
        "effect that one template makes is an effect of that template."
    )
    columns = (*heads, "templates", SD, "of variance, %", "least", "largest")
    return [Table("over-templates", "Effect sizes over templates", columns, tuple(rows), note)]


def beyond(results: Sequence[Result]) -> list[Table]:
    """Effect sizes minus those of the controls, where a category names one."""
    whole = stacked(results, BEYOND)
    if not len(whole):
        return []
    keys, heads = _heads(whole, probe(results))
    rows = tuple(
        Row(
            (*(row[key] for key in keys), row["n"], estimate(row, "+.2f"), P(row["p"]), P(row["p_holm"])),
            row["signature"],
        )
        for row in whole.iter_rows(named=True)
    )
    note = (
        "d of a category minus d of its control, in which nobody expects the bias: what is left is not the way that "
        "this model tells any two such lists apart. Lists that both have are resampled together. Holm's adjustment is "
        f"over {families(whole, probe(results))} of a model that have a control."
    )
    columns = (*heads, "n", "d − control", "p", "p (Holm)")
    return [Table("beyond-control", "Effect sizes minus those of the control", columns, rows, note)]


def _grouped(frame: pl.DataFrame, keys: Sequence[str]) -> Grouped:
    """The estimates by the values of `keys` and by measure."""
    grouped: Grouped = {}
    for row in frame.iter_rows(named=True):
        grouped.setdefault(tuple(row[key] for key in keys), {})[row["measure"]] = row
    return grouped


def _heads(frame: pl.DataFrame, name: str, *more: str) -> tuple[list[str], list[str]]:
    """The fields that identify a row, and their column heads."""
    keys = ["category", *(["label"] if any(frame["label"]) else []), "who", *several(frame), *more]
    names = {"label": "stimuli", "who": "model", "context": context_name(name), "side": "set", "stimulus": "attribute"}
    return keys, [names.get(key, key) for key in keys]


def _by_sentence(results: Sequence[Result]) -> Table:
    whole = stacked(results, BY_SENTENCE)
    keys, heads = _heads(whole, "seat")
    rows = tuple(
        Row((*(row[key] for key in keys), row["n"], estimate(row), P(row["p"]), P(row["p_holm"])), row["signature"])
        for row in whole.iter_rows(named=True)
    )
    note = (
        "The same effect sizes; p as if sentences with the same word were independent, which they hardly are. Holm's "
        f"adjustment is over {families(whole, 'seat')} of a model."
    )
    columns = (*heads, "sentences", "d", "p", "p (Holm)")
    return Table("by-sentence", "The test of older tools: every sentence by itself", columns, rows, note)


def _published(results: Sequence[Result]) -> Table:
    whole = stacked(results, PUBLISHED, TAU, I2, FURTHER)
    keys, heads = _heads(whole, "ceat")
    rows = []
    for key, by_measure in _grouped(whole, keys).items():
        combined, further = by_measure[PUBLISHED], by_measure[FURTHER]
        spread = (Number(by_measure[TAU]["value"]), Number(100 * by_measure[I2]["value"], form=".0f"))
        around = Number(low=further["low"], high=further["high"])
        tests = (P(combined["p"]), P(combined["p_holm"]))
        rows.append(Row((*key, combined["n"], estimate(combined), *tests, *spread, around), combined["signature"]))
    note = (
        "Interval and p by the standard error of the random-effects combination, as published: they shrink with the "
        "number of samples N, which are no independent studies. τ: sd between samples beyond what d varies over other "
        "stimuli, I²: its share, both in the units of d and 0 where sentences move d less than stimuli would; a "
        "further sample: where the effect size of one more lies, all that samples differ by included. "
        f"Holm's adjustment is over {families(whole, 'ceat')} of a model, samplings and numbers of samples apart."
    )
    columns = (*heads, "N", "CES", "p", "p (Holm)", "τ", "I² in %", "a further sample")
    return Table("published", "The combination as published", columns, tuple(rows), note)


def _first_samples(results: Sequence[Result]) -> Table:
    whole = stacked(results, FIRST)
    shown = only(whole, "sampling", "samples")
    keys, heads = _heads(shown, "ceat")
    rows = tuple(
        Row((*(row[key] for key in keys), row["n"], estimate(row), P(row["p"])), row["signature"])
        for row in shown.iter_rows(named=True)
    )
    title = ", ".join(["Effect sizes of the first samples", *where(whole, "ceat", "sampling", "samples")])
    note = "As published, of the first n samples: how interval and p shrink with n alone. p is not adjusted."
    return Table("first-samples", title, (*heads, "n", "CES", "p"), rows, note)


def _influence(results: Sequence[Result]) -> Table:
    """The stimuli whose removal changes the effect size most."""
    rows = []
    for model, result in zip(models(results), results, strict=True):
        for category, label, items in by_category(result):
            whole = _of_means(items, int(result.signature["ddof"]))
            name = "text" if result.signature.get("unit") == "sentence" else "word"
            each = (  # the sentences of a word are averaged where the word is the unit
                items.drop_nulls("without")
                .group_by("side", name, "without", maintain_order=True)
                .agg(pl.col("association").mean())
                .sort((pl.col("without") - whole).abs(), descending=True, maintain_order=True)
            )
            for row in each.head(FEW).iter_rows(named=True):
                numbers = (Number(row["association"], form="+.3f"), Number(whole), Number(row["without"]))
                rows.append(Row((category, label, model, row["side"], row[name], *numbers), str(result.signature)))
    note = (
        f"For every category and model the {FEW} that matter most. association: of a target with A rather than B, of "
        "an attribute with X rather than Y."
    )
    if probe(results) == "ceat":
        note += " d is here that of the mean associations, which is mostly larger than that of single samples."
    first = with_factors(results[0].items)
    title = ", ".join(["Stimuli without which the effect size differs most", *where(first, probe(results), *FACTORS)])
    columns = ("category", "stimuli", "model", "set", "stimulus", "association", "d", "d without it")
    return Table("influence", title, columns, tuple(rows), note)


def _of_means(items: pl.DataFrame, ddof: int) -> float:
    """The effect size of the associations in the items, the one to compare `without` with."""
    x, y = (items.filter(pl.col("side") == side)["association"] for side in "XY")
    return effect_size(x.to_numpy(), y.to_numpy(), ddof=ddof)


def _scores(results: Sequence[Result]) -> Table:
    whole = stacked(results, *map(difference, SCORES))
    keys, heads = _heads(whole, "logprob-bias", "side")
    rows = []
    for key, by_measure in _grouped(whole, keys).items():
        numbers = [estimate(by_measure[difference(score)], "+.2f") for score in SCORES]
        first = by_measure[difference(SCORES[0])]
        rows.append(Row((*key, first["n"], *numbers), first["signature"]))
    note = (
        "Mean score of the first set of targets minus that of the second, over one set of attributes at a time, "
        "natural logarithm. fill: the target masked; prior: target and attribute masked; corrected: fill minus prior. "
        "Intervals resample attributes and targets."
    )
    title = "Differences of scores between the two sets of targets"
    return Table("scores", title, (*heads, "n", *SCORES), tuple(rows), note)


def _attributes(results: Sequence[Result]) -> Table:
    whole = stacked(results, ASSOCIATION)
    shown = only(whole, "context")
    keys, heads = _heads(shown, "logprob-bias", "side", "stimulus")
    rows = tuple(
        Row((*(row[key] for key in keys), estimate(row, "+.3f")), row["signature"])
        for row in shown.iter_rows(named=True)
    )
    note = (
        "Mean corrected score of the first set of targets minus that of the second: above 0 the attribute makes the "
        "first more probable."
    )
    title = ", ".join(["Associations of single attributes", *where(whole, "logprob-bias", "context")])
    return Table("attributes", title, (*heads, "association"), rows, note)


def sets(results: Sequence[Result]) -> Table:
    """The words of the sets X, Y, A and B."""
    columns = [("side", "word")]
    if probe(results) == "logprob-bias":
        columns = [("target_side", "target"), ("attribute_side", "attribute")]
    labels: dict[str, str] = {}
    words_of: dict[str, dict[str, dict[str, None]]] = {}
    for result in results:
        for side, word in columns:
            words = result.items.select("category", "label", side, word).unique(maintain_order=True)
            for category, label, set_name, stimulus in words.iter_rows():
                labels[category] = label if label != category else ""
                words_of.setdefault(category, {name: {} for name in SIDES})[set_name][stimulus] = None
    named = any(labels.values())
    rows = tuple(
        Row((category, *([labels[category]] if named else []), *(_listed([*words_by_set[side]]) for side in SIDES)))
        for category, words_by_set in words_of.items()
    )
    heads = ("category", "stimuli") if named else ("category",)
    note = "Those that at least one model has."
    return Table("sets", "The sets of stimuli", (*heads, *SIDES), rows, note, detail=True)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (f" … ({len(words)} words)" if len(words) > _SHOWN else "")
