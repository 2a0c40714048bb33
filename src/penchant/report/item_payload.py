"""Compression of report items into blocks of deflated, base64-encoded JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from penchant.errors import undirected
from penchant.plurals import for_one
from penchant.report.item_browser import BrowserColumn, ItemTable

CHUNK = 500
"""The number of items per block of tokens."""


@dataclass(frozen=True, slots=True)
class ItemBlocks:
    """Compressed blocks of an item table with `shown` of `total` items.

    The page decodes `table` when the page is opened, and a block in `details` (by name) when an item is opened.
    """

    name: str
    table: str
    details: dict[str, str]
    shown: int
    total: int


def block(content: object, effort: int = 9) -> str:
    """Encode `content` as deflated JSON in base64, with the compression level `effort`."""
    text = undirected(json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False), r"\\u")
    squeeze = zlib.compressobj(effort, zlib.DEFLATED, -15)
    return base64.b64encode(squeeze.compress(text.encode()) + squeeze.flush()).decode()


def pack(items: ItemTable, name: str, room: int) -> ItemBlocks:
    """Pack an item table into blocks whose names begin with `name`.

    If the block of the table is longer than `room` characters, an evenly spaced sample of the items is packed.
    """
    total = shown = len(items.columns[0].values)
    kept, table = items, _table_block(items, name, total)
    while len(table) > room and shown > 1:
        shown = max(1, min(shown - 1, math.floor(shown * 0.95 * room / len(table))))
        kept = _sampled(items, shown)
        table = _table_block(kept, name, shown)
    digest = _details_name(kept, name)
    details = {f"{digest}-{i}": _token_block(kept, start) for i, start in enumerate(range(0, shown, CHUNK))}
    return ItemBlocks(name, table, details, shown, total)


def _details_name(items: ItemTable, name: str) -> str:
    """Return the prefix of the token blocks' names: `name` and a hash that distinguishes items of different pages."""
    digest = hashlib.sha256()
    for column in items.columns:
        digest.update(f"{column.title}\0{column.model}\0".encode())
        digest.update(column.values.hash(seed=0).to_numpy().tobytes())
    return f"{name}-{digest.hexdigest()[:10]}"


def _sampled(items: ItemTable, n: int) -> ItemTable:
    total = len(items.columns[0].values)
    rows = [i * total // n for i in range(n)]
    return replace(
        items,
        columns=tuple(column.gather(rows) for column in items.columns),
        strips=tuple(strip.gather(rows) for strip in items.strips),
        remarks={model: words.gather(rows) for model, words in items.remarks.items()},
    )


def _table_block(items: ItemTable, name: str, n: int) -> str:
    content = {
        "details": _details_name(items, name),
        "noun": items.noun,
        "one": for_one(1, items.noun),
        "legend": items.unit
        and f"Under each token: {items.unit}. ▁ is a space, ‹E2 80› are bytes of a character that is "
        "cut there, · means no score.",
        "parallel": items.parallel,
        "sums": items.sums,
        "n": n,
        "chunk": CHUNK,
        "columns": [_column(column) for column in items.columns],
        "left_out": {model: items.left_out(model).arg_true().to_list() for model in items.remarks},
    }
    return block(content)


def _column(column: BrowserColumn) -> dict[str, Any]:
    head = {
        "title": column.title,
        "field": "item" if column.kind == "id" else column.name,
        "kind": column.kind,
        "model": column.model,
        "digits": column.digits,
        "signed": column.signed,
    }
    if column.kind == "number":
        return {**head, "values": _rounded(column.values, column.digits)}
    if column.kind == "label":
        levels = column.values.drop_nulls().unique(maintain_order=True)
        codes = column.values.replace_strict(levels, pl.int_range(len(levels), eager=True), default=None)
        return {**head, "levels": levels.to_list(), "values": codes.to_list()}
    return {**head, "values": column.values.to_list()}


def _rounded(values: pl.Series, digits: int) -> list[float | None]:
    return values.cast(pl.Float64).fill_nan(None).round(digits).to_list()


def _token_block(items: ItemTable, start: int) -> str:
    part = slice(start, start + CHUNK)
    strips = [
        {
            "model": strip.model,
            "title": strip.title,
            "tokens": strip.tokens[part].to_list(),
            "values": _lists(strip.values[part]),
            "notes": strip.note[part].to_list(),
            **({} if strip.marks is None else {"marks": _lists(strip.marks[part])}),
        }
        for strip in items.strips
    ]
    remarks = {model: words[part].to_list() for model, words in items.remarks.items()}
    return block({"strips": strips, "remarks": remarks}, effort=6)  # much faster than 9, and hardly larger


def _lists(values: pl.Series) -> list[list[float | None]]:
    return values.list.eval(pl.element().cast(pl.Float64).fill_nan(None).round(3)).to_list()
