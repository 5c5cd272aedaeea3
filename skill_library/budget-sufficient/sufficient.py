"""Whether a budget is enough to begin at all."""

from __future__ import annotations

from typing import Any

from orchestra.skills.code import CodeContext


def sufficient(context: CodeContext) -> dict[str, Any]:
    """`{"ok": ..., "reason": ...}`: false where not even the cheapest way's first call fits."""
    limit, least = context.limits.get("max_tokens_total"), context.limits.get("least_tokens")
    if limit is None or least is None or least <= limit:
        return {"ok": True, "reason": ""}
    return {
        "ok": False,
        "reason": f"the first call takes at least {least:,} tokens, and {limit:,} are the most that may be spent",
    }
