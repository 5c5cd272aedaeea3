"""Values of parameters that literally stand in a query: what a schema lists, and nothing that is to be guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

SURE = 0.8  # a word that a schema lists stands in the query once, and no other one of the list


def resolve_values(query: str, schemas: Mapping[str, Any]) -> dict[str, Any]:
    """A resolution. A parameter has a value where exactly one of its schema's `enum` is a word of the query."""
    found = {name: value for name, schema in schemas.items() if (value := _literal(query, schema)) is not None}
    return {
        "parameters": found,
        "resolution_method": dict.fromkeys(found, "from_user_query"),
        "confidence": SURE if found else 0.0,
        "missing_required": [name for name in schemas if name not in found],
        "clarifying_question": "",
    }


def _literal(query: str, schema: Any) -> str | None:
    listed = cast("Any", schema.get("enum")) if isinstance(schema, Mapping) else None
    if not isinstance(listed, list):
        return None
    texts = (each for each in cast("list[Any]", listed) if isinstance(each, str) and each.strip())
    standing = [each for each in texts if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", query, re.IGNORECASE)]
    return standing[0] if len(standing) == 1 else None
