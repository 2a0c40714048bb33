"""The description of a survey: the columns of its table of answers, and the coding of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator

from penchant.instruments.values.data import HIGH, LOW
from penchant.number_parsing import numeral
from penchant.tables.yaml_json_documents import SETTINGS, Number

DEFAULT = "default"
"""The key of the scale of columns without their own scale."""
Ends = tuple[float, float]
"""The two ends of a scale."""
_Ends = Annotated[tuple[Number, Number], Field(strict=False)]


def _listed(level: object) -> object:
    return level if isinstance(level, list) else [level]


class Groups(BaseModel):
    """The column that assigns respondents to groups, and the levels (values) of each group in it."""

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
    """The level or levels of each group in the column, as group: level.
    A level is a code, or its label in SPSS or Stata. Under `groups`, the groups are those of the templates.
    """

    @field_validator("levels")
    @classmethod
    def _of_one_group(cls, levels: dict[str, list[str | int]]) -> dict[str, list[str | int]]:
        seen: dict[str, str] = {}
        for group, level in ((group, level) for group, own in levels.items() for level in own):
            if seen.setdefault(plain(level), group) != group:
                raise ValueError(f"{level!r} is the level of two groups, {seen[plain(level)]} and {group}")
        return levels


class SurveyFile(BaseModel):
    """The description of a survey; the path of its table is relative to the file of the description."""

    model_config = ConfigDict(**SETTINGS, str_strip_whitespace=True)
    name: str | None = None
    """The name by which the survey is cited. Default: the name of this file without suffix."""
    file: str
    """The table, with one row per respondent.
    It is CSV, TSV, JSON lines, Parquet, an Excel workbook, SPSS (.sav) or Stata (.dta).
    """
    columns: dict[str, str] = {}
    """The column of each statement, as id: column. Default: the column named like the id."""
    groups: Groups | None = None
    """The groups of the respondents. Default: all respondents are compared with every group."""
    people: Groups | None = None
    """Groups of respondents, such as countries, that a model is compared with one by one; `levels` names them.
    Default: those under `groups`.
    """
    weights: str | None = None
    """The column with the weight of each respondent, 0 or above; respondents of weight 0 are left out.
    Default: every respondent counts once.
    """
    filter: dict[str, str | int | float | list[str | int | float]] = {}
    """The rows to keep, as column: value or values; a value is a code, or its label in SPSS or Stata. Default: all."""
    scale: Annotated[
        Annotated[_Ends, Tag("[one]")] | Annotated[dict[str, _Ends], Tag("[each]")],
        Discriminator(lambda given: "[each]" if isinstance(given, Mapping) else "[one]"),
    ] = (LOW, HIGH)
    """The answers that mean strongly disagree and strongly agree. Default: 1, 5.
    If columns have different scales, write column: answers for each of these, and default: answers for all others.
    """
    codes: dict[str, Number] = {}
    """The number on the scale for each answer in words, as answer: number. Default: none.
    Labels of codes in SPSS and Stata are treated as words if one of them is named here.
    """
    missing: list[str | int | float] = ["NA"]
    """Values that mean no answer, besides empty cells and what SPSS or Stata declares missing. Default: NA."""
    synthetic: bool = False
    """Yes if the answers are made up. Default: no."""

    @field_validator("scale")
    @classmethod
    def _of_some_length(cls, scale: Ends | dict[str, Ends]) -> Ends | dict[str, Ends]:
        for low, high in scale.values() if isinstance(scale, dict) else [scale]:
            if low == high or not np.isfinite([low, high]).all():
                raise ValueError(f"the ends of a scale must be two different numbers, got {low:g} and {high:g}")
        return scale

    def scales(self) -> dict[str, Ends]:
        """Return the ends of the scale of each column that has its own, and of all others under `DEFAULT`."""
        return {DEFAULT: (LOW, HIGH), **(self.scale if isinstance(self.scale, dict) else {DEFAULT: self.scale})}

    def chosen(self) -> list[str]:
        """Return the columns that respondents are filtered, grouped or weighted by."""
        groups = [groups.column for groups in (self.groups, self.people) if groups]
        return [*self.filter, *groups, *([self.weights] if self.weights is not None else [])]


def plain(value: object) -> str:
    """Normalise a value for comparison, so that 1, "1" and 1.0 are the same level."""
    text = "" if value is None else str(value).strip()
    number = numeral(text)
    return text if number is None else f"{float(number):.17g}"
