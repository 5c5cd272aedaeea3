"""The server of the panel: a socket of its own, the link that opens it, and how it stops."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from orchestra.errors import InputInvalid
from orchestra.panel.app import create_app
from orchestra.panel.connection import Connection
from orchestra.panel.desk import Desk
from orchestra.panel.security import Gate

LOOPBACK = "127.0.0.1"


class PanelServer:
    """A panel, bound when it is made. `link` lets a browser in; `run` serves until `stop`, or Ctrl-C."""

    def __init__(self, desk: Desk, *, host: str = LOOPBACK, port: int = 0) -> None:
        self._desk = desk
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{_shown(host)}:{self.port}"
        self.link = f"{self.url}/open?key={desk.secret}"
        app = create_app(desk, Gate(desk.secret, host, self.port))
        self._server = _ClosesDesk(
            desk,
            uvicorn.Config(
                app,
                http=Connection,
                log_level="warning",
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=2,
                ws="none",
            ),
        )

    def run(self) -> None:
        """Serve on this thread until it is stopped; the desk is closed then."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._desk.close()

    def stop(self) -> None:
        """From any thread: answer what is asked, end the streams, and stop."""
        self._server.should_exit = True

    @contextmanager
    def running(self) -> Iterator[PanelServer]:
        """Serve on a thread of its own for as long as the block lasts."""
        thread = threading.Thread(target=self.run, name="orchestra-panel", daemon=True)
        thread.start()
        try:
            while not self._server.started and thread.is_alive():
                thread.join(0.01)
            yield self
        finally:
            self.stop()
            thread.join()


class _ClosesDesk(uvicorn.Server):
    """Ends the streams before it waits for what is open, since they never end by themselves; cuts who does not read.

    The desk is closed before a signal that has stopped the server is passed on, since SIGTERM ends the process then.
    """

    def __init__(self, desk: Desk, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._desk = desk

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._desk.feeds.close()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.to_thread(self._desk.close)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # by this asyncio knows to send at once
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    address: Any = (host, port)
    try:
        made.bind(address)
        made.listen()  # whoever opens the link before the server is ready waits
    except (OSError, OverflowError) as error:
        made.close()
        raise InputInvalid(
            f"the panel cannot listen at {host}, port {port}",
            cause=str(error),
            suggestion="Name another --port; without it a free one is taken.",
        ) from None
    return made


def _shown(host: str) -> str:
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host
