"""Association tests: are targets X nearer to attributes A than to B, compared with targets Y?

The base of WEAT, SEAT, CEAT and the log-probability bias score: their stimuli, how effect sizes are tested, and the
table of associations that estimates are computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Generic

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from penchant.corpus.sampling import spread
from penchant.corpus.stimuli import Category, StimulusSet, WordList, read_stimuli
from penchant.errors import DataError, MethodError
from penchant.instruments.associations.control import BEYOND, Placed, beyond_controls
from penchant.instruments.associations.estimates import (
    EFFECT,
    SIDES,
    Cell,
    Stimuli,
    by_sentence,
    effect,
    require_distinct,
    together,
)
from penchant.instruments.associations.sampled_effects import Sides
from penchant.instruments.associations.settings import AssociationSettings
from penchant.instruments.associations.stimulus_table import Filled, stimulus_names
from penchant.instruments.base import M, Measured, Model, Probe, TextNeeds
from penchant.instruments.fields import cited_columns, written
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.stats.association import unit
from penchant.stats.hypothesis_tests import with_holm
from penchant.tables.places import listed
from penchant.wording.phrases import Note

SLOT = "{word}"
_TESTED = ("compat", "alternative", "test", "ddof", "exact", "draws", "max_missing", "duplicates")
"""The parameters of every association test, in the order of a signature."""


@dataclass(frozen=True)
class Tables(Measured):
    """The table of associations of every category and layer, with the stimuli in it; None in place of a table where a
    list of stimuli is empty."""

    tables: tuple[tuple[Mapping[str, str], Stimuli, Filled | None], ...] = ()
    controls: Mapping[str, str] = field(default_factory=dict)
    """The control of each category that has one."""
    alone: bool = False
    """Whether each category has sentences whose words are not known."""


class Association(AssociationSettings, Probe[M], Generic[M]):
    """The base of all association tests: stimuli, and how effect sizes are tested."""

    equivalents: ClassVar[bool] = True

    _read: dict[tuple[Path, ...], StimulusSet] = PrivateAttr(default_factory=dict)

    def stimuli(self, base: Sequence[Path] = (Path(),)) -> StimulusSet:
        """The stimuli, checked and cached. Raises DataError naming file and field."""
        places = tuple(self.find(name, base) for name in listed(self.data))
        if places not in self._read:
            read = read_stimuli(places[0] if len(places) == 1 else places, self.columns)
            self._read[places] = replace(read, language=self.language or read.language)
        return self._read[places]

    def chosen(self, base: Sequence[Path] = (Path(),)) -> tuple[Category, ...]:
        """The categories in `categories`, or all that are for this instrument. Raises DataError for one that does not
        exist or is for other instruments."""
        stimuli = self.stimuli(base)
        known = {category.id: category for category in stimuli.categories}
        for name in self.categories or ():
            if name not in known:
                raise DataError(
                    f"no category '{name}'", where=stimuli.name, field="categories", hint=f"it has {', '.join(known)}"
                )
            if self.name not in known[name].measures:
                raise DataError(
                    f"category '{name}' is not for {self.name}, but for {', '.join(known[name].measures)}",
                    where=known[name].place,
                    hint="leave it out of categories",
                )
        names = known if self.categories is None else dict.fromkeys(self.categories)
        categories = tuple(known[name] for name in names if self.name in known[name].measures)
        if not categories:
            raise DataError(f"no category for {self.name}", where=stimuli.name, field="categories")
        require_distinct(categories, self.duplicates == "allow")
        return categories if self.limit is None else tuple(self._shortened(category) for category in categories)

    def _shortened(self, category: Category) -> Category:
        """A category with some words of each list, for a pilot; of lists of pairs, some pairs."""
        x, y, a, b = (self._drawn(part.words) for part in category.lists())
        if category.paired:
            both = category.lists()[:2] if category.target == "targets" else category.lists()[2:]
            pairs = self._drawn([" ".join(words) for words in zip(*(part.words for part in both), strict=True)])
            x, y, a, b = (pairs, pairs, a, b) if category.target == "targets" else (x, y, pairs, pairs)
        return replace(
            category, x=_only(category.x, x), y=_only(category.y, y), a=_only(category.a, a), b=_only(category.b, b)
        )

    def _drawn(self, words: Sequence[str]) -> list[int]:
        """The places in a list of the words of a pilot."""
        places, most = range(len(words)), self.limit or len(words)
        return spread(places, most, seed=self.seed, content=lambda i: (words[i],), group=lambda i: "")

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """None: stimuli that a model cannot read are counted as missing."""
        self.chosen(base)
        return []

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The files of the stimulus set."""
        return list(self.stimuli(base).files)

    def text_needs(self, base: Sequence[Path]) -> TextNeeds:
        """The stimuli, in any form and sentence."""
        return TextNeeds(self.stimuli(base))

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The stimuli, the instrument's own parameters, and how effect sizes are tested."""
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
        """The part of the signature that only this instrument has."""
        return {name: written(self, name) for name in type(self).model_fields if name not in Association.model_fields}


def _only(part: WordList, places: Sequence[int]) -> WordList:
    """A list with the words at some places."""
    words, behind = (tuple(column[i] for i in places) if column else () for column in (part.words, part.behind))
    return replace(part, words=words, behind=behind)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stimulus: a word, or a sentence that contains it and the word's span of characters there."""

    word: str
    text: str = ""
    span: tuple[int, int] = (0, 0)


def sentences_of(part: WordList, word: str) -> list[Sentence]:
    """The sentences of a word. Without templates it is its own sentence: SEAT's original files have whole sentences."""
    if part.behind:
        return [Sentence(part.behind[part.words.index(word)], word, (0, len(word)))]
    sentences = []
    for template in part.templates or (SLOT,):
        start = template.index(SLOT)
        sentences.append(Sentence(word, template.replace(SLOT, word), (start, start + len(word))))
    return sentences


def effect_sizes(measured: Tables, settings: AssociationSettings, *, sentences: bool = False) -> Iterator[Estimate]:
    """The effect size of every table; with `sentences`, also the test over sentences where a word has several."""
    for by, stimuli, filled in measured.tables:
        if filled is None:
            yield nothing(by, stimuli, settings)
            continue
        estimate = effect(filled.cell, settings, notes=stimuli.notes)
        yield estimate
        if sentences and len(filled.down) > len(set(filled.cell.rows.unit.tolist())):
            yield by_sentence(filled.cell, estimate, settings)


def beyond_control(measured: Tables, settings: AssociationSettings) -> list[Estimate]:
    """The effect size of every category with a control minus that of the control, with Holm's adjustment."""
    placed = [
        Placed(filled.cell, (stimuli.x, stimuli.y, stimuli.a, stimuli.b))
        for _, stimuli, filled in measured.tables
        if filled is not None and not stimuli.notes
    ]
    return with_holm(beyond_controls(placed, measured.controls, settings), together(BEYOND))


def controls_of(categories: Iterable[Category]) -> dict[str, str]:
    """The control of each category that has one."""
    return {category.id: category.control for category in categories if category.control}


def nothing(by: Mapping[str, str], stimuli: Stimuli, settings: AssociationSettings) -> Estimate:
    """The estimate, NaN, of a category that lacks a whole list or too much of one."""
    notes = stimuli.notes or (Note("associations.empty-list"),)
    return Estimate(EFFECT, np.nan, len(stimuli.x) + len(stimuli.y), level=settings.level, notes=notes, by=by)


def require_vectors(model: Model, name: str) -> LanguageModel:
    """The model as a language model. Raises MethodError for static word vectors."""
    if not isinstance(model, LanguageModel):
        raise MethodError(f"{name} reads contextual vectors and {model.name} has static ones", hint="use weat")
    return model


def cell_of(
    by: Mapping[str, str],
    parts: list[list[Sentence]],
    vector: Callable[[Sentence], NDArray[np.floating]],
    unit_of_test: str,
) -> Filled:
    """The table of cosines between the stimuli of X, Y (rows) and A, B (columns). The unit of the test is "word" or
    "sentence"."""
    down, across = [[*parts[i], *parts[i + 1]] for i in (0, 2)]
    units = [unit(np.array([vector(s) for s in side])) for side in (down, across)]
    names = [stimulus_names([(s.word, s.text) for s in part], unit_of_test) for part in parts]
    cell = Cell(by, (units[0] @ units[1].T)[None], Sides.of(*names[:2]), Sides.of(*names[2:]))
    named = [[(side, s.word, s.text) for s in part] for side, part in zip(SIDES, parts, strict=True)]
    return Filled(cell, [*named[0], *named[1]], [*named[2], *named[3]])
