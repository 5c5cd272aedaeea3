"""A run in a process of its own, whose tool is killed with it: `tools_of_a_killable_run.py STORE NOTES`.

Its one subtask calls `deliver` and `look_up` at once; `deliver` writes a line to NOTES whenever it is done, and the
first process never ends it. Replies come from a scripted model, for the tools are what is of interest.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from models_for_tests import REPORT, REVENUE, ScriptedModel, plan_of

from orchestra.models.protocol import ModelReply, ToolCall, Usage

PLAN = plan_of({"task": "What was earned?", "context_pointers": REVENUE})
DONE = "Revenue was $40 million [L5]."


def model() -> ScriptedModel:
    calls = (ToolCall("c1", "deliver", {"parcel": "blue"}), ToolCall("c2", "look_up", {"city": "Brno"}))
    return ScriptedModel(
        subtask=lambda request: (
            DONE
            if request.messages
            else ModelReply("", Usage(100, output_tokens=10), tool_calls=calls, stop_reason="tool_use")
        )
    )


def tools(notes: Path, *, hangs: bool = False, is_idempotent: bool = False, needs_delivery: bool = True) -> list:
    from orchestra import Tool

    began = threading.Event()

    def deliver(parcel: str) -> str:
        """Deliver a parcel."""
        with notes.open("a") as file:
            file.write(f"deliver {parcel}\n")
        began.set()
        if hangs:
            threading.Event().wait()
        return f"{parcel} is delivered"

    def look_up(city: str) -> str:
        """Look up a city."""
        if needs_delivery:
            began.wait()
        with notes.open("a") as file:
            file.write(f"look up {city}\n")
        return f"{city} is there"

    return [Tool.of(deliver, is_idempotent=is_idempotent), look_up]


def main(store: str, notes: str) -> None:
    from orchestra import orchestrate

    def say(event) -> None:
        if event.type == "skill-route-started" or (
            event.type == "skill-route-node-updated"
            and (event.node_id, event.status) == ("run/subtask-1/tool-2", "completed")
        ):
            print(event.route_run_id, flush=True)

    orchestrate(
        REPORT, "Tell me.", plan=PLAN, model=model(), store=store, tools=tools(Path(notes), hangs=True), on_event=say
    )


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    main(*sys.argv[1:])
