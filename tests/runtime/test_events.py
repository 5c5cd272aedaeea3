from __future__ import annotations

import json

from orchestra.errors import ModelAuth
from orchestra.models.protocol import Usage
from orchestra.runtime.events import AnswerDelta, EventStream, NodeUpdated, Warned
from orchestra.runtime.node import Node, Status


def test_events_are_numbered_and_carry_the_run():
    seen = []
    stream = EventStream(seen.append, run_id="r1", session_id="s1")

    stream.emit(Warned, code="A", message="one")
    stream.emit(AnswerDelta, node_id="run/synthesis", text="two")

    assert [(event.sequence, event.route_run_id, event.session_id) for event in seen] == [
        (1, "r1", "s1"),
        (2, "r1", "s1"),
    ]


def test_a_listener_that_raises_does_not_hurt_the_others(caplog):
    seen = []

    def broken(event):
        raise RuntimeError("listener")

    stream = EventStream(broken, seen.append)
    stream.emit(Warned, code="A", message="one")
    stream.emit(Warned, code="B", message="two")

    assert [event.code for event in seen] == ["A", "B"]
    assert "listener" in caplog.text


def test_a_node_event_has_the_payload_names_of_the_runtime_design_and_goes_to_json():
    seen = []
    node = Node("run", "run").child("subtask-1", "subtask", skill="critique", title="Is it sound?")
    node.start()
    node.usage = Usage(10, 2, 3, 4)
    node.end(Status.FAILED, ModelAuth("no key"))

    EventStream(seen.append, run_id="r1").emit(NodeUpdated, **node.snapshot())
    payload = json.loads(json.dumps(seen[0].to_dict()))

    assert payload["type"] == "skill-route-node-updated"
    assert payload.keys() >= {
        "session_id", "route_run_id", "node_id", "parent_node_id", "skill_name", "depth", "status", "timing", "error",
        "permission_snapshot",
    }  # fmt: skip
    assert payload["node_id"] == "run/subtask-1"
    assert payload["parent_node_id"] == "run"
    assert payload["depth"] == 1
    assert payload["error"]["code"] == "MODEL_AUTH"
    assert payload["timing"]["duration_ms"] >= 0
