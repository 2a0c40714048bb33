"""A pass over running text: every block of some files, in order, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as of
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from penchant.corpus.block_lines import Units, refuse_unreadable, units
from penchant.corpus.block_reader import Reader
from penchant.corpus.process_pool import in_order
from penchant.corpus.text_files import Block, Layout, TextFile

Found = TypeVar("Found")
Search = Callable[[Units], Found]
"""A function from the lines of a block to its findings."""
Progress = Callable[[float, float], None]
"""A function called with the bytes read since the last call, and the total."""


@dataclass
class Pass:
    """A pass over files, with counts of their records.

    `skipped` of the `records` read so far were unreadable; `hashes` are those of the files, once the pass is over.
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
        """Yield the findings of each block.

        Every process calls `make`, which must be picklable for several workers. Raises DataError for text that cannot
        be read, and MethodError.
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
        """Return name, size and hash of each file that was read."""
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
    """The findings in a block; the block comes without its data, its lines without their text."""

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
