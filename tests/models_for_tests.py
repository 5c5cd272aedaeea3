"""Models for tests: objects with `complete`, as a user could write them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from orchestra.models.protocol import ModelReply, ModelRequest, Usage


class ScriptedModel:
    """Answers by purpose: a text, a dict (sent as JSON), an exception (raised), or a callable of the request.

    A list gives its entries in turn, the last one over and over. Records every request.
    """

    name = "test:scripted"

    def __init__(self, **answers: Any) -> None:
        self._answers: dict[str, Any] = answers
        self._turns: dict[str, int] = {}
        self._lock = threading.Lock()
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            self.requests.append(request)
            turn = self._turns.get(request.purpose, 0)
            self._turns[request.purpose] = turn + 1
        answer = self._answers[request.purpose]
        if isinstance(answer, list):
            answer = answer[min(turn, len(answer) - 1)]
        if isinstance(answer, Callable):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        text = json.dumps(answer) if isinstance(answer, Mapping) else answer
        if request.on_delta is not None:
            for word in text.split(" "):
                request.on_delta(word)
        return ModelReply(text, usage=Usage(input_tokens=100, output_tokens=10))

    def sent(self, purpose: str) -> list[ModelRequest]:
        return [request for request in self.requests if request.purpose == purpose]


def plan_of(*subtasks: Mapping[str, Any], reasoning: str = "because") -> dict[str, Any]:
    """A plan whose subtasks have ids 1, 2, ... and the skill critique unless they say otherwise."""
    return {
        "subtasks": [
            {"id": str(number), "skill": "critique", "task": f"question {number}", **subtask}
            for number, subtask in enumerate(subtasks, start=1)
        ],
        "reasoning": reasoning,
    }


def at(*sections: str) -> dict[str, Any]:
    return {"sections": list(sections), "line_ranges": []}


REPORT = """# Report

## Revenue

Revenue was $40 million in 2025, against $32 million in 2024.

## Costs

Costs rose because steel became dearer.

## Auditor

Miller & Stone LLP audits the company.
"""
REVENUE, COSTS, AUDITOR = at("Revenue"), at("Costs"), at("Auditor")


def codes(result):
    return [notice.code for notice in result.warnings]
