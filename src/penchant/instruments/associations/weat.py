"""WEAT: association tests on static word vectors (Caliskan, Bryson & Narayanan 2017)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import ClassVar, Self

from penchant.counting import first_of, for_one, of_all
from penchant.errors import MethodError
from penchant.instruments.associations.estimates import EFFECT, Stimuli, lost_words, together
from penchant.instruments.associations.probe import (
    Association,
    Sentence,
    Tables,
    beyond_control,
    cell_of,
    controls_of,
    effect_sizes,
)
from penchant.instruments.associations.settings import WEATSettings
from penchant.instruments.associations.stimulus_table import Filled, table_items
from penchant.instruments.base import Model
from penchant.instruments.session import Session
from penchant.instruments.unknown import told_respelt
from penchant.letter_case import lowered
from penchant.records import Estimate
from penchant.stats.hypothesis_tests import with_holm
from penchant.vectors.static import StaticVectors


class WEAT(WEATSettings, Association[Tables]):
    """The word embedding association test, on static word vectors.

    `run` returns items (one row per stimulus: its association, and the effect size without it) and a summary: an effect
    size for every category, with an interval over stimuli, a permutation test, and Holm's adjustment over categories.
    """

    kinds: ClassVar[tuple[str, ...]] = ("static",)

    def settle(self, model: Model) -> Self:
        """The probe with `case` decided. Raises MethodError for a model without static word vectors."""
        vectors = self._vectors(model)
        lower = self.case == "lower" or (
            self.case == "auto" and not any(word != word.lower() for word in vectors.words)
        )
        return self.model_copy(update={"case": "lower" if lower else "keep"})

    def measure(self, session: Session) -> Tables:
        """Look up the vectors of every stimulus."""
        model, categories = self._vectors(session.model), self.chosen(session.base)
        session.expect(len(categories))
        lower, language = self.case == "lower", self.stimuli(session.base).language
        words = dict.fromkeys(w for c in categories for part in c.lists() for w in part.words)
        small = {word: lowered(word, language) if lower else word for word in words}
        known = {word: entry for word, written in small.items() if (entry := model.spelling(written)) is not None}
        # A vector of zeros has no direction, so such a word counts as missing.
        have = {word for word, entry in known.items() if model.vector(entry).any()}
        blank = len(have) < len(known)
        where = f"the vocabulary of {model.name}" + (", or only with a vector of zeros" if blank else "")
        tables: list[tuple[Mapping[str, str], Stimuli, Filled | None]] = []
        for category in categories:
            stimuli = Stimuli.of(category, have, self.max_missing)
            by = {"category": category.id, "label": category.label, "layer": "", "context": ""}
            parts = [[Sentence(word) for word in words] for words in stimuli.sets]
            filled = None
            if all(parts):
                filled = cell_of(by, parts, lambda s: model.matrix[model.index[known[s.word]]], "sentence")
                session.advance(1)
            tables.append((by, stimuli, filled))
        stimuli_of = {by["category"]: stimuli for by, stimuli, _ in tables}
        respelt = [word for word in words if word in have and known[word] != small[word]]
        cautions = (
            *lost_words(stimuli_of, where),
            *(told for category in categories for told in category.cautions()),
            *told_respelt(respelt, len(words), "stimuli", model.name),
            *_capitals(small if lower else {word: lowered(word, language) for word in words}, have, model, lower=lower),
        )
        return Tables(table_items(tables, self), cautions, tuple(tables), controls_of(categories))

    def summarise(self, measured: Tables) -> Iterable[Estimate]:
        """An effect size for every category, and those beyond a control."""
        return [*with_holm(effect_sizes(measured, self), together(EFFECT)), *beyond_control(measured, self)]

    def _vectors(self, model: object) -> StaticVectors:
        if not isinstance(model, StaticVectors):
            name, kind = getattr(model, "name", "this model"), getattr(model, "kind", "something else")
            raise MethodError(f"weat reads static word vectors and {name} is {kind}", hint="use seat or ceat")
        return model


_NAMED = 20
"""The most words that a caution names."""


def _capitals(words: Mapping[str, str], have: Collection[str], model: StaticVectors, *, lower: bool) -> Iterator[str]:
    """The caution about stimuli with capital letters, given with their lower case: that they were looked up in `lower`
    case, or that they are not there as they are written and would be in lower case."""
    capitals = [word for word, small in words.items() if word != small]
    if lower:
        found = [word for word in capitals if word in have]
        told = f"with capital letters {for_one(len(found), 'were')} looked up in lower case (case: lower)"
        mend = "write case: keep to look them up as they are written"
    else:
        found = [word for word in capitals if word not in have and model.spelling(words[word]) is not None]
        told = f"not in the vocabulary of {model.name} as {'it is' if len(found) == 1 else 'they are'} written"
        told = f"{for_one(len(found), 'are')} {told}, only in lower case"
        mend = "write case: lower to look all words up in lower case"
    if found:
        yield f"{of_all(len(found), len(words), 'words')} {told}: {first_of(found, _NAMED)}; {mend}"
