"""Rating sheets returned by raters, with every row checked against its sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from penchant.errors import DataError, place, visible
from penchant.instruments.cloze.data import GAP, filled
from penchant.instruments.cloze.five_point_scale import TRUTHS
from penchant.instruments.cloze.rating_formats import (
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
from penchant.letter_case import WITH_RULES
from penchant.plurals import counted, of_all
from penchant.report.significance import listed
from penchant.tables.data_lookup import listed as one_or_several
from penchant.tables.data_lookup import suggestion
from penchant.tables.rater_judgements import ByRater
from penchant.tables.rows import lacking, read_rows
from penchant.unicode_spellings import as_named, canonical

TEXT, FILLED = "text", "filled"
"""Columns of the sentence and of the filled sentence, against which rows are checked."""
_OPTIONS = {"sentence": "--sentence", "word": "--word", "rater": "--rater-column", "rating": "--rating"}
_INSPECTED = 200
"""Number of rows inspected to identify the columns of a sheet by content."""
_NAMING = "name the column that holds it, as in --FIELD NAME"
_ALIKE = 20
"""Number of errors of one kind from which they are reported as one, if at least half of the rows have them.

If all rows have the error, `_FEW` suffice. Words rated twice need not affect half of the rows.
"""
_FOREIGN, _FEW = 0.05, 5
"""Share of predicted words below which a sheet of at least `_FEW` words is taken to belong to another study."""
Key: TypeAlias = tuple[str, str]
"""Sentence id and word."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet that a rater returned.

    `ratings` are pairs of a line number and a rating, `order` pairs of a line number and the word to rate on that line;
    `rows` is the number of rows, `cells` are the raw ratings, and `told` has notes on the columns.
    """

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
    """Read rating sheets and return them with the errors found.

    `texts` maps sentence ids to texts. If a row names no rater, the rater is `rater` or, if that is not set, the file
    name without its suffix.
    """
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
            mistake = _row_error(row, texts, file, line, str(read.columns.get(FILLED, FILLED)))
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
        errors += _grouped(sorted(wrong, key=lambda error: error.line or 0), len(cells))
    return sheets, errors


def _grouped(errors: Sequence[DataError], rows: int) -> Iterator[DataError]:
    """Yield the errors in a sheet with `rows` rating cells, with many errors in the same field merged into one."""
    kinds: dict[str, list[DataError]] = {}
    for error in errors:
        kinds.setdefault(_KINDS.get(error.field or "", error.field or ""), []).append(error)
    for kind, alike in kinds.items():
        n = len(alike)
        many = n >= _ALIKE and (n >= rows / 2 or kind == _TWICE)
        if kind not in _MANY_ROWS or not (many or n == rows >= _FEW):
            yield from alike
            continue
        first = alike[0]
        fault, hint = _MANY_ROWS[kind]
        message = f"{of_all(n, rows, 'rows')} {fault}; the first: {first.message}"
        yield DataError(message, file=first.file, line=first.line, field=first.field, hint=hint or first.hint)


_TWICE = ""
_KINDS = {"text": "sentence"}
_MANY_ROWS = {
    "sentence": ("do not match the sentences of this study", "is it a sheet of another study?"),
    "word": ("have a word that is not in their filled sentence", ""),
    "rating": ("have a rating that is not on the scale", ""),
    _TWICE: ("rate a word that was rated before", "was one column sorted alone, or is a sheet in the file twice?"),
}
"""Message and hint for many rows with an error in the same field."""


def foreign(sheets: Iterable[Sheet], predicted: Container[Key]) -> Iterator[DataError]:
    """Yield an error for each sheet if hardly any of its words are in `predicted`, which has case-folded words."""
    for sheet in sheets:
        words = {(rating.sentence, folded(rating.word)) for _, rating in sheet.ratings}
        known = sum(word in predicted for word in words)
        if len(words) >= _FEW and known < _FOREIGN * len(words):
            message = f"only {known:,} of {counted(len(words), 'rated words')} were predicted by a model of this study"
            hint = "is it a sheet of another study, or do other columns hold the sentence and the word?"
            yield DataError(message, file=sheet.file, hint=hint)


def alike(sheets: Iterable[Sheet], before: Iterable[Rating]) -> Iterator[DataError]:
    """Yield an error for each rater whose name differs from another only in case, spaces or Unicode form.

    Names in `before`, the earlier ratings, are accepted.
    """
    known: dict[str, str] = {as_named(rating.rater): rating.rater for rating in before}
    established: set[str] = {rating.rater for rating in before}
    for sheet in sheets:
        for line, rating in sheet.ratings:
            other = known.setdefault(as_named(rating.rater), rating.rater)
            if other != rating.rater and rating.rater not in established:
                established.add(rating.rater)
                hint = "spell each rater's name the same way throughout, and give different raters different names"
                shown = f"'{visible(rating.rater)}' and '{visible(other)}' differ only in case or spaces"
                yield DataError(shown, file=sheet.file, line=line, field="rater", hint=hint)


def _row_error(row: ReturnedRow, texts: Mapping[str, str], file: Path, line: int, filled_in: str) -> DataError | None:
    if row.sentence not in texts:
        return no_sentence(row.sentence, file, line)
    text = texts[row.sentence]
    if row.text is not None and row.text != canonical(text).strip():
        message, hint = f"this is not the text of sentence {row.sentence}", "rate the sentences as they were exported"
        return DataError(message, file=file, line=line, field="text", hint=hint)
    if row.filled is not None and not _fills(row.word, text, row.filled):
        message = f"the word '{row.word}' is not in the gap of the sentence in the column '{filled_in}': '{row.filled}'"
        if meant := truth_meant(row.word, lambda word: _fills(word, text, row.filled or "")):
            hint = f"a spreadsheet changed the word {meant}: write {meant} again, in a column formatted as text"
            return DataError(message, file=file, line=line, field="word", hint=hint)
        hint = "sorting one column alone mixes up the rows: sort whole rows, or fill in the sheet as exported"
        return DataError(message, file=file, line=line, field="word", hint=hint)
    return None


def _fills(word: str, text: str, shown: str) -> bool:
    """Return whether `shown` is the text with the word in its gap, capitalised by the rules of any language."""
    return letters(shown) in {letters(filled(text, word, language)) for language in ("und", *WITH_RULES)}


def truth_meant(word: str, fits: Callable[[str], bool]) -> str:
    """Return "true" or "false" if a spreadsheet translates it to `word` and `fits` accepts it; else an empty string."""
    meant = TRUTHS.get(folded(word), "")
    return meant if meant and meant != folded(word) and fits(meant) else ""


def require_any(sheets: Sequence[Sheet]) -> None:
    """Raise DataError if no sheet has a rating."""
    if not any(sheet.ratings for sheet in sheets):
        empty = "; ".join(
            f"{sheet.file}: the column 'rating' is empty in all {counted(sheet.rows, 'rows')}" for sheet in sheets
        )
        raise DataError(f"no rating to import: {empty}", hint="fill in the column, save the file, and import it again")


# Columns ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SheetColumns:
    """Column names of a sheet by field, and notes on them."""

    columns: Columns
    told: tuple[str, ...]


def columns_of(file: Path, columns: Columns, texts: Mapping[str, str]) -> SheetColumns:
    """Return the columns that hold the fields of a sheet.

    A field whose named columns are all missing falls back to its name in `penchant ratings export`; the columns of the
    sentence and of the filled sentence are identified by content. `texts` maps sentence ids to texts. Raises DataError
    listing the missing columns.
    """
    rows = [row.values for row in read_rows(file)]
    header = list(dict.fromkeys(name for row in rows for name in row))
    chosen, remarks = _named(file, header, columns)
    taken = {str(chosen.get(field, field)) for field in FIELDS} | set(rating_columns(chosen))
    id_ = str(chosen.get("sentence", "sentence"))
    known = _by_content(rows, [name for name in header if name not in taken], id_, texts)
    if any(field != name for field, name in known.items()):
        what = {TEXT: "the sentences", FILLED: "the filled sentences"}
        parts = [f"{what[field]} are read from its column '{name}'" for field, name in known.items()]
        remarks.append(f"{file}: {listed(parts)}")
    if rows and not known:
        remarks.append(
            f"{file}: text not checked: no column holds the sentences or the filled sentences, so a wrong sentence id "
            "would go unnoticed"
        )
    return SheetColumns({**chosen, **{field: name for field, name in known.items() if field != name}}, tuple(remarks))


def _named(file: Path, header: list[str], columns: Columns) -> tuple[dict[str, str | Sequence[str]], list[str]]:
    """Return the columns named by the user that exist, and notes on columns used instead of missing ones."""
    chosen: dict[str, str | Sequence[str]] = {}
    missing: list[tuple[str, str]] = []
    instead: list[str] = []
    for field in FIELDS:
        named = one_or_several(columns.get(field, field))
        if all(name in header for name in named):
            chosen |= {field: columns[field]} if field in columns else {}
        elif field in header and not any(name in header for name in named):
            instead.append(f"{file} has no column '{named[0]}'; its column '{field}' is read instead")
        elif field in columns or field != "rater":
            missing += [(field, name) for name in named if name not in header]
    if len(missing) > 1:
        options = dict.fromkeys(f"{_OPTIONS[field]} NAME" for field, _ in missing)
        message = f"there are no columns {listed([repr(name) for _, name in missing])}"
        hint = f"the columns are {', '.join(header)}; name the right ones: {', '.join(options)}"
        raise DataError(message, file=file, hint=hint)
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
    """Return the columns of the sentence and of the filled sentence, identified by name, else by content.

    A column is identified by content if it holds a text with one gap, or the row's sentence with a word in its gap, in
    more than half of the inspected rows. `names` are the columns to choose from, `id_` is the column of sentence ids,
    and `texts` maps these ids to texts.
    """
    inspected = rows[:: max(1, len(rows) // _INSPECTED)]
    left = list(names)
    found: dict[str, str] = {}
    for field in (TEXT, FILLED):
        if field in left:
            found[field] = field
            continue
        shares = {}
        for name in left:
            cells = [str(row.get(name) or "") for row in inspected]
            if field == TEXT:
                shares[name] = sum(cell.count(GAP) == 1 for cell in cells)
            else:
                own = [str(row.get(found.get(TEXT, "")) or "") for row in inspected]
                asked = [texts.get(str(row.get(id_) or "").strip(), "") for row in inspected]
                frames = zip(cells, own, asked, strict=True)
                shares[name] = sum(any(_holds(cell, text) for text in pair) for cell, *pair in frames)
        best = max(shares, key=lambda name: shares[name], default=None)
        if best is not None and shares[best] > len(inspected) / 2:
            found[field] = best
            left.remove(best)
    return found


def _holds(cell: str, text: str) -> bool:
    if text.count(GAP) != 1:
        return False
    before, after = map(letters, text.split(GAP))
    plain = letters(cell)
    within = plain[len(before) : len(plain) - len(after)]
    return plain.startswith(before) and plain.endswith(after) and is_word(within) and letters(GAP) not in within


def letters(text: str) -> str:
    """Return a text case-folded and without white space, for comparison."""
    return folded("".join(unicodedata.normalize("NFC", text).split()))
