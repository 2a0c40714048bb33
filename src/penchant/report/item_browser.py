"""The items of a report: a table to sort, search and filter, and the tokens of the selected item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import polars as pl

from penchant.records import Result

KEYS = ("dataset", "file", "part", "kind", "variant", "group", "id")
"""The columns of items that identify a stimulus, as far as an instrument has them."""
_AGAIN = "again"
"""The column that numbers the rows of one stimulus."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the item table.

    Labels can be filtered by; texts are searched (`hidden` ones are not shown); numbers are shown with `digits`
    decimals (and a sign if `signed`). `model` is the model that the column is about, if any.
    """

    title: str
    kind: Literal["id", "text", "label", "number", "hidden"]
    values: pl.Series
    model: str = ""
    digits: int = 0
    signed: bool = False

    def gather(self, rows: pl.Series | list[int]) -> Column:
        """Return the column for some items, null where the row is null."""
        return replace(self, values=self.values.gather(rows))


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of tokens for each item, with a number for each token.

    `tokens` has a list of strings per item, `values` as many numbers (null for none), and `note` a word, such as the
    sum. Strips of one `model` are shown below each other. `marks`, a second number per token from −1 to 1, colours it.
    """

    model: str
    title: str
    tokens: pl.Series
    values: pl.Series
    note: pl.Series
    marks: pl.Series | None = None

    def gather(self, rows: pl.Series | list[int]) -> Strip:
        """Return the strip for some items, null where the row is null."""
        tokens, values, note = (each.gather(rows) for each in (self.tokens, self.values, self.note))
        marks = None if self.marks is None else self.marks.gather(rows)
        return replace(self, tokens=tokens, values=values, note=note, marks=marks)


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Columns, strips and the remarks of each model, all with one entry per item.

    A remark is null where the model lacks the item. `unit` describes the numbers of tokens. If `parallel`, the strips
    of a model hold the same text except at one place, which is marked; if the scores are `sums`, with what every token
    adds to their difference.
    """

    noun: str
    columns: tuple[Column, ...]
    strips: tuple[Strip, ...]
    remarks: Mapping[str, pl.Series]
    unit: str
    parallel: bool = False
    sums: bool = True

    def left_out(self, model: str) -> pl.Series:
        """Return, for each item, whether a model lacks it."""
        return self.remarks[model].is_null()


@dataclass(frozen=True, slots=True)
class Joined:
    """The items of several models, each once, joined by the columns that identify them.

    `items` has each item's row from the first model with that item, with the columns that all models have; `rows` has
    the row of every item in each model's own table, null where the model lacks it.
    """

    items: pl.DataFrame
    rows: tuple[pl.Series, ...]

    @classmethod
    def of(cls, frames: Sequence[pl.DataFrame]) -> Joined:
        """Join tables by the columns in `KEYS`; items that only a later table has keep their place in its order."""
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
        """Return the tables with a row for every item, null where a model lacks it."""
        return [frame.select(pl.all().gather(rows)) for frame, rows in zip(frames, self.rows, strict=True)]

    def table(self, made: ItemTable, models: Sequence[str]) -> ItemTable:
        """Return a table of all items, from one whose entries for a model are those of its own items.

        `models` are in the order of the tables that were joined.
        """
        rows = dict(zip(models, self.rows, strict=True))
        return replace(
            made,
            columns=tuple(column.gather(rows[column.model]) if column.model else column for column in made.columns),
            strips=tuple(strip.gather(rows[strip.model]) for strip in made.strips),
            remarks={model: _gathered(made.remarks.get(model), rows[model]) for model in models},
        )


def _gathered(remarks: pl.Series | None, rows: pl.Series) -> pl.Series:
    """Return the remarks on some items: blank if a model has none, null where the row is null."""
    return pl.Series([None if row is None else "" for row in rows]) if remarks is None else remarks.gather(rows)


def every_item(results: Sequence[Result]) -> pl.DataFrame:
    """Return the items that any of some results has, each once, with the columns that all results have."""
    return _every(_Same(tuple(result.items for result in results)))


class _Same:
    """Tables that are equal if they are the same objects."""

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
    """Return the row of every item by its identifying columns; rows of one stimulus are numbered."""
    numbered = frame.select(*keys, pl.int_range(pl.len()).over(keys).alias(_AGAIN))
    return {key: row for row, key in enumerate(numbered.iter_rows())}


def _merged(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Hashable]:
    """Merge two lists: the keys of the first, each followed by those that follow it in the second alone."""
    known = set(first)
    added: dict[Hashable, list[Hashable]] = {}
    last: Hashable = None
    for key in second:
        if key in known:
            last = key
        else:
            added.setdefault(last, []).append(key)
    return [*added.get(None, []), *(each for key in first for each in (key, *added.get(key, [])))]
