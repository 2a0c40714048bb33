"""Worker process on a cluster, with its own copy of the model."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant._version import __version__
from penchant.cluster.connect import imported
from penchant.cluster.shard_scoring import Shard, ShardCounts, scored
from penchant.corpus.block_search import Extraction
from penchant.corpus.distributed_search import FileFound, FileTask, found_in
from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import LocalBackend
from penchant.engine.scorer import Scorer, language_model
from penchant.errors import ClusterError, ModelError
from penchant.models import shortcut_switch
from penchant.models.file_hashes import Digests
from penchant.models.load import LanguageModel, fingerprint, read_model

_DECISIVE = ("torch", "transformers", "tokenizers", "numpy")
"""Packages whose versions must equal the driver's, since results or transferred data depend on the version."""


def versions() -> dict[str, str]:
    """Return the installed versions of penchant, Python and the packages that must be the same on all machines."""
    packages = {name: importlib.metadata.version(name) for name in _DECISIVE}
    return {"penchant": __version__, "python": ".".join(platform.python_version_tuple()[:2]), **packages}


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """Description of the model that a worker must load.

    `local` is true if `spec` is the path of a file or directory. `fingerprint` must equal the fingerprint of the loaded
    model. `shipped` maps paths to references to the model's files in the cluster's object store, for a model that only
    the driver has. `shortcuts` enables the shortcuts of `penchant.models.shortcut_switch`.
    """

    spec: str
    local: bool
    fingerprint: str
    dtype: str
    device: str | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False
    shipped: Mapping[str, Any] | None = None
    shortcuts: bool = True


@dataclass(frozen=True, slots=True)
class About:
    """Node, host, process id and device of a worker."""

    node: str
    host: str
    pid: int
    device: str


PART = 1 << 23
"""Size in bytes of the parts in which a table is sent to the driver."""


class AbsentError(Exception):
    """Exception raised if the model's files are not on the worker's machine."""


class Worker:
    """Remote actor of the pool; it is set up in `open`, so that failures are raised as errors in the driver."""

    def __init__(self) -> None:
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def open(self, wanted: ModelDescription | None, expected: Mapping[str, str], threads: int) -> About:
        """Load the model, unless `wanted` is None; return the worker's node, host, process id and device.

        `expected` are the driver's package versions, and `threads` is the number of CPU threads to use. Raises
        ModelError if the model cannot be loaded, AbsentError if its files are not on this machine, and ClusterError if
        versions or model differ from the driver's.
        """
        ray = imported()
        host = ray.util.get_node_ip_address()
        here = versions()
        other = next((name for name in expected if here.get(name) != expected[name]), None)
        if other is not None:
            message = f"has {other} {here.get(other)}, but the driver has {expected[other]}"
            raise ClusterError(message, where=f"node {host}", hint="install the same versions everywhere")
        device = "none"
        if wanted is not None:
            import torch  # slow to import, and not needed to search texts

            torch.set_num_threads(threads)
            os.environ[shortcut_switch.PLAIN] = "" if wanted.shortcuts else "1"
            self.model = self._loaded(wanted, host)
            self._backend = LocalBackend(self.model)
            device = self.model.network.devices
        return About(ray.get_runtime_context().get_node_id(), host, os.getpid(), device)

    def run(self, batch: Batch) -> NDArray[np.generic]:
        """Return the model outputs for a batch, which is halved until it fits in memory.

        Raises TooLargeError if a single row does not fit.
        """
        return self._backend.run(batch)

    def shard(self, shard: Shard, batch_tokens: int | None) -> tuple[ShardCounts, list[Any], list[Any]]:
        """Score a shard; return its counts and the tables of scores and of rejects.

        Each table is a list of references to its parts in the cluster's object store; both lists are empty if the shard
        has been scored before.
        """
        scorer = Scorer(self.model, batch_tokens=batch_tokens, backend=self._backend)
        with tempfile.TemporaryDirectory(prefix="penchant-") as folder:
            found = scored(scorer, shard, Path(folder))
            return found.counted, _put(found.scores), _put(found.rejects)

    def search(self, search: Extraction, task: FileTask) -> FileFound:
        """Return the occurrences that `search` finds in one text file. Raises DataError if the file cannot be read."""
        return found_in(search, task)

    def _loaded(self, wanted: ModelDescription, host: str) -> LanguageModel:
        if wanted.local and wanted.shipped is None and not self._here(wanted):
            raise AbsentError
        spec = wanted.spec if wanted.shipped is None else self._unpacked(wanted.shipped)
        try:
            model = language_model(
                read_model(
                    spec,
                    dtype=wanted.dtype,
                    device=wanted.device,
                    trust_remote_code=wanted.trust_remote_code,
                    allow_pickle=wanted.allow_pickle,
                )
            )
        except ModelError as error:
            raise ModelError(error.message, where=f"{wanted.spec} on node {host}", hint=error.hint) from error
        if model.fingerprint != wanted.fingerprint:
            raise ClusterError(
                f"differs from the driver's model: fingerprint {model.fingerprint[:12]}, not {wanted.fingerprint[:12]}",
                where=f"{wanted.spec} on node {host}",
                hint="copy the same files to that node, or use a path that exists on this machine only",
            )
        return model

    @staticmethod
    def _here(wanted: ModelDescription) -> bool:
        try:
            return fingerprint(wanted.spec, Digests(None)) == wanted.fingerprint
        except ModelError:
            return False

    def _unpacked(self, shipped: Mapping[str, Any]) -> str:
        self._files = tempfile.TemporaryDirectory(prefix="penchant-")
        for name, reference in shipped.items():
            file = Path(self._files.name) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(imported().get(reference))
        (top,) = Path(self._files.name).iterdir()
        return str(top)


def _put(file: Path | None) -> list[Any]:
    """Put a file into the cluster's object store in parts; return references to the parts ([] if `file` is None)."""
    if file is None:
        return []
    with file.open("rb") as stream:
        return [imported().put(part) for part in iter(lambda: stream.read(PART), b"")]
