"""WEAT, on static word vectors (Caliskan et al. 2017), and SEAT, on vectors of sentences (May et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.corpus.association_categories import Category, WordList
from penchant.instruments.associations.control_category import CellWords, beyond_controls, controls_of
from penchant.instruments.associations.estimates import (
    BY_SENTENCE,
    CAUTIONS,
    EFFECT,
    SIDES,
    Cell,
    Filled,
    Stimuli,
    by_sentence,
    effect,
    items_table,
    lost_words,
    stimulus_names,
    together,
)
from penchant.instruments.associations.probe import Association, respelt, words_of
from penchant.instruments.associations.sampled_effects import Sides
from penchant.instruments.associations.settings import AssociationSettings, SEATSettings, WEATSettings
from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.result import Result
from penchant.instruments.session import Session, require_static
from penchant.instruments.unknown_tokens import told_respelt
from penchant.letter_case import lowered
from penchant.plurals import first_of
from penchant.records import Estimate, Signature
from penchant.stats.association import unit
from penchant.stats.hypothesis_tests import with_holm
from penchant.vectors.static_vectors import StaticVectors
from penchant.wording.phrases import Note

SLOT = "{word}"
_NAMED = 20
"""Largest number of words that a caution lists."""
Table: TypeAlias = tuple[Mapping[str, str], Stimuli, Filled | None]
"""Category and layer, their stimuli, and their table of cosines, which is None if a list of stimuli is empty."""


@dataclass(frozen=True)
class Tables(Measured):
    """The table of every category and layer, and the control of each category that has one.

    `alone` is True if every category has whole sentences whose stimulus word is not declared.
    """

    tables: tuple[Table, ...] = ()
    controls: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False


@dataclass(frozen=True, slots=True)
class StimulusText:
    """A stimulus: a word, or a sentence with the word's span of characters in it."""

    word: str
    text: str = ""
    span: tuple[int, int] = (0, 0)


Vector: TypeAlias = Callable[[StimulusText], NDArray[np.floating]]


class WEAT(WEATSettings, Association[Tables]):
    """The word embedding association test, on static word vectors.

    `run` returns items (one row per stimulus: its association, and the effect size without it) and a summary: an effect
    size for every category, with an interval over stimuli, a permutation test, and Holm's adjustment over categories.
    """

    kinds: ClassVar[tuple[str, ...]] = ("static",)

    def settle(self, model: Model) -> Self:
        """Return a copy with `case` set. Raises MethodError for a model without static word vectors."""
        vectors = require_static(self.name, model)
        lower = self.case == "lower" or (
            self.case == "auto" and not any(word != word.lower() for word in vectors.words)
        )
        return self.model_copy(update={"case": "lower" if lower else "keep"})

    def measure(self, session: Session) -> Tables:
        """Look up the vector of every stimulus and compute the tables of cosines."""
        model, categories = require_static(self.name, session.model), self.chosen(session.base)
        session.expect(len(categories))
        lower, language = self.case == "lower", self.stimuli(session.base).language
        words = words_of(categories)
        small = {word: lowered(word, language) if lower else word for word in words}
        known = {word: entry for word, written in small.items() if (entry := model.spelling(written)) is not None}
        # A vector of zeros has no direction, so such a word counts as missing.
        have = {word for word, entry in known.items() if model.vector(entry).any()}
        blank = len(have) < len(known)
        where = f"the vocabulary of {model.name}" + (", or only with a vector of zeros" if blank else "")
        vectors: dict[str, Vector] = {"": lambda s: model.matrix[model.index[known[s.word]]]}
        tables = list(_tables(self, categories, have, lambda part, word: [StimulusText(word)], vectors, "sentence"))
        for _ in filter(None, (filled for *_, filled in tables)):
            session.advance(1)
        spelled = [word for word in words if word in have and known[word] != small[word]]
        cautions = (
            *lost_words(_stimuli_of(tables), where),
            *(caution for category in categories for caution in category.cautions()),
            *told_respelt(spelled, len(words), "stimuli", model.name),
            *_capitals(small if lower else {word: lowered(word, language) for word in words}, have, model, lower=lower),
        )
        return Tables(_items(tables, self), cautions, tuple(tables), controls_of(categories))

    def summarise(self, measured: Tables) -> Iterable[Estimate]:
        """Return the effect size of every category and, if it has a control, the difference from the control's."""
        return _estimates(measured, self)


class SEAT(SEATSettings, Association[Tables]):
    """The sentence encoder association test: WEAT on vectors of bleached sentences that contain the words.

    `run` returns items (one row per sentence) and a summary: an effect size for every category and layer, with an
    interval and a test over words, whose sentences stay together, and also the test of older tools, over sentences.
    """

    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal", "encoder")

    def measure(self, session: Session) -> Tables:
        """Compute the vectors of all sentences with a stimulus, and the tables of their cosines."""
        categories = self.chosen(session.base)
        sentences = {
            (part, word): _sentences_of(part, word) for c in categories for part in c.lists() for word in part.words
        }
        vectors = self._read_vectors(session, {s.text: s for group in sentences.values() for s in group})
        lost = {word for (_, word), group in sentences.items() if any(s.text not in vectors for s in group)}
        have = {word for _, word in sentences} - lost

        def at(i: int) -> Vector:
            return lambda s: vectors[s.text][i]

        layers = {str(layer): at(i) for i, layer in enumerate(self.layers)}
        tables = list(_tables(self, categories, have, lambda part, word: sentences[part, word], layers, self.unit))
        cautions = (
            *lost_words(_stimuli_of(tables), f"the vocabulary of {session.lm.name}"),
            *respelt(session.lm, categories),
            *self._undeclared(categories),
            *(caution for category in categories for caution in category.cautions()),
        )
        alone = all(_alone(category) for category in categories)
        return Tables(_items(tables, self), cautions, tuple(tables), controls_of(categories), alone)

    def result(self, measured: Tables, signature: Signature, base: Sequence[Path] = ()) -> Result:
        """Return the result of a measurement; its unit is the sentence if no stimulus words are declared."""
        settled = self.model_copy(update={"unit": "sentence"}) if measured.alone else self
        return super(SEAT, settled).result(measured, signature)

    def particulars(self, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature that only SEAT has.

        The unit is the sentence if no stimulus words are declared.
        """
        alone = all(_alone(category) for category in self.chosen(base))
        return {**super().particulars(base), **({"unit": "sentence"} if alone else {})}

    def summarise(self, measured: Tables) -> Iterable[Estimate]:
        """Return the effect size and the test over sentences of every category and layer.

        Categories with a control also have the difference from the control's effect size.
        """
        return _estimates(measured, self)

    def _undeclared(self, categories: Sequence[Category]) -> Iterator[str]:
        alone = [category.id for category in categories if _alone(category)]
        if alone and self.unit == "word":
            yield CAUTIONS.get("words-not-known", categories=alone)
        bare = [category.id for category in categories if any(part.bare() for part in category.lists())]
        if bare:
            yield CAUTIONS.get("no-sentence", categories=bare)

    def _read_vectors(self, session: Session, distinct: Mapping[str, StimulusText]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors, shape (layers, d), of the sentences that the model can process, by text."""
        scorer = session.scorer
        session.expect(len(distinct))
        reasons = scorer.usable((s.text, s.span, f"'{s.text}'") for s in distinct.values())
        sound = [s.text for s, reason in zip(distinct.values(), reasons, strict=True) if not reason]
        pooled = scorer.sentence_vectors(
            ((text, f"'{text}'") for text in sound), layers=self.layers, pooling=self.pooling
        )
        return dict(zip(sound, pooled, strict=True))


def _alone(category: Category) -> bool:
    """Return whether a list of the category has whole sentences whose stimulus word is not declared."""
    return any(part.sentences_alone() for part in category.lists())


def _sentences_of(part: WordList, word: str) -> list[StimulusText]:
    """Return one sentence per template, or `word` itself if it is a sentence (SEAT's files) or has no template."""
    if part.behind:
        return [StimulusText(part.behind[part.words.index(word)], word, (0, len(word)))]
    sentences = []
    for template in part.templates or (SLOT,):
        start = template.index(SLOT)
        sentences.append(StimulusText(word, template.replace(SLOT, word), (start, start + len(word))))
    return sentences


def _tables(
    settings: AssociationSettings,
    categories: Iterable[Category],
    have: Collection[str],
    sentences: Callable[[WordList, str], list[StimulusText]],
    vectors: Mapping[str, Vector],
    unit_of_test: str,
) -> Iterator[Table]:
    for category in categories:
        stimuli = Stimuli.of(category, have, settings.max_missing)
        parts = [
            [s for word in words for s in sentences(part, word)]
            for part, words in zip(category.lists(), stimuli.sets, strict=True)
        ]
        for layer, vector in vectors.items():
            by = {"category": category.id, "label": category.label, "layer": layer, "context": ""}
            yield by, stimuli, _cosines(by, parts, category.labels(), vector, unit_of_test) if all(parts) else None


def _cosines(
    by: Mapping[str, str],
    parts: list[list[StimulusText]],
    labels: Mapping[str, str],
    vector: Vector,
    unit_of_test: str,
) -> Filled:
    """Return the table of cosines, with the stimuli of X and Y as rows and those of A and B as columns.

    `by` has the table's category and layer, `parts` the stimuli of the four sets, `labels` the labels of the sets.
    """
    down, across = [[*parts[i], *parts[i + 1]] for i in (0, 2)]
    units = [unit(np.array([vector(s) for s in side])) for side in (down, across)]
    names = [stimulus_names([(s.word, s.text) for s in part], unit_of_test) for part in parts]
    cell = Cell(by, (units[0] @ units[1].T)[None], Sides.of(*names[:2]), Sides.of(*names[2:]))
    named = [[(side, s.word, s.text) for s in part] for side, part in zip(SIDES, parts, strict=True)]
    return Filled(cell, [*named[0], *named[1]], [*named[2], *named[3]], labels)


def _items(tables: Iterable[Table], settings: AssociationSettings) -> pl.DataFrame:
    return items_table([row for _, _, filled in tables if filled for row in filled.items(settings)])


def _stimuli_of(tables: Iterable[Table]) -> dict[str, Stimuli]:
    return {by["category"]: stimuli for by, stimuli, _ in tables}


def _estimates(measured: Tables, settings: AssociationSettings) -> list[Estimate]:
    rows: list[Estimate] = []
    placed: list[CellWords] = []
    for by, stimuli, filled in measured.tables:
        if filled is None:
            notes = stimuli.notes or (Note("associations.empty-list"),)
            n = len(stimuli.x) + len(stimuli.y)
            rows.append(Estimate(EFFECT, np.nan, n, level=settings.level, notes=notes, by=by))
            continue
        rows.append(effect(filled.cell, settings, notes=stimuli.notes))
        if len(filled.down) > len(set(filled.cell.rows.unit.tolist())):
            rows.append(by_sentence(filled.cell, rows[-1], settings))
        placed += [] if stimuli.notes else [CellWords(filled.cell, stimuli.sets)]
    for measure in (EFFECT, BY_SENTENCE):
        rows = with_holm(rows, together(measure))
    return [*rows, *beyond_controls(placed, measured.controls, settings)]


def _capitals(words: Mapping[str, str], have: Collection[str], model: StaticVectors, *, lower: bool) -> Iterator[str]:
    """Yield a caution that lists stimuli with capital letters; `words` maps each stimulus to its lowercase form.

    If `lower` is true, all were looked up in lowercase, and the caution lists those found (`have`); otherwise, it lists
    those that the vocabulary of `model` contains only in lowercase.
    """
    capitals = [word for word, small in words.items() if word != small]
    if lower:
        affected = [word for word in capitals if word in have]
    else:
        affected = [word for word in capitals if word not in have and model.spelling(words[word]) is not None]
    if affected:
        facts = {"n": len(affected), "of": len(words), "model": model.name, "words": first_of(affected, _NAMED)}
        yield CAUTIONS.get("lowered" if lower else "only-lower", **facts)
