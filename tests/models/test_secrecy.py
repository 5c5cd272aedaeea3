"""A key goes to the wire and nowhere else."""

from __future__ import annotations

import logging
import pickle
import traceback

import pytest
from servers import Received, Wire, answer, json_answer, openai_stream, sse_answer

from orchestra.errors import OrchestraError
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.blocks import Task
from orchestra.models.deadline import Deadline
from orchestra.models.keys import Credential, display_url, scrub
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import ModelRequest

KEY = "planted-key-value-1234567890"


def echoes(received: Received, _: Wire) -> bytes:
    """What careless gateways do: the headers come back in the error."""
    return json_answer({"error": {"message": f"bad headers {dict(received.headers)}"}}, status=401)


def echoes_in_headers(_: Received, __: Wire) -> bytes:
    return json_answer({}, status=500, headers={"x-request-id": KEY})


def echoes_in_a_redirect(_: Received, __: Wire) -> bytes:
    return answer(b"", status=302, headers={"location": f"http://elsewhere/{KEY}?key={KEY}"})


def echoes_in_the_stream(_: Received, __: Wire) -> bytes:
    return sse_answer(b'data: {"error": {"message": "key ' + KEY.encode() + b'"}}\n\n')


def echoes_in_what_is_no_json(_: Received, __: Wire) -> bytes:
    return answer(KEY.encode())


def says_no(_: Received, __: Wire) -> bytes:
    return json_answer({"error": {"message": "no"}}, status=401)


def breaks_off(_: Received, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")


def closes(_: Received, wire: Wire) -> None:
    wire.close()


def talks_nonsense(_: Received, wire: Wire) -> None:
    wire.send(b"SSH-2.0-OpenSSH_9.9\r\n")


def hangs(_: Received, wire: Wire) -> None:
    wire.hang()


def everything_shown(error: BaseException, *, has_locals: bool = True) -> str:
    """What any log, dump or report could print about an error and what it came from."""
    seen: list[str] = []
    current: BaseException | None = error
    while current is not None:
        shown = traceback.TracebackException.from_exception(current, capture_locals=has_locals)
        seen += [str(current), repr(current), repr(vars(current)), "".join(shown.format())]
        current = current.__cause__ or current.__context__
    return "\n".join(seen)


@pytest.mark.parametrize("script", [says_no, breaks_off, closes, talks_nonsense, hangs])
@pytest.mark.parametrize("kind", [AnthropicModel, OpenAIModel])
def test_neither_error_nor_log_nor_local_variable_shows_the_key(serve, caplog, transport, script, kind):
    caplog.set_level(logging.DEBUG)
    server = serve(script)
    model = kind("m", base_url=server.url, key=KEY, transport=transport)

    with pytest.raises(OrchestraError) as caught:
        model.complete(ModelRequest((Task("why"),), deadline=Deadline(0.3)))

    assert KEY in str(server.requests[0].headers)
    assert KEY not in everything_shown(caught.value)
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "script", [echoes, echoes_in_headers, echoes_in_a_redirect, echoes_in_the_stream, echoes_in_what_is_no_json]
)
@pytest.mark.parametrize("kind", [AnthropicModel, OpenAIModel])
def test_an_error_does_not_repeat_the_key_after_the_server(serve, transport, script, kind):
    model = kind("m", base_url=serve(script).url, key=KEY, transport=transport)

    with pytest.raises(OrchestraError) as caught:
        model.complete(ModelRequest((Task("why"),), deadline=Deadline(30)))

    assert KEY not in everything_shown(caught.value, has_locals=False)
    assert KEY not in repr(caught.value.to_dict())


def test_a_reply_does_not_repeat_the_key_after_the_server(serve, transport):
    server = serve(lambda *_: sse_answer(openai_stream(), headers={"x-request-id": KEY}))
    model = OpenAIModel("m", base_url=server.url, key=KEY, transport=transport)

    reply = model.complete(ModelRequest((Task("why"),)))

    assert KEY not in repr(reply)


def test_no_error_of_a_refused_connection_shows_the_key(transport):
    model = OpenAIModel("m", base_url="http://127.0.0.1:1", key=KEY, transport=transport)

    with pytest.raises(OrchestraError) as caught:
        model.complete(ModelRequest((Task("why"),)))

    assert KEY not in everything_shown(caught.value)


@pytest.mark.parametrize("kind", [AnthropicModel, OpenAIModel])
def test_no_view_of_an_adapter_shows_the_key(kind):
    model = kind("m", key=KEY)

    shown = [repr(model), str(model), repr(vars(model)), repr(model._credential), str(dir(model._credential))]

    assert KEY not in "".join(shown)


def test_a_credential_cannot_be_copied_out_of_the_process():
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        pickle.dumps(Credential("x-api-key", KEY))


@pytest.mark.parametrize("key", ["key\nvalue", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key):
    with pytest.raises(OrchestraError) as caught:
        OpenAIModel("m", key=key)

    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("key sk-ant-api03-abc_DEF-123 is bad", "key *** is bad"),
        ("Bearer abc.def-123456", "***"),
        ("nothing to hide", "nothing to hide"),
        ("a task-oriented risk-free text", "a task-oriented risk-free text"),
    ],
)
def test_what_looks_like_a_key_is_scrubbed(text, scrubbed):
    assert scrub(text) == scrubbed


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@gate.example/v1?key=x", "https://gate.example/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://gate.example", "http://gate.example"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url, shown):
    assert display_url(url) == shown
