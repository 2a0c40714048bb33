"""Connections with limits on waiting time and number, so that slow clients leave room for others."""

from __future__ import annotations

import asyncio

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds in which a whole request must arrive."""
_STOPPING = 3
"""Seconds to finish responses when the server is stopped."""
MOST = 200
"""The most connections at a time; a further one replaces the one that has waited longest."""


class Patient(H11Protocol):
    """A connection that is closed if its request is late, or if another needs its place."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, closing the one that has waited longest if there are too many."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST:
            waiting = {
                each._deadline.when(): each for each in self.connections if isinstance(each, Patient) and each._deadline
            }
            waiting[min(waiting)]._close()

    def data_received(self, data: bytes) -> None:
        """Process data, and keep the deadline until the request is whole."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
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
    """Return the server's settings: no logs, no server header, and a limit on half-sent requests."""
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
