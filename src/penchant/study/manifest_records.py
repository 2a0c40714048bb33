"""Records in a manifest: models, data, machines, results, and the work and time spent."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict

from penchant.models.load import LanguageModel
from penchant.models.model_identity import bundled_card
from penchant.models.score_table import Scores
from penchant.plurals import counted
from penchant.vectors.static_vectors import StaticVectors

_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "polars")
STRICT = ConfigDict(extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def _inside(path: str) -> str:
    if not path or Path(path).is_absolute() or {"..", "."} & set(Path(path).parts) or "\\" in path:
        raise ValueError(f"'{path}' is not inside the study directory")
    return path


Inside: TypeAlias = Annotated[str, AfterValidator(_inside)]
"""A path inside the manifest's directory, relative to that directory."""


class _Record(BaseModel):
    model_config = STRICT


class HardwareRecord(_Record):
    """The machine that ran the study."""

    platform: str
    processor: str
    cores: int | None
    threads: int
    gpu: str | None

    @classmethod
    def here(cls) -> HardwareRecord:
        """Return a record of this machine."""
        import torch

        return cls(
            platform=platform.platform(),
            processor=platform.processor() or platform.machine(),
            cores=os.cpu_count(),
            threads=torch.get_num_threads(),
            gpu=torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        )


def software() -> dict[str, str]:
    """Return the versions of Python and of the packages that affect the results."""
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in _PACKAGES}}


class ClusterRecord(_Record):
    """The machines of a cluster, and the failures after which batches were run again."""

    on: str
    """The cluster: "ray" if Ray runs on this machine only, else an address."""
    ray: str
    """The version of Ray."""
    nodes: dict[str, str]
    """Descriptions of the machines that ran workers, by node ID."""
    workers: int = 0
    """The largest number of workers for one model."""
    retried: int = 0
    """The number of batches run again because a worker died or a machine was lost."""
    lost_workers: int = 0
    lost_nodes: int = 0

    def line(self) -> str:
        """Return a one-line description of the record."""
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


class ModelRecord(_Record):
    """A measured model, and the settings with which it was run."""

    name: str
    kind: str
    fingerprint: str
    """Hub name and commit, or the SHA-256 of configuration, weights and tokenizer."""
    dtype: str
    device: str
    gathers: bool | None = None
    """True if the head is applied only at positions whose output is used."""
    shortens: bool | None = None
    """True if the last layer is computed only at positions whose output is used."""
    packs: bool | None = None
    """True if sentences with a common prefix share a forward pass."""
    batching: str | None = None
    """Texts that may share a batch: of any length ("padded"), of equal length ("equal-length"), or none ("single")."""
    cautions: list[str] = []
    """The warnings of the model loader."""
    about: str = ""
    """Description of the model: kind and size of a language model; file, words and dimensions of word vectors."""

    @classmethod
    def of(cls, model: Any) -> ModelRecord:
        """Return a record of a loaded model."""
        record = cls(
            name=model.name,
            kind=model.kind,
            fingerprint=model.fingerprint,
            dtype=getattr(model, "numbers", "float32"),
            device="none",
            cautions=list(model.cautions),
            about=_about(model),
        )
        if not isinstance(model, LanguageModel) or model.served:
            return record
        network = model.network
        passes = {
            "gathers": network.gathers,
            "shortens": network.shortens,
            "packs": bool(network.packs),
            "batching": network.batching,
        }
        return record.model_copy(update={"dtype": model.numbers, "device": network.devices, **passes})

    def line(self) -> str:
        """Return a one-line description of the record."""
        where = "" if self.device == "none" else f", {self.dtype} on {self.device}"
        return f"{self.about or self.kind}{where}, fingerprint {self.fingerprint}"


def _about(model: Any) -> str:
    if isinstance(model, LanguageModel) and model.served:
        return model.served.about
    if isinstance(model, LanguageModel):
        card = bundled_card(model.spec) if model.spec.startswith("bundled:") else f"a {model.kind} model"
        return f"{card}, {counted(model.network.parameters, 'parameters')}"
    if isinstance(model, Scores):
        return model.about
    if isinstance(model, StaticVectors):
        size = f"{counted(len(model), 'words')} × {model.matrix.shape[1]:,}"
        return f"word vectors {Path(model.spec).name or model.name}, {size}"
    return ""


class CountsRecord(_Record):
    """Counts of the work done; see `penchant.engine.engine.EngineCounts`."""

    reads: int = 0
    inputs: int = 0
    cached: int = 0
    forward: int = 0
    batches: int = 0
    tokens: int = 0
    damaged: int = 0


class DataRecord(_Record):
    """A data file, and its hash when the study read it."""

    probe: str
    """The probe directory."""
    path: str
    """The path of the file; for a file on the hub, its address with the commit."""
    sha256: str


class UnitRecord(_Record):
    """A finished unit: one probe with one model."""

    probe: str
    """The probe directory."""
    spec: str
    """The name of the model in the study."""
    directory: Inside
    """The directory of the result, relative to the manifest."""
    model: ModelRecord
    counts: CountsRecord
    seconds: float
    files: dict[Inside, str]
    """The SHA-256 of each file of the result, by name."""


class SkipRecord(_Record):
    """A probe, and a model that it does not support."""

    probe: str
    spec: str
    model: str
    """The model's name and kind."""


class TookRecord(_Record):
    """The work and time spent on one unit in one attempt."""

    probe: str
    spec: str
    counts: CountsRecord
    seconds: float


class AttemptRecord(_Record):
    """One attempt to run the study."""

    started: str
    finished: str | None = None
    units: list[TookRecord] = []
    cluster: ClusterRecord | None = None
    """The machines that did the work, if the study ran on a cluster."""


class TextRecord(BaseModel):
    """A file of running text."""

    model_config = ConfigDict(extra="allow")
    name: str
    size: int | None = None
    sha256: str


class PreparedRecord(BaseModel):
    """A file prepared from the study's text: sentences or word vectors."""

    model_config = ConfigDict(extra="allow")
    version: str
    sha256: str
    texts: list[TextRecord]


class AsideRecord(_Record):
    """An archived model, with its results and everything needed to restore them."""

    spec: str
    """The name that the model had in the study."""
    units: list[UnitRecord]
    skipped: list[SkipRecord] = []
    data: list[DataRecord] = []
    """The data files of the probes that measured the model, as they were at that time."""
    prepared: dict[Inside, PreparedRecord] = {}
    """The files prepared from text, as they were at that time."""
    probes: list[dict[str, dict[str, Any]]]
    """The probes with every parameter, as they were at that time."""
