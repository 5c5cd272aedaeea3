"""The details of a node: what it was shown, asked and answered, what failed, and what changed between its attempts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, at, plan_of

from orchestra import Document, orchestrate
from orchestra.errors import ModelAuth, ModelOverloaded
from orchestra.models.protocol import ModelReply, Usage
from orchestra.panel.folded.forests import MOST_RUNS, Forests
from orchestra.panel.view.attempts import attempts_of, differ
from orchestra.panel.view.faults import fault_of
from orchestra.panel.view.node_detail import LINES_OF_A_RANGE, SHOWN_CHARACTERS, calls_of, excerpts, told_by
from orchestra.panel.view.statuses import status_shown
from orchestra.store import CallRecord, DocumentRef
from tests.panel.conftest import Panel
from tests.panel.html_for_tests import Read
from tests.records_for_tests import a_run, node_event

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
TOPICS = ("steel", "wages", "tariffs", "patents", "audits", "leases", "pensions", "weather", "cocoa", "software")
BOOK = "\n".join(f"# About {topic}\n\nThe {topic} of the year were as {topic} are.\n" for topic in TOPICS)


def the_part(panel: Panel, path: str, **query: Any) -> Read:
    answer = panel.client.get(path, params=query, headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    return Read(answer.text)


def refused(panel: Panel, path: str, **query: Any) -> tuple[int, str]:
    answer = panel.client.get(path, params=query, headers={"HX-Request": "true"})
    return answer.status_code, Read(answer.text).text


# What changed between attempts


def event(event_type: str, **fields: Any) -> dict[str, Any]:
    return {"type": event_type, "node_id": "n", **fields}


def test_each_retry_stand_in_and_follow_up_begins_an_attempt() -> None:
    attempts = attempts_of(
        [
            event("slice-ready", ranges=["L1-L4"], tokens=9),
            event("call-held-back", reason="requests a minute", delay_s=2.0),
            event("retry-scheduled", attempt=2, delay_s=1.5, error={"code": "MODEL_OVERLOADED", "message": "busy"}),
            event("model-fell-back", model="b", instead_of="a", error={"code": "TIMEOUT", "message": "slow"}),
            event("followed-up", missing="the year", ranges=["L9"], tokens=3),
            event("skill-route-node-updated", status="completed"),
        ]
    )
    assert [(each.number, each.why, each.delay_s, each.model, each.ranges) for each in attempts] == [
        (1, "first", None, "", ("L1-L4",)),
        (2, "tried again", 1.5, "", ()),
        (3, "b stands in for a", None, "b", ()),
        (4, "asked again over further lines", None, "b", ("L9",)),
    ]
    assert [each.fault.code if each.fault else each.outcome for each in attempts] == [
        "MODEL_OVERLOADED",
        "TIMEOUT",
        "missing: the year",
        "completed",
    ]
    assert attempts[0].notes == ["held back, about 2.0 s: requests a minute"]


def test_a_node_that_was_taken_up_again_has_another_attempt() -> None:
    updates = [
        event("skill-route-node-updated", status=status) for status in ("executing", "failed", "routing", "executing")
    ]
    attempts = attempts_of(updates)
    assert [(each.why, each.outcome) for each in attempts] == [("first", "failed"), ("taken up again", "")]


def test_a_node_that_went_well_at_once_has_nothing_to_compare() -> None:
    assert not differ(attempts_of([event("skill-route-node-updated", status="completed")]))
    assert differ(attempts_of([event("effect-replayed", kind="model", source="cache")]))


values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.lists(st.text(max_size=3), max_size=3)
)
names = st.sampled_from(
    ["ranges", "tokens", "delay_s", "error", "model", "missing", "status", "reason", "notes", "pointer", "ids", "skill"]
)
kinds = st.sampled_from(["slice-ready", "retry-scheduled", "model-fell-back", "followed-up", "call-held-back", "warning",
                         "effect-replayed", "look-taken", "pointer-resolved", "skill-loaded", "skill-route-node-updated", "?"])  # fmt: skip


@given(
    st.lists(
        st.builds(lambda kind, fields: {"type": kind, **fields}, kinds, st.dictionaries(names, values)), max_size=12
    )
)
def test_any_events_tell_of_one_attempt_or_more(events: list[dict[str, Any]]) -> None:
    told = told_by(events)
    assert [attempt.number for attempt in told.attempts] == list(range(1, len(told.attempts) + 1))
    assert len(told.attempts) >= 1
    assert isinstance(excerpts(told.ranges, (), lambda _: None), list)


# Lines, calls, errors


def test_lines_of_each_document_are_found_and_bounded() -> None:
    texts = {"a": "one\ntwo\nthree\n", "b": "\n".join(f"line {at}" for at in range(1, 200))}
    documents = [DocumentRef("a.md", "a"), DocumentRef("b.md", "b")]
    ranges = ("L2-L3", "d2:L1-L150", "d9:L1", "nothing", "d2:L7", "L0")
    found = excerpts(ranges, documents, lambda document: texts[document.digest])
    assert [(each.document, each.first, each.last) for each in found] == [
        ("a.md", 2, 3),
        ("b.md", 1, 150),
        ("b.md", 7, 7),
        ("a.md", 1, 1),
    ]
    assert found[0].lines == ((2, "two"), (3, "three"))
    assert (len(found[1].lines), found[1].left) == (LINES_OF_A_RANGE, 150 - LINES_OF_A_RANGE)
    assert excerpts(["L1-L9"], documents[:1], lambda _: None)[0].lines == ((1, ""),)


def a_call(payload: dict[str, Any] | None, kind: Any = "model") -> CallRecord:
    return CallRecord("n", kind, "hash", 1, 10.0, None if payload is None else 10.25, payload)


def test_a_reply_is_shown_with_its_tokens_and_its_price() -> None:
    usage = {"input_tokens": 1000, "cached_input_tokens": 0, "cache_write_tokens": 0, "output_tokens": 100}
    reply = {
        "text": "Yes.",
        "usage": usage,
        "tool_calls": [{"name": "read", "arguments": {"id": "s1"}}],
        "answered_by": "",
    }
    (call,) = calls_of([a_call({"reply": reply})], "openai:gpt-4.1")
    assert (call.text, call.left, call.duration_ms, call.model) == ("Yes.", 0, 250.0, "openai:gpt-4.1")
    assert (call.amount.tokens_in, round(call.amount.cost_usd, 6)) == (1000, 0.0028)
    assert call.requested == (("read", '{\n  "id": "s1"\n}'),)


def test_a_reply_of_a_stand_in_is_priced_as_its_and_one_of_another_run_costs_nothing() -> None:
    usage = {"input_tokens": 1000}
    stood_in, given_away = calls_of(
        [
            a_call({"reply": {"text": "a", "usage": usage, "answered_by": "openai:gpt-4.1"}}),
            a_call({"reply": {"text": "b", "usage": usage, "answered_by": ""}, "is_billed": False}),
        ],
        "builtin:extractive",
    )
    assert (stood_in.model, stood_in.amount.cost_usd, stood_in.notes) == (
        "openai:gpt-4.1",
        0.002,
        ("another model stood in",),
    )
    assert (given_away.amount.cost_usd, given_away.notes) == (0.0, ("paid for by another run",))


def test_long_replies_are_cut_until_all_is_asked_for() -> None:
    call = a_call({"reply": {"text": "x" * (SHOWN_CHARACTERS + 5), "usage": {}}})
    assert (len(calls_of([call], "")[0].text), calls_of([call], "")[0].left) == (SHOWN_CHARACTERS, 5)
    assert calls_of([call], "", whole=True)[0].left == 0


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("tool", {"text": "found"}, "found"),
        ("tool", {"error": {"code": "TOOL_FAILED", "message": "no"}}, ""),
        ("code", {"answer": 1}, '{\n  "answer": 1\n}'),
        ("person", {"outcome": "approved"}, '{\n  "outcome": "approved"\n}'),
        ("model", {"error": {"code": "OUTPUT_TRUNCATED", "message": "cut"}}, ""),
        ("model", {"reply": {"text": 3}}, '{\n  "reply": {\n    "text": 3\n  }\n}'),
        ("model", None, ""),
    ],
)
def test_each_kind_of_call_is_shown_as_what_it_gave(kind: str, payload: dict[str, Any] | None, text: str) -> None:
    (call,) = calls_of([a_call(payload, kind)], "")
    assert (call.text, call.is_finished) == (text, payload is not None)


def test_an_error_says_what_its_code_means_and_what_to_do() -> None:
    fault = fault_of({"code": "TIMEOUT", "message": "too slow", "cause": "", "suggestion": ""})
    assert fault is not None
    assert fault.suggestion
    assert fault.meaning
    strange = fault_of({"code": "MADE_UP", "message": "\u202eevil"})
    assert strange is not None
    assert (strange.message, strange.meaning) == ("‹U+202E›evil", "")
    assert fault_of(None) is fault_of("no") is None


def test_a_status_has_a_sign_and_a_word() -> None:
    known = ("routing", "executing", "waiting_user", "confirm_required", "completed", "failed", "cancelled")
    assert all(status_shown(each).sign and status_shown(each).word == each.replace("_", " ") for each in known)
    assert status_shown("").word == "unknown"


# Over HTTP: a run that really was


@pytest.fixture
def troubled(panel: Panel) -> str:
    """A run in which one subtask is tried again and followed up, and another fails. Its id."""

    def answer(request: Any) -> str | BaseException:
        return ModelAuth("the key is wrong", cause="401") if "broken" in request.prompt else next(replies)

    replies = iter(
        [ModelOverloaded("busy", retry_after_s=0.0), "INSUFFICIENT: what was said of cocoa", "Cocoa is dear [L35]."]
    )
    plan = plan_of(
        {"task": "What of audits?", "context_pointers": at("About audits")},
        {"task": "broken", "context_pointers": at("About wages"), "depends_on": ["1"]},
    )
    model = ScriptedModel(plan=plan, subtask=answer, synthesis="Cocoa is dear [L35].")
    document = Document.from_text(BOOK, name="book.md")
    result = orchestrate(document, "What was said?", model=model, strategy="full", store=panel.store)
    return result.run_id


def test_a_node_shows_its_slice_its_replies_and_what_changed_between_attempts(panel: Panel, troubled: str) -> None:
    shown = the_part(panel, f"/runs/{troubled}/node", id="run/subtask-1")
    assert "About audits" in shown.text
    assert "INSUFFICIENT: what was said of cocoa" in shown.text
    assert "Cocoa is dear [L35]." in shown.text
    for told in (
        "tried again",
        "MODEL_OVERLOADED",
        "asked again over further lines",
        "missing: what was said of cocoa",
    ):
        assert told in shown.text
    links = [link.get("href") or "" for link in shown.attributes("a")]
    assert any(f"/runs/{troubled}/source?doc=book.md&from=17&to=" in link for link in links)
    assert panel.client.get(next(link for link in links if "/source?" in link)).status_code == 200


def test_a_failed_node_shows_code_cause_and_what_to_do(panel: Panel, troubled: str) -> None:
    shown = the_part(panel, f"/runs/{troubled}/node", id="run/subtask-2")
    for told in ("failed", "MODEL_AUTH", "the key is wrong", "401", "What to do", "Usual causes"):
        assert told in shown.text


def test_the_prompt_is_the_one_that_was_sent(panel: Panel, troubled: str) -> None:
    shown = the_part(panel, f"/runs/{troubled}/prompt", id="run/subtask-1")
    assert "as it was sent" in shown.text
    assert "The audits of the year were as audits are." in shown.text
    assert "What of audits?" in shown.text
    assert "It asked no model." in the_part(panel, f"/runs/{troubled}/prompt", id="run").text


def test_a_whole_reply_can_be_asked_for(panel: Panel, troubled: str) -> None:
    path = f"/runs/{troubled}/reply"
    assert "Cocoa is dear" in the_part(panel, path, id="run/subtask-1", n=2).text
    assert "<title>" in panel.client.get(path, params={"id": "run/subtask-1", "n": 2}).text
    assert refused(panel, path, id="run/subtask-1", n=9)[0] == 404


@pytest.mark.parametrize("path", ["/runs/none/graph", "/runs/none/node", "/runs/none/prompt", "/runs/none/reply"])
def test_a_run_that_is_none_is_not_found(panel: Panel, path: str) -> None:
    status, text = refused(panel, path, id="run")
    assert (status, "RUN_NOT_FOUND" in text) == (404, True)


def test_a_node_that_is_none_is_not_found(panel: Panel, troubled: str) -> None:
    for part in ("node", "prompt", "reply"):
        assert refused(panel, f"/runs/{troubled}/{part}", id="run/no")[0] == 404


@pytest.mark.parametrize(
    "query", [{"open": "x"}, {"shut": "1,2"}, {"more": "g1"}, {"sort": "name"}, {"at": "-1"}, {"base": "?"}]
)
def test_an_address_that_is_not_right_is_refused(panel: Panel, troubled: str, query: dict[str, str]) -> None:
    status, text = refused(panel, f"/runs/{troubled}/graph", **query)
    assert (status, "INPUT_INVALID" in text) == (400, True)


def test_the_graph_and_its_nodes_are_shown_as_of_an_earlier_event(panel: Panel, troubled: str) -> None:
    events = list(panel.store.events(troubled))
    begun = next(
        each["sequence"]
        for each in events
        if each.get("node_id") == "run/subtask-1" and each.get("status") == "executing"
    )
    early = the_part(panel, f"/runs/{troubled}/graph", at=begun)
    rows = [each for each in early.attributes("div") if each.get("data-id")]
    assert [each["data-id"] for each in rows][-2:] == ["run%2Fsubtask-1", "run%2Fsubtask-2"]
    assert "run-changed" not in str(early.tags)
    node = the_part(panel, f"/runs/{troubled}/node", id="run/subtask-1", at=begun)
    assert "executing" in node.text
    assert "Cocoa is dear" not in node.text
    assert "tried again" not in node.text


def test_what_comes_later_is_in_the_graph(panel: Panel) -> None:
    panel.store.begin_run(a_run())
    panel.store.append_events("r1", [node_event(1, "run", kind="run", depth=0)])
    before = the_part(panel, "/runs/r1/graph", part="rows").text
    panel.store.append_events(
        "r1", [node_event(2, "run/a", parent_node_id="run"), node_event(3, "run", status="failed")]
    )
    after = the_part(panel, "/runs/r1/graph", part="rows").text
    assert ("1 node" in before, "2 nodes" in after, "failed" in after) == (True, True, True)


def test_hostile_ids_and_texts_are_text(panel: Panel) -> None:
    ids = [f"run/{HOSTILE}", "run/../../x?y=1&z#", "run/\r\n\x00\u202e", "run/\ud800", "run/ü €", ""]
    panel.store.begin_run(a_run("r1", documents=(DocumentRef(HOSTILE, "d1"),)))
    error = {"code": HOSTILE, "message": HOSTILE, "cause": HOSTILE, "suggestion": HOSTILE}
    told = {
        "parent_node_id": "run",
        "skill_name": HOSTILE,
        "kind": HOSTILE,
        "title": HOSTILE,
        "status": "failed",
        "error": error,
    }
    events = [node_event(at, each, **told, mode=HOSTILE) for at, each in enumerate(ids[:-1], start=1)]
    more = [{"type": "slice-ready", "sequence": 90, "node_id": ids[0], "ranges": ["L1", HOSTILE], "tokens": 1, "fallback": HOSTILE},
            {"type": "warning", "sequence": 91, "node_id": ids[0], "code": HOSTILE, "message": HOSTILE},
            {"type": "skill-loaded", "sequence": 92, "node_id": ids[0], "skill": HOSTILE, "path": HOSTILE}]  # fmt: skip
    panel.store.append_events("r1", [*events, *more])
    panel.store.put_document("d1", HOSTILE, HOSTILE)
    panel.store.finish_call("r1", ids[0], "model", "h", 1, {"reply": {"text": HOSTILE, "usage": {}}})

    rows = the_part(panel, "/runs/r1/graph")
    addresses = [each["data-id"] for each in rows.attributes("div") if each.get("data-id")]
    assert len(addresses) == 5
    pages = [rows, *(Read(panel.client.get(f"/runs/r1/node?id={address}").text) for address in addresses)]
    assert all(not page.handlers and not page.names & {"script", "img"} for page in pages)
    assert all("RUN_NOT_FOUND" not in page.text for page in pages)
    assert pages[1].text.count(HOSTILE) > 8


def test_a_cut_run_of_a_strange_store_is_still_shown(panel: Panel) -> None:
    panel.store.begin_run(a_run())
    odd = node_event(
        1, "a", parent_node_id="a", timing={"started_at": None, "duration_ms": None}, usage={"input_tokens": "x"}
    )
    panel.store.append_events(
        "r1", [odd, node_event(2, "b", parent_node_id="c"), node_event(3, "c", parent_node_id="b")]
    )
    assert "3 nodes" in the_part(panel, "/runs/r1/graph").text


def test_a_price_is_shown_on_each_node_and_in_sums(panel: Panel) -> None:
    def reply(request: Any) -> ModelReply:
        return ModelReply("Yes [L5].", usage=Usage(1000, output_tokens=100))

    plan = plan_of({"task": "a", "context_pointers": REVENUE}, {"task": "b", "context_pointers": COSTS})
    model = ScriptedModel(plan=plan, subtask=reply, synthesis=reply)
    model.name = "openai:gpt-4.1"
    run_id = orchestrate(REPORT, "What?", model=model, strategy="full", store=panel.store).run_id
    shown = the_part(panel, f"/runs/{run_id}/graph").text
    assert shown.count("$0.003") >= 3
    assert "$0.009" in shown


# What is held of graphs


def test_a_graph_that_is_kept_up_is_the_one_that_is_read_anew(panel: Panel) -> None:
    kept = Forests(panel.store, panel.desk.feeds)
    panel.store.begin_run(a_run())
    for number in range(1, 30):
        status = "completed" if number % 3 else "executing"
        told = {"parent_node_id": f"n{number % 5}", "status": status, "usage": {"input_tokens": number}}
        panel.store.append_events("r1", [node_event(number, f"n{number % 11}", **told)])
        fresh = Forests(panel.store, panel.desk.feeds)

        assert kept.forest("r1")[1] == fresh.forest("r1")[1]
        assert kept.forest("r1")[1] is kept.forest("r1")[1]
        assert kept.forest("r1", at=number // 2)[1] == fresh.forest("r1", at=number // 2)[1]


def test_a_run_that_has_ended_is_priced_by_its_result(panel: Panel) -> None:
    kept = Forests(panel.store, panel.desk.feeds)
    usage = {"calls": 1, "input_tokens": 7, "cost_usd": 0.25}
    panel.store.begin_run(a_run(models={"subtasks": "builtin:extractive"}))
    panel.store.append_events("r1", [node_event(1, "run/subtask-1", usage={"input_tokens": 7}, status="completed")])
    assert kept.forest("r1")[1].own[0].cost_usd == 0

    panel.store.end_run("r1", "completed", result={"subtasks": [{"id": "1", "usage": usage}]})

    assert kept.forest("r1")[1].own[0].cost_usd == 0.25


def test_a_few_graphs_are_held(panel: Panel) -> None:
    kept = Forests(panel.store, panel.desk.feeds)
    for number in range(MOST_RUNS + 1):
        panel.store.begin_run(a_run(f"r{number}"))
    first = kept.forest("r0")[1]
    for number in range(1, MOST_RUNS + 1):
        kept.forest(f"r{number}")
    assert kept.forest("r0")[1] is not first
