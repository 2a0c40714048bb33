"""Read the database of judgements that `penchant rate` keeps as a table, in the form that an instrument reads.

Only a rater's answer to the first showing of an item counts; practice, attention and repeated items are left out, and
so are answers that were skipped or taken back. The database is read from its bytes, so it is never changed, and nothing
that it may define itself is run: its tables are read by the queries below.
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
from penchant.tables.table_row import Row

MAGIC = b"SQLite format 3\0"
APPLICATION = 0x70636A64
"""The application id that marks an SQLite database as one of judgements."""
VERSION = 1
_WAL, _ROLLBACK = b"\2\2", b"\1\1"
"""Bytes 18 and 19 of a database whose changes are written beside it first, and of one that holds them all."""
_MARK = slice(60, 64)
"""The bytes of `PRAGMA user_version`."""
HEADER = 100
"""The bytes of a database's header."""
_STEPS = 200_000_000
"""The most steps of SQLite's machine that reading may take."""
_CHUNK = 10_000

CURRENT = """
    SELECT answers.* FROM answers
    JOIN (SELECT MAX(n) AS n FROM answers GROUP BY rater, position) USING (n) WHERE NOT answers.undone
"""
"""The answers that count: the last of every rater and position, unless it was taken back."""
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
"""A rater, the rater's number, the key of an item, and the answer."""


def is_judgements(start: bytes) -> bool:
    """Return whether a file with this beginning is a database."""
    return start.startswith(MAGIC)


def mark_of(header: bytes) -> int:
    """Return the number that a database carries; it is positive in one that lacks answers without its FILE-wal."""
    return int.from_bytes(header[_MARK], "big", signed=True)


def with_mark(data: bytes, mark: int) -> bytes:
    """Return a copy of a database that carries another number."""
    return data[: _MARK.start] + mark.to_bytes(4, "big", signed=True) + data[_MARK.stop :]


def is_beside(file: Path) -> bool:
    """Return whether a database has anything in FILE-wal."""
    beside = Path(f"{os.path.realpath(file)}-wal")
    return beside.exists() and beside.stat().st_size > 0


def refuse_part(file: Path, mark: int) -> None:
    """Raise DataError for a database that lacks answers."""
    if mark > 0:
        message = "lacks answers: it was copied while penchant rate ran, or lost the FILE-wal beside it"
        raise DataError(
            message, file=file, hint="copy it with penchant rate TARGET -o FILE --backup COPY, or stop it first"
        )


def refuse_open(stream: BinaryIO, file: Path) -> None:
    """Raise DataError for a database that lacks answers, or whose last answers stand beside it."""
    if is_beside(file):
        message = "has answers that are not in the file yet: penchant rate is running, or was killed"
        raise DataError(message, file=file, hint="stop it; if it was killed, start it once more and stop it")
    stream.seek(0)
    refuse_part(file, mark_of(stream.read(HEADER)))
    stream.seek(0)


def judgement_rows(data: bytes, file: Path) -> Iterator[Row]:
    """Return the answers of raters as rows. Raises DataError.

    The layout of the task decides what a row is: a judgement (`long`), a rater's ratings of both sentences of a pair
    (`sides`), or all answers of a rater (`wide`).
    """
    task, said = judgements(data, file)
    with _readable(file):
        rows = list(_laid_out(task, said))
    return (Row(number, values) for number, values in enumerate(rows, 1))


def judgement_labels(data: bytes, file: Path) -> dict[str, dict[object, str]]:
    """Return the labels of the points of the scale, by the columns with answers. Raises DataError."""
    task, said = judgements(data, file)
    with _readable(file):
        points = {point["value"]: str(point["label"]) for point in task["points"] if point["label"]}
        wide = task["layout"] == "wide"
        columns = dict.fromkeys(str(key["id"]) for _, _, key, _ in said) if wide else [str(task["value"])]
        return {column: dict(points) for column in columns} if points else {}


def judgement_texts(data: bytes, file: Path) -> dict[str, str]:
    """Return the items as raters saw them, by the column of their answers. Raises DataError.

    There are none if a column has the answers to many items.
    """
    with _readable(file), _opened(data) as database:
        if _task(database, file)["layout"] != "wide":
            return {}
        items = database.execute("SELECT key, question FROM items WHERE kind = 'item'").fetchall()
        return {str(_key(key)["id"]): str(json.loads(question)["text"]) for key, question in items}


def judgements(data: bytes, file: Path) -> tuple[dict[str, Any], list[Said]]:
    """Return the task, and its answers: rater, number of the rater, key of the item, and answer. Raises DataError."""
    with _readable(file):
        with _opened(data) as database:
            task = _task(database, file)
            said = database.execute(_SAID).fetchall()
        return task, [(rater, number, _key(key), value) for rater, number, key, value in said]


@contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    """Open a database in memory, without running anything that it defines."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data[:18] + _ROLLBACK + data[20:])
        database.execute("PRAGMA trusted_schema = OFF")
        database.set_progress_handler(lambda: 1, _STEPS)
        yield database


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Raise DataError for the errors that a damaged database causes."""
    try:
        yield
    except (sqlite3.Error, json.JSONDecodeError, RecursionError, AttributeError, TypeError, KeyError) as error:
        raise DataError(f"cannot be read as a database of judgements: {first_line(error)}", file=file) from error


def _task(database: sqlite3.Connection, file: Path) -> dict[str, Any]:
    """Return the task of a database. Raises DataError for a database of something else."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if application != APPLICATION or not {"task", "items", "raters", "places", "answers"} <= tables:
        raise DataError("is a database, but none of judgements", file=file, hint="penchant rate makes one")
    version, task = database.execute("SELECT version, task FROM task").fetchone()
    if version != VERSION:
        raise DataError(f"is of version {version}; this version of penchant reads {VERSION}", file=file)
    found = json.loads(task)
    if not isinstance(found, dict):
        raise DataError("is a database of judgements whose task is damaged", file=file)
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
