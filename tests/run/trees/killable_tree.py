"""A route in a process of its own, to be killed: `killable_tree.py SKILLS STORE`. Says its id as soon as it has begun."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

STEPS = 4


def main(skills: str, store: str) -> None:
    from orchestra.pipeline import route
    from orchestra.skills import SkillLibrary

    def say(event) -> None:
        if event.type == "skill-route-started":
            print(event.route_run_id, flush=True)

    route("Go", SkillLibrary.from_path(skills), "openai:m", store=store, on_event=say)
    print("ended", flush=True)


class Script:
    """What the server does: each step gets its name back. `hold` names the step that is not answered until `go_on`."""

    def __init__(self, hold: str) -> None:
        self.asked: list[str] = []
        self.go_on = threading.Event()
        self.held = threading.Event()
        self._hold = hold

    def __call__(self, received, wire) -> bytes:
        from servers import openai_chunks, openai_stream, sse_answer

        text = json.dumps(received.json)
        names = [f"part-{n}" for n in range(1, STEPS + 1) if f"You are part-{n}." in text]
        subject = names[0] if names else "wording"
        self.asked.append(subject)
        if subject == self._hold and not self.go_on.is_set():
            self.held.set()
            self.go_on.wait(30)
        words = json.dumps({"summary": "Done.", "user_message": "All done."})
        return sse_answer(openai_stream(openai_chunks(f"{subject} done" if names else words)))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))
    main(sys.argv[1], sys.argv[2])
