"""One call of a tool: checked, permitted, confirmed where a person must, done once, and on record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from orchestra.errors import (
    ApprovalRejected,
    DocumentUnreadable,
    NodeTimeout,
    OrchestraError,
    PermissionDenied,
    RunCancelled,
    ToolFailed,
)
from orchestra.models.deadline import Deadline
from orchestra.models.protocol import ToolCall
from orchestra.run.approvals import Decision, Question, ask_person
from orchestra.run.effects import once
from orchestra.run.permitting import check_tool, permissions_of
from orchestra.run.state import Run
from orchestra.run.toolbox import OF_PEOPLE, Toolbox, all_tool_names
from orchestra.runtime.node import Node
from orchestra.runtime.tools.given import CalledTool

if TYPE_CHECKING:
    from orchestra.runtime.tools.tool import Tool

_TITLE_CHARACTERS = 80
_KEPT_ERRORS = {kind.code: kind for kind in (NodeTimeout, PermissionDenied, DocumentUnreadable, ToolFailed)}


@dataclass(slots=True)
class Calling:
    """A call under way: its node, and whether a person had a say in it."""

    call: ToolCall
    node: Node
    was_answered: bool = False


def calling(run: Run, parent: Node, call: ToolCall) -> Calling:
    """A node for a call, numbered in the order in which the model made them."""
    made = run.tool_calls.setdefault(parent.id, [])
    node = parent.child(f"tool-{len(made) + 1}", "tool", title=_title(call))
    node.permissions = permissions_of(run, parent).snapshot
    made.append(CalledTool(call.name, call.arguments, node))
    run.nodes[node.id] = node
    return Calling(call, node)


async def carry_out(run: Run, calling: Calling, box: Toolbox, limit_s: float) -> str:
    """What the call gave, as text for the model. Within `limit_s`, unless the tool has a limit of its own.

    Raises what the model is to be told of: `ToolFailed`, `PermissionDenied`, `ApprovalRejected`, `NodeTimeout`; and
    `RunWaiting` and `RunCancelled`, which it is not.
    """
    run.scheduler.begin(calling.node)
    tool, arguments = _checked(run, calling, box)
    arguments = await _permitted(run, calling, tool, arguments)
    if tool.name in OF_PEOPLE and tool.name not in run.tools.own:
        return await _asked(run, calling, tool.checked(arguments))
    payload = await once(
        run,
        calling.node,
        "tool",
        _fingerprint(tool.name, arguments),
        partial(_run, tool, tool.checked(arguments)),
        timeout_s=tool.timeout_s or limit_s,
        is_idempotent=tool.is_idempotent,
        before_repeat=partial(_confirm_repeat, run, calling, tool.name, arguments),
    )
    return _text_of(tool.name, payload)


def _checked(run: Run, calling: Calling, box: Toolbox) -> tuple[Tool, Mapping[str, Any]]:
    """The tool that is meant, and arguments that it takes. A tool that is withheld is refused before they are read."""
    call = calling.call
    tool = box.tools.get(call.name)
    if tool is None:
        if call.name in all_tool_names(run):
            verdict = check_tool(run, calling.node, call.name, call.arguments)
            if verdict.outcome == "deny":
                raise _denied(run, calling, verdict.error())
        raise ToolFailed(f"there is no tool {call.name!r}", cause=f"there are {', '.join(box.tools)}")
    if call.fault:
        raise ToolFailed(f"{call.name} was not called", cause=call.fault)
    tool.checked(call.arguments)
    return tool, call.arguments


async def _permitted(run: Run, calling: Calling, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with which the call may be made: those that a person confirmed, where he is asked."""
    verdict = check_tool(run, calling.node, tool.name, arguments)
    if verdict.outcome == "deny":
        raise _denied(run, calling, verdict.error())
    if verdict.outcome == "ask":
        decision = await _ask(run, calling, f"call {tool.name}", tool.name, arguments, verdict.reason)
        if not decision.is_approved:
            raise _denied(run, calling, PermissionDenied(f"a person refused {tool.name}", cause=decision.reason))
    return arguments


def _denied(run: Run, calling: Calling, error: PermissionDenied) -> PermissionDenied:
    run.warn(error.code, f"{error.what}{f' ({error.cause})' if error.cause else ''}", calling.node.id)
    return error


async def _asked(run: Run, calling: Calling, arguments: Mapping[str, Any]) -> str:
    """What a person said to `ask_user` or `request_approval`."""
    node_id = calling.node.id
    if calling.call.name == "ask_user":
        question = str(arguments["question"])
        options = tuple(arguments.get("options", ()))
        asked = Question("ask_user", node_id, question, {"question": question}, options=options)
    else:
        shown = {"what": arguments["what"], "details": arguments.get("details", "")}
        asked = Question("approval", node_id, str(arguments["what"]), shown)
    decision = await ask_person(run, calling.node, asked)
    calling.was_answered = True
    if decision.outcome == "rejected":
        raise ApprovalRejected("the person said no", cause=decision.reason)
    if decision.outcome == "edited":
        return f"Approved with changes; do this instead: {json.dumps(decision.edited, ensure_ascii=False)}"
    return decision.text if decision.outcome == "answered" else "Approved."


async def _confirm_repeat(run: Run, calling: Calling, name: str, arguments: Mapping[str, Any]) -> None:
    """Whether to call again what an earlier process had begun, is for a person to say. Raises `ToolFailed` if not."""
    unknown = f"it is not known whether {name} was done"
    why = "an earlier process began it, and nobody saw it end"
    try:
        decision = await _ask(run, calling, f"call {name} again", name, arguments, why)
    except ApprovalRejected:
        raise ToolFailed(unknown, cause=f"{why}; nobody could be asked whether to do it again") from None
    if not decision.is_approved:
        said = f"; a person said not to do it again{f': {decision.reason}' if decision.reason else ''}"
        raise ToolFailed(unknown, cause=why + said)


async def _ask(
    run: Run, calling: Calling, title: str, name: str, arguments: Mapping[str, Any], reason: str
) -> Decision:
    shown = {"tool": name, "arguments": dict(arguments), "reason": reason}
    decision = await ask_person(run, calling.node, Question("permission", calling.node.id, title, shown))
    calling.was_answered = True
    return decision


def _run(tool: Tool, arguments: Mapping[str, Any], deadline: Deadline, _attempt: int) -> dict[str, Any]:
    """On a worker: what goes on record. A failure is an outcome too, so that a resumed run tells the model the same."""
    from orchestra.runtime.tools.running import run_tool

    try:
        return {"text": run_tool(tool, arguments, deadline)}
    except RunCancelled:
        raise
    except OrchestraError as error:
        return {"error": error.to_dict()}


class _Error(BaseModel):
    code: str
    message: str
    cause: str = ""


class _Payload(BaseModel):
    """What is on record of a call."""

    text: str = ""
    error: _Error | None = None


def _text_of(name: str, payload: Mapping[str, Any]) -> str:
    try:
        kept = _Payload.model_validate(payload)
    except ValidationError:
        raise ToolFailed(f"what is on record of {name} cannot be read") from None
    if kept.error is not None:
        raise _KEPT_ERRORS.get(kept.error.code, ToolFailed)(kept.error.message, cause=kept.error.cause)
    return kept.text


def _fingerprint(name: str, arguments: Mapping[str, Any]) -> str:
    written = json.dumps([name, dict(arguments)], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()


def _title(call: ToolCall) -> str:
    written = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
    title = " ".join(f"{call.name}({written})".encode("utf-8", "replace").decode().split())
    return title if len(title) <= _TITLE_CHARACTERS else f"{title[: _TITLE_CHARACTERS - 1]}…"
