"""What a study ran on, as its manifest says: software, this machine, and the machines of a cluster."""

from __future__ import annotations

import importlib.metadata
import os
import platform

from pydantic import BaseModel, ConfigDict

from penchant.counting import counted

_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "polars")


STRICT = ConfigDict(extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)
"""How the parts of a manifest are read: what they do not know is an error."""


class HardwareRecord(BaseModel):
    """The machine."""

    model_config = STRICT

    platform: str
    processor: str
    cores: int | None
    threads: int
    gpu: str | None

    @classmethod
    def here(cls) -> HardwareRecord:
        """This machine."""
        import torch

        return cls(
            platform=platform.platform(),
            processor=platform.processor() or platform.machine(),
            cores=os.cpu_count(),
            threads=torch.get_num_threads(),
            gpu=torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        )


class ClusterRecord(BaseModel):
    """The machines of a cluster, and what went wrong on them and was done again."""

    model_config = STRICT

    on: str
    """What was joined: "ray" for Ray on this machine alone, else an address."""
    ray: str
    """The version of Ray."""
    nodes: dict[str, str]
    """The machines that had workers by their ids in the cluster, and what they are."""
    workers: int = 0
    """The most workers that a model had."""
    retried: int = 0
    """Batches that were run again, because a worker died or a machine was lost."""
    lost_workers: int = 0
    lost_nodes: int = 0

    def line(self) -> str:
        """The record in words."""
        again = f", {counted(self.retried, 'batches')} run again" if self.retried else ""
        lost = (
            f" after {counted(self.lost_workers, 'workers')} died ({self.lost_nodes} with their machine)"
            if again
            else ""
        )
        return (
            f"Ray {self.ray} on {self.on}: {counted(self.workers, 'workers')} on "
            f"{', '.join(self.nodes.values())}{again}{lost}"
        )


def software() -> dict[str, str]:
    """The versions of Python and of the packages that decide the numbers."""
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in _PACKAGES}}
