"""A question to a person as text: all that his answer is bound to, in a form that its content cannot fake.

What is shown comes from models and documents. It stands behind a bar, wrapped here and not by the terminal, and what a
terminal would obey or hide is spelt out: nothing of it can look like a line of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestra.runtime.questions import Question

BAR = "  │ "
ASKS = {
    "approval": "An approval is asked for",
    "permission": "A permission is asked for, for this call only",
    "ask_user": "A question is asked",
}
_LEAST_WIDTH = 20

# Printable by their category, and shown as nothing
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def question_text(question: Question, *, width: int, edited: Mapping[str, Any] | None = None) -> str:
    """All that an answer binds, in lines of at most `width` columns; `edited` stands in place of what was shown."""
    shown = question.shown if edited is None else edited
    lines = [f"{ASKS[question.kind]}:", *barred(f"{question.node_id}: {question.title}", width)]
    for key, value in shown.items():
        is_changed = edited is not None and value != question.shown.get(key)
        lines += barred(f"{key}{' (edited)' if is_changed else ''}: {_value(value)}", width)
    for number, option in enumerate(question.options, start=1):
        lines += barred(f"[{number}] {option}", width)
    if question.asking > 1:
        lines += barred(f"asked for the {question.asking}. time: earlier answers do not count", width)
    return "\n".join([*lines, *barred(f"digest: {question.digest}", width)])


def barred(text: str, width: int) -> Iterator[str]:
    """`text` line by line behind the bar, none of them longer than `width` columns."""
    room = max(_LEAST_WIDTH, width) - len(BAR) - 1
    for line in visible(text).split("\n"):
        yield from (BAR + piece for piece in _wrapped(line, room))


def visible(text: str) -> str:
    """`text` with everything that a terminal would obey or hide written as `\\u200b`; line feeds stay."""
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    shown = "".join(each if each.isprintable() or each == "\n" else _escape(each) for each in text)
    return _HIDDEN.sub(lambda found: _escape(found[0]), shown)


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    if isinstance(value, list) and all(isinstance(each, str) and "\n" not in each for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, indent=2)


def _wrapped(line: str, room: int) -> Iterator[str]:
    """Pieces of at most `room` columns. What is not ASCII counts as two: terminals differ, and none takes more."""
    start, taken = 0, 0
    for position, character in enumerate(line):
        columns = 1 if character < "\x7f" else 2
        if taken + columns > room:
            yield line[start:position]
            start, taken = position, 0
        taken += columns
    yield line[start:]
