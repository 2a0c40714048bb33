"""Hub data sets: resolution of `hf://datasets/OWNER/NAME@REVISION/PATH` to cached files of a commit."""

from __future__ import annotations

import difflib
import fnmatch
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

from penchant.errors import HUB_DATA, DataError, PenchantError
from penchant.files import sha256_file, write_json, write_text
from penchant.hub.cached_files import COMMIT, ask, cached_commit, cached_digest, giving_up, storage, twice, verify
from penchant.hub.errors import DATA_SET, explained, is_unreachable
from penchant.text_io import read_text

FORM = "hf://datasets/OWNER/NAME@REVISION/PATH"
"""The format of hub addresses; @REVISION may be omitted."""
_NAME = re.compile(r"hf:/{1,2}(datasets/)?(.*)", re.DOTALL)
"""Pattern of hub addresses; conversion to a Path removes one of the two slashes."""
_WILD = re.compile(r"[*?\[]")
_LISTS = "penchant"
"""The folder in a repository's local cache that contains a list of files for each commit."""
_commits: dict[str, str] = {}
"""The commit of each OWNER/NAME@REVISION that was requested."""


def is_hub(name: str | Path) -> bool:
    """Return whether a name is a hub address."""
    return _NAME.fullmatch(str(name)) is not None


@contextmanager
def pinned(known: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Pin revisions to the `known` commits, keyed by OWNER/NAME@REVISION, within the `with` block.

    Yields a mapping of the known commits, to which the commits of other requested revisions are added.
    """
    global _commits
    before, _commits = _commits, dict(known)
    try:
        yield _commits
    finally:
        _commits = before


def address(path: str | Path) -> str:
    """Return the hub address, with the commit, of a file or directory in the local cache, or "" for other paths."""
    match = HUB_DATA.fullmatch(str(path))
    if match is None:
        return ""
    owner, name, first, rest, inside = match.groups()
    return f"hf://datasets/{owner}/{name}@{first}{rest}{inside}".replace("\\", "/")


def repositories(paths: Iterable[str | Path]) -> list[str]:
    """Return the distinct data sets to which the paths belong, as OWNER/NAME@COMMIT."""
    found = (HubData.of(named) for named in map(address, paths) if named)
    return list(dict.fromkeys(f"{data.name}@{data.revision}" for data in found))


@dataclass(frozen=True, slots=True)
class HubData:
    """The parts of a hub address: a repository's name, a revision or "", and a path or pattern in the repository."""

    given: str
    name: str
    revision: str
    path: str

    @classmethod
    def of(cls, given: str | Path) -> HubData:
        """Parse a hub address; raise DataError if its form or the name of the repository is invalid."""
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils._validators import validate_repo_id

        match = _NAME.fullmatch(str(given))
        owner, _, rest = (match[2] if match and match[1] else "").partition("/")
        name, _, path = rest.partition("/")
        name, at, revision = name.partition("@")
        parts = path.rstrip("/").split("/") if path else []
        if not owner or not name or (at and not revision) or any(part in ("", ".", "..") for part in parts):
            raise DataError("is not a valid hub address", where=_shown(given), hint=f"write {FORM}")
        try:
            validate_repo_id(f"{owner}/{name}")
        except HFValidationError as error:
            raise explained(error, _shown(given), name, revision, wanted=DATA_SET) from error
        return cls(_shown(given), f"{owner}/{name}", unquote(revision), "/".join(parts))

    def commit(self) -> str:
        """Return the commit of the revision; raise DataError if it cannot be determined.

        A pinned commit takes precedence over the hub's answer; the local cache is used if the hub cannot be reached.
        """
        if COMMIT.fullmatch(self.revision):
            return self.revision
        key = f"{self.name}@{self.revision or 'main'}"
        if key not in _commits:
            _commits[key] = self._resolved(self.revision or "main")
        return _commits[key]

    def _resolved(self, revision: str) -> str:
        from huggingface_hub import HfApi, constants

        home = storage(self.name, "dataset")
        try:
            wait = constants.HF_HUB_ETAG_TIMEOUT
            info = twice(lambda: HfApi().dataset_info(self.name, revision=revision, timeout=wait, expand=["sha"]))
        except Exception as error:
            reference = home / "refs" / revision
            cached = reference.read_text("utf-8").strip() if reference.is_file() else None
            cached = cached or cached_commit(self.name, revision, "dataset")
            if is_unreachable(error) and cached and COMMIT.fullmatch(cached):
                return cached
            raise explained(error, self.given, self.name, revision, wanted=DATA_SET) from error
        commit = str(info.sha)
        if revision != commit and not commit.startswith(revision):
            write_text(commit, home / "refs" / revision)  # as huggingface_hub does
        return commit


def _shown(given: str | Path) -> str:
    """Return a hub address with both slashes after `hf:`, even if it was converted to a Path."""
    return re.sub(r"\Ahf:/+", "hf://", str(given))


def pinned_url(name: str) -> str:
    """Return the hub address with the revision replaced by its commit; raise DataError if it cannot be determined."""
    data = HubData.of(name)
    return f"hf://datasets/{data.name}@{data.commit()}/{data.path}".rstrip("/")


def fetched(name: str | Path) -> list[Path]:
    """Return the cached paths of a hub address, after downloading missing files; raise DataError if that fails.

    For a pattern, the paths are those of the matching files, sorted. For a directory, the files directly inside it are
    downloaded, and its own path is the only one returned.
    """
    data = HubData.of(name)
    return _Fetching(data, data.commit()).places()


@dataclass(frozen=True, slots=True)
class _Fetching:
    """Download of the files that a hub address selects from a commit."""

    data: HubData
    commit: str

    @property
    def folder(self) -> Path:
        return storage(self.data.name, "dataset") / "snapshots" / self.commit

    def places(self) -> list[Path]:
        """Download missing files and return the cached paths (see `fetched`); raise DataError if that fails."""
        path = self.data.path
        if _WILD.search(path):
            files = [file for file in self._listed() if _matches(file.split("/"), path.split("/"))]
        elif path and ((self.folder / path).is_file() or not self._is_known_folder(path)):
            try:
                return [self._file(path)]
            except _AbsentError:
                files = self._inside(path)
        else:
            files = self._inside(path)
        if not files:
            self._absent()
        paths = [self._file(file) for file in files]
        return paths if _WILD.search(path) else [self.folder / path]

    def _inside(self, path: str) -> list[str]:
        """Return the commit's files that are directly inside the directory `path`."""
        prefix = f"{path}/" if path else ""
        return [file for file in self._listed() if file.startswith(prefix) and "/" not in file[len(prefix) :]]

    def _is_known_folder(self, path: str) -> bool:
        return any(file.startswith(f"{path}/") for file in self._remembered())

    def _file(self, file: str) -> Path:
        """Return the cached path of a file of the commit, downloaded if missing, and verify its hash.

        Raises DataError if that fails, and _AbsentError if the commit does not contain the file.
        """
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

        data, place = self.data, self.folder / file
        fresh = not place.is_file()
        if fresh:
            try:
                ask(data.name, file, self.commit, "dataset")
                hf_hub_download(data.name, file, repo_type="dataset", revision=self.commit, tqdm_class=giving_up())
            except Exception as error:
                if isinstance(error, EntryNotFoundError) and not isinstance(error, LocalEntryNotFoundError):
                    raise _AbsentError from error
                raise self._explained(error, file) from error
        verify(data.given, place, cached_digest(place), sha256_file, fresh=fresh, what=DataError)
        return place

    @property
    def _memory(self) -> Path:
        return storage(self.data.name, "dataset") / _LISTS / f"{self.commit}.json"

    def _remembered(self) -> list[str]:
        """Return the cached list of the commit's files, or an empty list if there is no such cache."""
        try:
            return list(json.loads(read_text(self._memory)))
        except (DataError, ValueError, TypeError):
            return []

    def _listed(self) -> list[str]:
        """Return the commit's files, sorted and without hidden files; raise DataError if they cannot be listed."""
        from huggingface_hub import HfApi, constants

        known, wait = self._remembered(), constants.HF_HUB_ETAG_TIMEOUT
        if known:
            return known
        try:
            info = twice(lambda: HfApi().dataset_info(self.data.name, revision=self.commit, timeout=wait))
        except Exception as error:
            raise self._explained(error, self.data.path) from error
        names = (file.rfilename for file in info.siblings or [])
        listed = sorted(name for name in names if not any(part.startswith(".") for part in name.split("/")))
        write_json(listed, self._memory)
        return listed

    def _absent(self) -> NoReturn:
        """Raise DataError for a path that the commit does not contain, with a hint that suggests similar paths."""
        path, there = self.data.path, self._listed()
        short = {file.rpartition("/")[2]: file for file in reversed(there)}
        near = difflib.get_close_matches(path, there, 3, 0.6)
        near += [short[name] for name in difflib.get_close_matches(path.rpartition("/")[2], short, 3, 0.6)]
        near = list(dict.fromkeys(near))[:3]
        hint = f"did you mean {', '.join(near)}?" if near else DATA_SET.hint
        problem = "matches no file of" if _WILD.search(path) else "is not a file or directory of"
        what = f"'{path}' {problem}" if path else "there are no files in"
        raise DataError(f"{what} {self.data.name} at {self.commit[:7]}", where=self.data.given, hint=hint) from None

    def _explained(self, error: Exception, file: str) -> PenchantError:
        explanation = explained(error, self.data.given, self.data.name, self.commit, file=file, wanted=DATA_SET)
        if is_unreachable(error):
            explanation.message += "; the local cache has no copy"
        return explanation


class _AbsentError(Exception):
    """Raised if the commit has no file at a path, even if it has a directory there."""


def _matches(names: list[str], patterns: list[str]) -> bool:
    """Return whether the parts of a path match the parts of a pattern, where ** matches any number of folders."""
    if not patterns:
        return not names
    if patterns[0] == "**":
        return any(_matches(names[at:], patterns[1:]) for at in range(len(names) + 1))
    return bool(names) and fnmatch.fnmatchcase(names[0], patterns[0]) and _matches(names[1:], patterns[1:])
