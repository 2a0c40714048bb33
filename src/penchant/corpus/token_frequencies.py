"""Counts of a model's tokens in running text, as tables that `penchant.engine.unigrams` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as of
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant._version import __version__
from penchant.corpus.block_processing import Pass, Progress
from penchant.corpus.text_files import Layout, TextFile
from penchant.engine.unigrams import KEY, SMOOTHING, Unigrams, blank, is_unigrams
from penchant.errors import DataError
from penchant.files import refuse_inputs, refuse_other, replacing
from penchant.models.tokenizer import Tokenizer
from penchant.plurals import counted, for_one, of_all
from penchant.text_io import refused_character

_CHARACTERS = 1 << 18
"""Maximum number of characters in a batch of lines to tokenize; a longer line is tokenized on its own."""


@dataclass(slots=True)
class TokenCounts:
    """Token counts of files.

    Of the `records`, `skipped` could not be read. `unknown` and `special` are the numbers of unknown and special
    tokens, which are omitted from the table since sentences that contain such tokens are not scored.
    """

    unigrams: Unigrams
    model: str
    digest: str
    layout: Layout
    field: str
    files: list[dict[str, Any]] = of(default_factory=list)
    records: int = 0
    skipped: int = 0
    unknown: int = 0
    special: int = 0

    def record(self) -> dict[str, Any]:
        """Return the provenance of the counts, which is stored in the table's metadata."""
        return {
            "version": __version__,
            "model": self.model,
            "tokenizer": self.digest,
            "vocabulary": self.unigrams.vocabulary,
            "tokens": self.unigrams.total,
            "smoothing": SMOOTHING,
            "layout": self.layout,
            "field": self.field,
            "records": self.records,
            "skipped": self.skipped,
            "unknown": self.unknown,
            "special": self.special,
            "texts": self.files,
        }

    def table(self, tokenizer: Tokenizer) -> pl.DataFrame:
        """Return the tokens that occur, in descending order of counts, with the columns token_id, token and count."""
        ids = np.flatnonzero(self.unigrams.counts)
        frame = pl.DataFrame(
            {"token_id": ids, "token": tokenizer.strings(ids.tolist()), "count": self.unigrams.counts[ids]}
        )
        return frame.sort("count", "token_id", descending=[True, False])

    def notes(self) -> Iterator[str]:
        """Yield notes on the counts and on omitted records and tokens."""
        types, entries = int(np.count_nonzero(self.unigrams.counts)), self.unigrams.vocabulary
        yield (
            f"{counted(self.unigrams.total, 'tokens')}; {of_all(types, entries, 'entries of the vocabulary', 'occur')}"
        )
        if self.skipped:
            be = for_one(self.skipped, "were")
            yield f"{of_all(self.skipped, self.records, 'records', 'have')} no readable text and {be} left out"
        for number, what in ((self.unknown, "unknown to the tokenizer"), (self.special, "special tokens in the text")):
            if number:
                yield f"{counted(number, 'tokens')} {for_one(number, 'were')} left out: {what}"


def count_unigrams(
    tokenizer: Tokenizer,
    model: str,
    files: Sequence[TextFile],
    *,
    layout: Layout = "paragraphs",
    field: str = "text",
    progress: Progress = lambda done, total: None,
) -> TokenCounts:
    """Return the token counts of files, tokenized with `tokenizer`, the tokenizer of the model named `model`.

    Each line or wrapped paragraph is tokenized in NFC, without surrounding white space or special tokens. Raises
    DataError if a file cannot be read or the files contain no token.
    """
    found = TokenCounts(blank(tokenizer), model, tokenizer.pieces_digest, layout, field)
    text = Pass(files, layout, field)
    for block in text.found(lambda: attrgetter("text"), progress=progress):
        lines = (line.strip() for line in block.split("\n"))
        for part in _batches(line for line in lines if line):
            _add(found, tokenizer, part)
    found.records, found.files = text.records, text.texts()
    found.skipped += text.skipped
    if not found.unigrams.total:
        raise DataError("the text contains no tokens of the model's vocabulary", where=model, hint="give another text")
    return found


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for line in lines:
        if batch and characters + len(line) > _CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(line)
        characters += len(line)
    if batch:
        yield batch


def _add(found: TokenCounts, tokenizer: Tokenizer, lines: list[str]) -> None:
    """Add the token counts of lines to `found`; a line with an invalid character counts as a skipped record."""
    sound = [line for line in lines if not refused_character(line)]
    found.skipped += len(lines) - len(sound)
    counts = found.unigrams.counts
    ids = [token for line in tokenizer.token_ids(sound) for token in line] if sound else []
    counts += np.bincount(np.array(ids, dtype=np.int64), minlength=len(counts))
    for special in tokenizer.hf.all_special_ids:
        if special < len(counts):
            kind = "unknown" if special == tokenizer.unknown_id else "special"
            setattr(found, kind, getattr(found, kind) + int(counts[special]))
            counts[special] = 0


def write_unigrams(found: TokenCounts, tokenizer: Tokenizer, out: str | Path) -> None:
    """Write the token counts and their provenance atomically as Parquet. Raises OutputError if this fails."""
    with replacing(out) as stream:
        metadata = {KEY: json.dumps(found.record(), ensure_ascii=False)}
        found.table(tokenizer).lazy().sink_parquet(stream, metadata=metadata, engine="streaming")


def refuse_target(out: str | Path, files: Sequence[TextFile]) -> None:
    """Raise OutputError if `out` is one of the texts or an existing file that is not a table of unigrams."""
    refuse_inputs(out, [file.place for file in files if "://" not in file.place])
    refuse_other(out, "a table of unigrams", is_unigrams)
