"""Database of judgements: the task, the raters, their orders of items, and all answers.

Answers form a journal, whose entries never change; a retraction is a separate entry. Each entry is on disk before the
page reports it as saved. Only one process at a time can open a database.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from penchant.errors import DataError, StudyError, first_line
from penchant.rating.database_file import Database
from penchant.rating.item_order import plan
from penchant.rating.rater_names import NUMBERED, is_numbered, refuse_alike
from penchant.rating.tasks import Question, RatingTask, task_of
from penchant.tables.judgement_database import APPLICATION, CURRENT, VERSION

OWNER = "owner"
JOIN = "join"
_BITS = 128
_NUMBERS = 2**31
_SCHEMA = f"""
    PRAGMA application_id = {APPLICATION};
    CREATE TABLE task (version INTEGER, sha256 TEXT, task TEXT, secret TEXT, slots INTEGER);
    CREATE TABLE tokens (name TEXT PRIMARY KEY, token TEXT UNIQUE);
    CREATE TABLE raters (n INTEGER PRIMARY KEY, name TEXT UNIQUE, token TEXT UNIQUE);
    CREATE TABLE items (n INTEGER PRIMARY KEY, kind TEXT, key TEXT, question TEXT);
    CREATE TABLE places (
        rater INTEGER, position INTEGER, item INTEGER, repeated INTEGER, turned INTEGER,
        PRIMARY KEY (rater, position)
    ) WITHOUT ROWID;
    CREATE TABLE answers (
        n INTEGER PRIMARY KEY, rater INTEGER, position INTEGER,
        value, skipped TEXT, comment TEXT, seconds REAL, at TEXT,
        undone INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX answered ON answers (rater, position);
    CREATE TABLE decisions (n INTEGER PRIMARY KEY, item INTEGER, value, comment TEXT, at TEXT);
"""


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater, identified by number, name and token."""

    n: int
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class Showing:
    """An item at a position in a rater's list, with the rater's last answer.

    `revision` is the number of journal entries for this position, including retractions. `value`, `skipped` and
    `comment` describe the last answer; `stands` is false if there is none or if it was retracted.
    """

    position: int
    question: Question
    turned: bool
    revision: int
    stands: bool = False
    value: float | str | None = None
    skipped: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """A rater's progress: number of items completed, total number, and first open position, if any."""

    done: int
    of: int
    following: int | None


class Store:
    """A database of judgements that is open and locked against other processes; a context manager."""

    def __init__(self, database: Database, held: contextlib.ExitStack) -> None:
        self.path = database.path
        self.change = database.change
        self._bring_in = database.bring_in
        self._db = database.connection
        self._held = held
        self.task = self._task()
        (self._secret, self.slots) = self._one("SELECT secret, slots FROM task")

    # Opening ----------------------------------------------------------------------------------------------------------

    @classmethod
    def open(
        cls, path: str | Path, task: RatingTask | None = None, *, raters: Sequence[str] = (), slots: int = 0
    ) -> Self:
        """Open the database at a path, or create it for a task; add missing raters, and allow `slots` raters to join.

        Raises OutputError if the file is not a database of judgements or is locked by another process, DataError if it
        is incomplete or damaged, and StudyError if it belongs to another task or, if `task` is None, has no task.
        """
        held = contextlib.ExitStack()
        try:
            database = held.enter_context(Database.opened(path, make=task is not None))
            if database.is_new:
                if task is None:
                    raise StudyError("is empty and contains no rating task", where=str(path))
                _make(database, task)
            store = cls(database, held)
            if task is not None:
                store._continue(task, raters, slots)
        except sqlite3.Error as error:
            held.close()
            raise DataError(f"cannot be used as a database of judgements: {first_line(error)}", file=path) from error
        except BaseException:
            held.close()
            raise
        return store

    def _continue(self, task: RatingTask, raters: Sequence[str], slots: int) -> None:
        (known,) = self._one("SELECT sha256 FROM task")
        if known != task.sha256:
            message = "was created for other items or with another scale, seed or proportion of repeats"
            raise StudyError(message, where=str(self.path), hint="use the same options, or give another file with -o")
        with self.change():
            self._db.execute("UPDATE task SET task = ?, slots = MAX(slots, ?)", (_json(task.described()), slots))
            refuse_alike(raters, [rater.name for rater in self.raters()])
            for name in raters:
                if self._one("SELECT 1 FROM raters WHERE name = ?", name) is None:
                    self._add(name, new_token())
        self.task = self._task()
        (self.slots,) = self._one("SELECT slots FROM task")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Merge all changes into the file and unlock it."""
        self._held.close()

    # Raters -----------------------------------------------------------------------------------------------------------

    def raters(self) -> list[Rater]:
        """Return all raters in the order in which they were added."""
        return [Rater(*row) for row in self._db.execute("SELECT n, name, token FROM raters ORDER BY n")]

    def token(self, name: str) -> str:
        """Return the token of the link called `name`: `OWNER` is the owner's link, `JOIN` the link for joining."""
        (token,) = self._one("SELECT token FROM tokens WHERE name = ?", name)
        return str(token)

    def withdraw(self, n: int) -> bool:
        """Delete a rater and all of the rater's answers from the file; can be repeated after a failure.

        Returns False if another program that is reading the file keeps traces of them until the database is closed.
        """
        with self.change():
            self._db.execute("DELETE FROM answers WHERE rater = ?", (n,))
        self._db.execute("VACUUM")
        with self.change():
            self._db.execute("DELETE FROM places WHERE rater = ?", (n,))
            self._db.execute("DELETE FROM raters WHERE n = ?", (n,))
        return self._bring_in()

    def is_token(self, name: str, given: str) -> bool:
        """Return whether `given` is the token of the link `name` (`OWNER` or `JOIN`), compared in constant time."""
        return same(self.token(name), given)

    def rater(self, n: int, token: str) -> Rater | None:
        """Return the rater with number `n` if `token` matches, else None; tokens are compared in constant time."""
        row = self._one("SELECT n, name, token FROM raters WHERE n = ?", min(n, _NUMBERS))
        known = Rater(*row) if row is not None else Rater(0, "", "-" * 22)
        return known if same(known.token, token) and row is not None else None

    def rater_of(self, token: str) -> Rater | None:
        """Return the rater with a token, or None if there is none; the running time does not depend on the match."""
        matches = [rater for rater in self.raters() if same(rater.token, token)]
        return matches[0] if matches else None

    def join(self, form: str) -> Rater | None:
        """Return the rater who joins with a form, adding the rater the first time; None if all slots are taken.

        `form` is the form's id. The rater's token is derived from it, so that sending a form again returns the same
        rater.
        """
        token = self.signed("joined", form)[: _BITS // 4]
        with self.change():
            known = self._one("SELECT n, name, token FROM raters WHERE token = ?", token)
            if known is not None:
                return Rater(*known)
            names = [rater.name for rater in self.raters() if is_numbered(rater.name)]
            number = max((int(name.removeprefix(NUMBERED)) for name in names), default=0) + 1
            return None if len(names) >= self.slots else self._add(f"{NUMBERED}{number}", token)

    def _add(self, name: str, token: str) -> Rater:
        (n,) = self._one("SELECT COALESCE(MAX(n), 0) + 1 FROM raters")
        rater = Rater(int(n), name, token)
        self._db.execute("INSERT INTO raters VALUES (?, ?, ?)", (rater.n, rater.name, rater.token))
        rows = [(rater.n, position, *place) for position, place in enumerate(plan(self.task, rater.n), 1)]
        self._db.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?)", rows)
        return rater

    def signed(self, *parts: object) -> str:
        """Return a signature of `parts` that only this database can compute."""
        message = _json([str(part) for part in parts]).encode()
        return hmac.new(str(self._secret).encode(), message, "sha256").hexdigest()

    # Items ------------------------------------------------------------------------------------------------------------

    def progress(self, rater: Rater) -> Progress:
        """Return the progress of a rater."""
        (of,) = self._one("SELECT COUNT(*) FROM places WHERE rater = ?", rater.n)
        done = {position for (position,) in self._db.execute(_DONE, (rater.n, rater.n))}
        following = next((position for position in range(1, of + 1) if position not in done), None)
        return Progress(len(done), of, following)

    def showing(self, rater: Rater, position: int) -> Showing | None:
        """Return the item at a position in a rater's list; None if there is no such position."""
        if not 0 < position < _NUMBERS:
            return None
        row = self._one(
            "SELECT items.question, places.turned FROM places JOIN items ON items.n = places.item "
            "WHERE rater = ? AND position = ?",
            rater.n,
            position,
        )
        if row is None:
            return None
        said = self._db.execute(
            "SELECT value, skipped, comment, undone FROM answers WHERE rater = ? AND position = ? ORDER BY n",
            (rater.n, position),
        ).fetchall()
        value, skipped, comment, undone = said[-1] if said else (None, "", "", 1)
        if len(said) > 1 and undone:  # a retracted answer is shown again
            value, skipped, comment, _ = said[-2]
        turned, stands = bool(row[1]), not undone
        return Showing(position, _question(row[0]), turned, len(said), stands, value, skipped or "", comment or "")

    # Answers ----------------------------------------------------------------------------------------------------------

    def answer(
        self,
        rater: Rater,
        shown: Showing,
        value: float | str | None,
        *,
        skipped: str = "",
        comment: str = "",
        seconds: float | None = None,
    ) -> bool:
        """Save an answer to a shown item; return False without saving it if there is a newer entry."""
        with self.change():
            place = (rater.n, shown.position)
            (said,) = self._one("SELECT COUNT(*) FROM answers WHERE rater = ? AND position = ?", *place)
            if said != shown.revision:
                return False
            row = (*place, value, skipped or None, comment or None, seconds, _now())
            columns = "rater, position, value, skipped, comment, seconds, at"
            self._db.execute(f"INSERT INTO answers ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return True

    def last(self, rater: Rater) -> int | None:
        """Return the journal number of a rater's last answer that was not retracted; None if there is none."""
        row = self._one(_LAST, rater.n)
        return int(row[0]) if row else None

    def undo(self, rater: Rater, number: int) -> bool:
        """Retract an answer by its number; return False without effect if it is no longer the rater's last answer."""
        with self.change():
            last = self._one(_LAST, rater.n)
            if last is None or last[0] != number:
                return False
            row = (rater.n, last[1], _now())
            self._db.execute("INSERT INTO answers (rater, position, at, undone) VALUES (?, ?, ?, 1)", row)
        return True

    def decide(self, item: int, value: float | str, comment: str, known: int) -> bool:
        """Save the owner's decision on an item; return False if its number of decisions is no longer `known`."""
        with self.change():
            if self._one("SELECT COUNT(*) FROM decisions WHERE item = ?", item) != (known,):
                return False
            row = (item, value, comment or None, _now())
            self._db.execute("INSERT INTO decisions (item, value, comment, at) VALUES (?, ?, ?, ?)", row)
        return True

    # The database -----------------------------------------------------------------------------------------------------

    def _one(self, query: str, *values: object) -> Any:
        return self._db.execute(query, values).fetchone()

    def _task(self) -> RatingTask:
        (described,) = self._one("SELECT task FROM task")
        items = [_question(text) for (text,) in self._db.execute("SELECT question FROM items ORDER BY n")]
        return task_of(json.loads(described), tuple(items))


_DONE = """
    SELECT position FROM answers JOIN (
        SELECT MAX(n) AS n FROM answers WHERE rater = ? GROUP BY position
    ) USING (n) WHERE rater = ? AND NOT undone
"""

_LAST = f"SELECT n, position FROM ({CURRENT}) WHERE rater = ? ORDER BY n DESC LIMIT 1"


def _make(database: Database, task: RatingTask) -> None:
    connection = database.connection
    with database.change():
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        about = (VERSION, task.sha256, _json(task.described()), secrets.token_hex(32), 0)
        connection.execute("INSERT INTO task VALUES (?, ?, ?, ?, ?)", about)
        connection.executemany("INSERT INTO tokens VALUES (?, ?)", [(name, new_token()) for name in (OWNER, JOIN)])
        rows = [(n, each.kind, _json(dict(each.key)), _json(asdict(each))) for n, each in enumerate(task.items)]
        connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)


def _question(text: str) -> Question:
    known = json.loads(text)
    return Question(**{**known, "span": tuple(known["span"]) if known["span"] else None})


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(_BITS // 8)


def same(known: str, given: str) -> bool:
    """Return whether two strings are equal, compared in constant time."""
    return hmac.compare_digest(known.encode(), given.encode("utf-8", "replace"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
