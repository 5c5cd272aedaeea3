"""Whether the documents that a task names by file are those that were given."""

from __future__ import annotations

import re
from typing import Any

from orchestra.skills.code import CodeContext

FILE_NAME = re.compile(r"(?<![\w.-])\w[\w.-]{0,200}\.(?:pdf|docx|md|markdown|txt|html?)\b", re.IGNORECASE)


def answerable(context: CodeContext) -> dict[str, Any]:
    """`{"ok": ..., "reason": ...}`."""
    given = sorted({name.lower() for name in context.documents.names}) if context.documents else []
    query = context.query
    for name in given:  # it may have blanks
        query = re.sub(rf"(?<![\w.-]){re.escape(name)}(?!\w)", " ", query, flags=re.IGNORECASE)
    missing = FILE_NAME.findall(query)
    if not missing or not given:
        return {"ok": True, "reason": ""}
    return {
        "ok": False,
        "reason": f"the task names {', '.join(dict.fromkeys(missing))}; given is {', '.join(given)}",
    }
