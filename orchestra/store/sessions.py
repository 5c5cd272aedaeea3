"""Sessions: runs that follow one another."""

from __future__ import annotations

import time

from sqlalchemy import Connection, delete, func, select, update

from orchestra.store.database import Database
from orchestra.store.records import SessionRecord, read
from orchestra.store.runs import remove_rows
from orchestra.store.statements import Upsert
from orchestra.store.tables import runs, sessions

_BEGIN = Upsert(sessions)
_ANSWERED = ("completed", "partial")


class Sessions:
    """Part of `Store`."""

    database: Database

    def begin_session(self, session_id: str, title: str = "") -> None:
        """One that exists stays as it is."""
        values = {"id": session_id, "title": title, "started_at": time.time()}
        self.database.run(lambda connection: _BEGIN.execute(connection, values))

    def sessions(self) -> list[SessionRecord]:
        """Newest first."""
        its_runs = runs.c.session_id == sessions.c.id
        count = select(func.count()).where(its_runs).scalar_subquery()
        first = select(runs.c.task).where(its_runs).order_by(runs.c.started_at, runs.c.id).limit(1).scalar_subquery()
        wanted = select(sessions, count.label("runs"), first.label("first_task"))
        wanted = wanted.order_by(sessions.c.started_at.desc(), sessions.c.id)
        rows = self.database.run(lambda connection: connection.execute(wanted).mappings().all())
        named = ({**row, "first_task": row["first_task"] or ""} for row in rows)
        return [read(SessionRecord, row, where=f"session {row['id']}") for row in named]

    def rename_session(self, session_id: str, title: str) -> bool:
        """False when there is no such session."""
        renamed = update(sessions).where(sessions.c.id == session_id).values(title=title)
        return self.database.run(lambda connection: connection.execute(renamed).rowcount) > 0

    def remove_session(self, session_id: str) -> bool:
        """Remove a session with its runs, as `remove_runs` does. False when there is no such session."""

        def remove(connection: Connection) -> bool:
            ids = connection.execute(select(runs.c.id).where(runs.c.session_id == session_id)).scalars().all()
            remove_rows(connection, ids)
            return connection.execute(delete(sessions).where(sessions.c.id == session_id)).rowcount > 0

        was_there = self.database.transact(remove)
        self.database.sweep()
        return was_there

    def turns(self, session_id: str) -> list[tuple[str, str]]:
        """(task, answer) of each run that was answered, oldest first."""
        wanted = (
            select(runs.c.task, runs.c.result)
            .where(runs.c.session_id == session_id, runs.c.status.in_(_ANSWERED))
            .order_by(runs.c.started_at, runs.c.id)
        )
        rows = self.database.run(lambda connection: connection.execute(wanted).all())
        turns = [(task, (result or {}).get("answer") or "") for task, result in rows]
        return [(task, answer) for task, answer in turns if answer]
