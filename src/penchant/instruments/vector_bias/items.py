"""The table of items: a row for every stimulus of a category, with its vector and what it says under each measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penchant.instruments.vector_bias.cells import Cell
from penchant.instruments.vector_bias.measures import (
    Counts,
    Distances,
    Vectors,
    beside,
    learning,
    relations,
    similarities,
)
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.stats.association import unit
from penchant.stats.inputs import Array

NUMBERS = ("rnd", "cosine_x", "cosine_y", "ripa", "distance_a", "distance_b", "probability_b")
"""What a word says under the measures: the first four of attributes, the others of targets."""
_OF = {
    "rnd": ("rnd",),
    "ect": ("cosine_x", "cosine_y"),
    "ripa": ("ripa",),
    "mac": ("distance_a", "distance_b"),
    "rnsb": ("probability_b",),
}


def with_numbers(items: pl.DataFrame, cells: Sequence[Cell], settings: VectorBiasSettings) -> pl.DataFrame:
    """The items with the numbers of each word under the measures that are asked for; null for words without a vector
    and in categories without numbers."""
    names = [name for measure in settings.measures for name in _OF[measure]]
    numbers: dict[str, dict[str, float]] = {name: {} for name in names}
    for cell in cells:
        if cell.notes:
            continue
        attributes, targets = ([f"{cell.id} {side} {word}" for side, word in part] for part in cell.words())
        for name, values in _numbers(cell.vectors, settings).items():
            of = targets if name in ("distance_a", "distance_b", "probability_b") else attributes
            numbers[name] |= dict(zip(of, values.tolist(), strict=True))
    columns = [
        pl.Series(name, [numbers[name].get(id_) for id_ in items["id"]], pl.Float64)
        for name in NUMBERS
        if name in names
    ]
    return items.with_columns(columns)


def _numbers(vectors: Vectors, settings: VectorBiasSettings) -> dict[str, Array]:
    once = Counts.once(vectors)
    numbers: dict[str, Array] = {}
    if "rnd" in settings.measures:
        distances = Distances.of(vectors.targets, vectors.attributes)
        numbers["rnd"] = distances.differences(*beside(once.x, once.y), settings.distance)[0]
    if "ect" in settings.measures:
        numbers["cosine_x"], numbers["cosine_y"] = similarities(vectors)
    if "ripa" in settings.measures:
        directions = relations(vectors)
        numbers["ripa"] = vectors.attributes @ directions.reshape(-1, directions.shape[-1]).mean(axis=0)
    if "mac" in settings.measures:
        targets = unit(vectors.targets)
        numbers["distance_a"], numbers["distance_b"] = (
            1 - targets @ unit(part).mean(axis=0) for part in (vectors.a, vectors.b)
        )
    if "rnsb" in settings.measures:
        chosen, labels, space = learning(vectors)
        numbers["probability_b"] = space.probabilities(labels[None], np.ones((1, len(chosen))))[0]
    return numbers
