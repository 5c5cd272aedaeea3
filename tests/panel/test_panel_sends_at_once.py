"""No answer of the panel waits for the acknowledgement of what was sent before it."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from orchestra.panel.desk import open_desk
from orchestra.panel.server import PanelServer
from orchestra.store import Store


def test_every_connection_sends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[int] = []
    made = H11Protocol.connection_made

    def noted(self: H11Protocol, transport) -> None:
        options.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(self, transport)

    monkeypatch.setattr(H11Protocol, "connection_made", noted)
    with Store.open(tmp_path / "runs.db") as store:
        server = PanelServer(open_desk(store))
        with server.running():
            assert httpx.get(server.link).status_code == 200

    assert options
    assert all(options)
