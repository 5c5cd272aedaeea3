"""A store full of texts that attack: every string that others choose, in every kind of record that the panel shows."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of
from pydantic import ValidationError
from records_for_tests import a_run

from orchestra import Document, Question, Result, orchestrate
from orchestra.runtime import events as kinds
from orchestra.store import ApprovalRecord, DocumentRef, Store

ATTACKS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "panel_attacks.toml").read_text(encoding="utf-8")
)
SCRIPTS: dict[str, str] = {each["name"]: each["text"] for each in ATTACKS["script"]}
SCRIPTS["half of a letter"] = "x\ud800<script>owned()</script>\udfff"  # no file can hold it
ALL = "\n\n".join(SCRIPTS.values())
SESSION = '"><script>owned()</script>/../x'
EDITABLE = {"to": '"><script>owned()</script>', '<img src=x onerror=owned()>"': ["</textarea><script>owned()</script>"]}
_PAYLOAD = {
    "reply": {
        "text": "t",
        "tool_calls": [{"id": "i", "name": "n", "arguments": {"a": "b"}}],
        "model": "m",
        "usage": {"input_tokens": 1},
    },
    "error": {"code": "c", "message": "m", "cause": "c", "suggestion": "s"},
}
_KEPT = ("type", "status", "kind", "mode", "fingerprint", "version")
"""Fields whose words are ours: another text there would only be refused."""


def filled(store: Store, offsets: range = range(0, len(SCRIPTS), 8)) -> list[str]:
    """Fill a store; the ids of its runs. `offsets`: with which attack the strings of each run begin."""
    store.begin_session(SESSION, SCRIPTS["an image that cannot be loaded"])
    runs = [_spoken(store)]
    runs += [_told(store, f"r{offset}", offset) for offset in offsets]
    return [*runs, _asking(store), _odd(store)]


def replaced(value: Any, texts: Iterator[str], key: str = "") -> Any:
    """Plain JSON with other strings for its own, in values and in the keys of free mappings."""
    if isinstance(value, str):
        return value if key in _KEPT else next(texts)
    if isinstance(value, Mapping):
        return {name: replaced(each, texts, name) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [replaced(each, texts, key) for each in value]
    return value


def _spoken(store: Store) -> str:
    """A real run: what its model says, its document, its headings and its task attack."""
    headings = "\n\n".join(f"# {text.splitlines()[0]}\n\n{text}" for text in SCRIPTS.values())
    model = ScriptedModel(subtask=f"{ALL} [L5]", synthesis=f"{ALL} It rose [L5], and fell [L9?].")
    plan = plan_of(
        {"task": ALL, "context_pointers": REVENUE},
        {"task": SCRIPTS["a drawing"], "context_pointers": COSTS},
        reasoning=ALL,
    )
    result = orchestrate(
        [Document.from_text(f"{REPORT}\n{headings}", name=SCRIPTS["an image that cannot be loaded"])],
        ALL,
        plan=plan,
        model=model,
        max_followups=0,
        store=store,
        session_id=SESSION,
    )
    return result.run_id


@cache
def _example() -> Result:
    model = ScriptedModel(subtask="Revenue was $40 million [L5].", synthesis="It was $40 million [L5], or $1 [L9].")
    plan = plan_of({"task": "a", "context_pointers": REVENUE}, {"task": "b", "context_pointers": COSTS})
    return orchestrate(REPORT, "Tell me.", plan=plan, model=model, max_followups=0)


def _hostile_result(texts: Iterator[str]) -> dict[str, Any]:
    """A result with attacks for all strings that may be any text."""
    stored = _example().model_dump(mode="json")
    error = {"code": "TIMEOUT", "message": "m", "cause": "c", "suggestion": "s"}
    stored["errors"] = [error]
    stored["warnings"] = [{"code": "c", "message": "m", "node_id": "n"}]
    stored["data"] = {"a": ["b", {"c": "d"}]}
    stored["subtasks"][0] |= {"status": "failed", "error": error}
    for place in tuple(_leaves(stored)):
        before = place.get()
        place.put(next(texts))
        try:
            Result.model_validate(stored)
        except ValidationError:
            place.put(before)
    return stored


class _Leaf:
    def __init__(self, owner: Any, key: Any) -> None:
        self._owner, self._key = owner, key

    def get(self) -> str:
        return self._owner[self._key]

    def put(self, text: str) -> None:
        self._owner[self._key] = text


def _leaves(value: Any) -> Iterator[_Leaf]:
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, str):
            if key not in ("status", "answer"):
                yield _Leaf(value, key)
        elif isinstance(each, dict | list):
            yield from _leaves(each)


def _told(store: Store, run_id: str, offset: int) -> str:
    """A run of no session whose records are attacks, the `offset`-th first."""
    scripts = list(SCRIPTS.values())
    texts = itertools.cycle(scripts[offset:] + scripts[:offset])
    refs = (DocumentRef(next(texts), f"digest-{run_id}-1"), DocumentRef(next(texts), f"digest-{run_id}-2"))
    store.begin_run(
        a_run(
            run_id,
            task=next(texts),
            documents=refs,
            models={next(texts): next(texts), "planner": next(texts)},
            request={"strategy": next(texts)},
        )
    )
    for ref in refs:
        store.put_document(ref.digest, ref.name, ALL)
    store.append_events(run_id, list(_events(texts)))
    for number, event in enumerate(store.events(run_id)):
        if event.get("node_id") and number % 7 == 0:
            store.begin_call(run_id, event["node_id"], "model", f"f{number}")
            store.finish_call(run_id, event["node_id"], "model", f"f{number}", 1, replaced(_PAYLOAD, texts))
    result = {**_hostile_result(texts), "answer": ALL}
    error = {"code": next(texts), "message": next(texts), "cause": next(texts), "suggestion": next(texts)}
    store.end_run(run_id, "partial", result=result, error=error)
    return run_id


def _events(texts: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Each kind of event, its strings replaced, of nodes whose ids are attacks; one has a type that is an attack."""
    nodes = ["run", *(f"run/{next(texts)}" for _ in range(3)), "panel-body", "htmx"]
    sequence = itertools.count(1)
    fields = {
        "error": {"code": "c", "message": "m", "cause": "c", "suggestion": "s"},
        "permission_snapshot": {"tools": {"allowed": ["t"]}, "x": "y"},
        "usage": {"input_tokens": 1, "output_tokens": 2, "model": "m"},
        "timing": {"started_at": 1000.0, "duration_ms": 5.0},
        "narrowings": [{"permission": "p", "taken_by": "skill", "reason": "r"}],
    }
    names = ("skill_name", "title", "text", "reason", "model", "code", "message", "permission", "taken_by", "skill")
    for kind, node in itertools.product(_types(), nodes):
        told = {
            **fields,
            **dict.fromkeys(names, "x"),
            "ranges": ["L1"],
            "shown": {"a": "b"},
            "chosen": "x",
            "path": "p",
        }
        status = "failed" if "failed" in kind else "completed"
        yield {
            **replaced(told, texts),
            "type": kind,
            "sequence": next(sequence),
            "at": 1000.0 + next(sequence),
            "node_id": node,
            "parent_node_id": None if node == "run" else "run",
            "kind": "subtask",
            "depth": 1,
            "mode": next(texts),
            "status": next(texts) if kind.endswith("updated") and node == "htmx" else status,
        }
    yield {"type": next(texts), "sequence": next(sequence), next(texts): next(texts)}


def _types() -> list[str]:
    return sorted(
        kind.type
        for kind in vars(kinds).values()
        if isinstance(kind, type) and issubclass(kind, kinds.Event) and kind.type != kinds.Event.type
    )


def ask(store: Store, run_id: str, question: Question) -> str:
    """Put a question on record as a run does; its digest."""
    store.ask(
        ApprovalRecord(
            run_id, question.node_id, question.kind, question.title, question.to_dict(), question.digest, 1000.0
        )
    )
    return question.digest


def _asking(store: Store) -> str:
    """A run that waits for people, and shows them attacks."""
    run_id = "asks"
    store.begin_run(a_run(run_id, session_id=SESSION, task=ALL, status="running"))
    shown = {f"{name} {text}"[:200]: text for name, text in SCRIPTS.items()}
    ask(store, run_id, Question("approval", SCRIPTS["a script"], ALL, shown))
    ask(store, run_id, Question("approval", "run/2", "Send it?", EDITABLE))
    ask(store, run_id, Question("permission", "run/3", ALL, {"tool": ALL, "arguments": SCRIPTS}))
    ask(store, run_id, Question("ask_user", "run/4", ALL, options=tuple(SCRIPTS.values())))
    store.append_events(run_id, [{"type": "answer-delta", "sequence": 1, "node_id": ALL, "text": ALL}])
    store.end_run(run_id, "waiting")
    return run_id


def _odd(store: Store) -> str:
    """A run whose id is an attack itself."""
    run_id = 'r"><img src=x onerror=owned()>?#&\u2028'
    store.begin_run(a_run(run_id, task="x", status="running"))
    store.append_events(run_id, [{"type": "answer-delta", "sequence": 1, "node_id": "run", "text": ALL}])
    store.end_run(run_id, "failed", error={"code": "X", "message": ALL, "cause": ALL, "suggestion": ALL})
    return run_id
