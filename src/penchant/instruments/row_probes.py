"""Instruments over the rows of a table: a model scores sentences of each row, and measures use those scores.

An author names the columns of a row, the sentences made of it, and the measures.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from penchant.engine.scorer import language_model
from penchant.engine.scoring_methods import method_for
from penchant.errors import DataError, place, together
from penchant.files import cited
from penchant.instruments.base import Measured, Model, beginning
from penchant.instruments.item_probes import ItemProbe, score_columns
from penchant.instruments.measures import Measure, estimates, require_columns
from penchant.instruments.probe_fields import CITED, Columns, Data, Given, Table, cited_columns, default_of, written
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import OnUnknown, signed_unknown
from penchant.records import Estimate
from penchant.tables.documents import Text
from penchant.tables.rows import read_models


class Row(BaseModel):
    """A row of a table; a subclass names the columns, each with a docstring. Further columns are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)

    id: Text = ""
    """A name for the row, unique in the table. Default: its line."""


R = TypeVar("R", bound=Row)


class RowProbe(ItemProbe[list[tuple[str, R]], tuple[str, R]], Generic[R]):
    """The base of probes over the rows of a table.

    A subclass names the `row`, the `sentences` made of one and the `measures`, which may use columns that it adds to
    the items. Its own fields are parameters, and appear in the signature.
    """

    row: ClassVar[Any]
    """The columns of the table: a subclass of `Row`."""
    measures: ClassVar[tuple[Measure, ...]]
    """The measures, the main one first."""
    noun: ClassVar[str] = "rows"
    """The plural noun for rows."""
    limited: ClassVar[str] = "rows"

    data: Annotated[Given[str, Data], CITED, Table()] = Field(kw_only=False)
    """A table with one row an item; penchant schema has its columns."""
    columns: Given[dict[str, str], Columns] = default_of(default={})
    """The columns that have other names in the table, as field: column."""
    method: str | None = None
    """The scoring method; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    on_unknown: OnUnknown = "stop"
    """`stop` the study at rows with something unknown to the tokenizer (default), or `skip` and count them."""

    @abstractmethod
    def sentences(self, row: R) -> Mapping[str, str]:
        """Return the sentences that a model scores for a row, by names that all rows have."""

    def added(self, items: pl.DataFrame) -> pl.DataFrame:
        """Return the items with the columns that measures use.

        For each sentence NAME they have NAME, score_NAME and tokens_NAME, beside the columns of the row.
        """
        return items

    def read(self, path: Path) -> list[tuple[str, R]]:
        """Return the rows with their places. Raises DataError naming file, line and field."""
        rows = read_models(path, self.row, columns=self.columns, naming="columns: {FIELD: …}")
        if not rows:
            raise DataError("holds no rows", file=path)
        named = [(line, row.model_copy(update={"id": row.id or str(line)})) for line, row in rows]
        self._require_names(named, path)
        return [(place(path, line), row) for line, row in named]

    def items(self, read: list[tuple[str, R]]) -> Sequence[tuple[str, R]]:
        """Return the rows."""
        return read

    def texts_of(self, item: tuple[str, R]) -> Sequence[str]:
        """Return the sentences of a row."""
        return list(self.sentences(item[1]).values())

    def place_of(self, item: tuple[str, R]) -> str:
        """Return the file and line of a row."""
        return item[0]

    def group(self, item: tuple[str, R]) -> str:
        """Return the level of a row in the first measure that has levels."""
        levels = [measure.by for measure in self.measures if measure.by]
        return str(getattr(item[1], levels[0], "")) if levels else ""

    def _require_names(self, rows: Iterable[tuple[int, Row]], file: Path) -> None:
        first: dict[str, int] = {}
        repeated = [(line, row.id) for line, row in rows if first.setdefault(row.id, line) != line]
        if repeated:
            raise together(
                [
                    DataError(f"'{name}' is also the id of line {first[name]}", file=file, line=line, field="id")
                    for line, name in repeated
                ]
            )

    def settle(self, model: Model) -> Self:
        """Return the probe with its method set. Raises MethodError if it does not fit the model."""
        return self.model_copy(update={"method": method_for(self.method, language_model(model)).name})

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the table, the parameters of the subclass, and the scoring settings."""
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
        chosen = self.asked(session.base)
        rows, told = self.known(session, chosen)
        sentences = [self.sentences(row) for _, row in rows]
        names = list(sentences[0])
        session.expect(len(rows), inputs=len(names))
        asked = [(each[name], at) for (at, _), each in zip(rows, sentences, strict=True) for name in names]
        scores = list(session.scorer.score(asked, self.method))
        items = pl.DataFrame([row.model_dump() for _, row in rows], infer_schema_length=None)
        for number, name in enumerate(names):
            items = items.with_columns(**score_columns(name, scores[number :: len(names)]))
        items = self.added(items)
        where = f"instrument '{self.name}', {sys.modules[type(self).__module__].__file__}"
        require_columns(self.measures, items, where, levels=self.limit is None and len(rows) == len(chosen))
        return Measured(items, told)

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the measures of the items."""
        return estimates(self.measures, measured.items, self.level, self.noun)
