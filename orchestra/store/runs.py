"""Runs: what was asked, over what, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel
from sqlalchemy import Connection, bindparam, delete, exists, func, or_, select, update

from orchestra.errors import InputInvalid, RunBusy, RunNotFound
from orchestra.store.database import Database
from orchestra.store.records import RunRecord, RunStatus, RunSummary, read
from orchestra.store.statements import Change, Upsert, now
from orchestra.store.tables import documents, leases, nodes, run_documents, runs, sessions
from orchestra.store.texts import storable, to_json

_BEGIN = Upsert(runs, replacing=("status", "request", "models", "version"), clearing=("ended_at",))
_NAME = Upsert(run_documents, replacing=("name", "digest"))
_JOIN_SESSION = Upsert(sessions)
_STATUS = select(runs.c.status).where(runs.c.id == bindparam("its_id"))
_STANDING = (
    select(runs.c.status, func.count(), func.max(runs.c.started_at), func.max(runs.c.ended_at))
    .group_by(runs.c.status)
    .order_by(runs.c.status)
)
_TITLES = select(sessions.c.id, sessions.c.title).order_by(sessions.c.id)
_END = Change(runs, update(runs).where(runs.c.id == bindparam("its_id")))
_SUMMARY = ("id", "task", "session_id", "status", "models", "started_at", "ended_at", "error")
_AMBIGUOUS = 5  # how many runs an error names
_AT_ONCE = 500  # parameters of a statement


class Runs:
    """Part of `Store`."""

    database: Database

    def begin_run(self, run: RunRecord) -> None:
        """Put a run on record, or begin it again: then its first start, result and error stay.

        A document of the run may be put afterwards: from here on nobody removes it.
        """
        values = {
            "id": run.id,
            "session_id": run.session_id,
            "task": run.task,
            "status": run.status,
            "request": run.request,
            "models": run.models,
            "started_at": run.started_at or time.time(),
            "ended_at": run.ended_at,
            "result": run.result,
            "error": run.error,
            "version": run.version,
        }
        named = [
            {"run_id": run.id, "position": position, "name": document.name, "digest": document.digest}
            for position, document in enumerate(run.documents)
        ]

        def begin(connection: Connection) -> None:
            if run.session_id:
                _JOIN_SESSION.execute(connection, {"id": run.session_id, "title": "", "started_at": time.time()})
            _BEGIN.execute(connection, values)
            if named:
                _NAME.execute(connection, named)

        self.database.transact(begin)

    def end_run(
        self,
        run_id: str,
        status: RunStatus,
        *,
        result: Mapping[str, Any] | BaseModel | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """What came of it. A run that is "waiting" has not ended, and keeps the time open. `RunNotFound`."""
        ended_at = None if status in ("waiting", "running") else time.time()
        values = {"status": status, "ended_at": ended_at, "result": result, "error": error}
        values |= {"its_id": run_id}
        if not self.database.run(lambda connection: _END.execute(connection, values)):
            raise RunNotFound(f"run {run_id} is not in the store")

    def run(self, run_id: str) -> RunRecord | None:
        """By its whole id."""
        return self.database.run(lambda connection: _read_run(connection, run_id))

    def run_status(self, run_id: str) -> RunStatus | None:
        """None where there is no such run."""
        return self.database.run(lambda connection: connection.execute(_STATUS, {"its_id": run_id}).scalar())

    def revision(self) -> Hashable:
        """Another value when runs or sessions have come, gone or ended, or a session has another title."""

        def read_both(connection: Connection) -> Hashable:
            standing = connection.execute(_STANDING).all()
            return tuple(map(tuple, standing)), tuple(map(tuple, connection.execute(_TITLES).all()))

        return self.database.run(read_both)

    def find_run(self, prefix: str) -> RunRecord:
        """By its id or the beginning of it. `RunNotFound`; `InputInvalid` when several runs begin so."""
        if not prefix:
            raise InputInvalid("the run's id is empty", suggestion="`orchestra runs` lists them.")
        begins = func.substr(runs.c.id, 1, len(prefix)) == prefix
        statement = select(runs.c.id).where(begins).order_by(runs.c.started_at.desc()).limit(_AMBIGUOUS)
        found = self.database.run(lambda connection: connection.execute(statement).scalars().all())
        if not found:
            raise RunNotFound(f"no run begins with {prefix!r}")
        if len(found) > 1 and prefix not in found:
            raise InputInvalid(
                f"several runs begin with {prefix!r}", cause=", ".join(found), suggestion="Give more of the id."
            )
        run = self.run(prefix if prefix in found else found[0])
        if run is None:
            raise RunNotFound(f"run {found[0]} was removed just now")
        return run

    def runs(
        self,
        *,
        status: str | None = None,
        skill: str | None = None,
        text: str | None = None,
        since: float | None = None,
        until: float | None = None,
        session_id: str | None = None,
        limit: int | None = None,
    ) -> list[RunSummary]:
        """Newest first. `text` stands in the task or the result, in any case; times are unix seconds of the start."""
        wanted = select(*(runs.c[name] for name in _SUMMARY))
        if status is not None:
            wanted = wanted.where(runs.c.status == status)
        if skill is not None:
            wanted = wanted.where(exists().where(nodes.c.run_id == runs.c.id, nodes.c.skill_name == skill))
        if text:
            in_words, in_json = storable(text.lower()), to_json(text.lower())[1:-1]
            wanted = wanted.where(
                or_(
                    func.lower(runs.c.task).contains(in_words, autoescape=True),
                    func.lower(runs.c.result).contains(in_json, autoescape=True),
                )
            )
        if since is not None:
            wanted = wanted.where(runs.c.started_at >= since)
        if until is not None:
            wanted = wanted.where(runs.c.started_at < until)
        if session_id is not None:
            wanted = wanted.where(runs.c.session_id == session_id)
        wanted = wanted.order_by(runs.c.started_at.desc(), runs.c.id).limit(limit)
        return self.database.run(lambda connection: _summaries(connection, connection.execute(wanted).mappings().all()))

    def remove_run(self, run_id: str) -> bool:
        """Remove a run, and the documents that no other run uses.

        True when no byte of it is left in the database's files; False when another process kept SQLite from
        clearing its log: the next removal does. `RunNotFound`; `RunBusy` while somebody works on it.
        """
        return self.remove_runs([run_id])

    def remove_runs(self, run_ids: Sequence[str]) -> bool:
        """All of them or, where one cannot be removed, none; see `remove_run`."""
        self.database.run(lambda connection: _find_all(connection, run_ids))
        self.database.transact(lambda connection: remove_rows(connection, run_ids))
        return self.database.sweep()


def _read_run(connection: Connection, run_id: str) -> RunRecord | None:
    row = connection.execute(select(runs).where(runs.c.id == run_id)).mappings().first()
    if row is None:
        return None
    named = (
        select(run_documents.c.name, run_documents.c.digest)
        .where(run_documents.c.run_id == run_id)
        .order_by(run_documents.c.position)
    )
    listed = tuple(dict(document) for document in connection.execute(named).mappings())
    return read(RunRecord, {**row, "documents": listed}, where=f"run {run_id}")


def _summaries(connection: Connection, rows: Sequence[Mapping[Any, Any]]) -> list[RunSummary]:
    ids = [row["id"] for row in rows]
    names = _grouped(connection, run_documents.c.run_id, run_documents.c.name, run_documents.c.position, ids)
    skills = _grouped(connection, nodes.c.run_id, nodes.c.skill_name, nodes.c.position, ids)
    return [
        read(
            RunSummary,
            {
                **row,
                "documents": tuple(names.get(row["id"], ())),
                "skills": tuple(dict.fromkeys(skill for skill in skills.get(row["id"], ()) if skill)),
            },
            where=f"run {row['id']}",
        )
        for row in rows
    ]


def _grouped(
    connection: Connection, run_id: Any, value: Any, position: Any, ids: Sequence[str]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for start in range(0, len(ids), _AT_ONCE):
        wanted = select(run_id, value).where(run_id.in_(ids[start : start + _AT_ONCE])).order_by(run_id, position)
        for owner, name in connection.execute(wanted):
            found.setdefault(owner, []).append(name)
    return found


def _find_all(connection: Connection, run_ids: Sequence[str]) -> None:
    for run_id in run_ids:
        if connection.execute(select(runs.c.id).where(runs.c.id == run_id)).first() is None:
            raise RunNotFound(f"run {run_id} is not in the store")


def remove_rows(connection: Connection, run_ids: Sequence[str]) -> None:
    """The rows of runs, and of documents that no other run names. Raises `RunBusy`."""
    if connection.dialect.name == "postgresql":  # a run that begins just now names its documents before or after us
        connection.exec_driver_sql("LOCK TABLE run_documents IN SHARE ROW EXCLUSIVE MODE")
    for run_id in run_ids:
        expires_at = connection.execute(select(leases.c.expires_at).where(leases.c.run_id == run_id)).scalar()
        if expires_at is not None and expires_at >= now(connection):
            raise RunBusy(f"run {run_id} is not removed", cause="it is being worked on")
        digests = (
            connection.execute(select(run_documents.c.digest).where(run_documents.c.run_id == run_id)).scalars().all()
        )
        connection.execute(delete(runs).where(runs.c.id == run_id))
        is_used = exists().where(run_documents.c.digest == documents.c.digest)
        for digest in cast("Sequence[str]", digests):
            connection.execute(delete(documents).where(documents.c.digest == digest, ~is_used))
