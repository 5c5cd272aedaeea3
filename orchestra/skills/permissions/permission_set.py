"""What a node may do, and what became of it on the way down: `child = parent ∩ declared ∩ policy`, in code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from orchestra.skills.permissions.entries import HostName, Name, Root, ToolRule
from orchestra.skills.permissions.grants import Grants

KINDS = ("tools", "read", "write", "hosts", "models")
_ALL: Grants[Any] = Grants()


@dataclass(frozen=True)
class PermissionSet:
    """Tools, files to read and to write, hosts, models, and US dollars; by default everything. Immutable.

    There is no way to add to one: `intersect` is all that makes another.
    """

    tools: Grants[ToolRule] = _ALL
    read: Grants[Root] = _ALL
    write: Grants[Root] = _ALL
    hosts: Grants[HostName] = _ALL
    models: Grants[Name] = _ALL
    cost_usd: float | None = None

    def intersect(self, other: PermissionSet) -> PermissionSet:
        """What both allow. Associative, commutative, idempotent; never wider than either."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return PermissionSet(
            self.tools.intersect(other.tools),
            self.read.intersect(other.read),
            self.write.intersect(other.write),
            self.hosts.intersect(other.hosts),
            self.models.intersect(other.models),
            min(costs, default=None),
        )

    def kind(self, name: str) -> Grants[Any]:
        return getattr(self, name)

    def may_use(self, tool: str) -> bool:
        """Whether some call of the tool may be allowed, now or by a person: whether a model is told of it."""
        allowed = self.tools.allowed
        is_named = allowed is None or any(rule.name.allows(tool) for rule in allowed)
        return is_named and not any(not rule.patterns and rule.name.refuses(tool) for rule in self.tools.refused)

    @cached_property
    def snapshot(self) -> Mapping[str, Any]:
        """As JSON: by kind a list, or "everything"; "ask" and "deny" hold what is asked and refused of it."""
        shown: dict[str, Any] = {name: _listed(self.kind(name)) for name in KINDS}
        shown["cost_usd"] = self.cost_usd
        for word, attribute in (("ask", "asked"), ("deny", "refused")):
            taken = {
                name: sorted(map(str, entries)) for name in KINDS if (entries := getattr(self.kind(name), attribute))
            }
            if taken:
                shown[word] = taken
        return shown


EVERYTHING = PermissionSet()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """One thing taken away: `permission` as "tools: Bash" or "cost_usd: 0.5", who took it, and why.

    `taken_by` is "skill", "policy" or "trust".
    """

    permission: str
    taken_by: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        return {"permission": self.permission, "taken_by": self.taken_by, "reason": self.reason}


def narrowings(
    before: PermissionSet, after: PermissionSet, taken_by: str, absent: str, partial: str
) -> tuple[Narrowing, ...]:
    """What `before` holds and `after` does not.

    The reason is `absent` ("the skill does not declare it"), or where some of it is left, `partial` ("the skill
    declares only") and what that is.
    """
    lost = [(f"{kind}: {entry}", left) for kind in KINDS for entry, left in _lost(before.kind(kind), after.kind(kind))]
    if after.cost_usd is not None and (before.cost_usd is None or after.cost_usd < before.cost_usd):
        was = "everything" if before.cost_usd is None else f"{before.cost_usd:g}"
        lost.append((f"cost_usd: {was}", f"{{partial}} {after.cost_usd:g}"))
    return tuple(Narrowing(what, taken_by, left.format(absent=absent, partial=partial)) for what, left in lost)


def _lost(before: Grants[Any], after: Grants[Any]) -> list[tuple[str, str]]:
    """Each entry that is gone or smaller, and the reason's form."""
    if before == after:
        return []
    lost: list[tuple[str, str]] = []
    if before.allowed is None and after.allowed is not None:
        lost.append(("everything", _form(after.allowed)))
    for entry in sorted(before.allowed or (), key=str):
        if after.allowed is None or any(each.covers(entry) for each in after.allowed):
            continue
        lost.append((str(entry), _form([each for each in after.allowed if entry.covers(each)])))
    lost += [(str(entry), "a person is asked for it") for entry in sorted(after.asked - before.asked, key=str)]
    lost += [(str(entry), "{absent}") for entry in sorted(after.refused - before.refused, key=str)]
    return lost


def _form(left: Iterable[object]) -> str:
    words = ", ".join(sorted(map(str, left)))
    return f"{{partial}} {words.replace('{', '{{').replace('}', '}}')}" if words else "{absent}"


def _listed(grants: Grants[Any]) -> list[str] | str:
    return "everything" if grants.allowed is None else sorted(map(str, grants.allowed))
