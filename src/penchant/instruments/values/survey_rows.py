"""Interpretation of survey rows: codes and their labels, words, missing answers, groups and filters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penchant.errors import MOST_LISTED, DataError, together
from penchant.instruments.values.data import CAUTIONS, HIGH, LOW
from penchant.instruments.values.survey_codebook import DEFAULT, Groups, SurveyFile, plain
from penchant.instruments.values.survey_label_meanings import gender, is_no_answer, stance
from penchant.instruments.values.survey_respondent_checks import lines_of
from penchant.number_parsing import numeral
from penchant.plurals import first_of, for_one
from penchant.tables.rows import FileRow
from penchant.tables.survey_files import Labels
from penchant.wording.phrases import Note, Notes

_SHOWN = 8
"""Number of values of a column that a message lists."""
EMPTY = "(empty)"
_FEW = 0.05
"""Largest ratio of answers between the points of a scale to answers on them for which a caution is raised."""
_SAID = (("disagree", "agree"), ("disagree", None), (None, "agree"))
_TURNED = (("agree", "disagree"), ("agree", None), (None, "disagree"))
"""The stances of the low and the high end of a scale in the right direction, and in the wrong one."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    column: str
    codes: Mapping[str, str]


class Reading:
    """A reader of survey rows that collects errors for `refuse` to raise."""

    def __init__(self, description: SurveyFile, table: Path, labels: Labels) -> None:
        self._wrong: dict[tuple[str, str], list[FileRow]] = {}
        self._between: dict[tuple[str, str], list[FileRow]] = {}
        self._whole: Counter[str] = Counter()
        self._declared = labels.declared
        self._table = table
        self._labels = {
            column: {plain(code): label for code, label in of_column.items()} for column, of_column in labels.items()
        }
        self._scales = description.scales()
        self._numbers = {plain(answer): number for answer, number in description.codes.items()}
        self._words = {plain(number): answer for answer, number in reversed(description.codes.items())}
        self._missing: dict[str, set[str]] = {}
        self._missing_named = description.missing
        self._filter = {
            column: self._codes(column, allowed if isinstance(allowed, list) else [allowed])
            for column, allowed in description.filter.items()
        }
        self._groups, self._people = self._chosen(description.groups), self._chosen(description.people)

    def _chosen(self, groups: Groups | None) -> _Chosen | None:
        if groups is None:
            return None
        levels = [(group, level) for group, own in groups.levels.items() for level in own]
        codes = {code: group for group, level in levels for code in sorted(self._codes(groups.column, [level]))}
        return _Chosen(groups.column, codes)

    def _codes(self, column: str, named: Sequence[str | int | float]) -> set[str]:
        codes: set[str] = set()
        labels = self._labels.get(column, {})
        for value in named:
            labelled = {code for code, label in labels.items() if label == str(value).strip()}
            codes |= {plain(value)} if plain(value) in labels or not labelled else labelled
        return codes

    def _cell(self, row: FileRow, column: str) -> str:
        return plain(row.number(row.values.get(column), self._table, column))

    def passes(self, row: FileRow) -> bool:
        """Return whether the filter keeps a row."""
        return all(self._cell(row, column) in codes for column, codes in self._filter.items())

    def group(self, row: FileRow) -> str | None:
        """Return the group of a respondent, "" if there are no groups, or None if no group has their level."""
        return "" if self._groups is None else self._groups.codes.get(self._cell(row, self._groups.column))

    def people(self, row: FileRow) -> str:
        """Return the group under `people` that a respondent belongs to, or "" if there is none."""
        return "" if self._people is None else self._people.codes.get(self._cell(row, self._people.column), "")

    def answer(self, row: FileRow, column: str) -> float | None:
        """Return an answer on the scale from 1 to 5, or None if it is missing or is invalid, which `refuse` reports."""
        if column not in self._missing:
            self._missing[column] = self._codes(column, self._missing_named)
        text = self._cell(row, column)
        if not text or text in self._missing[column]:
            return None
        low, high = self._scale(column)
        label = self._label(column, text)
        number = self._numbers.get(text, self._numbers.get(plain(label), np.nan))
        if np.isnan(number):
            number = as_number(text)
        if np.isnan(number):
            meant = self._in_another_case(plain(label) or text)
            if meant == {None}:
                return None
            number = next((n for n in meant if n is not None and len(meant) == 1), np.nan)
        if not min(low, high) <= number <= max(low, high) or is_no_answer(label):
            self._wrong.setdefault((column, text), []).append(row)
            return None
        if text not in self._numbers and not label:
            if number == int(number):
                self._whole[column] += 1
            else:
                self._between.setdefault((column, text), []).append(row)
        return LOW + (HIGH - LOW) * (number - low) / (high - low)

    def _between_points(self) -> Iterator[str]:
        """Yield a caution about a few answers between the points of a scale, in columns of otherwise whole answers."""
        counts: Counter[str] = Counter()
        for (column, _), rows in self._between.items():
            counts[column] += len(rows)
        few = [(*cell, rows) for cell, rows in self._between.items() if counts[cell[0]] <= _FEW * self._whole[cell[0]]]
        if few:
            shown = first_of([f"{text} in {column} ({lines_of(rows)})" for column, text, rows in few], _SHOWN)
            yield CAUTIONS.get("between-points", answers=shown)

    def _in_another_case(self, word: str) -> set[float | None]:
        """Return the meanings of answers that equal `word` except for case: numbers, or None for no answer."""
        folded = word.casefold()
        meant: set[float | None] = {number for word, number in self._numbers.items() if word.casefold() == folded}
        missing = {plain(value).casefold() for value in self._missing_named}
        return meant | ({None} if folded in missing else set())

    def _scale(self, column: str) -> tuple[float, float]:
        return self._scales.get(column, self._scales[DEFAULT])

    def _label(self, column: str, code: str) -> str:
        return self._labels.get(column, {}).get(code, "")

    def _end(self, column: str, end: float) -> str:
        """Return the label of an end of the scale, from the file or from `codes`.

        `codes` takes precedence if it maps labels of the file to other numbers.
        """
        word = self._words.get(plain(end), "")
        if word and not self._numbers.keys().isdisjoint(map(plain, self._labels.get(column, {}).values())):
            return word
        return self._label(column, plain(end)) or word

    def agreeing(self, columns: Iterable[str]) -> str:
        """Describe the answer coded as agreement, with its label, and by column if columns differ."""
        of_end: dict[float, list[str]] = {}
        for column in columns:
            of_end.setdefault(self._scale(column)[1], []).append(column)
        texts = []
        for end, own in of_end.items():
            label = next(filter(None, (self._end(column, end) for column in own)), "")
            texts.append(_labelled(f"{end:g}", label) + (f" in {_few(own)}" if len(of_end) > 1 else ""))
        return ", ".join(texts)

    def values_of(self, rows: Sequence[FileRow]) -> str:
        """Describe the values of the columns that select respondents, with their labels."""
        chosen = dict.fromkeys([*self._filter, *(each.column for each in (self._groups, self._people) if each)])
        texts = []
        for column in chosen:
            values = sorted({self._level(row, column) for row in rows}, key=_in_order)
            shown = [_labelled(value or EMPTY, self._label(column, value)) for value in values]
            texts.append(f"{column} has the values {first_of(shown, _SHOWN)}")
        return "; ".join(texts)

    def left_out(self, rows: Sequence[FileRow], weightless: int) -> Notes:
        """Return notes that count the rows without a group (by level), with weight 0, or excluded by the filter."""
        passing = [row for row in rows if self.passes(row)]
        lost = len(rows) - len(passing)
        notes = [Note("values.not-passing", have=lost)] if lost else []
        if self._groups is not None:
            notes += self._counted([row for row in passing if self.group(row) is None], self._groups.column)
        return *notes, *([Note("values.weightless", have=weightless)] if weightless else [])

    def unplaced(self, rows: Sequence[FileRow]) -> Notes:
        """Return notes that count the rows in none of the groups under `people`, by level."""
        if self._people is None:
            return ()
        return self._counted([row for row in rows if not self.people(row)], self._people.column)

    def _counted(self, rows: Sequence[FileRow], column: str) -> Notes:
        counts = Counter(self._level(row, column) for row in rows)
        levels = sorted(counts, key=_in_order)
        of_each = {value: _labelled(value, self._label(column, value)) or None for value in levels[:_SHOWN]}
        notes = [Note("values.of-level", have=counts[v], column=column, level=level) for v, level in of_each.items()]
        more = sum(counts[value] for value in levels[_SHOWN:])
        return *notes, *([Note("values.of-other-levels", have=more)] if more else [])

    def _level(self, row: FileRow, column: str) -> str:
        return self._cell(row, column) or plain(self._declared.get(column, {}).get(row.line))

    def refuse(self, columns: Iterable[str], *, described: bool, others: Sequence[DataError] = ()) -> None:
        """Raise DataError for `others`, for labels that contradict the scale, and for invalid answers.

        Every invalid answer has its own error; if there are too many, every distinct value of a column has one.
        `described` is true if the survey has a description.
        """
        wrong = list(self._wrong.items())
        beyond, inside = self._beyond(), []
        if beyond is not None:
            inside = [beyond]
            wrong = [((column, text), rows) for (column, text), rows in wrong if not self._is_beyond(column, text)]
        columns_of: dict[str, list[str]] = {}
        for (column, text), _ in wrong:
            columns_of.setdefault(text, []).append(column)
        spread = [text for text, of in columns_of.items() if len(of) > 1 and not _is_number(text)]
        inside += [self._in_columns(text, columns_of[text]) for text in spread]
        wrong = [((column, text), rows) for (column, text), rows in wrong if text not in spread]
        if sum(len(rows) for _, rows in wrong) <= MOST_LISTED:
            wrong = [(answer, [row]) for answer, rows in wrong for row in rows]
        errors = [self._unreadable(column, text, rows) for (column, text), rows in wrong]
        errors.sort(key=lambda error: error.line or 0)
        errors = [*others, *self._turned(columns, described=described), *inside, *errors]
        if errors:
            raise together(errors)

    def _is_beyond(self, column: str, text: str) -> bool:
        low, high = sorted(self._scale(column))
        return _is_number(text) and not low <= float(text) <= high

    def _beyond(self) -> DataError | None:
        """Return one error for all numbers off the scale if one of them recurs in another column, else None."""
        found = {answer: rows for answer, rows in self._wrong.items() if self._is_beyond(*answer)}
        columns = list(dict.fromkeys(column for column, _ in found))
        codes = sorted({text for _, text in found}, key=float)
        if len(columns) < 2 or len(found) == len(codes):
            return None
        labels = {code: next(filter(None, (self._label(c, code) for c in columns)), "") for code in codes}
        low, high = sorted(self._scale(columns[0]))
        shown = " and ".join(_labelled(code, labels[code]) for code in codes[:_SHOWN])
        first = min(rows[0].line for rows in found.values())
        answers = sum(map(len, found.values()))
        return DataError(
            f"expected an answer between {low:g} and {high:g}, got {shown} in {len(columns)} columns ({_few(columns)}; "
            f"{answers} answers)",
            file=self._table,
            line=first,
            hint=f"if no answer is meant, write missing: [{', '.join(codes)}]; or set scale",
        )

    def chosen(self) -> dict[str, str]:
        """Return the column and the levels of each group of the templates, in words."""
        return self._in_words_of(self._groups)

    def chosen_people(self) -> dict[str, str]:
        """Return the column and the levels of each group under `people`, in words."""
        return self._in_words_of(self._people)

    def _in_words_of(self, groups: _Chosen | None) -> dict[str, str]:
        if groups is None:
            return {}
        levels: dict[str, list[str]] = {}
        for code, group in groups.codes.items():
            levels.setdefault(group, []).append(_labelled(code, self._label(groups.column, code)))
        return {group: f"{groups.column} {' or '.join(of)}" for group, of in levels.items()}

    def cautions(self, columns: Iterable[str]) -> list[str]:
        """Return cautions on unlabelled scale directions, groups with swapped levels, and answers between points."""
        unsaid: dict[tuple[float, float], list[str]] = {}
        for column in columns:
            if self._stances(column) not in _SAID:
                unsaid.setdefault(self._scale(column), []).append(column)
        cautions = [
            CAUTIONS.get("direction", columns=_few(of), low=low, high=high) for (low, high), of in unsaid.items()
        ]
        column = self._groups.column if self._groups else ""
        for code, group in self._groups.codes.items() if self._groups else ():
            label = self._label(column, code) or code
            if gender(label) and gender(group) and gender(label) != gender(group):
                level = f"{code} of {column}, which is '{label}'" if label != code else f"'{code}' of {column}"
                cautions.append(CAUTIONS.get("exchanged", group=group, level=level))
        return [*cautions, *self._between_points()]

    def _turned(self, columns: Iterable[str], *, described: bool) -> list[DataError]:
        """Return a list with one error if the labels show that the scale is reversed; else an empty list."""
        ends = {column: self._stances(column) for column in columns}
        turned = [column for column, stances in ends.items() if stances in _TURNED]
        if not turned:
            return []
        right = [column for column, stances in ends.items() if stances == ("disagree", "agree")]
        low, high = self._scale(turned[0])
        end = low if ends[turned[0]][0] == "agree" else high
        message = f"{end:g} is labelled '{self._end(turned[0], end)}', but the scale codes agreement as {high:g}"
        hint = f"write scale: [{high:g}, {low:g}]"
        if right or len(self._scales) > 1:
            least, most = self._scales[DEFAULT]
            own = {column: self._scale(column)[::-1] if column in turned else self._scale(column) for column in ends}
            others = [f"{c}: [{a:g}, {b:g}]" for c, (a, b) in own.items() if (a, b) != (least, most)]
            hint = f"write scale: {{{DEFAULT}: [{least:g}, {most:g}]{''.join(f', {each}' for each in others)}}}"
            hint += f": by its labels, {right[0]} codes agreement as {self._scale(right[0])[1]:g}" if right else ""
        hint += "" if described else " in a survey.yaml that names the file"
        return [DataError(message, file=self._table, field=turned[0], hint=hint)]

    def _stances(self, column: str) -> tuple[str | None, str | None]:
        low, high = self._scale(column)
        return stance(self._end(column, low)), stance(self._end(column, high))

    def _unreadable(self, column: str, text: str, rows: Sequence[FileRow]) -> DataError:
        low, high = sorted(self._scale(column))
        label, value = self._label(column, text), f"{rows[0].values.get(column)!r}"
        more = f", and in {len(rows) - 1} more {for_one(len(rows) - 1, 'rows')}" if len(rows) > 1 else ""
        hint = "list values that mean no answer under missing, or set scale"
        if not _is_number(text):
            words = [f"{json.dumps(word, ensure_ascii=False)}: NUMBER" for word in self._in_words(column)]
            hint = f"give a number for each answer in words, as codes: {{{', '.join(words)}}}" if words else ""
            hint = f"{hint or 'leave such cells empty'}, and list values that mean no answer under missing"
        message = f"expected an answer between {low:g} and {high:g}, got {_labelled(value, label)}{more}"
        if is_no_answer(label or text):
            hint = "list it under missing"
            if _is_number(text) and low <= float(text) <= high:
                message = f"{value} is labelled '{label}', which is not an answer{more}"
        return DataError(message, file=self._table, line=rows[0].line, field=column, hint=hint)

    def _in_columns(self, text: str, columns: Sequence[str]) -> DataError:
        rows = {column: self._wrong[column, text] for column in columns}
        first = min(columns, key=lambda column: rows[column][0].line)
        error = self._unreadable(first, text, rows[first][:1])
        answers = sum(map(len, rows.values()))
        error.message += f" in {len(columns)} columns ({_few(columns)}; {answers} answers)"
        return error

    def _in_words(self, column: str) -> list[str]:
        met = [text for of, text in self._wrong if of == column and not _is_number(text) and not is_no_answer(text)]
        return [text for text in met if text not in self._numbers][:_SHOWN]


def _few(columns: Sequence[str]) -> str:
    rest = len(columns) - _SHOWN
    more = f" and {rest} more {for_one(rest, 'columns')}" if rest > 0 else ""
    return f"{', '.join(columns[:_SHOWN])}{more}"


def _labelled(value: str, label: str) -> str:
    return f"{value} ({label})" if label else value


def _is_number(text: str) -> bool:
    return numeral(text) is not None


def as_number(text: str) -> float:
    """Convert a string to a number; NaN if it is not numeric."""
    number = numeral(text)
    return np.nan if number is None else float(number)


def _in_order(value: str) -> tuple[bool, float, str]:
    return not value, float(value) if _is_number(value) else np.inf, value
