"""Scoring of one shard by a worker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import polars as pl

from penchant.corpus.block_reader import Reader, stored_parts
from penchant.corpus.text_files import Block, Kind, TextFile
from penchant.engine.scorer import Scorer, scores_frame, valued
from penchant.errors import DataError

CHUNK = 1 << 13
"""Number of texts scored together; the tables are kept on disk, so that memory use is independent of shard size."""
METADATA = "penchant.shard"
"""Key of a shard's counts in the metadata of its table."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of texts, and the settings for scoring them.

    `done` has the hashes of the contents of this file that were scored in earlier runs. If `reject` is true, texts that
    cannot be scored are listed in a table of rejects instead of raising an error.
    """

    file: TextFile
    column: str
    method: str
    normalise: str
    reject: bool
    done: frozenset[str] = frozenset()


@dataclass(slots=True)
class ShardCounts:
    """Numbers of texts in a shard: all, scored and rejected; `sha256` is the hash of the file as stored."""

    sha256: str
    inputs: int = 0
    scores: int = 0
    rejects: int = 0


@dataclass(slots=True)
class ScoredShard:
    """A shard's counts, and the paths of its tables `scores` and `rejects`, or None if a table does not exist."""

    counted: ShardCounts
    scores: Path | None = None
    rejects: Path | None = None


@dataclass(slots=True)
class _Found:
    """Tables of scores and rejects, written to disk in parts."""

    folder: Path
    parts: dict[str, list[Path]] = field(default_factory=lambda: {"scores": [], "rejects": []})

    def add(self, kind: str, table: pl.DataFrame) -> int:
        if len(table):
            self.parts[kind].append(self.folder / f"{kind}-{len(self.parts[kind]):06}.parquet")
            table.write_parquet(self.parts[kind][-1], compression="lz4")
        return len(table)

    def whole(self, kind: str, schema: dict[str, pl.DataType], metadata: dict[str, str]) -> Path:
        target = self.folder / f"{kind}.parquet"
        parts = self.parts[kind]
        table = pl.scan_parquet(parts, glob=False) if parts else pl.LazyFrame(schema=schema)
        table.sink_parquet(target, metadata=metadata, engine="streaming", row_group_size=CHUNK)
        return target


REJECTS = {"record": pl.Int64(), "reason": pl.String(), "text": pl.String()}


def scored(scorer: Scorer, shard: Shard, folder: Path) -> ScoredShard:
    """Score the texts of a shard, write the tables into `folder`, and return the counts and the paths of the tables.

    A shard whose content was scored in an earlier run is skipped.

    The columns of scores are record (the number of the line or row), text, score, n_tokens and logprobs; the columns of
    rejects are record, reason and text. Raises DataError if the file cannot be read or, unless `shard.reject`, if a
    text cannot be scored.
    """
    if shard.done and (known := _hash(shard.file)) in shard.done:
        return ScoredShard(ShardCounts(known))
    reader = Reader(shard.file, 0, layout="sentences", field=shard.column)
    records = chain.from_iterable(texts(block, shard.file.kind, shard.column) for block in reader.blocks())
    counted, found = ShardCounts(""), _Found(folder)
    while part := list(islice(records, CHUNK)):
        counted.inputs += len(part)
        good, bad = _sound(scorer, part, shard)
        if bad and not shard.reject:
            raise DataError(
                bad[0][1], where=_place(shard, bad[0][0]), hint="correct it, or skip it with --on-error reject"
            )
        pairs = [(text, _place(shard, number)) for number, text in good]
        table = scores_frame(valued(scorer.score(pairs, shard.method), shard.normalise))
        numbers = pl.Series("record", [number for number, _ in good], pl.Int64)
        counted.scores += found.add("scores", table.insert_column(0, numbers))
        counted.rejects += found.add("rejects", pl.DataFrame(bad, schema=REJECTS, orient="row"))
    if not counted.inputs:
        raise DataError("contains no texts", where=shard.file.place)
    counted.sha256 = reader.sha256
    says = {"name": shard.file.name, "sha256": counted.sha256, "inputs": counted.inputs, "rejects": counted.rejects}
    metadata = {METADATA: json.dumps(says)}
    empty = dict(scores_frame([]).insert_column(0, pl.Series("record", [], pl.Int64)).schema)
    scores = found.whole("scores", empty, metadata)
    return ScoredShard(counted, scores, found.whole("rejects", {**REJECTS}, metadata) if counted.rejects else None)


Record = tuple[int, str | None]
Reject = tuple[int, str, str]


def texts(block: Block, kind: Kind, column: str) -> Iterator[Record]:
    """Yield the number and the text of each record in a block, with None in place of an invalid text.

    If the file's `kind` is "text", every line is a record; otherwise the texts are in the field `column`.
    """
    if not isinstance(block.data, bytes):
        yield from enumerate(block.data, block.first)
        return
    lines = block.data.split(b"\n")
    if not lines[-1]:  # the empty rest after the last line ending
        lines.pop()
    for number, line in enumerate(lines, block.first):
        if kind == "text":
            yield number, _utf8(line.removesuffix(b"\r"))
        elif line.strip():
            yield number, _value(line, column)


def _utf8(line: bytes) -> str | None:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _value(line: bytes, column: str) -> str | None:
    try:
        value = json.loads(line)[column]
        value.encode("utf-8")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return str(value)


def _sound(scorer: Scorer, records: list[Record], shard: Shard) -> tuple[list[tuple[int, str]], list[Reject]]:
    missing = "is not UTF-8" if shard.file.kind == "text" else f"has no text in the column '{shard.column}'"
    good = [(number, text) for number, text in records if text is not None]
    bad: list[Reject] = [(number, missing, "") for number, text in records if text is None]
    try:
        list(scorer.validated([(text, "") for _, text in good]))
    except DataError:
        every, good = good, []
        for number, text in every:
            try:
                list(scorer.validated([(text, "")]))
                good.append((number, text))
            except DataError as error:
                bad.append((number, error.message, text))
    return good, sorted(bad)


def _place(shard: Shard, number: int) -> str:
    return f"{shard.file.place}, {'row' if shard.file.kind == 'parquet' else 'line'} {number}"


def _hash(file: TextFile) -> str:
    digest = hashlib.sha256()
    for part in stored_parts(file.place):
        digest.update(part)
    return digest.hexdigest()
