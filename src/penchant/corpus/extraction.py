"""Extraction of sentences that contain given words from a corpus of any size, by random sampling."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from penchant._version import __version__
from penchant.corpus.block_processing import Progress
from penchant.corpus.block_reader import Reader
from penchant.corpus.block_search import ROWS, BlockTask, Extraction, Finder, Tally
from penchant.corpus.distributed_search import ByFile, FileTask
from penchant.corpus.lines_and_sentences import refuse_unreadable
from penchant.corpus.near_duplicates import drawn
from penchant.corpus.occurrence_columns import KEY, SCHEMA
from penchant.corpus.occurrence_lookup import read_record
from penchant.corpus.priority_sampling import Smallest
from penchant.corpus.process_pool import in_order
from penchant.corpus.text_files import TextFile
from penchant.errors import DataError, MethodError, OutputError
from penchant.files import refuse_inputs, refuse_other, replacing, write_parquet, write_text
from penchant.gc_control import uncollected
from penchant.text_io import read_text

EVERY = 1 << 25
"""Number of bytes of text to read between checkpoints."""
_SPARE = 2
"""Oversampling factor, so that enough occurrences remain after near duplicates are dropped."""
_FEWEST = 64
"""Minimum sample size, required to estimate the number of distinct occurrences."""
_ROWS = 1 << 15
"""Number of sample rows kept in memory at once."""
_GROUP = 1 << 12
"""Number of rows in a Parquet row group of a checkpoint file."""


@uncollected()
def extract(
    search: Extraction,
    files: Sequence[TextFile],
    out: str | Path,
    *,
    workers: int = 1,
    by_file: ByFile | None = None,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """Search text files, write a table of sampled occurrences to `out`, and return the metadata stored in it.

    The columns are described in `occurrence_columns.SCHEMA`. Rows are sorted by word, segment and random priority, so
    the first n rows of a word and segment are themselves a random sample. The table does not depend on interruptions,
    on the number of workers, or on `by_file`, which may search whole files on other machines. If DataError, MethodError
    or OutputError is raised, finished work is kept in a folder beside `out`, and a call with `resume=True` continues
    from there.
    """
    sample_size = round(search.per_word * _SPARE) if search.duplicates == "near" else search.per_word
    samples = Smallest(len(search.forms) * len(search.bins), max(sample_size, _FEWEST))
    target = _checked_target(out, files)
    store = _Store(target.with_name(f".{target.name}.partial"), _identity(search, files), resume=resume)
    state = store.restore(samples)
    reading = _Reading(search, files, samples, store, state, list(state.hashes), progress)
    if by_file is None:
        reading.blocks(workers)
    else:
        reading.whole_files(by_file)
    record = reading.finish(target)
    store.remove()
    return record


def _checked_target(out: str | Path, files: Sequence[TextFile]) -> Path:
    target = Path(out)
    if target.suffix.lower() != ".parquet":
        raise MethodError(
            "is not the name of a Parquet file", where=str(target), hint="give a file name that ends in .parquet"
        )
    refuse_inputs(target, [file.place for file in files if "://" not in file.place])
    refuse_other(target, "a table of penchant corpus extract", _is_table)
    return target


def _is_table(path: Path) -> bool:
    try:
        return bool(read_record(path))
    except DataError:
        return False


@dataclass
class _Reading:
    """Extraction in progress, with the rows found since the last checkpoint."""

    search: Extraction
    files: Sequence[TextFile]
    samples: Smallest
    store: _Store
    current: _State
    hashes: list[str]
    progress: Progress
    rows: list[pl.DataFrame] = field(default_factory=list)
    unsaved: int = 0

    def __post_init__(self) -> None:
        self.total = float(sum(file.size for file in self.files))
        self.progress(float(sum(file.size for file in self.files[: self.current.file])), self.total)

    def blocks(self, workers: int) -> None:
        position = (self.current.file, 0)
        for result in in_order(Finder(self.search), self._blocks(self.current), workers):
            number, tally = result.block.file, result.tally
            file = self.files[number]
            refuse_unreadable(result.block.first, result.bad, tally.skipped, tally.records, file, self.search.field)
            blocks = 1 + (self.current.blocks if number == self.current.file else 0)
            self._add(result.rows, tally, replace(self.current, file=number, blocks=blocks), result.size)
            at = result.block.at
            self.progress(float(at - (position[1] if position[0] == number else 0)), self.total)
            position = (number, at)
        self._save(replace(self.current, file=len(self.files), blocks=0))

    def _blocks(self, state: _State) -> Iterator[BlockTask]:
        """Yield the remaining blocks, and record the hash of each file after its last block."""
        for number in range(state.file, len(self.files)):
            reader = Reader(self.files[number], number, layout=self.search.layout, field=self.search.field)
            for block in reader.blocks(state.blocks if number == state.file else 0):
                yield BlockTask(block, self.files[number], self.samples.highest.copy())
            self.hashes.append(reader.sha256)

    def whole_files(self, by_file: ByFile) -> None:
        for found in by_file(self.search, self._files(self.current)):
            number, size = found.number, self.files[found.number].size
            self.hashes.append(found.sha256)
            self._add(found.rows, found.tally, replace(self.current, file=number + 1, blocks=0), size)
            self.progress(float(size), self.total)
        self._save(replace(self.current, file=len(self.files), blocks=0))

    def _files(self, state: _State) -> Iterator[FileTask]:
        for number in range(state.file, len(self.files)):
            after = state.blocks if number == state.file else 0
            yield FileTask(number, self.files[number], after, self.samples.k, self.samples.highest.copy())

    def _add(self, found: pl.DataFrame, tally: Tally, state: _State, size: int) -> None:
        """Add the occurrences found in `size` bytes of text, and write a checkpoint if one is due."""
        self.current = state
        self.current.tally.add(tally)
        self.rows.append(self.samples.entering(found))
        self.unsaved += size
        if self.unsaved >= EVERY:
            self._save(self.current)

    def _save(self, state: _State) -> None:
        self.store.write(self.rows, replace(state, hashes=tuple(self.hashes[: state.file])))
        self.rows, self.unsaved = [], 0

    def finish(self, target: Path) -> dict[str, Any]:
        """Draw the samples, write the table, and return its metadata."""
        search, bins = self.search, len(self.search.bins)
        cells = range(len(search.forms) * bins)
        kept, near = np.zeros((2, len(cells)), np.int64)
        written: list[Path] = []
        for group in _groups([len(self.samples.sample(cell)) for cell in cells], bins):
            rows = self.store.rows(self.samples, group, bins)
            written.append(self.store.folder / f"sample-{len(written):06}.parquet")
            table = rows.filter(drawn(rows, search, kept, near)).sort("cell", "priority").select(*SCHEMA)
            write_parquet(table, written[-1], compression="uncompressed")
        record = {
            "version": __version__,
            "recipe": search.recipe(),
            "texts": [file.record(sha256) for file, sha256 in zip(self.files, self.hashes, strict=True)],
            "tally": self.current.tally.to_json(),
            "cells": self._cells(kept.tolist(), near.tolist()),
        }
        whole = pl.scan_parquet(written, glob=False) if written else pl.LazyFrame(schema=dict(SCHEMA))
        with replacing(target) as stream:
            metadata = {KEY: json.dumps(record, ensure_ascii=False)}
            whole.sink_parquet(stream, metadata=metadata, engine="streaming", row_group_size=1 << 14)
        return record

    def _cells(self, kept: Sequence[int], near: Sequence[int]) -> list[dict[str, Any]]:
        occurrences: Counter[tuple[str, str]] = Counter()
        for (word, _, segment), n in self.current.tally.forms.items():
            occurrences[word, segment] += n
        names = product(self.search.forms, [segment.name for segment in self.search.bins])
        return [
            {
                "word": word,
                "segment": segment,
                "occurrences": occurrences[word, segment],
                "kept": kept[cell],
                "near": near[cell],
                **dict(zip(("distinct", "exact"), self.samples.distinct(cell), strict=True)),
            }
            for cell, (word, segment) in enumerate(names)
        ]


def _identity(settings: Extraction, files: Sequence[TextFile]) -> dict[str, Any]:
    """Return the values that must be equal for an interrupted extraction to be resumed."""
    return {"version": __version__, "recipe": settings.recipe(), "texts": [[file.name, file.size] for file in files]}


# Saved progress ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _State:
    """Reading position (current file, number of its blocks read, hashes of earlier files), and the counts so far."""

    file: int = 0
    blocks: int = 0
    hashes: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)


_OURS = re.compile(r"state\.json|(part|sample)-\d{6,}\.parquet|\.[0-9a-f]{16}\.tmp")
"""Pattern of the names of checkpoint files."""


class _Store:
    """Checkpoint folder, with the occurrences found so far and the reading position."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self.folder = folder
        self.identity = identity
        self.parts: list[Path] = []
        names = _names_in(folder)
        if self._record.name in names and not resume:
            hint = "continue with --resume, or delete the folder to start again"
            raise MethodError("contains the results of an earlier run", where=str(folder), hint=hint)
        if not all(map(_OURS.fullmatch, names)):  # these would be lost when the folder is removed
            raise OutputError(
                "contains files that penchant did not write", where=str(folder), hint="move or rename the folder"
            )

    @property
    def _record(self) -> Path:
        return self.folder / "state.json"

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number:06}.parquet"

    def restore(self, samples: Smallest) -> _State:
        """Return the saved reading position, and add the saved priorities to the samples."""
        if not self._record.exists():
            return _State()
        try:
            saved = json.loads(read_text(self._record))
            self.parts = [self._part(number) for number in range(saved["parts"])]  # any later part is unfinished
            priorities = pl.scan_parquet(self.parts, glob=False).select("cell", "priority").collect()
        except (DataError, OSError, KeyError, ValueError, pl.exceptions.PolarsError) as error:
            raise DataError(
                "cannot be read", where=str(self.folder), hint="delete the folder and start again"
            ) from error
        if json.dumps(saved["identity"]) != json.dumps(self.identity):  # the order of words matters too
            message = "belongs to an extraction from other texts or with other settings"
            raise MethodError(message, where=str(self.folder), hint="delete the folder, or repeat the earlier command")
        for (cell,), of_cell in priorities.group_by("cell"):
            samples.extend(int(str(cell)), of_cell["priority"].to_numpy())
        return _State(saved["file"], saved["blocks"], tuple(saved["hashes"]), Tally.from_json(saved["tally"]))

    def write(self, rows: Sequence[pl.DataFrame], state: _State) -> None:
        """Write the new rows and then the reading position; `restore` ignores rows after the last saved position."""
        self.parts.append(self._part(len(self.parts)))
        frame = pl.concat([pl.DataFrame(schema=ROWS), *rows]).sort("cell", "priority")
        write_parquet(frame, self.parts[-1], row_group_size=_GROUP, compression="uncompressed")
        progress = {"file": state.file, "blocks": state.blocks, "hashes": state.hashes, "tally": state.tally.to_json()}
        write_text(json.dumps({"identity": self.identity, "parts": len(self.parts), **progress}), self._record)

    def rows(self, samples: Smallest, cells: range, bins: int) -> pl.DataFrame:
        largest = [samples.sample(cell)[-1:].tolist() for cell in cells]
        limits = pl.DataFrame(
            {"cell": cells, "last": [priorities[0] if priorities else 0 for priorities in largest]},
            schema={"cell": pl.Int32, "last": pl.UInt64},
        )
        return (
            pl.scan_parquet(self.parts, glob=False)
            .filter(pl.col("cell").is_between(cells.start, cells.stop - 1))  # skips row groups
            .join(limits.lazy(), on="cell")
            .filter(pl.col("priority") <= pl.col("last"))
            .drop("last")
            .collect(engine="streaming")
            .sort(pl.col("cell") // bins, "priority", "cell")
        )

    def remove(self) -> None:
        for name in _names_in(self.folder):
            (self.folder / name).unlink()
        self.folder.rmdir()


def _names_in(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror}", where=str(folder), hint="give another file name"
        ) from error


# The table --------------------------------------------------------------------------------------------------------


def _groups(sizes: Sequence[int], bins: int) -> Iterator[range]:
    start, rows = 0, 0
    for cell in range(0, len(sizes), bins):
        size = sum(sizes[cell : cell + bins])
        if rows and rows + size > _ROWS:
            yield range(start, cell)
            start, rows = cell, 0
        rows += size
    if rows:
        yield range(start, len(sizes))
