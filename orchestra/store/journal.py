"""What a run has done: its events, its nodes, and the journal of its calls."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, Text, bindparam, delete, func, or_, select, type_coerce

from orchestra.errors import InputInvalid, StoreDamaged
from orchestra.store.database import Database
from orchestra.store.records import CallKind, CallRecord, NodeRecord, read
from orchestra.store.statements import Change, Upsert
from orchestra.store.tables import calls, events, nodes
from orchestra.store.texts import to_json

_NODE_FIELDS = tuple(column.name for column in nodes.columns if column.name not in ("run_id", "node_id", "position"))
_NODE_EVENTS = "skill-route-"
_NODE_DEFAULTS = {"kind": "", "skill_name": "", "title": "", "depth": 0, "status": "", "mode": "", "attempt": 1}
_CALL_KEY = ("node_id", "kind", "fingerprint", "ordinal")

_ADD_EVENTS = Upsert(events)
_KEEP_NODES = Upsert(nodes, replacing=_NODE_FIELDS)
_BEGIN_CALL = Upsert(calls)
_FINISH_CALL = Upsert(calls, replacing=("finished_at", "payload"))
_ABANDON_CALL = Change(
    calls,
    delete(calls).where(
        *(calls.c[name] == bindparam(f"its_{name}") for name in ("run_id", *_CALL_KEY)), calls.c.finished_at.is_(None)
    ),
)
_CALLS = (
    select(*(calls.c[name] for name in (*_CALL_KEY, "begun_at", "finished_at", "payload")))
    .where(calls.c.run_id == bindparam("its_run_id"))
    .order_by(calls.c.begun_at, calls.c.node_id, calls.c.ordinal)
)
_CALLS_OF_NODE = _CALLS.where(calls.c.node_id == bindparam("its_node_id"))
_EVENTS = (
    select(events.c.sequence, events.c.payload)
    .where(events.c.run_id == bindparam("its_run_id"), events.c.sequence > bindparam("after"))
    .order_by(events.c.sequence)
    .limit(bindparam("most"))
)
_LAST = select(func.max(events.c.sequence)).where(events.c.run_id == bindparam("its_run_id"))
_NODES = select(nodes).where(nodes.c.run_id == bindparam("its_run_id")).order_by(nodes.c.position, nodes.c.node_id)
_PAGE = 500  # events read at a time


class Events:
    """Part of `Store`."""

    database: Database

    def append_events(self, run_id: str, new: Sequence[Mapping[str, Any]]) -> None:
        """Keep events, each with its "sequence", and what they say of nodes. One that is on record stays as it is.

        Raises `RunNotFound` for a run that was removed.
        """
        if not new:
            return
        rows = [{"run_id": run_id, "sequence": _sequence(event), "payload": event} for event in new]
        told = _by_node(run_id, new)

        def append(connection: Connection) -> None:
            _ADD_EVENTS.execute(connection, rows)
            if told:
                _KEEP_NODES.execute(connection, told)

        self.database.transact(append)

    def events(self, run_id: str, after: int = 0, limit: int | None = None) -> Iterator[Mapping[str, Any]]:
        """In order, those behind sequence `after`; read page by page, so that other work goes on meanwhile."""
        return self._paged(_EVENTS, run_id, after, limit)

    def node_events(self, run_id: str, node_id: str) -> Iterator[Mapping[str, Any]]:
        """Those whose "node_id" it is, in order; the database leaves most of the others out."""
        named = _that_hold({f'"node_id":{form(node_id)}' for form in (to_json, json.dumps)})
        return (event for event in self._paged(named, run_id) if event.get("node_id") == node_id)

    def events_of_types(self, run_id: str, types: Collection[str], after: int = 0) -> Iterator[Mapping[str, Any]]:
        """In order, those of these types behind sequence `after`; no other is read from JSON."""
        named = _that_hold({f'"type":{form(kind)}' for form in (to_json, json.dumps) for kind in types})
        return (event for event in self._paged(named, run_id, after) if event.get("type") in types)

    def _paged(
        self, statement: Select[int, Any], run_id: str, after: int = 0, limit: int | None = None
    ) -> Iterator[Mapping[str, Any]]:
        left = limit
        while left is None or left > 0:
            most = _PAGE if left is None else min(_PAGE, left)
            values = {"its_run_id": run_id, "after": after, "most": most}
            page = self.database.run(lambda connection, v=values: connection.execute(statement, v).all())
            for sequence, payload in page:
                if not isinstance(payload, Mapping):
                    raise StoreDamaged(f"event {sequence} of run {run_id} cannot be read", cause="it is no JSON object")
                yield payload
                after = sequence
            if len(page) < most:
                return
            left = None if left is None else left - len(page)

    def last_sequence(self, run_id: str) -> int:
        """0 where there are no events."""
        return self.database.run(lambda connection: connection.execute(_LAST, {"its_run_id": run_id}).scalar()) or 0

    def nodes(self, run_id: str) -> list[NodeRecord]:
        """In the order in which they began."""
        rows = self.database.run(lambda connection: connection.execute(_NODES, {"its_run_id": run_id}).mappings().all())
        wanted = ("node_id", *_NODE_FIELDS)
        return [
            read(NodeRecord, {name: row[name] for name in wanted}, where=f"node {row['node_id']} of run {run_id}")
            for row in rows
        ]


class Calls:
    """Part of `Store`: the journal. What a method says is committed when it returns."""

    database: Database

    def begin_call(self, run_id: str, node_id: str, kind: CallKind, fingerprint: str, ordinal: int = 1) -> None:
        """A call starts now. One that is on record stays as it is. Raises `RunNotFound`."""
        values = _call(run_id, node_id, kind, fingerprint, ordinal) | {"begun_at": time.time()}
        self.database.write(_BEGIN_CALL, values)

    def finish_call(
        self, run_id: str, node_id: str, kind: CallKind, fingerprint: str, ordinal: int, payload: Mapping[str, Any]
    ) -> None:
        """What came of it, also for a call whose beginning is not on record."""
        now = time.time()
        values = _call(run_id, node_id, kind, fingerprint, ordinal)
        values |= {"begun_at": now, "finished_at": now, "payload": payload}
        self.database.write(_FINISH_CALL, values)

    def abandon_call(self, run_id: str, node_id: str, kind: CallKind, fingerprint: str, ordinal: int = 1) -> None:
        """It failed, and nothing of it needs to be remembered. A finished call stays."""
        values = {f"its_{name}": value for name, value in _call(run_id, node_id, kind, fingerprint, ordinal).items()}
        self.database.write(_ABANDON_CALL, values)

    def calls(self, run_id: str, node_id: str | None = None) -> list[CallRecord]:
        """In the order in which they began: those of one node, if it is named."""
        statement = _CALLS if node_id is None else _CALLS_OF_NODE
        values = {"its_run_id": run_id} | ({} if node_id is None else {"its_node_id": node_id})
        rows = self.database.run(lambda connection: connection.execute(statement, values).mappings().all())
        return [read(CallRecord, {**row}, where=f"a call of {row['node_id']} in run {run_id}") for row in rows]


def _that_hold(texts: Collection[str]) -> Select[int, Any]:
    """The events whose JSON holds one of these texts, somewhere."""
    payload = type_coerce(events.c.payload, Text)
    return _EVENTS.where(or_(*(payload.contains(text, autoescape=True) for text in sorted(texts))))


def _call(run_id: str, node_id: str, kind: str, fingerprint: str, ordinal: int) -> dict[str, Any]:
    return {"run_id": run_id, "node_id": node_id, "kind": kind, "fingerprint": fingerprint, "ordinal": ordinal}


def _sequence(event: Mapping[str, Any]) -> int:
    sequence = event.get("sequence")
    if not isinstance(sequence, int) or sequence < 1:
        raise InputInvalid("an event has no sequence", cause=f"it is {sequence!r}, and counts from 1")
    return sequence


def _by_node(run_id: str, told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The row of each node that is told of, as the last event has it; its place is that of the first."""
    first: dict[str, int] = {}
    last: dict[str, Mapping[str, Any]] = {}
    for event in told:
        node_id = event.get("node_id")
        if node_id and "status" in event and str(event.get("type", "")).startswith(_NODE_EVENTS):
            first.setdefault(node_id, event["sequence"])
            last[node_id] = event
    return [
        {
            "run_id": run_id,
            "node_id": node_id,
            "position": first[node_id],
            **{name: event.get(name, _NODE_DEFAULTS.get(name)) for name in _NODE_FIELDS},
        }
        for node_id, event in last.items()
    ]
