"""Level 4: what the user is told. Numbers are counted here; words are a model's only where it adds something."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from orchestra.errors import PlanInvalid
from orchestra.planning.routing import again, read_reply, wording_request
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.run.trees.calls import StepOutcome, shown
from orchestra.runtime.node import Node
from orchestra.skills.trees.replies import Wording

MESSAGE_FIELDS = ("user_message", "message", "text", "answer")  # where code skills say what the user is to read
_HOW = {"completed": "was done", "failed": "failed", "skipped": "was not done", "waiting": "waits"}


async def word(run: Run, query: str, steps: Sequence[StepOutcome]) -> Wording:
    """The words for what came of `query`. A call that fails leaves the results as they stand."""
    leaves = _wanted(steps)
    if not needs_words(leaves):
        return as_found(steps)
    node = run.node("synthesis", "synthesis", title="synthesis")
    job = run.scheduler.spawn(_ask(run, node, query, leaves), node)
    await run.scheduler.join([job])
    if job.error is None:
        return job.value
    run.errors.append(job.error)
    return as_found(steps)


def needs_words(leaves: Sequence[StepOutcome]) -> bool:
    """Whether several texts, or data that nobody put into words, are to become one message."""
    done = [leaf for leaf in leaves if leaf.status == "completed"]
    if not done:
        return False
    texts = [leaf for leaf in done if message_of(leaf.output) is not None]
    return len(done) > 1 and not (texts and texts[-1] is done[-1] and isinstance(done[-1].output, Mapping))


def as_found(steps: Sequence[StepOutcome]) -> Wording:
    """The results in code's words: the last one that speaks for itself, else each under its step's name."""
    leaves = _wanted(steps)
    done = [leaf for leaf in leaves if leaf.status == "completed"]
    spoken = [message_of(leaf.output) for leaf in done]
    if done and spoken[-1] is not None:
        message = spoken[-1]
    else:
        message = "\n\n".join(f"**{leaf.skill}**\n{text_of(leaf.output)}" for leaf in done)
    failures = [f"{leaf.skill} {_HOW[leaf.status]}: {leaf.error.what}" for leaf in leaves if leaf.error is not None]
    return Wording(
        summary=f"{len(done)} of {len(leaves)} steps completed: {', '.join(leaf.skill for leaf in done) or 'none'}",
        detailed_results={
            _key(leaf): text_of(leaf.output) if leaf.status == "completed" else _why(leaf) for leaf in leaves
        },
        user_message="\n\n".join(part for part in (message, *failures) if part),
        next_actions=tuple(dict.fromkeys(leaf.error.suggestion for leaf in leaves if leaf.error is not None)),
    )


def message_of(output: Any) -> str | None:
    """The words that an output carries for the user; None where it is bare data."""
    if isinstance(output, str):
        return output
    if isinstance(output, Mapping):
        return next((output[name] for name in MESSAGE_FIELDS if isinstance(output.get(name), str)), None)
    return None


def text_of(output: Any) -> str:
    """An output as text: its words, else as JSON; nothing where there is nothing."""
    if output is None:
        return ""
    words = message_of(output)
    return json.dumps(output, ensure_ascii=False) if words is None else words


def _wanted(steps: Sequence[StepOutcome]) -> list[StepOutcome]:
    """The leaves that were to be done: of what this query did not need, nobody is told."""
    leaves = (leaf for step in steps for leaf in step.leaves)
    return [leaf for leaf in leaves if leaf.is_required or leaf.status != "skipped"]


async def _ask(run: Run, node: Node, query: str, leaves: Sequence[StepOutcome]) -> Wording:
    results = {
        _key(leaf): shown(leaf.output) if leaf.status == "completed" else {"not done": _why(leaf)} for leaf in leaves
    }
    request = wording_request(
        query, results, max_tokens=run.settings.synthesis_max_tokens, temperature=run.settings.temperature
    )
    reply = await ask(run, node, run.synthesizer, request, run.settings.phase_limit_s)
    try:
        return read_reply(reply, Wording)
    except PlanInvalid as error:
        run.warn("PLAN_ASKED_AGAIN", f"{node.id}: {error.what}: {error.cause}", node.id)
        reply = await ask(run, node, run.synthesizer, again(request, reply, error.cause), run.settings.phase_limit_s)
        return read_reply(reply, Wording)


def _key(leaf: StepOutcome) -> str:
    place = leaf.node_id.removeprefix("run/").replace("/", ".") or leaf.name
    return f"{place} {leaf.skill}"


def _why(leaf: StepOutcome) -> str:
    return f"{leaf.error.code}: {leaf.error.what}" if leaf.error is not None else leaf.reason
