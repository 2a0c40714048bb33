"""The parts of a manifest: what was measured, with what model, on what data, made of what text, and what it took."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict

from penchant.models.load import LanguageModel
from penchant.study.machines import STRICT, ClusterRecord


def _inside(path: str) -> str:
    if not path or Path(path).is_absolute() or {"..", "."} & set(Path(path).parts) or "\\" in path:
        raise ValueError(f"'{path}' does not lie in the directory of the study")
    return path


Inside: TypeAlias = Annotated[str, AfterValidator(_inside)]
"""A path relative to the manifest, of something beside it."""


class _Record(BaseModel):
    model_config = STRICT


class ModelRecord(_Record):
    """A model as it was measured."""

    name: str
    kind: str
    fingerprint: str
    """Hub name and commit, or the SHA-256 of configuration, weights and tokenizer."""
    dtype: str
    device: str
    gathers: bool | None = None
    """Whether the head is applied at read positions only."""
    shortens: bool | None = None
    """Whether the last layer is computed at read positions only."""
    packs: bool | None = None
    """Whether sentences with common beginnings share a pass."""
    batching: str | None = None
    """The company of a text in a batch: texts of any length ("padded"), of its own length, or none."""
    cautions: list[str] = []
    """The warnings of its loader."""

    @classmethod
    def of(cls, model: Any) -> ModelRecord:
        """The record of a loaded model."""
        if not isinstance(model, LanguageModel):
            dtype, device = "float32", "none"
            return cls(
                name=model.name,
                kind=model.kind,
                fingerprint=model.fingerprint,
                dtype=dtype,
                device=device,
                cautions=list(model.cautions),
            )
        return cls(
            name=model.name,
            kind=model.kind,
            fingerprint=model.fingerprint,
            dtype=model.numbers,
            device=model.network.devices,
            gathers=model.network.gathers,
            shortens=model.network.shortens,
            packs=bool(model.network.packs),
            batching=model.network.batching,
            cautions=list(model.cautions),
        )

    def line(self) -> str:
        """The record in words."""
        return f"{self.kind}, {self.dtype} on {self.device}, fingerprint {self.fingerprint}"


class CountsRecord(_Record):
    """What was asked and what it took; see `penchant.engine.engine.Counts`."""

    reads: int = 0
    inputs: int = 0
    cached: int = 0
    forward: int = 0
    batches: int = 0
    tokens: int = 0
    damaged: int = 0


class DataRecord(_Record):
    """A data file as it was read."""

    probe: str = ""
    """The probe directory; empty in what version 0.1 wrote."""
    path: str
    """Where it was; of a file of the hub its address there, with the commit."""
    sha256: str


class UnitRecord(_Record):
    """One probe with one model: finished."""

    probe: str
    """The probe directory."""
    spec: str
    """The model as the study names it."""
    directory: Inside
    """Where the result is, relative to the manifest."""
    model: ModelRecord
    counts: CountsRecord
    seconds: float
    files: dict[Inside, str] = {}
    """The SHA-256 of each file of the result, by name."""


class SkipRecord(_Record):
    """One probe with a model that it does not read."""

    probe: str
    spec: str
    model: str
    """The model's name and kind."""


class TookRecord(_Record):
    """What one unit took in one attempt."""

    probe: str
    spec: str
    counts: CountsRecord
    seconds: float


class AttemptRecord(_Record):
    """One start of the study."""

    started: str
    finished: str | None = None
    units: list[TookRecord] = []
    cluster: ClusterRecord | None = None
    """The machines that did the work, where it was not the one that asked."""


class TextRecord(BaseModel):
    """A file of running text."""

    model_config = ConfigDict(extra="allow")
    name: str
    size: int | None = None
    sha256: str


class PreparedRecord(BaseModel):
    """What was made for the study from its text: sentences or vectors."""

    model_config = ConfigDict(extra="allow")
    version: str
    sha256: str
    texts: list[TextRecord]


class AsideRecord(_Record):
    """A model that the study was run with and no longer is: its results, and all that they rest on, so that they can be
    taken up again."""

    spec: str
    """The model as the study named it."""
    units: list[UnitRecord]
    skipped: list[SkipRecord] = []
    data: list[DataRecord] = []
    """The data files of the probes that it was measured with, as they were then."""
    prepared: dict[Inside, PreparedRecord] = {}
    """What was made of text then."""
    probes: list[dict[str, dict[str, Any]]]
    """The probes with every parameter, as they were asked then."""
