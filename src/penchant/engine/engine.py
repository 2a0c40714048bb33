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
from penchant.engine.read_requests import Read, Vectors, impossible
from penchant.errors import ModelError

WINDOW = 1 << 18
"""The number of tokens planned at once, which bounds memory whatever the size of the study.

Inputs are merged and sorted within a window; across windows only the cache avoids repeated runs.
"""

BATCHES = 64
"""The number of batches that fit a window of up to four times `WINDOW`; more batches need less padding."""

VECTOR = 4
"""The number of tokens that one vector counts for in a window of `WINDOW`; in longer windows proportionally more.

Answers are kept until the window is done; 65,536 vectors of 1,024 numbers take 256 MiB.
"""

TREE_ROW = 128
"""The number of nodes in one tree: longer rows share no more prefixes and waste attention across branches."""


@dataclass(slots=True)
class Counts:
    """The number of reads and the work that answering them took.

    `reads` came down to `inputs` distinct ones. Of these, `cached` were answered from the cache and `forward` were run,
    in `batches` passes over `tokens` positions, padding included. `damaged` answers in the cache failed a check and
    were computed again.
    """

    reads: int = 0
    inputs: int = 0
    cached: int = 0
    forward: int = 0
    batches: int = 0
    tokens: int = 0
    damaged: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Engine:
    """Answers reads with one backend.

    `budget` is the number of tokens in a batch, padding included (default: the backend's own); it affects speed and
    memory, never an answer. `progress` is called after each batch with the number of items (or fractions of items) that
    it finished. `window` is the number of tokens planned at once (default: chosen to suit the batches). `name` and
    `spell`, which turns token ids into text, are used in the error for impossible answers.
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
        """Yield the answer to every read, in order, consuming reads one window at a time.

        A backend with several slots gets batches of the next window while it still runs the last of the current one.
        """
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
        """Return the window to submit from, planning one if allowed; None if there is nothing to submit now."""
        if windows and windows[-1].following:
            return windows[-1]
        if len(windows) < most and (window := self._planned(stream)):
            windows.append(window)
            return window if window.following else None
        return None

    def _planned(self, stream: Iterator[Read]) -> _Window | None:
        """Plan a window of reads and answer from the cache where possible; None when there are no more reads."""
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
        """Return the number of tokens of the window that a read uses up."""
        vectors = len(read.at) * len(read.layers) if isinstance(read, Vectors) else 0
        return max(len(read.ids), VECTOR * max(1, self.window // WINDOW) * vectors)

    def _batches(self, inputs: list[Input]) -> Iterator[Batch]:
        packs = self.backend.packs
        in_trees = [s for s in inputs if len(s.ids) <= packs and s.kind[0] in ("logprob", "topk")]
        alone = [s for s in inputs if not (len(s.ids) <= packs and s.kind[0] in ("logprob", "topk"))]
        yield from tree_batches(in_trees, self.budget, min(TREE_ROW, self.budget))
        yield from length_batches(alone, self.budget, self.backend.batching)

    def _submit(self, window: _Window) -> None:
        """Submit the next batch of a window to the backend."""
        batch = window.next()
        self._flying[id(batch)] = window
        self.backend.submit(batch)

    def _collect(self) -> None:
        """Wait for a batch and hand its answers over to its window."""
        if not self._flying:
            raise RuntimeError("the backend stopped after an earlier error")
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
        """Return the error for an answer that is not a number, or not a log-probability."""
        kind = batch.kind[0]
        name = {"vectors": "a vector", "attention": "attention or a log-probability"}.get(kind, "a log-probability")
        answer = values[:, want] if kind == "attention" else values["logprob"][want] if kind == "topk" else values[want]
        shown = np.ravel(np.asarray(answer, np.float64))
        strange = [*shown[~np.isfinite(shown)], shown.max()][0]
        text = self.spell(batch.inputs[batch.want_input[want]].ids)
        return ModelError(
            f"returned {strange:g} for {name} in '{text}'",
            where=self.name,
            hint="its weights or configuration may be damaged, or its number format too small",
        )


class _Window:
    """Reads that are answered together: the batches still to be submitted, and the number running."""

    def __init__(self, merged: Merged, batches: Iterator[Batch]) -> None:
        self.merged = merged
        self._batches = batches
        self.following = next(batches, None)
        self.flying = 0

    @property
    def done(self) -> bool:
        """True if every batch was submitted and collected."""
        return self.following is None and not self.flying

    def next(self) -> Batch:
        """Return the next batch, counting it as submitted."""
        batch = self.following
        assert batch is not None
        self.following = next(self._batches, None)
        self.flying += 1
        return batch
