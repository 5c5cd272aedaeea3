"""Replies kept in a file, so that a finished benchmark runs again from them: the same figures, no key, no call.

A reply is found by the model's name and server, the call's purpose and the request's fingerprint. The file is SQLite;
one that is damaged or something else raises `InputInvalid`, and so does an entry that is not what was written.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestra.errors import InputInvalid, ModelAuth
from orchestra.models import context_window, resolve_model
from orchestra.models.keys import display_url
from orchestra.models.protocol import Model, ModelReply, ModelRequest

APPLICATION_ID = 0x0BE4C402  # marks the file as ours
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, model TEXT NOT NULL, reply TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS models (spec TEXT PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seconds (key TEXT PRIMARY KEY, seconds REAL NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
"""
_REPLY = TypeAdapter(ModelReply)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What prompts and prices need to know of a model when it is not there to be asked."""

    name: str
    context_window: int | None
    base_url: str
    notice: str


_FACTS = TypeAdapter(ModelFacts)


@dataclass(frozen=True, slots=True)
class ReplayedReply(ModelReply):
    """A reply that comes from the store."""


def is_replay(reply: ModelReply) -> bool:
    return isinstance(reply, ReplayedReply)


class ReplyStore:
    """The file. Thread-safe; every entry is on disk when `put` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._open()
        except sqlite3.Error as error:
            raise InputInvalid(
                f"{path} is no reply store",
                cause=str(error),
                suggestion="Name another file with --store, or remove it.",
            ) from None

    def _open(self) -> None:
        found = self._connection.execute("PRAGMA application_id").fetchone()[0]
        has_tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if has_tables and found != APPLICATION_ID:
            raise sqlite3.DatabaseError("it is another program's database")
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def get(self, model: str, request: ModelRequest) -> ModelReply | None:
        row = self._row("SELECT reply FROM replies WHERE key = ?", _key(model, request))
        if row is None:
            return None
        reply = self._read(_REPLY, row[0])
        return ReplayedReply(*(getattr(reply, name) for name in ModelReply.__slots__))

    def put(self, model: str, request: ModelRequest, reply: ModelReply) -> None:
        text = _REPLY.dump_json(reply).decode()
        self._write("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", _key(model, request), model, text)

    def facts(self, spec: str) -> ModelFacts | None:
        row = self._row("SELECT facts FROM models WHERE spec = ?", spec)
        return None if row is None else self._read(_FACTS, row[0])

    def put_facts(self, spec: str, facts: ModelFacts) -> None:
        self._write("INSERT OR REPLACE INTO models VALUES (?, ?)", spec, _FACTS.dump_json(facts).decode())

    def seconds(self, strategy: str, fingerprints: Sequence[str]) -> float | None:
        """The wall seconds of the run that made these calls; None where it is not known."""
        row = self._row("SELECT seconds FROM seconds WHERE key = ?", _run_key(strategy, fingerprints))
        return None if row is None else float(row[0])

    def put_seconds(self, strategy: str, fingerprints: Sequence[str], seconds: float) -> None:
        self._write("INSERT OR REPLACE INTO seconds VALUES (?, ?)", _run_key(strategy, fingerprints), seconds)

    def _row(self, statement: str, key: str) -> Any:
        with self._lock:
            try:
                return self._connection.execute(statement, (key,)).fetchone()
            except sqlite3.Error as error:
                raise self._damaged(str(error)) from None

    def _write(self, statement: str, *values: object) -> None:
        with self._lock:
            try:
                self._connection.execute(statement, values)
            except sqlite3.Error as error:
                raise self._damaged(str(error)) from None

    def _read(self, kind: TypeAdapter[Any], text: object) -> Any:
        try:
            return kind.validate_json(str(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise self._damaged(f"an entry is not what was written: {first['msg']}") from None

    def _damaged(self, cause: str) -> InputInvalid:
        return InputInvalid(
            f"{self.path} is damaged", cause=cause, suggestion="Remove it; the calls will be made anew."
        )


class StoredModel:
    """A model that answers from the store where it can, and keeps what it had to ask for.

    Without a key it still answers what the store holds; the first reply that is missing raises `ModelAuth`.
    """

    def __init__(self, spec: str, store: ReplyStore) -> None:
        self._store = store
        self._model: Model | ModelAuth
        try:
            self._model = resolve_model(spec)
            facts = facts_of(self._model)
            store.put_facts(spec, facts)
        except ModelAuth as error:
            self._model = error
            facts = store.facts(spec) or ModelFacts(spec, context_window(spec), "", "")
        self.name = facts.name
        self.context_window = facts.context_window
        self.base_url = facts.base_url
        self.notice = facts.notice

    def complete(self, request: ModelRequest) -> ModelReply:
        kept = self._store.get(self._address, request)
        if kept is not None:
            if request.on_delta is not None:
                request.on_delta(kept.text)
            return kept
        if isinstance(self._model, ModelAuth):
            raise self._model
        reply = self._model.complete(request)
        self._store.put(self._address, request, reply)
        return reply

    @property
    def _address(self) -> str:
        """Two servers may call their models alike."""
        return f"{self.name} {self.base_url}"


def facts_of(model: Model) -> ModelFacts:
    window = getattr(model, "context_window", None)
    return ModelFacts(
        str(getattr(model, "name", "") or type(model).__name__),
        window if isinstance(window, int) else None,
        display_url(str(getattr(model, "base_url", ""))),
        str(getattr(model, "notice", "")),
    )


def _key(model: str, request: ModelRequest) -> str:
    return hashlib.sha256(f"{model}\x1f{request.purpose}\x1f{request.fingerprint}".encode()).hexdigest()


def _run_key(strategy: str, fingerprints: Sequence[str]) -> str:
    return hashlib.sha256("\x1f".join((strategy, *sorted(fingerprints))).encode()).hexdigest()
