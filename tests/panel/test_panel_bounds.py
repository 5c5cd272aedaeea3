"""What one client can hold of the server: streams, and connections that do not say what they want."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack
from typing import Any

import pytest

SOON_S = 15


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestra.panel.connection.HEADERS_S", 0.3)


def connected(panel: Any) -> socket.socket:
    place = panel.url.removeprefix("http://").split(":")
    made = socket.create_connection((place[0], int(place[1])), SOON_S)
    made.settimeout(SOON_S)
    return made


def head(panel: Any, path: str = "/settings") -> bytes:
    cookie = f"{panel.gate.cookie_name}={panel.gate.cookie}"
    return f"GET {path} HTTP/1.1\r\nHost: {panel.url[7:]}\r\nCookie: {cookie}\r\n\r\n".encode()


def drip(slow: socket.socket, data: bytes) -> None:
    for byte in data:
        slow.sendall(bytes([byte]))
        threading.Event().wait(0.05)


def until(claim: Any) -> None:
    ends_at = time.monotonic() + SOON_S
    while not claim():
        assert time.monotonic() < ends_at, "it did not come true"
        threading.Event().wait(0.02)


def test_more_streams_than_are_served_are_refused_until_one_is_closed(panel: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("orchestra.panel.pages.live.MOST_STREAMS", 3)

    with ExitStack() as open_ones:
        for _ in range(3):
            assert open_ones.enter_context(panel.client.stream("GET", "/live")).status_code == 200
        refused = panel.client.get("/live")
        page = panel.client.get("/settings")
    until(lambda: panel.desk.feeds.open_streams == 0)

    assert refused.status_code == 503
    assert "PANEL_BUSY" in refused.text
    assert page.status_code == 200
    with panel.client.stream("GET", "/live") as again:
        assert again.status_code == 200


def test_a_burst_of_streams_passes_no_bound(panel: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("orchestra.panel.pages.live.MOST_STREAMS", 5)

    with ExitStack() as open_ones:
        sockets = [open_ones.enter_context(connected(panel)) for _ in range(20)]
        for each in sockets:
            each.sendall(head(panel, "/live"))
        answers = [each.recv(12) for each in sockets]

    assert sorted(answers) == [b"HTTP/1.1 200"] * 5 + [b"HTTP/1.1 503"] * 15


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("begun", [b"", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_a_connection_that_does_not_say_what_it_wants_is_closed(panel: Any, begun: bytes) -> None:
    with connected(panel) as slow:
        slow.sendall(begun)

        assert slow.recv(1) == b""


@pytest.mark.usefixtures("impatient")
def test_a_head_that_comes_drop_by_drop_gets_no_more_time(panel: Any) -> None:
    with connected(panel) as slow, pytest.raises(OSError, match=r"[Bb]roken pipe|reset"):
        drip(slow, head(panel)[:-4])


@pytest.mark.usefixtures("impatient")
def test_a_second_request_of_a_connection_has_to_come_in_time_too(panel: Any) -> None:
    with connected(panel) as slow:
        slow.sendall(head(panel, "/nowhere"))
        assert slow.recv(12) == b"HTTP/1.1 404"
        slow.sendall(b"GET / HT")

        while received := slow.recv(65_536):
            assert b"HTTP/1.1" not in received


@pytest.mark.usefixtures("impatient")
def test_a_stream_and_a_slow_upload_stay_open(panel: Any) -> None:
    session_id = panel.client.post("/sessions").headers["location"].rsplit("/", 1)[-1]

    def dripping() -> Any:
        for _ in range(8):
            threading.Event().wait(0.1)
            yield b"-"

    with panel.client.stream("GET", "/live") as stream:
        answer = panel.client.post(f"/sessions/{session_id}/estimate", content=dripping())
        panel.store.begin_session("another")
        told = next(line for line in stream.iter_lines() if line == "event: runs")

    assert answer.status_code == 200
    assert told
