"""A run carried out again from its record, to see what it asked: nothing is sent, done, asked or written."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from orchestra.errors import OrchestraError
from orchestra.models.protocol import Model, ModelRequest
from orchestra.result import Result
from orchestra.run.loading import restored_documents
from orchestra.run.prompts import SentPrompt, sent_prompt
from orchestra.run.recorded import NothingKept, RecordedEffects, RecordedNodes
from orchestra.run.request import PHASES, ModelRecord, RunRequest
from orchestra.run.stand_ins import model_of, tier_models, tools_of
from orchestra.run.state import Run
from orchestra.runtime.events import EventStream
from orchestra.runtime.node import Node
from orchestra.runtime.prefixes import Prefixes
from orchestra.runtime.replaying import RecordEnded, ReplayingScheduler
from orchestra.settings import Services, Skills
from orchestra.skills.policy import Policy
from orchestra.skills.python_files import code_left_unrun

if TYPE_CHECKING:
    from orchestra.store import RunRecord, Store

LONGEST_S = 30.0
"""What is rebuilt by then is what there is."""


class Rebuilding:
    """One run, to be carried out again by `drive`. Raises what loading its documents and skills raises."""

    def __init__(self, store: Store, record: RunRecord, skills: Skills | None = None) -> None:
        self.request = RunRequest.read(record.request, record.id)
        self._nodes = RecordedNodes(store, record.id)
        self._effects = RecordedEffects(store.calls(record.id), self._nodes)
        self._asked: dict[tuple[str, str], tuple[Node, Model, ModelRequest]] = {}
        self.run = self._prepared(store, record, skills)

    def _prepared(self, store: Store, record: RunRecord, skills: Skills | None) -> Run:
        request = self.request
        named = {phase: ModelRecord(name=str(record.models.get(phase, ""))) for phase in PHASES}
        planner, worker, synthesizer = (model_of(request.models.get(phase, named[phase])) for phase in PHASES)
        services = Services(
            policy=Policy() if request.policy is None else Policy.from_dict(request.policy),
            fallbacks=tuple(map(model_of, request.fallbacks)),
            run_id=record.id,
            session_id=record.session_id,
            history=request.as_turns(),
            tools=tools_of(request.tools),
            modes=request.modes,
            tiers=cast("Any", tier_models(request.tiers)),
            files=tuple(map(Path, request.files)),
        )
        run = Run.prepare(
            restored_documents(record.documents, store),
            request.task,
            request.skills.library_left(skills),
            (planner, worker, synthesizer),
            request.as_settings(),
            services,
        )
        run.stream = EventStream(run_id=record.id, session_id=record.session_id)
        run.scheduler = ReplayingScheduler(run.stream, self._nodes.came_to, limit_s=LONGEST_S)
        run.telemetry = None
        run.prefixes = Prefixes()
        run.journal = self._effects
        run.people.store = run.store = cast("Any", NothingKept(self._nodes))
        run.on_request = self._hear
        return run

    def _hear(self, node: Node, model: Model, request: ModelRequest) -> None:
        self._asked.setdefault((node.id, request.fingerprint), (node, model, request))

    def drive(self, story: Coroutine[Any, Any, Result]) -> None:
        """Carry the run out as far as its record goes; what it comes to is of no interest."""
        with suppress(RecordEnded, OrchestraError), code_left_unrun():
            self.run.drive(story)

    def prompts(self) -> Mapping[str, tuple[SentPrompt, ...]]:
        """What each node asked, in order. What no node on record can have sent is left out."""
        found: dict[str, list[SentPrompt]] = {}
        for (node_id, fingerprint), (_, model, request) in self._asked.items():
            is_proved = self._effects.proves(node_id, fingerprint)
            if is_proved or self._nodes.has_begun(node_id):
                found.setdefault(node_id, []).append(sent_prompt(node_id, model, request, is_proved=is_proved))
        return {node_id: tuple(prompts) for node_id, prompts in found.items()}
