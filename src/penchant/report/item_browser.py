"""Items of a report: a sortable and searchable table, and the tokens of the selected item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import polars as pl

from penchant.records import BaseResult

KEYS = ("dataset", "file", "part", "kind", "variant", "group", "id")
"""The columns that identify a stimulus; an instrument may lack some of them."""
_AGAIN = "again"
"""The name of the column that numbers the rows of a stimulus."""


@dataclass(frozen=True, slots=True)
class BrowserColumn:
    """A column of the item table.

    Columns of kind "label" can be used as filters, and those of kind "text" and "hidden" are searched; the latter are
    not displayed. Numbers are displayed with `digits` decimals, and with a sign if `signed`. `model` is the model to
    which the column refers, if any.
    """

    title: str
    kind: Literal["id", "text", "label", "number", "hidden"]
    values: pl.Series
    model: str = ""
    digits: int = 0
    signed: bool = False

    def gather(self, rows: pl.Series | list[int]) -> BrowserColumn:
        """Return the column for the items at the given row indices; null for a null index."""
        return replace(self, values=self.values.gather(rows))


@dataclass(frozen=True, slots=True)
class Strip:
    """Token sequences with a number for each token, one sequence per item.

    `tokens` contains a list of strings per item, `values` a list of as many numbers (null for none), and `note` a text
    such as the sum. Strips of the same `model` are displayed below each other. `marks` contains a second number from −1
    to 1 for each token, which determines its colour.
    """

    model: str
    title: str
    tokens: pl.Series
    values: pl.Series
    note: pl.Series
    marks: pl.Series | None = None

    def gather(self, rows: pl.Series | list[int]) -> Strip:
        """Return the strip for the items at the given row indices; null for a null index."""
        tokens, values, note = (each.gather(rows) for each in (self.tokens, self.values, self.note))
        marks = None if self.marks is None else self.marks.gather(rows)
        return replace(self, tokens=tokens, values=values, note=note, marks=marks)


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Columns, strips and each model's remarks, all with one entry per item.

    A remark is null if the model lacks the item. `unit` describes the numbers of tokens. If `parallel`, the strips of a
    model have the same text except at one place, which is highlighted; if the scores are also `sums`, each token's
    contribution to the difference between them is displayed.
    """

    noun: str
    columns: tuple[BrowserColumn, ...]
    strips: tuple[Strip, ...]
    remarks: Mapping[str, pl.Series]
    unit: str
    parallel: bool = False
    sums: bool = True

    def left_out(self, model: str) -> pl.Series:
        """Return a mask of the items that a model lacks."""
        return self.remarks[model].is_null()


@dataclass(frozen=True, slots=True)
class Joined:
    """The distinct items of several models, joined by the columns that identify them.

    `items` contains each item's row from the first model that has the item, with the columns shared by all models.
    `rows` contains, for each model, the row index of every item in the model's own table, or null if the model lacks
    it.
    """

    items: pl.DataFrame
    rows: tuple[pl.Series, ...]

    @classmethod
    def of(cls, frames: Sequence[pl.DataFrame]) -> Joined:
        """Join tables by the columns in `KEYS`; items found only in a later table keep their place in its order."""
        shared = [name for name in frames[0].columns if all(name in frame.columns for frame in frames)]
        places = [_places(frame, [name for name in KEYS if name in shared]) for frame in frames]
        order, parts = list(places[0]), [frames[0].select(shared)]
        stacked = dict(places[0])
        for frame, own in zip(frames[1:], places[1:], strict=True):
            order = _merged(order, list(own))
            new = [key for key in own if key not in stacked]
            parts.append(frame.select(shared)[[own[key] for key in new]])
            stacked |= {key: len(stacked) + i for i, key in enumerate(new)}
        items = parts[0]
        if len(order) > len(items):
            items = pl.concat([part for part in parts if len(part)], how="vertical_relaxed")
            items = items[[stacked[key] for key in order]]
        rows = tuple(pl.Series([own.get(key) for key in order], dtype=pl.Int64) for own in places)
        return cls(items, rows)

    def each(self, frames: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
        """Return the tables with one row per joined item, null if a model lacks the item."""
        return [frame.select(pl.all().gather(rows)) for frame, rows in zip(frames, self.rows, strict=True)]

    def table(self, made: ItemTable, models: Sequence[str]) -> ItemTable:
        """Return an item table over all joined items, given a table with model-specific entries for that model's items.

        `models` are in the order of the joined tables.
        """
        rows = dict(zip(models, self.rows, strict=True))
        return replace(
            made,
            columns=tuple(column.gather(rows[column.model]) if column.model else column for column in made.columns),
            strips=tuple(strip.gather(rows[strip.model]) for strip in made.strips),
            remarks={model: _gathered(made.remarks.get(model), rows[model]) for model in models},
        )


def _gathered(remarks: pl.Series | None, rows: pl.Series) -> pl.Series:
    """Return the remarks at the given row indices: blank if `remarks` is None, null for a null index."""
    return pl.Series([None if row is None else "" for row in rows]) if remarks is None else remarks.gather(rows)


def every_item(results: Sequence[BaseResult]) -> pl.DataFrame:
    """Return the distinct items of all results, with the columns shared by all of them."""
    return _every(_Same(tuple(result.items for result in results)))


class _Same:
    """Tuple of tables that is compared and hashed by identity."""

    def __init__(self, frames: tuple[pl.DataFrame, ...]) -> None:
        self.frames = frames

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and [*map(id, self.frames)] == [*map(id, other.frames)]

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.frames)))


@lru_cache(maxsize=2)  # every part of a section asks for the items of the same results
def _every(same: _Same) -> pl.DataFrame:
    return Joined.of(same.frames).items


def _places(frame: pl.DataFrame, keys: Sequence[str]) -> dict[Hashable, int]:
    """Return the row index of every item by its identifying columns; repeated rows of a stimulus are numbered."""
    numbered = frame.select(*keys, pl.int_range(pl.len()).over(keys).alias(_AGAIN))
    return {key: row for row, key in enumerate(numbered.iter_rows())}


def _merged(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Hashable]:
    """Merge two lists: the keys of the first, each followed by the keys that follow it only in the second."""
    known = set(first)
    added: dict[Hashable, list[Hashable]] = {}
    last: Hashable = None
    for key in second:
        if key in known:
            last = key
        else:
            added.setdefault(last, []).append(key)
    return [*added.get(None, []), *(each for key in first for each in (key, *added.get(key, [])))]
