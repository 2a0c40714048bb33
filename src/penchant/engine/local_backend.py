"""Backends that run batches: the `Backend` protocol, and an implementation that runs a model in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from penchant.engine.batch_plan import Batch, halves
from penchant.engine.forward_requests import EXPECTED, TOP, WORD_ENDS, WORD_GOES_ON
from penchant.errors import ModelError, first_line

if TYPE_CHECKING:
    from torch import Tensor

    from penchant.models.load import LanguageModel
    from penchant.models.verified_properties import Batching


_CACHED = 1 << 18
"""Number of logits that are normalised at once on a CPU: 1 MiB of float32, which fits in its cache."""


class TooLargeError(ModelError):
    """Error for one row of a batch that does not fit in memory; `row` is its index, `reason` the device's message."""

    def __init__(self, row: int, reason: str) -> None:
        hint = "use a device with more memory, a smaller --dtype, or shorter texts"
        super().__init__(f"a single text does not fit into the device's memory: {reason}", hint=hint)
        self.row, self.reason = row, reason

    def __reduce__(self) -> tuple[type[TooLargeError], tuple[int, str]]:
        return TooLargeError, (self.row, self.reason)


class Backend(Protocol):
    """Protocol of backends, which run batches and return their answers in any order.

    `packs` is the maximum length of an input in a prefix tree (0: no trees), `batching` says which inputs may share a
    batch, `budget` is the preferred number of tokens in a batch, and `slots` is the maximum number of batches that are
    submitted but not yet collected.
    """

    packs: int
    batching: Batching
    budget: int
    slots: int

    def submit(self, batch: Batch) -> None:
        """Submit a batch to be run."""
        ...

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Wait for a submitted batch to finish; return it with its values, in the order of its requests."""
        ...


class InTurn(ABC):
    """Base class for backends that run one batch at a time, when its answers are collected."""

    slots = 1
    batching: Batching = "padded"
    _next: Batch

    def submit(self, batch: Batch) -> None:
        """Submit a batch; the previous batch must have been collected."""
        self._next = batch

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Run the submitted batch; return it with its answers."""
        return self._next, self.run(self._next)

    @abstractmethod
    def run(self, batch: Batch) -> NDArray[np.generic]:
        """Return the batch's values in the order of its requests, on the last axis for attention, else on the first."""


class LocalBackend(InTurn):
    """A backend that runs a model in this process.

    On a GPU, batches are run in a separate thread, and a second batch may be submitted in the meantime, so that the
    next batch is planned and the last answers are processed while the GPU computes. On a CPU, batches are run one at a
    time, since matrix products use all cores. Raises StudyError if the model's files have changed since loading.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.network = network = model.network
        self.tokenizer = model.tokenizer
        self._files = model.files
        self.packs = network.packs
        self.batching = network.batching
        on_cpu = network.device.type == "cpu"
        # A CPU is slower with batches beyond 1,024 tokens; a GPU needs far larger ones.
        self.budget = 512 if on_cpu else 16_384
        self.slots = 1 if on_cpu else 2
        self._taken: deque[tuple[Batch, Future[NDArray[np.generic]]]] = deque()

    def submit(self, batch: Batch) -> None:
        """Submit a batch; on a GPU, it is started as soon as the previous batch is finished."""
        if self.slots == 1:
            super().submit(batch)
        else:
            self._taken.append((batch, _in_order().submit(self.run, batch)))

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Return the batch that was submitted first and its answers; if that batch fails, cancel all later ones.

        No batch is running when the error is raised, so that the model can be used at once.
        """
        if self.slots == 1:
            return super().collect()
        batch, running = self._taken.popleft()
        try:
            return batch, running.result()
        except BaseException:
            wait([running] + [behind for _, behind in self._taken if not behind.cancel()])
            self._taken.clear()
            raise

    def run(self, batch: Batch) -> NDArray[np.generic]:
        """Return the batch's answers as arrays; log-probabilities are float32 regardless of the model's number format.

        A batch that does not fit in memory is run in parts. Raises TooLargeError if a single row does not fit, and
        StudyError if the model's files have changed.
        """
        answers = self._in_parts(batch, 0)
        if self._files is not None:
            self._files.require_same()
        return answers

    def _in_parts(self, batch: Batch, above: int) -> NDArray[np.generic]:
        """Return a batch's answers, halving it until it fits in memory; `above` is its first row in the whole batch."""
        try:
            return self._answers(batch)
        except (MemoryError, RuntimeError) as error:
            if not _of_memory(error):
                raise
            if len(batch.tokens) == 1:
                raise TooLargeError(above, first_line(error)) from None
        if self.network.device.type == "cuda":
            import torch

            torch.cuda.empty_cache()
        first, second = halves(batch)
        answers = [self._in_parts(first, above), self._in_parts(second, above + len(first.tokens))]
        return np.concatenate(answers, axis=-1 if batch.kind[0] == "attention" else 0)

    def _answers(self, batch: Batch) -> NDArray[np.generic]:
        match batch.kind:
            case "logprob", _:
                return self._logprobs(batch)
            case "attention", _:
                return self._attention(batch)
            case "topk", int(k):
                return self._topk(batch, k)
            case "vectors", tuple(layers):
                vectors = self.network.vectors(batch.tokens, batch.lengths, batch.rows, batch.cols, layers)
                return vectors[batch.outputs]
        raise NotImplementedError(batch.kind)

    def _logprobs(self, batch: Batch) -> NDArray[np.float32]:
        values = np.empty(len(batch.targets), dtype=np.float32)
        for block, logits in self.network.logits(batch.tokens, batch.lengths, batch.trees, batch.rows, batch.cols):
            wants = slice(*np.searchsorted(batch.outputs, (block.start, block.stop)))
            rows, targets = batch.outputs[wants] - block.start, batch.targets[wants]
            values[wants] = _chosen(logits, rows, np.maximum(targets, 0))
            for target in (EXPECTED, WORD_ENDS, WORD_GOES_ON):
                if (chosen := targets == target).any():
                    values[wants][chosen] = self._of_many(logits[rows[chosen]], target)
            del logits  # frees its memory before the next block is computed
        return values

    def _of_many(self, logits: Tensor, target: int) -> NDArray[np.float32]:
        """Return, for each row of logits (r, V), the log-probability of the set of tokens that `target` stands for.

        If `target` is `EXPECTED`, return the expected log-probability instead.
        """
        import torch

        if target == EXPECTED:
            values = -torch.special.entr(logits.softmax(-1)).sum(-1)
        else:
            chosen = self.tokenizer.words_end if target == WORD_ENDS else self.tokenizer.words_go_on
            values = logits[:, torch.from_numpy(chosen)].logsumexp(-1) - logits.logsumexp(-1)
        result: NDArray[np.float32] = values.cpu().numpy()
        return result

    def _attention(self, batch: Batch) -> NDArray[np.float32]:
        logits, received = self.network.logits_and_attention(batch.tokens, batch.lengths, batch.rows, batch.cols)
        return np.stack([_chosen(logits, batch.outputs, batch.targets), received[batch.outputs]])

    def _topk(self, batch: Batch, k: int) -> NDArray[np.void]:
        k = min(k, self.network.vocabulary)
        values = np.empty((len(batch.rows), k), dtype=TOP)
        for block, logits in self.network.logits(batch.tokens, batch.lengths, batch.trees, batch.rows, batch.cols):
            best = logits.topk(k)
            values["token"][block] = best.indices.cpu().numpy()
            values["logprob"][block] = (best.values - logits.logsumexp(-1, keepdim=True)).cpu().numpy()
            del logits
        return values[batch.outputs]


@cache
def _in_order() -> ThreadPoolExecutor:
    """Return the single-thread executor that runs the batches of all models, so that no two batches run at once."""
    return ThreadPoolExecutor(1, "penchant-batches")


def _chosen(logits: Tensor, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return log softmax(logits)[rows, tokens] for non-decreasing `rows`.

    On a CPU, only as many rows are normalised at once as fit in its cache.
    """
    import torch

    step = max(1, _CACHED // logits.shape[1]) if logits.device.type == "cpu" else len(logits)
    values = np.empty(len(rows), np.float32)
    for start in range(0, len(logits), step):
        wants = slice(*np.searchsorted(rows, (start, start + step)))
        at = torch.from_numpy(np.stack((rows[wants] - start, tokens[wants]))).to(logits.device)
        values[wants] = logits[start : start + step].log_softmax(-1)[at[0], at[1]].cpu().numpy()
    return values


def _of_memory(error: Exception) -> bool:
    """Return whether an error means that memory is exhausted; on a CPU, torch raises a plain RuntimeError."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "not enough memory" in str(error) or "out of memory" in str(error).lower()
