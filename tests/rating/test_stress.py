"""A rating session under everything at once: kills, links, copies, replays and half-sent requests. It loses nothing and
doubles nothing."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from penchant.errors import DataError
from penchant.rating.server_process import Address
from penchant.tables.rows import read_rows
from rating_client import LOOPBACK, Answered, Client, Served

pytestmark = pytest.mark.slow
RATERS = ("anna", "ben", "cem", "dora")
ITEMS, ROUNDS = 100, 8
WISHES = ["t.csv", "--column", "text", "--repeat", "0", "--breaks", "0", "--scale", "1-5"]
ASKED = [sys.executable, "-m", "penchant.cli.app", "rate", *WISHES]


def until(statuses: tuple[int, ...], ask: Callable[[], Answered]) -> Answered:
    """Return the server's answer once it is there again."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            answered = ask()
            if answered.status in statuses:
                return answered
        time.sleep(0.05)
    raise AssertionError("the server does not come back")


def rate(
    link: str, number: int, said: list[tuple[int, float | None]], troubles: list[BaseException], calm: threading.Event
) -> None:
    """Answer every item; now and then take one back. Every form is sent until the page goes on, and then once more.
    Until it is `calm`, there is time between a page and its form."""
    try:
        address = Address(LOOPBACK, int(link.split(":")[2].partition("/")[0]))
        client = Client(address)
        until((200,), lambda: client.get(urlsplit(link).path))
        item, undo = f"/r/{number}/item", f"/r/{number}/undo"
        steps = 0
        while "answered everything" not in (page := until((200,), lambda: client.get(item))).text:
            steps += 1
            fields = page.fields()
            calm.wait(0.7)
            sent = [(item, {**fields, "value": str(steps % 5)})]
            said.append((int(fields["position"]), float(steps % 5 + 1)))
            if steps % 7 == 0:
                until((303,), lambda sent=sent: client.post(*sent[0]))  # type: ignore[misc]
                page = until((200,), lambda: client.get(item))
                if "answered everything" in page.text:
                    return
                sent.append((undo, page.fields("undo")))
                said.append((int(fields["position"]), None))
            for form in (sent[-1], *sent):
                until((303,), lambda form=form: client.post(*form))  # type: ignore[misc]
    except BaseException as error:
        troubles.append(error)


def disturb(folder: Path, port: int) -> None:
    """Everything that is done to a database while it is served."""
    halves = []
    for _ in range(150):
        with contextlib.suppress(OSError):
            halves.append(socket.create_connection((LOOPBACK, port), timeout=5))
            halves[-1].sendall(b"POST /r/1/item HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
    file, other = folder / "r.sqlite", folder / "other.sqlite"
    for link in (os.link, os.symlink):
        link(file, other)
        second = [*ASKED, "-o", str(other), "--port", "0"]
        assert subprocess.run(second, cwd=folder, capture_output=True, timeout=60, check=False).returncode == 2
        other.unlink()
    copy = folder / "copy.sqlite"
    shutil.copy(file, copy)
    with pytest.raises(DataError):
        read_rows(copy)
    back_up = [*ASKED, "-o", "r.sqlite", "--backup", "backup.sqlite"]
    assert subprocess.run(back_up, cwd=folder, capture_output=True, timeout=60, check=False).returncode == 0
    with closing(sqlite3.connect(folder / "backup.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    copy.unlink()
    (folder / "backup.sqlite").unlink()
    for each in halves:
        each.close()


def test_a_session_under_everything(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("text\n" + "".join(f"Text {n}.\n" for n in range(ITEMS)))
    said: dict[str, list[tuple[int, float | None]]] = {name: [] for name in RATERS}
    troubles: list[BaseException] = []
    threads: list[threading.Thread] = []
    calm = threading.Event()
    served = Served([*WISHES, "-o", "r.sqlite", "--raters", ",".join(RATERS)], tmp_path)
    for n in range(ROUNDS):
        served.start()
        for number, name in enumerate(RATERS, 1):
            if len(threads) < len(RATERS):
                each = (served.links[name], number, said[name], troubles, calm)
                threads.append(threading.Thread(target=rate, args=each, daemon=True))
                threads[-1].start()
        time.sleep(1.5)
        if n % 4 == 0:
            disturb(tmp_path, int(served.port))
        served.stop(signal.SIGKILL)
    assert all(thread.is_alive() for thread in threads)
    calm.set()
    served.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()
    served.stop()
    assert troubles == []
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        for number, name in enumerate(RATERS, 1):
            query = "SELECT position, value FROM answers WHERE rater = ? ORDER BY n"
            assert connection.execute(query, (number,)).fetchall() == said[name]
    assert len(read_rows(tmp_path / "r.sqlite")) == ITEMS * len(RATERS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.sqlite", "t.csv"]
