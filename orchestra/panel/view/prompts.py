"""Prompts as a page shows them: bounded, with all that is invisible made visible."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestra.panel.view.visible import one_line, visible

if TYPE_CHECKING:
    from orchestra.prompts import SentPrompt

MOST_CHARACTERS = 200_000  # of one text
MOST_PROMPTS = 30


@dataclass(frozen=True, slots=True)
class TextShown:
    """One text of a prompt under a `name`; `left` characters of it are not shown."""

    name: str
    text: str
    left: int


@dataclass(frozen=True, slots=True)
class PromptShown:
    """One request: `facts` are (name, value), `texts` what was sent, in order."""

    is_proved: bool
    fingerprint: str
    facts: tuple[tuple[str, str], ...]
    texts: tuple[TextShown, ...]


def prompts_shown(sent: Sequence[SentPrompt]) -> list[PromptShown]:
    """Of a node's requests, in order."""
    return [_shown(prompt) for prompt in sent[:MOST_PROMPTS]]


def _shown(prompt: SentPrompt) -> PromptShown:
    facts = {
        "model": one_line(prompt.model, 100),
        "for": one_line(prompt.purpose, 100),
        "tokens": f"about {prompt.tokens:,}, and room for {prompt.max_tokens:,}",
        "tools": one_line(", ".join(tool.name for tool in prompt.tools), 300),
    }
    texts = [_text("system", prompt.system)]
    for message in prompt.messages:
        texts.append(_text(message.role, message.text))
        texts += [_text(f"calls {each.name}", _as_json(each.arguments)) for each in message.tool_calls]
        texts += [_text("tool error" if each.is_error else "tool result", each.text) for each in message.tool_results]
    if prompt.schema is not None:
        texts.append(_text("schema of the reply", _as_json(prompt.schema)))
    return PromptShown(
        prompt.is_proved,
        prompt.fingerprint,
        tuple((name, value) for name, value in facts.items() if value),
        tuple(text for text in texts if text.text),
    )


def _text(name: str, text: str) -> TextShown:
    return TextShown(one_line(name, 100), visible(text[:MOST_CHARACTERS]), max(0, len(text) - MOST_CHARACTERS))


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
