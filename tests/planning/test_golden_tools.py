"""What models are told of tools, byte for byte. A wanted change: ORCHESTRA_GOLDEN=write pytest tests/planning."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from orchestra.document import DocumentSet, count_tokens
from orchestra.models.protocol import ModelReply, ModelRequest, ToolCall, ToolResult
from orchestra.planning.assemble import assemble
from orchestra.planning.planner import plan_request
from orchestra.planning.tools_note import tools_note, with_tools_note
from orchestra.run.tool_loop import continued, last_turn, with_tools
from orchestra.run.toolbox import Toolbox
from orchestra.runtime.tools.given import VERBS
from orchestra.runtime.tools.tool import Tool
from orchestra.runtime.tools.verbs import verb
from orchestra.skills import SkillLibrary

GOLDEN = Path(__file__).with_name("golden")
REPORT = "# Results\n\nRevenue was $40 million.\n\n# Risks\n\nSteel may become dearer.\n"


def look_up(city: str) -> str:
    """Look up a city."""
    return city


def turns() -> ModelRequest:
    """A subtask with tools after its last turn but one."""
    (assignment,) = assemble([{"task": "What was revenue?", "context_pointers": {"sections": ["s1"]}}], REPORT)
    box = Toolbox({"look_up": Tool.of(look_up), "read_section": verb("read_section")})
    calls = (ToolCall("c1", "look_up", {"city": "Brno"}), ToolCall("c2", "read_section", {"section": "s9"}))
    results = [ToolResult("c1", "there"), ToolResult("c2", "TOOL_FAILED: 's9' is not in the document", is_error=True)]
    request = with_tools(assignment.request(), box)
    return last_turn(continued(request, ModelReply("", tool_calls=calls), results, is_last=True))


def planning() -> ModelRequest:
    library = SkillLibrary.builtin()
    request = plan_request(DocumentSet.of(REPORT), "How did revenue change?", library)
    tools = {"critique": ("look_up", "read_section"), "summarization": ("look_up", "read_section")}
    return with_tools_note(request, tools_note(library, tools))


def texts() -> dict[str, str]:
    specs = [verb(name).spec for name in VERBS]
    listed = [{"name": each.name, "description": each.description, "parameters": each.parameters} for each in specs]
    return {
        "tools_subtask": turns().prompt + "\n",
        "tools_plan": planning().prompt + "\n",
        "tools_verbs": json.dumps(listed, indent=1) + "\n",
    }


@pytest.mark.parametrize("name", ["tools_subtask", "tools_plan", "tools_verbs"])
def test_what_is_said_of_tools_is_the_golden_text(name):
    text = texts()[name]
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("ORCHESTRA_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")


def test_a_verb_costs_few_tokens():
    for name in VERBS:
        spec = verb(name).spec
        assert count_tokens(f"{spec.name} {spec.description} {json.dumps(spec.parameters)}") <= 75, name


def test_a_planner_is_told_of_tools_after_what_stays_the_same():
    kinds = [block.kind for block in planning().blocks]

    assert kinds == ["instructions", "document", "catalogue", "instructions", "task"]


@pytest.mark.parametrize(
    ("tools", "lines"),
    [
        ({}, []),
        ({"a": ()}, []),
        ({"a": ("x",), "b": ("x",)}, ["- every skill: x"]),
        ({"a": ("x", "y"), "b": ("x",)}, ["- a: x, y", "- b: x"]),
        ({"b": ("x",)}, ["- b: x"]),
    ],
)
def test_a_note_names_skills_with_the_same_tools_once(tools, lines):
    assert tools_note(["a", "b"], tools).splitlines()[1:] == lines
