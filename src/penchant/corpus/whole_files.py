"""Occurrences in whole files, each searched on its own, such as on another machine, and merged in their order.

Samples are smallest hashed priorities, so the sample of a corpus is that of its files' samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from penchant.corpus.reading import Reader
from penchant.corpus.sampling import Smallest
from penchant.corpus.search import Extraction, Finder, Row, Tally, Task
from penchant.corpus.text_files import TextFile
from penchant.corpus.units import refuse_unreadable
from penchant.corpus.workers import uncollected


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to be searched, without its first `after` blocks, for samples of `size`; `limits` are, by cell, the lowest
    priorities that can no longer enter the sample of the corpus."""

    number: int
    file: TextFile
    after: int
    size: int
    limits: list[int]


@dataclass(frozen=True, slots=True)
class FileFound:
    """The occurrences in a file that may belong to the sample of the corpus, the counts of all, and the hash of the
    file as it is stored."""

    number: int
    rows: list[Row]
    tally: Tally
    sha256: str


ByFile: TypeAlias = Callable[[Extraction, Iterator[FileTask]], Iterator[FileFound]]
"""Searches files, and gives what it found in their order."""


@uncollected()
def found_in(search: Extraction, task: FileTask) -> FileFound:
    """Search a file. Raises DataError for one that cannot be read."""
    find, tally, rows = Finder(search), Tally(), list[Row]()
    samples = Smallest(len(task.limits), task.size)
    samples.limits = list(task.limits)
    reader = Reader(task.file, task.number, layout=search.layout, field=search.field)
    for block in reader.blocks(task.after):
        result = find(Task(block, task.file, [*samples.limits]))
        part = result.tally
        refuse_unreadable(block.first, result.bad, part.skipped, part.records, task.file, search.field)
        tally.add(part)
        rows += [row for row in result.rows if samples.add(row.cell, row.priority)]
    rows = [row for row in rows if row.priority < samples.limits[row.cell]]
    return FileFound(task.number, rows, tally, reader.sha256)
