"""Amplification: does a model say more than the text it was trained on?

For an attribute word w and two groups of words, m(w) is how much more probable a model makes w after the words of the
first group than after those of the second, and c(w) is the log-odds of w in the sentences of its text that hold a word
of the first group against those that hold one of the second. The slope of m on c is 1 where the model says what its
text says, above 1 where it says more, and between 0 and 1 where it says less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from pydantic import PrivateAttr

from penchant.corpus.group_counts import Counted, count_groups
from penchant.corpus.sampling import spread
from penchant.corpus.text_files import TextFile, find_texts
from penchant.corpus.workers import worthwhile
from penchant.engine.scorer import language_model
from penchant.errors import DataError
from penchant.instruments.amplification.data import AmplificationSet, Attribute, Contrast, read_amplification
from penchant.instruments.amplification.estimates import amplification_estimates
from penchant.instruments.amplification.scoring import Asked, scored
from penchant.instruments.amplification.settings import AmplificationSettings
from penchant.instruments.amplification.texts import cited_texts, texts_of
from penchant.instruments.base import Measured, Model, Probe
from penchant.instruments.fields import written
from penchant.instruments.session import Session, require_masked
from penchant.instruments.unknown import known_items, known_texts, signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate

LARGEST_PRIOR = 0.02
"""A prior of more than this share of the words of a group's sentences makes log-odds visibly smaller."""


class Amplification(AmplificationSettings, Probe):
    """Whether a masked model says more, or less, of two groups than the text it was trained on.

    `run` returns items (one row per sentence: log-probability of the attribute word with the group word seen and
    hidden, and how often the text has the word in sentences of either group) and a summary: for every contrast the
    slope of the model on its text with errors in both, their correlation, and for every word m, c and m − c."""

    equivalents: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("masked",)

    _read: dict[Path, AmplificationSet] = PrivateAttr(default_factory=dict)
    _counts: dict[tuple[str, ...], Counted] = PrivateAttr(default_factory=dict)

    def test_set(self, base: Sequence[Path] = (Path(),)) -> AmplificationSet:
        """The set, checked and cached; in a pilot with some of the attributes of every kind. Raises DataError."""
        place = self.find(self.data, base)
        if place not in self._read:
            self._read[place] = read_amplification(place)
        whole = self._read[place]
        return whole if self.limit is None else replace(whole, contrasts=tuple(map(self._shortened, whole.contrasts)))

    def _shortened(self, contrast: Contrast) -> Contrast:
        drawn = spread(
            contrast.attributes,
            self.limit or 1,
            seed=self.seed,
            content=lambda each: (each.word,),
            group=lambda each: each.kind,
        )
        return replace(contrast, attributes=tuple(drawn))

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The set and the texts of all models, without those behind a URL."""
        names = self.text.values() if isinstance(self.text, dict) else [self.text]
        places = dict.fromkeys(file.place for named in names for file in find_texts(_listed(named), base))
        return [self.test_set(base).path, *(Path(place) for place in places if "://" not in place)]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Every sentence, with the place of its attribute."""
        return [
            (text, attribute.place)
            for contrast in self.test_set(base).contrasts
            for attribute in contrast.attributes
            for text in _sentences(contrast, attribute)
        ]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The sentences, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

    def settle(self, model: Model) -> Self:
        """The probe unchanged. Raises MethodError for a model that is not masked, or has no text of its own."""
        hint = "it reads a word with the group word hidden, which may stand before or after it"
        texts_of(self.text, require_masked(self.name, model, hint).name)
        return self

    def text_files(self, model: LanguageModel, base: Sequence[Path]) -> list[TextFile]:
        """The files of the text of a model. Raises DataError, and MethodError where none is named for it."""
        return find_texts(texts_of(self.text, model.name), base)

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The set, the text of this model and how it is read, the bound and the prior."""
        read = self.test_set(base)
        return {
            "data": f"{read.name}#{read.sha256[:6]}",
            "text": cited_texts(self.text_files(language_model(model), base)),
            **{name: written(self, name) for name in ("layout", "field", "min_count", "prior_size")},
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Count the words of the text, and score every sentence with the group word seen and hidden."""
        read = self.test_set(session.base)
        asked = [(contrast, attribute) for contrast in read.contrasts for attribute in contrast.attributes]
        kept, cautions = known_items(
            session.lm,
            asked,
            lambda pair: _sentences(*pair),
            lambda pair: f"{pair[1].place}, '{pair[1].word}'",
            self.on_unknown,
            "attributes",
        )
        files = self.text_files(session.lm, session.base)
        counted = self._counted(read, files)
        for contrast, counts in zip(read.contrasts, counted.contrasts, strict=True):
            for side, label in zip("AB", contrast.labels, strict=True):
                if not counts.sentences[side]:
                    raise DataError(
                        f"no sentence holds a word of '{label}' and none of the other group",
                        where=f"the text of {session.lm.name} ({', '.join(file.name for file in files)})",
                        hint="name more text, or remove the contrast",
                    )
        by_contrast = dict(zip((each.name for each in read.contrasts), counted.contrasts, strict=True))
        whole = [Asked(contrast, attribute, by_contrast[contrast.name]) for contrast, attribute in kept]
        session.expect(sum(len(_sentences(each.contrast, each.attribute)) for each in whole), inputs=2)
        return Measured(scored(whole, session.scorer), (*cautions, *_leaks(read), *self._of_text(read, counted)))

    def _counted(self, read: AmplificationSet, files: Sequence[TextFile]) -> Counted:
        """The counts of a text, which models may share."""
        key = tuple(file.place for file in files)
        if key not in self._counts:
            search = read.search(self.layout, self.field)
            self._counts[key] = count_groups(search, files, workers=worthwhile(files))
        return self._counts[key]

    def _of_text(self, read: AmplificationSet, counted: Counted) -> Iterable[str]:
        """Cautions about the text."""
        if counted.skipped:
            yield f"{counted.skipped:,} of {counted.records:,} records of the text could not be read"
        for contrast, counts in zip(read.contrasts, counted.contrasts, strict=True):
            lost = [
                w for side, part in (("A", contrast.a), ("B", contrast.b)) for w in part if not counts.members[side, w]
            ]
            if lost:
                yield f"{contrast.name}: the text never has the group words {', '.join(lost)}, which the model is asked"
            fewest = min(counts.total[side] for side in "AB")
            if self.prior_size > LARGEST_PRIOR * fewest:
                yield (
                    f"{contrast.name}: the prior counts for {self.prior_size:,.0f} words and the sentences of a group "
                    f"hold {fewest:,}, so log-odds of the text are smaller, and slopes larger, by some "
                    f"{self.prior_size / (fewest + self.prior_size):.0%}: choose a smaller prior_size"
                )

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Slopes of the model on its text, correlations, and m, c and m − c of every word."""
        return amplification_estimates(measured.items, self)


def _listed(named: str | list[str]) -> list[str]:
    return [named] if isinstance(named, str) else named


def _sentences(contrast: Contrast, attribute: Attribute) -> list[str]:
    return [text for _, _, _, text, _, _ in attribute.sentences(contrast)]


def _leaks(read: AmplificationSet) -> Iterable[str]:
    """A caution where a template holds an attribute that it is filled with."""
    held = [(each.word, text) for contrast in read.contrasts for each in contrast.attributes for text in each.leaks()]
    if held:
        word, text = held[0]
        yield (
            f"{len(held)} pairs of template and attribute hold the attribute a second time, which the model reads, "
            f"such as '{word}' in '{text}'"
        )
