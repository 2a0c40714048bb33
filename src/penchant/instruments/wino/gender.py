"""Winogender (Rudinger et al. 2018): does a model prefer "she" to "he" where the occupation has more women?

The sentences were made for coreference resolution. Here a model's preference for the female over the male pronoun is
held against the share of women in the occupation; where the pronoun refers to somebody else, it is a control.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import polars as pl

from penchant.files import cited
from penchant.instruments.base import Measured, Model
from penchant.instruments.fields import cited_columns, written
from penchant.instruments.scored import score_columns
from penchant.instruments.session import Session
from penchant.instruments.wino.gender_data import (
    ROLES,
    WinogenderItems,
    read_winogender,
    sentences_file,
    statistics_file,
)
from penchant.instruments.wino.gender_estimates import LABELS, gender_cautions, gender_estimates
from penchant.instruments.wino.scoring import PronounProbe
from penchant.instruments.wino.settings import WinogenderSettings
from penchant.records import Estimate, Item


class Winogender(WinogenderSettings, PronounProbe[WinogenderItems]):
    """Preference for the female over the male pronoun beside an occupation, against the share of women in it.

    `run` returns items (one row per sentence, with its three pronouns) and a summary: score(she) − score(he), its
    correlation with the share of women and its slope, where the pronoun refers to the occupation and, as a control,
    where it refers to the other person; and which of the three pronouns is the most probable.
    """

    equivalents: ClassVar[bool] = True
    noun: ClassVar[str] = "sentences"

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the tables of sentences and of statistics, and what is read from them."""
        return *self.files(base), *self.shares, *dict(self.columns).values()

    def read(self, sentences: Path, statistics: Path, *columns: str) -> WinogenderItems:
        """Return the items with the statistics. Raises DataError naming file, line and field."""
        return read_winogender(sentences, statistics, self.shares, self.columns)

    def items(self, read: WinogenderItems) -> Sequence[Item]:
        """Return the items."""
        return read.items

    def texts_of(self, item: Item) -> Sequence[str]:
        """Return the three sentences of an item."""
        return [item.texts[role] for role in ROLES]

    def group(self, item: Item) -> str:
        """Return the occupation."""
        return item.labels["occupation"]

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the table of sentences and that of statistics."""
        named = self.find(self.data, base)
        statistics = statistics_file(named) if self.statistics is None else self.find(self.statistics, base)
        return [sentences_file(named), statistics]

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The files and what is read from them, then how sentences are scored."""
        sentences, statistics = self.files(base)
        return {
            "data": cited([sentences]),
            "statistics": cited([statistics]),
            "shares": written(self, "shares"),
            **cited_columns(dict(self.columns)),
            **self.how(model),
        }

    def measure(self, session: Session) -> Measured:
        """Score the three sentences of every item."""
        asked = self.asked(session.base)
        session.expect(len(asked), inputs=len(ROLES))
        items, left_out = self.known(session, asked)
        texts = [(item.texts[role], item.place) for item in items for role in ROLES]
        scores = list(session.scorer.score(texts, self.method))
        read = self.read_set(session.base)
        columns = {"id": pl.Series([item.id for item in items], dtype=pl.String)}
        columns |= {label: pl.Series([item.labels[label] for item in items], dtype=pl.String) for label in LABELS}
        for share, of in read.women.items():
            women = [of.get(item.labels["occupation"]) for item in items]
            columns[f"women_{share}"] = pl.Series(women, dtype=pl.Float64)
        for number, role in enumerate(ROLES):
            columns |= score_columns(role, scores[number :: len(ROLES)])
        return Measured(pl.DataFrame(columns), (*read.cautions, *left_out))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Preferences, correlations and slopes, by normalisation."""
        for how in self.normalisations():
            yield from gender_estimates(measured.items, how, self.shares, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Cautions about unequal token lengths, and about ties."""
        return gender_cautions(measured.items)
