"""Backend that runs the engine's batches on a cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penchant.cluster.pool import DEEP, Job, WorkerPool
from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import LocalBackend
from penchant.models.load import LanguageModel

_NOTHING = np.empty(0, np.int64)


class RayBackend:
    """A backend that runs several batches at once on the workers of a pool."""

    def __init__(self, model: LanguageModel, pool: WorkerPool) -> None:
        local = LocalBackend(model)
        self.packs, self.batching, self.budget = local.packs, local.batching, local.budget
        self.slots = DEEP * pool.size
        self._pool = pool
        self._spell = model.tokenizer.decode

    def submit(self, batch: Batch) -> None:
        """Submit a batch to the pool, without the fields that only the driver needs."""
        sent = replace(batch, inputs=(), want_input=_NOTHING, want_slot=_NOTHING)
        self._pool.submit(Job("run", (sent,), batch, lambda row: self._named(batch, row)))

    def collect(self) -> tuple[Batch, NDArray[np.generic]]:
        """Wait until any batch is finished; return it with its outputs. Raises ClusterError if a batch cannot run."""
        job, values = self._pool.collect()
        return job.what, values

    def _named(self, batch: Batch, row: int | None) -> str:
        numbers = batch.want_input if row is None else batch.want_input[batch.rows[batch.outputs] == row]
        inputs = [batch.inputs[i] for i in dict.fromkeys(numbers.tolist())]
        more = f" and {len(inputs) - 1} more" if len(inputs) > 1 else ""
        return f"'{self._spell(inputs[0].ids)}'{more}"
