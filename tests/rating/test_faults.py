"""Writing that fails: an answer that was acknowledged is there, once, and no other is said to be saved."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from penchant.rating import database_file
from penchant.rating.judgement_store import Store
from penchant.rating.server_process import Address, links
from rating_client import Answered, Client, following, scale_task, serving

TASK = scale_task(5, repeat=0)
CC = shutil.which("cc")


class Faulty:
    """A connection of which one statement that writes fails, before it is done or after."""

    def __init__(self, connection: sqlite3.Connection, *, after: bool) -> None:
        self.connection = connection
        self.after = after
        self.left = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        if statement.lstrip().startswith("SELECT"):
            return self.connection.execute(statement, *values)
        self.left -= 1
        if self.left == 0 and not self.after:
            raise sqlite3.OperationalError("disk I/O error")
        done = self.connection.execute(statement, *values)
        if self.left == 0:
            raise sqlite3.OperationalError("disk I/O error")
        return done


def sent(client: Client, path: str, fields: Mapping[str, str]) -> Answered:
    """Send a form, and the same again where the page says that this did not work."""
    answers = [client.post(path, fields)]
    while answers[-1].status != 303 and len(answers) < 4:
        assert answers[-1].status in (500, 503)
        answers.append(client.post(path, fields))
    assert answers[-1].status == 303
    return answers[-1]


def page(client: Client, path: str) -> Answered:
    found = [client.get(path)]
    while found[-1].status != 200 and len(found) < 4:
        found.append(client.get(path))
    return found[-1]


def session(address: Address, found: Mapping[str, str]) -> None:
    """Answer, take back, answer otherwise; and somebody joins and answers."""
    anna = Client(address)
    page(anna, urlsplit(found["anna"]).path)
    for value in ("0", "1", "undo", "2"):
        if value == "undo":
            sent(anna, "/r/1/undo", page(anna, "/r/1/item").fields("undo"))
        else:
            sent(anna, "/r/1/item", {**page(anna, "/r/1/item").fields(), "value": value})
    path = urlsplit(found["anybody, 3 in all"]).path
    ben = Client(address)
    joined = sent(ben, path.replace("enter", "join"), page(ben, path).fields(path[7:]))
    assert joined.headers["location"] == "/r/2/"
    sent(ben, "/r/2/item", {**page(ben, "/r/2/item").fields(), "value": "4"})


SAID = [(1, 1, -1.0, 0), (1, 2, -0.5, 0), (1, 2, None, 1), (1, 2, 0.0, 0), (2, 1, 1.0, 0)]
"""The expected journal: rater, place, answer, and whether it was taken back."""


def journal(file: Path, folder: Path) -> list[tuple[Any, ...]]:
    """Return the content of a database whose server is killed at this moment."""
    folder.mkdir()
    for name in (file, Path(f"{file}-wal")):
        shutil.copy(name, folder)
    with Store.open(folder / file.name, TASK) as store:
        assert len(store.raters()) == 2
        return store._db.execute("SELECT rater, position, value, undone FROM answers ORDER BY n").fetchall()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_each_statement_fails_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    connected = database_file._connected
    monkeypatch.setattr(database_file, "_connected", lambda file: Faulty(connected(file), after=after))
    monkeypatch.setattr(database_file, "_EVERY", 2)
    number = 0
    left = 0
    while left <= 0:  # until nothing fails any more
        number += 1
        file = tmp_path / f"{number}.sqlite"
        with Store.open(file, TASK, raters=["anna"], slots=3) as store, serving(store) as address:
            faulty: Any = store._db
            faulty.left = number
            session(address, dict(links(store, address)))
            left, faulty.left = faulty.left, 0
            assert journal(file, tmp_path / f"killed-{number}") == SAID
    assert number > 20


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
static int left;
void fail_after(int number) { left = number; }
int not_failed(void) { return left; }
static int fails(int fd) {
    char link[64], path[PATH_MAX + 1];
    if (left <= 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX);
    if (n < 0) return 0;
    path[n] = 0;
    if (!strstr(path, ".sqlite") || --left) return 0;
    errno = EIO;
    return 1;
}
#define CALL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))
ssize_t write(int fd, const void *b, size_t n) {
    return fails(fd) ? -1 : CALL(ssize_t, "write", int, const void *, size_t)(fd, b, n);
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) {
    return fails(fd) ? -1 : CALL(ssize_t, "pwrite", int, const void *, size_t, off_t)(fd, b, n, o);
}
ssize_t pwrite64(int fd, const void *b, size_t n, off_t o) {
    return fails(fd) ? -1 : CALL(ssize_t, "pwrite64", int, const void *, size_t, off_t)(fd, b, n, o);
}
int fsync(int fd) { return fails(fd) ? -1 : CALL(int, "fsync", int)(fd); }
int fdatasync(int fd) { return fails(fd) ? -1 : CALL(int, "fdatasync", int)(fd); }
int ftruncate(int fd, off_t n) { return fails(fd) ? -1 : CALL(int, "ftruncate", int, off_t)(fd, n); }
int ftruncate64(int fd, off_t n) { return fails(fd) ? -1 : CALL(int, "ftruncate64", int, off_t)(fd, n); }
"""
DRIVEN = """
import ctypes, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_faults import each_write_fails
each_write_fails(Path(sys.argv[1]), ctypes.CDLL(None))
"""


def each_write_fails(folder: Path, shim: Any) -> None:
    """Answer four items, in a process whose writing fails once, at each write in turn."""
    database_file._EVERY = 2
    number, left = 0, 0
    while not left:
        number += 1
        file = folder / f"{number}.sqlite"
        with Store.open(file, TASK, raters=["anna"], slots=3) as store:
            shim.fail_after(number)
            (anna,) = store.raters()
            for value in (0.0, 0.5, 1.0):
                shown = following(store, anna)
                assert shown is not None
                kept(store.answer, anna, shown, value)
            kept(store.join, "form")
            left = shim.not_failed()
            shim.fail_after(0)
            expected = [(1, place, value, 0) for place, value in enumerate((0.0, 0.5, 1.0), 1)]
            assert journal(file, folder / f"killed-{number}") == expected, number
    sys.stdout.write(str(number))


def kept(change: Callable[..., object], *what: object) -> None:
    """Change the database, once more where that fails."""
    try:
        change(*what)
    except sqlite3.Error:
        change(*what)


@pytest.mark.slow
@pytest.mark.skipif(CC is None or not Path("/proc/self/fd").exists(), reason="needs a C compiler and Linux")
def test_each_write_to_the_disk_fails_once(tmp_path: Path) -> None:
    """Writes, syncs and truncations of the system, not statements."""
    (tmp_path / "shim.c").write_text(SHIM)
    shim = tmp_path / "shim.so"
    subprocess.run([str(CC), "-shared", "-fPIC", "-o", shim, tmp_path / "shim.c", "-ldl"], check=True, timeout=60)
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path]
    command = [sys.executable, "-c", DRIVEN, str(tmp_path), *paths]
    done = subprocess.run(command, env={"LD_PRELOAD": str(shim)}, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
