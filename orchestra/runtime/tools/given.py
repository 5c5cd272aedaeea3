"""The tools that a caller gives a run: his own callables, and verbs of ours by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from orchestra.errors import InputInvalid
from orchestra.runtime.node import Node

if TYPE_CHECKING:
    from orchestra.runtime.tools.tool import Tool

ToolChoice: TypeAlias = "Callable[..., Any] | Tool | str"

VERBS = (
    "read_section",
    "search_document",
    "read_file",
    "write_file",
    "ask_user",
    "request_approval",
    "load_skill",
    "load_subskill",
)
"""Tools of ours, which read the run's documents, files and skills, or ask a person."""


@dataclass(frozen=True, slots=True)
class GivenTools:
    """`own` are the caller's, by name; `verbs` are those of ours that he named. Both in his order."""

    own: Mapping[str, Tool] = field(default_factory=dict[str, "Tool"])
    verbs: tuple[str, ...] = ()

    @classmethod
    def of(cls, choices: Sequence[ToolChoice]) -> GivenTools:
        """Raises `InputInvalid` for what is no tool, and for a name that is given twice."""
        if not choices:
            return cls()
        if isinstance(choices, str) or not isinstance(cast("object", choices), Sequence):
            raise InputInvalid("tools is no list", suggestion="Pass a list of callables, Tools, or names of verbs.")
        from orchestra.runtime.tools.tool import Tool

        own: dict[str, Tool] = {}
        verbs: list[str] = []
        for choice in choices:
            if isinstance(choice, str) and choice not in VERBS:
                raise InputInvalid(f"there is no verb {choice!r}", cause=f"there are {', '.join(VERBS)}")
            tool = None if isinstance(choice, str) else Tool.of(choice)
            name = str(choice) if tool is None else tool.name
            if name in own or name in verbs:
                raise InputInvalid(f"two tools are called {name!r}", suggestion="Use Tool.of(function, name=...).")
            if tool is None:
                verbs.append(name)
            else:
                own[name] = tool
        return cls(own, tuple(verbs))

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.own, *self.verbs)


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A call that a model made, and the node that stands for it."""

    name: str
    arguments: Mapping[str, Any]
    node: Node
