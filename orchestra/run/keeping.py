"""A run and its store: begun there, recorded while it goes on, and ended there, however it ends."""

from __future__ import annotations

import math
import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from orchestra.document import DocumentSet
from orchestra.errors import InputInvalid, OrchestraError, RunBusy, RunCancelled, RunNotFound, RunWaiting, StoreError
from orchestra.planning.history import Turn, read_turns
from orchestra.result import ErrorReport, Notice, Result
from orchestra.run.cache import ReplyCache, version_of
from orchestra.run.journal import StoreJournal
from orchestra.run.loading import keep_documents, references, restored_documents
from orchestra.run.recording import LEASE_S, Recording, lost
from orchestra.run.request import RunRequest
from orchestra.run.state import Run
from orchestra.settings import StoreChoice
from orchestra.version import __version__

if TYPE_CHECKING:
    from orchestra.store import RunRecord, Store

_RUNNING = "running"


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """What came of opening a store: `error` is why there is none, though one was asked for."""

    store: Store | None = None
    error: StoreError | None = None


def try_store(choice: StoreChoice, configured: str) -> OpenedStore:
    """`open_store`, for a run that goes on without one. Raises `InputInvalid` only."""
    try:
        return OpenedStore(open_store(choice, configured))
    except StoreError as error:
        return OpenedStore(error=error)


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


def earlier_turns(opened: OpenedStore, session_id: str, history: object) -> tuple[Turn, ...]:
    """What was asked in a session and answered, and what the caller adds, oldest first.

    Raises `InputInvalid`, and the `StoreError` where the session cannot be read: an answer without it would mislead.
    """
    if not isinstance(session_id, str):
        raise InputInvalid(f"session_id is {session_id!r}", cause="it is a text")
    given = read_turns(history)
    if not session_id or (opened.store is None and opened.error is None):
        return given
    if opened.store is None:
        raise opened.error or StoreError("there is no store")
    return (*read_turns(opened.store.turns(session_id)), *given)


def check_cache(cache: object, opened: OpenedStore) -> None:
    """Raise `InputInvalid` for what is no cache setting, and for a cache without a store."""
    is_seconds = isinstance(cache, int | float) and 0 < cache < math.inf
    if not (isinstance(cache, bool) or is_seconds):
        raise InputInvalid(f"cache is {cache!r}", cause="it is True, False, or a number of seconds above 0")
    if cache and opened.store is None and opened.error is None:
        raise InputInvalid("there is a cache, and no store to keep it in", suggestion="Pass store= as well.")


@dataclass(frozen=True, slots=True)
class GoingOn:
    """A run that is taken up again by `owner`."""

    record: RunRecord
    owner: str
    request: RunRequest
    documents: DocumentSet


@contextmanager
def resumed(store: Store, run_id: str) -> Iterator[GoingOn | Result]:
    """Take up a run; gives its result where that is complete. Nobody else works on it meanwhile.

    Raises `RunNotFound`, `RunBusy`, `DocumentUnreadable` and `StoreError`s.
    """
    record = store.find_run(run_id)
    finished = _finished(record)
    if finished is not None:
        yield finished
        return
    owner = take(store, record)
    try:
        record = store.run(record.id) or record  # somebody else may have gone on until just now
        finished = _finished(record)
        if finished is not None:
            yield finished
            return
        request = RunRequest.read(record.request, record.id)
        yield GoingOn(record, owner, request, restored_documents(record.documents, store))
    finally:
        store.release(record.id, owner)


def _finished(record: RunRecord) -> Result | None:
    if record.status != "completed" or record.result is None:
        return None
    try:
        return Result.model_validate(record.result)
    except ValidationError:
        return None  # of another version: what is in the journal gives it again


class Keeping:
    """The part of a run that is about its store. Without a store it does nothing.

    `begin` or `go_on` before the run, then `end` or `fail`.
    """

    def __init__(self, run: Run, recording: Recording | None = None) -> None:
        self._run = run
        self._recording = recording

    @classmethod
    def begin(cls, run: Run, opened: OpenedStore, request: RunRequest | None) -> Keeping:
        """Put a new run on record. Where that cannot be done, the run says so and goes on."""
        recording, error = None, opened.error
        if opened.store is not None and request is not None:
            try:
                recording = _begun(run, opened.store, request, "")
            except (StoreError, InputInvalid, RunNotFound) as raised:
                error = raised
        if error is not None:
            _warn_later(run, "STORE_LOST", lost(error))
        return cls(run, recording)

    @classmethod
    def go_on(cls, run: Run, store: Store, going_on: GoingOn) -> Keeping:
        """Put on record that a run goes on. Raises `StoreError`s."""
        recording = _begun(run, store, going_on.request, going_on.owner)
        begun_by = going_on.record.version
        if begun_by != __version__:
            message = f"the run was begun by Orchestra {begun_by}, and {__version__} goes on with it"
            _warn_later(run, "VERSION_CHANGED", f"{message}: what it asks otherwise is asked anew")
        return cls(run, recording)

    def end(self, result: Result) -> Result:
        """Put the outcome on record. The result, with a warning where that could not be done."""
        recording = self._recording
        if recording is None:
            return result
        is_cancelled = any(error.code == RunCancelled.code for error in result.errors)
        status = "cancelled" if is_cancelled and result.status != "completed" else result.status
        self._close(recording, status, result=result)
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
        result: Result | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        store, run_id = recording.store, recording.run_id
        recording.close(lambda: _end(store, run_id, status, result, error))


def _end(store: Store, run_id: str, status: str, result: Result | None, error: Mapping[str, Any] | None) -> None:
    try:
        store.end_run(run_id, cast("Any", status), result=result, error=error)
    except InputInvalid:  # the data of an answer may hold what JSON does not: then the journal gives it again
        store.end_run(run_id, cast("Any", status), error=error)


def _begun(run: Run, store: Store, request: RunRequest, owner: str) -> Recording:
    from orchestra.store import RunRecord

    run_id = run.stream.run_id
    recording = Recording(run, store, owner or new_owner())
    record = RunRecord(
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

    def begin() -> None:
        store.begin_run(record)
        if not owner and not store.lease(run_id, recording.owner, LEASE_S):
            raise RunBusy(f"run {run_id} is being worked on")

    store.together(begin)
    keep_documents(run.documents, store)
    run.stream.sequence = store.last_sequence(run_id) if owner else 0
    run.journal = StoreJournal(store, run_id, recording.write, store.calls(run_id) if owner else ())
    run.people.store = run.store = store
    if request.cache is not False:
        max_age_s = None if request.cache is True else request.cache
        version = version_of(run.library, run.documents)
        run.cache = ReplyCache(store, run_id, version, max_age_s, recording.write, recording.lose)
    recording.start()
    return recording


def _warn_later(run: Run, code: str, message: str) -> None:
    """As soon as the run has begun."""
    run.to_be_said.append((code, message))


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
    return f"{_process(os.getpid())}|{uuid.uuid4().hex}"


@lru_cache(maxsize=1)
def _process(pid: int) -> str:
    """Which process this is; a forked child has another id."""
    return f"{_place()}|{pid}|{_start_of(pid)}"


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
