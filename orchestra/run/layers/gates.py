"""The guarantee layer: gates that hold before anything is sent for the task itself."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from orchestra.errors import GateFailed, OrchestraError, RunCancelled, RunWaiting, SkillNotFound
from orchestra.run.layers.chain import LayerOutcome, Layers, verdict_of
from orchestra.run.skills_in_use import load
from orchestra.run.state import Run
from orchestra.run.strategy import sizes
from orchestra.runtime.node import Node
from orchestra.skills.code import CodeContext, call_code
from orchestra.skills.composition import ChainStep
from orchestra.skills.manifest import Manifest


async def pass_gates(layers: Layers, *, has_plan: bool) -> None:
    """Try every guarantee, each after those that it depends on. Raises `GateFailed` for one that blocks.

    One that does not block degrades the run, which says so.
    """
    run = layers.run
    run.limits = {"max_tokens_total": run.settings.max_tokens_total, "max_cost_usd": run.settings.max_cost_usd}
    if run.settings.max_tokens_total is not None and run.settings.strategy != "route" and not has_plan:
        run.limits = {**run.limits, "least_tokens": least_tokens(run)}
    for step in layers.steps("guarantee"):
        reason, error = await _try(layers, step)
        if not reason:
            continue
        if step.is_blocking:
            suggestion = error.suggestion if error is not None else ""
            raise GateFailed(f"{step.skill}: {reason}", cause=step.reason, suggestion=suggestion)
        layers.run.warn("GATE_DEGRADED", f"{step.skill}: {reason}", f"run/gate-{step.skill}")


def least_tokens(run: Run) -> int:
    """Input tokens of the cheapest first call that the run may make."""
    known = sizes(run)
    ways = {"direct": known.direct, "full": known.full, "outline": known.outline}
    return ways.get(run.settings.strategy) or min(known.direct, known.outline)


async def _try(layers: Layers, step: ChainStep) -> tuple[str, OrchestraError | None]:
    """Why a gate does not hold; empty when it does."""
    run, node = layers.run, layers.node_of(step)
    ours = layers.shipped_code(step)

    async def work() -> None:
        output = await layers.perform(step, node) if ours is None else await _looked(run, ours, node)
        holds, reason = verdict_of(output)
        status = "completed" if holds else "failed" if step.is_blocking else "degraded"
        layers.outcomes[step.skill] = LayerOutcome(step.skill, "guarantee", status, node, output, reason)
        if not holds and step.is_blocking:
            raise GateFailed(reason)

    error = await (_by_itself(run, work(), node) if ours is None else run.scheduler.within(work(), node))
    if isinstance(error, RunWaiting):
        layers.outcomes[step.skill] = LayerOutcome(step.skill, "guarantee", "waiting", node, reason=error.what)
    if isinstance(error, RunWaiting | RunCancelled):
        raise error
    if error is not None and step.skill not in layers.outcomes:
        status = "failed" if step.is_blocking else "degraded"
        layers.outcomes[step.skill] = LayerOutcome(
            step.skill, "guarantee", status, node, reason=error.what, error=error
        )
    return layers.outcomes[step.skill].reason if layers.outcomes[step.skill].status != "completed" else "", error


async def _by_itself(run: Run, work: Coroutine[Any, Any, None], node: Node) -> OrchestraError | None:
    job = run.scheduler.spawn(work, node)
    await run.scheduler.join([job])
    return job.error


async def _looked(run: Run, gate: Manifest, node: Node) -> Any:
    """What a gate of ours says. It takes no time, asks nobody, and has neither parameters nor steps."""
    skill = await load(run, gate, node)
    if skill.function is None:
        raise SkillNotFound(f"{skill.name} has no code")
    documents = run.documents if len(run.documents) else None
    context = CodeContext(run.task, documents, run.settings.mode, limits=run.limits)
    return call_code(skill.function, {}, context)
