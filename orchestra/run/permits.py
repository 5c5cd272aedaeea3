"""What a run may do, and how that came about: who gave it, what the policy left, what skills took away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from orchestra.models.protocol import Model
from orchestra.runtime.calls import model_host, model_name
from orchestra.skills import Skill
from orchestra.skills.manifest import Manifest
from orchestra.skills.permissions import (
    EVERYTHING,
    OWN_FILES,
    Grants,
    HostName,
    Name,
    Narrowing,
    PermissionSet,
    Root,
    ToolRule,
    declared_permissions,
    narrowings,
)
from orchestra.skills.permissions.declared import NO_TOOLS
from orchestra.skills.policy import DEFAULT_TOOLS, Policy

OUR_TOOLS = (*DEFAULT_TOOLS, "write_file")


class Step(NamedTuple):
    """One operand on the way down to a node, and who stands for it: "run", "policy", "trust" or "skill"."""

    taken_by: str
    reason: str
    operand: PermissionSet


@dataclass(frozen=True, slots=True)
class Permitted:
    """A node's permissions, what its own step took away, and all steps from the run down to it."""

    permissions: PermissionSet
    lost: tuple[Narrowing, ...] = ()
    steps: tuple[Step, ...] = ()

    def narrowed(self, step: Step, partial: str) -> Permitted:
        """After one more step; `partial` begins the reason where something is left."""
        narrower = self.permissions.intersect(step.operand)
        if narrower == self.permissions:
            return self
        lost = narrowings(self.permissions, narrower, step.taken_by, step.reason, partial)
        return Permitted(narrower, lost, (*self.steps, step))


@dataclass(slots=True)
class Permits:
    """By node id what each may do; a node that is not in it may do what its parent may. Nothing adds to a permission.

    `tools` are the names of the tools that the run has, `files` the documents' own, `skills` those that nodes were
    permitted for, by node id.
    """

    policy: Policy
    root: Permitted
    tools: tuple[str, ...] = OUR_TOOLS
    files: tuple[Path, ...] = ()
    nodes: dict[str, Permitted] = field(default_factory=dict[str, Permitted])
    skills: dict[str, Skill] = field(default_factory=dict[str, Skill])
    _known: dict[tuple[Any, ...], Permitted] = field(default_factory=dict[tuple[Any, ...], Permitted])

    @classmethod
    def of(
        cls,
        policy: Policy,
        models: Iterable[Model],
        *,
        files: Sequence[Path] = (),
        tools: Sequence[str] = (),
        cost_usd: float | None = None,
        skills: Iterable[Manifest] = (),
    ) -> Permits:
        """Of a run with these models, files of documents, registered tools and skills."""
        places = tuple((model_name(model), model_host(model)) for model in models)
        default = _default(places, tuple(map(Root.at, files)), tuple(tools), cost_usd)
        has = (*OUR_TOOLS, *tools)
        if policy.is_default:
            return cls(policy, default, has, tuple(files))
        allowed = policy.permissions(default.permissions)
        if allowed.write.allowed != frozenset():
            allowed = allowed.intersect(_never_written(policy, skills))
        steps = (_given(has), Step("policy", _reason(policy), allowed))
        permissions = steps[0].operand.intersect(allowed)
        lost = narrowings(default.permissions, permissions, "policy", _reason(policy), f"{policy.source} allows only")
        return cls(policy, Permitted(permissions, lost, steps), has, tuple(files))

    def of_skill(self, parent: Permitted, skill: Skill | Manifest) -> Permitted:
        """What is left of `parent` for a skill. Worked out once for each."""
        if skill.is_trusted and skill.allowed_tools is None:
            return parent
        key = (id(parent), skill.name, skill.allowed_tools, skill.is_trusted)
        if key not in self._known:
            self._known[key] = _of_skill(parent, skill)
        return self._known[key]


@lru_cache(maxsize=256)
def _default(
    models: tuple[tuple[str, str], ...], files: tuple[Root, ...], tools: tuple[str, ...], cost_usd: float | None
) -> Permitted:
    """What the default policy allows a run of models (name, host), files and tools. Most runs of a process share it."""
    permissions = PermissionSet(
        tools=Grants.of(ToolRule(Name(name)) for name in (*DEFAULT_TOOLS, *tools)),
        read=Grants.of([Root((OWN_FILES,)), *files]),
        write=Grants.of(()),
        hosts=Grants.of(HostName(host) for _, host in models if host),
        models=Grants.of(Name(name) for name, _ in models),
        cost_usd=cost_usd,
    )
    steps = (_given((*OUR_TOOLS, *tools)), Step("policy", "the default policy does not allow it", permissions))
    return Permitted(permissions, (), steps)


def _given(tools: tuple[str, ...]) -> Step:
    """What the caller gave: tools. Whatever else there is, the policy says."""
    return Step(
        "run", "the run has no such tool", PermissionSet(tools=Grants.of(ToolRule(Name(name)) for name in tools))
    )


def files_of(context: object) -> list[Path]:
    """The files that a caller named as documents, absolute; not texts, and not standard input."""
    items = context if isinstance(context, list | tuple) else [context]
    return [item.absolute() for item in items if isinstance(item, Path) and str(item) != "-"]


def folder_of(skill: Skill | Manifest) -> Path | None:
    """Where a skill's files are, resolved; None for one that was made in memory."""
    manifest = skill.manifest if isinstance(skill, Skill) else skill
    return manifest.folder.resolve() if manifest is not None and manifest.folder is not None else None


def _of_skill(parent: Permitted, skill: Skill | Manifest) -> Permitted:
    name = skill.name
    declared, unread = declared_permissions(skill)
    found = Permitted(parent.permissions, (), parent.steps)
    lost: list[Narrowing] = []
    if not skill.is_trusted:
        found = found.narrowed(
            Step("trust", f"skill {name!r} is not trusted, and gets no tools", NO_TOOLS),
            f"skill {name!r} is not trusted, and gets only",
        )
        lost += found.lost
    if declared is not EVERYTHING:
        before = found
        found = found.narrowed(
            Step("skill", f"skill {name!r} does not declare it", declared), f"skill {name!r} declares only"
        )
        lost += found.lost if found is not before else ()
    lost += [
        Narrowing(f"tools: {text}", "skill", f"{text!r} in allowed-tools of {name!r} names no tool") for text in unread
    ]
    return Permitted(found.permissions, tuple(lost), found.steps) if lost else parent


def _never_written(policy: Policy, skills: Iterable[Manifest]) -> PermissionSet:
    """Everything but what says what may be done: the policy's file and the skills."""
    places: list[Any] = [folder for skill in skills if (folder := folder_of(skill)) is not None]
    if policy.source and Path(policy.source).is_file():
        places.append(Path(policy.source))
    return PermissionSet(write=Grants.of(None, (), [Root.at(place) for place in places]))


def _reason(policy: Policy) -> str:
    return f"{policy.source} does not allow it"
