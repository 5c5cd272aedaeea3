"""One run: its documents, skills, models and call graph."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from orchestra.document import DocumentSet, Slice
from orchestra.errors import (
    InputInvalid,
    OrchestraError,
    RunCancelled,
    RunWaiting,
)
from orchestra.models import resolve_model
from orchestra.models.deadline import Cancellation
from orchestra.models.protocol import Model, ModelReply, ModelRequest, Usage
from orchestra.planning.assemble import OnUnresolved
from orchestra.planning.history import Turn, newest
from orchestra.result import Notice, StrategyReport
from orchestra.run.cache import ReplyCache
from orchestra.run.journal import Journal, NoJournal
from orchestra.run.loading import load_documents
from orchestra.run.people import People
from orchestra.run.permits import Permits, files_of
from orchestra.run.skills_in_use import SkillsInUse, tell
from orchestra.run.spending import budget_of
from orchestra.runtime.budget import Budget
from orchestra.runtime.calls import model_name
from orchestra.runtime.events import (
    EventStream,
    PermissionsNarrowed,
    RouteCompleted,
    RouteFailed,
    RouteStarted,
    Warned,
)
from orchestra.runtime.logs import log_listener
from orchestra.runtime.node import Node, Status
from orchestra.runtime.prefixes import Prefixes, sent_prefixes
from orchestra.runtime.scheduler import Milestone, Scheduler
from orchestra.runtime.telemetry import Telemetry, telemetry
from orchestra.runtime.tools.given import CalledTool, GivenTools
from orchestra.runtime.workers import WorkerPool
from orchestra.settings import (
    Context,
    ModelChoice,
    Services,
    Settings,
    Skills,
    is_path_of_a_file,
)
from orchestra.skills import SkillLibrary

if TYPE_CHECKING:
    from orchestra.run.trees.calls import StepOutcome
    from orchestra.skills.trees.replies import Wording
    from orchestra.store import Store

T = TypeVar("T")


@dataclass(slots=True)
class Run:
    """State of one run. Used from one thread; blocking work goes through the scheduler.

    `followups` holds what each subtask was shown beside its slice, `insufficient` what it did not find all the same,
    `edited_tasks` a person's words in place of its task, all by the subtask's id. `reads_in_parts`: every subtask has a
    part of the documents, and none is followed up.
    `tools` are those that the caller gave, `tool_calls` what the models called of them, by the id of the calling node.
    `steps` holds what became of a composite's steps, `called` of what a code skill called, by the id of its node.
    `merged` names the subtasks that go with each in one call; `writing` holds, by their keys, the prompt prefixes that
    a call of this run is the first to send. `fallbacks` stand in, in this order, where a phase's model is overloaded,
    out of reach or at its limit; `stand_ins` holds the calls that they were billed for, by node. `on_request` hears
    each request before it is looked up or sent.
    """

    documents: DocumentSet
    task: str
    library: SkillsInUse
    planner: Model
    worker: Model
    synthesizer: Model
    settings: Settings
    stream: EventStream
    scheduler: Scheduler
    root: Node
    permits: Permits
    cancellation: Cancellation | None = None
    fallbacks: tuple[Model, ...] = ()
    strategy: StrategyReport | None = None
    outline_request: ModelRequest | None = None
    joining_skill: str = ""
    notices: list[Notice] = field(default_factory=list)
    errors: list[OrchestraError] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    replies: dict[str, ModelReply] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    stand_ins: dict[str, list[tuple[Model, Usage]]] = field(default_factory=dict)
    followups: dict[str, list[Slice]] = field(default_factory=dict)
    insufficient: dict[str, str] = field(default_factory=dict)
    reads_in_parts: bool = False
    merged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    prefixes: Prefixes = field(default_factory=lambda: sent_prefixes)
    writing: dict[bytes, Milestone] = field(default_factory=dict)
    journal: Journal = field(default_factory=NoJournal)
    cache: ReplyCache | None = None
    history: tuple[Turn, ...] = ()
    to_be_said: list[tuple[str, str]] = field(default_factory=list["tuple[str, str]"])
    people: People = field(default_factory=People)
    edited_tasks: dict[str, str] = field(default_factory=dict)
    tools: GivenTools = field(default_factory=GivenTools)
    tool_calls: dict[str, list[CalledTool]] = field(default_factory=dict)
    step_outputs: dict[str, Any] = field(default_factory=dict)
    trees: dict[str, StepOutcome] = field(default_factory=dict)
    steps: dict[str, tuple[StepOutcome, ...]] = field(default_factory=dict)
    called: dict[str, list[StepOutcome]] = field(default_factory=dict)
    wording: Wording | None = None
    complexity: int | None = None
    store: Store | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    modes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tier_models: Mapping[str, Model] = field(default_factory=dict)
    telemetry: Telemetry | None = None
    counted_tokens: int = 0
    reported_tokens: int = 0
    clock: float = field(default_factory=time.monotonic)
    on_request: Callable[[Node, Model, ModelRequest], None] | None = None

    @classmethod
    def prepare(
        cls,
        context: Context,
        task: str,
        skills: Skills | None,
        models: tuple[ModelChoice, ModelChoice, ModelChoice],
        settings: Settings,
        services: Services,
    ) -> Run:
        """Check and load everything that a run needs, before anything is sent."""
        settings.check()
        if not isinstance(task, str) or not task.strip():
            raise InputInvalid("the task is empty", suggestion="Say what is to be answered.")
        planner, worker, synthesizer = (resolve_model(choice) for choice in models)
        documents = load_documents(context, services.store)
        library = SkillLibrary.of(skills)
        run_id = services.run_id or uuid.uuid4().hex
        stream = EventStream(services.on_event, run_id=run_id, session_id=services.session_id)
        stream.listen(log_listener(), reads_text=False)
        watching = telemetry()
        stream.listen(watching, reads_text=False)
        _check_pool(services.pool)
        fallbacks = tuple(resolve_model(choice) for choice in services.fallbacks)
        scheduler = Scheduler(stream, max_workers=settings.max_workers, pool=services.pool)
        task = task.encode("utf-8", "replace").decode()
        tier_models = {tier: resolve_model(choice) for tier, choice in services.tiers.items()}
        models_of_run = (planner, worker, synthesizer, *fallbacks, *tier_models.values())
        tools = GivenTools.of(services.tools)
        permits = Permits.of(
            services.policy,
            models_of_run,
            files=(*files_of(context), *services.files),
            tools=tools.names,
            cost_usd=settings.max_cost_usd,
            skills=library.manifests.values(),
        )
        run = cls(
            documents,
            task,
            SkillsInUse(library, model_name(worker), lambda loaded: tell(run, loaded)),
            planner,
            worker,
            synthesizer,
            settings,
            stream,
            scheduler,
            Node("run", "run", permissions=permits.root.permissions.snapshot),
            permits,
            services.cancellation,
            budget=budget_of(replace(settings, max_cost_usd=permits.root.permissions.cost_usd), models_of_run),
            people=People(services.on_approval),
            tools=tools,
            fallbacks=fallbacks,
            history=newest(services.history, settings.history_tokens),
            telemetry=watching,
            modes=services.modes,
            tier_models=tier_models,
        )
        return run

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
            if self.telemetry is not None:
                self.telemetry.close()

    @property
    def task_alone(self) -> str:
        """The task, with what it leaves to the tasks before it."""
        from orchestra.models.extractive.leaning import standing_alone

        return standing_alone(self.task, [turn.task for turn in self.history]) if self.history else self.task

    @property
    def on_unresolved(self) -> OnUnresolved:
        """What a subtask sees when none of its pointers is in the document."""
        return self.settings.on_unresolved or (self.strategy.on_unresolved if self.strategy else "full")

    @property
    def phase_models(self) -> tuple[Model, Model, Model]:
        """Who plans, who works, who joins."""
        return (self.planner, self.worker, self.synthesizer)

    def in_order(self, model: Model) -> tuple[Model, ...]:
        """Who may answer a call that is meant for `model`: it first, then those that stand in."""
        return (model, *(each for each in self.fallbacks if each is not model)) if self.fallbacks else (model,)

    @property
    def model_names(self) -> dict[str, str]:
        """By phase; those that may stand in as `fallback-1` and so on."""
        return {
            "plan": model_name(self.planner),
            "subtasks": model_name(self.worker),
            "synthesis": model_name(self.synthesizer),
            **{f"fallback-{number}": model_name(each) for number, each in enumerate(self.fallbacks, start=1)},
        }

    def start(self) -> None:
        self.root.start()
        self.stream.emit(
            RouteStarted,
            task=self.task,
            models=self.model_names,
            documents=self.documents.names,
            **self.root.snapshot(),
        )
        self._tell_policy()
        for code, message in self.to_be_said:
            self.warn(code, message)
        for name, document in zip(self.documents.names, self.documents, strict=True):
            for warning in document.warnings:
                self.warn("DOCUMENT_MENDED", f"{name}: {warning}")
            if is_path_of_a_file(document.text):
                self.warn(
                    "TEXT_IS_A_PATH", f"the text {document.text.strip()!r} is a file's path; pass a Path to read it"
                )
        for setting, skill in self.settings.skills_named():
            if skill not in self.library:
                self.warn("SETTING_UNUSED", f"{setting} names {skill!r}, and this run has no such skill")

    def _tell_policy(self) -> None:
        """What the workspace's policy leaves of what the run would have by default."""
        permitted = self.permits.root
        if permitted.lost:
            self.stream.emit(
                PermissionsNarrowed,
                node_id=self.root.id,
                narrowings=[narrowing.to_dict() for narrowing in permitted.lost],
                permission_snapshot=permitted.permissions.snapshot,
            )

    def _fail(self, error: OrchestraError) -> None:
        if isinstance(error, RunWaiting):
            return self.end_waiting()
        self.root.end(Status.CANCELLED if isinstance(error, RunCancelled) else Status.FAILED, error)
        self.stream.emit(RouteFailed, **self.root.snapshot())
        return None

    def end_waiting(self) -> None:
        """End the run until people have answered: its root says which kind of answer it waits for."""
        is_asked = any(waiting.kind == "ask_user" for waiting in self.people.waiting)
        self.root.end(Status.WAITING_USER if is_asked else Status.CONFIRM_REQUIRED)
        self.stream.emit(RouteCompleted, result_status="waiting", **self.root.snapshot())

    def warn(self, code: str, message: str, node_id: str = "") -> None:
        self.notices.append(Notice(code=code, message=message, node_id=node_id))
        self.stream.emit(Warned, code=code, message=message, node_id=node_id)

    def node(self, name: str, kind: str, *, skill: str = "", title: str = "") -> Node:
        node = self.root.child(name, kind, skill=skill, title=title)
        self.nodes[node.id] = node
        return node

    def child(self, parent: Node, name: str, kind: str, *, skill: str = "", title: str = "") -> Node:
        """A node below `parent`."""
        node = parent.child(name, kind, skill=skill, title=title)
        self.nodes[node.id] = node
        return node

    @property
    def scale(self) -> float:
        """The providers' token count over ours, for what this run sent; 1 where none was reported."""
        return self.reported_tokens / self.counted_tokens if self.counted_tokens else 1.0


def _check_pool(pool: object) -> None:
    if pool is not None and not isinstance(pool, WorkerPool):
        raise InputInvalid(f"pool is a {type(pool).__name__}", cause="it is a WorkerPool, or None")
    if pool is not None and pool.is_closed:
        raise InputInvalid("the pool is closed", suggestion="Keep the pool open until its runs have ended.")
