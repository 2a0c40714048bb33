"""Import of the BLiMP generator's vocabulary as the lexicon of a grammar."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from penchant.errors import DataError, OutputError
from penchant.files import occupied, write_bytes
from penchant.grammar.features import parse_condition
from penchant.grammar.grammar_file import GRAMMAR_FILE
from penchant.grammar.lexicon import CATEGORY, LEMMA
from penchant.tables.rows import FileRow, read_rows
from penchant.tables.yaml_file import dumped

TABLE_FILE = "lexicon.csv"
_EXPRESSION, _CATEGORY_2 = "expression", "category_2"
_FORMS = ("singularform", "pluralform")
_HEAD = """\
# The words of BLiMP's generator, from {source}. They state no licence: use them here, do not pass them on.
# Paradigms are added below; categories such as (S\\NP)/NP stand in single quotes.
"""


@dataclass(frozen=True, slots=True)
class VocabularyRow:
    """Vocabulary row in the format of a lexicon table; the lemma is empty if the row has no expression.

    Spaces separate several values of a feature, and underscores replace spaces in a value.
    """

    line: int
    category: str
    lemma: str
    forms: Mapping[str, str]
    features: Mapping[str, str]
    restrictions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Imported:
    """Result of an import: the number of words written, and the line numbers of rows omitted.

    Rows are omitted if they have no expression (`without_expression`) or repeat an earlier row (`repeated`). `added`
    are the columns that conditions test but the vocabulary lacks; they are written as empty columns.
    """

    words: int
    without_expression: tuple[int, ...]
    repeated: tuple[int, ...]
    added: tuple[str, ...]


def read_blimp_vocabulary(path: str | Path) -> list[VocabularyRow]:
    """Read the rows of a `vocabulary.csv`, one per form of a word.

    Columns such as `arg_1` contain conditions on neighbouring words. Raises DataError with the file, line and column if
    the vocabulary is invalid.
    """
    rows = read_rows(path)
    columns = list(rows[0].values)
    missing = [name for name in (_EXPRESSION, CATEGORY) if name not in columns]
    if missing:
        message = f"is not the vocabulary of BLiMP's generator: there is no column '{missing[0]}'"
        raise DataError(message, file=path, hint=f"the columns are {', '.join(columns)}")
    cells = {name: [text for row in rows if (text := _text(row, name))] for name in columns}
    conditions = [name for name, texts in cells.items() if texts and all("=" in text for text in texts)]
    return [_row(row, conditions, path) for row in rows]


def _text(row: FileRow, column: str) -> str:
    return str(row.values[column] or "").strip()


def _row(row: FileRow, conditions: Sequence[str], path: str | Path) -> VocabularyRow:
    forms, features, restrictions = {}, {}, {}
    for column in row.values:
        text = _text(row, column)
        if column in (_EXPRESSION, CATEGORY):
            continue
        if column in _FORMS:
            forms[column] = text
        elif column in conditions:
            restrictions[column] = _condition(text, column, row, path)
        else:
            features[column] = " ".join(_value(part) for part in text.split(";"))
    # A few words, such as pronouns, have only the second category.
    category = _text(row, CATEGORY) or features.get(_CATEGORY_2) or "none"
    return VocabularyRow(row.line, category, _text(row, _EXPRESSION), forms, features, restrictions)


def _value(text: str) -> str:
    return "_".join(text.split())


def _condition(text: str, column: str, row: FileRow, path: str | Path) -> str:
    try:
        condition = parse_condition(text)
    except ValueError as error:
        raise DataError(str(error), file=path, line=row.line, field=column) from error
    clauses = []
    for clause in condition.clauses:
        terms = []
        for term in clause:
            sign = "=" if term.equal else "!="
            lemma = term.column == _EXPRESSION
            terms.append(f"{LEMMA}{sign}{term.value}" if lemma else f"{term.column}{sign}{_value(term.value)}")
        clauses.append("^".join(terms))
    return ";".join(clauses)


def import_blimp(path: str | Path, directory: str | Path) -> Imported:
    """Write the words of a `vocabulary.csv` as a grammar without paradigms.

    Raises OutputError if the directory already contains a grammar or a lexicon.
    """
    place = Path(directory)
    if occupied(place / GRAMMAR_FILE):
        raise OutputError("already contains a grammar", where=str(place), hint="give a new directory")
    if occupied(place / TABLE_FILE):
        raise OutputError("already exists", where=str(place / TABLE_FILE), hint="give a new directory")
    rows = read_blimp_vocabulary(path)
    spelled = [row for row in rows if row.lemma]
    kept: dict[object, VocabularyRow] = {}
    for row in spelled:
        kept.setdefault((row.category, row.lemma, *map(_cells, (row.forms, row.features, row.restrictions))), row)
    words = list(kept.values())
    if not words:
        raise DataError("no row has an expression", file=path)
    lines = {row.line for row in words}
    added = _missing_columns(words)
    write_bytes(_table_bytes(words, added), place / TABLE_FILE)
    head = _HEAD.format(source=Path(path).name)
    grammar = dumped(_grammar(words), default_flow_style=None, width=120)
    write_bytes((head + grammar).encode(), place / GRAMMAR_FILE)
    return Imported(
        len(words),
        tuple(row.line for row in rows if not row.lemma),
        tuple(row.line for row in spelled if row.line not in lines),
        added,
    )


def _cells(cells: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(cells.items())


def _missing_columns(rows: Iterable[VocabularyRow]) -> tuple[str, ...]:
    tested, known = {}, {LEMMA, CATEGORY}
    for row in rows:
        known |= {*row.forms, *row.features}
        for text in row.restrictions.values():
            tested.update(dict.fromkeys(term.column for term in parse_condition(text).terms()))
    return tuple(column for column in tested if column not in known)


def _table_bytes(rows: Sequence[VocabularyRow], added: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    first = rows[0]
    columns = [LEMMA, CATEGORY, *first.forms, *first.features, *added, *first.restrictions]
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({LEMMA: row.lemma, CATEGORY: row.category, **row.forms, **row.features, **row.restrictions})
    return text.getvalue().encode()


def _grammar(rows: Iterable[VocabularyRow]) -> dict[str, object]:
    categories: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        columns_of = categories.setdefault(row.category, {})
        for key, cells in (("forms", row.forms), ("restrictions", row.restrictions)):
            filled = columns_of.setdefault(key, [])
            filled += [column for column, text in cells.items() if text and column not in filled]
    return {
        "name": "blimp-vocabulary",
        "language": "en",
        "lexicon": [TABLE_FILE],
        "categories": categories,
        "paradigms": {},
    }
