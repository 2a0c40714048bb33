"""Unigrams: the frequencies of a model's tokens in a corpus, used by the normalisation SLOR."""

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
from penchant.tables.rows import FileRow, lacking, read_rows
from penchant.text_io import require_file

KEY = "penchant-unigrams"
"""Key of the provenance record in the metadata of a Parquet file of unigrams."""
SMOOTHING = "add-one over the vocabulary without special tokens"
_REMEDY = "count them with penchant corpus unigrams and this model"


@dataclass(frozen=True, slots=True)
class Unigrams:
    """Frequencies of a tokenizer's tokens; `counts` is indexed by token id, and is 0 for special tokens.

    With N tokens counted and V entries in the `vocabulary`, both without special tokens, the probability of a token is
    (count + 1) / (N + V) (Laplace smoothing); the probabilities sum to 1.
    """

    counts: NDArray[np.int64]
    vocabulary: int
    file: Path | None = None

    @property
    def total(self) -> int:
        """Number of tokens counted, N."""
        return int(self.counts.sum())

    def logprobs(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the natural log-probability of each token id."""
        counted = self.counts[np.asarray(ids, dtype=np.int64)]
        values: NDArray[np.float64] = np.log((counted + 1) / (self.total + self.vocabulary))
        return values

    def unseen(self, ids: Sequence[int]) -> int:
        """Return the number of token ids that do not occur in the corpus."""
        return int((self.counts[np.asarray(ids, dtype=np.int64)] == 0).sum())


def blank(tokenizer: Tokenizer) -> Unigrams:
    """Return a tokenizer's unigrams with all counts 0."""
    entries = set(tokenizer.hf.get_vocab().values())
    return Unigrams(np.zeros(max(entries) + 1, dtype=np.int64), len(entries - set(tokenizer.hf.all_special_ids)))


def is_unigrams(file: Path) -> bool:
    """Return whether a file was written by `penchant corpus unigrams`. Raises OSError if it cannot be read."""
    import polars as pl

    try:
        return KEY in pl.read_parquet_metadata(file)
    except pl.exceptions.PolarsError:
        return False


def read_unigrams(path: str | Path, tokenizer: Tokenizer, model: str) -> Unigrams:
    """Return the unigrams in a table with the columns token_id, token and count.

    `model` is the name of the tokenizer's model, for messages. Raises DataError if the table is invalid, or was counted
    with another tokenizer.
    """
    file = Path(path)
    require_file(file)
    record = _record(file)
    if record is not None and record.get("tokenizer") != tokenizer.pieces_digest:
        raise _of_another(f"was counted with the tokenizer of {record.get('model')}, not of", model, file)
    rows = read_rows(file)
    lacking(["token_id", "token", "count"], list(dict.fromkeys(name for row in rows for name in row.values)), file)
    unigrams = blank(tokenizer)
    counts, taken = unigrams.counts, np.zeros(len(unigrams.counts), dtype=bool)
    tokens = [_whole(row, "token_id", file) for row in rows]
    special = frozenset(tokenizer.hf.all_special_ids)
    known = [token if token < len(counts) else 0 for token in tokens]
    for row, token, piece in zip(rows, tokens, tokenizer.strings(known), strict=True):
        if token >= len(counts):
            raise _of_another(f"there is no token {token} in the vocabulary of", model, file, row.line)
        if row.values["token"] != piece:
            message = f"token {token} is {row.values['token']!r} in this table but {piece!r} in the vocabulary of"
            raise _of_another(message, model, file, row.line)
        if taken[token] or token in special:
            reason = "appears twice" if taken[token] else "is a special token, which is never scored"
            raise DataError(f"token {token} {reason}", file=file, line=row.line, hint="remove the row")
        taken[token] = True
        counts[token] = _whole(row, "count", file)
    if not counts.any():
        raise DataError("all counts in this table are 0", file=file, hint=_REMEDY)
    return Unigrams(counts, unigrams.vocabulary, file)


def fitting(paths: Sequence[str | Path], tokenizer: Tokenizer, model: str) -> Unigrams:
    """Return the unigrams from the table that matches the tokenizer. Raises DataError unless exactly one matches."""
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
        raise DataError(f"none of the {len(paths)} tables of unigrams matches the tokenizer of {model}", hint=_REMEDY)
    if len(fit) > 1:
        raise DataError(
            f"{len(fit)} tables of unigrams match the tokenizer of {model}", file=fit[1].file, hint="give only one"
        )
    return fit[0]


class OtherTokenizerError(DataError):
    """DataError for a table of unigrams that was counted with another tokenizer."""


def _of_another(message: str, model: str, file: Path, line: int | None = None) -> OtherTokenizerError:
    return OtherTokenizerError(f"{message} {model}", file=file, line=line, hint=_REMEDY)


def _record(file: Path) -> dict[str, Any] | None:
    """Return the provenance record in a table, or None if there is none. Raises DataError if the record is damaged."""
    import polars as pl

    try:
        text = pl.read_parquet_metadata(file).get(KEY)
    except (OSError, pl.exceptions.PolarsError):
        return None
    try:
        record = None if text is None else json.loads(text)
    except ValueError as error:
        raise DataError("the provenance record of the unigrams is damaged", file=file, hint=_REMEDY) from error
    return record if isinstance(record, dict) else None


def _whole(row: FileRow, field: str, file: Path) -> int:
    value = row.values.get(field)
    number = numeral(str(value))
    if not isinstance(number, int) or number < 0:
        message = f"expected a whole number, 0 or more, found {shortened(value)}"
        raise DataError(message, file=file, line=row.line, field=field)
    return number
