"""Questions to people and their answers, and who works on a run."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from orchestra.errors import InputInvalid
from orchestra.store.database import Database
from orchestra.store.records import ApprovalRecord, ApprovalStatus, Outcome, read
from orchestra.store.statements import Change, Upsert, now
from orchestra.store.tables import approvals, leases

_ASK = Upsert(approvals)
_ANSWER = update(approvals).where(
    approvals.c.run_id == bindparam("its_run_id"),
    approvals.c.node_id == bindparam("its_node_id"),
    approvals.c.digest == bindparam("its_digest"),
    approvals.c.status == "open",
)
_ANSWERED_BY = select(approvals.c.answer_id).where(
    approvals.c.run_id == bindparam("its_run_id"),
    approvals.c.node_id == bindparam("its_node_id"),
    approvals.c.digest == bindparam("its_digest"),
)


class Approvals:
    """Part of `Store`."""

    database: Database

    def ask(self, approval: ApprovalRecord) -> None:
        """Keep an open question. One with the same run, node and digest stays as it is, with its answer."""
        values = asdict(approval)
        self.database.run(lambda connection: _ASK.execute(connection, values))

    def answer(
        self,
        run_id: str,
        node_id: str,
        digest: str,
        *,
        outcome: Outcome,
        edited: Any = None,
        reason: str = "",
        text: str = "",
    ) -> bool:
        """Answer an open question. False when somebody else answered first; `InputInvalid` when there is none."""
        answer_id = uuid.uuid4().hex
        key = {"its_run_id": run_id, "its_node_id": node_id, "its_digest": digest}
        values = {
            "status": "answered",
            "outcome": outcome,
            "edited": edited,
            "reason": reason,
            "text": text,
            "answered_at": time.time(),
            "answer_id": answer_id,
        }

        def answer(connection: Connection) -> str | None:
            connection.execute(_ANSWER, key | values)
            row = connection.execute(_ANSWERED_BY, key).first()
            return None if row is None else row.answer_id or ""

        winner = self.database.run(answer)
        if winner is None:
            raise InputInvalid(
                f"node {node_id} of run {run_id} does not ask this",
                suggestion="`orchestra runs show RUN` says what it waits for.",
            )
        return winner == answer_id

    def approvals(self, run_id: str, status: ApprovalStatus | None = None) -> list[ApprovalRecord]:
        """In the order in which they were asked."""
        wanted = select(approvals).where(approvals.c.run_id == run_id)
        if status is not None:
            wanted = wanted.where(approvals.c.status == status)
        wanted = wanted.order_by(approvals.c.asked_at, approvals.c.node_id)
        rows = self.database.run(lambda connection: connection.execute(wanted).mappings().all())
        return [
            read(
                ApprovalRecord,
                {name: value for name, value in row.items() if name != "answer_id"},
                where=f"a question of {row['node_id']} in run {run_id}",
            )
            for row in rows
        ]


_TAKE = Upsert(
    leases,
    replacing=("owner", "expires_at"),
    where=lambda new: or_(leases.c.owner == new.owner, leases.c.expires_at < bindparam("now")),
)

_RELEASE = Change(
    leases,
    delete(leases).where(leases.c.run_id == bindparam("its_run_id"), leases.c.owner == bindparam("its_owner")),
)


class Leases:
    """Part of `Store`: one owner at a time works on a run, and for as long as he says so."""

    database: Database

    def lease(self, run_id: str, owner: str, seconds: float) -> bool:
        """Take the run for so long; also to take it longer. False when another owner has it."""

        def take(connection: Connection) -> bool:
            at = now(connection)
            values = {"run_id": run_id, "owner": owner, "expires_at": at + seconds, "now": at}
            return _TAKE.execute(connection, values) > 0

        return self.database.run(take)

    def renew(self, run_id: str, owner: str, seconds: float) -> bool:
        """False when the owner has lost it."""
        return self.lease(run_id, owner, seconds)

    def release(self, run_id: str, owner: str) -> None:
        """Nothing happens when the owner does not have it."""
        values = {"its_run_id": run_id, "its_owner": owner}
        self.database.run(lambda connection: _RELEASE.execute(connection, values))

    def holder(self, run_id: str) -> str | None:
        """Who has it now."""

        def find(connection: Connection) -> str | None:
            current = select(leases.c.owner).where(leases.c.run_id == run_id, leases.c.expires_at >= now(connection))
            return connection.execute(current).scalar()

        return self.database.run(find)
