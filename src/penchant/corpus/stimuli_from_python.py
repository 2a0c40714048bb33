"""Stimuli given in Python: lists of words, tables of words, and the contents of a `set.yaml` as a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from penchant.call_checks import kind
from penchant.errors import DataError, GivenRow, place, shortened
from penchant.tables.in_memory import NAME, document_of, is_missing, plain, require_text, rows

AS_NAMED: Mapping[str, str] = {}
"""Column names by field; empty if every column has the name of its field."""
WORD = ("category", "set", "word")
"""Order of the columns of words in Python data without column names."""
_LISTS = {"X", "Y", "A", "B"}
"""Names of the sets of targets (X, Y) and attributes (A, B)."""


def word_rows(given: Any, columns: Mapping[Any, str] = AS_NAMED, name: str = NAME) -> list[dict[str, object]]:
    """Return rows of words from lists keyed by set (X, Y, A, B), from lists keyed by category and set, or from a table.

    `name` is the category of lists keyed by set only, and the name of the table in messages. `columns` maps fields to
    the names of a table's columns if they differ. Raises DataError if a cell is missing or is not a word.
    """
    lists = isinstance(given, Mapping) and bool(given)
    categories = {name: given} if lists and set(given) <= _LISTS else given
    if lists and all(isinstance(sets, Mapping) and set(sets) <= _LISTS for sets in categories.values()):
        return [
            {"category": str(category), "set": label, "word": word}
            for category, sets in categories.items()
            for label, words in sets.items()
            for word in _words(words, label if categories[category] is given else f"{label} of {category}")
        ]
    found = rows(given, WORD, name)
    for number, row in enumerate(found, 1):
        for field_ in WORD:
            column = columns.get(field_, field_)
            value = row.get(column, "absent")
            if field_ != "category" or not isinstance(value, Real) or is_missing(value):
                require_text(value, "word" if field_ == "word" else "text", place(name, GivenRow(number), column))
    return found


def _words(given: Any, label: str) -> list[str]:
    words = plain(given)
    if words is not None and not isinstance(words, list):
        hint = "give a list of words" + (f", as in [{shortened(words)}]" if isinstance(words, str) else "")
        raise DataError(f"{kind(given)} is not a list of words", where=f"set {label}", hint=hint)
    for number, word in enumerate(words or (), 1):
        require_text(word, "word", f"set {label}, word {number}")
    return words or []


def file_of_set(given: Any) -> Path | None:
    """Return the path of a temporary file with a `set.yaml` given as a mapping, or None if `given` is anything else."""
    if not isinstance(given, Mapping) or not {"lists", "categories", "templates", "contexts"} & given.keys():
        return None
    return document_of({"name": NAME, **given}, {}, NAME)
