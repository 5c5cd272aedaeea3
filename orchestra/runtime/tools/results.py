"""What a tool gave, as text that a model reads: JSON for what is no text, and never longer than is of use."""

from __future__ import annotations

from typing import Any

from orchestra.document import count_tokens
from orchestra.models.json_text import without_lone_surrogates

MOST_RESULT_TOKENS = 4_000
_CHARACTERS_PER_TOKEN = 16  # more than any text has that is worth reading
MOST_RESULT_CHARACTERS = MOST_RESULT_TOKENS * _CHARACTERS_PER_TOKEN


def result_text(value: Any) -> str:
    """A value as text: as it is, or as JSON; what no JSON holds by its `str`. Never empty."""
    if isinstance(value, str):
        text = value
    elif value is None:
        text = "done"
    elif isinstance(value, bytes | bytearray):
        text = bytes(value).decode("utf-8", "replace")
    else:
        text = _json(value)
    text = without_lone_surrogates(text)
    return text if text.strip() else "(empty)"


def bounded(text: str, most_tokens: int = MOST_RESULT_TOKENS) -> str:
    """The beginning of `text` that keeps within `most_tokens`, with a note on how much was cut, or all of it."""
    if len(text) <= most_tokens or (
        len(text) <= most_tokens * _CHARACTERS_PER_TOKEN and count_tokens(text) <= most_tokens
    ):
        return text
    low, high = 0, min(len(text), most_tokens * _CHARACTERS_PER_TOKEN)
    while high - low > max(1, low // 50):
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= most_tokens else (low, middle - 1)
    kept = text[:low]
    whole_lines = kept.rfind("\n") + 1
    if whole_lines > low // 2:
        kept = kept[:whole_lines]
    return f"{kept}\n[cut: the first {len(kept):,} of {len(text):,} characters are shown]"


def _json(value: Any) -> str:
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(value, fallback=str, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, ValueError, RecursionError, UnicodeError):
        return str(value)
