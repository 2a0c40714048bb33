"""Answers of people to the statements of a set: read from a table through a map of its columns, or made up.

A survey is described by a YAML file (see `SurveyFile`); its table has a row a respondent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

from penchant.data.documents import read_document
from penchant.data.tables import Row, read_rows
from penchant.errors import DataError, MethodError
from penchant.files import sha256_file

LOW, HIGH = 1, 5
"""The scale that ratings are on; answers on another one are mapped to it linearly."""
_GROUP = ""
SYNTHETIC = "synthetic"
"""A column of this name marks made-up answers, wherever the table goes."""


class Groups(BaseModel):
    """Which column says what group a respondent belongs to."""

    model_config = ConfigDict(extra="forbid")
    column: str
    levels: Annotated[
        dict[str, str | int], Field(min_length=1, description="group of the templates: level in the table")
    ]

    @field_validator("levels")
    @classmethod
    def _of_one_group(cls, levels: dict[str, str | int]) -> dict[str, str | int]:
        seen: dict[str, str] = {}
        for group, level in levels.items():
            if seen.setdefault(_plain(level), group) != group:
                raise ValueError(f"{level!r} is the level of two groups, {seen[_plain(level)]} and {group}")
        return levels


class SurveyFile(BaseModel):
    """A survey. The path of the table is relative to this file."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = None
    file: Annotated[str, Field(description="the table: CSV, TSV, JSON lines or Parquet, a row a respondent")]
    columns: Annotated[dict[str, str], Field(description="statement id: column; default: the column of that name")] = {}
    groups: Annotated[Groups | None, Field(description="default: all respondents stand beside every group")] = None
    filter: Annotated[
        dict[str, str | int | list[str | int]], Field(description="column: the value, or values, a row is kept for")
    ] = {}
    scale: Annotated[tuple[float, float], Field(description="strongly disagree, strongly agree")] = (LOW, HIGH)
    missing: Annotated[list[str | int], Field(description="what stands for no answer, besides an empty cell")] = ["NA"]
    synthetic: Annotated[bool, Field(description="the answers are made up")] = False

    @field_validator("scale")
    @classmethod
    def _of_some_length(cls, scale: tuple[float, float]) -> tuple[float, float]:
        if scale[0] == scale[1] or not np.isfinite(scale).all():
            raise ValueError(f"a scale runs from one number to another, got {scale[0]:g} and {scale[1]:g}")
        return scale


@dataclass(frozen=True, slots=True)
class Survey:
    """Answers on the scale from 1 to 5.

    `answers` has a column named "" (no statement can be) with the group, "" where there are no groups, and a column a
    statement, null where there is no answer; `absent` are the statements without a column, `kept` of `read` rows passed
    the filter and have a group.
    """

    name: str
    answers: pl.DataFrame
    absent: tuple[str, ...]
    read: int
    kept: int
    synthetic: bool
    files: tuple[Path, ...]
    sha256: str

    def of(self, group: str) -> pl.DataFrame:
        """The answers of a group; of everybody where the survey has no groups."""
        own = self.answers.filter(self.answers[_GROUP].is_in([group, ""]))
        return own.drop(_GROUP)


def read_survey(path: str | Path, statements: Sequence[str]) -> Survey:
    """The answers to some statements (by id). Raises DataError naming file, line and field."""
    place = Path(path)
    given = read_document(place, SurveyFile, hint="see penchant schema values")
    table = place.parent / given.file
    rows = read_rows(table)
    columns = {id_: given.columns.get(id_, id_) for id_ in statements}
    header = dict.fromkeys(name for row in rows for name in row.values)
    unknown = [id_ for id_ in given.columns if id_ not in columns]
    if unknown:
        raise DataError(f"there is no statement '{unknown[0]}'", where=f"{place}, columns", hint="map statement ids")
    lost = [name for id_, name in columns.items() if name not in header and id_ in given.columns]
    wanted = [*lost, *(name for name in given.filter if name not in header)]
    wanted += [given.groups.column] if given.groups and given.groups.column not in header else []
    if wanted:
        raise DataError(f"there is no column '{wanted[0]}'", file=table, hint=f"the columns are {', '.join(header)}")
    present = {id_: name for id_, name in columns.items() if name in header}
    if not present:
        raise DataError("no column is named like a statement", file=table, hint="map statement ids to columns")
    kept = [row for row in rows if _passes(row, given)]
    groups = [_group(row, given) for row in kept]
    found: dict[str, list[float | None]] = {id_: [] for id_ in present}
    names = []
    for row, group in zip(kept, groups, strict=True):
        if group is None:
            continue
        names.append(group)
        for id_, column in present.items():
            found[id_].append(_answer(row, column, given, table))
    if not names:
        raise DataError("no respondent is left", file=table, hint="mind the filter and the levels of the groups")
    answers = pl.DataFrame(
        {_GROUP: pl.Series(names, dtype=pl.String), **{k: pl.Series(v, dtype=pl.Float64) for k, v in found.items()}}
    )
    return Survey(
        given.name or place.stem,
        answers,
        tuple(id_ for id_ in statements if id_ not in present),
        len(rows),
        len(names),
        given.synthetic or SYNTHETIC in header,
        (place, table),
        hashlib.sha256((sha256_file(place) + sha256_file(table)).encode()).hexdigest(),
    )


def _passes(row: Row, given: SurveyFile) -> bool:
    for column, wanted in given.filter.items():
        values = wanted if isinstance(wanted, list) else [wanted]
        if _plain(row.values.get(column)) not in [_plain(value) for value in values]:
            return False
    return True


def _group(row: Row, given: SurveyFile) -> str | None:
    """The group of a respondent; None for a level that no group has."""
    if given.groups is None:
        return ""
    level = _plain(row.values.get(given.groups.column))
    return next((group for group, own in given.groups.levels.items() if _plain(own) == level), None)


def _plain(value: object) -> str:
    """A value as it is compared: 1, "1" and 1.0 are one level."""
    text = "" if value is None else str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number:.17g}"


def _answer(row: Row, column: str, given: SurveyFile, table: Path) -> float | None:
    raw = row.values.get(column)
    text = _plain(raw)
    if not text or text in [_plain(value) for value in given.missing]:
        return None
    low, high = given.scale
    try:
        number = float(str(raw))
    except ValueError:
        number = np.nan
    if not min(low, high) <= number <= max(low, high):
        raise DataError(
            f"an answer lies between {low:g} and {high:g}, got {raw!r}",
            file=table,
            line=row.line,
            field=column,
            hint="name what stands for no answer under missing, or set scale",
        )
    return LOW + (HIGH - LOW) * (number - low) / (high - low)


def synthetic_survey(
    means: Mapping[str, Mapping[str, float]],
    sds: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, int],
    *,
    statements: Mapping[str, tuple[str, bool]],
    spread: float = 0.8,
    seed: int = 0,
) -> pl.DataFrame:
    """Made-up answers, marked as such in a column of their own: for tests and tutorials, never for findings.

    `means` and `sds` give, by group and value, the mean and the standard deviation between respondents of their leaning
    on the scale from 1 to 5; `groups` how many respondents each has; `statements` maps an id to its value and whether
    it is reversed. An answer is the respondent's leaning, turned round for a reversed statement, plus noise of standard
    deviation `spread`, rounded and held to the scale. Raises MethodError for a group or value without numbers.
    """
    taken = {SYNTHETIC, "group"} & statements.keys()
    if taken:
        raise MethodError(f"a statement cannot be called '{min(taken)}', a column of made-up answers")
    rng = np.random.default_rng(seed)
    parts = []
    values = dict.fromkeys(value for value, _ in statements.values())
    for group, n in groups.items():
        for name, table in (("means", means), ("sds", sds)):
            lacking = [value for value in values if value not in table.get(group, {})]
            if lacking:
                raise MethodError(f"{name} has no number for '{lacking[0]}' in group '{group}'")
        leaning = {value: rng.normal(means[group][value], sds[group][value], n) for value in values}
        columns: dict[str, object] = {SYNTHETIC: ["yes"] * n, "group": [group] * n}
        for id_, (value, reverse) in statements.items():
            own = LOW + HIGH - leaning[value] if reverse else leaning[value]
            noisy = np.rint(own + rng.normal(0, spread, n))
            columns[id_] = np.clip(noisy, LOW, HIGH).astype(np.int64)
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)
