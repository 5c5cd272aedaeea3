"""Scenes for the panel: a loopback model that does what its task says, skills to route to, and a panel over them.

    with a_stage(folder) as stage:
        stage.ask("Tell me of revenue.")

A task is one of `PLANS`; what becomes of its parts stands in `Loopback`. Runs go over HTTP to a server of this process,
which fails, hangs, asks and streams as the part says.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from models_for_tests import AUDITOR, COSTS, REPORT, REVENUE, ScriptedModel, plan_of
from servers import SSE_HEAD, Received, ScriptedServer, Wire, json_answer, openai_chunks, openai_stream, sse_answer
from trees_for_tests import below, write_skill

from orchestra import orchestrate
from orchestra.panel.desk import Desk, open_desk
from orchestra.panel.security import Gate
from orchestra.panel.server import PanelServer
from orchestra.skills import SkillLibrary
from orchestra.skills.policy import Policy
from orchestra.store import RunRecord, Store

SIMPLE = "Tell me of revenue."
BOTH = "Compare revenue with costs."
HALF = "Half of this breaks."
HANGS = "This takes for ever."
ASKS = "Ask me which year."
CAREFUL = "Look at the costs with care."
GUARDED = "Note it down, if I allow it."
FORBIDDEN = "Write where nobody may."
SLOW = "Tell me all of it, slowly."
HELD = "Wait for a word of mine."
CYCLE, DEPTH, LOST, NARROW = "Go round in circles", "Go too deep", "Call nobody", "Go with less and less"

REVENUE_PART, COSTS_PART, AUDITOR_PART = "State the revenue.", "State why costs rose.", "State who audits."
BROKEN_PART, HANGING_PART, ASKING_PART = "Break down here.", "Never answer here.", "Ask a person here."
FORBIDDEN_PART, GUARDED_PART = "Write to the system here.", "Write a note here."
SLOW_PART, HELD_PART = "Speak slowly here.", "Hold on here."

PLANS: dict[str, dict[str, Any]] = {
    SIMPLE: plan_of({"task": REVENUE_PART, "context_pointers": REVENUE}),
    BOTH: plan_of({"task": REVENUE_PART, "context_pointers": REVENUE}, {"task": COSTS_PART, "context_pointers": COSTS}),
    HALF: plan_of(
        {"task": REVENUE_PART, "context_pointers": REVENUE}, {"task": BROKEN_PART, "context_pointers": COSTS}
    ),
    HANGS: plan_of({"task": HANGING_PART, "context_pointers": COSTS}),
    ASKS: plan_of({"task": ASKING_PART, "context_pointers": REVENUE}),
    CAREFUL: plan_of({"skill": "careful", "task": COSTS_PART, "context_pointers": COSTS}),
    GUARDED: plan_of({"task": GUARDED_PART, "context_pointers": COSTS}),
    FORBIDDEN: plan_of({"task": FORBIDDEN_PART, "context_pointers": COSTS}),
    SLOW: plan_of(
        {"task": SLOW_PART, "context_pointers": REVENUE},
        {"task": COSTS_PART, "context_pointers": COSTS},
        {"task": AUDITOR_PART, "context_pointers": AUDITOR, "depends_on": ["2"]},
    ),
    HELD: plan_of({"task": HELD_PART, "context_pointers": REVENUE}),
}
REPLIES = {
    REVENUE_PART: "Revenue was $40 million in 2025 [L5].",
    COSTS_PART: "Costs rose because steel became dearer [L9].",
    AUDITOR_PART: "Miller & Stone LLP audits the company [L13].",
    SLOW_PART: "Revenue was $40 million in 2025, against $32 million in 2024 [L5]. " + "It grew and grew. " * 6,
}
JOINED = "Revenue was $40 million [L5], and costs rose because steel became dearer [L9]."
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    ASKING_PART: ("ask_user", {"question": "Which year do you mean?", "options": ["2024", "2025"]}),
    FORBIDDEN_PART: ("write_file", {"path": "/etc/passwd", "content": "owned"}),
    GUARDED_PART: ("keep_note", {"text": "Steel became dearer."}),
}
_WORD_S = 0.02  # between the words of a slow answer


class Loopback:
    """An OpenAI-compatible server whose answers hang on the last of the known texts in what it is sent."""

    def __init__(self) -> None:
        self.server = ScriptedServer(self._answer)
        self.go_on = threading.Event()

    @property
    def requests(self) -> list[Received]:
        return self.server.requests

    def _answer(self, received: Received, wire: Wire) -> bytes | None:
        body = received.json
        messages = body["messages"]
        words = "\n".join(json.dumps(message.get("content"), ensure_ascii=False) for message in messages)
        if "You plan how to answer" in str(messages[0]["content"]):
            return _said(json.dumps(PLANS[_last(PLANS, words)]))
        told = [message["content"] for message in messages if message["role"] == "tool"]
        part = _last((*REPLIES, *CALLS, BROKEN_PART, HANGING_PART, HELD_PART), words)
        if "<excerpts>" not in words:
            return _said(JOINED)
        if part == BROKEN_PART:
            return json_answer({"error": {"message": "the machine is on fire", "type": "error"}}, status=400)
        if part == HANGING_PART:
            return wire.hang()
        if part in (SLOW_PART, HELD_PART):
            return self._stream(
                wire, REPLIES.get(part, f"{'One word after another. ' * 15}Revenue was $40 million [L5]."), part
            )
        if part in CALLS:
            return _said(f"It was said: {told[-1]}"[:200]) if told else _called(*CALLS[part])
        return _said(REPLIES[part])

    def _stream(self, wire: Wire, text: str, part: str) -> None:
        wire.send(SSE_HEAD)
        for number, chunk in enumerate(openai_chunks(text)):
            if part == HELD_PART and number == 3:
                self.go_on.wait(300)
            threading.Event().wait(_WORD_S)
            piece = b"data: " + json.dumps(chunk).encode() + b"\n\n"
            if not wire.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n"):
                return
        wire.send(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


def _last(known: Any, words: str) -> str:
    return max(known, key=lambda text: words.rfind(text))


def _said(text: str) -> bytes:
    return sse_answer(openai_stream(openai_chunks(text)))


def _called(name: str, arguments: dict[str, Any]) -> bytes:
    call = {"index": 0, "id": "call_1", "function": {"name": name, "arguments": json.dumps(arguments)}}
    made = {**openai_chunks()[0], "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}
    return sse_answer(openai_stream([made, *openai_chunks("", finish="tool_calls")]))


def keep_note(text: str) -> str:
    """Keep a note.

    Args:
        text: what to keep
    """
    return f"kept: {text}"


def a_library(folder: Path) -> SkillLibrary:
    """Skills that are careful, go in circles, too deep or nowhere, and one whose parts may do less and less."""
    order = {"type": "composite", "routing": {"strategy": "sequential"}}
    write_skill(folder, "careful", "Take care.", approval="required", description="Careful work.")
    write_skill(folder, "round", sub_skills=["round-again"], triggers=[CYCLE.lower()], **order)
    write_skill(folder, "round-again", sub_skills=["round"], **order)
    place = write_skill(folder, "deep-1", sub_skills=["deep-2"], triggers=[DEPTH.lower()], **order)
    for level in range(2, 5):
        place = below(place, f"deep-{level}", sub_skills=[f"deep-{level + 1}"], **order)
    below(place, "deep-5")
    nobody = "from orchestra.skills.code import CallSkill\ndef work():\n    yield CallSkill('nobody')\n"
    write_skill(folder, "lost", code=nobody, triggers=[LOST.lower()])
    place = write_skill(
        folder,
        "less",
        sub_skills=["lesser"],
        triggers=[NARROW.lower()],
        allowed_tools="read_section keep_note",
        **order,
    )
    below(place, "lesser", f"{REVENUE_PART} <excerpts>", allowed_tools="read_section write_file")
    return SkillLibrary.from_path(folder)


def a_denied_run(store: Store, session_id: str) -> str:
    """A run whose only part may not use the model that it is for; its id."""
    worker, planner = ScriptedModel(subtask="Never."), ScriptedModel(plan=PLANS[SIMPLE], synthesis="Never.")
    worker.name = "test:forbidden"
    result = orchestrate(
        REPORT,
        "Use what is not allowed.",
        model=worker,
        planner_model=planner,
        synthesis_model=planner,
        policy={"deny": {"models": ["test:forbidden"]}},
        strategy="full",
        store=store,
        session_id=session_id,
    )
    return result.run_id


@dataclass
class Stage:
    """A panel whose runs go to a loopback model.

    `client` is let in, and sends the token that forms need; `options` are those that the desk was opened with.
    """

    folder: Path
    model: Loopback
    store: Store
    desk: Desk
    server: PanelServer
    gate: Gate
    client: httpx.Client
    options: dict[str, Any]

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def link(self) -> str:
        return self.server.link

    def new_session(self) -> str:
        """A session, whose page is `/sessions/ID`."""
        made = self.client.post("/sessions")
        assert made.status_code == 303, made.text
        return made.headers["location"].partition("?")[0].rsplit("/", 1)[-1]

    def send(self, session_id: str, task: str, **fields: str) -> str:
        """Begin a run by the form of the chat; its id."""
        sent = self.client.post(f"/sessions/{session_id}/messages", data={"task": task, **fields})
        assert sent.status_code == 303, sent.text
        return sent.headers["location"].rpartition("run=")[2]

    def ask(self, task: str, session_id: str = "", **fields: str) -> RunRecord:
        """The record of a run that was begun by a form, once it is over."""
        return self.ended(self.send(session_id or self.new_session(), task, **fields))

    def asked(self, run_id: str) -> Any:
        """The first open question of a run, once it asks one."""
        return until(lambda: self.store.approvals(run_id, "open"))[0]

    def ended(self, run_id: str) -> RunRecord:
        until(lambda: self.store.run(run_id).status != "running" and not self.desk.runner.is_running(run_id))
        return self.store.run(run_id)

    def page(self, run: RunRecord | str, **chosen: str) -> str:
        record = self.store.run(run) if isinstance(run, str) else run
        query = "&".join(f"{name}={value}" for name, value in {"run": record.id, **chosen}.items())
        return f"{self.url}/sessions/{record.session_id}?{query}"


def until(claim: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What `claim` gives, once that is true."""
    ends_at = time.monotonic() + seconds
    while not (found := claim()):
        assert time.monotonic() < ends_at, "it did not come true"
        threading.Event().wait(0.02)
    return found


@contextmanager
def a_stage(folder: Path, **options: Any) -> Iterator[Stage]:
    """A panel over a new store in `folder`, with one document; every run has the strategy "full" unless it says another.

    `options` are those of `open_desk`, in place of ours.
    """
    loopback = Loopback()
    report = folder / "report.md"
    report.write_text(REPORT, encoding="utf-8")
    config = folder / "orchestra.toml"
    config.write_text('strategy = "full"\nmax_attempts = 1\nmax_followups = 0\ntimeout_s = 300\n', encoding="utf-8")
    given: dict[str, Any] = {
        "documents": [report],
        "model": "openai:m",
        "skills": a_library(folder / "skills"),
        "tools": ["ask_user", "write_file", "read_section", keep_note],
        "policy": Policy.of({"ask": {"tools": ["keep_note"]}}),
        "config": config,
        **options,
    }
    with pytest.MonkeyPatch.context() as environment, loopback.server, Store.open(folder / "runs.db") as store:
        environment.setenv("OPENAI_BASE_URL", f"{loopback.server.url}/v1")
        environment.setenv("OPENAI_API_KEY", "test-key")
        desk = open_desk(store, **given)
        with served(desk) as (server, gate, client):
            yield Stage(folder, loopback, store, desk, server, gate, client, given)
        loopback.go_on.set()


@contextmanager
def served(desk: Desk, port: int = 0) -> Iterator[tuple[PanelServer, Gate, httpx.Client]]:
    """The panel of a desk, and a client that is let in."""
    server = PanelServer(desk, port=port)
    gate = Gate(desk.secret, "127.0.0.1", server.port)
    client = httpx.Client(
        base_url=server.url,
        cookies={gate.cookie_name: gate.cookie},
        headers={"X-Token": gate.token, "Origin": server.url},
        timeout=30,
    )
    with server.running(), client:
        yield server, gate, client
