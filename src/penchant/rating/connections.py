"""Connections that wait for requests: each for some seconds, and no more of them than leave room for others."""

from __future__ import annotations

import asyncio

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds in which a request must have come as a whole."""
_STOPPING = 3
"""Seconds that answers under way are waited for when the server is stopped."""
MOST = 200
"""The most connections at a time; another takes the place of the one that waits longest."""


class Patient(H11Protocol):
    """A connection that is closed where its request does not come as a whole in time, or another needs the place."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the place of the connection that waits longest, where all are taken."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST:
            waiting = {
                each._deadline.when(): each for each in self.connections if isinstance(each, Patient) and each._deadline
            }
            waiting[min(waiting)]._close()

    def data_received(self, data: bytes) -> None:
        """Wait on, no longer than was meant, unless the request is whole."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._end()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._end()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(PATIENCE, self._close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._end()
        self.connections.discard(self)
        self.transport.abort()


def settings(app: ASGIApp) -> uvicorn.Config:
    """Return settings of the server: nothing is logged, no program is named, and nobody waits for half a request."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        http=Patient,
        ws="none",
        timeout_graceful_shutdown=_STOPPING,
    )
