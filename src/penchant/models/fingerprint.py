"""Selection and hashing of the files that determine the results of a local model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from penchant.errors import DataError, ModelError
from penchant.models.file_hashes import Digests
from penchant.text_io import read_text, require_file

SETTINGS = (".json", ".txt", ".model", ".jinja", ".codes", ".tiktoken", ".tokenizer", ".vocab", ".bpe", ".spm", ".pkl")
"""Suffixes of tokenizer vocabularies and of the files that `save_pretrained` writes beside the weights."""
_INDICES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


def local_fingerprint(local: Path, digests: Digests) -> str:
    """Return a SHA-256 of the configuration, weights, tokenizer and code in a model file or directory.

    Raises ModelError if a file is missing or cannot be read.
    """
    digest = hashlib.sha256()
    root = local if local.is_dir() else local.parent
    try:
        for file in sorted(set(model_files(local))):
            digest.update(file.relative_to(root).as_posix().encode("utf-8", "surrogateescape"))
            digest.update(bytes.fromhex(digests.sha256(file)))
    except DataError as error:
        raise ModelError(error.message, where=error.where) from error
    return digest.hexdigest()


def model_files(local: Path) -> Iterator[Path]:
    """Yield the files of a local model that `from_pretrained` may read: settings, weights, tokenizer and code.

    The weights are all safetensors and pickle files, including the files listed in an index. Raises ModelError if a
    weight file is missing or a file is not a regular file.
    """
    if local.is_file():
        yield local
        return
    for file in local.iterdir():
        settings = file.suffix in SETTINGS and not file.is_dir() and not file.name.startswith("README")
        if settings or file.suffix in (".safetensors", ".bin"):
            _require_regular(file)
            yield file
    yield from (file for file in local.rglob("*.py") if file.is_file())
    yield from _parts(local)


def lacks_weights(given: str) -> ModelError:
    """Return the ModelError for a model without safetensors weights; `given` is the model as the user named it."""
    return ModelError(
        "there are no safetensors weights",
        where=given,
        hint="save the model as safetensors, or use --allow-pickle if you trust its pickled weights",
    )


def code_elsewhere(folder: Path) -> str:
    """Return the name of the external repository from which a checkpoint takes its code; "" if there is none."""
    for name in ("config.json", "tokenizer_config.json"):
        named = _read(folder / name).get("auto_map")
        entries = list(named.values()) if isinstance(named, dict) else [named]
        for entry in (one for part in entries for one in (part if isinstance(part, list) else [part])):
            if isinstance(entry, str) and "--" in entry:
                return entry.partition("--")[0]
    return ""


def _parts(local: Path) -> Iterator[Path]:
    """Yield the weight files listed in an index or named in the configuration (`transformers_weights`).

    Raises ModelError if a weight file is missing or outside the directory.
    """
    indices = [local / name for name in _INDICES]
    named = _read(local / "config.json").get("transformers_weights")
    if isinstance(named, str):
        indices.append(_inside(local, named))
    for index in indices:
        if index.is_file() and index.suffix == ".json":
            parts = _read(index).get("weight_map")
            if not isinstance(parts, dict):
                raise ModelError("is not a weight index: it has no weight_map", where=str(index))
            yield from (_inside(local, str(part)) for part in set(parts.values()))
        elif index.is_file():
            yield index


def _inside(local: Path, name: str) -> Path:
    part = local / name
    if not part.resolve().is_relative_to(local.resolve()) and not part.is_symlink():
        raise ModelError(f"refers to a weight file outside the model's directory: '{name}'", where=str(local))
    if not part.is_file():
        message = f"the weight file '{name}', listed in the index or the configuration, is missing"
        raise ModelError(message, where=str(local), hint="copy the complete model directory")
    return part


def _require_regular(file: Path) -> None:
    try:
        require_file(file)
    except DataError as error:
        raise ModelError(error.message, where=error.where, hint=error.hint) from error


def _read(file: Path) -> dict[str, object]:
    try:
        content = json.loads(read_text(file))
    except (DataError, ValueError, RecursionError):
        return {}  # loading will raise the error
    return content if isinstance(content, dict) else {}
