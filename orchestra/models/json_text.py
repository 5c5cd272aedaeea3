"""JSON as servers and models write it: fast where it is clean, forgiving where the meaning is plain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import from_json

MOST_OPENINGS = 2_000  # the time that a repair takes grows with their square
DEEPEST = 100  # lists and objects within one another; a result with many more cannot be put on record


def parse_json(text: bytes | str) -> Any:
    """Parsed JSON. Lone surrogates and broken UTF-8 are let through. Raises ValueError on anything else."""
    try:
        return from_json(text)
    except ValueError:
        lenient = text if isinstance(text, str) else text.decode("utf-8", "replace")
    try:
        return json.loads(lenient)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def find_json(text: str, *, is_object: bool = True) -> Any:
    """The JSON in a model's reply: all of it, or what stands in a fence or in prose; None when there is none.

    With `is_object`, an object is wanted, so brackets in the prose before it do not count.
    """
    stripped = text.strip()
    try:
        return parse_json(stripped)
    except ValueError:
        pass
    decoder = json.JSONDecoder()
    openings = "{" if is_object else "{["
    starts = sorted(at for at in (stripped.find(opening) for opening in openings) if at >= 0)
    for start in starts:
        try:
            return decoder.raw_decode(stripped, start)[0]
        except (ValueError, RecursionError):
            continue
    return None


def mend_object(text: str) -> Mapping[str, Any] | None:
    """The object that broken JSON was meant to be (a tool's arguments); None when it is none. "" is {}."""
    if not text.strip():
        return {}
    try:
        parsed = parse_json(text)
    except ValueError:
        try:
            parsed = repaired(text)
        except (ValueError, RecursionError):
            return None
    return parsed if isinstance(parsed, dict) else None


def repaired(text: str) -> Any:
    """What broken JSON was meant to be; "" when it was meant to be nothing. Raises ValueError beyond repair."""
    if text.count("{") + text.count("[") > MOST_OPENINGS:
        raise ValueError(f"the JSON is broken, and holds more than {MOST_OPENINGS:,} objects and lists")
    import json_repair

    return json_repair.loads(text)


def well_formed(value: Any) -> Any:
    """A JSON value, or a copy of it, whose texts hold no lone surrogates.

    Raises ValueError for what is no JSON, or is nested deeper than `DEEPEST`.
    """
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if _is_deeper(value, DEEPEST):
        raise ValueError(f"lists and objects are nested more than {DEEPEST} deep")
    mended = without_lone_surrogates(written)
    return value if mended is written else json.loads(mended)


def _is_deeper(value: Any, levels: int) -> bool:
    level: list[Any] = [value]
    for _ in range(levels + 1):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def without_lone_surrogates(text: str) -> str:
    """Halves of a character that a server sent as two escapes are joined; a half without its other is U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
