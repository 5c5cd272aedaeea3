"""The findings of a review as a message, the gravest first: what the document says is cited, what was computed not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestra.skills.code import CodeContext

TITLES = {
    "total": "Totals that do not add up",
    "contradiction": "Figures that contradict each other",
    "change": "Changes that do not follow from their own numbers",
    "unsupported": "Figures that no table bears out",
}
LONGEST_MEANING = 120  # characters


def summary(context: CodeContext) -> dict[str, Any]:
    """`{"findings", "user_message"}` of the steps before it, as far as they are done."""
    figures: Mapping[str, Any] = context.outputs["figure-checks"]
    ready: Mapping[str, Any] = context.outputs["report-ready"]
    terms: Mapping[str, Any] = context.outputs.get("terms-and-references") or {}
    findings: Sequence[Mapping[str, str]] = figures["findings"]
    parts = [_head(findings, figures["checked"])]
    for kind, title in TITLES.items():
        parts += _part(
            title,
            [f"- {each['claim']} {each['lines']}. {each['problem']}." for each in findings if each["kind"] == kind],
        )
    parts += _part("Sections without text", [f"- {note}" for note in ready["notes"]])
    parts += _part(
        "References that lead nowhere", [f"- {each['reference']} {each['lines']}" for each in terms.get("dangling", ())]
    )
    parts += _part(
        "Abbreviations that nothing explains",
        [f"- {each['term']} {each['lines']}, used {each['uses']} times" for each in terms.get("unexplained", ())],
    )
    parts += _part("Glossary", [_entry(each) for each in terms.get("explained", ())])
    if not terms:
        parts.append("\nTerms and references were not looked at.")
    return {"findings": list(findings), "user_message": "\n".join(parts)}


def _head(findings: Sequence[Mapping[str, str]], checked: Mapping[str, int]) -> str:
    count = _counted(len(findings), "finding")
    if not any(checked.values()):
        return f"# Review: {count}\n\nNo table, and no sentence that states a change, was there to be checked."
    unclear = checked["unclear_totals"]
    left = f" Left unjudged: {_counted(unclear, 'total')} that could not be followed." if unclear else ""
    totals = f"{_counted(checked['tables'], 'table')} with {_counted(checked['totals'], 'total')}"
    rows = f"{_counted(checked['compared_rows'], 'pair')} of rows of the same name"
    changes = _counted(checked["stated_changes"], "stated change")
    return f"# Review: {count}\n\nChecked: {totals}, {rows}, {changes}.{left}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _part(title: str, lines: Sequence[str]) -> list[str]:
    return [f"\n## {title}", *lines] if lines else []


def _entry(term: Mapping[str, Any]) -> str:
    meaning = str(term["meaning"]).rstrip(".")
    if len(meaning) > LONGEST_MEANING:
        meaning = meaning[: LONGEST_MEANING - 1].rsplit(" ", 1)[0] + "…"
    return f"- {term['term']}: {meaning} {term['lines']}"
