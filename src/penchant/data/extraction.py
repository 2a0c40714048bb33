"""Sentences that hold given words, from a corpus of any size: found, counted, sampled, written as one table.

The corpus is read once. Of each word (and of each length of sentence, where segments are asked for) a sample is kept
that depends on the seed and on what the corpus says, not on the order of its files or on how the work is shared. What
was found is written down from time to time beside the table, so that a run can be taken up where it stopped.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant import __version__
from penchant.data.finding import Extraction, Finder, Tally, Task
from penchant.data.near_duplicates import NearDuplicates
from penchant.data.occurrences import KEY, SCHEMA
from penchant.data.sampling import Smallest
from penchant.data.text_files import Reader, TextFile, refuse_unreadable
from penchant.data.workers import in_order, uncollected
from penchant.errors import DataError, MethodError, OutputError
from penchant.files import replacing, write_json, write_parquet

EVERY = 1 << 25
"""Bytes of text after which what was found is written down."""
_SPARE = 2
"""How many more occurrences than wanted are held ready, so that nearly equal ones can be left out."""
_FEWEST = 64
"""Occurrences held ready at least, for the number of distinct ones to be estimated."""
_ROWS = 1 << 15
"""Rows of samples held at once."""
_GROUP = 1 << 12
"""Rows of the parts that are read together or passed over."""
_PART: dict[str, Any] = {"cell": pl.Int32, "priority": pl.UInt64, **SCHEMA}

Progress = Callable[[float, float], None]


@uncollected()
def extract(
    wanted: Extraction,
    files: Sequence[TextFile],
    out: str | Path,
    *,
    workers: int = 1,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """Read the files and write the table of occurrences; return the record that stands in its metadata.

    The columns are those of `occurrences.SCHEMA`; rows are ordered by word, segment and priority, so that the first n
    of a word and segment are themselves a sample. Neither the number of workers nor a stop in between changes the
    table. `progress` is called with the bytes read since the last call and those of all files. Raises DataError,
    MethodError and OutputError; what was done by then stands in a folder beside `out`, from which `resume` goes on.
    """
    ready = round(wanted.per_word * _SPARE) if wanted.duplicates == "near" else wanted.per_word
    samples = Smallest(len(wanted.forms) * len(wanted.bins), max(ready, _FEWEST))
    target = Path(out)
    if target.suffix.lower() != ".parquet":
        raise MethodError("is no name for a table in Parquet", where=str(target), hint="end it in .parquet")
    if target.is_dir():
        raise OutputError("is a directory", where=str(target), hint="name a file")
    if any("://" not in file.place and os.path.realpath(file.place) == os.path.realpath(target) for file in files):
        raise DataError("is one of the texts to be read", where=str(target), hint="name another file for the table")
    store = _Store(target.with_name(f".{target.name}.partial"), _identity(wanted, files), resume=resume)
    state = store.restore(samples)
    total = float(sum(file.size for file in files))
    progress(float(sum(file.size for file in files[: state.file])), total)
    hashes = list(state.hashes)

    def tasks() -> Iterator[Task]:
        for number in range(state.file, len(files)):
            reader = Reader(files[number], number, layout=wanted.layout, field=wanted.field)
            for block in reader.blocks(state.blocks if number == state.file else 0):
                yield Task(block, files[number], [*samples.limits])
            hashes.append(reader.sha256)

    rows: list[tuple[Any, ...]] = []
    size, at = 0, (state.file, 0)
    here = replace(state)
    for found in in_order(Finder(wanted), tasks(), workers):
        number = found.block.file
        own = found.tally
        refuse_unreadable(found.block.first, found.bad, own.skipped, own.records, files[number], wanted.field)
        here = replace(here, file=number, blocks=1 + (here.blocks if number == here.file else 0))
        here.tally.add(found.tally)
        rows += [(*row, files[number].name) for row in found.rows if samples.add(row.cell, row.priority)]
        progress(float(found.block.at - (at[1] if at[0] == number else 0)), total)
        at, size = (number, found.block.at), size + found.size
        if size >= EVERY:
            store.write(rows, replace(here, hashes=tuple(hashes[:number])))
            rows, size = [], 0
    store.write(rows, replace(here, file=len(files), blocks=0, hashes=tuple(hashes)))
    record = _finish(wanted, files, hashes, here.tally, samples, store, target)
    store.remove()
    return record


def _identity(wanted: Extraction, files: Sequence[TextFile]) -> dict[str, Any]:
    """What must be the same for a run to be taken up."""
    return {"version": __version__, "recipe": wanted.recipe(), "texts": [[file.name, file.size] for file in files]}


# What a stop leaves -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _State:
    """How far the reading has come: `blocks` of file number `file`; the hashes of the files before."""

    file: int = 0
    blocks: int = 0
    hashes: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)


class _Store:
    """A folder of tables of what was found, and beside them how far the reading had come after the last."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self.folder = folder
        self.identity = identity
        self.parts: list[Path] = []
        if self._record.exists() and not resume:
            hint = "go on with --resume, or delete it to begin anew"
            raise MethodError("holds what an earlier run has found", where=str(folder), hint=hint)

    @property
    def _record(self) -> Path:
        return self.folder / "state.json"

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number:06}.parquet"

    def restore(self, samples: Smallest) -> _State:
        """The state after the last part; the samples take in what was found."""
        if not self._record.exists():
            return _State()
        try:
            told = json.loads(self._record.read_text("utf-8"))
            self.parts = [self._part(number) for number in range(told["parts"])]  # a later one was not finished
            found = pl.scan_parquet(self.parts, glob=False).select("cell", "priority").collect()
        except (OSError, KeyError, ValueError, pl.exceptions.PolarsError) as error:
            raise DataError("cannot be read; delete the folder", where=str(self.folder)) from error
        if json.dumps(told["identity"]) != json.dumps(self.identity):  # the order of words counts, too
            what = "belongs to an extraction of other texts or with other settings"
            raise MethodError(what, where=str(self.folder), hint="delete it, or repeat the earlier command")
        for (cell,), own in found.group_by("cell"):
            samples.extend(int(str(cell)), own["priority"].to_numpy())
        return _State(told["file"], told["blocks"], tuple(told["hashes"]), Tally.from_json(told["tally"]))

    def write(self, rows: Sequence[tuple[Any, ...]], state: _State) -> None:
        """Write what was found since the last part; it counts once the state is written, too."""
        self.parts.append(self._part(len(self.parts)))
        frame = pl.DataFrame(rows, schema=_PART, orient="row").sort("cell", "priority")
        write_parquet(frame, self.parts[-1], row_group_size=_GROUP, compression="lz4")
        told = {"file": state.file, "blocks": state.blocks, "hashes": state.hashes, "tally": state.tally.to_json()}
        write_json({"identity": self.identity, "parts": len(self.parts), **told}, self._record)

    def words(self, samples: Smallest, cells: range, bins: int) -> Iterator[pl.DataFrame]:
        """The rows of the samples of some cells, word by word, in the order of their priorities."""
        last = [samples.sample(cell)[-1:].tolist() for cell in cells]
        limits = pl.DataFrame(
            {"cell": cells, "last": [own[0] if own else 0 for own in last]},
            schema={"cell": pl.Int32, "last": pl.UInt64},
        )
        found = (
            pl.scan_parquet(self.parts, glob=False)
            .filter(pl.col("cell").is_between(cells.start, cells.stop - 1))  # which passes over groups of rows
            .join(limits.lazy(), on="cell")
            .filter(pl.col("priority") <= pl.col("last"))
            .drop("last")
            .collect(engine="streaming")
            .sort(pl.col("cell") // bins, "priority", "cell")
        )
        for _, own in found.group_by(pl.col("cell") // bins, maintain_order=True):
            yield own

    def remove(self) -> None:
        shutil.rmtree(self.folder)


# The table --------------------------------------------------------------------------------------------------------


def _finish(
    wanted: Extraction,
    files: Sequence[TextFile],
    hashes: Sequence[str],
    tally: Tally,
    samples: Smallest,
    store: _Store,
    target: Path,
) -> dict[str, Any]:
    """Draw the samples and write them, some words at a time; return the record."""
    bins = len(wanted.bins)
    cells = range(len(wanted.forms) * bins)
    kept = np.zeros(len(cells), np.int64)
    near = np.zeros(len(cells), np.int64)
    written: list[Path] = []
    for group in _groups([len(samples.sample(cell)) for cell in cells], bins):
        chosen = [_chosen(own, wanted, kept, near) for own in store.words(samples, group, bins)]
        if chosen:
            written.append(store.folder / f"sample-{len(written):06}.parquet")
            drawn = pl.concat(chosen).sort("cell", "priority").select(*SCHEMA)
            write_parquet(drawn, written[-1], compression="lz4")
    occurrences: Counter[tuple[str, str]] = Counter()
    for (word, _, segment), n in tally.forms.items():
        occurrences[word, segment] += n
    per_cell = [
        {
            "word": word,
            "segment": segment,
            "occurrences": occurrences[word, segment],
            "kept": int(kept[cell]),
            "near": int(near[cell]),
            **dict(zip(("distinct", "exact"), samples.distinct(cell), strict=True)),
        }
        for cell, (word, segment) in enumerate(product(wanted.forms, [own.name for own in wanted.bins]))
    ]
    record = {
        "version": __version__,
        "recipe": wanted.recipe(),
        "texts": [file.told(own) for file, own in zip(files, hashes, strict=True)],
        "tally": tally.to_json(),
        "cells": per_cell,
    }
    table = pl.scan_parquet(written, glob=False) if written else pl.LazyFrame(schema=dict(SCHEMA))
    with replacing(target) as stream:
        told = json.dumps(record, ensure_ascii=False)
        table.sink_parquet(stream, metadata={KEY: told}, engine="streaming", row_group_size=1 << 14)
    return record


def _groups(sizes: Sequence[int], bins: int) -> Iterator[range]:
    """Cells of whole words that together have about as many rows as are held at once."""
    start, rows = 0, 0
    for cell in range(0, len(sizes), bins):
        own = sum(sizes[cell : cell + bins])
        if rows and rows + own > _ROWS:
            yield range(start, cell)
            start, rows = cell, 0
        rows += own
    if rows:
        yield range(start, len(sizes))


def _chosen(found: pl.DataFrame, wanted: Extraction, kept: NDArray[np.int64], near: NDArray[np.int64]) -> pl.DataFrame:
    """The sample of one word from its rows, which are in the order of their priorities; `kept` and `near` are counted
    up by cell."""
    seen = NearDuplicates() if wanted.duplicates == "near" else None
    mask = []
    new: dict[str, bool] = {}  # by sentence, in which a word may stand more than once
    for cell, sentence, text in zip(*(found[name].to_list() for name in ("cell", "id", "text")), strict=True):
        room = bool(kept[cell] < wanted.per_word)
        if room and sentence not in new:
            new[sentence] = seen is None or seen.add(text)
        kept[cell] += room and new[sentence]
        near[cell] += room and not new[sentence]
        mask.append(room and new[sentence])
    return found[np.flatnonzero(mask)]
