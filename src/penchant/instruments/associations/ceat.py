"""CEAT: association tests on the contextual vectors of words in natural sentences.

Every sample draws one sentence for each stimulus and yields an effect size; the samples of a category are combined in a
random-effects model (Guo & Caliskan 2021). Sentences are cut to segments of a given number of words, to show the effect
of context length (Sadhu et al. 2024). The published p-value shrinks with the number of samples, which are not
independent studies; it is therefore reported with an interval and a test over stimuli.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.association_categories import Category
from penchant.corpus.occurrence_columns import Segment, segments
from penchant.corpus.occurrences import read_occurrences
from penchant.engine.vector_store import VectorStore, collect, space
from penchant.errors import MethodError
from penchant.files import cited
from penchant.instruments.associations.contextual_effects import VectorPool, contextual_effects
from penchant.instruments.associations.control_category import beyond_controls, controls_of
from penchant.instruments.associations.estimates import SIDES, Cell, Filled, Stimuli, items_table, lost_words, together
from penchant.instruments.associations.probe import Association, respelt, words_of
from penchant.instruments.associations.random_effects import BY_SAMPLE, COMBINED, PUBLISHED, RESAMPLED, Combination
from penchant.instruments.associations.sampled_effects import Sides
from penchant.instruments.associations.sentence_sampling import Cut
from penchant.instruments.associations.settings import CEATSettings
from penchant.instruments.base_probe import Measured, TextNeeds
from penchant.instruments.session import Session
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import with_holm
from penchant.tables.data_lookup import listed
from penchant.wording.phrases import Note, in_words

FAMILY = ("sampling", "samples")
"""Sampling settings; a table shows one level of each."""
ITEM = ("category", "label", "layer", "context", *FAMILY)


@dataclass(frozen=True)
class CombinedSamples(Measured):
    """The combined samples of every category, layer, segment and sampling, and the control of each category, if any."""

    combinations: tuple[Combination, ...] = ()
    controls: Mapping[str, str] = field(default_factory=dict)


class CEAT(CEATSettings, Association[CombinedSamples]):
    """The contextualized embedding association test.

    `run` returns items (one row per stimulus, category, segment and sampling, with its mean association) and a summary:
    the combined effect size with an interval over stimuli and samples and a test over stimuli, the published standard
    error and p, the variance between samples, and the effect size of the first 10, 20, 50 … samples.
    """

    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal", "encoder")

    drawn: ClassVar[str] = "sentences"

    _occurrences: dict[tuple[Path, ...], pl.DataFrame] = PrivateAttr(default_factory=dict)

    def places(self, base: Sequence[Path]) -> tuple[Path, ...]:
        """Return the sentence files, looked up in the directories `base`.

        Raises MethodError if `sentences` is not set.
        """
        if self.sentences is None:
            raise MethodError("no sentences were given for ceat", hint="pass a table or a text file as sentences")
        return tuple(self.find(name, base) for name in listed(self.sentences))

    def occurrences(self, base: Sequence[Path] = (Path(),)) -> pl.DataFrame:
        """Return the occurrences of the stimuli in the sentences, cached. Raises DataError naming file and line."""
        places = self.places(base)
        if places not in self._occurrences:
            stimuli = self.stimuli(base)
            forms = {word: stimuli.forms(word) for word in words_of(self.chosen(base))}
            self._occurrences[places] = read_occurrences(places, forms, stimuli.language)
        return self._occurrences[places]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return an empty list: sentences that a model cannot process are not refused, but left out and counted."""
        self.chosen(base)
        if self.sentences is not None:
            self.occurrences(base)
        return []

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of stimuli and of any sentences, looked up in the directories `base`."""
        return [*self.stimuli(base).files, *(() if self.lacks_text() else self.places(base))]

    def text_needs(self, base: Sequence[Path]) -> TextNeeds:
        """Return the stimuli to find in running text, and the classes of sentence length that the segments need."""
        words = tuple(words_of(self.chosen(base)))
        bounds = sorted({segment.length or segment.high or segment.low - 1 for segment in self._segments()} - {0})
        return TextNeeds(self.stimuli(base), words, (*bounds, f">{bounds[-1]}") if bounds else ("all",))

    def particulars(self, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields of this instrument's own parameters, including the sentence files."""
        return {**super().particulars(base), "sentences": cited(self.places(base))}

    def measure(self, session: Session) -> CombinedSamples:
        """Draw sentences, compute the vectors of the words in them, and combine the samples."""
        lm, categories = session.lm, self.chosen(session.base)
        cuts = [Cut.of(self, segment, self.occurrences(session.base)) for segment in self._segments()]
        for cut in cuts:
            cut.draw(self, lm, session.scorer)
        store = self._read_vectors(session, cuts)
        combinations: list[Combination] = []
        cautions: list[Note | str] = []
        for cut in cuts:
            combined = self._combined(cut, categories, store)
            cautions += [*cut.cautions(lm.name, self.minimum), *_missing(cut.segment, combined)]
            combinations += combined
        cautions += (caution for category in categories for caution in category.cautions())
        cautions += respelt(lm, categories)
        rows = (row for each in combinations if each.filled for row in each.items(self))
        lists = dict.fromkeys((BY_SAMPLE, RESAMPLED), pl.List(pl.Float32))
        items = items_table(rows, ITEM, sentences=pl.Int64, **lists)
        return CombinedSamples(items, tuple(cautions), tuple(combinations), controls_of(categories))

    def summarise(self, measured: CombinedSamples) -> Iterable[Estimate]:
        """Return the estimates of every combination of samples, and the differences from controls."""
        estimates = [row for each in measured.combinations for row in each.estimates(self)]
        for measure in (COMBINED, PUBLISHED):
            estimates = with_holm(estimates, together(measure, FAMILY))
        placed = [each.placed(self) for each in measured.combinations] if measured.controls else []
        with_effect = [each for each in placed if each]
        return [*estimates, *beyond_controls(with_effect, measured.controls, self, apart=FAMILY)]

    def _read_vectors(self, session: Session, cuts: Sequence[Cut]) -> VectorStore:
        pooling = "mean" if self.pieces == "root" else self.pieces
        store = VectorStore(session.folder(), space(session.lm, self.layers, pooling))
        session.expect(sum(len(cut.places) for cut in cuts))
        for cut in cuts:
            collect(session.scorer, store, cut.places, layers=self.layers, pieces=pooling, progress=session.advance)
        return store

    def _segments(self) -> tuple[Segment, ...]:
        return segments(self.segments, self.mode)

    def _combined(self, cut: Cut, categories: Sequence[Category], store: VectorStore) -> list[Combination]:
        jobs = [
            _Job(category, layer, at, sampling, n)
            for category in categories
            for at, layer in enumerate(self.layers)
            for sampling in self.sampling
            for n in self.samples
        ]
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            return list(pool.map(lambda job: self._combination(cut, job, store), jobs))

    def _combination(self, cut: Cut, job: _Job, store: VectorStore) -> Combination:
        drawn = cut.drawn[job.sampling, job.n]
        available = [word for word, draw in drawn.items() if draw.usable >= self.minimum]
        stimuli = Stimuli.of(job.category, available, self.max_missing)
        by = {
            "category": job.category.id,
            "label": job.category.label,
            "layer": str(job.layer),
            "context": cut.segment.name,
            "sampling": job.sampling,
            "samples": str(job.n),
        }
        if not all(stimuli.sets):
            return Combination(by, stimuli, job.n)

        def pool(word: str) -> VectorPool:
            rows, picks = np.unique(drawn[word].rows, return_inverse=True)
            return VectorPool(lambda: store.fetch([cut.keys[row] for row in rows])[:, job.at], picks)

        x, y, a, b = ([pool(word) for word in words] for words in stimuli.sets)
        effects = contextual_effects((x, y), (a, b), ddof=self.ddof)
        texts = [[(side, word, "") for word in words] for side, words in zip(SIDES, stimuli.sets, strict=True)]
        cell = Cell(by, effects.cosines, Sides.of(*stimuli.sets[:2]), Sides.of(*stimuli.sets[2:]))
        filled = Filled(cell, [*texts[0], *texts[1]], [*texts[2], *texts[3]], job.category.labels())
        return Combination(by, stimuli, job.n, effects, filled, drawn, cell.draws(self))


def _missing(segment: Segment, combinations: Sequence[Combination]) -> Iterator[Note | str]:
    stimuli: dict[str, Stimuli] = {}
    # Sorted by the length of the note, so that each category keeps the combination with the longest.
    for combination in sorted(combinations, key=lambda each: len(in_words(each.stimuli.notes))):
        stimuli[combination.by["category"]] = combination.stimuli
    yield from lost_words(stimuli, f"enough sentences of segment {segment.name}")


@dataclass(frozen=True, slots=True)
class _Job:
    category: Category
    layer: int
    at: int
    sampling: str
    n: int
