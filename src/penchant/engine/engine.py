"""The engine: answers a stream of reads, in order, and runs each distinct input of a window at most once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant.engine.answer_cache import Cache
from penchant.engine.backends import Backend
from penchant.engine.batch_plan import Batch, Input, Merged, length_batches, merge, tree_batches
from penchant.engine.reads import Read, Vectors, impossible
from penchant.errors import ModelError

WINDOW = 1 << 18
"""Tokens planned at once. Inputs are merged and sorted within a window; across windows only the cache avoids repeated
runs. It bounds memory, whatever the size of the study."""

BATCHES = 64
"""Batches that a window has tokens for, up to four times as many as `WINDOW`: the fewer it has, the more padding stands
where lengths change."""

VECTOR = 4
"""Tokens that one vector counts for in a window of `WINDOW`, and as many times more in a longer one: answers are kept
until the window is done, and 65,536 vectors of 1,024 numbers take 256 MiB."""

TREE_ROW = 128
"""Nodes in one tree. Longer rows share no more prefixes (siblings are adjacent) and waste attention across branches."""


@dataclass(slots=True)
class Counts:
    """What was asked and what it took.

    Instruments asked for `reads`, which came down to `inputs`. Of these, `cached` were answered from the cache and
    `forward` were run, in `batches` passes over `tokens` positions, padding included. `damaged` answers in the cache
    could not be believed and were computed again.
    """

    reads: int = 0
    inputs: int = 0
    cached: int = 0
    forward: int = 0
    batches: int = 0
    tokens: int = 0
    damaged: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Engine:
    """Answers reads with one backend.

    `budget` is the number of tokens in a batch, padding included (default: the backend's own); it affects speed and
    memory, never an answer. `progress` is called after each batch with the number of items (or fractions of items)
    that it finished. `window` is the number of tokens planned at once (default: what suits the batches). `name` and
    `spell`, which gives the text of token ids, are for the error about an answer that no sound model gives.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        cache: Cache | None = None,
        budget: int | None = None,
        progress: Callable[[float], None] | None = None,
        window: int | None = None,
        name: str = "model",
        spell: Callable[[Sequence[int]], str] = str,
    ) -> None:
        self.backend = backend
        self.cache = cache
        self.budget = budget or backend.budget
        self.progress = progress or (lambda _: None)
        self.window = window or min(max(WINDOW, BATCHES * self.budget), 4 * WINDOW)
        self.name = name
        self.spell = spell
        self.counts = Counts()
        self._flying: dict[int, _Window] = {}

    def answer(self, reads: Iterable[Read]) -> Iterator[NDArray[np.generic]]:
        """Yield the answer to every read, in order. Reads are consumed a window at a time; a backend that takes several
        batches at once is given those of the next window while it is busy with the last of one."""
        stream = iter(reads)
        windows: deque[_Window] = deque()
        most = 1 if self.backend.slots == 1 else 2
        while self._open(windows, stream, most) or windows:
            while len(self._flying) < self.backend.slots and (window := self._open(windows, stream, most)):
                self._submit(window)
            if windows[0].done:
                yield from windows.popleft().merged.restore()
            else:
                self._collect()

    def _open(self, windows: deque[_Window], stream: Iterator[Read], most: int) -> _Window | None:
        """Return the window to submit from, planning one if allowed; None where nothing is to be submitted now."""
        if windows and windows[-1].following:
            return windows[-1]
        if len(windows) < most and (window := self._planned(stream)):
            windows.append(window)
            return window if window.following else None
        return None

    def _planned(self, stream: Iterator[Read]) -> _Window | None:
        """Consume a window of reads, and answer from the cache what is there; None when there are no more."""
        merged = merge(self._window(stream))
        if not merged.owner:
            return None
        self.counts.reads += len(merged.owner)
        self.counts.inputs += len(merged.inputs)
        missing = self.cache.fill(merged.inputs) if self.cache else merged.inputs
        self.counts.damaged = self.cache.damaged if self.cache else 0
        self.counts.cached += len(merged.inputs) - len(missing)
        if len(missing) < len(merged.inputs):
            self.progress(sum(source.weight for source in merged.inputs if source.answer is not None))
        return _Window(merged, self._batches(missing))

    def _window(self, stream: Iterator[Read]) -> Iterator[Read]:
        tokens = 0
        while tokens < self.window and (part := list(islice(stream, 64))):
            tokens += sum(map(self._room, part))
            yield from part

    def _room(self, read: Read) -> int:
        """Return how many tokens of the window a read uses up."""
        vectors = len(read.at) * len(read.layers) if isinstance(read, Vectors) else 0
        return max(len(read.ids), VECTOR * max(1, self.window // WINDOW) * vectors)

    def _batches(self, inputs: list[Input]) -> Iterator[Batch]:
        packs = self.backend.packs
        in_trees = [s for s in inputs if len(s.ids) <= packs and s.kind[0] in ("logprob", "topk")]
        alone = [s for s in inputs if not (len(s.ids) <= packs and s.kind[0] in ("logprob", "topk"))]
        yield from tree_batches(in_trees, self.budget, min(TREE_ROW, self.budget))
        yield from length_batches(alone, self.budget, self.backend.batching)

    def _submit(self, window: _Window) -> None:
        """Give the backend the next batch of a window."""
        batch = window.next()
        self._flying[id(batch)] = window
        self.backend.submit(batch)

    def _collect(self) -> None:
        """Wait for an answer and hand it over, to whichever window it belongs."""
        if not self._flying:
            raise RuntimeError("the backend gave up before")
        try:
            batch, values = self.backend.collect()
        except BaseException:
            self._flying.clear()
            raise
        window = self._flying.pop(id(batch))
        wrong = impossible(batch.kind, values)
        if wrong.any():
            raise self._unsound(batch, values, int(np.argmax(wrong)))
        batch.deliver(values)
        if self.cache and batch.kind[0] != "vectors":
            self.cache.store(batch.inputs)
        window.flying -= 1
        self.counts.forward += len(batch.inputs)
        self.counts.batches += 1
        self.counts.tokens += batch.tokens.size
        self.progress(sum(source.weight for source in batch.inputs))

    def _unsound(self, batch: Batch, values: NDArray[Any], want: int) -> ModelError:
        """Return the error for an answer that is no number, or no log-probability."""
        kind = batch.kind[0]
        name = {"vectors": "a vector", "attention": "attention or a log-probability"}.get(kind, "a log-probability")
        answer = values[:, want] if kind == "attention" else values["logprob"][want] if kind == "topk" else values[want]
        shown = np.ravel(np.asarray(answer, np.float64))
        strange = [*shown[~np.isfinite(shown)], shown.max()][0]
        text = self.spell(batch.inputs[batch.want_input[want]].ids)
        return ModelError(
            f"answers {strange:g} for {name} in '{text}'",
            where=self.name,
            hint="its weights or its configuration are damaged, or its number format is too small for it",
        )


class _Window:
    """Reads that are answered together: batches still to be submitted, and how many the backend has."""

    def __init__(self, merged: Merged, batches: Iterator[Batch]) -> None:
        self.merged = merged
        self._batches = batches
        self.following = next(batches, None)
        self.flying = 0

    @property
    def done(self) -> bool:
        return self.following is None and not self.flying

    def next(self) -> Batch:
        """Return the following batch, which is to be submitted."""
        batch = self.following
        assert batch is not None
        self.following = next(self._batches, None)
        self.flying += 1
        return batch
