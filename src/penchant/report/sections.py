"""What each instrument shows. Rendering only: every number comes from a result.

A section is made of tables, figures and items. The terminal, the page, the exports and the notebook all show the same
section, each in its own form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from penchant.records import Result
from penchant.report import cloze, pairs, values
from penchant.report.figures import Figure
from penchant.report.items import ItemTable
from penchant.report.tables import Table


@dataclass(frozen=True, slots=True)
class Section:
    """What an instrument shows of the results of several models.

    `tables` come with the headline first; `compared` are the tables of differences between models; `methods` are
    paragraphs that cite as `[@key]` (see `penchant.report.references`), `limits` say what the numbers can and cannot
    mean.
    """

    title: str
    question: str
    tables: Callable[[Sequence[Result]], list[Table]]
    compared: Callable[[pl.DataFrame], list[Table]]
    figures: Callable[[Sequence[Result]], list[Figure]]
    items: Callable[[Sequence[Result]], ItemTable]
    methods: Callable[[Sequence[Result]], list[str]]
    limits: Callable[[Sequence[Result]], list[str]]


SECTIONS: Mapping[str, Section] = {
    "minimal-pairs": Section(
        "Minimal pairs",
        "Does the model prefer the acceptable sentence of each pair, and how much of that is token length?",
        pairs.tables,
        pairs.compared,
        pairs.figures,
        pairs.items,
        pairs.methods,
        pairs.limits,
    ),
    "cloze": Section(
        "Cloze valence",
        "Towards which of two varieties of a language does the model lean when it fills a gap?",
        cloze.tables,
        cloze.compared,
        cloze.figures,
        cloze.items,
        cloze.methods,
        cloze.limits,
    ),
    "values": Section(
        "Value statements",
        "Does the model lean towards agreeing with statements of a value, more than with neutral ones?",
        values.tables,
        values.compared,
        values.figures,
        values.items,
        values.methods,
        values.limits,
    ),
}
