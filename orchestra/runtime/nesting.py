"""How deep skills may call one another, held when a node is made, and so before anything is sent."""

from __future__ import annotations

from orchestra.errors import CallCycleDetected, CallDepthExceeded
from orchestra.runtime.node import Node


def nest(parent: Node, name: str, kind: str, *, skill: str, max_depth: int, title: str = "") -> Node:
    """A node below `parent` that calls `skill`.

    Depth counts the skills on the way from the root; nodes without one, such as tools, are not counted. Raises
    `CallCycleDetected` with the path when the skill is on that way already, `CallDepthExceeded` beyond `max_depth`.
    """
    path = [*skills_above(parent), *([parent.skill] if parent.skill else [])]
    if skill and skill in path:
        cycle = [*path[path.index(skill) :], skill]
        raise CallCycleDetected(f"the skill {skill!r} would call itself", cause=" → ".join(cycle))
    if skill and len(path) + 1 > max_depth:
        what = f"the skill {skill!r} would be called at depth {len(path) + 1}, and {max_depth} is the most"
        raise CallDepthExceeded(what, cause=" → ".join([*path, skill]))
    return parent.child(name, kind, skill=skill, title=title)


def skills_above(node: Node) -> list[str]:
    """The skills on the way from the root to a node, its own left out."""
    above: list[str] = []
    at = node.parent
    while at is not None:
        if at.skill:
            above.insert(0, at.skill)
        at = at.parent
    return above
