"""Items of a report: a sortable and searchable table, and the tokens of the selected item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import polars as pl

from penchant.records import BaseResult

KEYS = ("dataset", "file", "part", "kind", "variant", "group", "id")
"""The columns that identify a stimulus; the items of an instrument may lack some of them."""
_AGAIN = "again"
"""The name of the column that numbers repeated rows of a stimulus."""


@dataclass(frozen=True, slots=True)
class BrowserColumn:
    """A column of the item table.

    Columns of kind "label" can be filtered, and columns of kind "text" or "hidden" can be searched; hidden columns are
    not displayed. Numbers are displayed with `digits` decimals, and with an explicit sign if `signed`. `model`
    is the model that the column describes, or "" for a column common to all models. A mark of a figure that has a value
    named `name` or `title` can be clicked to filter the column.
    """

    name: str
    title: str
    kind: Literal["id", "text", "label", "number", "hidden"]
    values: pl.Series
    model: str = ""
    digits: int = 0
    signed: bool = False

    def gather(self, rows: pl.Series | list[int]) -> BrowserColumn:
        """Return the column with the values at the given row indices; a null index yields null."""
        return replace(self, values=self.values.gather(rows))


@dataclass(frozen=True, slots=True)
class Strip:
    """Token sequences with a number for each token, one sequence per item.

    `tokens` contains a list of strings per item, `values` a list of as many numbers or nulls, and `note` a string
    per item, such as the sum of the numbers. Strips of the same `model` are displayed below each other. `marks`
    contains a number from −1 to 1 for each token, which determines its colour.
    """

    model: str
    title: str
    tokens: pl.Series
    values: pl.Series
    note: pl.Series
    marks: pl.Series | None = None

    def gather(self, rows: pl.Series | list[int]) -> Strip:
        """Return the strip with the sequences at the given row indices; a null index yields null."""
        tokens, values, note = (each.gather(rows) for each in (self.tokens, self.values, self.note))
        marks = None if self.marks is None else self.marks.gather(rows)
        return replace(self, tokens=tokens, values=values, note=note, marks=marks)


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Columns, token strips and remarks for each model, all with one entry per item.

    A remark is null if the model was not evaluated on the item. `noun` is the plural noun for the items, and `unit`
    describes the numbers below the tokens. If `parallel`, the texts of a model's strips differ at one position, which
    is highlighted; if the scores are also `sums` over tokens, each token's contribution to the difference is displayed.
    """

    noun: str
    columns: tuple[BrowserColumn, ...]
    strips: tuple[Strip, ...]
    remarks: Mapping[str, pl.Series]
    unit: str
    parallel: bool = False
    sums: bool = True

    def left_out(self, model: str) -> pl.Series:
        """Return a Boolean mask of the items on which a model was not evaluated."""
        return self.remarks[model].is_null()


@dataclass(frozen=True, slots=True)
class Joined:
    """The distinct items of several models, joined by the columns that identify them.

    `items` contains each item's row from the first model that has the item, with the columns shared by all models.
    `rows` contains, for each model, the row index of every item in the model's own table, or null if the item is
    missing from it.
    """

    items: pl.DataFrame
    rows: tuple[pl.Series, ...]

    @classmethod
    def of(cls, frames: Sequence[pl.DataFrame]) -> Joined:
        """Join tables on the columns in `KEYS`.

        Items missing from the first table are inserted after the item that precedes them in another table.
        """
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
        """Return each table with one row per joined item, filled with nulls for items that it lacks."""
        return [frame.select(pl.all().gather(rows)) for frame, rows in zip(frames, self.rows, strict=True)]

    def table(self, made: ItemTable, models: Sequence[str]) -> ItemTable:
        """Return an item table in which each model has an entry for every joined item, or null if the model lacks it.

        `made` has entries for each model's own items, and `models` are the names of the models in the order of the
        joined tables.
        """
        rows = dict(zip(models, self.rows, strict=True))
        return replace(
            made,
            columns=tuple(column.gather(rows[column.model]) if column.model else column for column in made.columns),
            strips=tuple(strip.gather(rows[strip.model]) for strip in made.strips),
            remarks={model: _gathered(made.remarks.get(model), rows[model]) for model in models},
        )


def _gathered(remarks: pl.Series | None, rows: pl.Series) -> pl.Series:
    return pl.Series([None if row is None else "" for row in rows]) if remarks is None else remarks.gather(rows)


def every_item(results: Sequence[BaseResult]) -> pl.DataFrame:
    """Return the distinct items of all results, with the columns that all results share."""
    return _every(_Same(tuple(result.items for result in results)))


class _Same:
    """Tuple of tables that is compared and hashed by identity, for caching."""

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
    """Map each item's key, which consists of its values in the columns `keys` and a repetition number, to its row."""
    numbered = frame.select(*keys, pl.int_range(pl.len()).over(keys).alias(_AGAIN))
    return {key: row for row, key in enumerate(numbered.iter_rows())}


def _merged(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Hashable]:
    """Merge two lists of keys; a key that is only in the second list follows the key that precedes it in that list."""
    known = set(first)
    added: dict[Hashable, list[Hashable]] = {}
    last: Hashable = None
    for key in second:
        if key in known:
            last = key
        else:
            added.setdefault(last, []).append(key)
    return [*added.get(None, []), *(each for key in first for each in (key, *added.get(key, [])))]
