"""What a node may do, asked before it does it. Every narrowing and every refusal is an event that says who and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from orchestra.errors import PermissionDenied
from orchestra.models.protocol import Model
from orchestra.run.permits import Permitted, folder_of
from orchestra.run.state import Run
from orchestra.runtime.calls import model_host, model_name
from orchestra.runtime.events import PermissionRefused, PermissionsNarrowed
from orchestra.runtime.files import Roots, resolve_permitted
from orchestra.runtime.node import Node
from orchestra.runtime.tools.given import VERBS
from orchestra.skills import Skill
from orchestra.skills.permissions import OWN_FILES, Grants, Outcome, PermissionSet, Root, ToolCall

Use = Literal["read", "write"]
FILE_TOOLS: Mapping[str, Use] = {"read_file": "read", "write_file": "write"}
"""Tools of ours whose `path` is a file's."""

_LONGEST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something may be done. `taken_by` ("run", "policy", "trust", "skill") and `reason` say why not, or why a
    person is asked first: for this very thing, once.
    """

    outcome: Outcome
    permission: str
    taken_by: str = ""
    reason: str = ""

    @property
    def is_allowed(self) -> bool:
        """Without asking anybody."""
        return self.outcome == "allow"

    def error(self) -> PermissionDenied:
        """For what is denied."""
        return PermissionDenied(f"{self.permission} is not permitted", cause=self.reason, taken_by=self.taken_by)


def root_permissions(run: Run) -> PermissionSet:
    """What the run as a whole may do: what it was given, as far as the policy allows it."""
    return run.permits.root.permissions


def permissions_of(run: Run, node: Node) -> PermissionSet:
    """What a node may do: its own permissions, else its nearest ancestor's."""
    return _permitted(run, node).permissions


def permit(run: Run, node: Node, skill: Skill) -> PermissionSet:
    """Give a node what its parent may do, as far as `skill` declares it; its events show that from now on.

    Say so where something is taken away. There is no call that gives a node more.
    """
    parent = _permitted(run, node.parent)
    permitted = run.permits.of_skill(parent, skill)
    run.permits.skills[node.id] = skill
    if permitted is parent:
        return parent.permissions
    run.permits.nodes[node.id] = permitted
    node.permissions = permitted.permissions.snapshot
    if permitted.lost:
        run.stream.emit(
            PermissionsNarrowed,
            node_id=node.id,
            narrowings=[narrowing.to_dict() for narrowing in permitted.lost],
            permission_snapshot=node.permissions,
        )
    return permitted.permissions


def check_tool(run: Run, node: Node, name: str, arguments: Mapping[str, Any]) -> Verdict:
    """Whether `node` may make this call of a tool. A file of our `read_file` and `write_file` is tested too.

    A denial is an event.
    """
    subject = arguments.get(_first_parameter(run, name))
    call = ToolCall(name, subject if isinstance(subject, str) else None)
    shown = name if call.subject is None else f"{name}({call.subject})"
    verdict = _verdict(run, node, "tools", call, shown)
    use = None if name in run.tools.own else FILE_TOOLS.get(name)
    if use is not None and verdict.outcome != "deny":
        verdict = _narrower(verdict, _of_file(run, node, arguments.get("path"), use))
    return _told(run, node, verdict)


def check_file(run: Run, node: Node, path: str | Path, use: Use) -> Verdict:
    """Whether `node` may read or write the file that `path` leads to now. A denial is an event.

    Open it by `open_permitted` with `roots_of`, which tests again what is opened.
    """
    return _told(run, node, _of_file(run, node, path, use))


def check_host(run: Run, node: Node, host: str) -> Verdict:
    """Whether `node` may speak to a host. A denial is an event."""
    return _told(run, node, _verdict(run, node, "hosts", host, host))


def check_model(run: Run, node: Node, model: Model) -> None:
    """Raise `PermissionDenied`, with an event, where `node` may not send to this model or to its host."""
    permissions = permissions_of(run, node)
    for kind, name in _places(model):
        if permissions.kind(kind).outcome(name) != "allow":
            raise _told(run, node, _verdict(run, node, kind, name, name)).error()


def permitted_models(run: Run, node: Node, model: Model) -> tuple[Model, ...]:
    """Who may answer a call that is meant for `model`: it, then those of its stand-ins that `node` may send to."""
    first, *others = run.in_order(model)
    if not others:
        return (first,)
    permissions = permissions_of(run, node)
    return (
        first,
        *(
            other
            for other in others
            if all(permissions.kind(kind).outcome(to) == "allow" for kind, to in _places(other))
        ),
    )


def roots_of(run: Run, node: Node, use: Use) -> Roots:
    """Where a node may read or write files, for `open_permitted`: the files of its skill by their place."""
    grants: Grants[Root] = permissions_of(run, node).kind(use)
    refused = tuple(root.path for root in grants.refused)
    if grants.allowed is None or Root(()) in grants.allowed:
        return Roots(None, refused)
    allowed = [root.path for root in grants.allowed if root.parts != (OWN_FILES,)]
    own = _own_folder(run, node) if len(allowed) < len(grants.allowed) else None
    return Roots((*allowed, own) if own is not None else tuple(allowed), refused)


def _places(model: Model) -> tuple[tuple[str, str], ...]:
    """Where a call to a model goes: the model, and the host unless it runs here."""
    host = model_host(model)
    return (("models", model_name(model)), ("hosts", host)) if host else (("models", model_name(model)),)


def _first_parameter(run: Run, tool: str) -> str:
    """What a pattern is about, by the tool's own schema: never by what a model chose to pass. Empty for no tool."""
    known = run.tools.own.get(tool)
    if known is None and tool in VERBS:
        from orchestra.runtime.tools.verbs import verb

        known = verb(tool)
    return next(iter(known.parameters.get("properties", ())), "") if known is not None else ""


def _permitted(run: Run, node: Node | None) -> Permitted:
    nodes = run.permits.nodes
    while node is not None:
        if node.id in nodes:
            return nodes[node.id]
        node = node.parent
    return run.permits.root


def _own_folder(run: Run, node: Node | None) -> Path | None:
    while node is not None and node.id not in run.permits.skills:
        node = node.parent
    return folder_of(run.permits.skills[node.id]) if node is not None else None


def _of_file(run: Run, node: Node, path: object, use: Use) -> Verdict:
    shown = f"{use}: {path}"
    roots = roots_of(run, node, use)
    try:
        place = resolve_permitted(path if isinstance(path, str | Path) else "", roots, use)
    except PermissionDenied as error:
        return Verdict("deny", _shown(shown), "policy", error.cause)
    asked = permissions_of(run, node).kind(use).asked
    if any(root.refuses(place.path) for root in asked):
        return Verdict("ask", _shown(shown), "policy", f"{run.permits.policy.source} asks for it")
    return Verdict("allow", _shown(shown))


def _verdict(run: Run, node: Node, kind: str, what: Any, shown: str) -> Verdict:
    permitted = _permitted(run, node)
    outcome = permitted.permissions.kind(kind).outcome(what)
    permission = _shown(f"{kind}: {shown}")
    if outcome == "allow":
        return Verdict(outcome, permission)
    if outcome == "ask":
        return Verdict(outcome, permission, "policy", f"{run.permits.policy.source} asks for it")
    step = next((step for step in permitted.steps if step.operand.kind(kind).outcome(what) == "deny"), None)
    taken_by, reason = (step.taken_by, step.reason) if step else ("policy", "no operand allows it")
    return Verdict(outcome, permission, taken_by, reason)


def _narrower(one: Verdict, other: Verdict) -> Verdict:
    return other if other.outcome == "deny" or one.outcome == "allow" else one


def _told(run: Run, node: Node, verdict: Verdict) -> Verdict:
    if verdict.outcome == "deny":
        run.stream.emit(
            PermissionRefused,
            node_id=node.id,
            permission=verdict.permission,
            taken_by=verdict.taken_by,
            reason=verdict.reason,
            permission_snapshot=permissions_of(run, node).snapshot,
        )
    return verdict


def _shown(text: str) -> str:
    """For an event: no lone surrogates, and not all of a long argument."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
