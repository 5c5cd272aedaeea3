"""Texts of documents, each kept once, what was made from them, and replies that other runs may use again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, select

from orchestra.errors import InputInvalid, RunNotFound, StoreDamaged
from orchestra.store.database import Database
from orchestra.store.statements import Probe, Upsert
from orchestra.store.tables import cache, derived, documents

_HAS = Probe(documents, "digest")
_PUT = Upsert(documents)
_TEXT = select(documents.c.text).where(documents.c.digest == bindparam("its_digest"))
_DERIVE = Upsert(derived, replacing=("payload",))
_DERIVED = select(derived.c.payload).where(
    derived.c.digest == bindparam("its_digest"), derived.c.kind == bindparam("its_kind")
)
_BY_KIND = select(derived.c.digest, derived.c.payload).where(derived.c.kind == bindparam("its_kind")).limit(1)
_KEEP = Upsert(cache, replacing=("run_id", "payload", "kept_at"))
_CACHED = select(cache.c.payload).where(cache.c.key == bindparam("its_key"), cache.c.kept_at >= bindparam("since"))


class Documents:
    """Part of `Store`. A document is removed with the last run that names its digest."""

    database: Database

    def put_document(self, digest: str, name: str, text: str) -> None:
        """Keep a text under the hash of its content; one that is kept already costs a look."""

        def put(connection: Any) -> None:
            if not _HAS.finds(connection, {"its_digest": digest}):
                content = text.encode("utf-8", "surrogatepass")
                _PUT.execute(connection, {"digest": digest, "name": name, "text": content, "kept_at": time.time()})

        self.database.run(put)

    def document(self, digest: str) -> str | None:
        content = self.database.run(lambda connection: connection.execute(_TEXT, {"its_digest": digest}).scalar())
        if content is None:
            return None
        try:
            return bytes(content).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise StoreDamaged(f"document {digest} cannot be read", cause="it is no text") from error

    def put_derived(self, digest: str, kind: str, payload: bytes) -> None:
        """Keep what was made from a document that is kept, such as its outline; it goes when the document goes."""
        values = {"digest": digest, "kind": kind, "payload": payload}
        try:
            self.database.run(lambda connection: _DERIVE.execute(connection, values))
        except RunNotFound as error:
            raise InputInvalid(f"nothing can be derived from {digest}", cause="no such document is kept") from error

    def derived(self, digest: str, kind: str) -> bytes | None:
        values = {"its_digest": digest, "its_kind": kind}
        payload = self.database.run(lambda connection: connection.execute(_DERIVED, values).scalar())
        return None if payload is None else bytes(payload)

    def find_derived(self, kind: str) -> tuple[str, bytes] | None:
        """(digest, payload) by the kind alone: for a kind that names one thing, such as the file it came from."""
        row = self.database.run(lambda connection: connection.execute(_BY_KIND, {"its_kind": kind}).first())
        return None if row is None else (row.digest, bytes(row.payload))


class Cache:
    """Part of `Store`: what a call gave, by a key that holds all it depends on."""

    database: Database

    def cached(self, key: str, max_age_s: float | None = None) -> Mapping[str, Any] | None:
        """None where nothing is kept, or nothing young enough."""
        since = 0.0 if max_age_s is None else time.time() - max_age_s
        values = {"its_key": key, "since": since}
        return self.database.run(lambda connection: connection.execute(_CACHED, values).scalar())

    def keep(self, key: str, payload: Mapping[str, Any], *, run_id: str | None = None) -> None:
        """Replaces what was kept. With `run_id` it is removed together with that run, whose texts it may quote."""
        values = {"key": key, "run_id": run_id or None, "payload": payload, "kept_at": time.time()}
        self.database.run(lambda connection: _KEEP.execute(connection, values))

    def forget(self, older_than_s: float) -> int:
        """Remove what is older from the cache; returns how many replies that were."""
        old = delete(cache).where(cache.c.kept_at < time.time() - older_than_s)
        return self.database.run(lambda connection: connection.execute(old).rowcount)
