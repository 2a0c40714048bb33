"""Answers kept between runs, in one SQLite file that several processes may share.

One row holds all answers known for one input of one model. Its key is a hash of the model's fingerprint, the number
format, the kind of read and the token ids, so two models never share an answer. Values are stored as computed (float32,
not rounded). Each batch is written in one transaction, so that an interruption loses at most the batch in progress.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from penchant.engine.plan import Input
from penchant.engine.reads import TOP
from penchant.errors import CacheError

FORMAT = 1
"""The version of stored answers; to be changed when newly computed ones would differ."""


def default_path() -> Path:
    """`$PENCHANT_CACHE`, else `penchant/answers.sqlite` in the user's cache directory."""
    named = os.environ.get("PENCHANT_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "penchant" / "answers.sqlite"


class Cache:
    """The answers of one model, told apart by `fingerprint` and `dtype`, in the file `path`.

    Raises CacheError, naming the file, when it is damaged, of another format, or cannot be written.
    """

    def __init__(self, path: str | Path, fingerprint: str, dtype: str) -> None:
        self.path = Path(path)
        self._space = f"{FORMAT}|{fingerprint}|{dtype}".encode()
        if self._is_another_kind():
            raise self._broken("it is a file of another kind")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=120, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, wants BLOB, answer BLOB) WITHOUT ROWID"
            )
            columns = [row[1] for row in self._db.execute("PRAGMA table_info(answers)")]
        except (sqlite3.Error, OSError) as error:
            raise self._broken(error) from error
        if columns != ["key", "wants", "answer"]:
            raise self._broken("it holds other tables")

    def _is_another_kind(self) -> bool:
        """Whether the file exists and is not SQLite's, which would silently overwrite a short file of any kind."""
        try:
            with self.path.open("rb") as stream:
                start = stream.read(16)
        except OSError:
            return False
        return start not in (b"", b"SQLite format 3\0")

    def _broken(self, reason: object) -> CacheError:
        return CacheError(
            f"cannot be used as a cache of answers ({reason})",
            where=str(self.path),
            hint="delete the file, name another with --cache PATH, or turn caching off with --cache none",
        )

    def _key(self, source: Input) -> bytes:
        kind, parameter = source.kind
        digest = hashlib.blake2b(self._space, digest_size=16)
        digest.update(f"|{kind}|{parameter}|".encode())
        digest.update(np.array(source.ids, dtype=np.int32).tobytes())
        return digest.digest()

    def fill(self, inputs: Sequence[Input]) -> list[Input]:
        """Set the answers of the inputs that are stored in full; return the inputs that must be computed."""
        missing: list[Input] = []
        for start in range(0, len(inputs), 500):
            part = {self._key(source): source for source in inputs[start : start + 500]}
            marks = ",".join("?" * len(part))
            try:
                rows = self._db.execute(
                    f"SELECT key, wants, answer FROM answers WHERE key IN ({marks})", list(part)
                ).fetchall()
            except sqlite3.Error as error:
                raise self._broken(error) from error
            for key, wants, answer in rows:
                try:
                    _answer_from(part[key], wants, answer)
                except ValueError as error:
                    raise self._broken(error) from error
            missing.extend(source for source in part.values() if source.answer is None)
        return missing

    def store(self, inputs: Iterable[Input]) -> None:
        """Store the answers of one batch, in one transaction."""
        rows = [
            (self._key(source), np.array(source.wants, dtype=np.int32).tobytes(), source.answer.tobytes())
            for source in inputs
            if source.answer is not None
        ]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def close(self) -> None:
        """Close the file; any later use raises CacheError."""
        self._db.close()


def _answer_from(source: Input, wants: bytes, answer: bytes) -> None:
    """Set `source.answer` from a stored row if it covers every want.

    If it does not, the stored wants are added to those of the input, so that the row is recomputed and replaced.
    """
    known = {(at, token): i for i, (at, token) in enumerate(np.frombuffer(wants, np.int32).reshape(-1, 2).tolist())}
    chosen = [known.get(want, -1) for want in source.slots]
    if -1 in chosen:
        for want in known:
            source.slots.setdefault(want, len(source.slots))
        return
    kind = source.kind[0]
    if kind == "attention":
        source.answer = np.frombuffer(answer, np.float32).reshape(2, len(known))[:, chosen]
    else:
        values = np.frombuffer(answer, TOP if kind == "topk" else np.float32)
        source.answer = values.reshape(len(known), -1)[chosen].reshape(
            (len(chosen),) if kind == "logprob" else (len(chosen), -1)
        )
