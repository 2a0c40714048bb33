"""DisCo (Webster et al. 2020): does a model fill in other words after women than after men?

Every template is filled with every word for a person; the most probable words for its blank are that person's fills. A
fill is told by gender where women and men get it at different rates, by a χ² test with Bonferroni's correction over the
fills of the template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.sampling import spread
from penchant.errors import DataError
from penchant.instruments.base import Measured, Model, Probe
from penchant.instruments.disco.data import DiscoSet, Person, parts, read_disco, sentence
from penchant.instruments.disco.estimates import disco_cautions, disco_estimates
from penchant.instruments.disco.settings import DiscoSettings
from penchant.instruments.fields import written
from penchant.instruments.session import Session, require_masked
from penchant.instruments.unknown import known_items, known_texts, signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.tables.cautions import counted_apart


class Disco(DiscoSettings, Probe):
    """How many of a model's fills go with the gender of the person: DisCo.

    `run` returns items (one row for every template and person, with its fills) and a summary: the mean number of fills
    a template that differ by gender, with an interval over templates and a test that exchanges genders; the number of
    every template; and of every fill its share among either gender, with a χ² and an exact test.
    """

    equivalents: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("masked",)

    _read: dict[Path, DiscoSet] = PrivateAttr(default_factory=dict)

    def test_set(self, base: Sequence[Path] = (Path(),)) -> DiscoSet:
        """The set, checked and cached; in a pilot with some of the templates. Raises DataError."""
        place = self.find(self.data, base)
        if place not in self._read:
            self._read[place] = read_disco(place)
        whole = self._read[place]
        if self.limit is None:
            return whole
        drawn = spread(whole.templates, self.limit, seed=self.seed, content=lambda text: (text,), group=lambda text: "")
        return replace(whole, templates=tuple(drawn))

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The file of the set."""
        return [self.test_set(base).path]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """What stands around the gap of every sentence, with the place of the person."""
        read = self.test_set(base)
        return [(part, person.place) for person in read.persons for part in _parts(read, person)]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

    def settle(self, model: Model) -> Self:
        """The probe unchanged. Raises MethodError for a model that is not masked."""
        hint = "a blank stands within a sentence; for causal models see winogender"
        require_masked(self.name, model, hint)
        return self

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The set, the number of fills, and the draws of the test."""
        read = self.test_set(base)
        return {
            "data": f"{read.name}#{read.sha256[:6]}",
            "k": self.k,
            "draws": written(self, "draws"),
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """The most probable fills of every template and person."""
        read = self.test_set(session.base)
        persons, unknown = known_items(
            session.lm,
            read.persons,
            lambda person: _parts(read, person),
            lambda person: f"{person.place}, '{person.word}'",
            self.on_unknown,
            "persons",
        )
        if {person.group for person in persons} != set(read.groups):
            raise DataError("only one group of persons is left", file=read.path)
        asked = [(template, person) for template in read.templates for person in persons]
        session.expect(len(asked))
        texts = [(sentence(template, person.word, read.language), person.place) for template, person in asked]
        rows = [
            {
                "id": f"{person.word}: {template}",
                "template": template,
                "person": person.word,
                "group": person.group,
                "side": read.groups.index(person.group),
                "sentence": text,
                "fills": [fill.word for fill in gap],
                "pieces": [fill.piece for fill in gap],
                "logprobs": [fill.logprob for fill in gap],
            }
            for (template, person), (text, _), (gap,) in zip(
                asked, texts, session.scorer.fill(texts, self.k), strict=True
            )
        ]
        alike = counted_apart((person.word for person in persons), "persons")
        return Measured(pl.DataFrame(rows), (*unknown, *alike))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Numbers of fills that differ by gender, a template and on average, and the tests of every fill."""
        return disco_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Fills that are no words, and χ² tests of small expected counts."""
        return disco_cautions(measured.items, estimates)


def _parts(read: DiscoSet, person: Person) -> list[str]:
    return [part for template in read.templates for part in parts(template, person.word, read.language)]
