"""Declarative items: the columns of the item table, and the tokens of each item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from penchant.records import BaseResult
from penchant.report.detokenize import readable
from penchant.report.item_browser import BrowserColumn, ItemTable, Joined, Strip
from penchant.report.tables import models
from penchant.wording.templates import Text

_NO_SUMS = ("aul", "aula")
"""The scoring methods whose scores are not sums over tokens."""


@dataclass(frozen=True, slots=True)
class ItemColumn:
    """A column of the item table, identified by its name in the items; omitted if the items lack it.

    `kind` is as in `report.item_browser.BrowserColumn`. If `varies`, the column is omitted if all its values are equal,
    or if it equals an earlier column with `varies`. `digits` and `signed` format numbers. The heading is the name
    unless `text.yaml` has one under `items`, `columns`.
    """

    name: str
    kind: Literal["id", "text", "label", "number", "hidden"] = "text"
    varies: bool = False
    digits: int = 0
    signed: bool = False


@dataclass(frozen=True, slots=True)
class ModelColumn:
    """A column with a model's results for the items.

    The results are computed by `values` or, if `values` is None, taken from the item column `name`; a column that the
    items lack is not shown. The heading can use the variable `signature`, the signature of the result.
    """

    name: str
    values: Callable[[BaseResult], pl.Series] | None = None
    kind: Literal["text", "label", "number", "hidden"] = "number"
    digits: int = 3
    signed: bool = False


@dataclass(frozen=True, slots=True)
class TokenStrip:
    """A strip of tokens with one number per token.

    `pieces` and `values` are the item columns with the tokens and the numbers; the strip is omitted if the items lack
    the column `pieces`. `of` is the column with the tokenized text, or "" if the tokens are words. `said` returns a
    note for each item. `marks` is the column of the marks described in `Strip`, or "" for no marks.
    """

    name: str
    pieces: str
    of: str
    values: str
    said: Callable[[pl.DataFrame], Sequence[str]]
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """Declaration of the item table: common columns, columns and strips for each model, and a remark on each item.

    `rows` computes the rows from a result, such as a row for each word of a sentence. `text.yaml` has, under `items`,
    the plural noun for the items (`noun`), a description of the numbers below the tokens (`unit`) and, unless the
    function `remark` is given, a template for the remark on an item (`remark`). `parallel` (a value, or a function of
    the results) and `sums` are as in `ItemTable`.
    """

    columns: tuple[ItemColumn, ...]
    each: tuple[ModelColumn, ...] = ()
    tokens: tuple[TokenStrip, ...] = ()
    remark: Callable[[BaseResult], Sequence[str]] | None = None
    rows: Callable[[BaseResult], pl.DataFrame] = lambda result: result.items
    parallel: bool | Callable[[Sequence[BaseResult]], bool] = False
    sums: bool = True

    def table(self, results: Sequence[BaseResult], text: Text) -> ItemTable:
        """Return the items of several models, joined by the columns that identify them."""
        results = [replace(result, items=self.rows(result)) for result in results]
        joined = Joined.of([result.items for result in results])
        own, first = text.below("items"), joined.items
        columns = [
            BrowserColumn(
                column.name,
                _head(own, column.name),
                column.kind,
                _spelled(first[column.name]),
                digits=column.digits,
                signed=column.signed,
            )
            for column in self._columns(first)
        ]
        strips, remarks = [], {}
        for model, result in zip(models(results), results, strict=True):
            for column in self.each:
                if column.values is None and column.name not in result.items.columns:
                    continue
                values = result.items[column.name] if column.values is None else column.values(result)
                head = _head(own.given(signature=result.signature), column.name)
                columns.append(
                    BrowserColumn(column.name, head, column.kind, values, model, column.digits, column.signed)
                )
            if model_remarks := self._remarks(result, own):
                remarks[model] = pl.Series(model_remarks, dtype=pl.String)
            shown = [tokens for tokens in self.tokens if tokens.pieces in result.items.columns]
            strips += [_strip(tokens, model, result, own) for tokens in shown]
        sums = self.sums and all(result.signature.get("method") not in _NO_SUMS for result in results)
        parallel = self.parallel(results) if callable(self.parallel) else self.parallel
        item_table = ItemTable(own.get("noun"), tuple(columns), tuple(strips), remarks, own.get("unit"), parallel, sums)
        return joined.table(item_table, models(results))

    def _columns(self, items: pl.DataFrame) -> list[ItemColumn]:
        """Return the columns to show for these items."""
        shown: list[ItemColumn] = []
        for column in self.columns:
            if column.name not in items.columns:
                continue
            values = items[column.name]
            repeated = values.n_unique() == 1 or any(values.equals(items[each.name]) for each in shown if each.varies)
            if not (column.varies and repeated):
                shown.append(column)
        return shown

    def _remarks(self, result: BaseResult, text: Text) -> Sequence[str]:
        if self.remark is not None:
            return self.remark(result)
        return [text.get("remark", **row) for row in result.items.iter_rows(named=True)] if text.has("remark") else ()


def _spelled(values: pl.Series) -> pl.Series:
    """Return true and false as "yes" and "no", and other values unchanged."""
    return values.replace_strict({True: "yes", False: "no"}, default=None) if values.dtype == pl.Boolean else values


def _head(text: Text, name: str) -> str:
    return text.get("columns", name) or name


def _strip(tokens: TokenStrip, model: str, result: BaseResult, text: Text) -> Strip:
    title = text.get("tokens", tokens.name) or tokens.name
    pieces = result.items[tokens.pieces]
    pieces = readable(pieces, result.items[tokens.of]) if tokens.of else pieces
    notes = pl.Series(tokens.said(result.items), dtype=pl.String)
    marks = result.items[tokens.marks] if tokens.marks else None
    return Strip(model, title, pieces, result.items[tokens.values], notes, marks)


def fixed(name: str, digits: int) -> Callable[[pl.DataFrame], Sequence[str]]:
    """Return a function that formats the numbers in a column of items with `digits` decimals."""
    return lambda items: [f"{value:.{digits}f}" for value in items[name]]
