"""The engine as a model: it reads the blocks of a request by type and answers by the purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from orchestra.document import Slice, count_tokens
from orchestra.models.blocks import (
    Block,
    Catalogue,
    DocumentBlock,
    Facts,
    Finding,
    Findings,
    History,
    OutlineBlock,
    SliceBlock,
    SubSkills,
    Task,
    Tasks,
    fence,
)
from orchestra.models.extractive.answering import answer, answer_over_documents
from orchestra.models.extractive.fitting import fitted
from orchestra.models.extractive.joining import fill, join
from orchestra.models.extractive.leaning import standing_alone
from orchestra.models.extractive.notice import NOTICE
from orchestra.models.extractive.outcomes import word_outcomes
from orchestra.models.extractive.outline_planning import plan_from_outline
from orchestra.models.extractive.planning import plan
from orchestra.models.extractive.skill_choice import choose_skills, choose_steps
from orchestra.models.extractive.values import resolve_values
from orchestra.models.protocol import ModelReply, ModelRequest, Usage

AnyBlock = TypeVar("AnyBlock", bound=Block)


class ExtractiveModel:
    """Answers by quoting: deterministic, without weights, keys or network. Thread-safe, keeps nothing.

    It never reads a rendered prompt. Purpose "plan" gives the JSON of a plan, "subtask" the best sentences and
    table rows with their lines, "synthesis" the findings under their questions, "route" skills, steps and values by
    the words of the query; others what their blocks allow.
    """

    name = "builtin:extractive"
    context_window: int | None = None
    notice = NOTICE

    def complete(self, request: ModelRequest) -> ModelReply:
        """The reply to a request. Raises only what the request's deadline raises."""
        _check(request)
        data = _data(request)
        text = _text(request) if data is None else json.dumps(data, ensure_ascii=False)
        _check(request)
        is_cut = data is None and count_tokens(text) > request.max_tokens
        text = fitted(text, request.max_tokens) if is_cut else text
        if request.on_delta is not None:
            for line in text.splitlines(keepends=True):
                request.on_delta(line)
        usage = Usage(_input_tokens(request), output_tokens=count_tokens(text), is_estimated=True)
        return ModelReply(text, usage, data=data, model=self.name, stop_reason="max_tokens" if is_cut else "end")


def _data(request: ModelRequest) -> dict[str, Any] | None:
    """The reply as JSON where JSON is asked for: a plan, or an answer in a schema's shape."""
    documents = _one(request, DocumentBlock)
    if request.purpose == "plan":
        catalogue = _one(request, Catalogue)
        skills = catalogue.skills if catalogue else ()
        outline = _one(request, OutlineBlock)
        if outline is not None:
            return plan_from_outline(outline.view, skills, _task(request), lambda: _check(request))
        shown = documents.documents if documents else None
        return plan(shown, skills, _task(request), lambda: _check(request))
    if request.schema_name in _ROUTING:
        return _ROUTING[request.schema_name](request)
    findings = _one(request, Findings)
    if request.schema is not None:
        found = findings.findings if findings else ()
        return cast("dict[str, Any]", fill(request.schema, found, _task(request)))
    return None


def _intent(request: ModelRequest) -> dict[str, Any] | None:
    catalogue = _one(request, Catalogue)
    return choose_skills(_task(request), catalogue.skills) if catalogue and catalogue.skills else None


def _decomposition(request: ModelRequest) -> dict[str, Any] | None:
    parts = _one(request, SubSkills)
    return choose_steps(_task(request), parts.listed, parts.needs) if parts else None


def _resolution(request: ModelRequest) -> dict[str, Any] | None:
    shape = cast("Any", request.schema) or {}
    asked = shape.get("properties", {}).get("parameters", {})
    return resolve_values(_task(request), asked.get("properties", {}))


def _wording(request: ModelRequest) -> dict[str, Any] | None:
    results = _one(request, Facts)
    return word_outcomes(results.values) if results else None


_ROUTING: dict[str, Callable[[ModelRequest], dict[str, Any] | None]] = {
    "intent": _intent,
    "decomposition": _decomposition,
    "resolution": _resolution,
    "wording": _wording,
}
"""The levels around the steps of a route, by the names of their schemas."""


def _text(request: ModelRequest) -> str:
    findings, documents = _one(request, Findings), _one(request, DocumentBlock)
    slices = [block.slice for block in request.blocks if isinstance(block, SliceBlock)]
    if slices:
        return _answers(request, slices, findings.findings if findings else ())
    if findings is not None:
        return join(findings.findings)
    if documents is not None:
        return answer_over_documents(documents.documents, _task(request))
    return NOTICE


def _answers(request: ModelRequest, slices: Sequence[Slice], findings: Sequence[Finding]) -> str:
    """The answer to the task, or to each of several under its mark; what was found for a task before is kept.

    Of several, one that would be cut off is left out: asked for alone, it says that it was.
    """
    earlier = {finding.task: finding.text for finding in findings if not finding.is_missing}
    tasks = _one(request, Tasks)
    if tasks is None:
        task = _task(request)
        return answer(slices, task, earlier.get(task, ""))
    answers = [(at, answer(slices, task, earlier.get(task, ""))) for at, task in enumerate(tasks.words, start=1)]
    whole = [(at, text) for at, text in answers if count_tokens(text) <= tasks.reply_tokens]
    return "\n\n".join(f"{tasks.mark(at)}\n{text}" for at, text in whole)


def _task(request: ModelRequest) -> str:
    """The task in the request, else what was said last."""
    task, history = _one(request, Task), _one(request, History)
    if task is not None and history is not None:
        return standing_alone(task.words, [earlier for earlier, _ in history.turns])
    said = [message.text for message in request.messages if message.role == "user"]
    return task.words if task else (said[-1] if said else "")


def _one(request: ModelRequest, kind: type[AnyBlock]) -> AnyBlock | None:
    return next((block for block in request.blocks if isinstance(block, kind)), None)


def _check(request: ModelRequest) -> None:
    if request.deadline is not None:
        request.deadline.check()


def _input_tokens(request: ModelRequest) -> int:
    """Tokens of what the engine was shown; a document's are counted once, however often it is asked about."""

    def each() -> Iterator[int]:
        for block in request.blocks:
            if isinstance(block, DocumentBlock):
                yield block.documents.tokens
            elif isinstance(block, OutlineBlock):
                yield block.view.tokens + count_tokens(fence("outline", ""))
            else:
                yield count_tokens(block.text)
        for message in request.messages:
            yield count_tokens(message.text)

    return sum(each())
