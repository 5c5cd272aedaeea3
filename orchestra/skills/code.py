"""Code skills: Python callables that do a skill's work, called with what they ask for by name.

    def score(answers: list, limit: int = 10) -> dict: ...
    def readable(context: CodeContext) -> dict: ...
    def exam(context):                       # a generator asks people and other skills while it runs
        words = yield AskUser("Which chapter?")
        graded = yield CallSkill("grading", {"answer": words})
        return {"score": graded["score"]}

A generator starts anew when its run is resumed, and gets the answers that it had got before: between two questions it
does nothing that must not happen twice.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, cast

from orchestra.document import DocumentSet
from orchestra.errors import SkillInvalid
from orchestra.models.json_text import well_formed


@dataclass(frozen=True, slots=True)
class CodeContext:
    """What a code skill may know: the words of the call, the documents, and what was found before it.

    `outputs` are those of finished steps of the same skill, by name; `earlier` those of the chain's earlier skills.
    `answer` is the draft, for skills that come after it. `limits` are the run's: `{"max_tokens_total": ..., ...}`, with
    `least_tokens` of its first call where a budget is set. `lessons` were kept by earlier runs on the same documents.
    `model` names the one that prompt skills are sent to; it is empty for the built-in engine, which writes nothing.
    """

    query: str = ""
    documents: DocumentSet | None = None
    mode: str = "standard"
    outputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    earlier: Mapping[str, Any] = field(default_factory=dict[str, Any])
    answer: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lessons: Sequence[Mapping[str, Any]] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class AskUser:
    """Yielded to ask a person; what is sent back is his text."""

    question: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestApproval:
    """Yielded at a checkpoint; what is sent back is `shown`, as the person left it. A rejection ends the skill."""

    title: str
    shown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallSkill:
    """Yielded to call a sub-skill; what is sent back is its output."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


Wish: TypeAlias = AskUser | RequestApproval | CallSkill
Asking: TypeAlias = Generator[Wish, Any, Any]


def call_code(function: Callable[..., Any], parameters: Mapping[str, Any], context: CodeContext) -> Any | Asking:
    """What the function gives, as JSON, or the generator that it is. It gets the parameters that it names.

    Raises `SkillInvalid` for a parameter without a value, and for an output that is no JSON.
    """
    outcome = function(**_arguments(function, parameters, context))
    if inspect.iscoroutine(outcome):
        import asyncio

        outcome = asyncio.run(outcome)
    if inspect.isgenerator(outcome):
        return cast("Asking", outcome)
    return as_json(outcome, _name(function))


def as_json(outcome: Any, name: str) -> Any:
    """A copy of what a code skill gave, as it would come back from JSON."""
    if hasattr(outcome, "model_dump"):
        outcome = outcome.model_dump(mode="json")
    try:
        return json.loads(json.dumps(well_formed(outcome), ensure_ascii=False))
    except ValueError as error:
        raise SkillInvalid(f"{name} gave something that is no JSON", cause=str(error)) from None


def _arguments(function: Callable[..., Any], parameters: Mapping[str, Any], context: CodeContext) -> dict[str, Any]:
    wanted = _parameters_of(function)
    takes_all = any(each.kind is each.VAR_KEYWORD for each in wanted.values())
    given = {name: value for name, value in parameters.items() if takes_all or name in wanted}
    if "context" in wanted:
        given["context"] = context
    by_name = (each for each in wanted.values() if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL))
    missing = [each.name for each in by_name if each.default is each.empty and each.name not in given]
    if missing:
        raise SkillInvalid(
            f"{_name(function)} needs {', '.join(missing)}",
            cause="nothing by that name was given",
            suggestion="Declare it under `parameters` in skill.yaml, or give it a default.",
        )
    return given


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return _signature(function)
    except TypeError:  # an object that cannot be hashed
        return inspect.signature(function).parameters


@lru_cache(maxsize=256)
def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters
