"""Download of one commit of a Hugging Face hub model to the local cache."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from penchant.errors import ModelError, PenchantError
from penchant.hub.cached_files import COMMIT, ask, cached_commit, cached_digest, giving_up, verify
from penchant.hub.errors import explained, is_unreachable
from penchant.models.file_hashes import Digests
from penchant.models.fingerprint import SETTINGS, lacks_weights

_CONFIG = "config.json"
_SAFETENSORS = ("model.safetensors", "model.safetensors.index.json", "adapter_model.safetensors")
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "adapter_model.bin")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A commit of a repository and the folder that contains its files."""

    commit: str
    folder: Path


@dataclass(frozen=True, slots=True)
class WantedFiles:
    """Selection of the files to fetch besides configuration and tokenizer: weights and code.

    `pickled` accepts pickled weights if there are no others. `looked_for` only checks that weights exist, without
    downloading or reading them. `digests` stores file hashes. `config` is the file that describes
    the model or adapter.
    """

    weights: bool = True
    looked_for: bool = False
    pickled: bool = False
    code: bool = False
    digests: Digests = field(default_factory=lambda: Digests(None))
    config: str = _CONFIG

    def settings(self, names: Iterable[str]) -> list[str]:
        """Return the file names in `names` that are downloaded before the weights, sorted.

        These are configuration and tokenizer files and, if `code` is true, Python files.
        """
        return sorted(
            name
            for name in names
            if ("/" not in name and name.endswith(SETTINGS)) or (self.code and name.endswith(".py"))
        )


def fetch(given: str, name: str, revision: str | None, wanted: WantedFiles) -> Snapshot:
    """Download one commit of a model to the local hub cache, or find it there if the hub cannot be reached.

    The revision (a branch, a tag, or seven or more digits of a commit) is resolved once, so that all files are from the
    same commit. Files are verified against the hub's hashes, since `huggingface_hub` compares only sizes. `given` is
    the model as the user named it, for messages. Raises ModelError if the commit is not available.
    """
    from huggingface_hub import hf_hub_download

    refusal: Exception | None = None
    stated: dict[str, str] = {}
    try:
        ask(name, wanted.config, revision)
    except Exception as error:
        refusal = error
        if not is_unreachable(error) and not COMMIT.fullmatch(revision or ""):
            raise explained(error, given, name, revision) from error
        revision = cached_commit(name, revision)
    try:
        config = hf_hub_download(name, wanted.config, revision=revision, local_files_only=refusal is not None)
    except Exception as error:
        raise explained(refusal or error, given, name, revision) from error
    snapshot = Snapshot(Path(config).parent.name, Path(config).parent)
    if refusal is None:
        try:
            stated = _listed(name, snapshot.commit)
        except Exception as error:
            refusal = error
            if not is_unreachable(error):
                raise explained(error, given, name, revision) from error
    if refusal is None:
        _download(given, name, snapshot, wanted, stated)
    else:
        _find(given, name, snapshot, wanted, explained(refusal, given, name, revision, cached=True))
    return snapshot


def _find(given: str, name: str, snapshot: Snapshot, wanted: WantedFiles, refusal: PenchantError) -> None:
    """Verify the needed files in the local cache.

    Raises `refusal` if a weight file is missing, ModelError if a file is damaged.
    """
    names = {path.relative_to(snapshot.folder).as_posix() for path in snapshot.folder.rglob("*") if path.is_file()}
    files = wanted.settings(names)
    for file in files:
        _verify_offline(given, name, snapshot, file, wanted.digests)
    if wanted.weights:
        weights = _weights(given, snapshot.folder, names, wanted)
        if not weights or not names.issuperset(weights):
            raise refusal
        for file in [] if wanted.looked_for else weights:
            _verify_offline(given, name, snapshot, file, wanted.digests)


def _verify_offline(given: str, name: str, snapshot: Snapshot, file: str, digests: Digests) -> None:
    """Compare a cached file with its hash: the name of its blob in the cache, or a stored hash.

    Raises ModelError if the file differs, or if no hash is known.
    """
    path = snapshot.folder / file
    digest = cached_digest(path) or digests.stated(f"{name}@{snapshot.commit}/{file}")
    if not digest:
        raise ModelError(
            f"{file} cannot be verified: the hub cannot be reached, and the cache has no hash of the file",
            where=given,
            hint=f"run once with access to the hub, or use the directory {snapshot.folder} as the model",
        )
    verify(given, path, digest, digests.sha256)


def _download(given: str, name: str, snapshot: Snapshot, wanted: WantedFiles, stated: dict[str, str]) -> None:
    for file in wanted.settings(stated):
        _download_file(given, name, snapshot, file, stated[file], wanted.digests)
    if wanted.weights:
        weights = _weights(given, snapshot.folder, stated, wanted)
        if not weights:
            raise lacks_weights(given)
        for file in weights:
            if file not in stated:
                raise ModelError(f"the repository has no {file}, which its weight index lists", where=given)
            if not wanted.looked_for:
                _download_file(given, name, snapshot, file, stated[file], wanted.digests)


def _listed(name: str, commit: str) -> dict[str, str]:
    """Return the hash of each file in a commit: the SHA-256 of a large file, the git hash of any other, "" if unknown.

    Raises the errors of `huggingface_hub`.
    """
    from huggingface_hub import HfApi, constants

    info = HfApi().model_info(name, revision=commit, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    return {file.rfilename: (file.lfs.sha256 if file.lfs else file.blob_id) or "" for file in info.siblings or []}


def _weights(given: str, folder: Path, names: Iterable[str], wanted: WantedFiles) -> list[str]:
    for whole, index, adapter in (_SAFETENSORS, _PICKLED) if wanted.pickled else (_SAFETENSORS,):
        whole = whole if wanted.config == _CONFIG else adapter
        if whole in names:
            return [whole]
        if index in names:
            try:
                return sorted(set(json.loads((folder / index).read_text("utf-8"))["weight_map"].values()))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ModelError(f"{index} is not a weight index", where=given) from error
    return []


def intact(given: str, path: Path) -> bool:
    """Return whether a file's hash is known from the local cache. Raises ModelError if the file does not match it."""
    digest = cached_digest(path)
    verify(given, path, digest, Digests(None).sha256)
    return bool(digest)


def _download_file(given: str, name: str, snapshot: Snapshot, file: str, digest: str, digests: Digests) -> None:
    """Download a file if it is missing, and verify it.

    Raises ModelError if the download fails or the file is damaged; a damaged file that was just downloaded is removed.
    """
    from huggingface_hub import hf_hub_download

    path = snapshot.folder / file
    fresh = not path.is_file()
    if fresh:
        try:
            ask(name, file, snapshot.commit)
            hf_hub_download(name, file, revision=snapshot.commit, tqdm_class=giving_up())
        except Exception as error:
            raise explained(error, given, name, snapshot.commit, file=file) from error
    verify(given, path, digest or cached_digest(path), digests.sha256, fresh=fresh)
    if digest and cached_digest(path) != digest:  # otherwise the cache itself provides the hash offline
        digests.remember_stated(f"{name}@{snapshot.commit}/{file}", digest)
