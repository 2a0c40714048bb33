"""Items as readers browse them: a table to sort, search and filter, and the tokens of the selected item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Labels can be filtered by; texts are searched (`hidden` ones are not shown); numbers are
    shown with `digits` decimals (and a sign if `signed`). `model` is the model that the column is about, if any."""

    title: str
    kind: Literal["id", "text", "label", "number", "hidden"]
    values: pl.Series
    model: str = ""
    digits: int = 0
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of tokens per item: `tokens` (a list of strings per item), `values` (as many numbers, null where there is
    none) and `note` (a word per item, such as the sum). Strips of one `model` are shown below each other. `marks`, a
    second number per token from −1 to 1, colour it."""

    model: str
    title: str
    tokens: pl.Series
    values: pl.Series
    note: pl.Series
    marks: pl.Series | None = None


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Columns, strips and the remarks of each model, all with one entry per item.

    `unit` says what the numbers of tokens are. `parallel`: the strips of a model hold the same text except at one
    place, which is then shown; if the scores are `sums`, with what every token adds to their difference.
    """

    noun: str
    columns: tuple[Column, ...]
    strips: tuple[Strip, ...]
    remarks: Mapping[str, pl.Series]
    unit: str
    parallel: bool = False
    sums: bool = True
