"""Persistent cache of a model's answers, in one SQLite file that several processes may share."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from penchant.engine.batch_plan import Input
from penchant.engine.forward_requests import TOP, impossible
from penchant.models.answer_cache_file import TABLES, connected, default_path, foreign, patiently, unusable

FORMAT = 2
"""Version of stored answers, increased whenever newly computed answers would differ from stored ones."""


def chosen_path(named: str | Path | None) -> Path | None:
    """Return the path of the answer cache that the user chose: the default path for None, or None for "none"."""
    if named == "none":
        return None
    return Path(named) if named else default_path()


class CacheFile:
    """One table of the cache file `path`, for the answers of the model identified by `fingerprint` and `dtype`.

    `damaged` is the number of rows that failed a check; they are deleted. Rows are written in one transaction. Raises
    CacheError if the file cannot be read or written, or is not a cache.
    """

    table: ClassVar[str]

    def __init__(self, path: str | Path, fingerprint: str, dtype: str) -> None:
        self.path = Path(path)
        self.damaged = 0
        self._space = f"{FORMAT}|{fingerprint}|{dtype}".encode()
        other = foreign(self.path)
        if other:
            raise unusable(self.path, other)
        columns = ", ".join(f"{name} BLOB{' PRIMARY KEY' if name == 'key' else ''}" for name in TABLES[self.table])
        try:
            self._db = connected(self.path)
            self._db.execute("PRAGMA synchronous=NORMAL")
            patiently(self.path, lambda: self._db.execute("BEGIN IMMEDIATE"))
            self._db.execute(f"CREATE TABLE IF NOT EXISTS {self.table} ({columns}) WITHOUT ROWID")
            self._db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error) from error

    def _read(self, keys: Sequence[bytes]) -> list[tuple[bytes, ...]]:
        marks = ",".join("?" * len(keys))
        try:
            columns = ", ".join(TABLES[self.table])
            return self._db.execute(f"SELECT {columns} FROM {self.table} WHERE key IN ({marks})", keys).fetchall()
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error

    def _drop(self, keys: Sequence[bytes]) -> None:
        self.damaged += len(keys)
        self._write(f"DELETE FROM {self.table} WHERE key = ?", [(key,) for key in keys])

    def _insert(self, rows: Sequence[tuple[bytes, ...]]) -> None:
        marks = ", ".join("?" * len(TABLES[self.table]))
        whole = [(*row, checksum(*row)) for row in rows]
        self._write(f"INSERT OR REPLACE INTO {self.table} VALUES ({marks})", whole)

    def _write(self, statement: str, rows: Sequence[tuple[bytes, ...]]) -> None:
        try:
            patiently(self.path, lambda: self._db.execute("BEGIN IMMEDIATE"))
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error

    def close(self) -> None:
        """Close the file; any later use raises CacheError."""
        self._db.close()


class Cache(CacheFile):
    """The cached answers of one model; a row contains all known answers for one input.

    Damaged answers are computed again.
    """

    table = "answers"

    def _key(self, source: Input) -> bytes:
        kind, parameter = source.kind
        digest = hashlib.blake2b(self._space, digest_size=16)
        digest.update(f"|{kind}|{parameter}|".encode())
        digest.update(np.array(source.ids, dtype=np.int32).tobytes())
        return digest.digest()

    def fill(self, inputs: Sequence[Input]) -> list[Input]:
        """Set the answers of inputs whose requested values are all stored; return the inputs that must be computed."""
        missing: list[Input] = []
        for start in range(0, len(inputs), 500):
            part = {self._key(source): source for source in inputs[start : start + 500]}
            rows = self._read(list(part))
            # In a damaged file a row may be found under the key of another row.
            bad = [key for key, *row in rows if key not in part or not _believed(part[key], key, *row)]
            if bad:
                self._drop(bad)
            missing.extend(source for source in part.values() if source.answer is None)
        return missing

    def store(self, inputs: Iterable[Input]) -> None:
        """Write the answers for the inputs of one batch to the file, in one transaction."""
        rows = []
        for source in inputs:
            if source.answer is not None:
                rows.append((self._key(source), np.array(source.wants, np.int32).tobytes(), source.answer.tobytes()))
        self._insert(rows)


def told_damaged(count: int) -> str:
    """Return the message that `count` damaged answers were discarded."""
    return f"{count:,} damaged answers in the cache were dropped and computed again"


def checksum(*parts: bytes) -> bytes:
    """Return the checksum of a row of the cache file; `parts` are the contents of its columns."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _believed(source: Input, key: bytes, wants: object, answer: object, stored: object) -> bool:
    """Set `source.answer` if a stored row contains all requested values; return whether the row is undamaged.

    The columns of the row are `key`, `wants` (its positions and tokens), `answer` (their values) and `stored` (its
    checksum). If an undamaged row lacks some requested values, the values that it contains are requested too, so that
    the complete row is computed again and replaced.
    """
    if not isinstance(wants, bytes) or not isinstance(answer, bytes) or stored != checksum(key, wants, answer):
        return False
    kind = source.kind[0]
    try:
        pairs = np.frombuffer(wants, np.int32).reshape(-1, 2).tolist()
        known = {(at, token): i for i, (at, token) in enumerate(pairs)}
        shape = {"logprob": (len(known),), "attention": (2, len(known))}.get(kind, (len(known), -1))
        values = np.frombuffer(answer, TOP if kind == "topk" else np.float32).reshape(shape)
    except ValueError:
        return False
    if impossible(source.kind, values).any():
        return False
    chosen = [known.get(want, -1) for want in source.slots]
    if -1 in chosen:
        for want in known:
            source.slots.setdefault(want, len(source.slots))
    else:
        source.answer = values[:, chosen] if kind == "attention" else values[chosen]
    return True
