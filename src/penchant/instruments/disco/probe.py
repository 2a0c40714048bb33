"""DisCo (Webster et al. 2020): the difference between the words that a model fills in for women and for men.

Each template is combined with each word for a person; the most probable words for its blank are the fills for that
person. A fill differs by gender if it occurs at different rates for women and for men, by a χ² test with the Bonferroni
correction over the fills of the template.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

import polars as pl

from penchant.corpus.priority_sampling import spread
from penchant.errors import DataError
from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.disco.data import DiscoSet, Person, read_disco, sentence
from penchant.instruments.disco.estimates import disco_cautions, disco_estimates
from penchant.instruments.disco.settings import DiscoSettings
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.probe_field_types import written
from penchant.instruments.session import Session, require_masked
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.records import Estimate
from penchant.tables.data_cautions import counted_apart
from penchant.wording.phrases import Note


class Disco(DiscoSettings, ItemProbe[DiscoSet, Person]):
    """Dependence of a model's fills on the gender of the person: DisCo.

    `run` returns items (one row per template and person, with the fills) and a summary: the mean number of fills per
    template that differ by gender, with an interval over templates and a test that permutes genders; this number for
    each template; and the difference between the proportions of each fill in the two groups, with a χ² and an exact
    test.
    """

    equivalents: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("masked",)
    noun: ClassVar[str] = "persons"

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the path of the set, and the number of templates in a pilot."""
        return self.find(self.data, base), self.limit

    def read(self, path: Path, limit: int | None) -> DiscoSet:
        """Read the set; in a pilot, keep a sample of its templates.

        Raises DataError if the set is invalid.
        """
        whole = read_disco(path)
        if limit is None:
            return whole
        drawn = spread(whole.templates, limit, seed=self.seed, content=lambda text: (text,), group=lambda text: "")
        return whole.only(drawn)

    def items(self, read: DiscoSet) -> Sequence[Person]:
        """Return the words for persons."""
        return read.persons

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[Person]:
        """Return all persons, since a pilot samples templates instead."""
        return list(self.read_set(base).persons)

    def texts_of(self, item: Person) -> Sequence[str]:
        """Return the text before and after the blank in every sentence with the person's word."""
        return item.around

    def place_of(self, item: Person) -> str:
        """Return the location of a person in the set, followed by the person's word."""
        return f"{item.place}, '{item.word}'"

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return a list with the path of the set, looked up in the directories `base`."""
        return [self.read_set(base).path]

    def settle(self, model: Model) -> Self:
        """Return the probe unchanged. Raises MethodError if the model is not masked."""
        hint = "the model must see the words on both sides of the blank; for causal models, use winogender"
        require_masked(self.name, model, hint)
        return self

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for the set, the number of fills, and the number of permutations."""
        read = self.read_set(base)
        return {
            "data": f"{read.name}#{read.sha256[:6]}",
            "k": self.k,
            "draws": written(self, "draws"),
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Find the most probable fills for each template and person."""
        read = self.read_set(session.base)
        persons, unknown = self.known(session, read.persons)
        if {person.group for person in persons} != set(read.groups):
            raise DataError("only one group is left after skipping persons with unknown tokens", file=read.path)
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
                "is_piece": [fill.piece for fill in gap],
                "logprobs": [fill.logprob for fill in gap],
            }
            for (template, person), (text, _), (gap,) in zip(
                asked, texts, session.scorer.fill(texts, self.k), strict=True
            )
        ]
        alike = counted_apart((person.word for person in persons), "persons")
        return Measured(pl.DataFrame(rows), (*unknown, *alike))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the numbers of fills that differ by gender, per template and on average, and tests of the fills."""
        return disco_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note]:
        """Return cautions about fills that are not words, and about χ² tests that disagree with the exact tests."""
        return disco_cautions(measured.items, estimates)
