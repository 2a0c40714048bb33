"""Descriptions from which workers load the driver's model, by name or path or from files sent to the cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penchant.cluster.connect import imported
from penchant.cluster.worker import ModelDescription
from penchant.errors import ClusterError
from penchant.models import shortcut_switch
from penchant.models.fingerprint import model_files
from penchant.models.load import LanguageModel
from penchant.models.model_identity import pinned
from penchant.models.served import refuse_cluster
from penchant.text_io import exists

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
    refuse_cluster([spec])
    parts, text = pinned(spec, model.fingerprint)
    local = [not part.startswith("bundled:") and exists(part) for part in parts]
    named = [str(Path(part).absolute()) if here else part for part, here in zip(parts, local, strict=True)]
    return ModelDescription(
        spec=f"{'+'.join(named)}{text}",
        local=any(local),
        fingerprint=model.fingerprint,
        dtype=model.dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
        shortcuts=shortcut_switch.allowed(),
    )


def sent(wanted: ModelDescription) -> ModelDescription:
    """Store the model's files in the cluster's object store; return the description with references to them.

    Raises ClusterError if the model is too large, or has an adapter or a source text.
    """
    place = Path(wanted.spec)
    if not exists(place):
        message = "is not on every machine, and a model with an adapter or a source text cannot be sent"
        hint = "put its files at the same paths on every machine, or on a hub that all machines can reach"
        raise ClusterError(message, where=wanted.spec, hint=hint)
    files = sorted(set(model_files(place)))
    size = sum(file.stat().st_size for file in files)
    if size > LARGEST:
        raise ClusterError(
            f"is not on every machine, and is too large to send ({size / 1e9:.1f} of at most {LARGEST / 1e9:.1f} GB)",
            where=wanted.spec,
            hint="put it at the same path on every machine, or on a hub that all machines can reach",
        )
    ray = imported()
    return replace(wanted, shipped={str(file.relative_to(place.parent)): ray.put(file.read_bytes()) for file in files})
