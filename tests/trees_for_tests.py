"""Trees of skills for tests: folders of skills, and a model that answers each level by what it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestra.models.protocol import ModelReply, ModelRequest, Usage
from orchestra.runtime.events import Event, NodeUpdated
from orchestra.skills.skill import fold_name


def write_skill(folder: Path, name: str, body: str = "", *, code: str = "", **fields: Any) -> Path:
    """A folder with SKILL.md, skill.yaml where there are fields, and skill.py where there is code.

    The prompt of a skill without a body is its name, which `TreeModel` knows it by.
    """
    place = folder / name
    place.mkdir(parents=True)
    description = fields.pop("description", f"Does {name}.")
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body or f'You are {fold_name(name)}.'}\n"
    (place / "SKILL.md").write_text(text, encoding="utf-8")
    if code:
        (place / "skill.py").write_text(code, encoding="utf-8")
        fields = {"type": "code", "function": "skill.py:work", **fields}
    if fields:
        (place / "skill.yaml").write_text(json.dumps({"name": name, **fields}), encoding="utf-8")
    return place


def below(place: Path, name: str, body: str = "", **fields: Any) -> Path:
    """A sub-skill of the skill in `place`."""
    return write_skill(place / "sub_skills", name, body, **fields)


class TreeModel:
    """Answers a step by its skill's name, and the levels around it by their own.

    An answer is a text, JSON, an error (raised), a callable of the request, or a list of these in turn. `asked` names
    what each request was for, in order: a skill, or a level with the skill that it is for.
    """

    name = "test:tree"
    LEVELS = ("intent", "decomposition", "resolution", "wording")

    def __init__(self, **answers: Any) -> None:
        words = {"summary": "Done.", "user_message": "All done."}
        self._answers = {"wording": words, **{name.replace("_", "-"): answer for name, answer in answers.items()}}
        self._turns: dict[str, int] = {}
        self._lock = threading.Lock()
        self.requests: list[ModelRequest] = []
        self.asked: list[str] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        subject = self._subject(request)
        with self._lock:
            self.requests.append(request)
            self.asked.append(subject)
            turn = self._turns[subject] = self._turns.get(subject, -1) + 1
        answer = self._answers[subject]
        if isinstance(answer, list):
            answer = answer[min(turn, len(answer) - 1)]
        if isinstance(answer, Callable):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return ModelReply(text, Usage(10, output_tokens=5))

    def _subject(self, request: ModelRequest) -> str:
        if request.schema_name in self.LEVELS:
            return request.schema_name
        names = (name for name in self._answers if f"You are {name}." in request.prompt)
        return next(names, "subtask")

    def prompt(self, subject: str, turn: int = 0) -> str:
        """The prompt of the request that was the `turn`-th for something."""
        return [request for request, asked in zip(self.requests, self.asked, strict=True) if asked == subject][
            turn
        ].prompt

    @property
    def levels(self) -> list[str]:
        """The requests that are not executions."""
        return [subject for subject in self.asked if subject in self.LEVELS]


class Heard(list[Event]):
    """Every event of a run."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    @property
    def tree(self) -> dict[str, str]:
        """The skill of each node by its id, in the order in which the nodes were made; gates left out."""
        updates = (event for event in self if isinstance(event, NodeUpdated) and event.kind != "guarantee")
        return {event.node_id: event.skill_name for event in updates}

    @property
    def finished(self) -> list[str]:
        """Ids of nodes in the order in which they were completed."""
        updates = (event for event in self if isinstance(event, NodeUpdated) and event.kind != "guarantee")
        return [event.node_id for event in updates if event.status == "completed"]


def of(result: Any, *path: int) -> Any:
    """The report of a step by its place in the tree of a result."""
    steps = result.subtasks[path[0]]
    for at in path[1:]:
        steps = steps.steps[at]
    return steps
