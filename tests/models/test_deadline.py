"""No server can hold a call past its deadline, and a cancelled call returns at once."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from pathlib import Path

import httpcore
import pytest
from servers import SSE_HEAD, Received, Wire, openai_stream, sse_answer

from orchestra.errors import ModelTimeout, ModelUnreachable, RunCancelled
from orchestra.models.blocks import Task
from orchestra.models.deadline import Deadline
from orchestra.models.network import Call, CurrentCall, DeadlineStream
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import ModelReply, ModelRequest
from orchestra.models.transport import Transport

DEADLINE_S = 0.3
PATIENCE_S = 2.0
CERTIFICATES = Path(__file__).parent / "certificates"


@pytest.fixture
def ask(transport: Transport):
    """Calls a model at a base URL, under a deadline."""

    def call(base_url: str, deadline: Deadline | None = None, words: str = "why") -> ModelReply:
        model = OpenAIModel("m", base_url=base_url, transport=transport)
        return model.complete(ModelRequest((Task(words),), deadline=deadline))

    return call


def hangs_before_headers(_: Received, wire: Wire) -> None:
    wire.hang()


def drips_headers(_: Received, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\nx-slow: ")
    wire.drip(b"a")


def drips_comments(_: Received, wire: Wire) -> None:
    wire.send(SSE_HEAD)
    wire.drip(b"3\r\n:\n\n\r\n")


def drips_body(_: Received, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n")
    wire.drip(b" ")


def hangs_in_the_body(_: Received, wire: Wire) -> None:
    wire.send(SSE_HEAD + b"4\r\ndata\r\n")
    wire.hang()


@pytest.mark.parametrize("script", [hangs_before_headers, drips_headers, drips_comments, drips_body, hangs_in_the_body])
def test_a_slow_server_is_left_at_the_deadline(serve, script, ask):
    server = serve(script)
    started = time.monotonic()

    with pytest.raises(ModelTimeout, match=r"did not end within 0\.3 s") as caught:
        ask(server.url, Deadline(DEADLINE_S))

    assert DEADLINE_S <= time.monotonic() - started < PATIENCE_S
    assert not caught.value.is_retryable


def test_a_server_that_reads_nothing_is_left_at_the_deadline(serve, ask):
    server = serve(hangs_before_headers)
    more_than_the_buffers_hold = "word " * 4_000_000
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        ask(server.url, Deadline(DEADLINE_S), more_than_the_buffers_hold)

    assert time.monotonic() - started < PATIENCE_S


def test_a_server_silent_in_the_tls_handshake_is_left_at_the_deadline(serve, ask):
    server = serve(hangs_before_headers, is_silent=True)
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        ask(server.url.replace("http:", "https:"), Deadline(DEADLINE_S))

    assert time.monotonic() - started < PATIENCE_S


def test_a_host_that_accepts_no_connection_is_left_at_the_deadline(full_backlog, ask):
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        ask(full_backlog, Deadline(DEADLINE_S))

    assert time.monotonic() - started < PATIENCE_S


def test_a_name_lookup_without_an_answer_is_left_at_the_deadline(monkeypatch, ask):
    asked = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: asked.wait(PATIENCE_S) and [])
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        ask("http://models.example", Deadline(DEADLINE_S))

    asked.set()
    assert time.monotonic() - started < PATIENCE_S


def test_a_deadline_that_has_passed_sends_nothing(serve, ask):
    server = serve(hangs_before_headers)

    with pytest.raises(ModelTimeout):
        ask(server.url, Deadline(0.0))

    assert server.connections == 0


@pytest.mark.parametrize("script", [hangs_before_headers, drips_headers, drips_body, hangs_in_the_body])
def test_cancelling_from_another_thread_returns_at_once(serve, script, ask):
    deadline = Deadline(60)
    reached = threading.Event()

    def announced(received: Received, wire: Wire) -> None:
        reached.set()
        script(received, wire)

    server = serve(announced)
    canceller = threading.Thread(target=lambda: reached.wait() and deadline.cancel())
    canceller.start()
    started = time.monotonic()

    with pytest.raises(RunCancelled):
        ask(server.url, deadline)

    assert time.monotonic() - started < PATIENCE_S
    canceller.join()


def test_cancelling_while_connecting_returns_at_once(full_backlog, ask):
    deadline = Deadline(60)
    canceller = threading.Timer(0.2, deadline.cancel)
    canceller.start()
    started = time.monotonic()

    with pytest.raises(RunCancelled):
        ask(full_backlog, deadline)

    assert time.monotonic() - started < PATIENCE_S
    canceller.join()


def test_a_call_cancelled_before_it_starts_sends_nothing(serve, ask):
    server = serve(hangs_before_headers)
    deadline = Deadline()
    deadline.cancel()

    with pytest.raises(RunCancelled):
        ask(server.url, deadline)

    assert server.connections == 0


def test_cancelling_during_a_name_lookup_returns_at_once(monkeypatch, ask):
    deadline = Deadline(60)
    release = threading.Event()

    def look_up(*_: object, **__: object) -> list[object]:
        deadline.cancel()
        release.wait(PATIENCE_S)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    started = time.monotonic()

    with pytest.raises(RunCancelled):
        ask("http://models.example", deadline)

    release.set()
    assert time.monotonic() - started < PATIENCE_S


def test_cancelling_a_finished_call_leaves_its_connection_to_the_next(serve, ask):
    server = serve(lambda *_: sse_answer(openai_stream()))
    finished = Deadline(60)
    ask(server.url, finished)
    cancel_late: list[Deadline] = [finished]

    def cancelling(received: Received, wire: Wire) -> bytes:
        cancel_late.pop().cancel()
        return sse_answer(openai_stream())

    server._script = cancelling
    reply = ask(server.url, Deadline(60))

    assert reply.text == "The value is 42."
    assert server.connections == 1


def test_a_connection_that_passed_to_another_call_is_not_shut_by_the_first():
    current = CurrentCall()
    near, far = socket.socketpair()
    with near, far:
        stream = DeadlineStream(near, current)
        first, second = Deadline(60), Deadline(60)
        current.call = Call(first)
        stream.write(b"one")
        current.call = Call(second)
        stream.write(b"two")

        first.cancel()
        stream.write(b"three")

        assert far.recv(99) == b"onetwothree"


class ShutWhileReading:
    """A socket that is shut down, by the cancellation of its call, while a read blocks on it."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def settimeout(self, _: float) -> None:
        pass

    def shutdown(self, _: int) -> None:
        pass

    def recv(self, _: int) -> bytes:
        self._deadline.cancel()
        return b""


def test_the_end_that_a_cancellation_makes_is_not_the_end_of_the_body():
    deadline = Deadline(60)
    current = CurrentCall()
    current.call = Call(deadline)
    stream = DeadlineStream(ShutWhileReading(deadline), current)

    with pytest.raises(httpcore.ReadError, match="cancelled"):
        stream.read(99)


def test_a_cancelled_call_begins_no_further_step():
    deadline = Deadline(60)
    call = Call(deadline)

    deadline.cancel()

    with pytest.raises(TimeoutError):
        call.allowed_s(5)


def test_a_step_may_take_its_own_time_or_what_is_left_of_the_call():
    call = Call(Deadline(60))

    assert call.allowed_s(5) == 5
    assert 59 < call.allowed_s(None) <= 60
    assert Call(None).allowed_s(None) is None


def test_hurrying_shortens_a_call_and_never_prolongs_it():
    call = Call(Deadline(60))

    call.hurry(9)
    call.hurry(99)

    assert 8 < call.allowed_s(None) <= 9


def test_a_connection_refused_says_where_and_may_be_tried_again(ask):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(ModelUnreachable, match=rf"127\.0\.0\.1:{port}") as caught:
        ask(f"http://127.0.0.1:{port}")

    assert caught.value.is_retryable


def test_a_name_without_an_address_is_unreachable(monkeypatch, ask):
    def look_up(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    with pytest.raises(ModelUnreachable, match="not known"):
        ask("http://models.example")


@pytest.fixture
def tls_server(serve, monkeypatch):
    """Starts a server over TLS whose certificate the client trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "localhost.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "localhost.key")
    return lambda script: serve(script, tls=context)


def test_tls_calls_answer_and_share_a_connection(tls_server, ask):
    server = tls_server(lambda *_: sse_answer(openai_stream()))

    texts = [ask(server.url, Deadline(30)).text for _ in range(3)]

    assert texts == ["The value is 42."] * 3
    assert server.connections == 1


def test_a_large_request_and_reply_pass_through_tls(tls_server, ask):
    words = "naïve " * 50_000
    chunk = {"choices": [{"index": 0, "delta": {"content": words}, "finish_reason": "stop"}]}
    server = tls_server(lambda *_: sse_answer(openai_stream([chunk])))

    reply = ask(server.url, Deadline(30), words)

    assert reply.text == words
    assert server.requests[0].json["messages"][0]["content"] == f"Task: {words}"


@pytest.mark.parametrize("script", [hangs_before_headers, drips_headers, drips_body])
def test_a_slow_server_behind_tls_is_left_at_the_deadline(tls_server, script, ask):
    server = tls_server(script)
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        ask(server.url, Deadline(DEADLINE_S))

    assert time.monotonic() - started < PATIENCE_S


def test_cancelling_a_call_behind_tls_returns_at_once(tls_server, ask):
    deadline = Deadline(60)

    def script(_: Received, wire: Wire) -> None:
        deadline.cancel()
        wire.hang()

    started = time.monotonic()

    with pytest.raises(RunCancelled):
        ask(tls_server(script).url, deadline)

    assert time.monotonic() - started < PATIENCE_S


def test_a_certificate_that_is_not_trusted_is_not_tried_again(tls_server, monkeypatch, ask):
    server = tls_server(lambda *_: sse_answer(openai_stream()))
    monkeypatch.delenv("SSL_CERT_FILE")

    with pytest.raises(ModelUnreachable, match="CERTIFICATE_VERIFY_FAILED") as caught:
        ask(server.url)

    assert not caught.value.is_retryable


@pytest.fixture(params=["http", "https"])
def tunnel(request, serve, tls_server, monkeypatch):
    """A proxy of the environment, plain or behind TLS itself, that connects to whatever is asked for."""

    def script(received: Received, wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 Connected\r\n\r\n")
        wire.tunnel(int(received.path.rpartition(":")[2]))

    proxy = serve(script) if request.param == "http" else tls_server(script)
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    return proxy


def test_calls_through_a_proxys_tunnel_answer_and_share_a_connection(tunnel, tls_server, ask):
    server = tls_server(lambda *_: sse_answer(openai_stream()))

    texts = [ask(server.url, Deadline(30), "naïve " * 50_000).text for _ in range(3)]

    assert texts == ["The value is 42."] * 3
    assert (tunnel.requests[0].method, tunnel.connections, server.connections) == ("CONNECT", 1, 1)


@pytest.mark.parametrize("script", [hangs_before_headers, drips_headers])
def test_a_slow_server_behind_a_tunnel_is_left_at_the_deadline(tunnel, tls_server, ask, script):
    server = tls_server(script)
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        ask(server.url, Deadline(DEADLINE_S))

    assert time.monotonic() - started < PATIENCE_S


def test_cancelling_a_call_behind_a_tunnel_returns_at_once(tunnel, tls_server, ask):
    deadline = Deadline(60)

    def script(_: Received, wire: Wire) -> None:
        deadline.cancel()
        wire.hang()

    started = time.monotonic()

    with pytest.raises(RunCancelled):
        ask(tls_server(script).url, deadline)

    assert time.monotonic() - started < PATIENCE_S


@pytest.fixture
def full_backlog():
    """A URL whose host answers no connection attempt: its queue of waiting ones is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [_connecting(listener.getsockname()) for _ in range(4)]
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for connection in waiting:
            connection.close()


def _connecting(address: tuple[str, int]) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(address)
    return connection


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_opens_connections_of_its_own(serve, ask):
    server = serve(lambda *_: sse_answer(openai_stream()))
    model = OpenAIModel("m", base_url=server.url)
    request = ModelRequest((Task("why"),), deadline=Deadline(30))
    model.complete(request)

    child = os.fork()
    if child == 0:
        is_answered = model.complete(request).text == "The value is 42."
        os._exit(0 if is_answered else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert [received.connection for received in server.requests] == [1, 2]
