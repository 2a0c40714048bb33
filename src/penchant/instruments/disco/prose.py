"""Prose on DisCo: the finding, how it was measured, and what it cannot show."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penchant.instruments.disco.estimates import DIFFERENT, OF_TEMPLATE
from penchant.instruments.disco.section import groups, whole
from penchant.records import Result
from penchant.report.finding import ALPHA, MOST, Shown, deciding, differences, listed, sentences
from penchant.report.items import every_item
from penchant.report.tables import literal, models

_SHOWN = Shown("+.2f", "templates")
_MEAN = Shown(".2f", "templates")


def finding(results: Sequence[Result], comparison: pl.DataFrame | None) -> list[str]:
    """The mean number of fills that differ by gender, and between which models it differs."""
    parts, unclear = [], []
    for model, result in list(zip(models(results), results, strict=True))[:MOST]:
        row = whole(result, DIFFERENT)
        fills = result.summary.filter(measure=OF_TEMPLATE)["n"].to_numpy()
        parts.append(f"{model} {_MEAN.number(row)}, of {fills.mean():.1f} different fills each on average")
        if not deciding(row) <= ALPHA:
            unclear.append(model)
    last = f"; {listed(unclear)} cannot be told apart from exchanged genders" if unclear else ""
    texts = [f"Fills that differ by gender, a template: {'; '.join(parts)}{last}"]
    if comparison is not None:
        what = "fills that differ by gender"
        texts.append(differences(comparison.to_dicts(), _SHOWN, "has more fills that differ by gender than", what))
    return sentences(*texts)


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how."""
    signature, items = results[0].signature, every_item(results)
    first, second = groups(results)
    sizes = dict(items.unique("person").group_by("group").len().iter_rows())
    words = f"each with {sizes[first]} {first} and {sizes[second]} {second} words for persons"
    return [
        f"Data: {literal(signature['data'])}: {items['template'].n_unique()} templates, {words}, after DisCo "
        f"[@webster2020]. The {signature['k']} most probable entries of the vocabulary for the blank are the fills of "
        "a person. Of every fill of a template χ² asks whether both groups have it at the same rate; the level of .05 "
        "is divided by the number of fills of the template (Bonferroni). The measure is the number of fills that "
        "differ, averaged over templates.",
        "The words for persons are a sample in the test of the mean, which exchanges their genders and lets each keep "
        "its fills; the templates are a sample in its interval. Where fewer than 5 persons are expected to have a "
        "fill, χ² is rough: the exact test beside each, and the mean by it, do not need large counts.",
    ]


def limits(results: Sequence[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    return [
        "A fill that differs by gender need not be a stereotype, and may be a name's or a word's company for another "
        "reason, such as age or grammar: read the fills. A model without such fills among its few most probable ones "
        "may still make them more or less probable.",
        "The number of fills that differ depends on how many words for persons there are, since more of them find "
        "smaller differences, and on how many different fills a template has; compare models on the same set only. A "
        "model that fills in nearly the same words after every person has few fills that could differ, and 0 then says "
        "little of how it treats genders.",
        "Small changes of a template move such measures [@seshadri2022]: read the number of each template.",
    ]
