"""The probes WinoBias and Winogender: sentences that differ in a pronoun, compared by their scores."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

import polars as pl

from penchant.engine.normalisations import check_normalise, constants
from penchant.engine.scorer import SentenceScore, sentence_model
from penchant.engine.scoring_methods import method_for
from penchant.files import cited
from penchant.instruments.base_probe import SENTENCES, Measured, Model, beginning
from penchant.instruments.item_probes import ItemProbe, score_columns
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.instruments.wino import bias_estimates, gender_estimates
from penchant.instruments.wino.bias_data import ANTI, GENDERS, PRO, WinoBiasPairs, occupation_lists, read_winobias
from penchant.instruments.wino.gender_data import (
    ROLES,
    WinogenderItems,
    read_winogender,
    sentences_file,
    statistics_file,
)
from penchant.instruments.wino.settings import PronounSettings, WinoBiasSettings, WinogenderSettings
from penchant.records import Estimate, Item, Signature
from penchant.tables.data_lookup import listed
from penchant.wording.phrases import Note


class LoadedItems(Protocol):
    """A set of items, and cautions about them."""

    @property
    def items(self) -> Sequence[Item]:
        """The items of the set."""

    @property
    def cautions(self) -> Sequence[Note | str]:
        """Cautions about the sentences of the set."""


D = TypeVar("D", bound=LoadedItems)


class PronounProbe(PronounSettings, ItemProbe[D, Item], Generic[D]):
    """Base class of both probes, which scores the sentences of every item."""

    kinds: ClassVar[tuple[str, ...]] = SENTENCES
    pairs: ClassVar[bool] = False
    """True if sentences are compared two at a time, which methods such as pll-shared need."""
    roles: ClassVar[tuple[str, ...]]

    def items(self, read: D) -> Sequence[Item]:
        """Return the items of the set."""
        return read.items

    def texts_of(self, item: Item) -> Sequence[str]:
        """Return the sentences of an item."""
        return [item.texts[role] for role in self.roles]

    def group(self, item: Item) -> str:
        """Return the occupation of an item."""
        return item.labels["occupation"]

    def settle(self, model: Model) -> Self:
        """Return a copy with method and normalisations set. Raises MethodError if they do not suit the model."""
        lm = sentence_model(model)
        method = method_for(self.method, lm, pair=self.pairs)
        for how in self.normalisations() or ["none"]:
            check_normalise(how, method, lm)
        return self.model_copy(update={"method": method.name, "normalise": self.normalisations() or ["none"]})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """Return the signature keys that other keys determine: `pen-alpha`, the constant of the length penalty."""
        return {"pen-alpha"}

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """Return the signature of one estimate, which names only the normalisation of the estimate."""
        return signature.with_(normalise=estimate.by["normalise"])

    def how(self, model: Model) -> dict[str, object]:
        """Return the entries of the signature about scoring."""
        lm = sentence_model(model)
        return {
            "method": self.method,
            "normalise": written(self, "normalise"),
            **constants(self.normalisations()),
            "bos": beginning(lm),
            "dtype": lm.numbers,
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Score the sentences of every item."""
        sample, read = self.asked(session.base), self.read_set(session.base)
        session.expect(len(sample), inputs=len(self.roles))
        items, left_out = self.known(session, sample)
        columns = {"id": pl.Series([item.id for item in items], dtype=pl.String), **self.about(items, read)}
        for role, scores in zip(self.roles, self.scores(session, items), strict=True):
            columns |= score_columns(role, scores)
        return Measured(pl.DataFrame(columns), (*read.cautions, *left_out))

    def about(self, items: Sequence[Item], read: D) -> dict[str, pl.Series]:
        """Return the columns that describe the items."""
        labels = items[0].labels
        return {label: pl.Series([item.labels[label] for item in items], dtype=pl.String) for label in labels}

    def scores(self, session: Session, items: Sequence[Item]) -> list[list[SentenceScore]]:
        """Return a list of scores for each of `roles`, such as "pro" or "female", with one score per item."""
        texts = [(text, item.place) for item in items for text in self.texts_of(item)]
        scores = list(session.scorer.score(texts, self.method))
        return [scores[number :: len(self.roles)] for number in range(len(self.roles))]


class WinoBias(WinoBiasSettings, PronounProbe[WinoBiasPairs]):
    """Preference for the pronoun that agrees with an occupation's stereotype, rather than for one gender overall.

    `run` returns items (one row per pair) and a summary: the share of pairs in which the pro-stereotypical pronoun is
    preferred, over all pairs, by type, by the pronoun's gender and by occupation; the share in which the male pronoun
    is preferred; and the gender-adjusted preference.
    """

    pairs: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = (PRO, ANTI)

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: files of pairs and any lists of occupations by gender, found in `base`."""
        places = tuple(self.find(name, base) for name in listed(self.data))
        lists = occupation_lists(places)
        for gender, name in zip(GENDERS, (self.male_occupations, self.female_occupations), strict=True):
            if name is not None:
                lists[gender] = self.find(name, base)
        return places, tuple(lists.items())

    def read(self, places: tuple[Path, ...], lists: tuple[tuple[str, Path], ...]) -> WinoBiasPairs:
        """Read the pairs. Raises DataError naming file and line."""
        return read_winobias(places, dict(lists))

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of pairs and the lists of occupations, looked up in the directories `base`."""
        return list(self.read_set(base).files)

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: the files and the parameters of scoring."""
        return {"data": cited(self.files(base)), **self.how(model)}

    def scores(self, session: Session, items: Sequence[Item]) -> list[list[SentenceScore]]:
        """Return the scores of the pro- and of the anti-stereotypical sentences, which are scored as pairs."""
        triples = ((item.texts[PRO], item.texts[ANTI], item.place) for item in items)
        return [list(side) for side in zip(*session.scorer.score_pairs(triples, self.method), strict=True)]

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return shares and preferences, by normalisation."""
        for how in self.normalisations():
            yield from bias_estimates.bias_estimates(measured.items, how, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note]:
        """Return cautions about unequal token lengths, unbalanced genders, and a strong preference for one gender."""
        return bias_estimates.bias_cautions(measured.items, estimates)


class Winogender(WinogenderSettings, PronounProbe[WinogenderItems]):
    """Preference for the female over the male pronoun beside an occupation, by the occupation's share of women.

    `run` returns items (one row per sentence, with its three pronouns) and a summary: score(she) − score(he), its
    correlation with the share of women and its slope, both for pronouns that refer to the occupation and, as a control,
    for those that refer to the other person; and the most probable of the three pronouns.
    """

    equivalents: ClassVar[bool] = True
    noun: ClassVar[str] = "sentences"
    roles: ClassVar[tuple[str, ...]] = ROLES

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: files of sentences and statistics, found in `base`, then column names."""
        return *self.files(base), *self.shares, *dict(self.columns).values()

    def read(self, sentences: Path, statistics: Path, *columns: str) -> WinogenderItems:
        """Read the items and the statistics. Raises DataError naming file, line and field."""
        return read_winogender(sentences, statistics, self.shares, self.columns)

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the sentences and of the statistics, looked up in the directories `base`."""
        named = self.find(self.data, base)
        statistics = statistics_file(named) if self.statistics is None else self.find(self.statistics, base)
        return [sentences_file(named), statistics]

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: the files, their columns and the parameters of scoring."""
        sentences, statistics = self.files(base)
        return {
            "data": cited([sentences]),
            "statistics": cited([statistics]),
            "shares": written(self, "shares"),
            **cited_columns(dict(self.columns)),
            **self.how(model),
        }

    def about(self, items: Sequence[Item], read: WinogenderItems) -> dict[str, pl.Series]:
        """Return the columns that describe the items, with the percentage of women by each statistic."""
        columns = super().about(items, read)
        for share, of in read.women.items():
            women = [of.get(item.labels["occupation"]) for item in items]
            columns[f"women_{share}"] = pl.Series(women, dtype=pl.Float64)
        return columns

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return preferences, correlations and slopes, by normalisation."""
        for how in self.normalisations():
            yield from gender_estimates.gender_estimates(measured.items, how, self.shares, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note]:
        """Return cautions about unequal lengths in tokens, and about ties."""
        return gender_estimates.gender_cautions(measured.items)
