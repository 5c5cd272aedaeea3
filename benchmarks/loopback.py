"""A server that answers OpenAI Chat Completions at once, so that only the client's own cost is left to measure.

python benchmarks/loopback.py    prints its port, serves until it is killed
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLAN = json.dumps(
    {
        "subtasks": [
            {
                "id": str(number),
                "task": f"What happened in section {number}?",
                "skill": "fact-extraction",
                "context_pointers": {"sections": [f"Section {number}"], "line_ranges": []},
                "answer": None,
                "depends_on": [],
            }
            for number in range(1, 6)
        ],
        "reasoning": "one part each",
    }
)
REPLY = "Revenue was 42 dollars [L3-L4]."


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server in a process of its own, so that its CPU time is not ours."""
    with subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _reply(body: bytes) -> tuple[bytes, bytes]:
    request = json.loads(body)
    text = PLAN if "response_format" in request or "as a plan" in request["messages"][-1]["content"] else REPLY
    common = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    if not request.get("stream"):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        whole = {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
        return b"application/json", json.dumps(whole).encode()
    step = -(-len(text) // 10)
    deltas = [{"role": "assistant", "content": text[at : at + step]} for at in range(0, len(text), step)]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
    events = (json.dumps({**common, "object": "chat.completion.chunk", **chunk}) for chunk in chunks)
    return b"text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode() + b"data: [DONE]\n\n"


def _converse(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, connection.makefile("rb") as stream:
        while stream.readline():
            length = 0
            while line := stream.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            kind, body = _reply(stream.read(length))
            head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(body))
            connection.sendall(head + body)


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_converse, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
