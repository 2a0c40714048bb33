"""Descriptions from which workers load the driver's model, by name or from files sent with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penchant.cluster.connect import imported
from penchant.cluster.worker import ModelDescription
from penchant.errors import ClusterError
from penchant.models import fast_paths
from penchant.models.fingerprint import model_files
from penchant.models.load import LanguageModel
from penchant.models.source import ModelSource, resolve

LARGEST = 4 << 30
"""Maximum size in bytes of a model whose files are sent to the machines of a cluster."""


def wanted(
    model: LanguageModel,
    spec: str,
    *,
    device: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
) -> ModelDescription:
    """Return the description from which workers load the model that this process loaded from `spec`.

    A hub model is described by name and commit. The other arguments are those of `load`.
    """
    source = resolve(spec)
    parts = [source, *([source.adapter] if source.adapter else [])]
    local = any(part.local is not None and not part.given.startswith("bundled:") for part in parts)
    return ModelDescription(
        spec="+".join(map(_named, parts, spec.rsplit("+", len(parts) - 1), model.fingerprint.split("+"))),
        local=local,
        fingerprint=model.fingerprint,
        dtype=model.dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
        shortcuts=fast_paths.allowed(),
    )


def _named(part: ModelSource, given: str, fingerprint: str) -> str:
    if part.local is None:
        return fingerprint
    return given if given.startswith("bundled:") else str(Path(given).absolute())


def sent(wanted: ModelDescription) -> ModelDescription:
    """Store the model's files in the cluster's object store; return a copy of the description that refers to them.

    Raises ClusterError if the model is too large.
    """
    place = Path(wanted.spec)
    if not place.exists():
        hint = "put both at the same paths on every machine, or on a hub that all machines can reach"
        raise ClusterError("a model with an adapter is not sent to other machines", where=wanted.spec, hint=hint)
    files = sorted(set(model_files(place)))
    size = sum(file.stat().st_size for file in files)
    if size > LARGEST:
        raise ClusterError(
            f"is not on every machine, and is too large to send ({size / 1e9:.1f} GB)",
            where=wanted.spec,
            hint="put it at the same path on every machine, or on a hub that all machines can reach",
        )
    ray = imported()
    return replace(wanted, shipped={str(file.relative_to(place.parent)): ray.put(file.read_bytes()) for file in files})
