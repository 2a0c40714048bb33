"""Connections that never finish what they ask for: they shut nobody out."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penchant.rating import http_connections
from penchant.rating.judgement_store import Store
from penchant.rating.server_process import Address, links
from rating_client import FORM, Client, scale_task, serving

HALVES = {
    "nothing": b"",
    "half a header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ra",
    "half a body": f"POST /r/1/item HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {FORM}\r\n"
    "Content-Length: 100\r\n\r\na=".encode(),
}


@contextlib.contextmanager
def half_sent(address: Address, number: int, half: bytes) -> Iterator[list[socket.socket]]:
    """So many connections that sent half of a request."""
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection((address.host, address.port))) for _ in range(number)]
        for each in opened:
            with contextlib.suppress(OSError):  # closed for one that came later
                each.sendall(half)
        yield opened


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(10)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.parametrize("half", HALVES)
def test_a_thousand_half_sent_requests_shut_nobody_out(tmp_path: Path, half: str) -> None:
    with Store.open(tmp_path / "r.sqlite", scale_task(), raters=["anna"]) as store, serving(store) as address:
        client = Client(address)
        client.enter(dict(links(store, address))["anna"])
        with half_sent(address, 1_010, HALVES[half]) as opened:
            start = time.monotonic()
            for n in range(3):
                assert client.answer(n).status == 303
            assert time.monotonic() - start < 5
            assert sum(is_closed(each) for each in opened[:500]) == 500
        assert store.progress(store.raters()[0]).done == 3


@pytest.mark.parametrize("half", HALVES)
def test_half_a_request_is_waited_for_no_longer_than_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    """Though it goes on coming, bit by bit; what comes whole and slowly is answered."""
    monkeypatch.setattr(http_connections, "PATIENCE", 1.0)
    with Store.open(tmp_path / "r.sqlite", scale_task()) as store, serving(store) as address:
        with half_sent(address, 1, HALVES[half]) as (connection,):
            start = time.monotonic()
            with contextlib.suppress(OSError):
                while time.monotonic() - start < 5:
                    connection.sendall(b"a")
                    time.sleep(0.1)
            assert is_closed(connection)
            assert 0.9 < time.monotonic() - start < 3
        with half_sent(address, 1, b"GET / HTTP/1.1\r\nHo") as (connection,):
            for part in (b"st: 127.0.0.1\r", b"\n\r\n"):
                time.sleep(0.3)
                connection.sendall(part)
            connection.settimeout(10)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
