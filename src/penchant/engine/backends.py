"""Backends that run batches: the protocol they follow, and one that runs a model in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from penchant.engine.batch_plan import Batch
from penchant.engine.read_requests import EXPECTED, TOP, WORD_ENDS, WORD_GOES_ON

if TYPE_CHECKING:
    from torch import Tensor

    from penchant.models.load import LanguageModel
    from penchant.models.proofs import Batching


_CACHED = 1 << 18
"""Logits that a CPU normalises at once: one mebibyte, which fits its cache."""


class Backend(Protocol):
    """A runner of batches, which returns their answers in any order.

    `packs` is the longest input that it accepts in trees of prefixes (0: none), `batching` the inputs that may share a
    batch, `budget` the preferred number of tokens in a batch, `slots` the number of batches that it may hold at once.
    """

    packs: int
    batching: Batching
    budget: int
    slots: int

    def submit(self, batch: Batch) -> None:
        """Take a batch."""
        ...

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Wait for a batch; return it with one value (or row of values) for each of its wants, in order."""
        ...


class InTurn(ABC):
    """A backend that runs one batch at a time, when its answer is collected."""

    slots = 1
    batching: Batching = "padded"
    _next: Batch

    def submit(self, batch: Batch) -> None:
        """Take a batch, after the previous one was collected."""
        self._next = batch

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Run the submitted batch; return it with its answers."""
        return self._next, self.run(self._next)

    @abstractmethod
    def run(self, batch: Batch) -> NDArray[np.generic]:
        """Return one value (or row of values) for each want of the batch, in order."""


class LocalBackend(InTurn):
    """A backend that runs a model in this process; raises StudyError if the model's files have changed since loading.

    On a GPU a separate thread runs the batches, and a second batch may be submitted meanwhile: the next batch is
    planned and the last answers are handed over while the GPU computes. On a CPU batches run in turn, since matrix
    products use all cores.
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
        """Take a batch; with more than one slot it starts as soon as the previous one has ended."""
        if self.slots == 1:
            super().submit(batch)
        else:
            self._taken.append((batch, _in_order().submit(self.run, batch)))

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Return the batch submitted first, with its answers; if it fails, cancel the batches after it."""
        if self.slots == 1:
            return super().collect()
        batch, running = self._taken.popleft()
        try:
            return batch, running.result()
        except BaseException:
            for _, behind in self._taken:
                behind.cancel()
            self._taken.clear()
            raise

    def run(self, batch: Batch) -> NDArray[np.generic]:
        """Return the answers, on the CPU; log-probabilities are float32, whatever the model's number format."""
        answers = self._answers(batch)
        if self._files is not None:
            self._files.require_same()
        return answers

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
        """Return one value per row of logits (r, V): the log-probability of a set of tokens, or the expected one."""
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
    """Return the single thread that runs batches for all models, so that no two share a network."""
    return ThreadPoolExecutor(1, "penchant-batches")


def _chosen(logits: Tensor, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return log softmax(logits)[rows, tokens] for non-decreasing `rows`, without the full table.

    On a CPU only a few rows are normalised at a time, which fit its cache.
    """
    import torch

    step = max(1, _CACHED // logits.shape[1]) if logits.device.type == "cpu" else len(logits)
    values = np.empty(len(rows), np.float32)
    for start in range(0, len(logits), step):
        wants = slice(*np.searchsorted(rows, (start, start + step)))
        at = torch.from_numpy(np.stack((rows[wants] - start, tokens[wants]))).to(logits.device)
        values[wants] = logits[start : start + step].log_softmax(-1)[at[0], at[1]].cpu().numpy()
    return values
