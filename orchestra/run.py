"""One run: its documents, skills, models and call graph, and the work of each phase."""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from orchestra.document import DocumentSet
from orchestra.errors import (
    AnswerInvalid,
    ContextTooLong,
    InputInvalid,
    ModelReplyInvalid,
    OrchestraError,
    OutputTruncated,
    PlanInvalid,
    RunCancelled,
)
from orchestra.models import resolve_model
from orchestra.models.protocol import Cancellation, Finding, Model, ModelReply, ModelRequest
from orchestra.planning.assemble import DEFAULT_CONTEXT_TOKENS, Assignment, assemble
from orchestra.planning.costs import request_tokens
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import Plan
from orchestra.planning.planner import plan_request, read_plan, repair_request
from orchestra.planning.self_answers import check_self_answers
from orchestra.planning.synthesis import (
    AnswerSchema,
    Draft,
    answer_repair,
    is_synthesis_needed,
    joined,
    read_answer,
    synthesis_request,
)
from orchestra.result import Notice
from orchestra.runtime.calls import CallLimits, ask, context_window, model_name, model_notice
from orchestra.runtime.events import (
    EventStream,
    Listener,
    PlanReady,
    PointerResolved,
    RouteFailed,
    RouteStarted,
    SliceReady,
    Warned,
)
from orchestra.runtime.node import Node, Status
from orchestra.runtime.retry import RetryPolicy
from orchestra.runtime.scheduler import Job, Scheduler
from orchestra.settings import (
    PHASE_TIMEOUT_S,
    REPLY_ROOM,
    SUBTASK_TIMEOUT_S,
    Context,
    ModelChoice,
    PlanChoice,
    Settings,
    Skills,
    is_path_of_a_file,
)
from orchestra.skills import SkillLibrary

log = logging.getLogger("orchestra")

T = TypeVar("T")


@dataclass(slots=True)
class Run:
    """State of one run. Used from one thread; blocking work goes through the scheduler."""

    documents: DocumentSet
    task: str
    library: SkillLibrary
    planner: Model
    worker: Model
    synthesizer: Model
    settings: Settings
    stream: EventStream
    scheduler: Scheduler
    root: Node
    cancellation: Cancellation | None = None
    notices: list[Notice] = field(default_factory=list)
    errors: list[OrchestraError] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    replies: dict[str, ModelReply] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    counted_tokens: int = 0
    reported_tokens: int = 0
    clock: float = field(default_factory=time.monotonic)

    @classmethod
    def prepare(
        cls,
        context: Context,
        task: str,
        skills: Skills | None,
        models: tuple[ModelChoice, ModelChoice, ModelChoice],
        settings: Settings,
        on_event: Listener | None,
        cancellation: Cancellation | None = None,
    ) -> Run:
        """Check and load everything that a run needs, before anything is sent."""
        settings.check()
        if not isinstance(task, str) or not task.strip():
            raise InputInvalid("the task is empty", suggestion="Say what is to be answered.")
        planner, worker, synthesizer = (resolve_model(choice) for choice in models)
        documents = DocumentSet.of(context)
        library = SkillLibrary.of(skills)
        stream = EventStream(on_event, run_id=uuid.uuid4().hex)
        scheduler = Scheduler(stream, max_workers=settings.max_workers)
        task = task.encode("utf-8", "replace").decode()
        return cls(
            documents,
            task,
            library,
            planner,
            worker,
            synthesizer,
            settings,
            stream,
            scheduler,
            Node("run", "run"),
            cancellation,
        )

    def drive(self, story: Coroutine[Any, Any, T]) -> T:
        """Run `story` to its end. An error of it, a defect's included, ends the run with an event and is raised."""
        forget = self.cancellation.on_cancel(self.scheduler.cancel) if self.cancellation else None
        try:
            return self.scheduler.run(story, self.root)
        except OrchestraError as error:
            self._fail(error)
            raise
        finally:
            if forget is not None:
                forget()

    # Start and end

    @property
    def model_names(self) -> dict[str, str]:
        return {
            "plan": model_name(self.planner),
            "subtasks": model_name(self.worker),
            "synthesis": model_name(self.synthesizer),
        }

    def start(self) -> None:
        self.root.start()
        log.info("models: %s", self.model_names)
        self.stream.emit(
            RouteStarted,
            task=self.task,
            models=self.model_names,
            documents=self.documents.names,
            **self.root.snapshot(),
        )
        for name, document in zip(self.documents.names, self.documents, strict=True):
            for warning in document.warnings:
                self.warn("DOCUMENT_MENDED", f"{name}: {warning}")
            if is_path_of_a_file(document.text):
                self.warn(
                    "TEXT_IS_A_PATH", f"the text {document.text.strip()!r} is a file's path; pass a Path to read it"
                )

    def _window(self, model: Model) -> int | None:
        """The model's context window; None, without looking it up, where the documents fit any."""
        return context_window(model) if self.documents.tokens > DEFAULT_CONTEXT_TOKENS else None

    def _fail(self, error: OrchestraError) -> None:
        self.root.end(Status.CANCELLED if isinstance(error, RunCancelled) else Status.FAILED, error)
        self.stream.emit(RouteFailed, **self.root.snapshot())

    def warn(self, code: str, message: str, node_id: str = "") -> None:
        self.notices.append(Notice(code=code, message=message, node_id=node_id))
        self.stream.emit(Warned, code=code, message=message, node_id=node_id)

    # Plan

    async def plan(self) -> Plan:
        """One call; one more if its reply cannot be mended. Raises `PlanInvalid` and what the model raises."""
        node = self._node("plan", "plan", title="plan")
        job = self.scheduler.spawn(self._ask_for_plan(node), node)
        await self.scheduler.join([job])
        return job.value

    async def _ask_for_plan(self, node: Node) -> Plan:
        request = plan_request(self.documents, self.task, self.library, temperature=self.settings.temperature)
        window = self._window(self.planner)
        needed = request_tokens(request) + request.max_tokens if window else 0
        if window and needed > window:
            raise ContextTooLong(
                f"the planner would read {needed:,} tokens; {model_name(self.planner)} can hold {window:,}",
                suggestion="Use a planner_model with a longer context window, or pass fewer documents.",
            )
        reply = await self._ask(node, self.planner, request, PHASE_TIMEOUT_S)
        try:
            plan, notes = read_plan(reply)
        except PlanInvalid as error:
            self.warn("PLAN_ASKED_AGAIN", f"the planner's reply is no valid plan: {error.cause}", node.id)
            reply = await self._ask(node, self.planner, repair_request(request, reply, error), PHASE_TIMEOUT_S)
            plan, notes = read_plan(reply)
        for note in notes:
            self.warn("PLAN_MENDED", note, node.id)
        return plan

    def take_plan(self, given: PlanChoice) -> Plan:
        """A plan that the caller brought: a `Plan`, a dict, or the path of a JSON file."""
        if isinstance(given, str | Path):
            try:
                given = json.loads(Path(given).read_text(encoding="utf-8-sig"))
            except (OSError, ValueError, RecursionError) as error:
                raise InputInvalid(f"the plan {given} could not be read", cause=str(error)) from None
        plan, notes = parse_plan(given)
        for note in notes:
            self.warn("PLAN_MENDED", note)
        return plan

    def check_self_answers(self, plan: Plan) -> Plan:
        """Delegate the self-answers that the document does not bear out, and say which plan goes ahead."""
        plan, demotions = check_self_answers(plan, self.documents)
        for demotion in demotions:
            message = f"the planner's own answer to subtask {demotion.subtask.id} was not taken: {demotion.reason}"
            self.warn("SELF_ANSWER_UNSUPPORTED", message, f"run/subtask-{demotion.subtask.id}")
        self.stream.emit(
            PlanReady,
            plan=plan.model_dump(),
            self_answered=[subtask.id for subtask in plan.self_answered],
            delegated=[subtask.id for subtask in plan.delegated],
        )
        return plan

    # Assemble

    def assemble(self, plan: Plan) -> tuple[Assignment, ...]:
        """The slice and prompt of every delegated subtask; each step of the pointer ladder is an event."""
        window = self._window(self.worker)
        assignments = assemble(
            plan,
            self.documents,
            self.library,
            on_unresolved=self.settings.on_unresolved,
            context_tokens=int(window * REPLY_ROOM) if window else DEFAULT_CONTEXT_TOKENS,
        )
        for assignment in assignments:
            self._report_slice(assignment)
        return assignments

    def _report_slice(self, assignment: Assignment) -> None:
        node_id = f"run/subtask-{assignment.subtask.id}"
        for resolution in assignment.resolutions:
            self.stream.emit(
                PointerResolved,
                node_id=node_id,
                pointer=resolution.pointer,
                rung=resolution.rung,
                ranges=[str(lines) for lines in resolution.ranges],
                notes=resolution.notes,
            )
            for note in resolution.notes:
                self.warn("POINTER_NOTE", f"{resolution.pointer}: {note}", node_id)
        for warning in assignment.warnings:
            self.warn("SKILL_UNKNOWN", warning, node_id)
        if assignment.fallback:
            shown = {"full": "the whole document is sent", "search": "the best parts for its words are sent"}
            self.warn("POINTERS_UNRESOLVED", f"no pointer resolved: {shown[assignment.fallback]}", node_id)
        self.stream.emit(
            SliceReady,
            node_id=node_id,
            ranges=[str(lines) for lines in assignment.slice.line_ranges],
            tokens=assignment.slice.tokens,
            fallback=assignment.fallback,
        )

    # Execute

    async def execute(self, plan: Plan, assignments: Sequence[Assignment], *, streams: bool) -> list[Finding]:
        """Send what is delegated, each subtask as soon as what it depends on is there; findings in plan order."""
        by_id = {assignment.subtask.id: assignment for assignment in assignments}
        streams_answer = streams and len(plan.subtasks) == 1
        findings: dict[str, Finding] = {
            subtask.id: Finding(subtask.id, subtask.task, subtask.answer or "") for subtask in plan.self_answered
        }
        jobs: dict[str, Job[None]] = {}
        for subtask in plan.in_dependency_order():
            if subtask.is_self_answered:
                continue
            assignment = by_id[subtask.id]
            node = self._node(f"subtask-{subtask.id}", "subtask", skill=assignment.skill.name, title=subtask.task)
            work = self._execute_one(node, assignment, findings, streams_answer=streams_answer)
            jobs[subtask.id] = self.scheduler.spawn(
                work, node, [jobs[name] for name in subtask.depends_on if name in jobs]
            )
        await self.scheduler.join(list(jobs.values()))
        for subtask in plan.delegated:
            error = jobs[subtask.id].error
            if error is not None:
                self.errors.append(error)
                findings[subtask.id] = Finding(subtask.id, subtask.task, f"{error.code}: {error.what}", is_missing=True)
        return [findings[subtask.id] for subtask in plan.subtasks]

    async def _execute_one(
        self, node: Node, assignment: Assignment, findings: dict[str, Finding], *, streams_answer: bool
    ) -> None:
        if assignment.error is not None:
            raise assignment.error
        subtask = assignment.subtask
        request = assignment.request(
            max_tokens=self.settings.max_tokens,
            temperature=self.settings.temperature,
            findings=[findings[name] for name in subtask.depends_on],
        )
        reply = await self._ask(node, self.worker, request, SUBTASK_TIMEOUT_S, streams_answer=streams_answer)
        self._check_reply(node, reply)
        findings[subtask.id] = Finding(subtask.id, subtask.task, reply.text.strip())

    def _check_reply(self, node: Node, reply: ModelReply) -> None:
        """Refuse an empty reply; keep one that was cut off, and say so."""
        is_cut = reply.stop_reason == "max_tokens"
        if not reply.text.strip():
            if is_cut:
                raise OutputTruncated(f"{node.id} used up its tokens before it said anything")
            raise ModelReplyInvalid(f"{node.id} got an empty reply", is_retryable=False)
        self.replies[node.id] = reply
        if is_cut:
            error = OutputTruncated(f"the reply of {node.id} was cut off at its token limit")
            self.errors.append(error)
            self.warn(error.code, error.what, node.id)

    # Synthesize

    async def synthesize(
        self, findings: Sequence[Finding], schema: AnswerSchema | None, *, self_answered: int = 0
    ) -> Draft:
        """One answer from the findings, by a call only where a call adds something.

        When that call fails, the findings as they stand are the answer, and the draft carries the error.
        """
        present = [finding for finding in findings if not finding.is_missing]
        if not present:
            return Draft("")
        if not is_synthesis_needed(findings, self_answered, schema):
            return Draft(self._as_found(present))
        node = self._node("synthesis", "synthesis", title="synthesis")
        job = self.scheduler.spawn(self._ask_for_answer(node, findings, schema), node)
        await self.scheduler.join([job])
        if job.error is None:
            return job.value
        self.errors.append(job.error)
        return Draft(self._as_found(present), error=job.error)

    def _as_found(self, findings: Sequence[Finding]) -> str:
        """The findings as the answer, with what the models that gave them say about themselves."""
        text = joined(findings)
        notices = dict.fromkeys((model_notice(self.planner), model_notice(self.worker)))
        return "\n\n".join((text, *(f"*{notice}*" for notice in notices if notice not in text)))

    async def _ask_for_answer(self, node: Node, findings: Sequence[Finding], schema: AnswerSchema | None) -> Draft:
        request = synthesis_request(
            self.task,
            findings,
            max_tokens=self.settings.synthesis_max_tokens,
            temperature=self.settings.temperature,
            schema=schema,
        )
        reply = await self._ask(node, self.synthesizer, request, PHASE_TIMEOUT_S, streams_answer=schema is None)
        self._check_reply(node, reply)
        if schema is None:
            return Draft(reply.text.strip())
        try:
            return Draft(*read_answer(reply, schema))
        except AnswerInvalid as error:
            self.warn("ANSWER_ASKED_AGAIN", f"the answer does not fit the schema: {error.cause}", node.id)
            reply = await self._ask(node, self.synthesizer, answer_repair(request, reply, error), PHASE_TIMEOUT_S)
            return Draft(*read_answer(reply, schema))

    # Nodes and calls

    def _node(self, name: str, kind: str, *, skill: str = "", title: str = "") -> Node:
        node = self.root.child(name, kind, skill=skill, title=title)
        self.nodes[node.id] = node
        return node

    async def _ask(
        self, node: Node, model: Model, request: ModelRequest, default_timeout_s: float, *, streams_answer: bool = False
    ) -> ModelReply:
        limits = CallLimits(self.settings.timeout_s or default_timeout_s, RetryPolicy(self.settings.max_attempts))
        reply = await ask(self.scheduler, node, model, request, limits, streams_answer=streams_answer)
        self.calls[node.id] = self.calls.get(node.id, 0) + 1
        if not reply.usage.is_estimated:
            self.counted_tokens += request_tokens(request)
            self.reported_tokens += reply.usage.total_input_tokens
        return reply

    @property
    def scale(self) -> float:
        """The providers' token count over ours, for what this run sent; 1 where none was reported."""
        return self.reported_tokens / self.counted_tokens if self.counted_tokens else 1.0
