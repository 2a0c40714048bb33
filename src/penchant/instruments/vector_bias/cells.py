"""The words of a category that a model knows, with their vectors, resamples and values under the measures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import polars as pl

from penchant.instruments.vector_bias.measures import (
    Distance,
    Distances,
    DrawCounts,
    Measure,
    Places,
    SetVectors,
    beside,
    learning,
    relations,
    similarities,
    values,
)
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.stats.association import unit
from penchant.stats.inputs import Array
from penchant.wording.phrases import Note, Notes

SIDES = ("X", "Y", "A", "B")
NUMBERS = ("rnd", "cosine_x", "cosine_y", "ripa", "distance_a", "distance_b", "probability_b")
"""The columns of a word's values under the measures: the first four of attributes, the others of targets."""
_OF = {
    "rnd": ("rnd",),
    "ect": ("cosine_x", "cosine_y"),
    "ripa": ("ripa",),
    "mac": ("distance_a", "distance_b"),
    "rnsb": ("probability_b",),
}
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CategoryVectors:
    """A category: the words of each set that have a vector, their vectors, and the words without one (`lost`).

    `notes` are the reasons that the category has no estimates; they are empty if it has estimates.
    """

    id: str
    label: str
    names: tuple[Words, Words, Words, Words]
    lost: Mapping[str, Words]
    vectors: SetVectors
    notes: Notes = ()

    def words(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the attributes and the targets, each word with its set, in the order of `SetVectors`."""
        named = [[(side, word) for word in part] for side, part in zip(SIDES, self.names, strict=True)]
        return [*named[2], *named[3]], [*named[0], *named[1]]

    def counts(self, resamples: int, seed: int) -> DrawCounts:
        """Return the count of each word in each resample, which depends on the word lists, not on category or model."""
        seeds = [seed_of(part, seed) for part in self.names]
        return DrawCounts.drawn(self.vectors, resamples, seeds)

    def draws(self, measure: Measure, settings: VectorBiasSettings, resamples: int) -> Mapping[str, Array]:
        """Return the value of a measure in every resample, by set of attributes."""
        digest = hashlib.blake2b(repr(self.names).encode())
        for part in (*self.vectors.sets, *(self.vectors.trained or ())):
            digest.update(part.tobytes())
        request = _Request(
            digest.hexdigest(), measure, settings.distance, resamples, settings.seed, self.vectors.pairs, self
        )
        return _drawn(request)


@dataclass(frozen=True, slots=True)
class _Request:
    digest: str
    measure: Measure
    distance: Distance
    resamples: int
    seed: int
    pairs: bool
    cell: CategoryVectors = field(compare=False)


@lru_cache(maxsize=256)
def _drawn(request: _Request) -> Mapping[str, Array]:
    counts = request.cell.counts(request.resamples, request.seed)
    return values(request.cell.vectors, counts, request.measure, request.distance)


def seed_of(words: Sequence[str], seed: int) -> tuple[int, int]:
    """Derive a seed from a list of words and the base seed `seed`."""
    return seed, int.from_bytes(hashlib.blake2b("\n".join(words).encode(), digest_size=8).digest())


def cells(items: pl.DataFrame, settings: VectorBiasSettings) -> Iterator[CategoryVectors]:
    """Yield the categories of a table of items, with their words sorted."""
    for (id_,), part in items.group_by("category", maintain_order=True):
        yield _cell(str(id_), part, settings)


def shared_cells(frames: Sequence[pl.DataFrame], settings: VectorBiasSettings) -> Iterator[tuple[CategoryVectors, ...]]:
    """Yield each category as one `CategoryVectors` per table, with only the words that have a vector in all tables."""
    there = pl.Series(np.all([frame["vector"].is_not_null().to_numpy() for frame in frames], axis=0))
    kept = [frame.with_columns(pl.when(there).then(pl.col("vector")).alias("vector")) for frame in frames]
    yield from zip(*(cells(frame, settings) for frame in kept), strict=True)


def _cell(id_: str, part: pl.DataFrame, settings: VectorBiasSettings) -> CategoryVectors:
    pairs = bool(part["pair"].is_not_null().any())
    sides = [part.filter(side=side) for side in SIDES]
    keep = [side["vector"].is_not_null().to_numpy() for side in sides]
    if pairs:  # a pair that lacks a word is left out entirely
        keep[0] = keep[1] = keep[0] & keep[1]
    order = [np.argsort(side["word"].to_numpy(), kind="stable") for side in sides]
    order[1] = order[0] if pairs else order[1]
    chosen = [[i for i in place if there[i]] for place, there in zip(order, keep, strict=True)]
    names = [tuple(side["word"].gather(places)) for side, places in zip(sides, chosen, strict=True)]
    lost = {
        name: tuple(side["word"].filter(pl.Series(~there)))
        for name, side, there in zip(SIDES, sides, keep, strict=True)
    }
    missing = tuple(
        Note("vector_bias.words-missing", lost=len(lost[name]), of=len(side), side=name)
        for name, side in zip(SIDES, sides, strict=True)
        if len(lost[name]) > settings.max_missing * len(side)
    )
    notes = missing or (() if all(names) else (Note("vector_bias.empty-list"),))
    x, y, a, b = (_matrix(side, places) for side, places in zip(sides, chosen, strict=True))
    trained = (
        None if settings.split is None else (_training_places(names[2], settings), _training_places(names[3], settings))
    )
    vectors = SetVectors(x, y, a, b, pairs, trained)
    return CategoryVectors(id_, part["label"][0], (names[0], names[1], names[2], names[3]), lost, vectors, notes)


def _matrix(side: pl.DataFrame, places: Sequence[int]) -> Array:
    rows = [side["vector"][int(place)].to_numpy() for place in places]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 0)


def _training_places(words: Words, settings: VectorBiasSettings) -> Places:
    """Return the indices of the attributes to train the classifier on: all but the share `split`, at least one."""
    held_out = min(round((settings.split or 0) * len(words)), len(words) - 1)
    places = np.random.default_rng([*seed_of(words, settings.seed), 17]).permutation(len(words))
    training: Places = np.sort(places[max(held_out, 0) :])
    return training


# Values of words ---------------------------------------------------------------------------------------------------


def with_numbers(items: pl.DataFrame, cells: Sequence[CategoryVectors], settings: VectorBiasSettings) -> pl.DataFrame:
    """Add each word's values under the chosen measures to the items; null for words without values."""
    names = [name for measure in settings.measures for name in _OF[measure]]
    numbers: dict[str, dict[str, float]] = {name: {} for name in names}
    for cell in cells:
        if cell.notes:
            continue
        attributes, targets = ([f"{cell.id} {side} {word}" for side, word in part] for part in cell.words())
        for name, column in _values(cell.vectors, settings).items():
            of = targets if name in ("distance_a", "distance_b", "probability_b") else attributes
            numbers[name] |= dict(zip(of, column.tolist(), strict=True))
    columns = [
        pl.Series(name, [numbers[name].get(id_) for id_ in items["id"]], pl.Float64)
        for name in NUMBERS
        if name in names
    ]
    return items.with_columns(columns)


def _values(vectors: SetVectors, settings: VectorBiasSettings) -> dict[str, Array]:
    once = DrawCounts.once(vectors)
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
