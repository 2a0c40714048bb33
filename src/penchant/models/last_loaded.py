"""Cache of the most recently loaded model, for calls that name the same model again."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from penchant.errors import PenchantError
from penchant.models import shortcut_switch
from penchant.models.answer_cache_file import default_path
from penchant.models.file_hashes import Digests
from penchant.models.load import Model, fingerprint, load, load_vectors, names_vectors, read_model
from penchant.models.model_identity import resolve
from penchant.models.score_table import names_scores
from penchant.models.served import names_served

_LOCK = Lock()
_KEPT: dict[tuple[object, ...], Model] = {}
"""The cached model, with its name without hash, its fingerprint and its loading settings as the key."""


def loaded(spec: str | Path, *, dtype: str = "float32", device: str | None = None) -> Model:
    """Return the model named by `spec`, loading it unless it is cached and its files have not changed.

    Raises ModelError if the model cannot be loaded.
    """
    if names_scores(spec):
        return read_model(spec)
    settings = (dtype, device, shortcut_switch.allowed())
    with _LOCK:
        kept = _KEPT.get((*_looked_up(spec), *settings)) if _KEPT else None
        if kept is not None:
            return kept
        _KEPT.clear()  # before another model takes up memory
        vectors = names_vectors(spec)
        model = load_vectors(spec) if vectors else load(spec, dtype=dtype, device=device, digests=_digests())
        _KEPT[_label(spec), model.fingerprint, *settings] = model
        return model


def release() -> None:
    """Drop the cached model, so that its memory can be freed."""
    with _LOCK:
        _KEPT.clear()


def _looked_up(spec: str | Path) -> tuple[str, str]:
    try:
        return _label(spec), fingerprint(str(spec), _digests())
    except PenchantError:
        return "", ""


def _digests() -> Digests:
    return Digests(default_path(), optional=True)


def _label(spec: str | Path) -> str:
    if names_served(spec):
        return str(spec)
    return Path(spec).name if names_vectors(spec) else resolve(str(spec)).label
