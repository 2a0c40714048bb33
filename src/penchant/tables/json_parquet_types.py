"""Column types of JSON lines and Parquet tables."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from penchant.text_io import is_file, opened


def holds_text(path: Path, column: str) -> bool:
    """Return whether a column of a JSON lines or Parquet table contains text; other formats always give False."""
    if not is_file(path):
        return False
    if path.suffix == ".parquet":
        return pl.read_parquet_schema(path).get(column) == pl.String
    if path.suffix not in (".jsonl", ".ndjson"):
        return False
    with opened(path) as stream:
        first = stream.readline()
    try:
        row = json.loads(first)
    except ValueError:  # reported when the table is read
        return False
    return isinstance(row, dict) and isinstance(row.get(column), str)
