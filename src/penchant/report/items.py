"""Items as a reader goes through them: a table to sort, search and filter, and the tokens of the one chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Labels can be filtered by; texts are searched (`hidden` ones are not shown); numbers are
    shown with `digits` decimals (and a sign where `signed`). `model` is the model the column is about, if one."""

    title: str
    kind: Literal["id", "text", "label", "number", "hidden"]
    values: pl.Series
    model: str = ""
    digits: int = 0
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of tokens for every item: `tokens` (a list of strings an item), `values` (as many numbers, null where
    there is none) and `note` (a word for each item, such as the sum). Strips of one `model` stand below each other.
    `marks`, a second number for every token from −1 to 1, colour it."""

    model: str
    title: str
    tokens: pl.Series
    values: pl.Series
    note: pl.Series
    marks: pl.Series | None = None


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Columns, strips and each model's remarks, all with one entry an item. `unit` says what the tokens' numbers are;
    `parallel` that the strips of a model hold the same text but for one place, which is then shown, with what every
    token adds to their difference where the scores are `sums`."""

    noun: str
    columns: tuple[Column, ...]
    strips: tuple[Strip, ...]
    remarks: Mapping[str, pl.Series]
    unit: str
    parallel: bool = False
    sums: bool = True
