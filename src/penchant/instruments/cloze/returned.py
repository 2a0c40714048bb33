"""Sheets that raters return: every row is checked against the sentences it is about."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from penchant.counting import counted
from penchant.errors import DataError
from penchant.instruments.cloze.probe import filled
from penchant.instruments.cloze.rating_tables import (
    FIELDS,
    Columns,
    Rating,
    ReturnedRow,
    rating_columns,
    rating_rows,
    require_sentence,
)
from penchant.instruments.cloze.scale import TRUTHS, dates_of_half
from penchant.instruments.cloze.valences import folded
from penchant.instruments.result import Result
from penchant.rating.opposed import each_with_others, opposed
from penchant.report.finding import listed
from penchant.tables.places import listed as one_or_several
from penchant.tables.places import suggestion
from penchant.tables.rows import lacking, read_rows

_NAMING = "name the column that holds it, as in --FIELD NAME"
_OPTIONS = {"sentence": "--sentence", "word": "--word", "rater": "--rater-column", "rating": "--rating"}
_NAMED = 3
"""How many words a note names."""
_MANY = 20
"""From so many words on, two raters who say the same of all may be one."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a rater returned: the number of rows, the ratings, each with its line, the cells they were read from,
    and what is said of columns that were read instead of others."""

    file: Path
    rows: int
    ratings: tuple[tuple[int, Rating], ...]
    cells: tuple[object, ...] = ()
    instead: tuple[str, ...] = ()

    @property
    def empty(self) -> int:
        """The number of rows without a rating."""
        return self.rows - len(self.ratings)


def read_sheets(
    files: Iterable[Path], texts: Mapping[str, str], rater: str | None, columns: Columns
) -> tuple[list[Sheet], list[DataError]]:
    """The sheets in some files, and what is wrong with their rows. `texts` are the sentences by id; a row that names no
    rater is by `rater`, else by the name of the file. Raises DataError for a file that is no such table."""
    places: dict[tuple[str, str, str], str] = {}
    sheets, errors = [], []
    for file in files:
        try:
            named, instead = _columns_of(file, columns)
            rows, wrong = rating_rows(file, ReturnedRow, named, _NAMING)
        except DataError as error:
            errors.append(error)
            continue
        ratings = []
        for line, row in rows:
            mistake = _mistake(row, texts, file, line)
            if mistake is not None:
                wrong.append(mistake)
            elif row.rating is not None:
                who = unicodedata.normalize("NFC", row.rater or rater or file.stem).strip()
                key = (row.sentence, row.word, who)
                if key in places:
                    told = f"{who} rates '{row.word}' in sentence {row.sentence} a second time"
                    wrong.append(DataError(told, file=file, line=line, hint=f"the first is in {places[key]}"))
                    continue
                places[key] = f"{file}, line {line}"
                ratings.append((line, Rating(*key, row.rating, places[key])))
        cells = [row.values.get(column) for row in read_rows(file) for column in rating_columns(named)]
        sheets.append(Sheet(file, len(rows), tuple(ratings), tuple(cells), tuple(instead)))
        errors += sorted(wrong, key=lambda error: error.line or 0)
    return sheets, errors


def _columns_of(file: Path, columns: Columns) -> tuple[Columns, list[str]]:
    """The columns of a table, where some of those that the user named are called otherwise: a file that has none of
    them has that of `penchant ratings export`; and those. Raises DataError with all that are missing, but for what a
    file need not have."""
    header = list(dict.fromkeys(name for row in read_rows(file) for name in row.values))
    chosen: dict[str, str | Sequence[str]] = {}
    missing: list[tuple[str, str]] = []
    instead: list[str] = []
    for field in FIELDS:
        named = one_or_several(columns.get(field, field))
        if all(name in header for name in named):
            chosen |= {field: columns[field]} if field in columns else {}
        elif field in header and not any(name in header for name in named):
            instead.append(f"{file} has no column '{named[0]}' and is read by its column '{field}'")
        elif field in columns or field != "rater":
            missing += [(field, name) for name in named if name not in header]
    if len(missing) > 1:
        options = dict.fromkeys(f"{_OPTIONS[field]} NAME" for field, _ in missing)
        told = f"there are no columns {listed([repr(name) for _, name in missing])}"
        hint = f"the columns are {', '.join(header)}; say which hold them: {', '.join(options)}"
        raise DataError(told, file=file, hint=hint)
    for field, name in missing:
        if field in columns:
            lacking([name], header, file)
        if field == "rating":
            hint = f"{suggestion(name, header)}; call the column of the ratings 'rating', or name it: --rating NAME"
            raise DataError("there is no column 'rating'", file=file, hint=hint)
    return chosen, instead


def _mistake(row: ReturnedRow, texts: Mapping[str, str], file: Path, line: int) -> DataError | None:
    """What is wrong with the sentence of a row, or with the word that it is said to be about."""
    try:
        require_sentence(row.sentence, texts, file, line)
    except DataError as error:
        return error
    text = texts[row.sentence]
    if row.text is not None and row.text != text:
        told, hint = f"this is not the text of sentence {row.sentence}", "rate the sentences as they were exported"
        return DataError(told, file=file, line=line, field="text", hint=hint)
    if row.filled is not None and _letters(row.filled) != _letters(filled(text, row.word)):
        told = f"the word is '{row.word}', but the column 'filled' has another: '{row.filled}'"
        if meant := _truth(row.word, lambda word: _letters(row.filled or "") == _letters(filled(text, word))):
            hint = f"a spreadsheet made it of the word {meant}: write that again, in a column formatted as text"
            return DataError(told, file=file, line=line, field="word", hint=hint)
        hint = "a column that is sorted alone shuffles the rows: sort whole rows, or fill in the sheet as exported"
        return DataError(told, file=file, line=line, field="word", hint=hint)
    return None


def _truth(word: str, fits: Callable[[str], bool]) -> str:
    """The word true or false where a spreadsheet wrote its truth value in another language, and it fits; else empty."""
    meant = TRUTHS.get(folded(word), "")
    return meant if meant and meant != folded(word) and fits(meant) else ""


def _letters(text: str) -> str:
    """A text without what spreadsheets change: white space, and the case of the first letter."""
    return folded("".join(text.split()))


def require_any(sheets: Sequence[Sheet]) -> None:
    """Raise DataError if no sheet has a rating."""
    if not any(sheet.ratings for sheet in sheets):
        told = "; ".join(
            f"{sheet.file}: the column 'rating' is empty in all {counted(sheet.rows, 'rows')}" for sheet in sheets
        )
        raise DataError(f"no rating to import: {told}", hint="fill it in, save the file, and import it again")


def notes(sheets: Sequence[Sheet], results: Sequence[Result], ratings: Collection[Rating]) -> list[str]:
    """What the user should know of an import: sheets without a rating, words that no model predicted, names of
    raters that may be one person's, and raters whose ratings run against the others'."""
    blank = [
        f"{sheet.file} has no rating in {counted(sheet.rows, 'rows')}: was it saved?"
        for sheet in sheets
        if sheet.empty == sheet.rows
    ]
    predicted = {
        (id_, folded(word).strip())
        for result in results
        for id_, words in result.items.select("id", "words").iter_rows()
        for word in words
    }
    rated = dict.fromkeys((r.sentence, r.word) for sheet in sheets for _, r in sheet.ratings)
    strange = [
        f"'{word}' in {id_}" + (f" (a spreadsheet's {meant}?)" if meant else "")
        for id_, word in rated
        if (id_, folded(word)) not in predicted
        for meant in [_truth(word, lambda truth: (id_, truth) in predicted)]  # noqa: B023
    ]
    if strange:
        others = f" and {len(strange) - _NAMED:,} more" if len(strange) > _NAMED else ""
        blank.append(f"no model predicted {', '.join(strange[:_NAMED])}{others}: such ratings change no number")
    for sheet in sheets:
        blank += sheet.instead
        blank += [f"{sheet.file}: {told}" for told in dates_of_half(sheet.cells)]
    alike: dict[str, dict[str, None]] = {}
    for rating in ratings:
        alike.setdefault(_letters(rating.rater), {})[rating.rater] = None
    for names in alike.values():
        if len(names) > 1:
            told = " and ".join(f"'{name}'" for name in names)
            blank.append(f"the raters {told} differ only in case or spaces and count as {len(names)}: one person?")
    units: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        units.setdefault((rating.sentence, rating.word), {})[rating.rater] = rating.value
    return [*blank, *_same(ratings), *opposed(each_with_others(list(units.values())), "words")]


def _same(ratings: Iterable[Rating]) -> Iterator[str]:
    """A note on every two raters whose ratings are the same, many and not all alike: one sheet that came twice."""
    by: dict[str, dict[tuple[str, str], float]] = {}
    for rating in ratings:
        by.setdefault(rating.rater, {})[rating.sentence, rating.word] = rating.value
    for (one, first), (other, second) in combinations(by.items(), 2):
        both = first.keys() & second.keys()
        if len(both) >= _MANY and all(first[key] == second[key] for key in both) and len({first[k] for k in both}) > 1:
            told = f"'{one}' and '{other}' rated {counted(len(both), 'words')} the same, all that both rated"
            yield f"{told}: one sheet twice? Two raters who copy count as two"
