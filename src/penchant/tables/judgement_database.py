"""Reader of databases of judgements written by `penchant rate`, as tables for instruments.

A table contains each rater's answer to the first presentation of an item; practice, attention and repeated items are
omitted, as are skipped and withdrawn answers. The database is opened in memory, so that the file is never changed, and
no code that it may define is run.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from penchant.errors import DataError, first_line
from penchant.tables.table_row import FileRow

MAGIC = b"SQLite format 3\0"
APPLICATION = 0x70636A64
"""SQLite application id of a database of judgements."""
VERSION = 1
_WAL, _ROLLBACK = b"\2\2", b"\1\1"
"""Bytes 18 and 19 of a database in write-ahead-log mode, and of a database in rollback-journal mode."""
_MARK = slice(60, 64)
"""Location of `PRAGMA user_version` in the header."""
HEADER = 100
"""Size of a database's header in bytes."""
_STEPS = 200_000_000
"""Maximum number of virtual-machine instructions that SQLite may execute."""
_CHUNK = 10_000

CURRENT = """
    SELECT answers.* FROM answers
    JOIN (SELECT MAX(n) AS n FROM answers GROUP BY rater, position) USING (n) WHERE NOT answers.undone
"""
"""Query for the valid answers: the last answer of each rater at each position, unless it was withdrawn."""
_SAID = f"""
    SELECT raters.name, raters.n, items.key, said.value
    FROM ({CURRENT}) AS said
    JOIN places ON places.rater = said.rater AND places.position = said.position
    JOIN items ON items.n = places.item
    JOIN raters ON raters.n = said.rater
    WHERE items.kind = 'item' AND NOT places.repeated AND said.value IS NOT NULL
    ORDER BY items.n, raters.n
"""


Said = tuple[str, int, dict[str, Any], float | str]
"""Rater's name, rater's number, item key, and answer."""


def is_judgements(start: bytes) -> bool:
    """Return True if the first bytes of a file are those of an SQLite database."""
    return start.startswith(MAGIC)


def mark_of(header: bytes) -> int:
    """Return the user version in a database header; if it is positive, the log FILE-wal contains further answers."""
    return int.from_bytes(header[_MARK], "big", signed=True)


def with_mark(data: bytes, mark: int) -> bytes:
    """Return a copy of a database with its user version set to `mark`."""
    return data[: _MARK.start] + mark.to_bytes(4, "big", signed=True) + data[_MARK.stop :]


def is_beside(file: Path) -> bool:
    """Return True if a database has a nonempty write-ahead log, FILE-wal."""
    beside = Path(f"{os.path.realpath(file)}-wal")
    return beside.exists() and beside.stat().st_size > 0


def refuse_part(file: Path, mark: int) -> None:
    """Raise DataError if the user version `mark` shows that a database is incomplete."""
    if mark > 0:
        message = "is incomplete: it was copied while penchant rate was running, or the FILE-wal beside it is missing"
        raise DataError(
            message,
            file=file,
            hint="copy it with penchant rate TARGET -o FILE --backup COPY, or stop the server first",
        )


def refuse_open(stream: BinaryIO, file: Path) -> None:
    """Raise DataError if a database is incomplete or its last answers are still in FILE-wal."""
    if is_beside(file):
        message = "is incomplete: penchant rate is running, or was killed"
        raise DataError(message, file=file, hint="stop penchant rate; if it was killed, start it again and stop it")
    stream.seek(0)
    refuse_part(file, mark_of(stream.read(HEADER)))
    stream.seek(0)


def judgement_rows(data: bytes, file: Path) -> Iterator[FileRow]:
    """Return an iterator over the raters' answers as rows. Raises DataError if the database is invalid.

    Depending on the layout of the task, a row contains a judgement (`long`), a rater's ratings of both sentences of a
    pair (`sides`), or all answers of a rater (`wide`).
    """
    task, said = judgements(data, file)
    with _readable(file):
        rows = list(_laid_out(task, said))
    return (FileRow(number, values) for number, values in enumerate(rows, 1))


def judgement_labels(data: bytes, file: Path) -> dict[str, dict[object, str]]:
    """Return the labels of the scale points for each column of answers. Raises DataError if the database is invalid."""
    task, said = judgements(data, file)
    with _readable(file):
        points = {point["value"]: str(point["label"]) for point in task["points"] if point["label"]}
        wide = task["layout"] == "wide"
        columns = dict.fromkeys(str(key["id"]) for _, _, key, _ in said) if wide else [str(task["value"])]
        return {column: dict(points) for column in columns} if points else {}


def judgement_texts(data: bytes, file: Path) -> dict[str, str]:
    """Return the items as presented to raters, keyed by the column of their answers.

    The result is empty if a column contains answers to several items. Raises DataError if the database is invalid.
    """
    with _readable(file), _opened(data) as database:
        if _task(database, file)["layout"] != "wide":
            return {}
        items = database.execute("SELECT key, question FROM items WHERE kind = 'item'").fetchall()
        return {str(_key(key)["id"]): str(json.loads(question)["text"]) for key, question in items}


def judgements(data: bytes, file: Path) -> tuple[dict[str, Any], list[Said]]:
    """Return the task and its answers (see `Said`). Raises DataError if the database is invalid."""
    with _readable(file):
        with _opened(data) as database:
            task = _task(database, file)
            said = database.execute(_SAID).fetchall()
        return task, [(rater, number, _key(key), value) for rater, number, key, value in said]


@contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    """Open a database in memory without running code that it defines."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data[:18] + _ROLLBACK + data[20:])
        database.execute("PRAGMA trusted_schema = OFF")
        database.set_progress_handler(lambda: 1, _STEPS)
        yield database


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, json.JSONDecodeError, RecursionError, AttributeError, TypeError, KeyError) as error:
        raise DataError(f"cannot be read as a database of judgements: {first_line(error)}", file=file) from error


def _task(database: sqlite3.Connection, file: Path) -> dict[str, Any]:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if application != APPLICATION or not {"task", "items", "raters", "places", "answers"} <= tables:
        raise DataError("is not a database of judgements", file=file, hint="create one with penchant rate")
    version, task = database.execute("SELECT version, task FROM task").fetchone()
    if version != VERSION:
        raise DataError(f"has version {version}, but this version of penchant reads version {VERSION}", file=file)
    found = json.loads(task)
    if not isinstance(found, dict):
        raise DataError("contains a task that is not a JSON object", file=file)
    return found


def _key(text: str) -> dict[str, Any]:
    key = json.loads(text)
    return key if isinstance(key, dict) else {}


def _laid_out(task: dict[str, Any], said: list[Said]) -> Iterator[dict[str, object]]:
    layout, value_name = task["layout"], str(task["value"])
    if layout == "wide":
        by_rater: dict[int, dict[str, object]] = {}
        for rater, number, key, value in said:
            by_rater.setdefault(number, {"rater": rater})[str(key["id"])] = value
        names = ["rater", *dict.fromkeys(str(key["id"]) for _, _, key, _ in said)]
        yield from ({name: row.get(name) for name in names} for _, row in sorted(by_rater.items()))
    elif layout == "sides":
        pairs: dict[tuple[str, str], dict[str, object]] = {}
        for rater, _, key, value in said:
            side = str(key["side"])
            rest = {name: cell for name, cell in key.items() if name != "side"}
            row = pairs.setdefault((json.dumps(rest, sort_keys=True), rater), {**rest, "rater": rater})
            row[f"{value_name}_{side}"] = value
        sides = (f"{value_name}_good", f"{value_name}_bad")
        yield from ({**row, **{name: row.get(name) for name in sides}} for row in pairs.values())
    else:
        yield from ({**key, "rater": rater, value_name: value} for rater, _, key, value in said)
