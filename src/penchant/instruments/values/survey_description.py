"""The description of a survey: which columns of its table hold the answers, and how they are coded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator

from penchant.instruments.values.data import HIGH, LOW
from penchant.number_parsing import numeral
from penchant.tables.documents import SETTINGS, Number

DEFAULT = "default"
"""The key of the scale of columns that have none of their own."""
Ends = tuple[float, float]
"""Two ends of a scale."""
_Ends = Annotated[tuple[Number, Number], Field(strict=False)]


def _listed(level: object) -> object:
    return level if isinstance(level, list) else [level]


class Groups(BaseModel):
    """The column that says which group a respondent belongs to."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    column: str
    """The name of the column."""
    levels: Annotated[
        dict[
            str,
            Annotated[
                list[str | int],
                Field(min_length=1),
                BeforeValidator(_listed, json_schema_input_type=str | int | list[str | int]),
            ],
        ],
        Field(min_length=1),
    ]
    """The level, or levels, in the column for each group (under `groups`, of the templates), as group: level; a code,
    or its label in SPSS or Stata."""

    @field_validator("levels")
    @classmethod
    def _of_one_group(cls, levels: dict[str, list[str | int]]) -> dict[str, list[str | int]]:
        seen: dict[str, str] = {}
        for group, level in ((group, level) for group, own in levels.items() for level in own):
            if seen.setdefault(plain(level), group) != group:
                raise ValueError(f"{level!r} is the level of two groups, {seen[plain(level)]} and {group}")
        return levels


class SurveyFile(BaseModel):
    """A survey. The path of the table is relative to this file."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    name: str | None = None
    """The name the survey is cited with. Default: the name of this file without suffix."""
    file: str
    """The table: CSV, TSV, JSON lines, Parquet, an Excel workbook, SPSS (.sav) or Stata (.dta), with one row per
    respondent."""
    columns: dict[str, str] = {}
    """The column of each statement, as id: column. Default: the column named like the id."""
    groups: Groups | None = None
    """How respondents are divided into groups. Default: all respondents are compared with every group."""
    people: Groups | None = None
    """Groups of respondents that a model is held against one by one, as to which it is nearer to, such as countries;
    `levels` gives each its name. Default: those under `groups`."""
    weights: str | None = None
    """The column with the weight of each respondent, 0 or above; who has the weight 0 is left out. Default: every
    respondent counts once."""
    filter: dict[str, str | int | float | list[str | int | float]] = {}
    """The value, or values, of a column that rows are kept for, as column: value. Default: all rows are kept. A value
    is a code, or its label in SPSS or Stata."""
    scale: Annotated[
        Annotated[_Ends, Tag("[one]")] | Annotated[dict[str, _Ends], Tag("[each]")],
        Discriminator(lambda given: "[each]" if isinstance(given, Mapping) else "[one]"),
    ] = (LOW, HIGH)
    """The answers that mean strongly disagree and strongly agree; or those of columns that differ in it, as column:
    answers, and of all others as default: answers. Default: 1, 5."""
    codes: dict[str, Number] = {}
    """The numbers on the scale of answers in words, as answer: number; of the labels of codes, in SPSS and Stata, where
    one is named here. Default: none are."""
    missing: list[str | int | float] = ["NA"]
    """Values that mean no answer, besides an empty cell and what SPSS or Stata declares missing. Default: NA."""
    synthetic: bool = False
    """Whether the answers are made up. Default: no."""

    @field_validator("scale")
    @classmethod
    def _of_some_length(cls, scale: Ends | dict[str, Ends]) -> Ends | dict[str, Ends]:
        for low, high in scale.values() if isinstance(scale, dict) else [scale]:
            if low == high or not np.isfinite([low, high]).all():
                raise ValueError(f"a scale runs from one number to another, got {low:g} and {high:g}")
        return scale

    def scales(self) -> dict[str, Ends]:
        """The ends of the scale of each column that has its own, and of all others under `DEFAULT`."""
        return {DEFAULT: (LOW, HIGH), **(self.scale if isinstance(self.scale, dict) else {DEFAULT: self.scale})}

    def chosen(self) -> list[str]:
        """The columns that respondents are chosen by, grouped by or weighted by."""
        groups = [groups.column for groups in (self.groups, self.people) if groups]
        return [*self.filter, *groups, *([self.weights] if self.weights is not None else [])]


def plain(value: object) -> str:
    """A value in the form that is compared: 1, "1" and 1.0 are the same level."""
    text = "" if value is None else str(value).strip()
    number = numeral(text)
    return text if number is None else f"{float(number):.17g}"
