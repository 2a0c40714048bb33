"""Tables of ratings with one row per rating, or one column per rater."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from penchant.errors import DataError, place, together
from penchant.instruments.cloze.five_point_scale import Point, dates_of_half
from penchant.plurals import counted
from penchant.tables.data_cautions import counted_apart
from penchant.tables.rater_judgements import ByRater
from penchant.tables.rows import checked_models, read_rows
from penchant.tables.yaml_json_documents import Text
from penchant.wording.phrases import Note

FIELDS = ("sentence", "word", "rater", "rating")
"""Order of the columns in a table of ratings passed from Python without column names."""
Columns: TypeAlias = Mapping[Any, str | Sequence[str]]
"""Column names that differ from their fields, by field; of several columns for `rating`, each belongs to one rater."""
AS_NAMED: Columns = {}
NAMING = "if a column has another name, write columns: {FIELD: COLUMN} in a study, columns= in Python"
"""Hint on how to name the column of a field; FIELD is to be replaced by the field."""
_NAMED = 5
"""Largest number of sentences that an error lists."""
_OF_SHEETS = {"filled", "scale"}
"""Columns of a rating sheet that a table of ratings does not have."""


class RatingRow(BaseModel):
    """A row of a table of ratings; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    sentence: Text
    """The id of the sentence."""
    word: Text
    """The word to rate in the gap."""
    text: Text | None = None
    """The sentence as rated, if the table has it; it must equal the text in the test set."""
    rater: Text
    """A name for the rater."""
    rating: Point | None = None
    """σ, the valence of the word in this sentence: −1, −0.5, 0, 0.5 or 1. An empty cell is a missing rating."""


class ReturnedRow(BaseModel):
    """A row of a table returned by a rater; further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    sentence: Text
    """The id of the sentence."""
    word: Text
    """The word to rate in the gap."""
    text: Text | None = None
    """The sentence as exported, if the table has it; it must be unchanged."""
    filled: Text | None = None
    """The exported sentence with the word in its gap, if the table has it; it must contain the row's word."""
    rater: Text | None = None
    """A name for the rater. Default: taken from the command line or the name of the file."""
    rating: Point | None = None
    """σ, the valence of the word in this sentence: −1, −0.5, 0, 0.5 or 1. An empty cell is a missing rating."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The valence of a word in a sentence according to one rater.

    `place` names file and line; `text` is the sentence as it was rated, if known.
    """

    sentence: str
    word: str
    rater: str
    value: float
    place: str
    text: str | None = None


def no_sentence(id_: str, path: str | Path, line: int) -> DataError:
    """Return the error for an unknown sentence id."""
    message, hint = f"there is no sentence '{id_}'", "use the ids of the test set"
    return DataError(message, file=path, line=line, field="sentence", hint=hint)


def word_of(sentence: str, word: str) -> str:
    """Describe a word in a sentence for an error message."""
    return f"'{word}' in sentence {sentence}"


def read_ratings(
    paths: Iterable[str | Path], sentences: Iterable[str] | None = None, columns: Columns = AS_NAMED
) -> list[Rating]:
    """Read ratings from files, skipping rows without a rating.

    `columns` maps fields to other column names. Raises DataError, with all errors in its notes, for a sentence not in
    `sentences`, a sentence whose text has changed since it was rated (if `sentences` maps ids to texts), two ratings of
    one word in one sentence by the same rater, and a table without ratings.
    """
    known = None if sentences is None else set(sentences)
    texts = sentences if isinstance(sentences, Mapping) else {}
    judged: ByRater[tuple[str, str]] = ByRater()
    ratings: list[Rating] = []
    all_errors: list[DataError] = []
    for path in paths:
        try:
            rows, errors = _of_table(path, columns)
        except DataError as error:
            all_errors.append(error)
            continue
        errors += _of_other_texts(rows, texts, path)
        for line, row in rows:
            key, rater = (row.sentence, row.word), row.rater or ""
            if known is not None and row.sentence not in known:
                errors.append(no_sentence(row.sentence, path, line))
            elif row.rating is not None:
                again = judged.add(key, rater, row.rating, path, line, called=word_of(*key))
                errors += [again] if again else []
                ratings.append(Rating(*key, rater, row.rating, place(path, line), row.text))
        if rows and not errors and all(row.rating is None for _, row in rows):
            errors.append(DataError(f"has {counted(len(rows), 'rows')} but no rating", file=path, hint="enter ratings"))
        all_errors += sorted(errors, key=lambda error: error.line or 0)
    if all_errors:
        raise together(all_errors)
    return ratings


def _of_other_texts(
    rows: Iterable[tuple[int, ReturnedRow]], texts: Mapping[str, str], path: str | Path
) -> Iterator[DataError]:
    changed: dict[str, int] = {}
    for line, row in rows:
        if row.text is not None and row.text != texts.get(row.sentence, row.text):
            changed.setdefault(row.sentence, line)
    if changed:
        named = ", ".join([*list(changed)[:_NAMED], *(["…"] if len(changed) > _NAMED else [])])
        message = f"{counted(len(changed), 'sentences')} had a different text when rated: {named}"
        hint = "restore the text, or give the sentence another id and have it rated"
        yield DataError(message, file=path, line=min(changed.values()), field="text", hint=hint)


def without_rating(paths: Iterable[str | Path], columns: Columns = AS_NAMED) -> Iterator[Note | str]:
    """Yield notes on rows without a rating, dates read as ½, and rater names that look the same."""
    tables = [(path, table) for path in paths if (table := _of_table(path, columns)[0])]
    named = rating_columns(columns)
    cells = [row.values.get(column) for path, _ in tables for row in read_rows(path) for column in named]
    yield from (f"among the ratings {dates}" for dates in dates_of_half(cells))
    rows = [row for _, table in tables for _, row in table]
    empty = sum(row.rating is None for row in rows)
    if empty:
        yield Note("cloze.empty-ratings", have=empty, of=len(rows))
    yield from counted_apart((row.rater for row in rows if row.rater), "raters")


def fitting(path: str | Path, columns: Columns) -> Columns:
    """Return the entries of `columns` whose columns exist in a table."""
    present = _header(path) if columns else set()
    return {field: named for field, named in columns.items() if present.intersection(_listed(named))}


def _header(path: str | Path) -> set[str]:
    return {name for row in read_rows(path) for name in row.values}


def _of_table(path: str | Path, columns: Columns) -> tuple[list[tuple[int, ReturnedRow]], list[DataError]]:
    """Return the rows of a table of ratings and the errors in them. Raises DataError for a rating sheet."""
    rows, errors = rating_rows(path, RatingRow, columns, NAMING)
    if errors and read_rows(path)[0].values.keys() >= _OF_SHEETS:
        message = "is a rating sheet from penchant ratings export, not a table of ratings"
        hint = f"convert it: penchant ratings import DIR {Path(path).name} --into ratings.csv"
        raise DataError(message, file=path, hint=hint)
    if rows and not errors and not _header(path).intersection(rating_columns(columns)):
        message = f"there is no column '{rating_columns(columns)[0]}'"
        errors.append(DataError(message, file=path, hint=NAMING.replace("FIELD", "rating")))
    return rows, errors


def rating_columns(columns: Columns) -> list[str]:
    """Return the columns that hold ratings: one, or one per rater."""
    return _listed(columns.get("rating", "rating"))


def _listed(named: str | Sequence[str]) -> list[str]:
    return [named] if isinstance(named, str) else list(named)


def rating_rows(
    path: str | Path, model: type[BaseModel], columns: Columns, naming: str
) -> tuple[list[tuple[int, ReturnedRow]], list[DataError]]:
    """Return the rows of a table of ratings with their line numbers, and the errors in them.

    With several columns of ratings, every row is split into one row per column, whose name is the rater's.
    `naming` is the hint for a missing column.
    """
    named = {field: _listed(column)[0] for field, column in columns.items() if field != "rating"}
    raters = columns.get("rating", "rating")
    if isinstance(raters, str):
        named |= {"rating": raters} if raters != "rating" else {}
        long, errors = checked_models(path, model, guarded=True, columns=named, naming=naming)
        return [(line, ReturnedRow.model_validate(row.model_dump())) for line, row in long], errors
    rows: list[tuple[int, ReturnedRow]] = []
    wrong: dict[tuple[object, ...], DataError] = {}
    for rater in raters:
        wide, errors = checked_models(
            path, ReturnedRow, guarded=True, columns={**named, "rating": rater}, naming=naming
        )
        rows += [(line, row.model_copy(update={"rater": rater})) for line, row in wide]
        wrong |= {(error.line, error.field, error.message): error for error in errors}
    return sorted(rows, key=lambda row: row[0]), list(wrong.values())
