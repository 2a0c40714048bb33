"""Instruments over the rows of a table: a model scores sentences of each, and measures are of those scores.

An author names the columns of a row, the sentences that are made of it, and the measures; the rest is done here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from penchant.corpus.sampling import spread
from penchant.engine.methods import method_for
from penchant.engine.scorer import language_model
from penchant.errors import DataError, place, together
from penchant.files import cited
from penchant.instruments.base import Measured, Model, Probe, beginning
from penchant.instruments.fields import CITED, Table, cited_columns, written
from penchant.instruments.measures import Measure, estimates
from penchant.instruments.parameters import Columns, Data, Given, default_of
from penchant.instruments.scored import score_columns
from penchant.instruments.session import Session
from penchant.instruments.unknown import OnUnknown, known_items, known_texts, signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.tables.documents import Text
from penchant.tables.rows import read_models


class Row(BaseModel):
    """A row of a table; a subclass names the columns, each with a docstring. Further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)

    id: Text = ""
    """A name for the row, its own in the table. Default: its line."""


R = TypeVar("R", bound=Row)


class RowProbe(Probe[Measured], Generic[R]):
    """The base of probes over the rows of a table.

    A subclass names the `row`, the `sentences` made of one and the `measures`, which may be of columns that it adds to
    the items. Its own fields are parameters; they are in the signature.
    """

    row: ClassVar[Any]
    """The columns of the table: a subclass of `Row`."""
    measures: ClassVar[tuple[Measure, ...]]
    """The measures, the main one first."""
    noun: ClassVar[str] = "rows"
    """The name of what a row is, in the plural."""
    limited: ClassVar[str] = "rows"

    data: Annotated[Given[str, Data], CITED, Table()] = Field(kw_only=False)
    """A table with one row an item; penchant schema has its columns."""
    columns: Given[dict[str, str], Columns] = default_of(default={})
    """The columns that the table calls otherwise, as field: column."""
    method: str | None = None
    """How a sentence is scored; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    on_unknown: OnUnknown = "stop"
    """Whether rows that hold something the tokenizer does not know `stop` the study, which lists them (default), or are
    left out and counted (`skip`)."""

    _read: dict[Path, list[tuple[int, R]]] = PrivateAttr(default_factory=dict)

    @abstractmethod
    def sentences(self, row: R) -> Mapping[str, str]:
        """Return the sentences that a model scores for a row, by a name that all rows have."""

    def added(self, items: pl.DataFrame) -> pl.DataFrame:
        """Return the items with columns that measures are of; for each sentence NAME they have NAME, score_NAME and
        tokens_NAME, beside the columns of the row."""
        return items

    def rows(self, base: Sequence[Path] = (Path(),)) -> list[tuple[int, R]]:
        """Return the rows with their lines, checked and cached. Raises DataError naming file, line and field."""
        file = self.find(self.data, base)
        if file not in self._read:
            rows = read_models(file, self.row, columns=self.columns, naming="columns: {FIELD: …}")
            if not rows:
                raise DataError("holds no rows", file=file)
            named = [(line, row.model_copy(update={"id": row.id or str(line)})) for line, row in rows]
            self._require_names(named, file)
            self._read[file] = named
        return self._read[file]

    def _require_names(self, rows: Iterable[tuple[int, Row]], file: Path) -> None:
        first: dict[str, int] = {}
        repeated = [(line, row.id) for line, row in rows if first.setdefault(row.id, line) != line]
        if repeated:
            raise together(
                [
                    DataError(f"'{name}' is the id of line {first[name]}, too", file=file, line=line, field="id")
                    for line, name in repeated
                ]
            )

    def asked(self, base: Sequence[Path]) -> list[tuple[int, R]]:
        """Return the rows that are measured: all, or in a pilot some of every level."""
        rows, levels = self.rows(base), [measure.by for measure in self.measures if measure.by]
        if self.limit is None:
            return rows
        return spread(
            rows,
            self.limit,
            seed=self.seed,
            content=lambda one: [*self.sentences(one[1]).values()],
            group=lambda one: str(getattr(one[1], levels[0], "")) if levels else "",
        )

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the table."""
        return [self.find(self.data, base)]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """Return every sentence, with the place of its row."""
        file = self.find(self.data, base)
        return [(text, place(file, line)) for line, row in self.asked(base) for text in self.sentences(row).values()]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the texts, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

    def settle(self, model: Model) -> Self:
        """Return the probe with its method decided. Raises MethodError where it does not fit the model."""
        return self.model_copy(update={"method": method_for(self.method, language_model(model)).name})

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the table, the parameters of the subclass, and how sentences are scored."""
        lm = language_model(model)
        own = [name for name in type(self).model_fields if name not in RowProbe.model_fields]
        return {
            "data": cited(self.files(base)),
            **cited_columns(self.columns),
            **{name: written(self, name) for name in own},
            "method": self.method,
            "bos": beginning(lm),
            "dtype": lm.numbers,
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Score the sentences of every row."""
        file = self.find(self.data, session.base)
        rows, told = known_items(
            session.lm,
            self.asked(session.base),
            lambda one: list(self.sentences(one[1]).values()),
            lambda one: place(file, one[0]),
            self.on_unknown,
            self.noun,
        )
        sentences = [self.sentences(row) for _, row in rows]
        names = list(sentences[0])
        session.expect(len(rows), inputs=len(names))
        asked = [
            (each[name], place(file, line)) for (line, _), each in zip(rows, sentences, strict=True) for name in names
        ]
        scores = list(session.scorer.score(asked, self.method))
        items = pl.DataFrame([row.model_dump() for _, row in rows], infer_schema_length=None)
        for number, name in enumerate(names):
            items = items.with_columns(**score_columns(name, scores[number :: len(names)]))
        return Measured(self.added(items), told)

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the measures of the items."""
        return estimates(self.measures, measured.items, self.level, self.noun)
