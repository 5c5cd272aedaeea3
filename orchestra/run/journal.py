"""What a run has finished and need not do again: model calls, tool results, answers of people.

A finished effect is on record before its result is used. A run without a store has no records.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from orchestra.store import CallRecord, Store

EffectKind = Literal["model", "tool", "code", "person"]


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Which effect: the same in every process that works on the run. `ordinal` counts equal ones of a node from 1."""

    node_id: str
    kind: EffectKind
    fingerprint: str
    ordinal: int = 1


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """What is on record. `payload` is None where the effect was begun, and nobody saw it end."""

    payload: Mapping[str, Any] | None


class Journal(Protocol):
    """Every method may be called from any thread, and returns after what it says is committed."""

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        """The key of a node's next effect with this fingerprint: asking twice counts as two effects."""
        ...

    def find(self, key: EffectKey) -> EffectRecord | None: ...

    def begin(self, key: EffectKey) -> None:
        """Put on record that the effect starts now."""
        ...

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        """Put on record what came of it, JSON-ready, so that no process does it again."""
        ...

    def abandon(self, key: EffectKey) -> None:
        """It failed, and is known to have: nothing of it needs to be remembered."""
        ...

    def unclaimed(self, node_id: str, kind: EffectKind) -> int:
        """How many finished effects of a node are on record that nobody has asked for yet."""
        ...


class NoJournal:
    """For a run without a store."""

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        return EffectKey(node_id, kind, fingerprint)

    def find(self, key: EffectKey) -> EffectRecord | None:
        return None

    def begin(self, key: EffectKey) -> None:
        return None

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        return None

    def abandon(self, key: EffectKey) -> None:
        return None

    def unclaimed(self, node_id: str, kind: EffectKind) -> int:
        return 0


class Ledger:
    """The records that earlier processes left of a run, handed out by key.

    Of equal effects of a node those that finished come first, then those that nobody saw end: one that failed and was
    tried again under a new ordinal is found all the same. Thread-safe.
    """

    def __init__(self, records: Mapping[EffectKey, EffectRecord] | None = None) -> None:
        self._records = dict(records or {})
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str, str], deque[EffectKey]] = defaultdict(deque)
        self._last: Counter[tuple[str, str, str]] = Counter()
        self._finished: Counter[tuple[str, str]] = Counter()
        for key in sorted(self._records, key=lambda key: (self._records[key].payload is None, key.ordinal)):
            effect = (key.node_id, key.kind, key.fingerprint)
            self._waiting[effect].append(key)
            self._last[effect] = max(self._last[effect], key.ordinal)
            self._finished[key.node_id, key.kind] += self._records[key].payload is not None

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        effect = (node_id, kind, fingerprint)
        with self._lock:
            if self._waiting[effect]:
                key = self._waiting[effect].popleft()
                self._finished[node_id, kind] -= self._records[key].payload is not None
                return key
            self._last[effect] += 1
            return EffectKey(node_id, kind, fingerprint, self._last[effect])

    def find(self, key: EffectKey) -> EffectRecord | None:
        return self._records.get(key)

    def unclaimed(self, node_id: str, kind: EffectKind) -> int:
        with self._lock:
            return self._finished[node_id, kind]


class StoreJournal:
    """The journal of a run with a store. `calls` are those that are on record of it.

    `write` does what it is given on the store, and says so where that cannot be done.
    """

    def __init__(
        self, store: Store, run_id: str, write: Callable[[Callable[[], object]], None], calls: Iterable[CallRecord] = ()
    ) -> None:
        self._store = store
        self._run_id = run_id
        self._write = write
        self._ledger = Ledger(
            {
                EffectKey(call.node_id, call.kind, call.fingerprint, call.ordinal): EffectRecord(call.payload)
                for call in calls
            }
        )

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        return self._ledger.key(node_id, kind, fingerprint)

    def find(self, key: EffectKey) -> EffectRecord | None:
        return self._ledger.find(key)

    def begin(self, key: EffectKey) -> None:
        self._write(lambda: self._store.begin_call(self._run_id, *_columns(key)))

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        self._write(lambda: self._store.finish_call(self._run_id, *_columns(key), payload))

    def abandon(self, key: EffectKey) -> None:
        self._write(lambda: self._store.abandon_call(self._run_id, *_columns(key)))

    def unclaimed(self, node_id: str, kind: EffectKind) -> int:
        return self._ledger.unclaimed(node_id, kind)


def _columns(key: EffectKey) -> tuple[str, EffectKind, str, int]:
    return key.node_id, key.kind, key.fingerprint, key.ordinal
