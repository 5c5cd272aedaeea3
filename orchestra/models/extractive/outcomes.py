"""What came of the steps of a route, joined as it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestra.models.extractive.notice import with_notice, without_notice


def word_outcomes(results: Mapping[str, Any]) -> dict[str, Any]:
    """A wording: texts as they are, data as JSON, and the reason of each step that was not done."""
    undone = {name: str(value["not done"]) for name, value in results.items() if _is_undone(value)}
    done = {name: _text(value) for name, value in results.items() if name not in undone}
    blocks = [f"**{_skill(name)}**\n{text}" for name, text in done.items()] if len(done) > 1 else list(done.values())
    blocks += [f"{_skill(name)} was not done: {reason}" for name, reason in undone.items()]
    return {
        "summary": f"{len(done)} of {len(results)} steps gave a result.",
        "detailed_results": {name: done.get(name, undone.get(name, "")) for name in results},
        "user_message": with_notice("\n\n".join(blocks)),
        "next_actions": [],
    }


def _is_undone(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"not done"}  # pyright: ignore[reportUnknownArgumentType]


def _text(value: Any) -> str:
    return without_notice(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _skill(name: str) -> str:
    """The last word of a step's name."""
    return name.rpartition(" ")[2]
