"""Lexicon of a grammar: tables of words, grouped by category."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penchant.errors import DataError, line_noun, place
from penchant.grammar.features import ALWAYS, Condition, Values, parse_condition
from penchant.grammar.grammar_file import GrammarFile, WordCategoryEntry
from penchant.tables.rows import FileRow, read_rows
from penchant.tables.yaml_json_documents import YamlDocument, as_text

LEMMA, CATEGORY = "lemma", "category"


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """Word of the lexicon, with the values that conditions can test.

    `forms` are the nonempty forms of the word, including the lemma; `values` are its features (one or more values
    each), lemma, category and forms (one value each).
    """

    category: str
    lemma: str
    forms: Mapping[str, str]
    values: Values
    restrictions: Mapping[str, Condition]
    file: Path
    line: int

    def restriction(self, column: str) -> Condition:
        """Return the condition on another word in the restriction `column`."""
        return self.restrictions.get(column, ALWAYS)


@dataclass(frozen=True, slots=True, eq=False)
class WordCategory:
    """Category of words, with its entries and the names of its columns of forms, features and restrictions."""

    name: str
    entries: tuple[Entry, ...]
    forms: frozenset[str]
    features: frozenset[str]
    restrictions: frozenset[str]


Lexicon = Mapping[str, WordCategory]


def near(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known names most similar to `name`, or with all known names if none is similar."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(name, names, n=3)
    return f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(names) or 'none'}"


def read_lexicon(document: GrammarFile, source: YamlDocument) -> tuple[Lexicon, tuple[Path, ...]]:
    """Read the lexicon; return the words by category, and the paths of their tables.

    Raises DataError with the file, line and key if it is invalid.
    """
    owners: dict[str, str] = {}
    for name, entry in document.categories.items():
        if entry.file is not None and owners.setdefault(entry.file, name) != name:
            message = f"the table already belongs to category '{owners[entry.file]}'"
            hint = "list a table of several categories under lexicon"
            raise source.error(("categories", name, "file"), message, hint)
        _check_kinds(name, entry, source)
    entries_by_category: dict[str, list[Entry]] = {name: [] for name in document.categories}
    columns: dict[str, dict[str, None]] = {name: {} for name in document.categories}
    files = []
    for table in dict.fromkeys([*document.lexicon, *owners]):
        file = source.path.parent / table
        files.append(file)
        for row in read_rows(file):
            name = _category(row, file, owners.get(table))
            entry = document.categories.get(name, WordCategoryEntry())
            entries_by_category.setdefault(name, []).append(_entry(row, file, name, entry))
            columns.setdefault(name, {}).update(dict.fromkeys(row.values))
    categories = {}
    for name, entries in entries_by_category.items():
        entry = document.categories.get(name, WordCategoryEntry())
        _check_columns(name, entry, columns[name], source)
        if not entries:
            raise source.error(("categories", name), f"no table has a word of category '{name}'")
        _refuse_repeated(entries)
        special = {LEMMA, CATEGORY, *entry.forms, *entry.restrictions}
        features = frozenset(columns[name]) - special
        forms, restrictions = frozenset((LEMMA, *entry.forms)), frozenset(entry.restrictions)
        categories[name] = WordCategory(name, tuple(entries), forms, features, restrictions)
    return categories, tuple(files)


def _category(row: FileRow, file: Path, owner: str | None) -> str:
    if owner is None:
        return _cell(row, file, CATEGORY, needed=True)
    if CATEGORY in row.values:
        message = f"unexpected column: the grammar assigns all words of this table to category '{owner}'"
        raise DataError(message, file=file, line=row.line, field=CATEGORY)
    return owner


def _cell(row: FileRow, file: Path, column: str, *, needed: bool = False) -> str:
    """Return the text of a cell in NFC, or "" if the cell is blank or the column is missing.

    Raises DataError if a value is invalid or if the column is `needed` but missing.
    """
    if needed and column not in row.values:
        hint = f"the columns are {', '.join(row.values)}"
        raise DataError(f"there is no column '{column}'", file=file, line=row.line, hint=hint)
    value = row.values.get(column)
    if value is None or (isinstance(value, str) and not value.strip() and not needed):
        return ""
    try:
        return as_text(value)
    except ValueError as error:
        raise DataError(str(error), file=file, line=row.line, field=column) from error


def _entry(row: FileRow, file: Path, category: str, columns: WordCategoryEntry) -> Entry:
    lemma = _cell(row, file, LEMMA, needed=True)
    forms, restrictions = {LEMMA: lemma}, {}
    values: dict[str, tuple[str, ...]] = {LEMMA: (lemma,), CATEGORY: (category,)}
    for column in row.values:
        text = _cell(row, file, column)
        if not text or column in (LEMMA, CATEGORY):
            continue
        if column in columns.restrictions:
            restrictions[column] = _restriction(text, file, row.line, column)
        elif column in columns.forms:
            forms[column], values[column] = text, (text,)
        else:
            values[column] = tuple(dict.fromkeys(text.split()))
    return Entry(category, lemma, forms, values, restrictions, file, row.line)


def _restriction(text: str, file: Path, line: int, column: str) -> Condition:
    try:
        return parse_condition(text)
    except ValueError as error:
        raise DataError(str(error), file=file, line=line, field=column) from error


def _check_columns(name: str, entry: WordCategoryEntry, columns: Iterable[str], source: YamlDocument) -> None:
    for key, declared in (("forms", entry.forms), ("restrictions", entry.restrictions)):
        for number, column in enumerate(declared):
            if column not in columns:
                message = f"no table of category '{name}' has a column '{column}'"
                raise source.error(("categories", name, key, str(number)), message, near(column, columns))


def _check_kinds(name: str, entry: WordCategoryEntry, source: YamlDocument) -> None:
    taken = {"forms": {CATEGORY, *entry.restrictions}, "restrictions": {CATEGORY, LEMMA}}
    for key, declared in (("restrictions", entry.restrictions), ("forms", entry.forms)):
        for number, column in enumerate(declared):
            if column in taken[key]:
                message = f"the column '{column}' is already the category, the lemma or a restriction"
                raise source.error(("categories", name, key, str(number)), message)


def _refuse_repeated(entries: Iterable[Entry]) -> None:
    """Raise DataError if a word is repeated, since it would be drawn twice as often."""
    first: dict[object, Entry] = {}
    for entry in entries:
        conditions = tuple((column, condition.text) for column, condition in entry.restrictions.items())
        earlier = first.setdefault((tuple(entry.values.items()), conditions), entry)
        if earlier is not entry:
            same = earlier.file == entry.file
            where = f"on {line_noun(entry.line)} {earlier.line}" if same else f"in {place(earlier.file, earlier.line)}"
            raise DataError(f"the word '{entry.lemma}' is already listed {where}", file=entry.file, line=entry.line)


def check_restrictions(lexicon: Lexicon, chosen: Iterable[str]) -> None:
    """Raise DataError if a restriction tests a column that is in no table and is not a feature in `chosen`.

    `chosen` has the features that the paradigms of the grammar assign to words.
    """
    known = {LEMMA, CATEGORY, *chosen}
    for category in lexicon.values():
        known |= category.forms | category.features
    for category in lexicon.values():
        for entry in category.entries:
            for column, condition in entry.restrictions.items():
                for term in condition.terms():
                    if term.column not in known:
                        message = f"no table has the column '{term.column}', which is tested by '{condition.text}'"
                        raise DataError(
                            message,
                            file=entry.file,
                            line=entry.line,
                            field=column,
                            hint=near(term.column, sorted(known)),
                        )
