"""Backend that sends parallel requests to a server, and a function that chooses the backend of a model."""

from __future__ import annotations

from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import Backend, LocalBackend
from penchant.errors import MethodError
from penchant.models.load import LanguageModel
from penchant.models.served import SLOTS
from penchant.models.served_logprobs import Server
from penchant.models.verified_properties import Batching

_Finished: TypeAlias = "SimpleQueue[tuple[Batch, NDArray[np.float32] | BaseException]]"


class ServedBackend:
    """Backend that requests log-probabilities of tokens from a server; each input is a batch with its own thread."""

    packs = 0
    batching: Batching = "single"
    budget = 512
    slots = SLOTS

    def __init__(self, server: Server) -> None:
        self.server = server
        self._finished: _Finished = SimpleQueue()

    def submit(self, batch: Batch) -> None:
        """Submit a batch. Raises MethodError if it asks for anything but log-probabilities of tokens."""
        if batch.kind[0] != "logprob" or (batch.targets < 0).any():
            raise MethodError(
                "a server gives log-probabilities of tokens only, not the entropy, fillers or vectors needed here",
                where=str(self.server.client.address),
                hint="load the model from its files",
            )
        # No pool: Python waits for its threads when the user stops the program.
        Thread(target=self._run, args=(batch, self._finished), daemon=True).start()

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Return the first batch to finish and its answers; if it failed, raise its error and discard all others."""
        try:
            batch, values = self._finished.get()
            if isinstance(values, BaseException):
                raise values
        except BaseException:
            self._finished = SimpleQueue()
            raise
        return batch, values

    def _run(self, batch: Batch, finished: _Finished) -> None:
        try:
            finished.put((batch, self._values(batch)))
        except BaseException as error:
            finished.put((batch, error))

    def _values(self, batch: Batch) -> NDArray[np.float32]:
        ids = tuple(batch.tokens[0, : batch.lengths[0]].tolist())
        wanted = [
            (*ids[: at + 1], token)
            for at, token in zip(batch.cols[batch.outputs].tolist(), batch.targets.tolist(), strict=True)
        ]
        known: dict[tuple[int, ...], NDArray[np.float64]] = {}
        values = np.empty(len(wanted), np.float32)
        for i in sorted(range(len(wanted)), key=lambda i: -len(wanted[i])):
            prompt, last = wanted[i], len(wanted[i]) - 1
            longer = next((ids for ids in known if ids[: last + 1] == prompt), prompt)
            if longer not in known:
                known[longer] = self.server.logprobs(longer)
            values[i] = known[longer][last]
        return values


def own_backend(model: LanguageModel) -> Backend:
    """Return the backend of a model: one that runs it in this process, or one that asks its server."""
    return LocalBackend(model) if model.served is None else ServedBackend(model.served)
