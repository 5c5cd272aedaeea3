"""Abbreviations and references of a report: which of them its reader can follow."""

from __future__ import annotations

import re
from typing import Any

from orchestra.document import Document
from orchestra.skills.code import CodeContext

FEWEST_USES = 3  # an abbreviation that is used so often should be explained once
MOST = 20
COMMON = re.compile(
    r"USA|UK|EU|UN|US|C[EFOT]O|PDF|ID|IT|AM|PM|VAT|GDP|USD|EUR|GBP|OK|TV|FAQ|ISO|[IVX]+|AB|AG|SE|LLP|LLC|PLC|SA|NV|BV"
    r"|AND|OR|NOT|THE|OF|ITEM|PART|NOTE|TABLE"
)

_ABBREVIATION = re.compile(r"(?<![\w.&-])[A-Z][A-Z&]{1,6}(?![\w&-])")
_KINDS = "Note|Section|Table|Figure|Appendix|Chapter|Exhibit"
_NAMED = re.compile(rf"[ \t>#*_|]*({_KINDS})\s+(\d{{1,3}}[A-Z]?|[A-Z])\b[\s*_]*[:.–—|-]")
_REFERENCE = re.compile(rf"\b({_KINDS}) (\d{{1,3}}[A-Z]?|[A-Z])\b")


def terms(context: CodeContext) -> dict[str, Any]:
    """`{"explained", "unexplained", "dangling"}`, each entry with `lines`."""
    found: dict[str, list[dict[str, Any]]] = {"explained": [], "unexplained": [], "dangling": []}
    for key, _, document in context.documents.items() if context.documents else ():
        prefix = f"{key}:" if key else ""
        for entry in _abbreviations(document, prefix):
            found["explained" if entry["meaning"] else "unexplained"].append(entry)
        found["dangling"] += _dangling(document, prefix)
    return {name: entries[:MOST] for name, entries in found.items()}


def _abbreviations(document: Document, prefix: str) -> list[dict[str, Any]]:
    uses: dict[str, list[int]] = {}
    for match in _ABBREVIATION.finditer(document.text):
        uses.setdefault(match[0], []).append(match.start())
    often = {name: places for name, places in uses.items() if len(places) >= FEWEST_USES and not COMMON.fullmatch(name)}
    entries: list[dict[str, Any]] = []
    for name, places in often.items():
        meaning, at = _explanation(document.text, name)
        line = document.line_at(at if meaning else places[0])
        entries.append({"term": name, "uses": len(places), "meaning": meaning, "lines": f"[{prefix}L{line}]"})
    return entries


def _explanation(text: str, name: str) -> tuple[str, int]:
    """How a text explains an abbreviation, and where: `Long Form (LF)`, `**LF**: ...`, `LF is ...`, `LF means ...`."""
    letters = [character for character in name if character.isalpha()]
    initials = r"[\w'’]*(?:[ -](?:of|and|the|for|in|on|to))*[ -]".join(rf"\b{letter}" for letter in letters)
    patterns = (
        rf"({initials}[\w'’]*)\s+\([\"“]?{re.escape(name)}[\"”]?\)",
        rf"(?<![\w&-]){re.escape(name)}\s+\(({initials}[\w'’]*)\)",
        rf"\*\*{re.escape(name)}\*\*:\s+([^\n]+)",
        rf"(?<![\w&-]){re.escape(name)}[\"”]?,?\s+(?:is|are|means|stands for|refers to)\s+([^.\n]+)",
    )
    for number, pattern in enumerate(patterns):
        if found := re.search(pattern, text, re.IGNORECASE if number < 2 else 0):
            return found[1], found.start()
    return "", 0


def _dangling(document: Document, prefix: str) -> list[dict[str, Any]]:
    """References to a numbered thing that no heading, caption or line begins with, where others of its kind exist."""
    there = {(found[1].lower(), found[2]) for line in document.text.split("\n") if (found := _NAMED.match(line))}
    kinds = {kind for kind, _ in there}
    entries: dict[str, dict[str, Any]] = {}
    for found in _REFERENCE.finditer(document.text):
        kind, number = found[1].lower(), found[2]
        if kind in kinds and (kind, number) not in there:
            entries.setdefault(
                found[0], {"reference": found[0], "lines": f"[{prefix}L{document.line_at(found.start())}]"}
            )
    return list(entries.values())
