"""What each instrument shows. Rendering only: every number comes from a result.

A section is made of tables, figures and items. The terminal, the page, the exports and the notebook all show the same
section, each in its own form. Where a study has several measures of associations, a section across them comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from penchant.records import Outcome, Result
from penchant.report import associations, cloze, fair_pairs, measures, pairs, values
from penchant.report.figures import Figure
from penchant.report.items import ItemTable
from penchant.report.tables import Table


@dataclass(frozen=True, slots=True)
class Section:
    """What an instrument shows of the results of several models.

    `tables` come with the headline first; `compared` are the tables of differences between models; `items` is None
    where others have them; `methods` are paragraphs that cite as `[@key]` (see `penchant.report.references`), `limits`
    say what the numbers can and cannot mean.
    """

    title: str
    question: str
    tables: Callable[[Sequence[Result]], list[Table]]
    compared: Callable[[pl.DataFrame], list[Table]]
    figures: Callable[[Sequence[Result]], list[Figure]]
    items: Callable[[Sequence[Result]], ItemTable] | None
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
    "fair-pairs": Section(
        "Fair minimal pairs",
        "Does the order of models change when both sentences of every pair have equal numbers of tokens?",
        fair_pairs.tables,
        fair_pairs.compared,
        fair_pairs.figures,
        fair_pairs.items,
        fair_pairs.methods,
        fair_pairs.limits,
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
    **{
        name: Section(
            title,
            question,
            associations.tables,
            associations.compared,
            associations.figures,
            associations.items,
            associations.methods,
            associations.limits,
        )
        for name, title, question in (
            (
                "weat",
                "Word embedding association test (WEAT)",
                "Are the vectors of some words nearer to one set of attributes than those of others?",
            ),
            (
                "seat",
                "Sentence encoder association test (SEAT)",
                "Are sentences with some words nearer to sentences with one set of attributes than those with others?",
            ),
            (
                "ceat",
                "Contextualized embedding association test (CEAT)",
                "Are words in running text nearer to one set of attributes than others are, and does the length of the "
                "context matter?",
            ),
            (
                "logprob-bias",
                "Log-probability bias score",
                "Do some attributes make a model expect one set of targets more than others do?",
            ),
        )
    },
}

ACROSS = "associations"
"""The place of the section across measures."""
_ACROSS = Section(
    "Associations across measures",
    "Do measures of associations agree on the same categories?",
    measures.tables,
    lambda comparison: [],
    measures.figures,
    None,
    measures.methods,
    measures.limits,
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A section of a study: the probe directory it is about, its title there, and the results it shows."""

    place: str
    title: str
    section: Section
    results: list[Result]


def placed(outcome: Outcome) -> Iterator[Placed]:
    """The sections of a study in order. Before the first measure of associations stands the one across them, where
    there is more than one."""
    found = outcome.sections()
    across = [r for results in found.values() for r in results if r.signature["probe"] in measures.NAMES]
    for place, results in found.items():
        probe = results[0].signature["probe"]
        if probe in measures.NAMES and across:
            if measures.several(across):
                yield Placed(ACROSS, _ACROSS.title, _ACROSS, across)
            across = []
        section = SECTIONS[probe]
        yield Placed(place, section.title + (f" ({place})" if place != probe else ""), section, results)
