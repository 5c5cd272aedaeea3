"""What a skill declares: its `allowed-tools`, and whether it is trusted with any."""

from __future__ import annotations

from orchestra.errors import InputInvalid
from orchestra.skills.manifest import Manifest
from orchestra.skills.permissions.entries import Name, ToolRule
from orchestra.skills.permissions.grants import Grants
from orchestra.skills.permissions.permission_set import EVERYTHING, PermissionSet
from orchestra.skills.skill import Skill

WORDS_OF_THE_FORMAT = {
    "Read": ("read_file", "read_section"),
    "Grep": ("search_document",),
    "Write": ("write_file",),
    "AskUserQuestion": ("ask_user",),
}
"""Tools that skills written for other programs name, and ours that do the same."""


def declared_permissions(skill: Skill | Manifest) -> tuple[PermissionSet, tuple[str, ...]]:
    """What a skill asks for at most, whatever it is given; and those of its `allowed-tools` that name no tool.

    Without `allowed-tools` that is everything: it inherits. An entry that cannot be read allows nothing.
    """
    if skill.allowed_tools is None:
        return EVERYTHING, ()
    rules: list[ToolRule] = []
    unread: list[str] = []
    for text in skill.allowed_tools:
        if text == "*":
            return EVERYTHING, ()
        try:
            rule = ToolRule.parse(text)
        except InputInvalid:
            unread.append(text)
            continue
        rules += (rule, *_ours(rule))
    return PermissionSet(tools=Grants.of(rules)), tuple(unread)


def _ours(rule: ToolRule) -> list[ToolRule]:
    """A rule with a pattern is about a path, and goes to the first of our tools only."""
    names = WORDS_OF_THE_FORMAT.get(rule.name.text, ())
    return [ToolRule(Name(name), rule.patterns) for name in (names[:1] if rule.patterns else names)]


NO_TOOLS = PermissionSet(tools=Grants.of(()))
"""What an untrusted skill gets."""
