"""File hashes stored in the answer cache, and detection of changes to a model's files while it is in use."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from penchant.errors import ModelError, StudyError
from penchant.files import sha256_file
from penchant.models.answer_cache_file import connected, foreign, patiently, unusable

_FRESH = 2_000_000_000
"""Time in nanoseconds after a write during which another write may leave the time stamp unchanged."""
_TABLE = "path TEXT PRIMARY KEY, stamp TEXT, sha256 TEXT, checksum BLOB"


class Digests:
    """SHA-256 hashes of files, stored in the SQLite file `path`, or not stored if `path` is None.

    A stored hash is valid while the file's size, times and inode are unchanged. `forced` hashes every file again and
    updates its stored hash. `optional` ignores a store that cannot be used.
    """

    def __init__(self, path: Path | None, *, forced: bool = False, optional: bool = False) -> None:
        self.path = path
        self.forced = forced
        self.optional = optional

    def sha256(self, file: Path) -> str:
        """Return the SHA-256 of a file's contents in hexadecimal.

        Raises DataError if the file cannot be read, CacheError if the store of hashes cannot be used.
        """
        other = foreign(self.path) if self.path is not None else ""
        if self.path is None or (other and self.optional):
            return sha256_file(file)
        if other:
            raise unusable(self.path, other)
        name, now = str(file.resolve()), stamp(file)
        known = None if self.forced else self._known(name, now)
        if re.fullmatch("[0-9a-f]{64}", known or ""):
            return str(known)
        digest = sha256_file(file)
        if now and now == stamp(file, settled=True):
            self._remember(name, now, digest)
        return digest

    def _known(self, name: str, stamp: str) -> str | None:
        if self.path is None or not self.path.exists():
            return None
        try:
            with closing(self._open()) as db:
                row = db.execute("SELECT stamp, sha256, checksum FROM files WHERE path = ?", (name,)).fetchone()
        except sqlite3.Error as error:
            if self.optional:
                return None
            raise unusable(self.path, error) from error
        if row is None or row[0] != stamp or row[2] != _checksum(name, stamp, row[1]):
            return None
        return str(row[1])

    def proved(self, fingerprint: str, stamp: str) -> str | None:
        """Return the stored properties of a model (see `Proofs`) as JSON; None if none are stored for this `stamp`.

        `stamp` is the result of `penchant.models.verified_properties.circumstances`.
        """
        if self.path is None or self.forced or foreign(self.path):
            return None
        return self._known(f"proofs of {fingerprint}", stamp)

    def remember_proofs(self, fingerprint: str, stamp: str, proofs: str) -> None:
        """Store the properties of a model. Raises CacheError if they cannot be written."""
        self._remember(f"proofs of {fingerprint}", stamp, proofs)

    def stated(self, file: str) -> str:
        """Return the stored hash that the hub reported for `file` (NAME@COMMIT/PATH); "" if none is stored."""
        return self._known(f"stated of {file}", "") or ""

    def remember_stated(self, file: str, digest: str) -> None:
        """Store the hash that the hub reported for `file` (NAME@COMMIT/PATH).

        Raises CacheError if the hash cannot be written.
        """
        self._remember(f"stated of {file}", "", digest)

    def _remember(self, name: str, stamp: str, digest: str) -> None:
        if self.path is None or foreign(self.path):
            return
        try:
            row = (name, stamp, digest, _checksum(name, stamp, digest))
            with closing(self._open()) as db:
                patiently(self.path, lambda: db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", row))
        except (sqlite3.Error, OSError) as error:
            if not self.optional:
                raise unusable(self.path, error) from error

    def _open(self) -> sqlite3.Connection:
        assert self.path is not None
        db = connected(self.path)
        patiently(self.path, lambda: db.execute(f"CREATE TABLE IF NOT EXISTS files ({_TABLE}) WITHOUT ROWID"))
        return db


@dataclass(slots=True)
class WatchedFiles:
    """A model's files, with the `stamp` of each file before the model was loaded.

    `intact` hashes the files again and returns whether they are unchanged; it is called only if a stamp has changed.
    """

    stamps: Mapping[Path, str]
    intact: Callable[[], bool]

    @property
    def size(self) -> int:
        """Total size of the files in bytes. Raises OSError if a file is missing."""
        return sum(file.stat().st_size for file in self.stamps)

    def require_same(self) -> None:
        """Raise StudyError if the contents of a file have changed since it was loaded."""
        now = {file: stamp(file) for file in self.stamps}
        if now == self.stamps:
            return
        try:
            same = self.intact() and all(stamp(file) == was for file, was in now.items())
        except (ModelError, OSError):
            same = False
        if not same:
            changed = next(file for file, was in self.stamps.items() if now[file] != was)
            raise StudyError(
                "the file changed while the model was in use; results since the last check have been discarded",
                where=str(changed),
                hint="run again once the file has stopped changing",
            )
        self.stamps = now


def stamp(file: Path, *, settled: bool = False) -> str:
    """Return a file's size, times and inode as a string, to detect changes; "" if the file is missing.

    If `settled` is true, return "" also for a file modified in the last two seconds.
    """
    try:
        now = file.stat()
    except OSError:
        return ""
    if settled and time.time_ns() - now.st_mtime_ns <= _FRESH:
        return ""
    return f"{now.st_size} {now.st_mtime_ns} {now.st_ctime_ns} {now.st_dev} {now.st_ino}"


def _checksum(name: str, stamp: str, digest: object) -> bytes:
    return hashlib.blake2b(f"{name}\0{stamp}\0{digest}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
