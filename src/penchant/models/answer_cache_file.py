"""The SQLite file of cached answers and hashes: path, checks before use, and waiting for locks."""

from __future__ import annotations

import os
import sqlite3
import stat
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from penchant.errors import CacheError, CacheWarning
from penchant.files import head

T = TypeVar("T")
PATIENCE = 5
"""Seconds to wait, before a warning is issued, for a file that another process has locked."""
_TURNS = 24
"""Number of waits of `PATIENCE` seconds before giving up: two minutes in all."""
TABLES = {
    "answers": ["key", "wants", "answer", "checksum"],
    "replies": ["key", "answer", "checksum"],
    "files": ["path", "stamp", "sha256", "checksum"],
}
"""The tables of a cache file and their columns."""
_ELSEWHERE = "use another cache or none (--cache on the command line, cache= in Python)"
_MENDS = {
    sqlite3.SQLITE_READONLY: _ELSEWHERE,
    sqlite3.SQLITE_CANTOPEN: _ELSEWHERE,
    sqlite3.SQLITE_PERM: _ELSEWHERE,
    sqlite3.SQLITE_FULL: f"free some space, or {_ELSEWHERE}",
    sqlite3.SQLITE_BUSY: f"end the process that has locked it, or {_ELSEWHERE}",
}


def default_path() -> Path:
    """Return `$PENCHANT_CACHE`, else `penchant/answers.sqlite` in the user's cache directory."""
    named = os.environ.get("PENCHANT_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "penchant" / "answers.sqlite"


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection to the cache file, creating the file if necessary. Raises sqlite3.Error or OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    patiently(path, lambda: db.execute("PRAGMA journal_mode=WAL"))
    return db


def patiently(path: Path, act: Callable[[], T]) -> T:
    """Call `act` and return its result, retrying for two minutes while the file is locked.

    Warns after five seconds. Raises sqlite3.Error if `act` fails or the file remains locked.
    """
    for turn in range(_TURNS - 1):
        try:
            return act()
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY:
                raise
            if not turn:
                warnings.warn(f"{path}: waiting for another process to unlock the file", CacheWarning, stacklevel=3)
    return act()


def unusable(path: Path, reason: object) -> CacheError:
    """Return the CacheError for a cache file that cannot be used, with the reason and a hint."""
    code = _code(reason) if isinstance(reason, sqlite3.Error) else -1
    mend = _ELSEWHERE if isinstance(reason, OSError) else _MENDS.get(code, f"delete the file, or {_ELSEWHERE}")
    return CacheError(f"cannot be used as an answer cache ({reason})", where=str(path), hint=mend)


def _code(error: sqlite3.Error) -> int:
    """Return an error's primary SQLite result code; 255 if the error was raised by Python itself."""
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF


def foreign(path: Path) -> str | sqlite3.Error:
    """Return the reason why a file is not a penchant cache, or "" if it may be used; the file is not changed.

    The reason is a clause, or the error raised by SQLite. Without this check, SQLite would silently overwrite a
    short file of any kind, and add tables to any other database.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "it is a directory, a device or a pipe"
        start = head(path, 16)
    except OSError:
        return ""  # opening the file will raise the error
    if not start:
        return ""
    if start != b"SQLite format 3\0":
        return "it is not an SQLite file"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as db:
            kinds = patiently(
                path, lambda: dict(db.execute("SELECT name, type FROM sqlite_master WHERE type != 'index'"))
            )
            if any(kind != "table" or name not in TABLES for name, kind in kinds.items()):
                return "it contains other tables"
            tables = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in kinds}
    except sqlite3.Error as error:
        return error
    return "" if all(columns == TABLES[name] for name, columns in tables.items()) else "it contains other tables"
