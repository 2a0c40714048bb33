"""The log-probability bias score: how much more probable an attribute makes a target.

In a sentence with a target and an attribute, the fill score is the log-probability of the masked target and the prior
score the same with the attribute masked too; their difference is the corrected score (Kurita et al. 2019). Averaged
over two sets of targets, it shows for every attribute towards which of them the model leans; an effect size compares
two sets of attributes. Sentences come in structures of growing context (Sadhu et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

import polars as pl

from penchant.corpus.stimuli import Category
from penchant.counting import counted, for_one
from penchant.errors import DataError
from penchant.instruments.associations.estimates import Stimuli, lost_words
from penchant.instruments.associations.logprob_estimates import bias_cautions, bias_estimates
from penchant.instruments.associations.logprob_scoring import (
    readable_stimuli,
    repeated_word,
    scored_sentences,
    sentence_count,
)
from penchant.instruments.associations.probe import Association
from penchant.instruments.associations.settings import LogProbBiasSettings
from penchant.instruments.base import Measured, Model
from penchant.instruments.session import Session, require_masked
from penchant.instruments.unknown import told_respelt
from penchant.models.equivalents import respelt_words
from penchant.records import Estimate


@dataclass(frozen=True)
class Scored(Measured):
    """Scored sentences, their categories, and the stimuli of each category that the model has."""

    categories: tuple[Category, ...] = ()
    stimuli: Mapping[str, Stimuli] = field(default_factory=dict)


class LogProbBias(LogProbBiasSettings, Association[Scored]):
    """The log-probability bias score of masked models.

    `run` returns items (one row per sentence: fill, prior and corrected score of its target) and a summary: for every
    category and sentence structure the effect size over attributes, the differences of fill, prior and corrected scores
    between the two sets of targets, and the association of every attribute. Where words may occur twice in a list, they
    count once.
    """

    kinds: ClassVar[tuple[str, ...]] = ("masked",)

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """The categories asked for, or all that have contexts. Raises DataError for one that has none."""
        named = super().chosen(base)
        kept = tuple(category for category in named if category.contexts)
        for category in named:
            if not category.contexts and (not kept or self.categories is not None):
                raise DataError("has no contexts", where=category.place, hint="see penchant schema stimuli")
            if category.paired and (word := repeated_word(category)):
                raise DataError(
                    f"'{word}' stands twice in a list of pairs", where=category.place, hint="leave one of its pairs out"
                )
        return kept

    def settle(self, model: Model) -> Self:
        """The probe unchanged. Raises MethodError for a model that is not masked."""
        require_masked(self.name, model)
        return self

    def measure(self, session: Session) -> Scored:
        """Score the target of every sentence, with the attribute seen and masked."""
        categories = self.chosen(session.base)
        session.expect(sum(map(sentence_count, categories)), inputs=2)
        stimuli: dict[str, Stimuli] = {}
        language = self.stimuli(session.base).language
        tables = []
        for category in categories:
            stimuli[category.id] = readable_stimuli(category, session.scorer, self.max_missing)
            tables.append(scored_sentences(category, stimuli[category.id], session.scorer, self.pieces, language))
        where = f"the vocabulary of {session.lm.name}" + (
            ", or their pairs are not" if any(c.paired for c in categories) else ""
        )
        words = list(dict.fromkeys(word for c in categories for part in c.lists() for word in part.words))
        respelt = told_respelt(
            respelt_words(session.lm, words), len(words), "stimuli", f"the vocabulary of {session.lm.name}"
        )
        alike = (told for category in categories for told in category.cautions())
        cautions = (*self._left_out(session.base), *lost_words(stimuli, where), *respelt, *alike)
        return Scored(pl.concat(tables), cautions, categories, stimuli)

    def summarise(self, measured: Scored) -> Iterable[Estimate]:
        """Effect sizes over attributes, differences of scores, and the association of every attribute."""
        return bias_estimates(measured.items, measured.categories, measured.stimuli, self)

    def cautions(self, measured: Scored, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Attributes that leak into the prior, suffixes that share a token, targets of unequal length."""
        return bias_cautions(measured.items)

    def _left_out(self, base: Sequence[Path]) -> Iterator[str]:
        bare = [category.id for category in super().chosen(base) if not category.contexts]
        if bare:
            yield (
                f"{counted(len(bare), 'categories')} {for_one(len(bare), 'have')} no contexts and "
                f"{for_one(len(bare), 'are')} left out: {', '.join(bare)}"
            )
