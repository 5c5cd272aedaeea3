"""A run from task to answer, in five phases: plan, assemble, execute, synthesize, report."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from orchestra.configuration import configure
from orchestra.document import DocumentSet, cite
from orchestra.errors import InputInvalid, RunWaiting
from orchestra.models.blocks import Finding
from orchestra.models.deadline import Cancellation
from orchestra.planning.direct import is_direct
from orchestra.planning.history import read_turns
from orchestra.planning.plan import Plan
from orchestra.planning.synthesis import AnswerSchema, Draft, json_schema
from orchestra.reporting import end, report
from orchestra.result import Answer, ErrorReport, Result, StrategyReport, UsageReport
from orchestra.run import Run
from orchestra.run.assembling import assemble
from orchestra.run.direct import answer_with_data
from orchestra.run.execute import execute
from orchestra.run.keeping import Keeping, check_cache, earlier_turns, open_store, resumed, try_store
from orchestra.run.layers.chain import Layers, told_of
from orchestra.run.layers.enhancing import Enhancing
from orchestra.run.layers.gates import pass_gates
from orchestra.run.layers.working import prepare, revise
from orchestra.run.plan import check_self_answers, decide, take_plan
from orchestra.run.request import run_request
from orchestra.run.strategy import strategy_report
from orchestra.run.synthesize import synthesize as join
from orchestra.run.toolbox import tool_names
from orchestra.run.trees.routing import joined_message
from orchestra.runtime.events import Listener
from orchestra.runtime.questions import OnApproval, Question
from orchestra.runtime.tools.given import ToolChoice
from orchestra.runtime.workers import WorkerPool
from orchestra.settings import (
    Context,
    ModelChoice,
    Options,
    PlanChoice,
    Services,
    Skills,
    StoreChoice,
    first_and_fallbacks,
)
from orchestra.skills import SkillLibrary
from orchestra.skills.composition import SkillChain, compose
from orchestra.skills.policy import Policy


def orchestrate(
    context: Context,
    task: str,
    skills: Skills | None = None,
    model: ModelChoice = None,
    *,
    models: Sequence[ModelChoice] | None = None,
    planner_model: ModelChoice = None,
    synthesis_model: ModelChoice = None,
    plan: PlanChoice | None = None,
    answer_schema: AnswerSchema | None = None,
    on_event: Listener | None = None,
    cancellation: Cancellation | None = None,
    pool: WorkerPool | None = None,
    on_approval: OnApproval | None = None,
    tools: Sequence[ToolChoice] = (),
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    store: StoreChoice = None,
    cache: bool | float = False,
    session_id: str = "",
    history: Sequence[tuple[str, str]] = (),
    config: str | Path | None = None,
    **options: Unpack[Options],
) -> Result:
    """Answer `task` over `context`, each subagent seeing only its slice.

    `context`: a text, a `Path`, a `Document`, or a list of these. `skills` are merged over the built-in ones.
    `model`: "provider:name" or any object with `complete`; by default `ORCHESTRA_MODEL`, else the provider whose
    key is set, else the built-in engine, which quotes and does not reason. `plan` skips the planner.
    `answer_schema` (a pydantic model or a JSON schema) also fills `result.data`. `on_event` is called on this thread.

    `options` are the fields of `Settings`, by name. One that is not given is taken from the environment
    (`ORCHESTRA_MAX_WORKERS` for `max_workers`), else from the TOML file that `config` or `ORCHESTRA_CONFIG` names, else
    it is the default. No file is looked for.

    `strategy`: "direct" is one call with everything; "outline" shows the planner an outline and the lines that fit the
    task, `outline_tokens` in all; "full" shows it everything; "auto" takes the cheaper of the first two by a cost
    model. With `is_document_cached`, `direct` asks the provider to keep the document in its prompt cache, and the cost
    model counts on finding it there: for several tasks over one document, soon after one another.

    Of a library that takes more than `catalogue_tokens` (1,500) the planner sees the skills that fit the task best.

    `on_unresolved` says what a subtask sees when none of its pointers is in the document: the best parts for its words
    ("search", the default of "outline"), everything ("full"), or nothing ("error"). A subtask whose slice does not hold
    its answer is asked again, at most `max_followups` times, over what stands beside its slice and what fits best.
    A call that would pass `max_tokens_total` (input and output) or `max_cost_usd` is not made, and what is finished is
    returned. `timeout_s` bounds each attempt of a call: 60 s for a subtask, 300 s for planning and synthesis unless
    given; `timeout_per_skill` ({skill: seconds}) and `retry_on_failure` ({skill: times}) are for a skill's subtasks.

    `models`, in place of `model`: the first is the model, and for a call that finds it overloaded, out of reach or at
    its rate limit the next one stands in; the result says which answered. `max_attempts` caps the attempts of a node
    that fail, whoever makes them: all tries of its calls, those of the models that stand in, and those of `retries`, by
    which a subtask that failed is done again as a whole. Waiting for a rate limit, a worker or a retry is not timed.
    `pool`: a `WorkerPool` that several runs share.

    `on_approval(question)` asks a person, where a skill or a tool needs one, on a thread of its own and as long as he
    takes: it returns a `Decision`, True or False, the words that answer an "ask_user", or None when nobody answered.
    Without an answer nothing goes on: with a store the result is "waiting", else what needed the answer fails.

    `tools` are what skills may call while they work: Python callables (schema from the type hints, text from the
    docstring), `Tool`s, and names of our own verbs ("read_section", "search_document", "read_file", "write_file",
    "ask_user", "request_approval"). A skill has those that its `allowed-tools` name, all that are given here if it
    names none, and none if it is not trusted. `result.subtasks[i].tool_calls` says what was called.

    `policy` says what tools, files, hosts and models the run may use at all: the path of a TOML file, its tables
    `{"allow": {...}, "ask": {...}, "deny": {...}}`, or a `Policy`; see `orchestra.skills.policy`. Without one it is the
    table `permissions` of the configuration's file, else the default policy: the documents and models that are named
    here, the files of skills that are reached, the tools that are registered, and nothing else.

    `store` is where the run is kept, so that `resume(result.run_id)` can go on with it: a path, a URL such as
    "sqlite:///runs.db" or "postgresql://host/name", or an open `Store`; by default what `ORCHESTRA_STORE` says, else
    none; with False, nothing is written whatever it says. `cache` (True, or seconds) uses replies of earlier runs again
    where the same is asked of the same model, with the same skills and documents; they are not billed. `session_id`
    names the session that a run belongs to: what was asked and answered in it before goes along, and then `history`,
    (task, answer) pairs, the oldest first; the newest of it that fits into `history_tokens`.

    Raises `InputInvalid`, `DocumentUnreadable`, `SkillInvalid`, `PolicyInvalid`, and, when there is no plan to go on
    with, `PlanInvalid` or the planner's `ModelError`. What fails later is in the result. Ctrl-C, or `cancellation`,
    gives what is finished.
    """
    configuration = configure(options, config)
    if answer_schema is not None:
        json_schema(answer_schema)
    model, fallbacks = first_and_fallbacks(model, models)
    phase_models = configuration.models(model, planner_model, synthesis_model)
    opened = try_store(store, configuration.store)
    check_cache(cache, opened)
    services = Services(
        on_event,
        cancellation,
        on_approval,
        configuration.policy if policy is None else Policy.of(policy),
        fallbacks=fallbacks,
        pool=pool,
        store=opened.store,
        session_id=session_id,
        history=earlier_turns(opened, session_id, history),
        tools=tools,
        modes=configuration.modes,
        tiers=configuration.tiers,
    )
    run = Run.prepare(context, task, skills, phase_models, configuration.settings, services)
    request = None
    if opened.store is not None:
        request = run_request(
            run,
            phase_models,
            fallbacks,
            plan=plan,
            answer_schema=answer_schema,
            cache=cache,
            tiers=configuration.tiers,
        )
    return _carried_out(run, plan, answer_schema, Keeping.begin(run, opened, request))


def route(
    query: str,
    library: Skills | None = None,
    model: ModelChoice = None,
    *,
    context: Context | None = None,
    **arguments: Any,
) -> Result:
    """Do what `query` asks by trees of skills: those of `library`, or where it has none of its own the shipped ones.

    Code decides which skills, steps and values, and models where it cannot. `result.route` has the summary, each step's
    result, the success rate and what failed; `result.answer` is the message to the user. `context`: documents that the
    skills may use. `arguments`, and what is raised, are those of `orchestrate`.
    """
    documents = DocumentSet(()) if context is None else context
    return orchestrate(documents, query, library, model, strategy="route", **arguments)


def resume(
    run_id: str,
    *,
    store: StoreChoice = None,
    model: ModelChoice = None,
    models: Sequence[ModelChoice] | None = None,
    planner_model: ModelChoice = None,
    synthesis_model: ModelChoice = None,
    skills: Skills | None = None,
    answer_schema: AnswerSchema | None = None,
    on_event: Listener | None = None,
    cancellation: Cancellation | None = None,
    pool: WorkerPool | None = None,
    on_approval: OnApproval | None = None,
    tools: Sequence[ToolChoice] = (),
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    config: str | Path | None = None,
) -> Result:
    """Go on with a run that was interrupted, waits for a person, or has failed in part; `run_id` may be abbreviated.

    What is finished is taken from the store, and counts what it cost; nothing of it is sent or done again. Documents,
    task and settings are those of the run. What a store cannot keep must be passed again: model objects, skills that
    hold code, callables as tools, a pydantic model as schema (else `result.data` is plain JSON). A run that is
    completed gives its result. The policy is that of the run, as far as that of the configuration's file allows it,
    unless another one is given.

    Raises `RunNotFound`, `RunBusy` while another process works on the run, `StoreError`s, and what `orchestrate` does.
    """
    configuration = configure({}, config)
    opened = open_store(store, configuration.store)
    if opened is None:
        raise InputInvalid("there is no store to resume from", suggestion="Pass store=, or set ORCHESTRA_STORE.")
    model, fallbacks = first_and_fallbacks(model, models)
    with resumed(opened, run_id) as going_on:
        if isinstance(going_on, Result):
            return going_on
        request = going_on.request
        services = Services(
            on_event,
            cancellation,
            on_approval,
            request.as_policy(configuration.policy) if policy is None else Policy.of(policy),
            fallbacks=request.as_fallbacks(fallbacks),
            pool=pool,
            store=opened,
            run_id=going_on.record.id,
            session_id=going_on.record.session_id,
            history=request.as_turns(),
            tools=request.as_tools(tools),
            modes=request.modes,
            tiers=request.tiers,
            files=tuple(map(Path, request.files)),
        )
        phase_models = request.as_models((planner_model or model, model, synthesis_model or model))
        own_skills, settings = request.as_skills(skills), request.as_settings()
        run = Run.prepare(going_on.documents, request.task, own_skills, phase_models, settings, services)
        schema = request.answer_schema if answer_schema is None else answer_schema
        return _carried_out(run, request.plan, schema, Keeping.go_on(run, opened, going_on))


def _carried_out(run: Run, plan: PlanChoice | None, schema: AnswerSchema | None, keeping: Keeping) -> Result:
    """The story of a run, told to its store."""
    try:
        result = run.drive(story_of(run, plan, schema))
    except BaseException as error:
        keeping.fail(error)
        raise
    return keeping.end(result)


async def story_of(run: Run, given_plan: PlanChoice | None, schema: AnswerSchema | None) -> Result:
    """The phases of a run, in order."""
    run.start()
    layers = Layers.of(run)
    enhancing = Enhancing(layers)
    try:
        await pass_gates(layers, has_plan=given_plan is not None)
        enhancing.start()
        prepared = await prepare(layers, enhancing)
        plan = await decide(run) if given_plan is None else take_plan(run, given_plan)
    except RunWaiting:
        await enhancing.end(Draft(""))
        return report(run, None, (), (), Draft(""), layers)
    plan = check_self_answers(run, plan)
    assignments = assemble(run, plan)
    if schema is not None and is_direct(plan) and not prepared and not tool_names(run, assignments[0].skill):
        findings, draft = await answer_with_data(run, assignments[0], schema)
    else:
        findings = await execute(run, plan, assignments, streams=schema is None)
        draft = await _joined(run, plan, prepared, findings, schema)
    revised = await revise(layers, enhancing, draft)
    if revised.text != draft.text and schema is not None:
        run.warn("DATA_NOT_REVISED", "the text of the answer was revised; its data are those of the draft")
    await enhancing.end(revised)
    return report(run, plan, assignments, findings, revised, layers)


async def _joined(
    run: Run, plan: Plan, prepared: Sequence[Finding], findings: Sequence[Finding], schema: AnswerSchema | None
) -> Draft:
    """The draft of the answer; empty where the run waits for a person."""
    if run.people.waiting:
        return Draft("")
    if run.settings.strategy == "route" and schema is None:
        return Draft(await joined_message(run, plan, findings))
    return await join(run, [*prepared, *findings], schema, self_answered=len(plan.self_answered))


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

    So is `on_approval`, if it is an `async def`. Cancelling the task that awaits this cancels the run.
    """
    loop = asyncio.get_running_loop()
    cancellation = options.pop("cancellation", None) or Cancellation()
    on_approval: Any = options.get("on_approval")
    asked: list[Future[Any]] = []
    is_over = threading.Event()

    def ask(question: Question) -> Any:
        answer = asyncio.run_coroutine_threadsafe(on_approval(question), loop)
        asked.append(answer)
        if is_over.is_set():
            answer.cancel()
        return answer.result()

    if inspect.iscoroutinefunction(on_approval):
        options["on_approval"] = ask
    listener = None if on_event is None else partial(loop.call_soon_threadsafe, on_event)
    try:
        return await asyncio.to_thread(
            orchestrate, context, task, skills, model, on_event=listener, cancellation=cancellation, **options
        )
    except asyncio.CancelledError:
        cancellation.cancel()
        raise
    finally:
        is_over.set()
        for answer in asked:
            answer.cancel()


def compose_skills(
    task: str,
    mode: str = "standard",
    library: Skills | None = None,
    *,
    documents: Context | None = None,
    modes: Mapping[str, Sequence[str]] | None = None,
) -> SkillChain:
    """Which skills stand around `task`, layer by layer, and why; nothing is run. `modes` are compositions of your own.

    Raises `InputInvalid` for a mode that does not exist, `SkillNotFound`, `SkillInvalid`, `CallCycleDetected`.
    """
    manifests = SkillLibrary.of(library).manifests.values()
    told = [] if documents is None else told_of(DocumentSet.of(documents))
    return compose(task, mode, manifests, documents=told, own_modes=modes)


def make_plan(
    context: Context,
    task: str,
    skills: Skills | None = None,
    model: ModelChoice = None,
    *,
    on_event: Listener | None = None,
    config: str | Path | None = None,
    **options: Unpack[Options],
) -> Plan:
    """The planning phase alone, behind the gates, its self-answers checked: no call by `direct`.

    Raises as `orchestrate` does.
    """
    configuration = configure(options, config)
    models = configuration.models(model)
    services = Services(on_event, policy=configuration.policy, modes=configuration.modes, tiers=configuration.tiers)
    run = Run.prepare(context, task, skills, models, configuration.settings, services)

    async def story() -> Plan:
        run.start()
        await pass_gates(Layers.of(run), has_plan=False)
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
    history: Sequence[tuple[str, str]] = (),
    config: str | Path | None = None,
    **options: Unpack[Options],
) -> StrategyReport:
    """What each strategy is expected to cost, and which one a run would take. Nothing is sent.

    `history`: what was asked and answered before, (task, answer) pairs, as for `orchestrate`.
    """
    configuration = configure(options, config)
    models = configuration.models(model, planner_model)
    services = Services(history=read_turns(history))
    return strategy_report(Run.prepare(context, task, skills, models, configuration.settings, services))


def synthesize(
    context: Context,
    task: str,
    findings: Sequence[Finding],
    model: ModelChoice = None,
    *,
    answer_schema: AnswerSchema | None = None,
    on_event: Listener | None = None,
    config: str | Path | None = None,
    **options: Unpack[Options],
) -> Answer:
    """The last phase alone: findings to one answer, its citations judged against `context`.

    `max_tokens` bounds the answer, as `synthesis_max_tokens` does.
    """
    if not findings:
        raise InputInvalid("there are no findings to join")
    if answer_schema is not None:
        json_schema(answer_schema)
    if "max_tokens" in options:
        options.setdefault("synthesis_max_tokens", options["max_tokens"])
    configuration = configure(options, config)
    models = configuration.models(model)
    run = Run.prepare(
        context, task, None, models, configuration.settings, Services(on_event, policy=configuration.policy)
    )

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
