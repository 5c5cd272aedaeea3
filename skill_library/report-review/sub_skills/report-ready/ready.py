"""Whether there is a report to review."""

from __future__ import annotations

import re
from typing import Any

from orchestra.document import Document
from orchestra.errors import GateFailed
from orchestra.skills.code import CodeContext

FEWEST_NUMBERS = 3
MOST_NAMED = 10  # empty sections

_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*")
_HEADING = re.compile(r"#{1,6}\s")


def ready(context: CodeContext) -> dict[str, Any]:
    """`{"ok", "documents", "notes"}`; raises `GateFailed` with the reason where a document cannot be reviewed."""
    documents = context.documents
    if not documents:
        raise GateFailed("there is no report to review", suggestion="Name a document.")
    told: list[dict[str, Any]] = []
    notes: list[str] = []
    for key, name, document in documents.items():
        numbers = len(_NUMBER.findall(document.text))
        if numbers < FEWEST_NUMBERS:
            raise GateFailed(
                f"{name} has no figures to check",
                cause=f"it states {numbers} numbers, and {FEWEST_NUMBERS} are the least",
                suggestion="Review a document that states figures.",
            )
        sections = [section for section in document.outline.sections if section.kind != "start"]
        if not sections:
            raise GateFailed(
                f"{name} has no sections",
                cause="no heading was found in it",
                suggestion="Give the report headings, such as `## Results`.",
            )
        empty = [section for section in sections if not section.children and _is_empty(document, section)]
        prefix = f"{key}:" if key else ""
        notes += [f"{section.title} [{prefix}L{section.first_line}]" for section in empty[:MOST_NAMED]]
        told.append({"name": name, "sections": len(sections), "numbers": numbers, "empty_sections": len(empty)})
    return {"ok": True, "documents": told, "notes": notes}


def _is_empty(document: Document, section: Any) -> bool:
    lines = document.lines(section.first_line, section.last_line).split("\n")
    rest = lines[1:] if _HEADING.match(lines[0]) else lines
    return section.kind == "heading" and not any(line.strip(" \t=-") for line in rest)
