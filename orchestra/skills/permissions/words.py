"""Permissions in words, and back from what a snapshot says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestra.errors import InputInvalid
from orchestra.skills.permissions.arguments import ArgumentPattern
from orchestra.skills.permissions.entries import OWN_FILES, HostName, Name, Root, ToolRule
from orchestra.skills.permissions.grants import Grants
from orchestra.skills.permissions.permission_set import KINDS, PermissionSet

TAKEN_ALSO = (("ask", "a person is asked"), ("deny", "never"))
"""What a snapshot says beside its kinds, in words."""


def entries_in_words(entries: Sequence[str] | str) -> str:
    """What a snapshot lists of a kind: `read_file, Bash(git:*)`, `everything`, `nothing`."""
    return entries if isinstance(entries, str) else ", ".join(entries) or "nothing"


def cost_in_words(cost_usd: float | None) -> str:
    return "any" if cost_usd is None else f"at most ${cost_usd:g}"


def is_within(child: Mapping[str, Any], parent: Mapping[str, Any]) -> bool:
    """Whether a snapshot allows nothing that another one does not: equal to it, or narrower.

    Raises `InputInvalid` for what is no snapshot.
    """
    if child == parent:
        return True
    narrower = of_snapshot(child)
    return of_snapshot(parent).intersect(narrower) == narrower


def of_snapshot(snapshot: Mapping[str, Any]) -> PermissionSet:
    """The set whose `snapshot` this is. Raises `InputInvalid`."""
    cost_usd = snapshot.get("cost_usd")
    if not isinstance(cost_usd, int | float | None):
        raise InputInvalid("a snapshot of permissions cannot be read", cause=f"cost_usd is {cost_usd!r}")
    return PermissionSet(**{kind: _grants(snapshot, kind) for kind in KINDS}, cost_usd=cost_usd)


def _grants(snapshot: Mapping[str, Any], kind: str) -> Grants[Any]:
    listed = snapshot.get(kind, "everything")
    allowed = None if listed == "everything" else [_entry(kind, text) for text in _texts(listed)]
    asked, refused = (
        [_entry(kind, text) for text in _texts((snapshot.get(word) or {}).get(kind, ()))] for word, _ in TAKEN_ALSO
    )
    return Grants.of(allowed, asked, refused)


def _texts(listed: Any) -> Sequence[str]:
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) and each for each in listed):
        raise InputInvalid("a snapshot of permissions cannot be read", cause=f"it lists {str(listed)[:100]!r}")
    return listed


def _entry(kind: str, text: str) -> Any:
    if kind == "tools":
        return _tool(text)
    if kind in ("read", "write"):
        return Root(() if text == "*" else (OWN_FILES,) if text == OWN_FILES else Path(text).parts)
    return HostName(text) if kind == "hosts" else Name(text)


def _tool(text: str) -> ToolRule:
    name, bracket, rest = text.partition("(")
    patterns = (ArgumentPattern.parse(each) for each in rest.removesuffix(")").split(" and ")) if bracket else ()
    return ToolRule(Name(name), frozenset(each for each in patterns if each is not None))
