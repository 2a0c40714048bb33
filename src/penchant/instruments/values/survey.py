"""People's answers to the statements of a set, read from a table or synthetic."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.call_checks import asked
from penchant.errors import DataError, MethodError, file_name, is_kept, together
from penchant.files import sha256_file
from penchant.instruments.values.data import CAUTIONS, HIGH, LOW
from penchant.instruments.values.survey_codebook import DEFAULT, SurveyFile
from penchant.instruments.values.survey_respondent_checks import (
    repeated,
    repeated_ids,
    require_answers,
    unlike,
    unused,
    weighed,
    weightless,
)
from penchant.instruments.values.survey_rows import Reading
from penchant.plurals import counted
from penchant.tables.data_lookup import suggestion
from penchant.tables.footer_rows import footer
from penchant.tables.in_memory import document_of, path_of, texts
from penchant.tables.rows import FileRow, read_labelled
from penchant.tables.survey_files import Labels
from penchant.tables.yaml_json_documents import read_document
from penchant.wording.phrases import Note, Notes

_NAMED = 5
"""Number of statements that an error names."""
_GROUP = ""
"""The name of the column of `Survey.answers` that contains the group of a respondent."""
SURVEY = "survey"
"""The name of answers passed from Python."""
SYNTHETIC = "synthetic"
"""The name of the column that marks synthetic answers."""


@dataclass(frozen=True, slots=True, repr=False)
class Survey:
    """Answers on the scale from 1 to 5.

    `answers` has one column per statement, null for no answer, and a column named "" with the group ("" if there are no
    groups). `absent` are the statements without a column. Of `read` rows, `kept` pass the filter, have a group and no
    weight of 0; `others` counts the rest by reason. `agreeing` is the answer coded as agreement. `levels` lists the
    values of the columns that select respondents. `chosen` names the column and level of each group in `answers`,
    `people_chosen` those of each group in `people`. `weights` are above 0, or None if there are none. `people` has the
    group of each respondent that a model is compared with ("" for none), or is None if a model is compared with the
    groups of the templates. `elsewhere` counts the respondents whose entry in `people` is "", by level.
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
    chosen: Mapping[str, str] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    others: Notes = ()
    weights: tuple[float, ...] | None = None
    weighted_by: str = ""
    people: tuple[str, ...] | None = None
    people_chosen: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Notes = ()

    def __repr__(self) -> str:
        made_up = ", synthetic" if self.synthetic else ""
        statements = counted(len(self.answers.columns) - 1, "statements")
        return f"<survey {self.name}: answers of {counted(self.kept, 'respondents')} to {statements}{made_up}>"

    @property
    def left_out(self) -> str:
        """The numbers of respondents left out, by reason, in words."""
        return ", ".join(map(str, self.others))

    @property
    def unplaced(self) -> str:
        """The numbers of kept respondents in none of the groups of people, by level, in words."""
        return ", ".join(map(str, self.elsewhere))

    def source(self, group: str) -> str:
        """Return the source and weighting of a group's answers, in words."""
        return str(self.answered(group))

    def answered(self, group: str) -> Note:
        """Return the note on the source and weighting of a group's answers."""
        people = {**self.people_chosen, **self.chosen}.get(group)
        file = file_name(self.files[-1]) if self.files else None
        return Note("values.source", file=file, people=people, weights=self.weighted_by or None)

    def of(self, group: str) -> pl.DataFrame:
        """Return the answers of a group, or of everybody if the survey has no groups."""
        return self.answers.filter(self._in(group)).drop(_GROUP)

    def weights_of(self, group: str) -> NDArray[np.float64] | None:
        """Return the weights of a group's respondents, in the order of `of`, or None if there are no weights."""
        return None if self.weights is None else np.array(self.weights)[self._in(group).to_numpy()]

    def _in(self, group: str) -> pl.Series:
        return self.answers[_GROUP].is_in([group, ""])

    def sides(self) -> dict[str, NDArray[np.bool_]]:
        """Return the groups of people that a model is compared with, as masks of their respondents.

        Empty if `people` is None and fewer than two groups of the templates have respondents.
        """
        names = self.answers[_GROUP].to_list() if self.people is None else list(self.people)
        named = self.chosen if self.people is None else self.people_chosen
        known = [name for name in dict.fromkeys([*named, *sorted(set(names))]) if name and name in names]
        if self.people is None and len(known) < 2:
            return {}
        return {name: np.array([of == name for of in names], dtype=bool) for name in known}


def file_of_survey(given: Any) -> Path:
    """Return the file of a survey passed as a table, or as a description with a table.

    Raises DataError if the table is invalid.
    """
    if isinstance(given, Mapping) and "file" in given:
        return document_of({"name": SURVEY, **given}, {"file": ()}, SURVEY)
    return path_of(given, name=SURVEY)


@asked
def read_survey(path: Any, statements: Iterable[str]) -> Survey:
    """Read the answers to some statements. Raises DataError with all errors in its notes.

    `path` is the description of a survey, a table whose columns are named after the statements, or one of these as a
    mapping or data frame. `statements` are ids, or a mapping of ids to texts, which must be those of the file, if any.
    """
    worded = _worded(statements)
    statements, place = texts(list(worded) or statements, "statements"), file_of_survey(path)
    _require_any(statements)
    description = _description(place)
    table = place.parent / description.file
    rows, labels = read_labelled(table)
    header = list(dict.fromkeys(name for row in rows for name in row.values))
    present, errors = _columns(description, place, statements, header)
    errors += _of_other_texts(worded, {id_: labels.asked.get(column) for id_, column in present.items()}, table)
    reading = Reading(description, table, labels)
    kept, weights, lost, unreadable = _kept(rows, reading, description.weights, table)
    answers = {id_: [reading.answer(row, column) for row, _ in kept] for id_, column in present.items()}
    reading.refuse(present.values(), described=place != table, others=[*errors, *unreadable])
    require_answers(answers, [group for _, group in kept], table, reading.values_of(rows))
    people = _people(reading, description, [row for row, _ in kept], place)
    files = (place, table) if place != table else (table,)
    weight = description.weights or ""
    cautions = [
        *_otherwise_written(statements, present, header),
        *reading.cautions(present.values()),
        *_of_rows(rows, labels, description, present.values()),
        *weightless(lost, weight),
        *(unlike([row for row, _ in kept], weights, weight) if weights else ()),
    ]
    return Survey(
        description.name or place.stem,
        _table(answers, [group for _, group in kept]),
        tuple(id_ for id_ in statements if id_ not in present),
        len(rows),
        len(kept),
        description.synthetic or SYNTHETIC in header,
        files,
        hashlib.sha256("".join(map(sha256_file, files)).encode()).hexdigest(),
        reading.agreeing(present.values()),
        reading.values_of(rows),
        reading.chosen(),
        tuple(cautions),
        reading.left_out(rows, len(lost)),
        weights,
        weight,
        people,
        reading.chosen_people(),
        reading.unplaced([row for row, _ in kept]),
    )


def _table(answers: Mapping[str, Sequence[float | None]], groups: Sequence[str]) -> pl.DataFrame:
    columns = {_GROUP: pl.Series(groups, dtype=pl.String)}
    return pl.DataFrame(columns | {id_: pl.Series(of_id, dtype=pl.Float64) for id_, of_id in answers.items()})


def _require_any(statements: Sequence[str]) -> None:
    if not statements:
        raise DataError("no statements were given", where="statements", hint="give the ids of the statements")


def _worded(statements: Iterable[str]) -> Mapping[str, str]:
    given = statements if isinstance(statements, Mapping) else {}
    return given if all(isinstance(text, str) for text in given.values()) else {}


def _description(place: Path) -> SurveyFile:
    """Return the description of a survey or, for a table alone, a description that only names the table.

    Raises DataError if the description is invalid.
    """
    if place.suffix.lower() in (".yaml", ".yml"):
        return read_document(place, SurveyFile, hint="see penchant schema values")
    return SurveyFile(file=place.name)


def _of_other_texts(worded: Mapping[str, str], asked: Mapping[str, str | None], table: Path) -> Iterator[DataError]:
    changed = [id_ for id_, text in worded.items() if asked.get(id_) not in (None, text)]
    if changed:
        named = ", ".join([*changed[:_NAMED], *(["…"] if len(changed) > _NAMED else [])])
        message = f"{counted(len(changed), 'statements')} had a different text when answered: {named}"
        hint = "restore the text, or give the statement another id and ask people again"
        yield DataError(message, file=table, hint=hint)


def _kept(
    rows: Sequence[FileRow], reading: Reading, column: str | None, table: Path
) -> tuple[list[tuple[FileRow, str]], tuple[float, ...] | None, list[FileRow], list[DataError]]:
    """Return the rows kept (each with its group), their weights, the rows of weight 0, and errors in weights.

    Rows that fail the filter, have no group or have the weight 0 are left out. Weights are None if `column` is.
    Raises DataError if the table ends in footer rows.
    """
    passing = [row for row in rows if reading.passes(row)]
    if (below := footer(passing, table)) is not None:
        raise below
    kept = [(row, group) for row in passing if (group := reading.group(row)) is not None]
    if column is None:
        return kept, None, [], []
    weights, errors = weighed([row for row, _ in kept], column, table)
    pairs = list(zip(kept, weights, strict=True))
    lost = [row for (row, _), weight in pairs if weight == 0]
    return [one for one, weight in pairs if weight], tuple(filter(None, weights)), lost, errors


def _of_rows(
    rows: Sequence[FileRow], labels: Labels, description: SurveyFile, answers: Collection[str]
) -> Iterator[str]:
    header = list(dict.fromkeys(name for row in rows for name in row.values))
    chosen = description.chosen()
    yield from repeated(rows)
    yield from repeated_ids(rows, labels.columns, answers, [name for name in chosen if name != description.weights])
    yield from unused(header, labels.columns, {*answers, *chosen}, description.weights or "")


def _people(reading: Reading, description: SurveyFile, rows: Sequence[FileRow], place: Path) -> tuple[str, ...] | None:
    if description.people is None:
        return None
    people = tuple(reading.people(row) for row in rows)
    empty = [name for name in description.people.levels if name not in people]
    if empty:
        message = f"no respondent belongs to group '{empty[0]}' of people"
        raise DataError(message, file=place, field="people", hint=reading.values_of(rows))
    return people


def _columns(
    description: SurveyFile, place: Path, statements: Sequence[str], header: list[str]
) -> tuple[dict[str, str], list[DataError]]:
    """Return the column of each statement that has one, and an error for every column that is named but missing.

    Raises DataError for an unknown statement, for a missing column that selects respondents or has a scale of its own,
    for a column that two statements share or that also has the weights, and if no column is named after a statement.
    """
    unknown = [id_ for id_ in description.columns if id_ not in statements]
    if unknown:
        hint = "the keys of columns are ids of statements"
        raise DataError(f"there is no statement '{unknown[0]}'", where=f"{place}, columns", hint=hint)
    table = place.parent / description.file
    left_out = "; a statement that was not asked may be left out of columns"
    chosen = description.chosen()
    chosen += [name for name in description.scales() if name != DEFAULT]
    hints = dict.fromkeys(chosen, "") | dict.fromkeys(description.columns.values(), left_out)
    errors = [
        DataError(f"there is no column '{name}'", file=table, hint=suggestion(name, header) + more)
        for name, more in hints.items()
        if name not in header
    ]
    if errors and any(name not in header for name in chosen):
        raise together(errors)
    columns = {id_: description.columns.get(id_, id_) for id_ in statements}
    present = {id_: name for id_, name in columns.items() if name in header}
    if not present and not errors:
        hint = f"map statements to columns in a survey.yaml, as in columns: {{{statements[0]}: Q17}}"
        if is_kept(table):
            hint = f"map statements to columns: {{'file': TABLE, 'columns': {{'{statements[0]}': 'Q17'}}}}"
        hint = "; ".join([*_otherwise_written(statements, present, header), hint])
        raise DataError("no column is named after a statement", file=table, hint=hint)
    _once(present, place)
    if description.weights in present.values():
        raise DataError(
            f"the column '{description.weights}' holds answers to a statement, not weights", where=f"{place}, weights"
        )
    return present, errors


def _once(present: Mapping[str, str], place: Path) -> None:
    of: dict[str, str] = {}
    for id_, name in present.items():
        if name in of:
            message = f"the column '{name}' belongs to two statements, {of[name]} and {id_}"
            raise DataError(message, where=f"{place}, columns", hint="name a different column for each statement")
        of[name] = id_


def _otherwise_written(statements: Sequence[str], present: Mapping[str, str], header: Sequence[str]) -> list[str]:
    """Return a caution, in a list, if ids differ from column names only in case or blanks, else an empty list."""
    folded = {name.casefold().strip(): name for name in header if name not in present.values()}
    near = [f"{id_}: {folded[id_.casefold()]}" for id_ in statements if id_ not in present and id_.casefold() in folded]
    return [CAUTIONS.get("another-case", near=near)] if near else []


def _check_made_up(groups: Mapping[str, Any], statements: Mapping[str, Any]) -> None:
    for group, n in groups.items():
        if isinstance(n, bool) or not isinstance(n, Integral) or int(n) < 1:
            raise MethodError(f"group '{group}' needs a positive whole number of respondents, got {n!r}")
    for id_, entry in statements.items():
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise MethodError(f"statement '{id_}' needs a pair (value, reversed), got {entry!r}")


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
    """Return synthetic answers, marked as such in a column of their own: for tests and tutorials, never for findings.

    `means` and `sds` give, by group and value, the mean and the standard deviation of respondents' leanings on the
    scale from 1 to 5; `groups` the number of respondents in each; `statements` maps an id to its value and
    whether it is reversed. An answer is the respondent's leaning, mirrored for a reversed statement, plus noise of
    standard deviation `spread`, rounded and clipped to the scale. Raises MethodError if a group or value
    lacks a mean or a standard deviation.
    """
    taken = {SYNTHETIC, "group"} & statements.keys()
    if taken:
        raise MethodError(f"the id '{min(taken)}' is reserved for a column of synthetic answers")
    _check_made_up(groups, statements)
    rng = np.random.default_rng(seed)
    parts = []
    values = dict.fromkeys(value for value, _ in statements.values())
    for group, n in groups.items():
        for name, table in (("means", means), ("sds", sds)):
            lacking = [value for value in values if value not in table.get(group, {})]
            if lacking:
                raise MethodError(f"{name} has no number for value '{lacking[0]}' in group '{group}'")
        leaning = {value: rng.normal(means[group][value], sds[group][value], n) for value in values}
        columns: dict[str, object] = {SYNTHETIC: ["yes"] * n, "group": [group] * n}
        for id_, (value, reverse) in statements.items():
            turned = LOW + HIGH - leaning[value] if reverse else leaning[value]
            noisy = np.rint(turned + rng.normal(0, spread, n))
            columns[id_] = np.clip(noisy, LOW, HIGH).astype(np.int64)
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)
