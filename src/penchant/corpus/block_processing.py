"""Processing of text files block by block, in order, in one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as of
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from penchant.corpus.block_reader import Reader
from penchant.corpus.lines_and_sentences import Units, refuse_unreadable, units
from penchant.corpus.process_pool import in_order
from penchant.corpus.text_files import Block, Layout, TextFile

Found = TypeVar("Found")
Search = Callable[[Units], Found]
"""Function that returns the search result for the lines of a block."""
Progress = Callable[[float, float], None]
"""Function called with the number of bytes read since the last call and the total number of bytes."""


@dataclass
class Pass:
    """One pass over text files.

    `records` and `skipped` are the numbers of records read and of unreadable records so far; `hashes` has the SHA-256
    hash of every file once the pass is complete.
    """

    files: Sequence[TextFile]
    layout: Layout
    field: str
    hashes: list[str] = of(default_factory=list)
    records: int = 0
    skipped: int = 0

    def found(
        self,
        make: Callable[[], Search[Found]],
        *,
        workers: int = 1,
        progress: Progress = lambda done, total: None,
    ) -> Iterator[Found]:
        """Yield the search result of each block.

        Every process calls `make` for its own search function; with several workers, `make` must be picklable. Raises
        DataError if a text cannot be read, and MethodError if a package is missing.
        """
        total = float(sum(file.size for file in self.files))
        number = at = 0
        for part in in_order(_BlockSearch(make, self.layout, self.field), self._tasks(), workers):
            block, lines = part.block, part.lines
            refuse_unreadable(block.first, lines.bad, lines.skipped, lines.records, self.files[block.file], self.field)
            self.records += lines.records
            self.skipped += lines.skipped
            yield part.found
            progress(float(block.at - (at if block.file == number else 0)), total)
            number, at = block.file, block.at

    def texts(self) -> list[dict[str, Any]]:
        """Return the name, size and hash of each file that was read."""
        return [file.record(sha256) for file, sha256 in zip(self.files, self.hashes, strict=True)]

    def _tasks(self) -> Iterator[_Task]:
        for number, file in enumerate(self.files):
            reader = Reader(file, number, layout=self.layout, field=self.field)
            for block in reader.blocks():
                yield _Task(block, file)
            self.hashes.append(reader.sha256)


class _Task(NamedTuple):
    block: Block
    file: TextFile


class _Part(NamedTuple, Generic[Found]):
    block: Block
    lines: Units
    found: Found


class _BlockSearch(Generic[Found]):
    def __init__(self, make: Callable[[], Search[Found]], layout: Layout, field: str) -> None:
        self.make, self.layout, self.field = make, layout, field

    def __reduce__(self) -> tuple[Any, ...]:
        return _BlockSearch, (self.make, self.layout, self.field)

    @cached_property
    def _search(self) -> Search[Found]:
        return self.make()

    def __call__(self, task: _Task) -> _Part[Found]:
        lines = units(task.block, task.file.kind, layout=self.layout, field=self.field)
        found = self._search(lines)
        return _Part(task.block._replace(data=b""), lines._replace(text="", written="", numbers=()), found)
