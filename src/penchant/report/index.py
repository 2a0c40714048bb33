"""The index of an export: what each table is, how many rows it has, and what its columns hold."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

INDEX = "index.csv"
"""The name of the file."""
_MEANINGS = {
    "comparison": "the two models, the first minus the second",
    "dataset": "the data set",
    "detectable": "the smallest difference that would have been found four times of five",
    "all, as they are": "the scope as they are: over the pairs of these paradigms alone",
    "bound": "the largest difference that does not matter, where the study names one",
    "low_bound": "the lower end of the interval that decides whether two models count as equal",
    "high_bound": "the upper end of that interval",
    "difference": "the first minus the second",
    "dimension": "the value, or all of them",
    "file": "where the item stands",
    "group": "the group of items that a number is of",
    "high": "the upper end of the interval",
    "how": "how the interval was made",
    "id": "the id of the item in its table",
    "item": "the item that a number is of; empty: of all",
    "level": "the level of the interval",
    "low": "the lower end of the interval",
    "measure": "what was estimated",
    "method": "the method of the interval as a code with parameters (JSON)",
    "model": "the model",
    "n": "the number of items",
    "normalise": "how the scores of sentences are made independent of their length",
    "note": "what must be known to read the number",
    "notes": "the notes as codes with parameters (JSON)",
    "p": "the p-value",
    "p_holm": "the p-value adjusted over its family of tests (Holm)",
    "paradigm": "the paradigm of the pair",
    "scope": "which pairs a number is about: overall (all; several paradigms as a sample of others), as they are "
    "(these paradigms alone), phenomenon or paradigm",
    "signature": "the recipe of the number",
    "split": "pairs by token length: all, A=U (equal), A>U, A<U",
    "test": "the test",
    "test_family": "the family of tests that p_holm is adjusted over; alone: the p is adjusted over no others",
    "test_method": "the test as a code with parameters (JSON)",
    "tests": "how many tests p_holm is adjusted over; 1: the p stands alone, 0: there is none",
    "value": "the estimate",
    "variant": "the wording",
}
"""What columns of results hold, by their names, where they mean the same in every table."""
_PARTS = {"low": "the lower end of its interval", "high": "the upper end of its interval", "n": "its number of items"}


def index_of(tables: Iterable[tuple[str, str, pl.DataFrame]]) -> pl.DataFrame:
    """The index of some tables (file, what it is, table): a row for each file, with an empty column, and one for each
    of its columns whose meaning is known."""
    rows: list[dict[str, object]] = []
    for file, title, frame in tables:
        rows.append({"file": file, "column": "", "meaning": " ".join(title.split()), "rows": len(frame)})
        for column in frame.columns:
            name, _, part = column.rpartition(" ")
            meaning = _MEANINGS.get(column) or (f"of {name}: {_PARTS[part]}" if name and part in _PARTS else "")
            rows.append({"file": file, "column": column, "meaning": meaning, "rows": len(frame)})
    kinds = {"file": pl.String, "column": pl.String, "meaning": pl.String, "rows": pl.Int64}
    return pl.DataFrame(rows, schema=kinds)
