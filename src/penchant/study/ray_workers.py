"""Workers of a study on a Ray cluster, for one model after another."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penchant.cluster.backend import RayBackend
from penchant.cluster.connect import ClusterOptions, joined, nodes
from penchant.cluster.model_transfer import wanted
from penchant.cluster.pool import WorkerPool
from penchant.models.load import LanguageModel
from penchant.study.manifest_records import ClusterRecord
from penchant.study.study_file import Study


class Elsewhere:
    """Workers of a study on a cluster, for one model at a time."""

    def __init__(self, place: ClusterOptions, say: Callable[[str], None]) -> None:
        self._place, self._say = place, say
        self._pool: WorkerPool | None = None
        self._model = ""
        self._before = ClusterRecord(on=place.on, ray=importlib.metadata.version("ray"), nodes={})

    def backend(self, model: LanguageModel, spec: str, study: Study) -> RayBackend:
        """Return the backend for a model that was loaded from `spec`, after stopping the workers of any other model."""
        if self._pool is None or self._model != model.fingerprint:
            self.close()
            self._model = model.fingerprint
            asked = wanted(
                model,
                spec,
                device=study.device,
                trust_remote_code=study.trust_remote_code,
                allow_pickle=study.allow_pickle,
            )
            self._pool = WorkerPool(self._place, asked, say=self._say)
        return RayBackend(model, self._pool)

    @property
    def record(self) -> ClusterRecord:
        """The machines used so far, and the failures after which batches were run again."""
        before, pool = self._before, self._pool
        if pool is None:
            return before
        machines = {node.id: f"{node.address} ({node.cpus:g} CPUs, {node.gpus:g} GPUs)" for node in nodes()}
        used = {about.node: machines.get(about.node, f"{about.host} (gone)") for about in pool.about}
        return before.model_copy(
            update={
                "nodes": {**before.nodes, **used},
                "workers": max(before.workers, pool.size),
                "retried": before.retried + pool.losses.retried,
                "lost_workers": before.lost_workers + pool.losses.workers,
                "lost_nodes": before.lost_nodes + pool.losses.nodes,
            }
        )

    def close(self) -> None:
        """Stop the workers; `record` still includes them."""
        self._before = self.record
        if self._pool is not None:
            self._pool.close()
        self._pool = None


@contextmanager
def elsewhere(place: ClusterOptions | None, say: Callable[[str], None]) -> Iterator[Elsewhere | None]:
    """Context manager that provides workers on the cluster `place`, or None if `place` is None.

    `say` is called with messages for the user. Raises ClusterError if the connection fails, and MethodError if a
    package is missing.
    """
    if place is None:
        yield None
        return
    with joined(place):
        workers = Elsewhere(place, say)
        try:
            yield workers
        finally:
            workers.close()
