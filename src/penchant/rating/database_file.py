"""File handling for databases of judgements: locking, detection of missing answers, and backup.

SQLite writes changes to FILE-wal before merging them into FILE. While FILE-wal contains answers, the user version in
the header of FILE is a number g > 0, called the mark, and FILE-wal contains −g instead. Merging therefore removes the
mark, and the two numbers show whether FILE-wal is missing or belongs to another state of FILE.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Self

from penchant.errors import DataError, OutputError, StudyError, first_line
from penchant.files import holding, occupied, refuse_other, replacing
from penchant.tables.judgement_database import APPLICATION, HEADER, MAGIC, is_beside, mark_of, refuse_part, with_mark
from penchant.text_io import require_file

_EVERY = 500
"""Number of changes after which FILE-wal is merged into FILE."""


def is_database(path: Path) -> bool:
    """Return whether a file is an SQLite database."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


class Database:
    """Database locked by this process; changes are on disk when the block of `change` ends."""

    def __init__(self, path: Path, handle: int, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self._handle = handle
        self._changes = 0
        self._changing = False

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: str | Path, *, make: bool) -> Iterator[Self]:
        """Open a database, following symbolic links; create it if it does not exist and `make` is true.

        Raises OutputError if the file is not a database, has several hard links or is locked by another process;
        StudyError if it does not exist and `make` is false; DataError if it is incomplete or damaged.
        """
        refuse_other(path, "a database of judgements", is_database)
        if not make and not occupied(path):
            raise StudyError("no such database", where=str(path), hint="create one with penchant rate TARGET -o FILE")
        file = Path(os.path.realpath(path))
        try:
            os.close(
                os.open(file, os.O_CREAT | os.O_WRONLY, 0o600)
            )  # readable by its owner only, as it holds the links
            with holding(file) as handle:
                assert handle is not None
                _require_one_name(file, handle)
                _require_whole(file, _mark(handle))
                with closing(_connected(file)) as connection:
                    database = cls(file, handle, connection)
                    database._require_sound()
                    yield database
                    with contextlib.suppress(sqlite3.Error):  # left to the next start
                        database.bring_in()
        except BlockingIOError as error:
            message = "is being served by another process"
            raise OutputError(message, where=str(path), hint="stop that process, or give another file") from error
        except OSError as error:
            raise OutputError(f"cannot be written: {error.strerror or error}", where=str(path)) from error

    @property
    def is_new(self) -> bool:
        """Return whether the database is empty. Raises OutputError if it contains anything other than judgements."""
        (tables,) = self.connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables and self.connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise OutputError("is not a database of judgements", where=str(self.path))
        return not tables

    @contextlib.contextmanager
    def change(self) -> Iterator[None]:
        """Run a block as one transaction, committed to disk when it ends and rolled back if it fails."""
        if self._changing:
            yield
            return
        if self.connection.in_transaction:  # left by a failure whose rollback failed
            self.connection.execute("ROLLBACK")
        if self._changes >= _EVERY or not self._is_marked():
            self._set_mark()
        self.connection.execute("BEGIN IMMEDIATE")
        self._changing = True
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise
        finally:
            self._changing = False
        self._changes += 1

    def bring_in(self) -> bool:
        """Merge the changes in FILE-wal into FILE; return False if another program that reads FILE prevents this."""
        self._set_mark()  # the mark stays until all answers are merged
        (busy, _, _) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def _require_sound(self) -> None:
        if self.connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise DataError("is damaged", file=self.path, hint="continue with a copy made by --backup")

    def _is_marked(self) -> bool:
        mark = _mark(self._handle)
        return mark > 0 and self._number() == -mark

    def _number(self) -> int:
        (number,) = self.connection.execute("PRAGMA user_version").fetchone()
        return int(number)

    def _set_mark(self) -> None:
        """Merge the changes in FILE-wal into FILE and set the mark in the header of FILE.

        If another program is reading FILE, the changes may be merged without the mark being set; the next change then
        tries again to set it.
        """
        number = abs(_mark(self._handle)) + 1
        self.connection.execute(f"PRAGMA user_version = {number}")
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self.connection.execute(f"PRAGMA user_version = {-abs(_mark(self._handle))}")
        self._changes = 0


def back_up(path: str | Path, to: str | Path) -> None:
    """Copy a database atomically, even while it is being served.

    Raises DataError if `path` is not a complete database of judgements, and OutputError if `path` has several hard
    links or `to` exists.
    """
    for name in (Path(to), Path(f"{to}-wal")):
        if occupied(name):
            raise OutputError("already exists", where=str(name), hint="give another file")
    file = Path(os.path.realpath(path))
    require_file(path)
    with file.open("rb") as stream:  # not `opened`, since the file may be written to meanwhile
        header = stream.read(HEADER)
        if not header.startswith(MAGIC):
            raise DataError("is not a database of judgements", file=path)
        _require_one_name(file, stream.fileno())
    try:
        _require_whole(file, mark_of(header))
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True)) as connection:
            connection.execute("BEGIN")
            if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
                raise DataError("is not a database of judgements", file=path)
            data = connection.serialize()
    except sqlite3.Error as error:
        raise DataError(f"cannot be read: {first_line(error)}", file=path) from error
    with replacing(to) as copy:
        os.chmod(copy.name, 0o600)  # noqa: PTH101
        copy.write(with_mark(data, -abs(mark_of(data))))


def _mark(handle: int) -> int:
    """Return the mark in a file's header.

    The mark is read from `handle`, since closing a second handle would release SQLite's locks.
    """
    return mark_of(os.pread(handle, HEADER, 0))


def _require_one_name(file: Path, handle: int) -> None:
    """Raise OutputError if a file has several hard links, since SQLite expects FILE-wal beside the name in use."""
    if os.fstat(handle).st_nlink > 1:
        hint = "remove the other links, or stop serving the file, copy it with cp, and give the copy"
        raise OutputError("has several hard links", where=str(file), hint=hint)


def _require_whole(file: Path, mark: int) -> None:
    """Raise DataError if FILE-wal is required but missing, or if it does not match the file."""
    if not is_beside(file):
        refuse_part(file, mark)
        return
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:  # read-only, to change neither
        (number,) = connection.execute("PRAGMA user_version").fetchone()
    if number not in (mark, -abs(mark), abs(mark) + 1):
        message = f"{file.name}-wal does not match the file"
        hint = f"if you replaced the file with a copy, remove {file.name}-wal; make copies with --backup"
        raise DataError(message, file=file, hint=hint)


def _connected(file: Path) -> sqlite3.Connection:
    """Return a connection whose commits return only after the changes are on disk."""
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0", "secure_delete = ON"):
        connection.execute(f"PRAGMA {setting}")
    return connection
