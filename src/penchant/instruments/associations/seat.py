"""SEAT: association tests on vectors of sentences that contain the stimuli (May et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from penchant.corpus.stimuli import Category
from penchant.instruments.associations.estimates import BY_SENTENCE, EFFECT, Stimuli, lost_words, together
from penchant.instruments.associations.probe import (
    Association,
    Sentence,
    Tables,
    beyond_control,
    cell_of,
    controls_of,
    effect_sizes,
    require_vectors,
    sentences_of,
)
from penchant.instruments.associations.settings import SEATSettings
from penchant.instruments.associations.stimulus_table import Filled, table_items
from penchant.instruments.base import Model
from penchant.instruments.result import Result
from penchant.instruments.session import Session
from penchant.instruments.unknown import told_respelt
from penchant.models.equivalents import respelt_words
from penchant.records import Estimate, Signature
from penchant.stats.hypothesis_tests import with_holm


class SEAT(SEATSettings, Association[Tables]):
    """The sentence encoder association test: WEAT on vectors of bleached sentences that contain the words.

    `run` returns items (one row per sentence) and a summary: an effect size for every category and layer, with an
    interval and a test over words, whose sentences stay together, and also the test of older tools, over sentences."""

    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal", "encoder")

    def settle(self, model: Model) -> Self:
        """The probe unchanged. Raises MethodError for static word vectors."""
        require_vectors(model, self.name)
        return self

    def measure(self, session: Session) -> Tables:
        """Read the vectors of every sentence that contains a stimulus."""
        categories = self.chosen(session.base)
        sentences = {
            (part, word): sentences_of(part, word) for c in categories for part in c.lists() for word in part.words
        }
        distinct = {s.text: s for group in sentences.values() for s in group}
        vectors = self._read_vectors(session, distinct)
        lost = {word for (_, word), group in sentences.items() if any(s.text not in vectors for s in group)}
        have = {word for _, word in sentences} - lost
        tables: list[tuple[Mapping[str, str], Stimuli, Filled | None]] = []
        for category in categories:
            stimuli = Stimuli.of(category, have, self.max_missing)
            parts = [
                [s for word in words for s in sentences[part, word]]
                for part, words in zip(category.lists(), stimuli.sets, strict=True)
            ]
            for at, layer in enumerate(self.layers):
                by = {"category": category.id, "label": category.label, "layer": str(layer), "context": ""}
                filled = None
                if all(parts):
                    filled = cell_of(by, parts, lambda s, at=at: vectors[s.text][at], self.unit)  # type: ignore[misc]
                tables.append((by, stimuli, filled))
        stimuli_of = {by["category"]: stimuli for by, stimuli, _ in tables}
        where = f"the vocabulary of {session.lm.name}"
        respelt = respelt_words(session.lm, list(dict.fromkeys(word for _, word in sentences)))
        cautions = [
            *lost_words(stimuli_of, where),
            *told_respelt(respelt, len(have | lost), "stimuli", where),
            *self._undeclared(categories),
            *(told for category in categories for told in category.cautions()),
        ]
        alone = all(_alone(category) for category in categories)
        return Tables(table_items(tables, self), tuple(cautions), tuple(tables), controls_of(categories), alone)

    def result(self, measured: Tables, signature: Signature) -> Result:
        """Return the result of what was measured; its unit is the sentence where no words are known."""
        settled = self.model_copy(update={"unit": "sentence"}) if measured.alone else self
        return super(SEAT, settled).result(measured, signature)

    def particulars(self, base: Sequence[Path]) -> dict[str, object]:
        """Its own parameters; the unit is the sentence where no words are known."""
        alone = all(_alone(category) for category in self.chosen(base))
        return {**super().particulars(base), **({"unit": "sentence"} if alone else {})}

    def _undeclared(self, categories: Sequence[Category]) -> Iterator[str]:
        """The cautions for categories of sentences whose words are not known, and of words without sentences."""
        alone = [category.id for category in categories if _alone(category)]
        if alone and self.unit == "word":
            yield (
                f"{', '.join(alone)}: the stimuli are whole sentences, and which hold the same word is not known: each "
                "counts by itself, which makes p too small and the interval too narrow; name the words behind them "
                "(`words` beside `examples`; see penchant schema stimuli)"
            )
        bare = [category.id for category in categories if any(part.bare() for part in category.lists())]
        if bare:
            yield (
                f"{', '.join(bare)}: the words stand in no sentence, so that the vectors are those of single words as "
                "texts, for which SEAT was not made: give `templates` to their lists (see penchant schema stimuli)"
            )

    def summarise(self, measured: Tables) -> Iterable[Estimate]:
        """An effect size for every category and layer, and the test over sentences."""
        adjusted = with_holm(effect_sizes(measured, self, sentences=self.unit == "word"), together(EFFECT))
        return [*with_holm(adjusted, together(BY_SENTENCE)), *beyond_control(measured, self)]

    def _read_vectors(self, session: Session, distinct: Mapping[str, Sentence]) -> dict[str, NDArray[np.float32]]:
        """The vectors, shape (layers, d), of the sentences that the model can read, by text."""
        scorer = session.scorer
        session.expect(len(distinct))
        reasons = scorer.usable((s.text, s.span, f"'{s.text}'") for s in distinct.values())
        sound = [s.text for s, reason in zip(distinct.values(), reasons, strict=True) if not reason]
        pooled = scorer.sentence_vectors(
            ((text, f"'{text}'") for text in sound), layers=self.layers, pooling=self.pooling
        )
        return dict(zip(sound, pooled, strict=True))


def _alone(category: Category) -> bool:
    """Whether a list of the category has sentences whose words are not known."""
    return any(part.sentences_alone() for part in category.lists())
