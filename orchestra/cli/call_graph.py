"""A run's nodes as a tree of text: each with its status, duration, tokens, error and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orchestra.cli.terminal import one_line

if TYPE_CHECKING:
    from orchestra.store import NodeRecord

_INPUTS = ("input_tokens", "cached_input_tokens", "cache_write_tokens")


def call_graph(nodes: Sequence[NodeRecord]) -> list[str]:
    """Its lines. A node whose parent is not on record stands at the top."""
    known = {node.node_id for node in nodes}
    children: dict[str | None, list[NodeRecord]] = {}
    for node in nodes:
        parent = node.parent_node_id if node.parent_node_id in known else None
        children.setdefault(None if parent == node.node_id else parent, []).append(node)
    rows: list[tuple[str, str, list[str]]] = []
    drawn: set[str] = set()
    for top in children.get(None, ()):
        rows.extend(_rows(top, "", "", children, drawn))
    for node in nodes:  # parents that are their own descendants
        if node.node_id not in drawn:
            rows.extend(_rows(node, "", "", children, drawn))
    width = max((len(label) for label, _, _ in rows), default=0)
    lines: list[str] = []
    for label, facts, notes in rows:
        lines += [f"{label:<{width}}  {facts}".rstrip(), *notes]
    return lines


def _rows(
    node: NodeRecord, branch: str, below: str, children: Mapping[str | None, list[NodeRecord]], drawn: set[str]
) -> Iterator[tuple[str, str, list[str]]]:
    drawn.add(node.node_id)
    own = [child for child in children.get(node.node_id, ()) if child.node_id not in drawn]
    stem = below + ("│ " if own else "  ")
    yield branch + _label(node), _facts(node), [f"{stem}{note}" for note in _notes(node)]
    for child in own:
        is_last = child is own[-1]
        if child.node_id not in drawn:
            yield from _rows(
                child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  "), children, drawn
            )


def duration(milliseconds: float | None) -> str:
    """`0.3 s`, `2 min 5 s`, or nothing."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 100 else f"{int(seconds) // 60:,} min {int(seconds) % 60} s"


def _label(node: NodeRecord) -> str:
    name = node.node_id.rpartition("/")[2]
    skill = f" [{node.skill_name}]" if node.skill_name else ""
    title = f" {node.title}" if node.title and node.title != name else ""
    line = one_line(f"{name}{skill}{title}")
    return line if len(line) <= 60 else line[:57].rstrip() + "..."


def _facts(node: NodeRecord) -> str:
    attempts = f"attempt {node.attempt}" if node.attempt > 1 else ""
    took = duration((node.timing or {}).get("duration_ms"))
    return ", ".join(fact for fact in (one_line(node.status), took, _tokens(node.usage or {}), attempts) if fact)


def _tokens(usage: Mapping[str, Any]) -> str:
    sent, got = sum(_count(usage, name) for name in _INPUTS), _count(usage, "output_tokens")
    cached = _count(usage, "cached_input_tokens")
    if not sent and not got:
        return ""
    return f"{sent:,} tokens in{f' ({cached:,} cached)' if cached else ''}, {got:,} out"


def _count(usage: Mapping[str, Any], name: str) -> int:
    count = usage.get(name)
    return count if isinstance(count, int) else 0


def _notes(node: NodeRecord) -> list[str]:
    return error_lines(node.error) if node.error else []


def error_lines(error: Mapping[str, Any]) -> list[str]:
    """What happened, and what to do."""
    cause = f" ({error['cause']})" if error.get("cause") else ""
    lines = [f"{error.get('code', '')}: {error.get('message', '')}{cause}", str(error.get("suggestion") or "")]
    return [one_line(line) for line in lines if line]
