"""The base of association tests, which compare targets X and Y by their association with attributes A and B."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Generic, Self

from pydantic import PrivateAttr

from penchant.corpus.association_categories import Category, WordList
from penchant.corpus.priority_sampling import spread
from penchant.corpus.stimulus_sets import StimulusSet, read_stimuli
from penchant.errors import DataError, MethodError
from penchant.instruments.associations.settings import AssociationSettings
from penchant.instruments.base_probe import M, Model, Probe, TextNeeds
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.unknown_tokens import told_respelt
from penchant.models.load import LanguageModel
from penchant.models.unicode_form_choice import respelt_words
from penchant.tables.data_lookup import listed
from penchant.wording.phrases import Note

_TESTED = ("compat", "alternative", "test", "ddof", "exact", "draws", "max_missing", "duplicates")
"""The parameters of every association test, in the order of a signature."""


class Association(AssociationSettings, Probe[M], Generic[M]):
    """The base of all association tests, with their stimuli and the settings of their tests."""

    equivalents: ClassVar[bool] = True

    _read: dict[tuple[Path, ...], StimulusSet] = PrivateAttr(default_factory=dict)

    def stimuli(self, base: Sequence[Path] = (Path(),)) -> StimulusSet:
        """Return the stimuli, looked up in the directories `base`, cached. Raises DataError naming file and field."""
        places = tuple(self.find(name, base) for name in listed(self.data))
        if places not in self._read:
            read = read_stimuli(places[0] if len(places) == 1 else places, self.columns)
            self._read[places] = replace(read, language=self.language or read.language)
        return self._read[places]

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """Return the categories named in `categories`, or all that are meant for this instrument.

        Raises DataError for a category that does not exist or is meant for other instruments.
        """
        stimuli = self.stimuli(base)
        known = {category.id: category for category in stimuli.categories}
        for name in self.categories or ():
            if name not in known:
                raise DataError(
                    f"there is no category '{name}'",
                    where=stimuli.name,
                    field="categories",
                    hint=f"use one of {', '.join(known)}",
                )
            if self.name not in known[name].measures:
                raise DataError(
                    f"category '{name}' is for {', '.join(known[name].measures)}, not for {self.name}",
                    where=known[name].place,
                    hint="remove it from categories",
                )
        names = known if self.categories is None else dict.fromkeys(self.categories)
        categories = tuple(known[name] for name in names if self.name in known[name].measures)
        if not categories:
            raise DataError(f"there is no category for {self.name}", where=stimuli.name, field="categories")
        for category in categories if self.duplicates == "error" else ():
            if repeated := category.repeated():
                raise DataError(
                    f"{category.id}: '{repeated[0]}' occurs twice among the targets or twice among the attributes",
                    where=category.place,
                    hint="remove one, or allow it with duplicates: allow",
                )
        return categories if self.limit is None else tuple(self._shortened(category) for category in categories)

    def _shortened(self, category: Category) -> Category:
        x, y, a, b = (self._drawn(part.words) for part in category.lists())
        if category.paired:
            both = category.lists()[:2] if category.target == "targets" else category.lists()[2:]
            pairs = self._drawn([" ".join(words) for words in zip(*(part.words for part in both), strict=True)])
            x, y, a, b = (pairs, pairs, a, b) if category.target == "targets" else (x, y, pairs, pairs)
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

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return an empty list: stimuli unknown to a model are not refused, but counted as missing."""
        self.chosen(base)
        return []

    def settle(self, model: Model) -> Self:
        """Return the probe unchanged. Raises MethodError for static word vectors."""
        if not isinstance(model, LanguageModel):
            raise MethodError(
                f"{self.name} needs contextual vectors, but {model.name} has static ones", hint="use weat"
            )
        return self

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the stimulus set, looked up in the directories `base`."""
        return list(self.stimuli(base).files)

    def text_needs(self, base: Sequence[Path]) -> TextNeeds:
        """Return the stimuli to find in running text, in sentences of any length."""
        return TextNeeds(self.stimuli(base))

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: stimuli, parameters of the instrument and parameters of the test."""
        stimuli = self.stimuli(base)
        return {
            "data": f"{stimuli.name}#{stimuli.sha256[:6]}",
            **cited_columns(self.columns),
            "categories": written(self, "categories"),
            **({"language": self.language} if self.language else {}),
            **self.particulars(base),
            **{name: written(self, name) for name in _TESTED},
        }

    def particulars(self, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature that only this instrument has."""
        return {name: written(self, name) for name in type(self).model_fields if name not in Association.model_fields}


def _subset(part: WordList, places: Sequence[int]) -> WordList:
    words, behind = (tuple(column[i] for i in places) if column else () for column in (part.words, part.behind))
    return replace(part, words=words, behind=behind)


def words_of(categories: Iterable[Category]) -> list[str]:
    """Return the distinct words of the categories, in order of first appearance."""
    return list(dict.fromkeys(word for category in categories for part in category.lists() for word in part.words))


def respelt(lm: LanguageModel, categories: Iterable[Category]) -> Iterator[Note | str]:
    """Yield a caution about words that a model knows only in another spelling."""
    words = words_of(categories)
    yield from told_respelt(respelt_words(lm, words), len(words), "stimuli", f"the vocabulary of {lm.name}")
