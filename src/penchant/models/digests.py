"""Hashes of files, remembered: a model of 10 GB is not read anew at every start.

A hash is remembered by the file's path, size, time of change and inode, in the SQLite file of the cache of answers.
A file that was written to in the last seconds is not remembered, for it might be written to again within the resolution
of its clock.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from penchant.files import sha256_file
from penchant.models.cache_file import connected, foreign, patiently, unusable

_FRESH = 2_000_000_000
"""Nanoseconds within which a file that was written to may be again without its time of change showing it."""
_TABLE = "path TEXT PRIMARY KEY, stamp TEXT, sha256 TEXT, checksum BLOB"


class Digests:
    """SHA-256 of files, from the SQLite file `path` where the file has not changed (None: never remembered). `forced`
    reads every file, and remembers what it finds. Where the file is `optional`, one that cannot be used is not."""

    def __init__(self, path: Path | None, *, forced: bool = False, optional: bool = False) -> None:
        self.path = path
        self.forced = forced
        self.optional = optional

    def sha256(self, file: Path) -> str:
        """The SHA-256 of a file's bytes, in hexadecimal. Raises DataError when it cannot be read, CacheError when the
        memory cannot."""
        if self.path is None:
            return sha256_file(file)
        if (other := foreign(self.path)) and self.optional:
            return sha256_file(file)
        if other:
            raise unusable(self.path, other)
        name, now = str(file.resolve()), stamp(file)
        known = None if self.forced else self._known(name, now)
        if known is not None and re.fullmatch("[0-9a-f]{64}", known):
            return known
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
        """Return what was remembered of a model under circumstances, such as versions, that `stamp` names."""
        if self.path is None or self.forced or foreign(self.path):
            return None
        return self._known(f"proofs of {fingerprint}", stamp)

    def stated(self, file: str) -> str:
        """Return the hash that the hub stated of a file of a commit; "" where it is not remembered."""
        return self._known(f"stated of {file}", "") or ""

    def remember_stated(self, file: str, digest: str) -> None:
        """Remember it. Raises CacheError."""
        if self.path is not None and not foreign(self.path):
            self._remember(f"stated of {file}", "", digest)

    def remember_proofs(self, fingerprint: str, stamp: str, proofs: str) -> None:
        """Remember something of a model. Raises CacheError."""
        if self.path is not None and not foreign(self.path):
            self._remember(f"proofs of {fingerprint}", stamp, proofs)

    def _remember(self, name: str, stamp: str, digest: str) -> None:
        assert self.path is not None
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


def stamp(file: Path, *, settled: bool = False) -> str:
    """Return what changes when a file does; "" for one that is not there or, if it must be `settled`, that was written
    to in the last seconds."""
    try:
        now = file.stat()
    except OSError:
        return ""
    if settled and time.time_ns() - now.st_mtime_ns <= _FRESH:
        return ""
    return f"{now.st_size} {now.st_mtime_ns} {now.st_ctime_ns} {now.st_dev} {now.st_ino}"


def _checksum(name: str, stamp: str, digest: object) -> bytes:
    return hashlib.blake2b(f"{name}\0{stamp}\0{digest}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
