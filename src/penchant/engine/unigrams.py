"""Frequencies of a model's tokens in a text: unigrams, whose probabilities SLOR takes off."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, shortened
from penchant.models.tokenizer import Tokenizer
from penchant.number_parsing import numeral
from penchant.tables.rows import Row, lacking, read_rows
from penchant.text_io import require_file

KEY = "penchant-unigrams"
"""The key of the record in the metadata of a Parquet file of unigrams."""
SMOOTHING = "add-one over the vocabulary without special tokens"
_MADE = "count them with penchant corpus unigrams and this model"


@dataclass(frozen=True, slots=True)
class Unigrams:
    """The frequencies of a tokenizer's tokens. `counts` are by token id, (ids,); special tokens have none.

    With N tokens counted and V entries in the `vocabulary`, special ones left out of both, P(token) = (count + 1) /
    (N + V) (Laplace), so that all sum to 1.
    """

    counts: NDArray[np.int64]
    vocabulary: int
    file: Path | None = None

    @property
    def total(self) -> int:
        """N: the tokens that were counted."""
        return int(self.counts.sum())

    def logprobs(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return natural log P of each token."""
        counted = self.counts[np.asarray(ids, dtype=np.int64)]
        values: NDArray[np.float64] = np.log((counted + 1) / (self.total + self.vocabulary))
        return values

    def unseen(self, ids: Sequence[int]) -> int:
        """Return how many of some tokens were never counted."""
        return int((self.counts[np.asarray(ids, dtype=np.int64)] == 0).sum())


def blank(tokenizer: Tokenizer) -> Unigrams:
    """Return the unigrams of a tokenizer with nothing counted yet."""
    entries = set(tokenizer.hf.get_vocab().values())
    return Unigrams(np.zeros(max(entries) + 1, dtype=np.int64), len(entries - set(tokenizer.hf.all_special_ids)))


def is_unigrams(file: Path) -> bool:
    """Return whether a file is a table that `penchant corpus unigrams` wrote. Raises OSError."""
    import polars as pl

    try:
        return KEY in pl.read_parquet_metadata(file)
    except pl.exceptions.PolarsError:
        return False


def read_unigrams(path: str | Path, tokenizer: Tokenizer, model: str) -> Unigrams:
    """Read a table of unigrams (token, the id; piece, the vocabulary entry; count) for the tokenizer of a `model`.
    Raises DataError naming file, line and field, also for a table of another tokenizer."""
    file = Path(path)
    require_file(file)
    record = _record(file)
    if record is not None and record.get("tokenizer") != tokenizer.pieces_digest:
        raise _of_another(f"was counted with the tokenizer of {record.get('model')}, not with that of", model, file)
    rows = read_rows(file)
    lacking(["token", "piece", "count"], list(dict.fromkeys(name for row in rows for name in row.values)), file)
    unigrams = blank(tokenizer)
    counts, taken = unigrams.counts, np.zeros(len(unigrams.counts), dtype=bool)
    tokens = [_whole(row, "token", file) for row in rows]
    special = frozenset(tokenizer.hf.all_special_ids)
    known = [token if token < len(counts) else 0 for token in tokens]
    for row, token, piece in zip(rows, tokens, tokenizer.strings(known), strict=True):
        if token >= len(counts):
            raise _of_another(f"there is no token {token} in the vocabulary of", model, file, row.line)
        if row.values["piece"] != piece:
            told = f"token {token} is {row.values['piece']!r} here and {piece!r} in the vocabulary of"
            raise _of_another(told, model, file, row.line)
        if taken[token] or token in special:
            reason = "stands twice" if taken[token] else "is a special token, which is never scored"
            raise DataError(f"token {token} {reason}", file=file, line=row.line, hint="leave the row out")
        taken[token] = True
        counts[token] = _whole(row, "count", file)
    if not counts.any():
        raise DataError("nothing is counted in this table", file=file, hint=_MADE)
    return Unigrams(counts, unigrams.vocabulary, file)


def fitting(paths: Sequence[str | Path], tokenizer: Tokenizer, model: str) -> Unigrams:
    """Return the unigrams of a model's own tokenizer among some tables. Raises DataError where none or several are."""
    fit: list[Unigrams] = []
    refused: list[DataError] = []
    for path in paths:
        try:
            fit.append(read_unigrams(path, tokenizer, model))
        except OtherTokenizerError as error:
            refused.append(error)
    if not fit:
        if len(refused) == 1:
            raise refused[0]
        raise DataError(f"none of the {len(paths)} tables of unigrams is of the tokenizer of {model}", hint=_MADE)
    if len(fit) > 1:
        raise DataError(
            f"{len(fit)} tables of unigrams are of the tokenizer of {model}", file=fit[1].file, hint="name one"
        )
    return fit[0]


class OtherTokenizerError(DataError):
    """A table is of another tokenizer."""


def _of_another(told: str, model: str, file: Path, line: int | None = None) -> OtherTokenizerError:
    return OtherTokenizerError(f"{told} {model}", file=file, line=line, hint=_MADE)


def _record(file: Path) -> dict[str, Any] | None:
    """Return the provenance of a table that penchant wrote; None for another table. Raises DataError."""
    import polars as pl

    try:
        text = pl.read_parquet_metadata(file).get(KEY)
    except (OSError, pl.exceptions.PolarsError):
        return None
    try:
        record = None if text is None else json.loads(text)
    except ValueError as error:
        raise DataError("the record of the unigrams is damaged", file=file, hint=_MADE) from error
    return record if isinstance(record, dict) else None


def _whole(row: Row, field: str, file: Path) -> int:
    """Return the whole number in a cell. Raises DataError."""
    value = row.values.get(field)
    number = numeral(str(value))
    if not isinstance(number, int) or number < 0:
        told = f"expected a whole number, found {shortened(value)}"
        raise DataError(told, file=file, line=row.line, field=field)
    return number
