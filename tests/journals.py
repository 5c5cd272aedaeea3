"""A journal in memory, for runs that go on in the same process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from orchestra.run.journal import EffectKey, EffectKind, EffectRecord


class MemoryJournal:
    """What a store would hold of one run. `resumed` is the journal that the next process has."""

    def __init__(self, records: Mapping[EffectKey, EffectRecord] | None = None) -> None:
        self.records: dict[EffectKey, EffectRecord] = dict(records or {})
        self._known = dict(self.records)
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def resumed(self) -> MemoryJournal:
        return MemoryJournal(self.records)

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        self._counts[node_id, kind, fingerprint] += 1
        return EffectKey(node_id, kind, fingerprint, self._counts[node_id, kind, fingerprint])

    def find(self, key: EffectKey) -> EffectRecord | None:
        return self._known.get(key)

    def begin(self, key: EffectKey) -> None:
        self.records[key] = EffectRecord(None)

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        self.records[key] = EffectRecord(payload)

    def abandon(self, key: EffectKey) -> None:
        self.records.pop(key, None)
