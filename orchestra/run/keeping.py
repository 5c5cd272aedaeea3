"""A run and its store: begun there, recorded while it goes on, and ended there, however it ends."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from orchestra.errors import InputInvalid, OrchestraError, RunBusy, RunCancelled, RunNotFound, RunWaiting, StoreError
from orchestra.result import ErrorReport, Notice, Result
from orchestra.run.cache import ReplyCache, version_of
from orchestra.run.journal import StoreJournal
from orchestra.run.loading import keep_documents, references
from orchestra.run.recording import LEASE_S, Recording, lost
from orchestra.run.request import RunRequest
from orchestra.run.state import Run
from orchestra.settings import StoreChoice
from orchestra.version import __version__

if TYPE_CHECKING:
    from orchestra.store import RunRecord, Store

_RUNNING = "running"


def open_store(choice: StoreChoice, configured: str) -> Store | None:
    """The store that a caller chose: an open one, the place of one, None for the configured one, False for none.

    Raises `InputInvalid` for what names no store, and `StoreError`s.
    """
    if choice is False or (choice is None and not configured):
        return None
    if choice is True:
        raise InputInvalid("store is True", cause="it is a Store, a path, a URL, or False for none")
    if choice is None or isinstance(choice, str | Path):
        from orchestra.store import shared_store

        return shared_store(configured if choice is None else choice)
    if not callable(getattr(choice, "begin_run", None)):
        raise InputInvalid(f"store is a {type(choice).__name__}", cause="it is a Store, a path, a URL, or False")
    return choice


class Keeping:
    """The part of a run that is about its store. Without a store it does nothing.

    `begin` before the run, then `end` or `fail`.
    """

    def __init__(self, run: Run, recording: Recording | None = None, error: OrchestraError | None = None) -> None:
        self._run = run
        self._recording = recording
        self._error = error

    @classmethod
    def begin(
        cls,
        run: Run,
        store: Store | None,
        request: RunRequest | None,
        *,
        error: StoreError | None = None,
        owner: str = "",
    ) -> Keeping:
        """Put the run on record. `owner` has its lease already, where the run is resumed.

        `error` is why there is no store, though one was asked for: the run says so, and goes on.
        """
        keeping = cls(run, error=error)
        if store is not None and request is not None:
            try:
                keeping._recording = _begun(run, store, request, owner)
            except (StoreError, InputInvalid, RunNotFound) as raised:
                if owner:
                    raise
                keeping._error = raised
        if keeping._error is not None:
            message = lost(keeping._error)
            run.scheduler.post(lambda: run.warn("STORE_LOST", message))
        return keeping

    def end(self, result: Result) -> Result:
        """Put the outcome on record. The result, with a warning where that could not be done."""
        recording = self._recording
        if recording is None:
            return result
        is_cancelled = any(error.code == RunCancelled.code for error in result.errors)
        status = "cancelled" if is_cancelled and result.status != "completed" else result.status
        self._close(recording, status, result=result.model_dump(mode="json"))
        if recording.error is None or recording.is_told:
            return result
        notice = Notice(code="STORE_LOST", message=lost(recording.error))
        return result.model_copy(update={"warnings": (*result.warnings, notice)})

    def fail(self, error: BaseException) -> None:
        """Put on record that the run came to nothing."""
        if self._recording is None:
            return
        if isinstance(error, RunWaiting):
            status = "waiting"
        elif isinstance(error, OrchestraError) and not isinstance(error, RunCancelled):
            status = "failed"
        else:
            status = "cancelled"
        described = ErrorReport.of(error).model_dump() if isinstance(error, OrchestraError) else None
        self._close(self._recording, status, error=described)

    def _close(
        self,
        recording: Recording,
        status: str,
        *,
        result: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        store, run_id = recording.store, recording.run_id
        recording.stop()
        recording.write(lambda: store.end_run(run_id, cast("Any", status), result=result, error=error))
        try:
            store.release(run_id, recording.owner)
        except OrchestraError as raised:
            recording.lose(raised)


def _begun(run: Run, store: Store, request: RunRequest, owner: str) -> Recording:
    from orchestra.store import RunRecord

    run_id = run.stream.run_id
    recording = Recording(run, store, owner or new_owner())
    store.begin_run(
        RunRecord(
            id=run_id,
            task=run.task,
            session_id=run.stream.session_id,
            status=_RUNNING,
            request=request.model_dump(mode="json"),
            documents=references(run.documents),
            models=run.model_names,
            started_at=time.time(),
            version=__version__,
        )
    )
    if not owner and not store.lease(run_id, recording.owner, LEASE_S):
        raise RunBusy(f"run {run_id} is being worked on")
    keep_documents(run.documents, store)
    run.stream.sequence = store.last_sequence(run_id) if owner else 0
    run.journal = StoreJournal(store, run_id, recording.write)
    if request.cache is not False:
        max_age_s = None if request.cache is True else request.cache
        run.cache = ReplyCache(store, run_id, version_of(run.library, run.documents), max_age_s, recording.write)
    recording.start()
    return recording


def take(store: Store, record: RunRecord) -> str:
    """Become the one process that works on a run; the owner's name. Raises `RunBusy` where another one does.

    The lease of a process of this machine that is not there any more is taken over at once, any other when it expires.
    """
    owner = new_owner()
    if store.lease(record.id, owner, LEASE_S):
        return owner
    holder = store.holder(record.id)
    if holder is not None and _is_gone(holder):
        store.release(record.id, holder)
    if store.lease(record.id, owner, LEASE_S):
        return owner
    raise RunBusy(f"run {record.id} is being worked on", cause=f"by {_words(holder)}" if holder else "")


def new_owner() -> str:
    """A name for this process, while it works on one run: where it is, its id and start, and what tells runs apart."""
    return "|".join((_place(), str(os.getpid()), _start_of(os.getpid()), uuid.uuid4().hex))


def _is_gone(owner: str) -> bool:
    """Whether an owner's process is known to have ended. Of one that cannot be seen from here, nothing is known."""
    place, pid, start, _ = owner.split("|") if owner.count("|") == 3 else ("", "", "", "")
    if place != _place() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    now = _start_of(int(pid))
    return bool(start and now) and now != start


def _place() -> str:
    """The host's name, and what tells one machine, boot and container of that name from another, where it is known."""
    host = socket.gethostname().replace("|", "_").replace(" ", "_")
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{host} {boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return host


def _start_of(pid: int) -> str:
    """When a process was started, in the kernel's ticks, or "Z" for one that has ended; "" where that is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "Z" if fields[0] == "Z" else fields[19]


def _words(owner: str) -> str:
    place, pid, *_ = (*owner.split("|"), "", "")
    return f"process {pid} on {place.partition(' ')[0]}"
