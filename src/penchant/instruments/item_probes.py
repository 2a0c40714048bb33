"""Base class for probes whose items come from files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.priority_sampling import spread
from penchant.engine.sentence_scores import SentenceScore
from penchant.instruments.base_probe import Measured, Probe
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import OnUnknown, known_items, known_texts
from penchant.models.load import LanguageModel
from penchant.models.score_table import Scores
from penchant.wording.phrases import Note

D = TypeVar("D")
I = TypeVar("I")  # noqa: E741


class ItemProbe(Probe[Measured], Generic[D, I]):
    """Base class for probes that read their items from the files named in their fields.

    A subclass implements `read`, `items` and `texts_of`. It overrides `places` if `read` takes arguments other than the
    file of `data`, and `group` if a pilot samples from every group. Error messages locate an item by its attribute
    `place`, unless `place_of` is overridden.
    """

    noun: ClassVar[str] = ""
    """Plural noun for the items; by default `limited`."""

    if TYPE_CHECKING:  # fields of the settings
        data: Any
        on_unknown: OnUnknown

    _sets: dict[Hashable, D] = PrivateAttr(default_factory=dict)

    # Written by an instrument

    @abstractmethod
    def read(self, *key: Any) -> D:
        """Read a data set; the arguments come from `places`. Raises DataError naming file, line and field."""

    @abstractmethod
    def items(self, read: D) -> Sequence[I]:
        """Return the items of a data set."""

    @abstractmethod
    def texts_of(self, item: I) -> Sequence[str]:
        """Return the texts of an item that are given to a model."""

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`; by default the path of the file `data`, looked up in `base`."""
        return (self.find(self.data, base),)

    def group(self, item: I) -> str:
        """Return the name of the group of an item; a pilot samples from every group."""
        return ""

    def content(self, item: I) -> Sequence[str]:
        """Return the texts that decide, with the seed, whether a pilot draws an item."""
        return self.texts_of(item)

    def place_of(self, item: I) -> str:
        """Return the location of an item, for error messages."""
        return str(getattr(item, "place"))  # noqa: B009

    # The same for every instrument

    def read_set(self, base: Sequence[Path] = (Path(),)) -> D:
        """Return the data set, read and checked at the first call. Raises DataError naming file, line and field."""
        key = self.places(base)
        if key not in self._sets:
            self._sets[key] = self.read(*key)
        return self._sets[key]

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[I]:
        """Return the items to measure: all, or in a pilot a sample from every group."""
        items = self.items(self.read_set(base))
        if self.limit is None:
            return list(items)
        return spread(items, self.limit, seed=self.seed, content=self.content, group=self.group)

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return a list with the path of the data file, looked up in the directories `base`."""
        return [self.find(self.data, base)]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return the texts of the items to measure, each with the location of its item."""
        return [(text, self.place_of(item)) for item in self.asked(base) for text in self.texts_of(item)]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the texts to be given to a model, without those that `on_unknown` excludes."""
        return known_texts(model, texts, self.on_unknown)

    def known(self, session: Session, items: Sequence[I]) -> tuple[list[I], tuple[Note | str, ...]]:
        """Return the items without unknown tokens, and notes on items skipped or encoded in an equivalent spelling.

        Raises DataError if all items have unknown tokens, or if any has and `on_unknown` is "stop".
        """
        if isinstance(session.model, Scores):
            return list(items), ()
        noun = self.noun or self.limited
        return known_items(session.lm, items, self.texts_of, self.place_of, self.on_unknown, noun)


def score_columns(role: str, scores: Sequence[SentenceScore]) -> dict[str, pl.Series]:
    """Return the columns that the sentences of one role, such as "good", add to a table of items.

    They are the text, the number of tokens, the score, the tokens and the token log-probabilities (null for tokens that
    are not scored).
    """
    return {
        role: pl.Series([s.text for s in scores], dtype=pl.String),
        f"n_tokens_{role}": pl.Series([s.n for s in scores], dtype=pl.Int32),
        f"score_{role}": pl.Series([s.score for s in scores], dtype=pl.Float64),
        f"tokens_{role}": pl.Series([list(s.tokens) for s in scores], dtype=pl.List(pl.String)),
        f"logprobs_{role}": pl.Series(
            [[None if v != v else v for v in s.token_logprobs.tolist()] for s in scores], dtype=pl.List(pl.Float32)
        ),
    }
