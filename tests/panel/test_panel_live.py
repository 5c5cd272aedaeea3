"""The live stream over real connections."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import httpx
import pytest
from models_for_tests import COSTS, REPORT, ScriptedModel, plan_of
from records_for_tests import a_run, node_event
from streams_for_tests import Received, parsed

from orchestra import orchestrate
from orchestra.panel.desk import open_desk
from orchestra.panel.security import Gate
from orchestra.panel.server import PanelServer
from orchestra.runtime.events import AnswerDelta
from orchestra.store import Store

SOON_S = 10  # for a server that ends; it waits for nothing, and this much only where a test fails


@contextmanager
def watching(client: httpx.Client, last_id: str = "", **query: Any) -> Iterator[Iterator[Received]]:
    headers = {"Last-Event-ID": last_id} if last_id else {}
    with client.stream("GET", "/live", params=query, headers=headers, timeout=SOON_S) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield parsed(answer.iter_lines())


def events_of(messages: Iterator[Received], until: int) -> list[int]:
    found: list[int] = []
    while not found or found[-1] < until:
        message = next(messages)
        if message.event == "run":
            assert message.id == f"r1:{message.told['seq']}"
            found.append(message.told["seq"])
    return found


def with_events(store: Store, last: int, run_id: str = "r1", **fields: Any) -> None:
    if store.run(run_id) is None:
        store.begin_run(a_run(run_id, **fields))
    first = store.last_sequence(run_id) + 1
    store.append_events(run_id, [node_event(each, f"run/{each}") for each in range(first, last + 1)])


def test_a_stream_goes_on_where_a_lost_one_ended(panel: Any) -> None:
    with_events(panel.store, 5)

    with watching(panel.client, run="r1", after=2) as messages:
        hello = next(messages)
        first = events_of(messages, 5)
        with_events(panel.store, 8)
        first += events_of(messages, 7)
    with_events(panel.store, 20)
    with watching(panel.client, last_id="r1:7", run="r1", after=2) as messages:
        second = events_of(messages, 20)

    assert hello.retry == "1500"
    assert first == [3, 4, 5, 6, 7]
    assert second == list(range(8, 21))


def test_a_stream_goes_on_at_a_server_that_was_started_again(panel: Any) -> None:
    store = panel.store
    with_events(store, 4)
    got: list[int] = []
    port = 0  # any; then the same one

    for last in (4, 9):
        with_events(store, last)
        server = PanelServer(open_desk(store), port=port)
        port, gate = server.port, Gate(server.link.rpartition("=")[2], "127.0.0.1", server.port)
        last_id = f"r1:{got[-1]}" if got else ""
        with (
            server.running(),
            httpx.Client(base_url=server.url, cookies={gate.cookie_name: gate.cookie}) as client,
            watching(client, last_id, run="r1") as messages,
        ):
            got += events_of(messages, last)
            server.stop()
            assert not [each for each in messages if each.event == "run"]

    assert got == list(range(1, 10))


def test_a_run_of_another_process_appears_as_it_goes_on(panel: Any) -> None:
    model = ScriptedModel(plan=plan_of({"context_pointers": COSTS}), subtask="Steel [L9].", synthesis="Joined.")

    with Store.open(panel.store.database.location.path) as store, watching(panel.client) as messages:
        assert [next(messages).event for _ in range(2)] == ["", "runs"]
        result = orchestrate(REPORT, "Why?", model=model, strategy="full", store=store)
        assert next(messages).event == "runs"
    with watching(panel.client, run=result.run_id) as messages:
        got = list(takewhile(lambda message: message.event != "ended", messages))

    told = [message.told for message in got if message.event == "run"]
    assert [each["seq"] for each in told] == [event["sequence"] for event in panel.store.events(result.run_id)]
    assert (told[0]["type"], told[-1]["type"]) == ("skill-route-started", "skill-route-completed")
    assert {"plan-ready", "slice-ready", "skill-route-node-updated"} <= {each["type"] for each in told}


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ({"run": "r2"}, {}, 404, "RUN_NOT_FOUND"),
        ({"run": "r1", "session": "s2"}, {}, 404, "RUN_NOT_FOUND"),
        ({"run": "r1", "after": "x"}, {}, 400, "INPUT_INVALID"),
        ({"run": "r1", "after": "-1"}, {}, 400, "INPUT_INVALID"),
        ({"run": "r1", "after": "99999999999999999999"}, {}, 400, "INPUT_INVALID"),
        ({"run": "r1"}, {"Last-Event-ID": "r1"}, 400, "INPUT_INVALID"),
        ({"run": "r1"}, {"Last-Event-ID": "r1:last"}, 400, "INPUT_INVALID"),
    ],
)
def test_what_names_no_run_or_no_position_is_refused(panel: Any, query, headers, status, code) -> None:
    with_events(panel.store, 1, session_id="s1")

    answer = panel.client.get("/live", params=query, headers=headers)

    assert answer.status_code == status
    assert code in answer.text


def test_the_id_of_another_run_is_ignored(panel: Any) -> None:
    with_events(panel.store, 3)

    with watching(panel.client, last_id="r2:99", run="r1") as messages:
        assert events_of(messages, 3) == [1, 2, 3]


def test_a_stream_that_is_silent_shows_that_it_is_alive(panel: Any, monkeypatch) -> None:
    monkeypatch.setattr("orchestra.panel.pages.live.HEARTBEAT_S", 0.05)

    with panel.client.stream("GET", "/live") as answer:
        lines = answer.iter_lines()
        beats = [line for line in (next(lines) for _ in range(20)) if line.startswith(": ping")]

    assert len(beats) > 2


def test_a_watcher_that_leaves_is_forgotten(panel: Any) -> None:
    with_events(panel.store, 2)

    with watching(panel.client, run="r1") as messages:
        events_of(messages, 2)
        assert panel.desk.feeds.watched == 1

    wait_for(lambda: panel.desk.feeds.watched == 0)


def test_a_removed_run_ends_its_stream_and_is_not_found_again(panel: Any) -> None:
    with_events(panel.store, 2)

    with watching(panel.client, run="r1") as messages:
        events_of(messages, 2)
        panel.store.remove_run("r1")
        rest = list(messages)

    assert [each.told for each in rest if each.event == "ended"] == [{"status": "removed"}]
    assert panel.client.get("/live", params={"run": "r1"}).status_code == 404


def test_a_server_stops_at_once_though_watchers_are_there_and_one_of_them_does_not_read(store_of_much) -> None:
    desk = open_desk(store_of_much)
    server = PanelServer(desk)
    gate = Gate(desk.secret, "127.0.0.1", server.port)
    thread = threading.Thread(target=server.run)
    thread.start()
    cookies = {gate.cookie_name: gate.cookie}

    with (
        httpx.Client(base_url=server.url, cookies=cookies) as client,
        watching(client, run="r1", after=2999) as messages,
        socket.create_connection(("127.0.0.1", server.port)) as stuck,
    ):
        cookie = f"{gate.cookie_name}={gate.cookie}"
        stuck.sendall(f"GET /live?run=r1 HTTP/1.1\r\nHost: {server.url[7:]}\r\nCookie: {cookie}\r\n\r\n".encode())
        assert stuck.recv(12) == b"HTTP/1.1 200"
        assert events_of(messages, 3000) == [3000]
        wait_for(lambda: is_stuck(server))
        server.stop()
        thread.join(SOON_S)
        assert not thread.is_alive()
        assert not [each for each in messages if each.event]


def is_stuck(server: PanelServer) -> bool:
    """Whether the kernel has taken nothing more of what a connection sends for a while."""
    seen = set()
    for _ in range(5):
        sizes = [each.transport.get_write_buffer_size() for each in server._server.server_state.connections]
        seen.add(max(sizes, default=0))
        threading.Event().wait(0.05)
    return len(seen) == 1 and seen != {0}


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < until
        threading.Event().wait(0.02)


@pytest.fixture
def store_of_much(tmp_path) -> Iterator[Store]:
    """More than the buffers of a connection hold."""
    with Store.open(tmp_path / "much.db") as store:
        store.begin_run(a_run())
        store.append_events(
            "r1", [AnswerDelta(sequence=each, node_id="run", text="word " * 1000).to_dict() for each in range(1, 3001)]
        )
        yield store
