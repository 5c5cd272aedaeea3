"""Replies that are used again in other runs, and calls that several runs make at once, made once.

A reply is used again for the same request to the same model at the same place, with the same skills and documents.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestra.document import DocumentSet
from orchestra.errors import StoreError
from orchestra.models.protocol import Model, ModelReply
from orchestra.run.replies import finished_call, reply_payload
from orchestra.runtime.calls import model_base_url, model_name
from orchestra.skills import SkillLibrary
from orchestra.skills.skill import SHIPPED
from orchestra.version import __version__

if TYPE_CHECKING:
    from orchestra.store import Store


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """The cache of one run. `version` is the digest of its skills and documents, `max_age_s` None for no limit.

    `write` does what it is given on the store, and says so where that cannot be done; `lose` says why it was not read.
    """

    store: Store
    run_id: str
    version: str
    max_age_s: float | None
    write: Callable[[Callable[[], object]], None]
    lose: Callable[[StoreError], None]

    def find(self, entry: str) -> ModelReply | None:
        """The reply kept under `entry`; None where there is none, or it is too old."""
        try:
            payload = self.store.cached(entry, self.max_age_s)
        except StoreError as error:
            self.lose(error)
            return None
        call = None if payload is None else finished_call(payload)
        return call.reply if call is not None else None

    def keep(self, entry: str, reply: ModelReply) -> None:
        """Keep a whole reply; one that was cut off, refused or is empty is not worth it."""
        if reply.stop_reason in ("end", "tool_use") and (reply.text.strip() or reply.tool_calls):
            self.write(lambda: self.store.keep(entry, reply_payload(reply), run_id=self.run_id))


def cache_entry(cache: ReplyCache, model: Model, fingerprint: str) -> str:
    """The name of a reply in the cache: whatever it depends on, hashed."""
    parts = (fingerprint, model_name(model), model_base_url(model), cache.version)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def version_of(library: SkillLibrary, documents: DocumentSet) -> str:
    """A digest of what is known of all skills before they are loaded, and of the documents.

    A skill's body stands in the request, and so in its fingerprint. The shipped skills are this version's.
    """
    digest = hashlib.sha256(__version__.encode())
    for manifest in library.manifests.values():
        if manifest.source != SHIPPED:
            digest.update(repr(manifest).encode("utf-8", "replace") + b"\x1e")
    for document in documents:
        digest.update(document.sha256.encode() + b"\x1e")
    return digest.hexdigest()


@dataclass(slots=True)
class Flight:
    """A call under way that others wait for. `reply` is None after it failed."""

    reply: ModelReply | None = None
    is_over: bool = False
    waiting: list[Callable[[], None]] = field(default_factory=list["Callable[[], None]"])


class Flights:
    """The calls under way in this process, by what they ask. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, Flight] = {}

    def board(self, entry: str) -> tuple[Flight, bool]:
        """The flight of a call, and whether the caller is the one that makes it, and must `land` it."""
        with self._lock:
            flight = self._flights.get(entry)
            if flight is not None:
                return flight, False
            flight = self._flights[entry] = Flight()
            return flight, True

    def when_over(self, flight: Flight, notify: Callable[[], None]) -> None:
        """Call `notify` when the flight is over, from any thread; at once if it is."""
        with self._lock:
            if not flight.is_over:
                flight.waiting.append(notify)
                return
        notify()

    def land(self, entry: str, flight: Flight, reply: ModelReply | None) -> None:
        """Let everyone go on who waits; with None, each makes a call of his own."""
        with self._lock:
            flight.reply, flight.is_over = reply, True
            self._flights.pop(entry, None)
            waiting, flight.waiting = flight.waiting, []
        for notify in waiting:
            notify()

    def forget(self) -> None:
        """In a forked child: the threads that were to land them are not here."""
        self._lock = threading.Lock()
        self._flights.clear()


flights = Flights()
"""Of this process: equal calls of different runs are made once."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=flights.forget)
