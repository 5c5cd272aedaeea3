"""One client for the process: connections kept, sizes bounded, proxies honoured."""

from __future__ import annotations

import gzip
import json
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from servers import (
    Received,
    Wire,
    answer,
    anthropic_stream,
    json_answer,
    openai_chunks,
    openai_completion,
    openai_stream,
    sse_answer,
)

from orchestra.errors import InputInvalid, ModelReplyInvalid, ModelUnreachable
from orchestra.models import openai as openai_adapter
from orchestra.models import transport as transport_module
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.blocks import Task
from orchestra.models.deadline import Deadline
from orchestra.models.network import DeadlineBackend
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import ModelReply, ModelRequest
from orchestra.models.transport import MAX_REPLY_BYTES, Transport, shared_transport


def streams(_: Received, __: Wire) -> bytes:
    return sse_answer(openai_stream())


@pytest.fixture
def ask(transport: Transport):
    """Calls a model at a base URL."""

    def call(base_url: str, deadline: Deadline | None = None) -> ModelReply:
        model = OpenAIModel("m", base_url=base_url, transport=transport)
        return model.complete(ModelRequest((Task("why"),), deadline=deadline))

    return call


def test_httpx_still_has_the_places_where_the_deadline_is_hooked_in(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    client, current = transport_module._new_client()

    pools = transport_module._pools(client)
    connection = pools[0].create_connection(httpx.URL("http://127.0.0.1"))
    client.close()

    assert len(pools) == 2
    assert all(isinstance(pool._network_backend, DeadlineBackend) for pool in pools)
    assert isinstance(connection._network_backend, DeadlineBackend)
    assert connection._network_backend._current is current


def test_calls_one_after_the_other_share_a_connection(serve, ask):
    server = serve(streams)

    texts = [ask(server.url).text for _ in range(5)]

    assert texts == ["The value is 42."] * 5
    assert server.connections == 1


def test_a_stream_without_its_done_mark_leaves_the_connection_usable(serve, ask):
    server = serve(lambda *_: sse_answer(openai_stream(is_closed=False)))

    ask(server.url)
    ask(server.url)

    assert server.connections == 1


@pytest.mark.parametrize(("kind", "body"), [(OpenAIModel, openai_stream()), (AnthropicModel, anthropic_stream())])
def test_a_server_that_keeps_a_finished_stream_open_is_not_waited_for(serve, transport, kind, body):
    def script(_: Received, wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + body)
        wire.hang()

    model = kind("m", base_url=serve(script).url, transport=transport)
    started = time.monotonic()

    reply = model.complete(ModelRequest((Task("why"),), deadline=Deadline(60)))

    assert reply.text == "The value is 42."
    assert time.monotonic() - started < 5


def test_a_server_that_goes_silent_after_the_finish_is_waited_for_a_while_only(serve, ask, monkeypatch):
    monkeypatch.setattr(openai_adapter, "USAGE_GRACE_S", 0.2)

    def script(_: Received, wire: Wire) -> None:
        body = openai_stream(openai_chunks(usage=None), is_closed=False)
        wire.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + body)
        wire.hang()

    started = time.monotonic()
    reply = ask(serve(script).url, Deadline(60))

    assert reply.usage.is_estimated
    assert time.monotonic() - started < 5


def test_many_threads_call_at_once(serve, ask):
    server = serve(streams)

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: ask(server.url, Deadline(30)), range(64)))

    assert {reply.text for reply in replies} == {"The value is 42."}
    assert len(server.requests) == 64
    assert server.connections <= 16


def test_the_shared_transport_is_one_and_opens_again_after_it_was_closed(serve):
    server = serve(streams)
    model = OpenAIModel("m", base_url=server.url)

    model.complete(ModelRequest((Task("why"),)))
    shared_transport().close()
    model.complete(ModelRequest((Task("why"),)))

    assert shared_transport() is shared_transport()
    assert server.connections == 2


def test_a_reply_beyond_the_bound_is_refused(serve, ask):
    megabytes: list[bool] = []

    def script(_: Received, wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n")
        megabytes.extend(wire.send(b" " * (1 << 20)) for _ in range(100))

    with pytest.raises(ModelReplyInvalid, match="more than 32 MB") as caught:
        ask(serve(script).url)

    assert not caught.value.is_retryable
    assert megabytes.count(True) < 90
    assert MAX_REPLY_BYTES == 32 * 2**20


def test_an_error_page_beyond_the_bound_is_refused_too(serve, ask, monkeypatch):
    monkeypatch.setattr(transport_module, "MAX_REPLY_BYTES", 1000)
    server = serve(lambda *_: answer(b"x" * 2000, status=500))

    with pytest.raises(ModelReplyInvalid):
        ask(server.url)


def test_a_compressed_reply_is_read(serve, ask):
    body = gzip.compress(json.dumps(openai_completion()).encode())
    server = serve(lambda *_: answer(body, headers={"content-encoding": "gzip"}))

    assert ask(server.url).text == "The value is 42."


def test_a_reply_that_only_claims_to_be_compressed_is_invalid(serve, ask):
    server = serve(lambda *_: answer(b"not gzip at all", headers={"content-encoding": "gzip"}))

    with pytest.raises(ModelReplyInvalid):
        ask(server.url)


def test_a_body_that_ends_too_early_may_be_asked_for_again(serve, ask):
    def script(_: Received, wire: Wire) -> None:
        wire.send(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"choices"')

    with pytest.raises(ModelReplyInvalid, match="broke off") as caught:
        ask(serve(script).url)

    assert caught.value.is_retryable


def test_a_connection_closed_without_an_answer_may_be_tried_again(serve, ask):
    with pytest.raises(ModelUnreachable, match="without an answer") as caught:
        ask(serve(lambda _, wire: wire.close()).url)

    assert caught.value.is_retryable


def test_redirects_are_not_followed(serve, ask):
    elsewhere = serve(streams)
    server = serve(lambda *_: answer(b"", status=307, headers={"location": elsewhere.url}))

    with pytest.raises(ModelReplyInvalid, match="redirect"):
        ask(server.url)

    assert elsewhere.requests == []


def test_cookies_are_not_kept(serve, ask, transport):
    server = serve(lambda *_: json_answer(openai_completion(), headers={"set-cookie": "id=7; Path=/"}))

    ask(server.url)
    ask(server.url)

    client, _ = transport._client()
    assert "cookie" not in server.requests[1].headers
    assert len(client.cookies) == 0


def test_a_proxy_of_the_environment_is_used(serve, ask, monkeypatch):
    proxy = serve(streams)
    monkeypatch.setenv("HTTP_PROXY", proxy.url)

    reply = ask("http://models.example/v1")

    assert reply.text == "The value is 42."
    assert proxy.requests[0].path == "http://models.example/v1/chat/completions"


def test_hosts_that_need_no_proxy_are_called_directly(serve, ask, monkeypatch):
    proxy, server = serve(streams), serve(streams)
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    ask(server.url)

    assert (len(proxy.requests), len(server.requests)) == (0, 1)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "HTTP_PROXY"])
def test_an_environment_that_allows_no_client_is_said(ask, monkeypatch, variable):
    monkeypatch.setenv(variable, "nowhere://at.all")

    with pytest.raises(ModelUnreachable, match=variable) as caught:
        ask("http://127.0.0.1:1")

    assert not caught.value.is_retryable


@pytest.mark.parametrize("base_url", ["ftp://host", "http://[::1", "http://host:port"])
def test_a_url_that_cannot_be_called_is_an_input_error(ask, base_url):
    with pytest.raises(InputInvalid):
        ask(base_url)


def test_a_listener_that_raises_is_seen_and_the_connection_let_go(serve, transport):
    server = serve(streams)
    model = OpenAIModel("m", base_url=server.url, transport=transport)

    def raises(_: str) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        model.complete(ModelRequest((Task("why"),), on_delta=raises))

    assert model.complete(ModelRequest((Task("why"),), deadline=Deadline(30))).text == "The value is 42."
