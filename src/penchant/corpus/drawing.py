"""Draw the samples of words from their occurrences by rising priority, without near duplicates."""

from __future__ import annotations

from collections import Counter
from itertools import compress, pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.corpus.near_duplicates import NearDuplicates
from penchant.corpus.normalisation import normalise
from penchant.corpus.search import Extraction


def drawn(
    rows: pl.DataFrame, settings: Extraction, kept: NDArray[np.int64], near: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Draw the samples of some words from their rows, sorted by word and priority: which rows belong to them. Adds to
    the counts by cell, `kept` and `near`."""
    mask = np.zeros(len(rows), np.bool_)
    cells = rows["cell"].to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(cells // len(settings.bins))) + 1).tolist(), len(rows)]
    for start, end in pairwise(bounds):
        first = _first_of_each(cells[start:end], settings.per_word)
        of_word = rows[start:end]
        # If none of these is near another, they are the sample, whatever comes behind them.
        if settings.duplicates == "near" and _possible(of_word[first], NearDuplicates()):
            mask[start:end] = _without_near(of_word, settings.per_word, near)
        else:
            mask[start + first] = True
    kept += np.bincount(cells[mask], minlength=len(kept))
    return mask


def _first_of_each(cells: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """The places of the first n rows of each cell."""
    return np.sort(np.concatenate([np.flatnonzero(cells == cell)[:n] for cell in np.unique(cells)]))


def _possible(rows: pl.DataFrame, seen: NearDuplicates) -> dict[str, str]:
    """The sentences, by id, that may be near duplicates of each other."""
    texts = dict(
        zip(rows["id"].to_list(), map(normalise, rows["text"].to_list()), strict=True)
    )  # some stand there twice
    return dict(compress(texts.items(), seen.possible([*texts.values()]).tolist()))


def _without_near(rows: pl.DataFrame, per_word: int, near: NDArray[np.int64]) -> list[bool]:
    """Which rows of a word belong to its samples, `per_word` of each cell, without near duplicates of those before.
    Adds to the count of these by cell."""
    seen = NearDuplicates()
    possible = _possible(rows, seen)
    is_new: dict[str, bool] = {}
    mask = []
    taken = Counter[int]()
    for cell, sentence in zip(rows["cell"].to_list(), rows["id"].to_list(), strict=True):
        room = taken[cell] < per_word
        if room and sentence in possible:
            is_new[sentence] = seen.add(possible.pop(sentence))
        mask.append(room and is_new.get(sentence, True))
        taken[cell] += mask[-1]
        near[cell] += room and not mask[-1]
    return mask
