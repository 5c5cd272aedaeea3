"""A loopback HTTP server that does what a script says, misbehaviour included.

    with ScriptedServer(lambda received, wire: json_answer({"ok": True})) as server:
        httpx.post(server.url, json={...})
    server.requests[0].json

A script gets the request and the wire. It returns the bytes of the whole response, or None after it has
used the wire itself. Each connection is kept alive and served by one thread.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

OPENAI_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 20},
}


@dataclass(frozen=True)
class Received:
    """A request as it came: `connection` counts the connections of the server from 1."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """The client's connection, for scripts that answer slowly, in part, or not at all."""

    def __init__(self, connection: socket.socket, stopped: threading.Event) -> None:
        self._connection = connection
        self._stopped = stopped

    def send(self, content: bytes) -> bool:
        """Whether the client was still there."""
        try:
            self._connection.sendall(content)
        except OSError:
            return False
        return True

    def drip(self, content: bytes, every_s: float = 0.02) -> None:
        """A byte at a time, over and over, until the client leaves."""
        position = 0
        while not self._stopped.wait(every_s) and self.send(content[position : position + 1]):
            position = (position + 1) % len(content)

    def rest(self, seconds: float) -> None:
        """Do nothing for so long, or until the server is stopped."""
        self._stopped.wait(seconds)

    def hang(self) -> None:
        """Say nothing until the client leaves."""
        with suppress(OSError):
            while self._connection.recv(1 << 16):
                pass

    def tunnel(self, port: int) -> None:
        """Pass bytes between the client and a port of this machine, as a proxy does after CONNECT."""
        with socket.create_connection(("127.0.0.1", port)) as target:
            back = threading.Thread(target=_copy, args=(target, self._connection), daemon=True)
            back.start()
            _copy(self._connection, target)
            back.join(timeout=5)

    def pour(self, content: bytes, total: int) -> None:
        """The same content again and again, up to `total` bytes, until the client leaves."""
        for _ in range(-(-total // len(content))):
            if self._stopped.is_set() or not self.send(content):
                return

    def reset(self) -> None:
        """End the connection as a crash does: the client reads an error, not an end."""
        with suppress(OSError):
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._connection.close()

    def close(self) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)


Script = Callable[[Received, Wire], bytes | None]


class ScriptedServer:
    """Serves on a free port of 127.0.0.1 from `__enter__` to `__exit__`; records what it receives."""

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None, is_silent: bool = False) -> None:
        self._script = script
        self._tls = tls
        self._is_silent = is_silent
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.requests: list[Received] = []
        self.connections = 0

    @property
    def port(self) -> int:
        return self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> ScriptedServer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            connections, threads = list(self._open), list(self._threads)
        for connection in connections:
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
        for thread in threads:
            thread.join(timeout=5)
        self._listener.close()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._open.append(connection)
                self._start(self._serve, connection, self.connections)

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._is_silent:
                    return Wire(connection, self._stopped).hang()
                if self._tls is None:
                    return self._converse(connection, number)
                with self._tls.wrap_socket(connection, server_side=True) as secured:
                    with self._lock:
                        self._open.append(secured)
                    return self._converse(secured, number)
        except OSError:
            return None

    def _converse(self, connection: socket.socket, number: int) -> None:
        wire = Wire(connection, self._stopped)
        with connection.makefile("rb") as stream:
            while received := _read_request(stream, number):
                with self._lock:
                    self.requests.append(received)
                answer = self._script(received, wire)
                if answer is None or not wire.send(answer):
                    return wire.close()
        return None


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(1 << 16):
            target.sendall(content)
    with suppress(OSError):
        socket.socket.shutdown(target, socket.SHUT_RDWR)


def _read_request(stream: Any, connection: int) -> Received | None:
    first = stream.readline().decode("latin-1").split()
    if len(first) < 2:
        return None
    headers: dict[str, str] = {}
    while line := stream.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    length = int(headers.get("content-length", "0"))
    body = stream.read(length)
    if len(body) < length:  # whoever sent it has ended
        return None
    return Received(first[0], first[1], headers, body, connection)


def answer(
    body: bytes, *, status: int = 200, kind: str = "application/json", headers: Mapping[str, str] | None = None
) -> bytes:
    """A whole response."""
    lines = [f"HTTP/1.1 {status} Whatever", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def json_answer(payload: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    return answer(json.dumps(payload).encode(), status=status, headers=headers)


def sse_answer(body: bytes, *, headers: Mapping[str, str] | None = None) -> bytes:
    """A stream that ends with the connection kept: sent in chunks, as servers do."""
    lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", "transfer-encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n"
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + chunk + b"0\r\n\r\n"


SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def openai_chunks(
    text: str = "The value is 42.", *, finish: str | None = "stop", usage: Mapping[str, Any] | None = OPENAI_USAGE
) -> list[dict[str, Any]]:
    """The chunks of a streamed completion: words, the finish, the usage."""
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "m-1"}
    words = [word if at == 0 else f" {word}" for at, word in enumerate(text.split(" "))]
    chunks: list[dict[str, Any]] = [
        {**common, "choices": [{"index": 0, "delta": {"role": "assistant", "content": word}, "finish_reason": None}]}
        for word in words
    ]
    if finish is not None:
        chunks.append({**common, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not None:
        chunks.append({**common, "choices": [], "usage": dict(usage)})
    return chunks


def openai_stream(chunks: Iterable[Mapping[str, Any]] | None = None, *, is_closed: bool = True) -> bytes:
    sent = openai_chunks() if chunks is None else chunks
    events = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in sent)
    return events + (b"data: [DONE]\n\n" if is_closed else b"")


def openai_completion(text: str | None = "The value is 42.", **message: Any) -> dict[str, Any]:
    """A completion in one piece."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": message.pop("finish_reason", "stop"),
                "logprobs": None,
                "message": {"role": "assistant", "content": text, "refusal": None, **message},
            }
        ],
        "usage": dict(OPENAI_USAGE),
    }


def anthropic_message(text: str = "The value is 42.", **fields: Any) -> dict[str, Any]:
    """A message in one piece."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_creation_input_tokens": 30,
            "cache_read_input_tokens": 50,
            "output_tokens": 10,
        },
        **fields,
    }


def anthropic_events(
    blocks: Iterable[Mapping[str, Any]] = ({"type": "text", "text": "The value is 42."},),
    *,
    stop_reason: str = "end_turn",
    **delta: Any,
) -> list[dict[str, Any]]:
    """The events of a streamed message. A block is given whole; text, thinking and tool input come in two deltas."""
    message = anthropic_message(content=[], stop_reason=None)
    message["usage"]["output_tokens"] = 1
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": _opening(block)})
        events += [{"type": "content_block_delta", "index": index, "delta": part} for part in _deltas(block)]
        events.append({"type": "content_block_stop", "index": index})
    return [
        *events,
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": None, **delta},
            "usage": {"output_tokens": 10},
        },
        {"type": "message_stop"},
    ]


def anthropic_stream(events: Iterable[Mapping[str, Any]] | None = None) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        for event in (anthropic_events() if events is None else events)
    )


def _opening(block: Mapping[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in block.items()}


def _deltas(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": half} for half in _halves(block["text"])]
    if block["type"] == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": half} for half in _halves(block["thinking"])]
        return [*thoughts, {"type": "signature_delta", "signature": block["signature"]}]
    if block["type"] in ("tool_use", "server_tool_use"):
        return [{"type": "input_json_delta", "partial_json": half} for half in _halves(json.dumps(block["input"]))]
    return []


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]
