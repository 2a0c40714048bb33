"""Sentences that were found in NFC, in the spelling that the text has: models read them as they were written."""

from __future__ import annotations

import polars as pl

from penchant.corpus.hits import Sentences
from penchant.corpus.scanning import Integers
from penchant.corpus.units import Units
from penchant.spellings import Alignment


def as_written(rows: pl.DataFrame, lines: Units, sentences: Sentences, of_row: Integers) -> pl.DataFrame:
    """Occurrences with `text`, `start`, `end` and `matched` as the lines have them; of_row[i] is the sentence of row
    i."""
    composed, written = lines.text.split("\n"), lines.written.split("\n")
    changed: dict[int, Alignment] = {}
    places: list[tuple[str, int, int, str]] = []
    columns = rows.select("text", "start", "end", "matched").iter_rows()
    for number, (text, start, end, matched) in zip(of_row.tolist(), columns, strict=True):
        line, at = int(sentences.lines[number]), int(sentences.starts[number])
        if composed[line] == written[line]:
            places.append((text, start, end, matched))
            continue
        if line not in changed:
            changed[line] = Alignment(composed[line], written[line])
        first, last = changed[line].span(at, at + len(text))
        begin, stop = changed[line].span(at + start, at + end)
        places.append((written[line][first:last], begin - first, stop - first, written[line][begin:stop]))
    schema = {name: rows.schema[name] for name in ("text", "start", "end", "matched")}
    return rows.with_columns(pl.DataFrame(places, schema=schema, orient="row").get_columns())
