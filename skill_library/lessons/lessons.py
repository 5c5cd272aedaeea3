"""What one run learnt about its documents, for the next one."""

from __future__ import annotations

from typing import Any

from orchestra.document import parse_citations
from orchestra.skills.code import CodeContext

MOST_KEPT = 20
MOST_PLACES = 8


def lessons(context: CodeContext) -> dict[str, Any]:
    """`{"earlier": [...], "keep": [...]}`: lessons of earlier runs, and all that are to be kept, the newest last."""
    places = list(dict.fromkeys(str(each) for mark in parse_citations(context.answer) for each in mark.ranges))
    earlier = [each for each in context.lessons if each.get("task") != context.query]
    lesson = {"task": context.query, "places": places[:MOST_PLACES]}
    return {"earlier": earlier, "keep": [*earlier, lesson][-MOST_KEPT:] if places else earlier}
