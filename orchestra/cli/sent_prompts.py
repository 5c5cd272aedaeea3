"""The prompts of one node of a run, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orchestra.cli.terminal import clean, one_line
from orchestra.errors import InputInvalid

if TYPE_CHECKING:
    from orchestra.run.prompts import SentMessage, SentPrompt
    from orchestra.store import Store


def prompts_of_node(store: Store, run_id: str, node_id: str) -> tuple[SentPrompt, ...]:
    """What a node sent; `run/` may be left out of its id. Raises `InputInvalid` for one that sent nothing."""
    from orchestra.prompts import prompts_of

    prompts = prompts_of(run_id, store=store)
    found = prompts.get(node_id) or prompts.get(f"run/{node_id}")
    if not found:
        known = ", ".join(prompts)
        raise InputInvalid(
            f"nothing is known of what node {node_id} sent",
            cause=f"requests were sent by {known}" if known else "the run has sent nothing",
        )
    return found


def text_of(prompt: SentPrompt) -> str:
    """A prompt as it was sent, each turn under a line that says whose it is."""
    held = "proved by its hash" if prompt.is_proved else "rebuilt, not proved: its hash is not on record"
    lines = [
        f"node       {one_line(prompt.node_id)}",
        f"model      {one_line(prompt.model)}",
        f"tokens     {prompt.tokens:,}, counted here",
        f"sha-256    {prompt.fingerprint}",
        f"           {held}",
    ]
    if prompt.tools:
        lines.append(f"tools      {one_line(', '.join(tool.name for tool in prompt.tools))}")
    if prompt.schema is not None:
        lines.append(f"schema     {one_line(json.dumps(prompt.schema))}")
    if prompt.system:
        lines += ["", "--- system", clean(prompt.system)]
    for message in prompt.messages:
        lines += ["", *_turn(message)]
    return "\n".join(lines)


def _turn(message: SentMessage) -> Iterator[str]:
    yield f"--- {message.role}"
    if message.text:
        yield clean(message.text)
    for call in message.tool_calls:
        yield f"calls {one_line(call.name)} {one_line(json.dumps(dict(call.arguments)))}"
    for result in message.tool_results:
        yield f"was given{' an error' if result.is_error else ''}: {clean(result.text)}"
