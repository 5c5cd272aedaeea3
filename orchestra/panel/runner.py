"""Runs that the panel starts: each on a thread of its own, through the package's own functions.

What a run does is in the store, and is read there by whoever watches. Kept here is only what it takes to end a run and
to hand it the answers of people: these, too, come from the store, so that any tab and any process may give them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestra import Cancellation, Decision, WorkerPool, orchestrate, resume
from orchestra.configuration import configure
from orchestra.errors import (
    OrchestraError,
    RunBusy,
    RunCancelled,
    RunNotFound,
    StoreError,
    StoreUnavailable,
    UnexpectedFailure,
)
from orchestra.result import ErrorReport
from orchestra.run.keeping import take
from orchestra.runtime.events import Event
from orchestra.runtime.questions import AtOnce, checked_decision

if TYPE_CHECKING:
    from orchestra import Document, Policy, Question, Result
    from orchestra.runtime.tools.given import ToolChoice
    from orchestra.settings import ModelChoice, Skills
    from orchestra.store import ApprovalRecord, Store

log = logging.getLogger("orchestra.panel")

ANSWER_WAIT_S = 600.0  # then the run ends as waiting, and is taken up again when it is answered
MOST_WORKERS = 8
_POLL_S = 0.5  # how soon an answer of another process is seen, for each question that is open
_MOST_POLLS = 10  # of that, however many are open
_STOP_S = 10.0  # what runs under way have to end when the panel stops


class Runner:
    """Starts, resumes and ends runs. Thread-safe; `close` when the panel stops."""

    def __init__(
        self,
        store: Store,
        *,
        policy: Policy | None = None,
        config: Path | None = None,
        model: ModelChoice = None,
        skills: Skills | None = None,
        tools: Sequence[ToolChoice] = (),
        answer_wait_s: float = ANSWER_WAIT_S,
    ) -> None:
        self._store = store
        self._policy = policy
        self._config = config
        self._model = model
        self._skills = skills
        self._tools = tuple(tools)
        self._answer_wait_s = answer_wait_s
        self._pool = WorkerPool(max(MOST_WORKERS, configure({}, config).settings.max_workers))
        self._lock = threading.Lock()
        self._work: dict[str, _Work] = {}
        self._unknown: set[_Work] = set()  # begun, and not on record yet
        self._is_closing = threading.Event()

    def start(
        self,
        *,
        session_id: str,
        documents: Sequence[Path | Document],
        task: str,
        strategy: str = "",
        model: ModelChoice = None,
        mode: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> str:
        """Begin a run and give its id, once it is on record. What is empty is as configured.

        Raises the `OrchestraError` of a run that cannot begin: a bad setting, a document that cannot be read, no key.
        """
        chosen: dict[str, Any] = {**(options or {})}
        chosen |= {name: value for name, value in (("strategy", strategy), ("mode", mode)) if value}
        work = _Work()

        def answer() -> Result:
            return orchestrate(
                list(documents),
                task,
                self._skills,
                model or self._model,
                on_event=work.hear,
                cancellation=work.cancellation,
                pool=self._pool,
                on_approval=AtOnce(lambda question: self._answer_of_people(work, question)),
                tools=self._tools,
                policy=self._policy,
                store=self._store,
                session_id=session_id,
                config=self._config,
                **chosen,
            )

        self._begin(work, answer)
        run_id = work.begun()
        if self._store.run(run_id) is None:
            work.cancellation.cancel()
            raise StoreUnavailable("the run could not be put on record, and was ended", cause="the store refused it")
        return run_id

    def resume(self, run_id: str) -> None:
        """Go on with a run in the background; returns when it goes on. One that this process runs is left alone.

        Raises `RunNotFound`, `RunBusy` while another process works on it, and what `start` raises.
        """
        self._take_up(_Work(run_id))

    def cancel(self, run_id: str) -> bool:
        """End a run; what is finished stays. False if this process does not run it."""
        with self._lock:
            work = self._work.get(run_id)
        if work is None:
            return False
        work.cancellation.cancel()
        work.nudge()
        return True

    def give_up(self, run_id: str) -> None:
        """End a run that nobody works on; what it has finished stays. Returns when that goes on.

        It goes on as a run that is cancelled already, so that nothing is asked and its answer is made of what there is.
        Where it cannot go on any more, it is on record as cancelled. Raises `RunNotFound`, `RunBusy` while somebody
        works on it, and `StoreError`s.
        """
        work = _Work(run_id)
        work.cancellation.cancel()
        try:
            self._take_up(work)
        except (RunBusy, RunNotFound):
            raise
        except OrchestraError as error:
            log.info("run %s cannot go on, and is given up: %s", run_id, error)
            _put_on_record_as_cancelled(self._store, run_id)

    def is_running(self, run_id: str) -> bool:
        with self._lock:
            return run_id in self._work

    def answered(self, run_id: str) -> None:
        """An answer is on record: whoever waits for it goes on, and a run that had ended to wait is resumed.

        Raises what `resume` does, but not `RunBusy`: another process goes on with it then.
        """
        with self._lock:
            work = self._work.get(run_id)
        if work is not None:
            work.nudge()
            return
        record = self._store.run(run_id)
        if record is not None and record.status == "waiting" and not self._is_closing.is_set():
            try:
                self.resume(run_id)
            except RunBusy:
                log.info("run %s goes on in another process", run_id)

    def close(self) -> None:
        """End what is under way, so that it can be resumed: a run that waits for people ends as waiting, others as
        cancelled. Returns when they have, or after a few seconds.
        """
        self._is_closing.set()
        with self._lock:
            under_way = [*self._work.values(), *self._unknown]
        ends_at = time.monotonic() + _STOP_S
        waiting = [work for work in under_way if self._waits_for_people(work)]
        for work in under_way:
            work.nudge()
            if work not in waiting:
                work.cancellation.cancel()
        for work in under_way:
            work.join(max(0.0, ends_at - time.monotonic()) / (2 if work in waiting else 1))
            work.cancellation.cancel()
        for work in under_way:
            work.join(max(0.0, ends_at - time.monotonic()))
        self._pool.close(wait=False)

    def _waits_for_people(self, work: _Work) -> bool:
        """Whether people are asked, or will be in a moment: a question is on record before it is put to anybody."""
        if work.is_asking or not work.run_id:
            return work.is_asking
        try:
            return bool(self._store.approvals(work.run_id, "open"))
        except StoreError:
            return False

    def _take_up(self, work: _Work) -> None:
        """Go on with its run, unless that is under way here."""
        with self._lock:
            if work.run_id in self._work:
                return
            self._work[work.run_id] = work

        def go_on() -> Result:
            return resume(
                work.run_id,
                store=self._store,
                model=None if isinstance(self._model, str) else self._model,  # a name is on record, an object is not
                skills=self._skills,
                on_event=work.hear,
                cancellation=work.cancellation,
                pool=self._pool,
                on_approval=AtOnce(lambda question: self._answer_of_people(work, question)),
                tools=self._tools,
                config=self._config,
            )

        self._begin(work, go_on)
        work.begun()

    def _begin(self, work: _Work, run: Callable[[], Result]) -> None:
        with self._lock:
            self._unknown.add(work)
        work.on_known = self._became_known

        def carry_out() -> None:
            try:
                run()
            except OrchestraError as error:
                work.error = error  # one that is on record says so there
            except Exception as error:
                log.warning("a run failed unexpectedly", exc_info=True)
                work.error = UnexpectedFailure(f"the run failed: {type(error).__name__}", cause=str(error))
            finally:
                self._ended(work)

        work.thread = threading.Thread(target=carry_out, name="orchestra-run", daemon=True)
        work.thread.start()
        if self._is_closing.is_set():
            work.cancellation.cancel()

    def _became_known(self, work: _Work) -> None:
        with self._lock:
            self._unknown.discard(work)
            self._work[work.run_id] = work

    def _ended(self, work: _Work) -> None:
        with self._lock:
            self._unknown.discard(work)
            self._work.pop(work.run_id, None)
        work.settled.set()
        if work.has_asked and not work.cancellation.is_cancelled and not self._is_closing.is_set():
            self._go_on_if_answered(work.run_id)

    def _go_on_if_answered(self, run_id: str) -> None:
        """An answer may come just when a run ends to wait for it."""
        try:
            record = self._store.run(run_id)
            if record is not None and record.status == "waiting" and not self._store.approvals(run_id, "open"):
                self.resume(run_id)
        except OrchestraError as error:
            log.warning("run %s is answered, and does not go on: %s", run_id, error)

    def _answer_of_people(self, work: _Work, question: Question) -> Decision | None:
        """`on_approval`: what is answered through the store; None when the panel stops, or nobody answers for long."""
        ends_at = time.monotonic() + self._answer_wait_s
        with work.asking():
            while True:
                nudges = work.nudges  # before anything is looked at, so that none is missed
                if self._is_closing.is_set() or work.cancellation.is_cancelled or time.monotonic() > ends_at:
                    return None
                try:
                    record = self._record_of(work.run_id, question)
                except StoreError as error:
                    log.warning("it cannot be read whether run %s was answered: %s", work.run_id, error)
                else:
                    if record is None:  # a question that is on no record, so that nobody sees it
                        return None
                    if record.status == "answered":
                        return _decision_of(question, record)
                work.wait(nudges, _POLL_S * min(work.asked, _MOST_POLLS))

    def _record_of(self, run_id: str, question: Question) -> ApprovalRecord | None:
        asked = (question.node_id, question.digest)
        return next((each for each in self._store.approvals(run_id) if (each.node_id, each.digest) == asked), None)


def _put_on_record_as_cancelled(store: Store, run_id: str) -> None:
    """Its result goes, since it tells of a run that waits; what was finished stays in the journal."""
    record = store.find_run(run_id)
    owner = take(store, record)
    try:
        store.end_run(record.id, "cancelled", error=ErrorReport.of(RunCancelled("the run was given up")).model_dump())
    finally:
        store.release(record.id, owner)


def _decision_of(question: Question, record: ApprovalRecord) -> Decision:
    answer = {"outcome": record.outcome, "edited": record.edited, "reason": record.reason, "text": record.text}
    return checked_decision(question, answer)


class _Work:
    """One run under way in this process. `settled`: it is on record, or over."""

    def __init__(self, run_id: str = "") -> None:
        self.run_id = run_id
        self.cancellation = Cancellation()
        self.settled = threading.Event()
        self.error: OrchestraError | None = None
        self.thread: threading.Thread | None = None
        self.on_known: Callable[[_Work], None] = lambda _: None
        self.has_asked = False
        self.asked = 0  # questions that are open just now
        self.nudges = 0
        self._news = threading.Condition()
        self._is_heard = False

    def hear(self, event: Event) -> None:
        """The first event says that the run is on record, and under which id."""
        if self._is_heard:
            return
        self._is_heard = True
        self.run_id = event.route_run_id
        self.on_known(self)
        self.settled.set()

    def begun(self) -> str:
        """The run's id, once it is on record. Raises what kept it from that."""
        self.settled.wait()
        if self.error is not None and not self._is_heard:
            raise self.error
        if not self.run_id:
            raise RunNotFound("the run ended before it had begun", cause="the panel is stopping")
        return self.run_id

    @property
    def is_asking(self) -> bool:
        """Whether people are being asked just now."""
        return self.asked > 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        with self._news:
            self.has_asked, self.asked = True, self.asked + 1
        try:
            yield
        finally:
            with self._news:
                self.asked -= 1

    def nudge(self) -> None:
        """Wake all who wait for an answer."""
        with self._news:
            self.nudges += 1
            self._news.notify_all()

    def wait(self, nudges: int, seconds: float) -> None:
        """Until there are more nudges than those, or the time is over."""
        with self._news:
            self._news.wait_for(lambda: self.nudges != nudges, seconds)

    def join(self, seconds: float) -> None:
        if self.thread is not None:
            self.thread.join(seconds)
