"""People's answers to the statements of a set: read from a table through a map of its columns, or synthetic.

A survey is described by a YAML file (see `SurveyFile`); its table has one row per respondent.
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

from penchant.arguments import asked
from penchant.errors import DataError, MethodError
from penchant.files import sha256_file
from penchant.tables.documents import read_document
from penchant.tables.rows import Row, read_rows

LOW, HIGH = 1, 5
"""The ends of the scale of ratings; answers on another scale are mapped to it linearly."""
_GROUP = ""
"""The column of answers that has the group of a respondent."""
SYNTHETIC = "synthetic"
"""A column of this name marks synthetic answers, wherever the table goes."""


class Groups(BaseModel):
    """The column that says which group a respondent belongs to."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    column: str
    """The name of the column."""
    levels: Annotated[dict[str, str | int], Field(min_length=1)]
    """The level in the column for each group of the templates, as group: level."""

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

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    name: str | None = None
    """The name the survey is cited with. Default: the name of this file without suffix."""
    file: str
    """The table: CSV, TSV, JSON lines or Parquet, with one row per respondent."""
    columns: dict[str, str] = {}
    """The column of each statement, as id: column. Default: the column named like the id."""
    groups: Groups | None = None
    """How respondents are divided into groups. Default: all respondents are compared with every group."""
    filter: dict[str, str | int | list[str | int]] = {}
    """The value, or values, of a column that rows are kept for, as column: value. Default: all rows are kept."""
    scale: tuple[float, float] = (LOW, HIGH)
    """The answers that mean strongly disagree and strongly agree. Default: 1, 5."""
    missing: list[str | int] = ["NA"]
    """Values that mean no answer, besides an empty cell. Default: NA."""
    synthetic: bool = False
    """Whether the answers are made up. Default: no."""

    @field_validator("scale")
    @classmethod
    def _of_some_length(cls, scale: tuple[float, float]) -> tuple[float, float]:
        if scale[0] == scale[1] or not np.isfinite(scale).all():
            raise ValueError(f"a scale runs from one number to another, got {scale[0]:g} and {scale[1]:g}")
        return scale


@dataclass(frozen=True, slots=True)
class Survey:
    """Answers on the scale from 1 to 5.

    `answers` has a column named "" (as no statement can be) with the group, "" where there are no groups, and one
    column per statement, null where there is no answer. `absent` are the statements without a column; `kept` of `read`
    rows passed the filter and have a group.
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
        """The answers of a group, or of everybody where the survey has no groups."""
        answers = self.answers.filter(self.answers[_GROUP].is_in([group, ""]))
        return answers.drop(_GROUP)


@asked
def read_survey(path: str | Path, statements: Sequence[str]) -> Survey:
    """Read the answers to some statements (by id). Raises DataError naming file, line and field."""
    place = Path(path)
    description = read_document(place, SurveyFile, hint="see penchant schema values")
    table = place.parent / description.file
    rows = read_rows(table)
    columns = {id_: description.columns.get(id_, id_) for id_ in statements}
    header = dict.fromkeys(name for row in rows for name in row.values)
    unknown = [id_ for id_ in description.columns if id_ not in columns]
    if unknown:
        raise DataError(f"there is no statement '{unknown[0]}'", where=f"{place}, columns", hint="map statement ids")
    lost = [name for id_, name in columns.items() if name not in header and id_ in description.columns]
    lacking = [*lost, *(name for name in description.filter if name not in header)]
    lacking += [description.groups.column] if description.groups and description.groups.column not in header else []
    if lacking:
        raise DataError(f"there is no column '{lacking[0]}'", file=table, hint=f"the columns are {', '.join(header)}")
    present = {id_: name for id_, name in columns.items() if name in header}
    if not present:
        raise DataError("no column is named like a statement", file=table, hint="map statement ids to columns")
    kept = [row for row in rows if _passes(row, description)]
    groups = [_group(row, description) for row in kept]
    answers_by_id: dict[str, list[float | None]] = {id_: [] for id_ in present}
    names = []
    for row, group in zip(kept, groups, strict=True):
        if group is None:
            continue
        names.append(group)
        for id_, column in present.items():
            answers_by_id[id_].append(_answer(row, column, description, table))
    if not names:
        raise DataError("no respondent is left", file=table, hint="mind the filter and the levels of the groups")
    columns_of_answers = {id_: pl.Series(answers, dtype=pl.Float64) for id_, answers in answers_by_id.items()}
    return Survey(
        description.name or place.stem,
        pl.DataFrame({_GROUP: pl.Series(names, dtype=pl.String), **columns_of_answers}),
        tuple(id_ for id_ in statements if id_ not in present),
        len(rows),
        len(names),
        description.synthetic or SYNTHETIC in header,
        (place, table),
        hashlib.sha256((sha256_file(place) + sha256_file(table)).encode()).hexdigest(),
    )


def _passes(row: Row, description: SurveyFile) -> bool:
    for column, allowed in description.filter.items():
        values = allowed if isinstance(allowed, list) else [allowed]
        if _plain(row.values.get(column)) not in [_plain(value) for value in values]:
            return False
    return True


def _group(row: Row, description: SurveyFile) -> str | None:
    """The group of a respondent; None if no group has that level."""
    if description.groups is None:
        return ""
    level = _plain(row.values.get(description.groups.column))
    groups = {_plain(its_level): group for group, its_level in description.groups.levels.items()}
    return groups.get(level)


def _plain(value: object) -> str:
    """A value in the form that is compared: 1, "1" and 1.0 are the same level."""
    text = "" if value is None else str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number:.17g}"


def _answer(row: Row, column: str, description: SurveyFile, table: Path) -> float | None:
    raw = row.values.get(column)
    text = _plain(raw)
    if not text or text in [_plain(value) for value in description.missing]:
        return None
    low, high = description.scale
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


@asked
def synthetic_survey(
    means: Mapping[str, Mapping[str, float]],
    sds: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, int],
    *,
    statements: Mapping[str, tuple[str, bool]],
    spread: float = 0.8,
    seed: int = 0,
) -> pl.DataFrame:
    """Synthetic answers, marked as such in a column of their own: for tests and tutorials, never for findings.

    `means` and `sds` give, by group and value, the mean and the standard deviation between respondents of their leaning
    on the scale from 1 to 5; `groups` the number of respondents in each; `statements` maps an id to its value and
    whether it is reversed. An answer is the respondent's leaning, mirrored for a reversed statement, plus noise of
    standard deviation `spread`, rounded and clipped to the scale. Raises MethodError for a group or value without
    numbers.
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
            turned = LOW + HIGH - leaning[value] if reverse else leaning[value]
            noisy = np.rint(turned + rng.normal(0, spread, n))
            columns[id_] = np.clip(noisy, LOW, HIGH).astype(np.int64)
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)
