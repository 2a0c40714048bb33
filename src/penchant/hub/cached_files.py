"""Files of the hub in its local cache: which commit a name stands for, and whether a file is what the hub has.

`huggingface_hub` compares sizes only, so files are compared here with the hashes that the hub states.
"""

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
"""A commit."""
_SHORT_COMMIT = re.compile("[0-9a-f]{7,39}")
_SHA256_LENGTH = 64
_MOST_RESTARTS = 3
"""A download that starts from the beginning more often than this is given up."""


def storage(name: str, repo_type: RepoType) -> Path:
    """The folder of a repository in the local cache."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=name, repo_type=repo_type))


def twice(call: Callable[[], Any]) -> Any:
    """What a call gives, tried a second time after a failure of the server. `huggingface_hub` would try for minutes.

    Raises what `huggingface_hub` raises.
    """
    try:
        return call()
    except Exception as error:
        if not is_transient(error):
            raise
        time.sleep(1)
        return call()


def ask(name: str, file: str, revision: str | None, repo_type: RepoType = "model") -> Any:
    """A file's metadata. Raises what `huggingface_hub` raises."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(name, file, revision=revision, repo_type=repo_type)
    return twice(lambda: get_hf_file_metadata(url, timeout=constants.HF_HUB_ETAG_TIMEOUT))


def cached_commit(name: str, revision: str | None, repo_type: RepoType = "model") -> str | None:
    """The commit in the local cache that begins with these digits, if there is exactly one; else the revision."""
    if not _SHORT_COMMIT.fullmatch(revision or ""):
        return revision
    commits = [path.name for path in (storage(name, repo_type) / "snapshots").glob(f"{revision}*")]
    return commits[0] if len(commits) == 1 else revision


def giving_up() -> Any:
    """A progress bar, never shown, that ends a download which a server cuts and starts anew again and again."""
    from huggingface_hub.utils.tqdm import tqdm

    class GivingUp(tqdm):  # type: ignore[type-arg,unused-ignore]
        restarts = 0

        def update(self, n: float | None = 1) -> Any:
            self.restarts += (n or 0) < 0
            if self.restarts > _MOST_RESTARTS:
                raise ConnectionError("the server cuts it and starts from the beginning")
            return super().update(n)

    return GivingUp


def cached_digest(path: Path) -> str:
    """Return the hash that the local cache names a file by; "" where the file is no link into the cache's own blobs."""
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
    """Raise `what` if a file does not have the SHA-256 or the git hash `digest`; remove it if it is `fresh`."""
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
            f"{path.name} arrived damaged: its hash is not the one that the hub states",
            where=given,
            hint="run again to fetch it anew",
        )
    raise what(
        f"{path.name} in the local hub cache is not what the hub has: its hash differs",
        where=given,
        hint=f"delete {blob} and run again",
    )
