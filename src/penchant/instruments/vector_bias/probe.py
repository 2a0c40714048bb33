"""Measures of bias in static word vectors: RND, RNSB, MAC, ECT and RIPA, on the stimuli of WEAT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.association_categories import Category, WordList
from penchant.corpus.priority_sampling import spread
from penchant.corpus.stimulus_sets import StimulusSet, read_stimuli
from penchant.errors import DataError
from penchant.instruments.base_probe import Measured, Model, Probe, TextNeeds
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.session import Session, require_static
from penchant.instruments.unknown_tokens import told_respelt
from penchant.instruments.vector_bias.cells import SIDES, cells, with_numbers
from penchant.instruments.vector_bias.estimates import estimates, family, lost_words
from penchant.instruments.vector_bias.settings import VectorBiasSettings
from penchant.letter_case import lowered
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import with_holm
from penchant.tables.data_lookup import listed
from penchant.vectors.static_vectors import StaticVectors

_READ_AS = "weat"
"""Name of the instrument whose categories are for static vectors."""


class VectorBias(VectorBiasSettings, Probe):
    """Five measures of bias in static word vectors: RND, RNSB, MAC, ECT and RIPA.

    `run` returns items (one row per stimulus and category: its vector, and its value under each measure) and a summary:
    every measure of every category, for the attributes A, for B and for both (RNSB: B against A), with an interval over
    words, a permutation test for measures with a null hypothesis, and Holm's adjustment.
    """

    kinds: ClassVar[tuple[str, ...]] = ("static",)

    _read: dict[tuple[Path, ...], StimulusSet] = PrivateAttr(default_factory=dict)

    @classmethod
    def set_folders(cls) -> list[Path]:
        """Return the folders of bundled sets: this instrument's own, and that of association tests."""
        return [*super().set_folders(), cls.folder().parent / "associations" / "sets"]

    def stimuli(self, base: Sequence[Path] = (Path(),)) -> StimulusSet:
        """Return the stimuli, checked and cached. Raises DataError naming file and field."""
        places = tuple(self.find(name, base) for name in listed(self.data))
        if places not in self._read:
            read = read_stimuli(places[0] if len(places) == 1 else places, self.columns)
            self._read[places] = replace(read, language=self.language or read.language)
        return self._read[places]

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """Return the categories in `categories`, or all that are meant for static vectors.

        Raises DataError for a category that does not exist or is for other instruments, and for words that occur twice
        or cannot be paired.
        """
        stimuli = self.stimuli(base)
        known = {category.id: category for category in stimuli.categories if _READ_AS in category.measures}
        for name in self.categories or ():
            if name not in known:
                hint = f"use one of {', '.join(known)}" if known else ""
                message = f"there is no category '{name}' for static vectors"
                raise DataError(message, where=stimuli.name, field="categories", hint=hint)
        names = known if self.categories is None else dict.fromkeys(self.categories)
        if not names:
            raise DataError("there is no category for static vectors", where=stimuli.name, field="categories")
        categories = [known[name] for name in names]
        for category in categories:
            self._require_usable(category)
        return tuple(category if self.limit is None else self._shortened(category) for category in categories)

    def _require_usable(self, category: Category) -> None:
        repeated = category.repeated()
        if repeated:
            message = f"{category.id}: '{repeated[0]}' occurs twice among the targets or twice among the attributes"
            raise DataError(message, where=category.place, hint="remove one")
        if self.paired(category) and len(category.x.words) != len(category.y.words):
            message = f"{category.id}: {len(category.x.words)} and {len(category.y.words)} words cannot be paired"
            raise DataError(message, where=category.place, hint="give X and Y equally many words, or set pairs: all")

    def paired(self, category: Category) -> bool:
        """Return whether the words of X and Y are paired by position."""
        declared = category.paired and category.target == "targets"
        return self.pairs == "position" or (self.pairs == "auto" and declared)

    def _shortened(self, category: Category) -> Category:
        x, y, a, b = (self._drawn(part.words) for part in category.lists())
        if self.paired(category):
            x = y = self._drawn([" ".join(pair) for pair in zip(category.x.words, category.y.words, strict=True)])
        return replace(
            category,
            x=_subset(category.x, x),
            y=_subset(category.y, y),
            a=_subset(category.a, a),
            b=_subset(category.b, b),
        )

    def _drawn(self, words: Sequence[str]) -> list[int]:
        places, most = range(len(words)), self.limit or len(words)
        return spread(places, most, seed=self.seed, content=lambda i: (words[i],), group=lambda i: "")

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the stimulus set."""
        return list(self.stimuli(base).files)

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return an empty list: words that the vectors lack are counted as missing."""
        self.chosen(base)
        return []

    def text_needs(self, base: Sequence[Path]) -> TextNeeds:
        """Return the stimuli to find in running text, in sentences of any length."""
        return TextNeeds(self.stimuli(base))

    def settle(self, model: Model) -> Self:
        """Return a copy with `case` set. Raises MethodError for a model without static word vectors."""
        vectors = require_static(self.name, model)
        lower = self.case == "lower" or (
            self.case == "auto" and not any(word != word.lower() for word in vectors.words)
        )
        return self.model_copy(update={"case": "lower" if lower else "keep"})

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: the stimuli and all parameters."""
        stimuli = self.stimuli(base)
        shared = {*Probe.model_fields, "data", "columns", *(() if self.language else ("language",))}
        return {
            "data": f"{stimuli.name}#{stimuli.sha256[:6]}",
            **cited_columns(self.columns),
            **{name: written(self, name) for name in type(self).model_fields if name not in shared},
        }

    def measure(self, session: Session) -> Measured:
        """Look up the vector of every stimulus."""
        model, categories = require_static(self.name, session.model), self.chosen(session.base)
        session.expect(len(categories))
        rows = []
        words = dict.fromkeys(word for c in categories for part in c.lists() for word in part.words)
        language = self.stimuli(session.base).language
        small = {word: lowered(word, language) if self.case == "lower" else word for word in words}
        known = {word: entry for word, written in small.items() if (entry := model.spelling(written)) is not None}
        for category in categories:
            rows += list(self._rows(category, model, known))
            session.advance(1)
        schema = {**dict.fromkeys(("id", "category", "label", "side", "word"), pl.String), "pair": pl.Int64}
        items = pl.DataFrame(rows, {**schema, "vector": pl.List(pl.Float32)})
        present = list(cells(items, self))
        respelt = [word for word, entry in known.items() if entry != small[word]]
        cautions = (
            *lost_words(present, model.name),
            *told_respelt(respelt, len(words), "stimuli", model.name),
            *(caution for category in categories for caution in category.cautions()),
        )
        return Measured(with_numbers(items, present, self), cautions)

    def _rows(self, category: Category, model: StaticVectors, known: Mapping[str, str]) -> Iterator[dict[str, object]]:
        paired = self.paired(category)
        for side, part in zip(SIDES, category.lists(), strict=True):
            for place, word in enumerate(part.words):
                vector = model.vector(known[word]).astype(np.float64) if word in known else np.zeros(1)
                length = float(np.linalg.norm(vector))
                yield {
                    "id": f"{category.id} {side} {word}",
                    "category": category.id,
                    "label": category.label,
                    "side": side,
                    "word": word,
                    "pair": place if paired and side in "XY" else None,
                    "vector": (vector / length if self.normalise else vector).tolist() if length else None,
                }

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return every measure of every category and set of attributes, with Holm's adjustment within families."""
        unadjusted = (estimate for cell in cells(measured.items, self) for estimate in estimates(cell, self))
        return with_holm(unadjusted, family)


def _subset(part: WordList, places: Sequence[int]) -> WordList:
    return replace(part, words=tuple(part.words[i] for i in places), behind=())
