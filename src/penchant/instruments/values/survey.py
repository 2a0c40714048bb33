"""People's answers to the statements of a set: read from a table through a map of its columns, or synthetic.

A survey is described by a YAML file (see `SurveyFile`); its table has one row per respondent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

from penchant.arguments import asked
from penchant.errors import MOST_LISTED, DataError, MethodError, together
from penchant.files import sha256_file
from penchant.instruments.values.answer_labels import is_no_answer, stance
from penchant.tables.documents import read_document
from penchant.tables.given import NAME, document_of, path_of, texts
from penchant.tables.rows import Row, lacking, read_labelled
from penchant.tables.survey_files import Labels

LOW, HIGH = 1, 5
"""The ends of the scale of ratings; answers on another scale are mapped to it linearly."""
_GROUP = ""
"""The column of answers that has the group of a respondent."""
_SHOWN = 8
"""The values of a column that a message lists."""
SYNTHETIC = "synthetic"
"""A column of this name marks synthetic answers, wherever the table goes."""


class Groups(BaseModel):
    """The column that says which group a respondent belongs to."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    column: str
    """The name of the column."""
    levels: Annotated[dict[str, str | int], Field(min_length=1)]
    """The level in the column for each group of the templates, as group: level; a code, or its label in SPSS or
    Stata."""

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
    """The table: CSV, TSV, JSON lines, Parquet, an Excel workbook, SPSS (.sav) or Stata (.dta), with one row per
    respondent."""
    columns: dict[str, str] = {}
    """The column of each statement, as id: column. Default: the column named like the id."""
    groups: Groups | None = None
    """How respondents are divided into groups. Default: all respondents are compared with every group."""
    filter: dict[str, str | int | list[str | int]] = {}
    """The value, or values, of a column that rows are kept for, as column: value. Default: all rows are kept. A value
    is a code, or its label in SPSS or Stata."""
    scale: tuple[float, float] = (LOW, HIGH)
    """The answers that mean strongly disagree and strongly agree. Default: 1, 5."""
    codes: dict[str, float] = {}
    """The numbers on the scale of answers that are written in words, as answer: number. Default: none are."""
    missing: list[str | int] = ["NA"]
    """Values that mean no answer, besides an empty cell and what SPSS or Stata declares missing. Default: NA."""
    synthetic: bool = False
    """Whether the answers are made up. Default: no."""

    @field_validator("scale")
    @classmethod
    def _of_some_length(cls, scale: tuple[float, float]) -> tuple[float, float]:
        if scale[0] == scale[1] or not np.isfinite(scale).all():
            raise ValueError(f"a scale runs from one number to another, got {scale[0]:g} and {scale[1]:g}")
        return scale


@dataclass(frozen=True, slots=True, repr=False)
class Survey:
    """Answers on the scale from 1 to 5.

    `answers` has a column named "" (as no statement can be) with the group, "" where there are no groups, and one
    column per statement, null where there is no answer. `absent` are the statements without a column; `kept` of `read`
    rows passed the filter and have a group. `agreeing` is the answer that is taken for agreeing, with its label, and
    `levels` lists the values of the columns that respondents are chosen by.
    """

    name: str
    answers: pl.DataFrame
    absent: tuple[str, ...]
    read: int
    kept: int
    synthetic: bool
    files: tuple[Path, ...]
    sha256: str
    agreeing: str = ""
    levels: str = ""

    def __repr__(self) -> str:
        made_up = ", synthetic" if self.synthetic else ""
        answers = f"answers of {self.kept:,} respondents to {len(self.answers.columns) - 1} statements"
        return f"<survey {self.name}: {answers}{made_up}>"

    def of(self, group: str) -> pl.DataFrame:
        """The answers of a group, or of everybody where the survey has no groups."""
        answers = self.answers.filter(self.answers[_GROUP].is_in([group, ""]))
        return answers.drop(_GROUP)


def file_of_survey(given: Any) -> Path:
    """The file of a survey given in Python: its table, or the keys of its description with a table under `file`.
    Raises DataError."""
    if isinstance(given, Mapping) and "file" in given:
        return document_of({"name": NAME, **given}, {"file": ()}, "survey.yaml")
    return path_of(given)


@asked
def read_survey(path: Any, statements: Iterable[str]) -> Survey:
    """Read the answers to some statements (by id). `path` is the description of a survey, a table whose columns are
    named like the statements, or either of them given as a mapping or a frame. Raises DataError naming file, line and
    field, with every other bad answer in its notes."""
    statements, place = texts(statements, "statements"), file_of_survey(path)
    if not statements:
        raise DataError("no statement is named", where="statements", hint="give the ids of the statements")
    if place.suffix.lower() in (".yaml", ".yml"):
        description = read_document(place, SurveyFile, hint="see penchant schema values")
    else:
        description = SurveyFile(file=place.name)
    table = place.parent / description.file
    rows, labels = read_labelled(table)
    header = list(dict.fromkeys(name for row in rows for name in row.values))
    present = _columns(description, place, statements, header)
    reading = _Reading(description, table, labels)
    kept = [(row, group) for row in rows if reading.passes(row) and (group := reading.group(row)) is not None]
    answers = {id_: [reading.answer(row, column) for row, _ in kept] for id_, column in present.items()}
    reading.refuse(present.values(), described=place != table)
    if not kept:
        raise DataError("no respondent is left", file=table, hint=reading.values_of(rows))
    files = (place, table) if place != table else (table,)
    columns_of_answers = {id_: pl.Series(of_id, dtype=pl.Float64) for id_, of_id in answers.items()}
    return Survey(
        description.name or place.stem,
        pl.DataFrame({_GROUP: pl.Series([group for _, group in kept], dtype=pl.String), **columns_of_answers}),
        tuple(id_ for id_ in statements if id_ not in present),
        len(rows),
        len(kept),
        description.synthetic or SYNTHETIC in header,
        files,
        hashlib.sha256("".join(map(sha256_file, files)).encode()).hexdigest(),
        reading.agreeing(present.values()),
        reading.values_of(rows),
    )


def _columns(description: SurveyFile, place: Path, statements: Sequence[str], header: list[str]) -> dict[str, str]:
    """The column of each statement that has one. Raises DataError for a name of a statement or column that is none."""
    unknown = [id_ for id_ in description.columns if id_ not in statements]
    if unknown:
        raise DataError(f"there is no statement '{unknown[0]}'", where=f"{place}, columns", hint="map statement ids")
    table = place.parent / description.file
    named = [*description.columns.values(), *description.filter]
    lacking([*named, *([description.groups.column] if description.groups else [])], header, table)
    columns = {id_: description.columns.get(id_, id_) for id_ in statements}
    present = {id_: name for id_, name in columns.items() if name in header}
    if not present:
        hint = f"write under columns of a survey.yaml which column answers which statement, as in {statements[0]}: Q17"
        raise DataError("no column is named like a statement", file=table, hint=hint)
    return present


class _Reading:
    """How the rows of a survey are read; what cannot be read is in `errors`."""

    def __init__(self, description: SurveyFile, table: Path, labels: Labels) -> None:
        self._wrong: dict[tuple[str, str], list[Row]] = {}
        self._table = table
        self._labels = {
            column: {_plain(code): label for code, label in of_column.items()} for column, of_column in labels.items()
        }
        self._scale = description.scale
        self._numbers = {_plain(answer): number for answer, number in description.codes.items()}
        self._words = {_plain(number): answer for answer, number in reversed(description.codes.items())}
        self._missing: dict[str, set[str]] = {}
        self._missing_named = description.missing
        self._filter = {
            column: self._codes(column, allowed if isinstance(allowed, list) else [allowed])
            for column, allowed in description.filter.items()
        }
        self._group_column = description.groups.column if description.groups else None
        self._groups = {
            code: group
            for group, level in (description.groups.levels.items() if description.groups else ())
            for code in self._codes(str(self._group_column), [level])
        }

    def _codes(self, column: str, named: Sequence[str | int]) -> set[str]:
        """The codes that values of a column stand for which are named by code or by label."""
        codes: set[str] = set()
        labels = self._labels.get(column, {})
        for value in named:
            labelled = {code for code, label in labels.items() if label == str(value).strip()}
            codes |= {_plain(value)} if _plain(value) in labels or not labelled else labelled
        return codes

    def passes(self, row: Row) -> bool:
        """Whether the filter keeps a row."""
        return all(_cell(row, column) in codes for column, codes in self._filter.items())

    def group(self, row: Row) -> str | None:
        """The group of a respondent, "" where there are no groups; None if no group has that level."""
        return "" if self._group_column is None else self._groups.get(_cell(row, self._group_column))

    def answer(self, row: Row, column: str) -> float | None:
        """An answer on the scale from 1 to 5, None for none."""
        if column not in self._missing:
            self._missing[column] = self._codes(column, self._missing_named)
        text = _cell(row, column)
        if not text or text in self._missing[column]:
            return None
        low, high = self._scale
        number = self._numbers.get(text, np.nan)
        with suppress(ValueError):
            number = float(text) if np.isnan(number) else number
        if not min(low, high) <= number <= max(low, high) or is_no_answer(self._label(column, text)):
            self._wrong.setdefault((column, text), []).append(row)
            return None
        return LOW + (HIGH - LOW) * (number - low) / (high - low)

    def _label(self, column: str, code: str) -> str:
        """What a code in a column stands for, empty where that is not known."""
        return self._labels.get(column, {}).get(code, "")

    def _end(self, column: str, end: float) -> str:
        """The label of an end of the scale: in the file, or the word that stands for it under `codes`."""
        return self._label(column, _plain(end)) or self._words.get(_plain(end), "")

    def agreeing(self, columns: Iterable[str]) -> str:
        """The answer that is taken for agreeing, with its first label in some columns."""
        end = self._scale[1]
        label = next(filter(None, (self._end(column, end) for column in columns)), "")
        return _labelled(f"{end:g}", label)

    def values_of(self, rows: Sequence[Row]) -> str:
        """The values of the columns that respondents are chosen by, with their labels, in words."""
        chosen = dict.fromkeys([*self._filter, *([self._group_column] if self._group_column else [])])
        told = []
        for column in chosen:
            values = sorted({_cell(row, column) for row in rows}, key=_in_order)
            shown = [_labelled(value or "(empty)", self._label(column, value)) for value in values[:_SHOWN]]
            more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
            told.append(f"{column} has the values {', '.join(shown)}{more}")
        return "; ".join(told)

    def refuse(self, columns: Iterable[str], *, described: bool) -> None:
        """Raise DataError if the labels of some columns contradict the scale, or if answers could not be read: for each
        of them or, where there are more than are listed, for each value of each column, where it stands first.
        `described` is whether the survey has a description."""
        wrong = list(self._wrong.items())
        if sum(len(rows) for _, rows in wrong) <= MOST_LISTED:
            wrong = [(answer, [row]) for answer, rows in wrong for row in rows]
        errors = [self._unreadable(column, text, rows) for (column, text), rows in wrong]
        errors = [*self._turned(columns, described=described), *sorted(errors, key=lambda error: error.line or 0)]
        if errors:
            raise together(errors)

    def _turned(self, columns: Iterable[str], *, described: bool) -> list[DataError]:
        """One error if the labels say that the scale is the wrong way round."""
        low, high = self._scale
        ends = {column: (stance(self._end(column, low)), stance(self._end(column, high))) for column in columns}
        turned = [column for column, stances in ends.items() if stances == ("agree", "disagree")]
        if not turned:
            return []
        right = [column for column, stances in ends.items() if stances == ("disagree", "agree")]
        told = f"{low:g} is labelled '{self._end(turned[0], low)}', and the scale takes {high:g} for agreeing"
        hint = f"say scale: [{high:g}, {low:g}]" + ("" if described else " in a survey.yaml that names the file")
        if right:
            hint = f"recode the one or the other: by its labels, {right[0]} takes {high:g} for agreeing"
        return [DataError(told, file=self._table, field=turned[0], hint=hint)]

    def _unreadable(self, column: str, text: str, rows: Sequence[Row]) -> DataError:
        """What is wrong with an answer that stands in some rows of a column."""
        low, high = sorted(self._scale)
        label, value = self._label(column, text), f"{rows[0].values.get(column)!r}"
        more = f", and in {len(rows) - 1} more rows" if len(rows) > 1 else ""
        hint = "name what stands for no answer under missing, or set scale"
        if not _is_number(text):
            hint = "give the numbers of answers in words under codes, and name what stands for no answer under missing"
        told = f"an answer lies between {low:g} and {high:g}, got {_labelled(value, label)}{more}"
        if is_no_answer(label or text):
            hint = "name it under missing"
            if _is_number(text) and low <= float(text) <= high:
                told = f"{value} is labelled '{label}'{more}"
        return DataError(told, file=self._table, line=rows[0].line, field=column, hint=hint)


def _labelled(value: str, label: str) -> str:
    return f"{value} ({label})" if label else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cell(row: Row, column: str) -> str:
    return _plain(row.number(row.values.get(column)))


def _in_order(value: str) -> tuple[bool, float, str]:
    """The place of a value among those of its column: numbers, then words, then the empty one."""
    return not value, float(value) if _is_number(value) else np.inf, value


def _plain(value: object) -> str:
    """A value in the form that is compared: 1, "1" and 1.0 are the same level."""
    text = "" if value is None else str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number:.17g}"


def _check_made_up(groups: Mapping[str, Any], statements: Mapping[str, Any]) -> None:
    """Raise MethodError unless every group has a number of respondents, and every statement two parts."""
    for group, n in groups.items():
        if isinstance(n, bool) or not isinstance(n, Integral) or int(n) < 1:
            raise MethodError(f"group '{group}' has a number of respondents, got {n!r}")
    for id_, entry in statements.items():
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise MethodError(f"statement '{id_}' has its value and whether it is reversed, got {entry!r}")


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
    _check_made_up(groups, statements)
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
