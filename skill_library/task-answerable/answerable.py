"""Whether the documents that a task names by file are those that were given."""

from __future__ import annotations

import re
from typing import Any

from orchestra.skills.code import CodeContext

FILE_NAME = re.compile(r"[\w][\w.-]*\.(?:pdf|docx|md|markdown|txt|html?)\b", re.IGNORECASE)


def answerable(context: CodeContext) -> dict[str, Any]:
    """`{"ok": ..., "reason": ...}`."""
    given = {name.lower() for name in context.documents.names} if context.documents else set()
    missing = [name for name in FILE_NAME.findall(context.query) if name.lower() not in given]
    if not missing or not given:
        return {"ok": True, "reason": ""}
    return {
        "ok": False,
        "reason": f"the task names {', '.join(dict.fromkeys(missing))}; given is {', '.join(sorted(given))}",
    }
