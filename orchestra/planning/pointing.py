"""What the pointers of a subtask come to, in the order in which they are written."""

from __future__ import annotations

from orchestra.document import DocumentSet, Resolution, resolve_lines, resolve_section
from orchestra.planning.plan import ContextPointers


def resolve_pointers(pointers: ContextPointers, documents: DocumentSet) -> tuple[Resolution, ...]:
    """One resolution for each pointer, sections first. Never raises."""
    sections = [resolve_section(reference, documents) for reference in pointers.sections]
    lines = [resolve_lines(first, last, documents) for first, last, *_ in map(_padded, pointers.line_ranges)]
    return (*sections, *lines)


def _padded(bounds: list[object]) -> list[object]:
    return [*bounds, None, None]
