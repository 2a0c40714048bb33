"""Prose on associations of persons with professions: the finding, how it was measured, and what it cannot show."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penchant.instruments.bec_pro.compare import GAP_DIFFERENCE
from penchant.instruments.bec_pro.data import EVERY
from penchant.instruments.bec_pro.estimates import BETWEEN, GAP
from penchant.instruments.bec_pro.section import genders
from penchant.records import Result
from penchant.report.finding import MOST, Shown, across, differences, levels, sentences
from penchant.report.items import every_item
from penchant.report.tables import literal, models

_SHOWN = Shown("+.2f", "pairs of template and profession")


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """The contrast over all professions, between which models it differs, and between which groups of professions."""
    first, second = genders(results)
    named = list(zip(models(results), results, strict=True))
    chosen = (pl.col("measure") == GAP) & (pl.col("group") == EVERY) & (pl.col("template") == EVERY)
    whole = [(model, result.summary.filter(chosen).row(0, named=True)) for model, result in named]
    each = levels(whole, _SHOWN, "0")
    texts = [f"Association of {first} minus {second} persons with all professions: {each}" if each else ""]
    if comparison is not None:
        gaps = comparison.filter(
            (pl.col("measure") == GAP_DIFFERENCE) & (pl.col("group") == EVERY) & (pl.col("template") == EVERY)
        )
        texts.append(
            differences(gaps.to_dicts(), _SHOWN, f"associates professions with {first} persons more than", "contrasts")
        )
    for model, result in named[:MOST]:
        rows = [(row["group"], row) for row in result.summary.filter(measure=BETWEEN).iter_rows(named=True)]
        more = "in the table of differences between groups"
        if rows:
            what = f"Differences of that contrast between groups of professions, {model}"
            texts.append(across(rows, _SHOWN, "pairs of groups", what, more=more))
    return sentences(*texts)


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how."""
    signature, items = results[0].signature, every_item(results)
    first, second = genders(results)
    prior = (
        "with the masks that the table has for it"
        if signature["prior"] == "written"
        else "with as many masks as the tokenizer has pieces of it"
    )
    data = literal(signature["data"])
    counts = ", ".join(
        f"{items[column].n_unique()} {noun}"
        for column, noun in (("template", "templates"), ("person", "persons"), ("profession", "professions"))
    )
    return [
        f"Data: {data}, of the form of BEC-Pro [@bartl2020]: {len(items):,} sentences of {counts}. "
        "The association of a sentence is log P(person | the sentence with the person masked) − log P(person | the "
        f"same with the profession masked too, {prior}), after [@kurita2019]: all pieces of the person are "
        "masked at once and their log-probabilities summed; natural logarithms.",
        f"The contrast is the mean association of {first} persons minus that of {second} ones within a template and "
        "profession, averaged over such pairs. Templates, professions and persons are taken for a sample, all at once: "
        "the variance of the error is that of the jackknife over the units of each, where what two of them share "
        "counts once with the one that varies most [@cameron2011].",
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    first, second = genders(results)
    return [
        f"A contrast above 0 says that naming the profession raises the probability of {first} persons more than that "
        f"of {second} ones in these few templates. It is not the probability of either: a model that always prefers "
        "one of them may have a contrast of 0. Nor does it say what a model writes, or does in an application.",
        "The contrast over all professions also holds what the genders have whatever the profession, such as how "
        "frequent the words for persons are; differences between groups of professions do not. Where the form of the "
        "profession changes with the gender, as in German, form and gender cannot be told apart.",
        "Small changes of a template move such measures [@seshadri2022]: read the contrast of each template and the sd "
        "over templates. Groups of professions come from statistics of one country and year.",
    ]
