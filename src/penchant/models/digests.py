"""Hashes of files, remembered: a model of 10 GB is not read anew at every start.

A hash is remembered by the file's path, size, time of change and inode, in the SQLite file of the cache of answers.
A file that was written to in the last seconds is not remembered, for it might be written to again within the resolution
of its clock.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

from penchant.errors import CacheError
from penchant.files import head, sha256_file

_FRESH = 2_000_000_000
"""Nanoseconds within which a file that was written to may be again without its time of change showing it."""
_TABLE = "path TEXT PRIMARY KEY, stamp TEXT, sha256 TEXT, checksum BLOB"


def default_path() -> Path:
    """`$PENCHANT_CACHE`, else `penchant/answers.sqlite` in the user's cache directory."""
    named = os.environ.get("PENCHANT_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "penchant" / "answers.sqlite"


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
            raise self._broken(other)
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
            raise self._broken(error) from error
        if row is None or row[0] != stamp or row[2] != _checksum(name, stamp, row[1]):
            return None
        return str(row[1])

    def proved(self, fingerprint: str, stamp: str) -> str | None:
        """Return what was remembered of a model under circumstances, such as versions, that `stamp` names."""
        if self.path is None or self.forced or foreign(self.path):
            return None
        return self._known(f"proofs of {fingerprint}", stamp)

    def remember_proofs(self, fingerprint: str, stamp: str, proofs: str) -> None:
        """Remember something of a model. Raises CacheError."""
        if self.path is not None and not foreign(self.path):
            self._remember(f"proofs of {fingerprint}", stamp, proofs)

    def _remember(self, name: str, stamp: str, digest: str) -> None:
        assert self.path is not None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as db:
                db.execute(
                    "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
                    (name, stamp, digest, _checksum(name, stamp, digest)),
                )
        except (sqlite3.Error, OSError) as error:
            if not self.optional:
                raise self._broken(error) from error

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(str(self.path), timeout=120, isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"CREATE TABLE IF NOT EXISTS files ({_TABLE}) WITHOUT ROWID")
        return db

    def _broken(self, reason: object) -> CacheError:
        return CacheError(
            f"cannot be used as a cache of answers ({reason})",
            where=str(self.path),
            hint="delete the file, or use another cache or none (--cache on the command line, cache= in Python)",
        )


_TABLES = {
    "answers": (["key", "wants", "answer"], ["key", "wants", "answer", "checksum"]),
    "files": (["path", "stamp", "sha256", "checksum"],),
}
"""The tables of a cache, with the columns that versions of penchant gave them."""


def foreign(path: Path) -> str:
    """What a file is, if it exists and is no cache of penchant's; "" if it may be used. It is not changed.

    SQLite would silently overwrite a short file of any kind, and add its tables to any other database.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "it is a directory, a device or a pipe"
        start = head(path, 16)
    except OSError:
        return ""  # what is wrong shows when it is opened
    if not start:
        return ""
    if start != b"SQLite format 3\0":
        return "it is a file of another kind"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=120)) as db:
            kinds = dict(db.execute("SELECT name, type FROM sqlite_master WHERE type != 'index'"))
            if any(kind != "table" or name not in _TABLES for name, kind in kinds.items()):
                return "it holds other tables"
            tables = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in kinds}
    except sqlite3.Error as error:
        return str(error)
    ours = all(columns in _TABLES[name] for name, columns in tables.items())
    return "" if ours else "it holds other tables"


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
