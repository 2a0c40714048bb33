"""Scoring of any number of texts on a cluster: workers score shards (files of texts), with one table per shard.

    DIR/stream.json                      the scoring settings, and a summary of the run
    DIR/<shard>-<sha256>.parquet         the scores of a shard, named by the hash of its content
    DIR/<shard>-<sha256>.rejects.parquet the shard's texts that could not be scored, with reasons

Tables are written atomically, scores after rejects, so that an existing table of scores marks a finished shard. If a
run that was stopped is resumed, it skips the shards whose current content has a table.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from penchant.cluster.connect import imported
from penchant.cluster.pool import DEEP, Job, WorkerPool
from penchant.cluster.shard_scoring import METADATA, Shard, ShardCounts
from penchant.corpus.text_files import TextFile, plain_ending
from penchant.errors import ClusterError, DataError, MethodError, StudyError
from penchant.files import distinct, holding, occupied, replacing, write_json
from penchant.plurals import counted, of_all
from penchant.text_io import read_text

FILE = "stream.json"
_TABLE = re.compile(r"(?P<name>.+)-(?P<hash>[0-9a-f]{64})\.parquet")
_TABLES = (".csv", ".tsv", ".xlsx", ".sav", ".dta")
FIRST, NEXT = 10.0, 30.0
"""Time in seconds before the first progress message, and between further messages."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Scoring settings, which must not change when a run is resumed."""

    penchant: str
    model: str
    fingerprint: str
    dtype: str
    method: str
    normalise: str
    column: str
    on_error: str


@dataclass(slots=True)
class ScoringSummary:
    """Counts of finished shards and of their texts; each input text is either scored or rejected."""

    shards: int = 0
    before: int = 0
    """Number of shards that were finished in an earlier run."""
    inputs: int = 0
    scores: int = 0
    rejects: int = 0

    def add(self, counted: ShardCounts) -> None:
        """Add a shard's counts. Raises ClusterError if a text is neither scored nor rejected."""
        if counted.inputs != counted.scores + counted.rejects:
            message = f"a worker sent {counted.scores + counted.rejects} results for a shard, expected {counted.inputs}"
            raise ClusterError(message)
        self.shards += 1
        self.inputs += counted.inputs
        self.scores += counted.scores
        self.rejects += counted.rejects


@dataclass(slots=True)
class Stream:
    """A run that scores the shards `files` and writes their tables into the directory `out`."""

    files: Sequence[TextFile]
    recipe: Recipe
    out: Path
    pool: WorkerPool
    batch_tokens: int | None = None
    say: Callable[[str], None] = lambda text: None
    summary: ScoringSummary = field(default_factory=ScoringSummary)
    _began: float = field(default_factory=time.monotonic)
    _due: float = field(default_factory=lambda: time.monotonic() + FIRST)
    _bytes: int = 0
    _scored: int = 0
    """Number of texts scored in this run; `_read` is the size of their files in bytes."""
    _read: int = 0

    def run(self, *, resume: bool) -> ScoringSummary:
        """Score the unfinished shards; return the counts of all shards.

        If `resume` is true, an earlier run in the directory is continued, and its finished shards are skipped. Raises
        StudyError if the directory cannot be used for this run, DataError if a file or text cannot be read, and
        ClusterError if the cluster fails; the tables of finished shards are kept.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        with holding(self.out):
            done = self._begin(resume=resume)
            self._write("running")
            self.pool.tick = self._tell
            flying = 0
            for job in self._jobs(done):
                if job is not None:
                    self.pool.submit(job)
                    flying += 1
                while flying and (job is None or flying >= DEEP * self.pool.size):
                    flying -= self._collect()
            self._write("finished")
        return self.summary

    def _begin(self, *, resume: bool) -> dict[str, set[str]]:
        """Return the content hashes of the shards that have finished tables, by shard name.

        Raises StudyError if the directory cannot be used for this run.
        """
        path = self.out / FILE
        if occupied(path) and not resume:
            hint = "continue with --resume, or give another directory"
            raise StudyError("already contains scores", where=str(self.out), hint=hint)
        if not occupied(path):
            if any(self.out.iterdir()):
                raise StudyError("is not an empty directory", where=str(self.out), hint="give another directory")
            return {}
        try:
            before = json.loads(read_text(path))["recipe"]
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError("is not a record of scores", where=str(path), hint="give another directory") from error
        for key, value in asdict(self.recipe).items():
            if before.get(key) != value:
                change = f"{key} was {before.get(key)} and is now {value}"
                message = f"contains scores with different settings ({change})"
                raise StudyError(message, where=str(self.out), hint="give another directory")
        done: dict[str, set[str]] = {}
        for file in self.out.iterdir():
            if (match := _TABLE.fullmatch(file.name)) and not match["name"].endswith(".rejects"):
                done.setdefault(match["name"], set()).add(match["hash"])
        return done

    def _jobs(self, done: dict[str, set[str]]) -> Iterator[Job | None]:
        """Yield one job per shard, under a unique shard name that is valid as a file name; then yield None.

        `done` maps shard names to the content hashes of finished tables.
        """
        taken: list[str] = []
        for file in self.files:
            name = distinct(file.name, taken)
            taken.append(name)
            shard = Shard(
                file,
                self.recipe.column,
                self.recipe.method,
                self.recipe.normalise,
                self.recipe.on_error == "reject",
                frozenset(done.get(name, ())),
            )
            yield Job("shard", (shard, self.batch_tokens), (name, shard), lambda _, file=file: file.place)  # type: ignore[misc]
        yield None

    def _collect(self) -> int:
        """Wait until a shard is scored and write its tables; return 1, or 0 if that shard must be scored again."""
        job, (counted, scores, rejects) = self.pool.collect()
        name, shard = job.what
        table = self.out / f"{name}-{counted.sha256}.parquet"
        if scores:
            try:
                if rejects:
                    _receive(rejects, table.with_suffix(".rejects.parquet"))
                _receive(scores, table)
            except imported().exceptions.RayError:  # the worker died during the transfer
                self.pool.again(job)
                return 0
            for old in shard.done:  # tables of earlier contents of this shard
                for ending in (".parquet", ".rejects.parquet"):
                    (self.out / f"{name}-{old}{ending}").unlink(missing_ok=True)
        else:
            counted = _counted(table)
            self.summary.before += 1
        self.summary.add(counted)
        self._bytes += shard.file.size
        if scores:
            self._scored += counted.inputs
            self._read += shard.file.size
        return 1

    def _tell(self) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + NEXT
        seconds, total = now - self._began, sum(file.size for file in self.files)
        left = timedelta(seconds=round(seconds * (total - self._bytes) / self._read)) if self._read else None
        self.say(
            f"{of_all(self.summary.shards, len(self.files), 'shards')}, {counted(self.summary.inputs, 'sentences')}, "
            f"{self._scored / seconds:,.0f}/s, {of_all(self.pool.alive, self.pool.size, 'workers')}"
            + (f", {left} left" if left is not None else "")
        )

    def _write(self, status: str) -> None:
        losses = asdict(self.pool.losses)
        record: dict[str, Any] = {"format": 1, "status": status, "recipe": asdict(self.recipe)}
        record |= {"shards": [file.name for file in self.files], "summary": asdict(self.summary), "losses": losses}
        write_json(record, self.out / FILE)


def _receive(parts: Sequence[Any], path: Path) -> None:
    ray = imported()
    with replacing(path) as stream:
        for part in parts:
            stream.write(ray.get(part))


def _counted(table: Path) -> ShardCounts:
    """Return the counts recorded in a finished table. Raises DataError if it is not a table of scores."""
    with suppress(OSError, pl.exceptions.PolarsError, KeyError, ValueError):
        says = json.loads(pl.read_parquet_metadata(table)[METADATA])
        inputs, rejects = int(says["inputs"]), int(says["rejects"])
        return ShardCounts(says["sha256"], inputs, inputs - rejects, rejects)
    raise DataError("is not a table of scores", where=str(table), hint="delete it, and run again with --resume")


def refuse_tables(files: Sequence[TextFile]) -> None:
    """Raise DataError if a file is a table in a format whose lines are not sentences, such as CSV or Excel."""
    for file in files:
        if plain_ending(file.name) in _TABLES:
            raise DataError("is not text, JSON lines or Parquet", where=file.place, hint="convert it to Parquet")


def check_on_error(how: str) -> str:
    """Return `how` if it is a known value of --on-error: "stop" or "reject". Raises MethodError if it is not."""
    if how not in ("stop", "reject"):
        raise MethodError(f"unknown value '{how}' for --on-error", hint="use stop or reject")
    return how
