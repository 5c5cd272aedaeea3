"""The execution layer around the answer: one skill at a time, each seeing what came before it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestra.errors import OrchestraError, RunCancelled, RunWaiting
from orchestra.models.blocks import Finding
from orchestra.planning.synthesis import Draft
from orchestra.run.layers.chain import LayerOutcome, Layers
from orchestra.run.layers.enhancing import Enhancing
from orchestra.run.trees.wording import text_of
from orchestra.skills.composition import ChainStep

MOST_RETRIES = 2  # three tries in all


async def prepare(layers: Layers, enhancing: Enhancing) -> list[Finding]:
    """The execution skills before the answer; what they found goes into it.

    Raises what one fails with that blocks; the run goes on without one that does not, and is partial.
    """
    before, _ = layers.around_answer()
    found: list[Finding] = []
    for step in before:
        try:
            output = await _perform(layers, step, enhancing.wait_for)
        except (RunCancelled, RunWaiting):
            raise
        except OrchestraError as error:
            if step.is_blocking:
                raise
            layers.run.errors.append(error)
            continue
        found.append(Finding(step.skill, layers.run.task, text_of(output)))
    return found


async def revise(layers: Layers, enhancing: Enhancing, draft: Draft) -> Draft:
    """The execution skills after the answer. One whose output has an `answer` puts it in place of the draft.

    Where one fails, the draft stands, and if it blocks, what comes after is not done. Where one waits for a person,
    there is no answer yet.
    """
    _, after = layers.around_answer()
    layers.answer = draft.text
    if not draft.text:
        return draft
    for number, step in enumerate(after, start=1):
        try:
            output = await _perform(layers, step, enhancing.wait_for_after_answer)
        except RunWaiting:
            return Draft("")
        except OrchestraError as error:
            layers.run.errors.append(error)
            if step.is_blocking or isinstance(error, RunCancelled):
                _leave_out(layers, after[number:], f"{step.skill} failed before it")
                break
            continue
        revised = output.get("answer") if isinstance(output, Mapping) else None
        if isinstance(revised, str) and revised.strip():
            draft = replace(draft, text=revised.strip())
            layers.answer = draft.text
    return draft


def _leave_out(layers: Layers, steps: Sequence[ChainStep], reason: str) -> None:
    for step in steps:
        layers.outcomes[step.skill] = LayerOutcome(step.skill, "execution", "skipped", reason=reason)


async def _perform(layers: Layers, step: ChainStep, wait_for: Callable[[Sequence[str]], Awaitable[None]]) -> Any:
    run, node = layers.run, layers.node_of(step)

    async def work() -> Any:
        await wait_for(step.waits_for)
        return await layers.perform(step, node, retries=MOST_RETRIES)

    job = run.scheduler.spawn(work(), node)
    await run.scheduler.join([job])
    error = job.error
    if isinstance(error, RunWaiting):
        layers.outcomes[step.skill] = LayerOutcome(step.skill, "execution", "waiting", node, reason=error.what)
        raise error
    status = "completed" if error is None else "failed" if step.is_blocking else "degraded"
    output = job.result if error is None else None
    reason = "" if error is None else error.what
    layers.outcomes[step.skill] = LayerOutcome(step.skill, "execution", status, node, output, reason, error)
    return job.value
