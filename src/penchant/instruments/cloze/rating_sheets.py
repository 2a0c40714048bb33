"""Sheets that raters return: every row is checked against the sentences it is about."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from penchant.errors import DataError, place, visible
from penchant.instruments.cloze.data import GAP, filled
from penchant.instruments.cloze.rating_tables import (
    FIELDS,
    Columns,
    Rating,
    ReturnedRow,
    no_sentence,
    rating_columns,
    rating_rows,
    word_of,
)
from penchant.instruments.cloze.valences import folded, is_word
from penchant.instruments.cloze.variety_scale import TRUTHS
from penchant.letter_case import WITH_RULES
from penchant.plurals import counted, of_all
from penchant.report.finding import listed
from penchant.tables.data_paths import listed as one_or_several
from penchant.tables.data_paths import suggestion
from penchant.tables.rater_judgements import ByRater
from penchant.tables.rows import lacking, read_rows
from penchant.unicode_spellings import as_named, canonical

TEXT, FILLED = "text", "filled"
"""The columns of the sentence and of the sentence with the word in its gap, by which rows are checked."""
_OPTIONS = {"sentence": "--sentence", "word": "--word", "rater": "--rater-column", "rating": "--rating"}
_LOOKED_AT = 200
"""The rows of a sheet that are looked at to see what its columns hold."""
_NAMING = "name the column that holds it, as in --FIELD NAME"
_ALIKE = 20
"""From so many rows on that are wrong alike, and are half of the sheet or more, one line stands for all; from `_FEW` on
where they are all."""
_FOREIGN, _FEW = 0.05, 5
"""A sheet of at least so many words, of which less than this share was predicted, is one of another study."""
Key: TypeAlias = tuple[str, str]
"""A word in its sentence."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a rater returned: the number of rows, the ratings, each with its line, the cells they were read from, what
    is said of its columns, and the words of all rows, rated or not, each with its line."""

    file: Path
    rows: int
    ratings: tuple[tuple[int, Rating], ...]
    cells: tuple[object, ...] = ()
    told: tuple[str, ...] = ()
    order: tuple[tuple[int, Key], ...] = ()

    @property
    def empty(self) -> int:
        """The number of rows without a rating."""
        return self.rows - len(self.ratings)


def read_sheets(
    files: Iterable[Path], texts: Mapping[str, str], rater: str | None, columns: Columns
) -> tuple[list[Sheet], list[DataError]]:
    """Return the sheets in some files, and what is wrong with their rows. `texts` are the sentences by id; a row that
    names no rater is by `rater`, else by the name of the file. Raises DataError for a file that is no such table."""
    judged: ByRater[Key] = ByRater()
    sheets, errors = [], []
    for file in files:
        try:
            read = columns_of(file, columns, texts)
            rows, wrong = rating_rows(file, ReturnedRow, read.columns, _NAMING)
        except DataError as error:
            errors.append(error)
            continue
        ratings = []
        for line, row in rows:
            mistake = _mistake(row, texts, file, line, str(read.columns.get(FILLED, FILLED)))
            if mistake is not None:
                wrong.append(mistake)
            elif row.rating is not None:
                who = canonical(row.rater or rater or file.stem).strip()
                key = (row.sentence, row.word)
                if again := judged.add(key, who, row.rating, file, line, called=word_of(*key)):
                    wrong.append(again)
                    continue
                checked = row.text is not None or row.filled is not None
                known = texts[row.sentence] if checked else None
                ratings.append((line, Rating(*key, who, row.rating, place(file, line), known)))
        cells = [row.values.get(column) for row in read_rows(file) for column in rating_columns(read.columns)]
        order = {(row.sentence, row.word): line for line, row in reversed(rows)}
        lines = sorted((line, key) for key, line in order.items())
        sheets.append(Sheet(file, len(rows), tuple(ratings), tuple(cells), read.told, tuple(lines)))
        errors += _together(sorted(wrong, key=lambda error: error.line or 0), len(cells))
    return sheets, errors


def _together(errors: Sequence[DataError], rows: int) -> Iterator[DataError]:
    """Yield the mistakes in a sheet, many of one kind as one; they are those of the fields that are wrong."""
    kinds: dict[str, list[DataError]] = {}
    for error in errors:
        kinds.setdefault(_KINDS.get(error.field or "", error.field or ""), []).append(error)
    for kind, alike in kinds.items():
        n = len(alike)
        many = n >= _ALIKE and (n >= rows / 2 or kind == _TWICE)
        if kind not in _SAID or not (many or n == rows >= _FEW):
            yield from alike
            continue
        first = alike[0]
        told, hint = _SAID[kind]
        message = f"{of_all(n, rows, 'rows')} {told}; the first: {first.message}"
        yield DataError(message, file=first.file, line=first.line, field=first.field, hint=hint or first.hint)


_TWICE = ""
_KINDS = {"text": "sentence"}
_SAID = {
    "sentence": ("do not fit", "is it a sheet of another study?"),
    "word": ("do not have the word of their filled sentence", ""),
    "rating": ("have no point of the scale", ""),
    _TWICE: ("rate a word that is rated before", "was a column sorted alone, or is a sheet twice in the file?"),
}
"""What is said of many rows with the same field wrong, and what may be done."""


def foreign(sheets: Iterable[Sheet], predicted: Container[Key]) -> Iterator[DataError]:
    """Yield an error for each sheet of whose rated words hardly any is among the `predicted` ones, in folded form."""
    for sheet in sheets:
        words = {(rating.sentence, folded(rating.word)) for _, rating in sheet.ratings}
        known = sum(word in predicted for word in words)
        if len(words) >= _FEW and known < _FOREIGN * len(words):
            told = f"{known:,} of {counted(len(words), 'rated words')} were predicted by a model of this study"
            hint = "is it a sheet of another study, or are other columns those of the sentence and of the word?"
            yield DataError(told, file=sheet.file, hint=hint)


def alike(sheets: Iterable[Sheet], before: Iterable[Rating]) -> Iterator[DataError]:
    """Yield an error for each rater of a sheet whose name is another's but for case, spaces, invisible characters or
    Unicode form; `before` are ratings with names that stand."""
    known: dict[str, str] = {as_named(rating.rater): rating.rater for rating in before}
    told: set[str] = {rating.rater for rating in before}
    for sheet in sheets:
        for line, rating in sheet.ratings:
            other = known.setdefault(as_named(rating.rater), rating.rater)
            if other != rating.rater and rating.rater not in told:
                told.add(rating.rater)
                hint = "write the name of one person in one way, and give two people names that differ"
                shown = f"'{visible(rating.rater)}' is also '{visible(other)}': they differ only in case or spaces"
                yield DataError(shown, file=sheet.file, line=line, field="rater", hint=hint)


def _mistake(row: ReturnedRow, texts: Mapping[str, str], file: Path, line: int, filled_in: str) -> DataError | None:
    """Return what is wrong with the sentence of a row, or with the word that it is said to be about; `filled_in` is the
    column of the filled sentence."""
    if row.sentence not in texts:
        return no_sentence(row.sentence, file, line)
    text = texts[row.sentence]
    if row.text is not None and row.text != canonical(text).strip():
        told, hint = f"this is not the text of sentence {row.sentence}", "rate the sentences as they were exported"
        return DataError(told, file=file, line=line, field="text", hint=hint)
    if row.filled is not None and not _fills(row.word, text, row.filled):
        told = f"the word is '{row.word}', but the column '{filled_in}' has another: '{row.filled}'"
        if meant := truth_meant(row.word, lambda word: _fills(word, text, row.filled or "")):
            hint = f"a spreadsheet made it of the word {meant}: write that again, in a column formatted as text"
            return DataError(told, file=file, line=line, field="word", hint=hint)
        hint = "a column that is sorted alone shuffles the rows: sort whole rows, or fill in the sheet as exported"
        return DataError(told, file=file, line=line, field="word", hint=hint)
    return None


def _fills(word: str, text: str, shown: str) -> bool:
    """Return whether a filled sentence is that of a word, with the capitals of any language."""
    return letters(shown) in {letters(filled(text, word, language)) for language in ("und", *WITH_RULES)}


def truth_meant(word: str, fits: Callable[[str], bool]) -> str:
    """Return the word true or false where a spreadsheet wrote its truth value in another language, and it fits; else
    empty."""
    meant = TRUTHS.get(folded(word), "")
    return meant if meant and meant != folded(word) and fits(meant) else ""


def require_any(sheets: Sequence[Sheet]) -> None:
    """Raise DataError if no sheet has a rating."""
    if not any(sheet.ratings for sheet in sheets):
        told = "; ".join(
            f"{sheet.file}: the column 'rating' is empty in all {counted(sheet.rows, 'rows')}" for sheet in sheets
        )
        raise DataError(f"no rating to import: {told}", hint="fill it in, save the file, and import it again")


# Columns ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """The columns by which a sheet is read, and what is said of them."""

    columns: Columns
    told: tuple[str, ...]


def columns_of(file: Path, columns: Columns, texts: Mapping[str, str]) -> Read:
    """Return the columns of a table. One that has none of those that the user named is read by that of `penchant
    ratings export`; those of the sentence and of the filled sentence are known by what they hold. `texts` are the
    sentences by id. Raises DataError with all columns that are missing, but for what a file need not have."""
    rows = [row.values for row in read_rows(file)]
    header = list(dict.fromkeys(name for row in rows for name in row))
    chosen, told = _named(file, header, columns)
    taken = {str(chosen.get(field, field)) for field in FIELDS} | set(rating_columns(chosen))
    id_ = str(chosen.get("sentence", "sentence"))
    known = _by_content(rows, [name for name in header if name not in taken], id_, texts)
    if any(field != name for field, name in known.items()):
        what = {TEXT: "the sentences", FILLED: "the filled sentences"}
        parts = [f"{what[field]} are read from its column '{name}'" for field, name in known.items()]
        told.append(f"{file}: {listed(parts)}")
    if rows and not known:
        told.append(
            f"{file}: text not checked, as no column holds the sentences or the filled ones: nothing shows whether a "
            "row is about the sentence that it names"
        )
    return Read({**chosen, **{field: name for field, name in known.items() if field != name}}, tuple(told))


def _named(file: Path, header: list[str], columns: Columns) -> tuple[dict[str, str | Sequence[str]], list[str]]:
    """Return the columns that the user named and the file has, and which are read instead of others."""
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


def _by_content(
    rows: Sequence[Mapping[str, Any]], names: Iterable[str], id_: str, texts: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns of the sentence and of the filled one: those that are called so, else those of which more than
    half of the rows hold a text with one gap, or the sentence of the row with a word in its gap."""
    looked_at = rows[:: max(1, len(rows) // _LOOKED_AT)]
    left = list(names)
    found: dict[str, str] = {}
    for field in (TEXT, FILLED):
        if field in left:
            found[field] = field
            continue
        shares = {}
        for name in left:
            cells = [str(row.get(name) or "") for row in looked_at]
            if field == TEXT:
                shares[name] = sum(cell.count(GAP) == 1 for cell in cells)
            else:
                own = [str(row.get(found.get(TEXT, "")) or "") for row in looked_at]
                asked = [texts.get(str(row.get(id_) or "").strip(), "") for row in looked_at]
                frames = zip(cells, own, asked, strict=True)
                shares[name] = sum(any(_holds(cell, text) for text in pair) for cell, *pair in frames)
        best = max(shares, key=lambda name: shares[name], default=None)
        if best is not None and shares[best] > len(looked_at) / 2:
            found[field] = best
            left.remove(best)
    return found


def _holds(cell: str, text: str) -> bool:
    """Return whether a cell is a text with a word in its gap, whichever."""
    if text.count(GAP) != 1:
        return False
    before, after = map(letters, text.split(GAP))
    plain = letters(cell)
    within = plain[len(before) : len(plain) - len(after)]
    return plain.startswith(before) and plain.endswith(after) and is_word(within) and letters(GAP) not in within


def letters(text: str) -> str:
    """Return a text without what spreadsheets change: white space, and the case of the first letter."""
    return folded("".join(unicodedata.normalize("NFC", text).split()))
