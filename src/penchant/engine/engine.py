"""The engine: answers a stream of reads, in order, and runs each distinct input of a window at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from penchant.engine.backends import Backend
from penchant.engine.cache import Cache
from penchant.engine.plan import Batch, Input, Merged, length_batches, merge, tree_batches
from penchant.engine.reads import Read, Vectors

WINDOW = 1 << 18
"""Tokens planned at once. Inputs are merged and sorted within a window; across windows only the cache avoids repeated
runs. It bounds memory, whatever the size of the study."""

VECTOR = 4
"""Tokens that one vector counts for in a window: answers are kept until the window is done, and 65,536 vectors of
1,024 numbers take 256 MiB."""

TREE_ROW = 128
"""Nodes in one tree. Longer rows share no more prefixes (siblings are adjacent) and waste attention across branches."""


@dataclass(slots=True)
class Counts:
    """What was asked and what it took.

    Instruments asked for `reads`, which came down to `inputs`. Of these, `cached` were answered from the cache and
    `forward` were run, in `batches` passes over `tokens` positions, padding included.
    """

    reads: int = 0
    inputs: int = 0
    cached: int = 0
    forward: int = 0
    batches: int = 0
    tokens: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Engine:
    """Answers reads with one backend.

    `budget` is the number of tokens in a batch, padding included (default: the backend's own); it affects speed and
    memory, never an answer. `progress` is called after each batch with the number of items (or fractions of items)
    that it finished.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        cache: Cache | None = None,
        budget: int | None = None,
        progress: Callable[[float], None] | None = None,
        window: int = WINDOW,
    ) -> None:
        self.backend = backend
        self.cache = cache
        self.budget = budget or backend.budget
        self.progress = progress or (lambda _: None)
        self.window = window
        self.counts = Counts()

    def answer(self, reads: Iterable[Read]) -> Iterator[NDArray[np.generic]]:
        """Yield the answer to every read, in order. Reads are consumed a window at a time."""
        stream = iter(reads)
        while answered := self._next_window(stream):
            yield from answered.restore()
            del answered  # so that no two windows are ever in memory

    def _next_window(self, stream: Iterator[Read]) -> Merged | None:
        """Consume and answer one window of reads; None when there are no more."""
        merged = merge(self._window(stream))
        if not merged.owner:
            return None
        self.counts.reads += len(merged.owner)
        self.counts.inputs += len(merged.inputs)
        missing = self.cache.fill(merged.inputs) if self.cache else merged.inputs
        self.counts.cached += len(merged.inputs) - len(missing)
        if len(missing) < len(merged.inputs):
            self.progress(sum(source.weight for source in merged.inputs if source.answer is not None))
        for batch in self._batches(missing):
            self._run(batch)
        return merged

    def _window(self, stream: Iterator[Read]) -> Iterator[Read]:
        tokens = 0
        while tokens < self.window and (part := list(islice(stream, 64))):
            tokens += sum(map(_room, part))
            yield from part

    def _batches(self, inputs: list[Input]) -> Iterator[Batch]:
        packs = self.backend.packs
        in_trees = [s for s in inputs if len(s.ids) <= packs and s.kind[0] in ("logprob", "topk")]
        alone = [s for s in inputs if not (len(s.ids) <= packs and s.kind[0] in ("logprob", "topk"))]
        yield from tree_batches(in_trees, self.budget, min(TREE_ROW, self.budget))
        yield from length_batches(alone, self.budget)

    def _run(self, batch: Batch) -> None:
        batch.deliver(self.backend.run(batch))
        if self.cache and batch.kind[0] != "vectors":
            self.cache.store(batch.inputs)
        self.counts.forward += len(batch.inputs)
        self.counts.batches += 1
        self.counts.tokens += batch.tokens.size
        self.progress(sum(source.weight for source in batch.inputs))


def _room(read: Read) -> int:
    """How many tokens of the window a read uses up."""
    vectors = len(read.at) * len(read.layers) if isinstance(read, Vectors) else 0
    return max(len(read.ids), VECTOR * vectors)
