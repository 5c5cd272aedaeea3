"""Which tools a skill has while it works: those of the run that it declares and may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestra.models.protocol import ToolSpec
from orchestra.planning.tools_note import tools_note
from orchestra.run.permitting import permissions_of, roots_of
from orchestra.run.skill_tools import has_more, loading_skill, loading_sub_skill
from orchestra.run.state import Run
from orchestra.runtime.node import Node
from orchestra.runtime.tools.given import VERBS
from orchestra.skills import Skill
from orchestra.skills.manifest import Manifest
from orchestra.skills.permissions import PermissionSet, declared_permissions

if TYPE_CHECKING:
    from orchestra.runtime.tools.tool import Tool

MAX_TURNS = 8
OF_PEOPLE = frozenset({"ask_user", "request_approval"})
"""Verbs that a person does."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools by name, in an order that is the same in every call, and how many turns a model has with them."""

    tools: Mapping[str, Tool]
    max_turns: int = MAX_TURNS

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.tools.values())


def tool_names(run: Run, skill: Skill | Manifest) -> tuple[str, ...]:
    """The tools that a skill has in this run, before its node narrows them; empty for most.

    They are those that the caller gave, and those of ours that its `allowed-tools` name, as far as the run may use
    them. One that is not trusted has none.
    """
    if not skill.is_trusted or (not run.tools.names and skill.allowed_tools is None):
        return ()
    return _usable(run, skill, run.permits.of_skill(run.permits.root, skill).permissions)


def toolbox_of(run: Run, node: Node, skill: Skill) -> Toolbox | None:
    """The tools that a skill has at `node`; None where there are none. One with more in its folder can load it."""
    loads = skill.allowed_tools is None and has_more(skill)
    if not loads and not tool_names(run, skill):
        return None
    permissions = permissions_of(run, node)
    names = _usable(run, skill, permissions)
    if loads and "load_subskill" not in names and permissions.may_use("load_subskill"):
        names = (*names, "load_subskill")
    tools = {name: run.tools.own.get(name) or _verb(run, node, name, skill) for name in names}
    return Toolbox(tools, skill.max_turns or MAX_TURNS) if tools else None


def planner_note(run: Run) -> str:
    """What a planner is told of the tools that the skills of its catalogue have; empty where none has any."""
    skills = [
        run.library.manifest(name)
        for name, _ in run.library.catalogue_for(run.task, run.settings.most_catalogue_tokens)
    ]
    return tools_note([skill.name for skill in skills], {skill.name: tool_names(run, skill) for skill in skills})


def all_tool_names(run: Run) -> tuple[str, ...]:
    """Every tool that some skill could have: a model that calls another one has made it up."""
    return tuple(dict.fromkeys((*run.tools.names, *VERBS)))


def _usable(run: Run, skill: Skill | Manifest, permissions: PermissionSet) -> tuple[str, ...]:
    declared, _ = declared_permissions(skill)
    named = () if declared.tools.allowed is None else tuple(verb for verb in VERBS if declared.may_use(verb))
    given = dict.fromkeys((*run.tools.names, *named))
    return tuple(name for name in given if declared.may_use(name) and permissions.may_use(name))


def _verb(run: Run, node: Node, name: str, skill: Skill) -> Tool:
    from orchestra.runtime.tools import verbs

    if name == "load_skill":
        return loading_skill(run, node)
    if name == "load_subskill":
        return loading_sub_skill(run, node, skill)
    if name == "read_section":
        return verbs.reading_section(run.documents)
    if name == "search_document":
        return verbs.searching(run.documents)
    if name == "read_file":
        return verbs.reading_file(roots_of(run, node, "read"))
    if name == "write_file":
        return verbs.writing_file(roots_of(run, node, "write"))
    return verbs.verb(name)
