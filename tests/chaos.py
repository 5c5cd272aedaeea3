"""A model's server that misbehaves in every way, by a seed, and answers now and then.

    with chaos_server(seed) as server:
        orchestrate(REPORT, "What happened?", model=model_at(server, "openai"))

What becomes of a request hangs on the seed, on its body, and on how often this body came before.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from models_for_tests import plan_of
from servers import (
    Received,
    ScriptedServer,
    Wire,
    answer,
    anthropic_events,
    anthropic_message,
    anthropic_stream,
    json_answer,
    openai_chunks,
    openai_completion,
    openai_stream,
    sse_answer,
)

HUGE_BYTES = 100 * 2**20
SECTIONS = 4
REPORT = "# Report\n\n" + "\n\n".join(
    f"## Section {number}\n\nThe value of section {number} is {number * 11}." for number in range(1, SECTIONS + 1)
)


def plan_for(number: int) -> dict[str, Any]:
    """A plan of `number` subtasks, each over a section of its own."""
    return plan_of(
        *(
            {"context_pointers": {"sections": [f"Section {at}"], "line_ranges": []}, "task": f"question {at}"}
            for at in range(1, number + 1)
        )
    )


def mark(number: int) -> str:
    """What the reply to a subtask holds, and no other reply does."""
    return f"answer-to-{number}"


@dataclass(frozen=True)
class Chaos:
    """The script of one server. `subtasks` are in the plans that it makes; `calm` is the share of good replies."""

    seed: int
    subtasks: int = 3
    calm: float = 0.6

    def script(self) -> Callable[[Received, Wire], bytes | None]:
        seen: Counter[bytes] = Counter()
        lock = threading.Lock()

        def respond(received: Received, wire: Wire) -> bytes | None:
            if len(received.body) < int(received.headers.get("content-length", "0")):
                return None  # the client left within its own request
            with lock:
                seen[received.body] += 1
                dice = random.Random(f"{self.seed} {seen[received.body]} {received.path} {received.body!r}")
            good = self._good(received, dice)
            if dice.random() < self.calm:
                return good
            return dice.choice(FAULTS)(good, wire, dice)

        return respond

    def _good(self, received: Received, dice: random.Random) -> bytes:
        body = received.json
        text = self._text(body)
        streams = body.get("stream") and dice.random() < 0.8
        if "messages" in received.path:
            if streams:
                return sse_answer(anthropic_stream(anthropic_events([{"type": "text", "text": text}])))
            return json_answer(anthropic_message(text))
        if streams:
            return sse_answer(openai_stream(openai_chunks(text)))
        return json_answer(openai_completion(text))

    def _text(self, body: Mapping[str, Any]) -> str:
        if "response_format" in body or "output_config" in body:
            return json.dumps(plan_for(self.subtasks))
        words = json.dumps(body["messages"])
        asked = re.findall(r"question (\d+)", words)
        if len(set(asked)) == 1:
            return f"It is {mark(int(asked[0]))} [L5]."
        return "All of it, joined [L5]."


def chaos_server(seed: int, *, subtasks: int = 3, calm: float = 0.6) -> ScriptedServer:
    return ScriptedServer(Chaos(seed, subtasks, calm).script())


Fault = Callable[[bytes, Wire, random.Random], bytes | None]


def _hang(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.hang()


def _hang_within(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.send(good[: dice.randrange(len(good))])
    wire.hang()


def _reset(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.reset()


def _reset_within(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.send(good[: dice.randrange(len(good))])
    wire.reset()


def _leave(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.close()


def _truncate(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.send(good[: dice.randrange(len(good))])
    wire.close()


def _drip(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.drip(good, every_s=0.01)


def _drip_events(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
    wire.drip(b": still here\n\n", every_s=0.01)


def _garbage(good: bytes, wire: Wire, dice: random.Random) -> None:
    wire.send(dice.randbytes(dice.randrange(1, 2_000)))
    wire.close()


def _malformed(good: bytes, wire: Wire, dice: random.Random) -> bytes:
    return answer(dice.choice([b'{"choices": [{"mess', b"[1, 2", b"null", b"[]", b'"words"', b"{}", b"", b"\xff\xfe{"]))


def _odd_json(good: bytes, wire: Wire, dice: random.Random) -> bytes:
    odd: list[Any] = [
        {"choices": []},
        {"choices": [{"message": {"content": None}}]},
        {"choices": "none", "usage": "much"},
        {"content": None, "stop_reason": 7},
        {"content": [{"type": "text", "text": 5}]},
        {"error": {"message": "overloaded", "type": "overloaded_error"}},
        {"a": [[]] * 50},
    ]
    return json_answer(dice.choice(odd))


def _wrong_type(good: bytes, wire: Wire, dice: random.Random) -> bytes:
    kind = dice.choice(["text/html", "image/png", "application/octet-stream", "text/event-stream"])
    return answer(
        dice.choice([b"<html><title>Welcome</title></html>", b"\x89PNG\r\n", b"data: {", b"data: [DONE]\n\n"]),
        kind=kind,
    )


def _half_a_stream(good: bytes, wire: Wire, dice: random.Random) -> bytes:
    openai, anthropic = (
        openai_stream(openai_chunks(finish=None), is_closed=False),
        anthropic_stream(anthropic_events()[:-1]),
    )
    return sse_answer(dice.choice([openai, anthropic]))


def _error_in_stream(good: bytes, wire: Wire, dice: random.Random) -> bytes:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return sse_answer(f"event: error\ndata: {json.dumps(error)}\n\n".encode())


def _status(status: int, **headers: str) -> Fault:
    def respond(good: bytes, wire: Wire, dice: random.Random) -> bytes:
        body = {"error": {"message": f"status {status}", "type": "error"}}
        return json_answer(
            body, status=status, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    return respond


def _huge(good: bytes, wire: Wire, dice: random.Random) -> None:
    head = f"HTTP/1.1 {dice.choice([200, 529])} OK\r\ncontent-type: application/json\r\ncontent-length: {HUGE_BYTES}\r\n\r\n"
    wire.send(head.encode())
    wire.pour(b" " * 2**20, HUGE_BYTES)
    wire.close()


def _bomb(good: bytes, wire: Wire, dice: random.Random) -> bytes:
    return answer(_bomb_bytes(), headers={"content-encoding": "gzip"})


@cache
def _bomb_bytes() -> bytes:
    return gzip.compress(b" " * HUGE_BYTES, compresslevel=9)


_LIMITS = {
    "x_ratelimit_limit_requests": "600",
    "x_ratelimit_remaining_requests": "0",
    "x_ratelimit_reset_requests": "500ms",
}

FAULTS: tuple[Fault, ...] = (
    _hang, _hang_within, _reset, _reset_within, _leave, _truncate, _drip, _drip_events, _garbage, _malformed, _malformed,
    _odd_json, _odd_json, _wrong_type, _wrong_type, _half_a_stream, _error_in_stream, _huge, _bomb,
    _status(429, retry_after="0.01"), _status(429, retry_after_ms="20", **_LIMITS), _status(429, retry_after="9999"),
    _status(500), _status(500, retry_after="0.01"), _status(503), _status(504), _status(529), _status(529, retry_after="0.01"),
    _status(400), _status(401), _status(404), _status(408), _status(302, location="http://127.0.0.1:1/"),
)  # fmt: skip
