"""Which text belongs to which model, and how it is cited."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from penchant.corpus.text_files import TextFile
from penchant.errors import MethodError
from penchant.files import join_names, sha256_file
from penchant.tables.places import listed

Texts = str | list[str] | dict[str, str | list[str]]
_MOST = 3
"""Files that a signature names; of others it says how many there are."""


def texts_of(text: Texts, model: str) -> list[str]:
    """The names of the texts of a model, by its name in signatures: those for all models, or its own.

    A text is named for a model as the study names the model: with or without revision, or by its directory. Raises
    MethodError where no text or more than one is named for it.
    """
    if not isinstance(text, Mapping):
        return listed(text)
    fitting = [model] if model in text else [key for key in text if _names(key, model)]
    label = model if model.startswith("bundled:") else Path(model.rpartition("@")[0] or model).name
    if not fitting:
        hint = f"name it too, as in text: {{{label}: FILE}}; texts are named for {', '.join(text) or 'no model'}"
        raise MethodError(f"no text is named for {label}", where="amplification, text", hint=hint)
    if len(fitting) > 1:
        hint = f"name one for {model}"
        raise MethodError(f"{' and '.join(fitting)} may both mean {model}", where="amplification, text", hint=hint)
    return listed(text[fitting[0]])


def _names(key: str, model: str) -> bool:
    """Whether a key is the name of a model, without the hash that signatures add to it, or that of its directory."""
    label = model.rpartition("@")[0] or model
    keys = {key, key.partition("@")[0], Path(key).name, Path(key).stem}
    return label in keys or ("/" in label and Path(label).name in keys)


def cited_texts(files: Sequence[TextFile]) -> str:
    """Name files of text in a signature: their names and the first six digits of a hash over all of them; of files
    behind a URL the hash is of their names and sizes."""
    parts = [sha256_file(f.place) if "://" not in f.place else f"{f.place} {f.size}" for f in files]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    names = [file.name for file in files[:_MOST]]
    more = f"+{len(files) - _MOST} more" if len(files) > _MOST else ""
    return f"{join_names(names)}{more}#{digest[:6]}"
