"""What the pointers of a subtask come to, in the order in which they are written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from orchestra.document import DocumentSet, LineRange, Resolution, resolve_lines, resolve_section
from orchestra.planning.plan import ContextPointers


def resolve_pointers(pointers: ContextPointers, documents: DocumentSet) -> tuple[Resolution, ...]:
    """One resolution for each pointer, sections first. Never raises."""
    sections = [resolve_section(reference, documents) for reference in pointers.sections]
    lines = [resolve_lines(first, last, documents) for first, last, *_ in map(_padded, pointers.line_ranges)]
    return (*sections, *lines)


def with_places(pointers: ContextPointers, lines: Iterable[LineRange], documents: DocumentSet) -> ContextPointers:
    """The pointers, and the pages or smallest sections of those lines that lie outside what they resolve to."""
    covered = [found for resolution in resolve_pointers(pointers, documents) for found in resolution.ranges]
    outside = [one for one in lines if not any(_holds(range_, one) for range_ in covered)]
    sections = [*pointers.sections, *(_place_at(one.key, one.first, documents) for one in outside)]
    return pointers.model_copy(update={"sections": list(dict.fromkeys(sections))})


def _holds(range_: LineRange, one: LineRange) -> bool:
    return range_.key == one.key and range_.first <= one.first and one.last <= range_.last


def _place_at(key: str, line: int, documents: DocumentSet) -> str:
    """The id of the page that holds a line, else of the smallest section or part."""
    document = documents.find(key)
    page = document.page_of(line)
    units = document.units
    unit = max(bisect_right(units, line, key=lambda unit: unit.first_line) - 1, 0)
    return documents.qualify(key, f"p{page}" if page else units[unit].id)


def _padded(bounds: list[object]) -> list[object]:
    return [*bounds, None, None]
