"""Construction of a report section from declared views and an instrument's `text.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from penchant.records import BaseResult, Signature
from penchant.report.figures import Figure
from penchant.report.item_browser import ItemTable, every_item
from penchant.report.sections import Section
from penchant.report.tables import ReportTable
from penchant.report.verdicts import Answer
from penchant.views import claims, interval_figures, tables
from penchant.views.claims import Claim
from penchant.views.interval_figures import FigureSpec
from penchant.views.items import Items
from penchant.views.row_selection import compared, sources
from penchant.views.tables import TableSpec
from penchant.wording.templates import Text


@dataclass(frozen=True, slots=True)
class Views:
    """The tables, figures, items and claims that an instrument declares.

    Texts can use the variables returned by `facts`, and `signature` and `settings` (both of the first result), `items`
    (the distinct items of all results) and `results`. Texts on differences can use the variables returned by
    `compared_facts`, and `signature` (of the first row) and `rows` (the comparison).
    """

    tables: tuple[TableSpec, ...]
    compared: tuple[TableSpec, ...]
    figures: tuple[FigureSpec, ...]
    items: Items
    claims: tuple[Claim, ...]
    facts: Callable[[Sequence[BaseResult]], Mapping[str, Any]] = lambda results: {}
    compared_facts: Callable[[pl.DataFrame], Mapping[str, Any]] = lambda comparison: {}

    def words(self, text: Text, results: Sequence[BaseResult]) -> Text:
        """Return the text with variables set from the results."""
        items = every_item(results)
        first = results[0]
        usual = {"signature": first.signature, "settings": first.settings, "items": items, "results": results}
        return text.given(**{**usual, **self.facts(results)})


def section(views: Views, text: Text) -> Section:
    """Return a report section from the given views and text."""

    def shown(results: Sequence[BaseResult]) -> list[ReportTable]:
        return tables.tables(views.tables, sources(results), views.words(text, results))

    def differences(comparison: pl.DataFrame) -> list[ReportTable]:
        words = text.given(**views.compared_facts(comparison), rows=comparison)
        for signature in comparison["signature"].head(1):
            words = words.given(signature=Signature.parse(signature))
        return tables.tables(views.compared, compared(comparison), words)

    def drawn(results: Sequence[BaseResult]) -> list[Figure]:
        return interval_figures.figures(views.figures, results, views.words(text, results))

    def items(results: Sequence[BaseResult]) -> ItemTable:
        return views.items.table(results, views.words(text, results))

    def answered(results: Sequence[BaseResult], comparison: pl.DataFrame | None) -> list[Answer]:
        return claims.answers(views.claims, results, comparison, views.words(text, results))

    def prose(part: str) -> Callable[[Sequence[BaseResult]], list[str]]:
        return lambda results: views.words(text, results).paragraphs("prose", part)

    title, question = text.get("title"), text.get("question")
    parts = shown, differences, drawn, items, prose("methods"), prose("limits")
    return Section(title, question, *parts, answers=answered, meanings=text.meanings())
