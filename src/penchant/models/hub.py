"""Models of the Hugging Face hub: from a name and a revision to a folder that holds one commit."""

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
_SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A commit and the folder that holds its files."""

    commit: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Wanted:
    """The files needed from a repository besides its settings: weights and code.

    `pickled` weights are used if there are no others. Weights that are only `looked_for` are neither fetched nor read.
    `digests` remembers hashes.
    """

    weights: bool = True
    looked_for: bool = False
    pickled: bool = False
    code: bool = False
    digests: Digests = field(default_factory=lambda: Digests(None))

    def settings(self, names: Iterable[str]) -> list[str]:
        """Return the files to fetch before the weights, so that a copy with weights is complete."""
        return sorted(
            name
            for name in names
            if ("/" not in name and name.endswith(SETTINGS)) or (self.code and name.endswith(".py"))
        )


def fetch(given: str, name: str, revision: str | None, wanted: Wanted) -> Snapshot:
    """Bring one commit of a model into the local hub cache, or find it there if the hub cannot be reached.

    The revision (a branch, a tag, or seven or more digits of a commit) is resolved once, so that all files are of one
    commit. Files are compared with the hashes that the hub states, since `huggingface_hub` compares only sizes. `given`
    is the model as the user named it, for messages. Raises ModelError.
    """
    from huggingface_hub import hf_hub_download

    refusal: Exception | None = None
    stated: dict[str, str] = {}
    try:
        ask(name, _CONFIG, revision)
    except Exception as error:
        refusal = error
        if not is_unreachable(error) and not COMMIT.fullmatch(revision or ""):
            raise explained(error, given, name, revision) from error
        revision = cached_commit(name, revision)
    try:
        config = hf_hub_download(name, _CONFIG, revision=revision, local_files_only=refusal is not None)
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


def _find(given: str, name: str, snapshot: Snapshot, wanted: Wanted, refusal: PenchantError) -> None:
    """Check that the local cache has the needed files. Raises `refusal` if not, ModelError for a damaged file."""
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
    """Compare a file with the hash that the hub stated before, or that the cache uses as its name.

    Raises ModelError if neither is known.
    """
    path = snapshot.folder / file
    digest = cached_digest(path) or digests.stated(f"{name}@{snapshot.commit}/{file}")
    if not digest:
        raise ModelError(
            f"{file} cannot be verified: the hub cannot be reached, and the cache does not name the file by its hash",
            where=given,
            hint=f"connect once, or use the directory {snapshot.folder}, whose files are hashed",
        )
    verify(given, path, digest, digests.sha256)


def _download(given: str, name: str, snapshot: Snapshot, wanted: Wanted, stated: dict[str, str]) -> None:
    """Fetch the files missing from the local cache, and check all. Raises ModelError."""
    for file in wanted.settings(stated):
        _download_file(given, name, snapshot, file, stated[file], wanted.digests)
    if wanted.weights:
        weights = _weights(given, snapshot.folder, stated, wanted)
        if not weights:
            raise lacks_weights(given)
        for file in weights:
            if file not in stated:
                raise ModelError(f"the repository lacks {file}, which its index of weights names", where=given)
            if not wanted.looked_for:
                _download_file(given, name, snapshot, file, stated[file], wanted.digests)


def _listed(name: str, commit: str) -> dict[str, str]:
    """Return the files of a commit and the hash of each: SHA-256 of large files, else git's, or "".

    Raises the errors of `huggingface_hub`.
    """
    from huggingface_hub import HfApi, constants

    info = HfApi().model_info(name, revision=commit, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    return {file.rfilename: (file.lfs.sha256 if file.lfs else file.blob_id) or "" for file in info.siblings or []}


def _weights(given: str, folder: Path, names: Iterable[str], wanted: Wanted) -> list[str]:
    """Return the weight files that transformers would use, or an empty list."""
    for whole, index in (_SAFETENSORS, _PICKLED) if wanted.pickled else (_SAFETENSORS,):
        if whole in names:
            return [whole]
        if index in names:
            try:
                return sorted(set(json.loads((folder / index).read_text("utf-8"))["weight_map"].values()))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ModelError(f"{index} is not an index of weights", where=given) from error
    return []


def intact(given: str, path: Path) -> bool:
    """Return whether the local cache names a file by its hash. Raises ModelError if the hash differs."""
    digest = cached_digest(path)
    verify(given, path, digest, Digests(None).sha256)
    return bool(digest)


def _download_file(given: str, name: str, snapshot: Snapshot, file: str, digest: str, digests: Digests) -> None:
    """Fetch a missing file and check it. Raises ModelError, leaving no damaged file if it was fetched."""
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
    if digest and cached_digest(path) != digest:  # otherwise the cache itself shows it offline
        digests.remember_stated(f"{name}@{snapshot.commit}/{file}", digest)
