"""The rows of results that tables, figures and the finding show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from penchant.instruments.amplification.data import EVERYTHING
from penchant.instruments.amplification.estimates import GAP, LEFT_OUT, C, M
from penchant.records import Result
from penchant.report.items import every_item
from penchant.report.tables import models
from penchant.wording.phrases import notes_of

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WordRow:
    """The estimates of one word under one model, and how often the text has it in sentences of either group."""

    model: str
    contrast: str
    kind: str
    word: str
    m: Row
    c: Row
    gap: Row
    counts: tuple[int, int]

    @property
    def rare(self) -> bool:
        """Whether the word is left out, because the text has it too rarely."""
        return any(note.code == LEFT_OUT for note in notes_of(self.gap))


def contrasts(results: Sequence[Result]) -> list[str]:
    """The names of the contrasts, the control last."""
    rows = pl.concat([result.items.select("contrast", "control") for result in results]).unique(maintain_order=True)
    return [str(name) for name in rows.sort("control", maintain_order=True)["contrast"]]


def controls(results: Sequence[Result]) -> set[str]:
    """The names of the contrasts that are the control."""
    return {str(name) for result in results for name in result.items.filter("control")["contrast"].unique()}


def labels(results: Sequence[Result], contrast: str) -> tuple[str, str]:
    """What the two groups of a contrast are called."""
    rows = every_item(results).filter(contrast=contrast).unique("side", maintain_order=True).sort("side")
    first, second = rows["label"]
    return first, second


def lines(results: Sequence[Result]) -> Iterator[tuple[str, str, str, dict[str, Row]]]:
    """Contrast, kind and model, with the estimates of that kind by measure."""
    for contrast in contrasts(results):
        for model, result in zip(models(results), results, strict=True):
            rows = result.summary.filter((pl.col("contrast") == contrast) & (pl.col("word") == ""))
            for (kind,), part in rows.group_by("kind", maintain_order=True):
                yield contrast, str(kind), model, {row["measure"]: row for row in part.iter_rows(named=True)}


def whole(results: Sequence[Result]) -> Iterator[tuple[str, str, dict[str, Row]]]:
    """Contrast and model, with the estimates over all kinds by measure."""
    for contrast, kind, model, rows in lines(results):
        if kind == EVERYTHING:
            yield contrast, model, rows


def words(results: Sequence[Result]) -> list[WordRow]:
    """Every word of every contrast and model."""
    found = []
    for model, result in zip(models(results), results, strict=True):
        counts = {
            (contrast, word): (a, b)
            for contrast, word, a, b in result.items.select("contrast", "word", "count_a", "count_b")
            .unique()
            .iter_rows()
        }
        rows = result.summary.filter(pl.col("word") != "")
        for (contrast, kind, word), part in rows.group_by("contrast", "kind", "word", maintain_order=True):
            by = {row["measure"]: row for row in part.iter_rows(named=True)}
            key = str(contrast), str(word)
            found.append(WordRow(model, key[0], str(kind), key[1], by[M], by[C], by[GAP], counts[key]))
    return found


MOST = 6
"""Words on either side of those that are furthest from their text."""


def furthest(rows: Sequence[WordRow]) -> tuple[list[WordRow], list[WordRow]]:
    """Of the words of one contrast and model those of the largest and of the smallest m − c, of either sign, the
    furthest first; without rare ones."""
    ranked = sorted((row for row in rows if not row.rare), key=lambda row: (-row.gap["value"], row.word))
    above = [row for row in ranked if row.gap["value"] > 0][:MOST]
    below = [row for row in ranked[::-1] if row.gap["value"] < 0][:MOST]
    return above, below
