"""Engine that answers a stream of requests in order, with duplicate inputs merged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant.engine.answer_cache import Cache
from penchant.engine.batch_plan import Batch, Input, MergedReads, length_batches, merge, tree_batches
from penchant.engine.forward_requests import Read, VectorRead, impossible
from penchant.engine.local_backend import Backend
from penchant.errors import ModelError

WINDOW = 1 << 18
"""Number of tokens planned at once, which limits memory use regardless of the size of the study.

Inputs are merged and sorted within a planning window; across windows, only the answer cache avoids repeated runs.
"""

BATCHES = 64
"""Target number of batches per window, which is at most 4 × `WINDOW` tokens long; more batches need less padding."""

VECTOR = 4
"""Number of tokens that require as much memory as one vector, for planning windows of `WINDOW` tokens.

This number grows in proportion to the length of the window. Answers are kept in memory until the window is finished.
"""

TREE_ROW = 128
"""Maximum number of nodes in one tree; larger trees share few more prefixes and waste attention across branches."""


@dataclass(slots=True)
class EngineCounts:
    """Counts of the requests answered by an engine and of the work done to answer them.

    `reads` is the number of requests and `inputs` the number of distinct inputs among them. Of these inputs, `cached`
    were answered from the cache and `forward` were run, in `batches` forward passes over `tokens` positions, including
    padding. `damaged` is the number of cached answers that failed a check and were computed again.
    """

    reads: int = 0
    inputs: int = 0
    cached: int = 0
    forward: int = 0
    batches: int = 0
    tokens: int = 0
    damaged: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts as a dict, by field name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Engine:
    """Planner that answers requests with one backend.

    `budget` is the number of tokens in a batch, including padding (default: the backend's own); it affects speed and
    memory use only. `progress` is called after each batch with the number of items (possibly fractional) finished in
    it. `window` is the number of tokens planned at once (default: suited to the size of batches). `name` and `spell`,
    which converts token ids to text, are used in the error message for invalid answers.
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
        self.counts = EngineCounts()
        self._flying: dict[int, _Window] = {}

    def answer(self, reads: Iterable[Read]) -> Iterator[NDArray[np.generic]]:
        """Yield the answers in the order of the requests, planning one window of requests at a time.

        If the backend accepts several batches at once, batches of the next window are submitted while the last batches
        of the current window are still running.
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
        if windows and windows[-1].following:
            return windows[-1]
        if len(windows) < most and (window := self._planned(stream)):
            windows.append(window)
            return window if window.following else None
        return None

    def _planned(self, stream: Iterator[Read]) -> _Window | None:
        """Return the next window of requests, answered from the cache where possible; None at the end of the stream."""
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
        vectors = len(read.at) * len(read.layers) if isinstance(read, VectorRead) else 0
        return max(len(read.ids), VECTOR * max(1, self.window // WINDOW) * vectors)

    def _batches(self, inputs: list[Input]) -> Iterator[Batch]:
        packs = self.backend.packs
        in_trees = [s for s in inputs if len(s.ids) <= packs and s.kind[0] in ("logprob", "topk")]
        alone = [s for s in inputs if not (len(s.ids) <= packs and s.kind[0] in ("logprob", "topk"))]
        yield from tree_batches(in_trees, self.budget, min(TREE_ROW, self.budget))
        yield from length_batches(alone, self.budget, self.backend.batching)

    def _submit(self, window: _Window) -> None:
        batch = window.next()
        self._flying[id(batch)] = window
        self.backend.submit(batch)

    def _collect(self) -> None:
        """Wait for a batch to finish; set its inputs' answers and cache them. Raises ModelError if one is invalid."""
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
        kind = batch.kind[0]
        name = {"vectors": "a vector", "attention": "attention or a log-probability"}.get(kind, "a log-probability")
        answer = values[:, want] if kind == "attention" else values["logprob"][want] if kind == "topk" else values[want]
        shown = np.ravel(np.asarray(answer, np.float64))
        strange = [*shown[~np.isfinite(shown)], shown.max()][0]
        text = self.spell(batch.inputs[batch.want_input[want]].ids)
        return ModelError(
            f"returned {strange:g} for {name} in '{text}'",
            where=self.name,
            hint="check the model's weights and configuration, or use a number format with a larger range",
        )


class _Window:
    """A planning window: merged requests, the batches to submit and the number of running batches."""

    def __init__(self, merged: MergedReads, batches: Iterator[Batch]) -> None:
        self.merged = merged
        self._batches = batches
        self.following = next(batches, None)
        self.flying = 0

    @property
    def done(self) -> bool:
        return self.following is None and not self.flying

    def next(self) -> Batch:
        batch = self.following
        assert batch is not None
        self.following = next(self._batches, None)
        self.flying += 1
        return batch
