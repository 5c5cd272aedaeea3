"""A run from task to answer, in five phases: plan, assemble, execute, synthesize, report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from orchestra.document import cite
from orchestra.errors import InputInvalid
from orchestra.models.protocol import Cancellation, Finding
from orchestra.planning.assemble import OnUnresolved
from orchestra.planning.direct import is_direct
from orchestra.planning.outline_planner import OUTLINE_TOKENS
from orchestra.planning.plan import Plan
from orchestra.planning.strategy import StrategyChoice
from orchestra.planning.synthesis import AnswerSchema, json_schema
from orchestra.reporting import end, report
from orchestra.result import Answer, ErrorReport, Result, StrategyReport, UsageReport
from orchestra.run import Run
from orchestra.run.assembling import assemble
from orchestra.run.direct import answer_with_data
from orchestra.run.execute import execute
from orchestra.run.plan import check_self_answers, decide, take_plan
from orchestra.run.strategy import strategy_report
from orchestra.run.synthesize import synthesize as join
from orchestra.runtime.events import Listener
from orchestra.settings import Context, ModelChoice, PlanChoice, Services, Settings, Skills


def orchestrate(
    context: Context,
    task: str,
    skills: Skills | None = None,
    model: ModelChoice = None,
    *,
    planner_model: ModelChoice = None,
    synthesis_model: ModelChoice = None,
    max_workers: int = 5,
    max_tokens: int = 2048,
    synthesis_max_tokens: int = 4096,
    temperature: float | None = 0.3,
    plan: PlanChoice | None = None,
    answer_schema: AnswerSchema | None = None,
    on_event: Listener | None = None,
    strategy: StrategyChoice = "auto",
    outline_tokens: int = OUTLINE_TOKENS,
    is_document_cached: bool = False,
    max_followups: int = 1,
    max_tokens_total: int | None = None,
    max_cost_usd: float | None = None,
    on_unresolved: OnUnresolved | None = None,
    timeout_s: float | None = None,
    max_attempts: int = 3,
    cancellation: Cancellation | None = None,
) -> Result:
    """Answer `task` over `context`, each subagent seeing only its slice.

    `context`: a text, a `Path`, a `Document`, or a list of these. `skills` are merged over the built-in ones.
    `model`: "provider:name" or any object with `complete`; by default `ORCHESTRA_MODEL`, else the provider whose
    key is set, else the built-in engine, which quotes and does not reason. `plan` skips the planner.
    `answer_schema` (a pydantic model or a JSON schema) also fills `result.data`.

    `strategy`: "direct" is one call with everything; "outline" shows the planner an outline and the lines that fit the
    task, `outline_tokens` in all; "full" shows it everything; "auto" takes the cheaper of the first two by a cost
    model. With `is_document_cached`, `direct` asks the provider to keep the document in its prompt cache, and the cost
    model counts on finding it there: for several tasks over one document, soon after one another.

    `on_unresolved` says what a subtask sees when none of its pointers is in the document: the best parts for its words
    ("search", the default of "outline"), everything ("full"), or nothing ("error"). A subtask whose slice does not hold
    its answer is asked again, at most `max_followups` times, over what stands beside its slice and what fits best.
    A call that would pass `max_tokens_total` (input and output) or `max_cost_usd` is not made, and what is finished is
    returned. `timeout_s` bounds each attempt of a call: 60 s for a subtask, 300 s for planning and synthesis unless
    given. `on_event` is called on this thread.

    Raises `InputInvalid`, `DocumentUnreadable`, `SkillInvalid`, and, when there is no plan to go on with,
    `PlanInvalid` or the planner's `ModelError`. What fails later is in the result. Ctrl-C, or `cancellation`,
    gives what is finished.
    """
    settings = Settings(
        max_workers=max_workers,
        max_tokens=max_tokens,
        synthesis_max_tokens=synthesis_max_tokens,
        temperature=temperature,
        on_unresolved=on_unresolved,
        timeout_s=timeout_s,
        max_attempts=max_attempts,
        strategy=strategy,
        outline_tokens=outline_tokens,
        is_document_cached=is_document_cached,
        max_followups=max_followups,
        max_tokens_total=max_tokens_total,
        max_cost_usd=max_cost_usd,
    )
    if answer_schema is not None:
        json_schema(answer_schema)
    models = (planner_model or model, model, synthesis_model or model)
    run = Run.prepare(context, task, skills, models, settings, Services(on_event, cancellation))
    return run.drive(_story(run, plan, answer_schema))


async def _story(run: Run, given_plan: PlanChoice | None, schema: AnswerSchema | None) -> Result:
    """The phases of a run, in order."""
    run.start()
    plan = await decide(run) if given_plan is None else take_plan(run, given_plan)
    plan = check_self_answers(run, plan)
    assignments = assemble(run, plan)
    if schema is not None and is_direct(plan):
        findings, draft = await answer_with_data(run, assignments[0], schema)
        return report(run, plan, assignments, findings, draft)
    findings = await execute(run, plan, assignments, streams=schema is None)
    draft = await join(run, findings, schema, self_answered=len(plan.self_answered))
    return report(run, plan, assignments, findings, draft)


async def orchestrate_async(
    context: Context,
    task: str,
    skills: Skills | None = None,
    model: ModelChoice = None,
    *,
    on_event: Listener | None = None,
    **options: Any,
) -> Result:
    """`orchestrate` for asyncio callers: same arguments. `on_event` is called on the event loop.

    Cancelling the task that awaits this cancels the run.
    """
    loop = asyncio.get_running_loop()
    cancellation = options.pop("cancellation", None) or Cancellation()

    listener = None if on_event is None else partial(loop.call_soon_threadsafe, on_event)
    try:
        return await asyncio.to_thread(
            orchestrate, context, task, skills, model, on_event=listener, cancellation=cancellation, **options
        )
    except asyncio.CancelledError:
        cancellation.cancel()
        raise


def make_plan(
    context: Context,
    task: str,
    skills: Skills | None = None,
    model: ModelChoice = None,
    *,
    strategy: StrategyChoice = "auto",
    outline_tokens: int = OUTLINE_TOKENS,
    is_document_cached: bool = False,
    temperature: float | None = 0.3,
    on_event: Listener | None = None,
    timeout_s: float | None = None,
    max_attempts: int = 3,
) -> Plan:
    """The planning phase alone, its self-answers checked: no call by `direct`. Raises as `orchestrate` does."""
    settings = Settings(
        temperature=temperature,
        timeout_s=timeout_s,
        max_attempts=max_attempts,
        strategy=strategy,
        outline_tokens=outline_tokens,
        is_document_cached=is_document_cached,
    )
    run = Run.prepare(context, task, skills, (model, model, model), settings, Services(on_event))

    async def story() -> Plan:
        run.start()
        plan = check_self_answers(run, await decide(run))
        end(run, "completed")
        return plan

    return run.drive(story())


def compare_strategies(
    context: Context,
    task: str,
    skills: Skills | None = None,
    model: ModelChoice = None,
    *,
    planner_model: ModelChoice = None,
    strategy: StrategyChoice = "auto",
    outline_tokens: int = OUTLINE_TOKENS,
    is_document_cached: bool = False,
) -> StrategyReport:
    """What each strategy is expected to cost, and which one a run would take. Nothing is sent."""
    settings = Settings(strategy=strategy, outline_tokens=outline_tokens, is_document_cached=is_document_cached)
    models = (planner_model or model, model, model)
    return strategy_report(Run.prepare(context, task, skills, models, settings, Services()))


def synthesize(
    context: Context,
    task: str,
    findings: Sequence[Finding],
    model: ModelChoice = None,
    *,
    max_tokens: int = 4096,
    temperature: float | None = 0.3,
    answer_schema: AnswerSchema | None = None,
    on_event: Listener | None = None,
    timeout_s: float | None = None,
    max_attempts: int = 3,
) -> Answer:
    """The last phase alone: findings to one answer, its citations judged against `context`."""
    if not findings:
        raise InputInvalid("there are no findings to join")
    if answer_schema is not None:
        json_schema(answer_schema)
    settings = Settings(
        synthesis_max_tokens=max_tokens, temperature=temperature, timeout_s=timeout_s, max_attempts=max_attempts
    )
    run = Run.prepare(context, task, None, (model, model, model), settings, Services(on_event))

    async def story() -> Answer:
        draft = await join(run, findings, answer_schema)
        text, citations = cite(draft.text, run.documents)
        node = run.nodes.get("run/synthesis")
        name = run.model_names["synthesis"]
        return Answer(
            text=text,
            citations=citations,
            data=draft.data,
            usage=UsageReport.of(name, node.usage) if node and node.usage else UsageReport(model=name),
            error=ErrorReport.of(draft.error) if draft.error else None,
        )

    return run.drive(story())
