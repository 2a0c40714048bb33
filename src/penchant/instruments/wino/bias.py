"""WinoBias (Zhao et al. 2018): which of two pronouns does a model prefer in the same sentence?

The pairs were made for coreference resolution. Here they are compared as sentences: the one whose pronoun agrees with
the stereotype of the occupation that it refers to (pro) against the other (anti). That is preference, not coreference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import polars as pl

from penchant.engine.scorer import SentenceScore
from penchant.files import cited
from penchant.instruments.base import Measured, Model
from penchant.instruments.scored import score_columns
from penchant.instruments.session import Session
from penchant.instruments.wino.bias_data import ANTI, GENDERS, PRO, WinoBiasPairs, occupation_lists, read_winobias
from penchant.instruments.wino.bias_estimates import (
    LABELS,
    bias_cautions,
    bias_estimates,
)
from penchant.instruments.wino.scoring import PronounProbe
from penchant.instruments.wino.settings import WinoBiasSettings
from penchant.records import Estimate, Item
from penchant.tables.places import listed


class WinoBias(WinoBiasSettings, PronounProbe[WinoBiasPairs]):
    """Preference for the pronoun that agrees with the stereotype of an occupation, told apart from a preference for one
    gender everywhere.

    `run` returns items (one row per pair) and a summary: the share of pairs in which the pro-stereotypical pronoun is
    preferred, over all pairs, by type, by its gender and by occupation; the share that prefers the male pronoun; and
    the gender-adjusted preference.
    """

    pairs: ClassVar[bool] = True

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the files of pairs, and the lists of male and female occupations, None where there is none."""
        places = tuple(self.find(name, base) for name in listed(self.data))
        lists = occupation_lists(places)
        for gender, name in zip(GENDERS, (self.male_occupations, self.female_occupations), strict=True):
            if name is not None:
                lists[gender] = self.find(name, base)
        return places, tuple(lists.items())

    def read(self, places: tuple[Path, ...], lists: tuple[tuple[str, Path], ...]) -> WinoBiasPairs:
        """Return the pairs. Raises DataError naming file and line."""
        return read_winobias(places, dict(lists))

    def items(self, read: WinoBiasPairs) -> Sequence[Item]:
        """Return the pairs."""
        return read.items

    def texts_of(self, item: Item) -> Sequence[str]:
        """Return both sentences of a pair."""
        return item.texts[PRO], item.texts[ANTI]

    def group(self, item: Item) -> str:
        """Return the occupation."""
        return item.labels["occupation"]

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of pairs and the lists of occupations."""
        return list(self.read_set(base).files)

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The files, then how sentences are scored."""
        return {"data": cited(self.files(base)), **self.how(model)}

    def measure(self, session: Session) -> Measured:
        """Score both sentences of every pair."""
        asked = self.asked(session.base)
        session.expect(len(asked), inputs=2)
        items, left_out = self.known(session, asked)
        triples = ((item.texts[PRO], item.texts[ANTI], item.place) for item in items)
        scores = list(session.scorer.score_pairs(triples, self.method))
        return Measured(_table(items, scores), (*self.read_set(session.base).cautions, *left_out))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Shares and preferences, by normalisation."""
        for how in self.normalisations():
            yield from bias_estimates(measured.items, how, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Cautions about unequal token lengths and a strong leaning to one gender."""
        return bias_cautions(measured.items, estimates)


def _table(items: Sequence[Item], scores: Sequence[tuple[SentenceScore, SentenceScore]]) -> pl.DataFrame:
    """One row per pair: labels, texts, token counts, scores, and the log-probability of every token."""
    columns = {"id": pl.Series([item.id for item in items], dtype=pl.String)}
    columns |= {label: pl.Series([item.labels[label] for item in items], dtype=pl.String) for label in LABELS}
    columns |= score_columns(PRO, [pair[0] for pair in scores])
    return pl.DataFrame(columns | score_columns(ANTI, [pair[1] for pair in scores]))
