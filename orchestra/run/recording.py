"""What a run with a store writes there while it goes on: its events, its journal, and that somebody works on it.

A store that fails costs the run nothing but the record: the run says STORE_LOST once, and goes on. What could not be
written is kept, and written when the store is back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orchestra.errors import InputInvalid, OrchestraError, RunNotFound, StoreError
from orchestra.runtime.events import AnswerDelta, Event

if TYPE_CHECKING:
    from orchestra.run.state import Run
    from orchestra.store import Store

log = logging.getLogger("orchestra")

LEASE_S = 45.0
FLUSH_S = 0.25  # how long an event may wait to be written
_RENEW_S = LEASE_S / 3


class Recording:
    """The record of one run under way. A listener of its events; every other method may be called from any thread.

    `error` is why something could not be written, None as long as all was. `is_taken`: another process has the run.
    """

    def __init__(self, run: Run, store: Store, owner: str) -> None:
        self.store = store
        self.run_id = run.stream.run_id
        self.owner = owner
        self.error: OrchestraError | None = None
        self.is_told = False
        self.is_taken = False
        self._run = run
        self._pending: list[dict[str, Any]] = []
        self._late: deque[Callable[[], object]] = deque()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._stopped = threading.Event()
        self._renewed_at = time.monotonic()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Hear the run's events, and write them from time to time: a run that is over sooner needs no thread for it."""
        self._run.stream.listen(self.hear)
        self._run.scheduler.after(FLUSH_S, self._start_thread)

    def close(self, end: Callable[[], object]) -> None:
        """Write what is left, do `end` on the store, and let go of the run: at once, or one by one where that fails."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if self._is_closed_at_once(end):
            return
        self.flush()
        self.write(end)
        try:
            self._release()
        except OrchestraError as error:
            self.lose(error)

    def hear(self, event: Event) -> None:
        """Remember an event and when it was heard; pieces of an answer that follow one another are kept as one."""
        entry = event.to_dict()
        entry["at"] = time.time()
        with self._lock:
            last = self._pending[-1] if self._pending else None
            if last is not None and isinstance(event, AnswerDelta) and _goes_on(last, event):
                last["text"] += event.text
                last["sequence"] = event.sequence
            else:
                self._pending.append(entry)

    def write(self, action: Callable[[], object]) -> None:
        """Do `action` on the store; returns when it is committed, or kept for later because it could not be."""
        if self.is_taken:
            return
        if not self._late:
            try:
                action()
            except StoreError as error:
                self.lose(error)
            except (InputInvalid, RunNotFound) as error:  # no later try would help
                self.lose(error)
                return
            else:
                return
        self._late.append(action)

    def lose(self, error: OrchestraError) -> None:
        """Say once that something could not be written."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
        log.warning("the store is lost: %s", error)
        self._run.scheduler.post(self.tell)

    def tell(self) -> None:
        """On the run's own thread: say why something could not be written, if it was not said yet."""
        if self.error is None or self.is_told:
            return
        self.is_told = True
        self._run.warn("STORE_LOST", lost(self.error))

    def flush(self) -> None:
        """Write what waits, in order, as far as the store takes it."""
        with self._writing:
            try:
                while self._late:
                    self._late[0]()
                    self._late.popleft()
            except StoreError as error:
                return self.lose(error)
            except OrchestraError as error:
                self._late.popleft()
                self.lose(error)
            with self._lock:
                pending, self._pending = self._pending, []
            if pending and not self.is_taken:
                self._append(pending)
        return None

    def _is_closed_at_once(self, end: Callable[[], object]) -> bool:
        if self._late or self.is_taken:
            return False
        with self._lock:
            pending = tuple(self._pending)

        def close() -> None:
            self.store.append_events(self.run_id, pending)
            end()
            self._release()

        try:
            self.store.together(close)
        except OrchestraError:
            return False
        self._pending.clear()
        return True

    def _release(self) -> None:
        self.store.release(self.run_id, self.owner)

    def _append(self, pending: list[dict[str, Any]]) -> None:
        try:
            self.store.append_events(self.run_id, pending)
        except StoreError as error:
            self.lose(error)
            with self._lock:
                self._pending = [*pending, *self._pending]
        except RunNotFound as error:
            self.lose(error)
        except InputInvalid as error:  # one of them holds what JSON does not: the others are kept
            if len(pending) > 1:
                for entry in pending:
                    self._append([entry])
            else:
                self.lose(error)

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._keep_up, name="orchestra-store", daemon=True)
        thread.start()
        self._thread = thread

    def _keep_up(self) -> None:
        is_over = self._stopped.is_set()
        while not is_over:
            self.flush()
            if time.monotonic() - self._renewed_at >= _RENEW_S:
                self._renew()
            is_over = self._stopped.wait(FLUSH_S)

    def _renew(self) -> None:
        self._renewed_at = time.monotonic()
        try:
            is_ours = self.store.renew(self.run_id, self.owner, LEASE_S)
        except OrchestraError as error:
            return self.lose(error)
        if not is_ours:
            self.is_taken = True
            self._run.scheduler.post(self._give_up)
        return None

    def _give_up(self) -> None:
        """Another process goes on with the run: two would pay twice."""
        self._run.warn("RUN_TAKEN", "another process has taken over this run, because this one was not heard of")
        self._run.scheduler.cancel()


def lost(error: OrchestraError) -> str:
    """What a run says of a store that failed."""
    cause = f" ({error.cause})" if error.cause else ""
    return f"the run goes on without its store, and may not be resumed: {error.what}{cause}. {error.suggestion}"


def _goes_on(last: dict[str, Any], event: AnswerDelta) -> bool:
    if last["type"] != AnswerDelta.type:
        return False
    return (last["node_id"], last["attempt"]) == (event.node_id, event.attempt)
