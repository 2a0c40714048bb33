"""Search of whole files, for example on other machines, with results merged in file order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.corpus.block_reader import Reader
from penchant.corpus.block_search import ROWS, BlockTask, Extraction, Finder, Tally
from penchant.corpus.lines_and_sentences import refuse_unreadable
from penchant.corpus.priority_sampling import Smallest
from penchant.corpus.text_files import TextFile
from penchant.gc_control import uncollected


@dataclass(frozen=True, slots=True)
class FileTask:
    """File to search, skipping its first `after` blocks.

    `size` is the sample size for each word and segment, and `highest` has the highest sampling priority still accepted
    for each.
    """

    number: int
    file: TextFile
    after: int
    size: int
    highest: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class FileFound:
    """Occurrences in a file that may enter a sample, counts of all occurrences, and the hash of the stored file."""

    number: int
    rows: pl.DataFrame
    tally: Tally
    sha256: str


ByFile: TypeAlias = Callable[[Extraction, Iterator[FileTask]], Iterator[FileFound]]
"""Function that searches files and yields the results in the order of the files."""


@uncollected()
def found_in(search: Extraction, task: FileTask) -> FileFound:
    """Search a file; return occurrences and counts (see `FileFound`). Raises DataError if the file cannot be read."""
    find, tally, rows = Finder(search), Tally(), [pl.DataFrame(schema=ROWS)]
    samples = Smallest(len(task.highest), task.size)
    samples.highest = task.highest.copy()
    reader = Reader(task.file, task.number, layout=search.layout, field=search.field)
    for block in reader.blocks(task.after):
        result = find(BlockTask(block, task.file, samples.highest.copy()))
        part = result.tally
        refuse_unreadable(block.first, result.bad, part.skipped, part.records, task.file, search.field)
        tally.add(part)
        rows.append(samples.entering(result.rows))
    found = pl.concat(rows)
    highest = samples.highest[found["cell"].to_numpy()]
    return FileFound(task.number, found.filter(found["priority"].to_numpy() <= highest), tally, reader.sha256)
