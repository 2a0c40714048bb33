"""Probes that run on the rows of a table: a model scores the sentences of each row, and measures use the scores.

An author declares the columns of a row, the sentences made from it, and the measures.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from penchant.engine.scorer import sentence_model
from penchant.engine.scoring_methods import method_for
from penchant.engine.sentence_scores import SentenceScore
from penchant.errors import DataError, place, together
from penchant.files import cited
from penchant.instruments.base_probe import SENTENCES, Measured, Model, beginning
from penchant.instruments.item_probes import ItemProbe, score_columns
from penchant.instruments.measures import Measure, estimates, require_columns
from penchant.instruments.probe_field_types import (
    CITED,
    Columns,
    Data,
    Given,
    TableField,
    cited_columns,
    default_of,
    written,
)
from penchant.instruments.session import Session
from penchant.instruments.unknown_tokens import OnUnknown, signed_unknown
from penchant.records import Estimate
from penchant.tables.data_lookup import listed
from penchant.tables.rows import read_models
from penchant.tables.yaml_json_documents import Text

Paths = str | Annotated[list[str], Field(min_length=1)]


class Row(BaseModel):
    """Base class for rows of a table; a subclass declares the columns, each with a docstring.

    Further columns of the table are ignored.
    """

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)

    id: Text = ""
    """A name for the row, unique in the table. Default: the line number."""


R = TypeVar("R", bound=Row)


class RowProbe(ItemProbe[list[tuple[str, R]], tuple[str, R]], Generic[R]):
    """Base class for probes that run on the rows of a table.

    A subclass defines `row`, `sentences` and `measures`; the measures may use columns that `added` adds to the items.
    Other fields of the subclass are parameters and appear in the signature.
    """

    row: ClassVar[Any]
    """Class of the rows: a subclass of `Row` that declares the columns."""
    measures: ClassVar[tuple[Measure, ...]]
    """The measures; the first is the main one."""
    noun: ClassVar[str] = "rows"
    """Plural noun for the rows."""
    limited: ClassVar[str] = "rows"
    kinds: ClassVar[tuple[str, ...]] = SENTENCES

    data: Annotated[Given[Paths, Data], CITED, TableField()] = Field(kw_only=False)
    """One or more tables with one row per item; `penchant schema` lists the columns."""
    columns: Given[dict[str, str], Columns] = default_of(default={})
    """Columns whose names differ from the field names, as field: column."""
    method: str | None = None
    """The scoring method; see `penchant list methods`. Default: lp for causal, pll for masked models."""
    on_unknown: OnUnknown = "stop"
    """Rows with text unknown to the tokenizer: `stop` the study (default), or `skip` and count them."""

    @abstractmethod
    def sentences(self, row: R) -> Mapping[str, str]:
        """Return the sentences that a model scores for a row, by name; the names are the same for all rows."""

    def added(self, items: pl.DataFrame) -> pl.DataFrame:
        """Return the items with additional columns for the measures; by default the items unchanged.

        For each sentence NAME, the items have the columns NAME, score_NAME and tokens_NAME, besides the columns of the
        row.
        """
        return items

    def scores(self, session: Session, texts: Sequence[tuple[str, str]]) -> Iterable[SentenceScore]:
        """Return the scores of (sentence, location) pairs; by default of whole sentences."""
        return session.scorer.score(texts, self.method)

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the paths of the tables, looked up in the directories `base`."""
        return tuple(file for name in listed(self.data) for file in self.find_all(name, base))

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the paths of the tables, looked up in the directories `base`."""
        return [Path(str(file)) for file in self.places(base)]

    def read(self, *paths: Path) -> list[tuple[str, R]]:
        """Read the rows, each with its file and line. Raises DataError naming file, line and field.

        If there are several tables, each id begins with the name of its file without the suffix.
        """
        found: list[tuple[str, R]] = []
        for path in paths:
            rows = read_models(path, self.row, columns=self.columns, naming="columns: {FIELD: …}")
            if not rows:
                raise DataError("contains no rows", file=path)
            front = f"{path.stem}:" if len(paths) > 1 else ""
            named = [(line, row.model_copy(update={"id": front + (row.id or str(line))})) for line, row in rows]
            self._require_names(named, path)
            found += [(place(path, line), row) for line, row in named]
        return found

    def items(self, read: list[tuple[str, R]]) -> Sequence[tuple[str, R]]:
        """Return the rows, each with its file and line."""
        return read

    def texts_of(self, item: tuple[str, R]) -> Sequence[str]:
        """Return the sentences of a row."""
        return list(self.sentences(item[1]).values())

    def content(self, item: tuple[str, R]) -> Sequence[str]:
        """Return the values of a row, so that a pilot draws the same rows for every way of measuring."""
        return [str(value) for value in item[1].model_dump(exclude={"id"}).values()]

    def place_of(self, item: tuple[str, R]) -> str:
        """Return the file and line of a row."""
        return item[0]

    def group(self, item: tuple[str, R]) -> str:
        """Return the row's value in the column `by` of the first measure that has one; "" if no measure has one."""
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
        """Return the probe with its scoring method set. Raises MethodError if the model does not support the method."""
        return self.model_copy(update={"method": method_for(self.method, sentence_model(model)).name})

    def own_fields(self) -> list[str]:
        """Return the names of the subclass's own parameters."""
        return [name for name in type(self).model_fields if name not in RowProbe.model_fields]

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for the table, the parameters of the subclass, and the scoring settings."""
        return {
            "data": cited(self.files(base)),
            **cited_columns(self.columns),
            **{name: written(self, name) for name in self.own_fields()},
            **self.scoring(model),
        }

    def scoring(self, model: Model) -> dict[str, object]:
        """Return the signature fields of the scoring."""
        lm = sentence_model(model)
        own = {"method": self.method, "bos": beginning(lm), "dtype": lm.numbers}
        return {**own, **signed_unknown(self.on_unknown)}

    def measure(self, session: Session) -> Measured:
        """Score the sentences of every row and return the items."""
        chosen = self.asked(session.base)
        rows, told = self.known(session, chosen)
        items = self.added(self.scored(session, rows))
        where = f"instrument '{self.name}', {sys.modules[type(self).__module__].__file__}"
        require_columns(self.measures, items, where, levels=self.limit is None and len(rows) == len(chosen))
        return Measured(items, told)

    def scored(self, session: Session, rows: Sequence[tuple[str, R]]) -> pl.DataFrame:
        """Return a table of the rows with the scores of their sentences."""
        sentences = [self.sentences(row) for _, row in rows]
        names = list(sentences[0])
        session.expect(len(rows), inputs=len(names))
        asked = [(each[name], at) for (at, _), each in zip(rows, sentences, strict=True) for name in names]
        scores = list(self.scores(session, asked))
        items = pl.DataFrame([row.model_dump() for _, row in rows], infer_schema_length=None)
        for number, name in enumerate(names):
            items = items.with_columns(**score_columns(name, scores[number :: len(names)]))
        return items

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the estimates of the measures."""
        return estimates(self.measures, measured.items, self.level, self.noun)
