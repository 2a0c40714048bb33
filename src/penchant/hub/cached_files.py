"""Hub files in the local cache: resolution of names to commits, and verification of files by their hashes."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from penchant.errors import ModelError, PenchantError
from penchant.hub.errors import is_transient

RepoType = Literal["model", "dataset"]
COMMIT = re.compile("[0-9a-f]{40}")
"""Pattern of a full commit hash."""
_SHORT_COMMIT = re.compile("[0-9a-f]{7,39}")
_SHA256_LENGTH = 64
_MOST_RESTARTS = 3
"""The maximum number of restarts before a download is abandoned."""


def storage(name: str, repo_type: RepoType) -> Path:
    """Return the folder of a repository in the local cache."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=name, repo_type=repo_type))


def twice(call: Callable[[], Any]) -> Any:
    """Call a function, and repeat the call once after a server error.

    Raises the errors of `huggingface_hub`.
    """
    try:
        return call()
    except Exception as error:
        if not is_transient(error):
            raise
        time.sleep(1)
        return call()


def ask(name: str, file: str, revision: str | None, repo_type: RepoType = "model") -> Any:
    """Return a file's metadata on the hub. Raises the errors of `huggingface_hub`."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(name, file, revision=revision, repo_type=repo_type)
    return twice(lambda: get_hf_file_metadata(url, timeout=constants.HF_HUB_ETAG_TIMEOUT))


def cached_commit(name: str, revision: str | None, repo_type: RepoType = "model") -> str | None:
    """Return the full hash if `revision` is the beginning of exactly one cached commit's hash, else `revision`."""
    if not _SHORT_COMMIT.fullmatch(revision or ""):
        return revision
    commits = [path.name for path in (storage(name, repo_type) / "snapshots").glob(f"{revision}*")]
    return commits[0] if len(commits) == 1 else revision


def giving_up() -> Any:
    """Return a hidden progress-bar class that aborts a download if it restarts too often."""
    from huggingface_hub.utils.tqdm import tqdm

    class GivingUp(tqdm):  # type: ignore[type-arg,unused-ignore]
        restarts = 0

        def update(self, n: float | None = 1) -> Any:
            self.restarts += (n or 0) < 0
            if self.restarts > _MOST_RESTARTS:
                raise ConnectionError("the server repeatedly interrupted the download")
            return super().update(n)

    return GivingUp


def cached_digest(path: Path) -> str:
    """Return the hash in the name of a cached file's blob, or "" if the file is not a link to a blob in the cache."""
    blobs = [folder.parent / "blobs" for folder in path.parents if folder.name == "snapshots"]
    target = path.resolve()
    return target.name if path.is_symlink() and blobs and target.parent == blobs[0].resolve() else ""


def verify(
    given: str,
    path: Path,
    digest: str,
    sha256: Callable[[Path], str],
    *,
    fresh: bool = False,
    what: type[PenchantError] = ModelError,
) -> None:
    """Raise an exception of class `what` if a file's SHA-256 or git hash is not `digest`.

    `given` is the name shown in the message. A damaged file is deleted if it is `fresh`, that is, just
    downloaded. A `digest` that is neither kind of hash is not checked.
    """
    if not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", digest):
        return
    if len(digest) == _SHA256_LENGTH:
        actual = sha256(path)
    else:
        header = f"blob {path.stat().st_size}\0".encode()
        with path.open("rb") as stream:
            actual = hashlib.file_digest(stream, lambda: hashlib.sha1(header, usedforsecurity=False)).hexdigest()
    if actual == digest:
        return
    blob = path.resolve()
    if fresh:
        blob.unlink()
        path.unlink(missing_ok=True)
        raise what(
            f"{path.name} was damaged during the download: its hash differs from the hub's",
            where=given,
            hint="run again to download it again",
        )
    raise what(
        f"{path.name} in the local hub cache is damaged: its hash differs from the hub's",
        where=given,
        hint=f"delete {blob} and run again",
    )
