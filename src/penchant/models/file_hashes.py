"""Hashes of files, remembered in the answer cache, and the watch on a model's files while it is in use."""

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
"""Nanoseconds after a write within which another write may not change the time stamp."""
_TABLE = "path TEXT PRIMARY KEY, stamp TEXT, sha256 TEXT, checksum BLOB"


class Digests:
    """SHA-256 hashes of files, remembered in the SQLite file `path` (None: not remembered).

    A remembered hash holds while size, times and inode of the file stay the same. `forced` reads every file and updates
    the memory. An `optional` memory is ignored if it cannot be used.
    """

    def __init__(self, path: Path | None, *, forced: bool = False, optional: bool = False) -> None:
        self.path = path
        self.forced = forced
        self.optional = optional

    def sha256(self, file: Path) -> str:
        """Return the SHA-256 of a file's bytes, in hexadecimal.

        Raises DataError if the file cannot be read, CacheError if the memory cannot.
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
        """Return the proofs remembered for a model under the circumstances, such as versions, in `stamp`, or None."""
        if self.path is None or self.forced or foreign(self.path):
            return None
        return self._known(f"proofs of {fingerprint}", stamp)

    def remember_proofs(self, fingerprint: str, stamp: str, proofs: str) -> None:
        """Remember the proofs of a model. Raises CacheError."""
        self._remember(f"proofs of {fingerprint}", stamp, proofs)

    def stated(self, file: str) -> str:
        """Return the remembered hash that the hub stated for a file of a commit, or ""."""
        return self._known(f"stated of {file}", "") or ""

    def remember_stated(self, file: str, digest: str) -> None:
        """Remember the hash that the hub stated for a file. Raises CacheError."""
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
    """The files of a model, with the `stamp` that each had before it was read.

    `intact` hashes them anew; it is called only if a size, a time or an inode has changed.
    """

    stamps: Mapping[Path, str]
    intact: Callable[[], bool]

    @property
    def size(self) -> int:
        """The number of bytes in all files. Raises OSError."""
        return sum(file.stat().st_size for file in self.stamps)

    def require_same(self) -> None:
        """Raise StudyError if a file differs from the one that was read."""
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
                "changed while the model was in use; the answers since the last check are dropped",
                where=str(changed),
                hint="run again once the file no longer changes",
            )
        self.stamps = now


def stamp(file: Path, *, settled: bool = False) -> str:
    """Return a text that changes when a file does; "" for a missing file.

    With `settled`, also "" for a file written to in the last seconds.
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
