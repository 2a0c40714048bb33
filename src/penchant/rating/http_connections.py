"""HTTP connections limited in number and waiting time, so that slow clients do not block others."""

from __future__ import annotations

import asyncio

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Time in seconds within which a complete request must arrive."""
_STOPPING = 3
"""Time in seconds to finish responses after the server is stopped."""
MOST = 200
"""Maximum number of simultaneous connections; a new connection replaces the one that has waited longest."""


class Patient(H11Protocol):
    """HTTP connection that is closed if its request is late, or to make room for a new connection."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, and close the connection that has waited longest if there are too many."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST:
            waiting = {
                each._deadline.when(): each for each in self.connections if isinstance(each, Patient) and each._deadline
            }
            waiting[min(waiting)]._close()

    def data_received(self, data: bytes) -> None:
        """Process data, and keep the deadline until the request is complete."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Start the deadline for the next request."""
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
    """Return the server's settings: no logs, no server header, and limits on incomplete requests."""
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
