"""How an answer is covered by its citations."""

from __future__ import annotations

import re
from typing import Any

from orchestra.document import parse_citations
from orchestra.skills.code import CodeContext

SHORTEST = 40  # characters of a paragraph that should cite something
LONGEST_SHOWN = 80


def report(context: CodeContext) -> dict[str, Any]:
    """`{"citations", "uncited"}`: how many marks, and paragraphs without one."""
    marks = parse_citations(context.answer)
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n|\n(?=[-*] )", context.answer)]
    claims = [each for each in paragraphs if len(each) >= SHORTEST and not each.startswith(("#", "*The built-in"))]
    uncited = [each for each in claims if not parse_citations(each)]
    return {
        "citations": len(marks),
        "uncited": [each if len(each) <= LONGEST_SHOWN else each[: LONGEST_SHOWN - 1] + "…" for each in uncited],
    }
