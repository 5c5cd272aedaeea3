"""A run in a process of its own, to be killed: `killable_run.py STORE`. Says its id as soon as it has begun.

`REPORT`, `TASK`, and `Script`, which a server answers it with: a plan of five subtasks, one of which depends on
another, and a synthesis; equal requests get equal replies, each after a time of its own.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

TASK = "Tell of all chapters."
CHAPTERS = 5
REPORT = "\n".join(
    line
    for number in range(1, CHAPTERS + 1)
    for line in (f"# Chapter {number}", "", f"Only chapter {number} says xyz{number}.", "")
)
OPTIONS = {"model": "openai:m", "strategy": "full"}


def main(store: str) -> None:
    from orchestra import orchestrate

    def say(event) -> None:
        if event.type == "skill-route-started":
            print(event.route_run_id, flush=True)

    orchestrate(REPORT, TASK, store=store, on_event=say, **OPTIONS)
    print("ended", flush=True)


class Script:
    """What the server does. `asked` holds what each request was for, in order; `wait_for` so many of them."""

    def __init__(self, unit_s: float = 0.03) -> None:
        self.unit_s = unit_s
        self.asked: list[str] = []
        self._came = threading.Condition()

    def wait_for(self, requests: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: len(self.asked) >= requests, timeout=60)

    def __call__(self, received, wire) -> bytes:
        from servers import openai_chunks, openai_stream, sse_answer

        subject = subject_of(received)
        with self._came:
            self.asked.append(subject)
            self._came.notify_all()
        wire.rest(self.unit_s * (1 + sum(map(ord, subject)) % 4))
        return sse_answer(openai_stream(openai_chunks(reply_to(subject))))


def subject_of(received) -> str:
    """The node that a request belongs to."""
    rules, text = (received.json["messages"][at]["content"] for at in (0, -1))
    if "You plan how to answer" in rules:
        return "run/plan"
    if "<finding>" in text and "<excerpts>" not in text:
        return "run/synthesis"
    return next(f"run/subtask-{n}" for n in range(1, CHAPTERS + 1) if f"Task: Tell of chapter {n}." in text)


def reply_to(subject: str) -> str:
    if subject == "run/synthesis":
        return " ".join(f"Chapter {n} says xyz{n} [L{4 * n - 1}]." for n in range(1, CHAPTERS + 1))
    if subject != "run/plan":
        number = int(subject.rpartition("-")[2])
        return f"It says xyz{number} [L{4 * number - 1}]."
    subtasks = [
        {
            "id": str(number),
            "skill": "critique",
            "task": f"Tell of chapter {number}.",
            "context_pointers": {"sections": [f"s{number}"], "line_ranges": []},
            "answer": None,
            "depends_on": ["1"] if number == CHAPTERS else [],
        }
        for number in range(1, CHAPTERS + 1)
    ]
    return json.dumps({"subtasks": subtasks, "reasoning": "each by itself"})


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main(sys.argv[1])
