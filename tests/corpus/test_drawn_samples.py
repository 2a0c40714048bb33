"""Samples are drawn by priority, and of near duplicates only the first is drawn, whatever lies behind the sample."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import polars as pl
import pytest

from penchant.corpus.block_search import ROWS, Extraction
from penchant.corpus.near_duplicates import NearDuplicates, drawn

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def rows_of(draw: random.Random, words: int, bins: int, repeated: float) -> pl.DataFrame:
    """Rows by word and priority, some sentences of which stand twice or nearly."""
    rows: list[tuple[object, ...]] = []
    for word in range(words):
        texts: list[str] = []
        for number in range(draw.randrange(1, 40)):
            text = "".join(draw.choices(LETTERS, k=60))
            if texts and draw.random() < repeated:
                text = draw.choice(texts)[:-1] + draw.choice(LETTERS)
            texts.append(text)
            for _ in range(draw.choice([1, 1, 1, 2])):  # the word appears twice in the sentence
                cell = word * bins + draw.randrange(bins)
                rows.append((cell, len(rows), f"{word}:{number}", "w", text, 0, 1, "w", 1, "a"))
    return pl.DataFrame(rows, schema=dict(ROWS), orient="row")


def one_by_one(rows: pl.DataFrame, bins: int, per_word: int) -> tuple[list[bool], Counter[int], Counter[int]]:
    """The same, each sentence compared with all that were kept before."""
    mask: list[bool] = []
    kept, near = Counter[int](), Counter[int]()
    seen: dict[int, NearDuplicates] = {}
    is_new: dict[str, bool] = {}
    for cell, sentence, text in rows.select("cell", "id", "text").iter_rows():
        room = kept[cell] < per_word
        if room and sentence not in is_new:
            is_new[sentence] = seen.setdefault(cell // bins, NearDuplicates()).add(text)
        mask.append(room and is_new[sentence])
        kept[cell] += mask[-1]
        near[cell] += room and not mask[-1]
    return mask, kept, near


@pytest.mark.parametrize("bins", [1, 3])
@pytest.mark.parametrize("repeated", [0.0, 0.03, 0.3])
@pytest.mark.parametrize("per_word", [1, 5, 20, 100])
def test_what_is_drawn_is_what_is_kept_one_by_one(bins: int, repeated: float, per_word: int) -> None:
    draw = random.Random(f"{bins} {repeated} {per_word}")
    settings = Extraction({}, per_word=per_word, segments=("all",) if bins == 1 else (9, 25, ">25"))
    for _ in range(5):
        rows = rows_of(draw, 6, bins, repeated)
        kept, near = np.zeros(6 * bins, np.int64), np.zeros(6 * bins, np.int64)
        mask = drawn(rows, settings, kept, near)
        expected = one_by_one(rows, bins, per_word)
        assert mask.tolist() == expected[0]
        assert kept.tolist() == [expected[1][cell] for cell in range(6 * bins)]
        assert near.tolist() == [expected[2][cell] for cell in range(6 * bins)]
